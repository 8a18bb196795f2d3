"""IoU with correctly recognised words: which texts are the same, and error rates; official figures
are in tests/golden.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
import reference_texts
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import Accumulator, InputError, evaluate, image_objects
from evaltex_cli.protocols import iou_crw

quick = settings(deadline=None, derandomize=True, max_examples=40)
texts = st.text(st.sampled_from("abCß' -!.(·×ΩΆ\u0387\t5sS"), max_size=6)
WORD, OTHER = [0, 0, 100, 20], [200, 0, 300, 20]


@pytest.mark.parametrize(
    ("gt", "det", "end_to_end", "both", "spotted"),
    [
        ("Hotel", "HOTEL", True, True, True),
        ("(Hotel)", "(hotel", True, True, False),
        ("Hotel", "hotel!", False, True, False),
        ("Hotel!!", "hotel", False, True, True),
        ("Tom's", "tom", False, False, True),
        ("-ab-c-", "AB-C", False, False, True),
        ("Hotel!!", "hotel!", True, True, False),
        ("straße", "STRASSE", True, True, True),
    ],
)
def test_which_texts_are_the_same(
    gt: str, det: str, end_to_end: bool, both: bool, spotted: bool
) -> None:
    for parameters, expected in (
        ({}, end_to_end),
        ({"strip": "both"}, both),
        ({"word_spotting": True}, spotted),
    ):
        accumulator = Accumulator("iou-crw", **parameters)  # type: ignore[arg-type]
        accumulator.update(image_objects([WORD], texts=[gt]), image_objects([WORD], texts=[det]))
        assert accumulator.compute().scores["hmean"] == float(expected)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("Hotel", 1),
        ("ab", 0),
        ("two words", 0),
        ("it's", 0),
        ("(café)", 1),
        ("a×b", 0),
    ],
)
def test_what_word_spotting_looks_for(text: str, counts: int) -> None:
    accumulator = Accumulator("iou-crw", word_spotting=True)
    accumulator.update(image_objects([WORD], texts=[text]), image_objects([WORD], texts=[text]))
    totals = accumulator.compute().totals
    assert (totals["counted_gt_objects"], totals["counted_detections"]) == (counts, counts)


def test_word_spotting_in_an_image_without_objects() -> None:
    accumulator = Accumulator("iou-crw", word_spotting=True)
    accumulator.update([], image_objects([WORD], texts=["word"]))
    assert accumulator.compute().totals["counted_detections"] == 1


def test_a_wrong_text_uses_up_the_pair() -> None:
    """The second detection reads the word, but the first has taken it."""
    accumulator = Accumulator("iou-crw")
    accumulator.update(
        image_objects([WORD], texts=["word"]), image_objects([WORD, WORD], texts=["ward", "word"])
    )
    found = accumulator.compute()
    assert (found.totals["one_to_one"], found.totals["correctly_read"], found.scores["recall"]) == (
        1,
        0,
        0.0,
    )


def test_objects_without_text_are_reported() -> None:
    accumulator = Accumulator("iou-crw")
    accumulator.update(
        image_objects([WORD, OTHER], texts=["", ""], dont_care=[False, True]),
        image_objects([WORD], texts=["word"]),
    )
    found = accumulator.compute()
    assert found.scores["recall"] == 0.0
    assert any("1 object counts but has no transcription" in warning for warning in found.warnings)


def test_detections_without_text_and_masks_are_refused(tmp_path: Any) -> None:
    (tmp_path / "gt.txt").write_text('a\n9,9\n1,1,"word",f,0,0,9,9\n')
    (tmp_path / "det.txt").write_text('a\n1,"",0,0,9,9\n')
    paths = tmp_path / "gt.txt", tmp_path / "det.txt"
    with pytest.raises(
        InputError,
        match=r"det.txt: no detection has a transcription, and iou-crw compares texts; choo",
    ):
        evaluate(*paths, "iou-crw")
    with pytest.raises(
        InputError, match=r"gt.txt: no object of the ground truth has a transcription, and popeval"
    ):
        (tmp_path / "mute").mkdir()
        (tmp_path / "mute" / "gt.txt").write_text('a\n9,9\n1,1,"",f,0,0,9,9\n')
        (tmp_path / "texts.txt").write_text('a\n1,"word",0,0,9,9\n')
        evaluate(tmp_path / "mute" / "gt.txt", tmp_path / "texts.txt", "popeval")
    with pytest.raises(InputError, match="iou-crw does not work on label pictures"):
        evaluate(*paths, "iou-crw", gt_images=tmp_path, det_images=tmp_path)


@quick
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=6), st.booleans())
def test_error_rates_are_the_plain_ones(pairs: list[tuple[str, str]], word_spotting: bool) -> None:
    """Of pairs in capitals; one that is read right has no error, whatever its punctuation."""
    accumulator = Accumulator("iou-crw", error_rates=True, word_spotting=word_spotting)
    boxes = [[200 * k, 0, 200 * k + 100, 20] for k in range(len(pairs))]
    sides = [image_objects(boxes, texts=[pair[side] for pair in pairs]) for side in (0, 1)]
    accumulator.update(*sides)
    found = accumulator.compute()
    as_compared = reference_texts.distance
    edits, characters, word_edits, words, normalised, counted = 0, 0, 0, 0, 0.0, 0
    for gt, det in pairs:
        if word_spotting and not iou_crw.DICTIONARY_WORD.fullmatch(iou_crw.cleaned(gt)):
            continue
        right = iou_crw.reads(gt, det, iou_crw.Parameters(word_spotting=word_spotting))
        expected = (iou_crw.cleaned(gt) if word_spotting else gt).upper()
        read = expected if right else det.upper()
        counted += 1
        edits, characters = edits + as_compared(expected, read), characters + len(expected)
        word_edits += as_compared(expected.split(), read.split())
        words += len(expected.split())
        normalised += as_compared(expected, read) / max(len(expected), len(read), 1)
    assert found.totals["counted_gt_objects"] == counted
    expected_rates = {
        "one_minus_ned": 1 - normalised / counted if counted else None,
        "character_error_rate": edits / characters if characters else None,
        "word_error_rate": word_edits / words if words else None,
    }
    for name, value in expected_rates.items():
        assert found.scores[name] == (value if value is None else pytest.approx(value, abs=1e-9)), (
            name
        )


def test_1_ned_counts_what_has_no_partner() -> None:
    """A pair with one of four characters wrong, a missed word and a false
    one: (1/4 + 1 + 1) / 3 errors.
    """
    accumulator = Accumulator("iou-crw", error_rates=True)
    accumulator.update(
        image_objects([WORD, OTHER], texts=["word", "other"]),
        image_objects([WORD, [400, 0, 500, 20]], texts=["worm", "x"]),
    )
    found = accumulator.compute().scores
    assert found["one_minus_ned"] == pytest.approx(0.25)
    assert (found["character_error_rate"], found["word_error_rate"]) == (0.25, 1.0)
    # One of nine characters is wrong, five are missed and one is inserted.
    assert found["total_character_error_rate"] == pytest.approx(7 / 9)
    assert found["total_word_error_rate"] == pytest.approx(3 / 2)


@quick
@given(st.lists(st.tuples(texts, texts, st.integers(0, 2)), min_size=1, max_size=6))
def test_total_error_rates_of_the_ocr_preset(words: list[tuple[str, str, int]]) -> None:
    """All texts as they are, without blanks around them; some are missed (1), or false (2)."""
    accumulator = Accumulator("iou-crw", preset="ocr")
    boxes = [[200 * k, 0, 200 * k + 100, 20] for k in range(len(words))]
    ours = [k for k, (*_, what) in enumerate(words) if what != 2]
    theirs = [k for k, (*_, what) in enumerate(words) if what != 1]
    accumulator.update(
        *(
            image_objects([boxes[k] for k in rows], texts=[words[k][side] for k in rows])
            for side, rows in enumerate((ours, theirs))
        )
    )
    scores = accumulator.compute().scores
    pairs = [
        ("" if what == 2 else gt.strip(), "" if what == 1 else det.strip())
        for gt, det, what in words
    ]
    pairs = [tuple(unicodedata.normalize("NFC", text) for text in pair) for pair in pairs]
    for name, split in (("character", list), ("word", str.split)):
        edits = sum(reference_texts.distance(split(gt), split(det)) for gt, det in pairs)
        expected = sum(len(split(gt)) for gt, _ in pairs)
        rate = edits / expected if expected else None
        assert scores[f"total_{name}_error_rate"] == rate


def test_the_ocr_preset_minds_capitals_and_punctuation() -> None:
    """Each of its parameters may be changed."""
    for changed, right in (
        ({}, False),
        ({"case_sensitive": False}, False),
        ({"case_sensitive": False, "strip": "gt"}, True),
    ):
        accumulator = Accumulator("iou-crw", preset="ocr", **changed)
        accumulator.update(
            image_objects([WORD], texts=["Hotel!"]), image_objects([WORD], texts=["hotel"])
        )
        found = accumulator.compute()
        assert found.scores["hmean"] == float(right)
        assert list(found.headline)[3:] == [
            *("character_error_rate", "word_error_rate"),
            *("total_character_error_rate", "total_word_error_rate"),
        ]


@pytest.mark.parametrize("lines", [0, 1])
def test_lines_against_words(lines: int) -> None:
    whole = image_objects([[0, 30 * k, 300, 30 * k + 20] for k in range(3)], texts=["a b c"] * 3)
    corners = [(110 * j, 30 * k) for k in range(3) for j in range(3)]
    words = image_objects([[x, y, x + 80, y + 20] for x, y in corners], texts=["a", "b", "c"] * 3)
    sides = {"img": whole}, {"img": words}
    (said,) = (
        text
        for text in evaluate(sides[lines], sides[1 - lines], preset="ocr").warnings
        if text.startswith("one side may have lines and the other one words: 9 of 9 objects")
    )
    assert "--gt-level" in said
    assert not any("lines" in text for text in evaluate(*sides[:1] * 2, preset="ocr").warnings)


def test_error_rates_of_images_and_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "gt").mkdir()
    (tmp_path / "det").mkdir()
    for side, prefix in (("gt", "gt_"), ("det", "res_")):
        (tmp_path / side / f"{prefix}1.txt").write_text(f"0,0,99,20,{side}\n")
        (tmp_path / side / f"{prefix}2.txt").write_text("")
        (tmp_path / side / f"{prefix}3.txt").write_text("0,0,99,20,x\n" if side == "det" else "")
    found = evaluate(tmp_path / "gt", tmp_path / "det", "iou-crw", per_image=True, error_rates=True)
    rates = [[image.scores[name] for name in list(image.scores)[3:]] for image in found.images]
    assert rates == [
        [pytest.approx(1 / 3), 1.0, 1.0, 1.0, 1.0],
        [None] * 5,
        [0.0, None, None, None, None],
    ]
    total = (2 + 1) / 2, (1 + 1) / 1
    assert (found.scores["total_character_error_rate"], found.scores["total_word_error_rate"]) == (
        total
    )
    assert [image.scores["recall"] for image in found.images] == [0, 1, 1]
    assert (
        sum(image.totals["character_edits"] for image in found.images)
        == found.totals["character_edits"]
        == 2
    )
    assert "normalised_edits" not in evaluate(tmp_path / "gt", tmp_path / "det", "iou-crw").totals
