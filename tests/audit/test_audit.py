"""Suspects of the ground truth, in scenes made by hand and in real data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evaltex_cli
from evaltex_cli.api.arrays import OneImage, image_objects, objects_of
from evaltex_cli.audit.audit import ALONE, Audit, audit
from evaltex_cli.audit.patches import Kind
from evaltex_cli.audit.suspects import Suspect
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats import memory
from evaltex_cli.formats.options import InputOptions

Images = Mapping[str, OneImage]
WORDS = [[x, y, x + 80, y + 20] for y in range(0, 300, 50) for x in range(0, 400, 100)]
"""Boxes of the words of a page."""


def shifted(boxes: Sequence[Sequence[float]], seed: int) -> list[list[float]]:
    """Boxes a detector might return: each corner off by a few pixels."""
    noise = np.random.default_rng(seed).uniform(-2, 2, (len(boxes), 4))
    return (np.array(boxes, float).reshape(-1, 4) + noise).tolist()


def audit_of(gt: Images, detectors: Mapping[str, Images], invalid: str = "repair") -> Audit:
    gt_side = memory.source("gt", {name: objects_of(one) for name, one in gt.items()}, {})
    inputs = {}
    for label, det in detectors.items():
        side = memory.source("det", {name: objects_of(one) for name, one in det.items()}, {})
        inputs[label] = open_inputs(gt_side, side, InputOptions(invalid=invalid))
    return audit(inputs, {})


def audit_of_page(gt: OneImage, seen: Sequence[Sequence[float]], invalid: str = "repair") -> Audit:
    """Of one page, on which every detector returns what it sees."""
    return audit_of({"page": gt}, {f"d{k}": {"page": shifted(seen, k)} for k in range(3)}, invalid)


def of_kind(found: Audit, kind: Kind) -> list[Suspect]:
    return [one for one in found.suspects if one.kind == kind]


def test_a_page_that_all_detectors_find_has_no_likely_suspects() -> None:
    found = audit_of_page(WORDS, WORDS)
    assert all(one.suspicion < 0.5 for one in found.suspects)
    assert found.independent == ["d0", "d1", "d2"]


def test_a_word_without_an_object_is_missing() -> None:
    first = audit_of_page(WORDS[1:], WORDS).suspects[0]
    assert (first.kind, first.image, first.objects, first.current) == ("missing", "page", (), ())
    assert first.suspicion > 0.8
    assert first.detectors == ("d0", "d1", "d2")
    assert np.allclose(first.box, WORDS[0], atol=2)
    assert [one.dont_care for one in first.proposed] == [False]
    assert np.allclose(np.ravel(first.proposed[0].vertices), WORDS[0], atol=2)


def test_an_object_without_any_detection_is_unfound() -> None:
    (one,) = of_kind(audit_of_page([*WORDS, [500, 0, 580, 20]], WORDS), "unfound")
    assert one.objects == (len(WORDS) + 1,)
    assert one.detectors == ()
    assert [each.dont_care for each in one.proposed] == [True]
    assert one.proposed[0].vertices == one.current[0].vertices == ((500, 0), (580, 20))


def test_objects_that_nothing_finds_are_likely_wrong_if_detectors_miss_few_others() -> None:
    spurious = [[500, y, 580, y + 20] for y in range(0, 250, 50)]
    sure = of_kind(audit_of_page([*WORDS, *spurious], WORDS), "unfound")
    assert [one.suspicion > 0.8 for one in sure] == [True] * 5
    # One detector finds the words of the first half of the page alone: five are no surprise.
    seen = {"a": WORDS, "b": WORDS[::2], "c": WORDS[:12:3]}
    pages = {label: {"page": shifted(seen[label], k)} for k, label in enumerate(seen)}
    unsure = of_kind(audit_of({"page": [*WORDS, *spurious]}, pages), "unfound")
    assert len(unsure) == 5
    assert max(one.suspicion for one in unsure) < 0.5


def test_an_object_half_its_height_off_is_misplaced() -> None:
    moved = [[0, 10, 80, 30], *WORDS[1:]]
    first = audit_of_page(moved, WORDS).suspects[0]
    assert (first.kind, first.objects) == ("misplaced", (1,))
    assert first.suspicion > 0.8
    assert np.allclose(np.ravel(first.proposed[0].vertices), WORDS[0], atol=2)


def test_two_words_in_one_object_are_merged() -> None:
    joined = [[0, 0, 180, 20], *WORDS[2:]]
    gt = image_objects(joined, texts=["two words", *["a"] * 22])
    first = audit_of_page(gt, WORDS).suspects[0]
    assert (first.kind, first.objects, len(first.proposed)) == ("merged", (1,), 2)
    assert first.suspicion > 0.5  # of three detectors and the annotator, three say so: at most 0.75
    assert [one.text for one in first.proposed] == ["two", "words"]
    assert np.allclose(np.ravel(first.proposed[1].vertices), WORDS[1], atol=2)


def test_lines_that_cross_in_their_boxes_are_two_parts() -> None:
    """Boxes around bent lines share most of their area; the lines share none."""
    rim = [[600, 400], [800, 200], [1000, 400], [1000, 430], [800, 230], [600, 430]]
    upper = np.array(rim, float)
    lower = upper + np.array([0, 36])
    gt = image_objects(polygons=[[*upper[:3], *lower[3:]], *map(corners, WORDS)])
    seen = {
        f"d{k}": {"page": image_objects(polygons=[upper + k, lower - k, *words])}
        for k, words in enumerate([*map(corners, shifted(WORDS, k))] for k in range(3))
    }
    (one,) = of_kind(audit_of({"page": gt}, seen), "merged")
    assert (one.objects, len(one.proposed)) == ((1,), 2)


def corners(box: Sequence[float]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    x0, y0, x1, y1 = box
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], float)


def test_parts_that_different_detectors_see_speak_against_the_whole() -> None:
    """No two detectors see both words, but each word is seen by two, and the line by none."""
    joined = [[0, 0, 180, 20], *WORDS[2:]]
    seen = {"a": WORDS, "b": [WORDS[0], *WORDS[2:]], "c": WORDS[1:]}
    pages = {label: {"page": shifted(seen[label], k)} for k, label in enumerate(seen)}
    (one,) = of_kind(audit_of({"page": joined}, pages), "merged")
    assert (one.objects, one.detectors) == ((1,), ("a", "b", "c"))
    assert one.suspicion > 0.5


def test_what_is_merged_or_split_is_named_so_and_not_another_text() -> None:
    """A part has another text than the whole, and is elsewhere."""
    joined = [[0, 0, 180, 20], *WORDS[2:]]
    texts = texts_of()
    gt = image_objects(joined, texts=["word0 word1", *texts[2:]])
    boxes = [[0, 0, 110, 20], [120, 0, 180, 20], *WORDS[2:]]
    seen = {f"d{k}": {"page": image_objects(shifted(boxes, k), texts=texts)} for k in range(3)}
    about = [one for one in audit_of({"page": gt}, seen).suspects if one.objects == (1,)]
    assert about[0].kind == "merged"
    assert about[0].suspicion > 0.6
    assert {one.kind for one in about} <= {"merged", "text"}


@pytest.mark.parametrize("invalid", ["repair", "skip", "drop"])
def test_an_invalid_polygon_is_an_object_whatever_scores_make_of_it(invalid: str) -> None:
    """It can be replaced, and its place is not missing."""
    drawn = [[0, 0], [80, 20], [80, 0], [0, 20]]
    gt = image_objects(polygons=[np.array(drawn, float), *map(corners, WORDS[1:])])
    first = audit_of_page(gt, WORDS, invalid=invalid).suspects[0]
    assert (first.kind, first.objects) == ("misplaced", (1,))
    assert first.current[0].vertices == tuple(map(tuple, drawn))


def test_two_objects_in_one_word_are_split() -> None:
    halves = [[0, 0, 50, 20], [52, 0, 80, 20], *WORDS[1:]]
    first = audit_of_page(image_objects(halves, texts=["s", "pl", *["a"] * 23]), WORDS).suspects[0]
    assert (first.kind, first.objects, len(first.proposed)) == ("split", (1, 2), 1)
    assert first.suspicion > 0.5
    assert np.allclose(np.ravel(first.proposed[0].vertices), WORDS[0], atol=2)


def test_two_objects_in_one_place_are_duplicates() -> None:
    first = audit_of_page([*WORDS, [1, 0, 82, 21]], WORDS).suspects[0]
    assert (first.kind, first.objects) == ("duplicate", (1, len(WORDS) + 1))
    assert first.suspicion > 0.8
    assert first.proposed == first.current[:1]


def texts_of(*changed: tuple[int, str]) -> list[str]:
    return [dict(changed).get(k, f"word{k}") for k in range(len(WORDS))]


def read_by(*texts: list[str]) -> dict[str, Images]:
    return {
        f"d{k}": {"page": image_objects(shifted(WORDS, k), texts=of_one)}
        for k, of_one in enumerate(texts)
    }


@pytest.mark.parametrize("scale", [1, 1 / 3, 0.001, 1000])
def test_an_iou_of_one_half_is_one_half_at_every_scale(scale: float) -> None:
    """The second object is half of the first, and the third one half of a detection of each."""
    objects = np.array([[50, 40, 90, 80], [70, 40, 90, 80], [300, 40, 340, 80]])
    seen = np.array([[50, 40, 90, 80], [300, 20, 340, 100]])
    gt, det = {"page": scale * objects}, {"page": scale * seen}
    found = audit_of(gt, {"a": det, "b": {"page": scale * (seen - [0, 0, 0, 1])}, "c": det})
    assert [one.objects for one in of_kind(found, "duplicate")] == [(1, 2)]
    # All three find the first, and but for the second detector also the others.
    assert not of_kind(found, "missing")


def test_an_accent_of_its_own_is_no_other_text() -> None:
    gt = image_objects(WORDS, texts=texts_of((0, "Mu\u0308ller")))
    right = texts_of((0, "M\u00fcller"))
    assert of_kind(audit_of({"page": gt}, read_by(right, right, right)), "text") == []


def test_a_text_that_detectors_read_otherwise() -> None:
    gt = image_objects(WORDS, texts=texts_of((0, "Hotal"), (1, "WORD1")))
    right = texts_of((0, "hotel"))
    found = audit_of({"page": gt}, read_by(right, right, texts_of((0, "hote1"))))
    (one,) = of_kind(found, "text")
    assert (one.objects, one.detectors) == ((1,), ("d0", "d1"))
    assert one.suspicion > 0.8
    assert [each.text for each in one.proposed] == ["hotel"]
    assert one.proposed[0].vertices == one.current[0].vertices


def test_recognisers_of_the_same_outlines_are_one_detector_and_several_readers() -> None:
    gt = image_objects(WORDS, texts=texts_of((0, "Hotal")))
    right = texts_of((0, "hotel"))
    seen = {
        label: {"page": image_objects(WORDS, texts=texts)}
        for label, texts in {
            "a": right,
            "b": [*right[:8], *("wrong" for _ in right[8:])],
            "c": right,
        }.items()
    }
    found = audit_of({"page": gt}, seen)
    assert (found.independent, found.readers) == (["a"], ["a", "b"])
    assert found.copies == {"b": "a", "c": "a"}
    silent = audit_of({"page": gt}, {"a": seen["a"], "b": {"page": WORDS}})
    assert (silent.readers, silent.copies) == (["a"], {"b": "a"})


def test_there_may_be_more_readers_than_detectors() -> None:
    gt, right = image_objects(WORDS, texts=texts_of((0, "Hotal"))), texts_of((0, "hotel"))
    others = image_objects(shifted(WORDS, 0), texts=["hotel", *("wrong" for _ in right[1:])])
    found = audit_of({"page": gt}, {**read_by(right, right), "d2": {"page": others}})
    assert (found.independent, found.readers) == (["d0", "d1"], ["d0", "d1", "d2"])
    (one,) = (one for one in of_kind(found, "text") if one.objects == (1,))
    assert one.detectors == ("d0", "d1", "d2")


def test_a_dont_care_object_that_most_detectors_read_alike() -> None:
    hidden = [k in (0, 1, 2, 3) for k in range(len(WORDS))]
    gt = image_objects(WORDS, dont_care=hidden, texts=texts_of((0, "###")))
    seen = {
        label: {"page": image_objects([WORDS[0], *shifted(WORDS[4:], k)], texts=texts_of()[3:])}
        for k, label in enumerate("abc")
    }
    (one,) = of_kind(audit_of({"page": gt}, seen), "dont-care")
    assert one.objects == (1,)
    assert one.suspicion > 0.5
    assert [(each.dont_care, each.text) for each in one.proposed] == [(False, "word3")]


def test_the_few_dont_care_objects_of_a_data_set_may_all_be_wrong() -> None:
    """If everything else of their size that detectors find counts."""
    hidden = [k < 2 for k in range(len(WORDS))]
    found = of_kind(audit_of_page(image_objects(WORDS, dont_care=hidden), WORDS), "dont-care")
    assert {one.objects for one in found} == {(1,), (2,)}
    assert all(one.suspicion > 0.6 for one in found)


def test_dont_care_objects_that_are_found_as_often_as_others_are_a_convention() -> None:
    hidden = [k % 3 > 0 for k in range(len(WORDS))]
    found = of_kind(audit_of_page(image_objects(WORDS, dont_care=hidden), WORDS), "dont-care")
    assert all(one.suspicion < 0.5 for one in found)


def test_a_counted_object_that_looks_like_those_that_are_dont_care() -> None:
    tiny = [[x, 400, x + 8, 404] for x in range(0, 200, 20)]
    hidden = [False] * len(WORDS) + [True] * 9 + [False]
    gt = image_objects([*WORDS, *tiny], dont_care=hidden)
    (one,) = of_kind(audit_of_page(gt, WORDS), "dont-care")
    assert one.objects == (len(WORDS) + 10,)
    assert [each.dont_care for each in one.proposed] == [True]


def test_a_detector_that_copies_another_counts_once() -> None:
    seen = {f"d{k}": {"page": shifted(WORDS, k)} for k in range(3)}
    alone = audit_of({"page": WORDS[1:]}, seen)
    copied = audit_of({"page": WORDS[1:]}, {**seen, "e": seen["d1"], "f": seen["d1"]})
    assert copied.copies == {"e": "d1", "f": "d1"}
    assert copied.independent == alone.independent == ["d0", "d1", "d2"]
    assert copied.suspects == alone.suspects
    same = audit_of({"page": WORDS[1:]}, {"a": {"page": WORDS}, "b": {"page": WORDS}})
    assert (same.independent, of_kind(same, "missing"), same.warnings) == (["a"], [], [ALONE])


def test_the_order_of_detectors_and_images_does_not_matter() -> None:
    pages = {"a": WORDS[1:], "b": WORDS, "c": WORDS[:5]}
    seen = {f"d{k}": {name: shifted(WORDS, 3 * k) for name in pages} for k in range(3)}
    other = {label: dict(reversed(of_one.items())) for label, of_one in reversed(seen.items())}
    assert audit_of(pages, seen).suspects == audit_of(dict(reversed(pages.items())), other).suspects


def test_a_detector_without_detections_does_not_count() -> None:
    gt = {"page": [*WORDS, [500, 0, 580, 20]]}
    seen = {f"d{k}": {"page": shifted(WORDS, k)} for k in range(3)}
    alone = audit_of(gt, seen)
    for label in ("a", "d00", "e"):  # before, among and after the others
        found = audit_of(gt, {label: {"page": []}, **seen})
        assert found.suspects == alone.suspects
        assert (found.independent, found.copies) == (["d0", "d1", "d2"], {})
    assert audit_of(gt, {"a": {"page": []}, "d0": seen["d0"]}).warnings == [ALONE]


def test_if_all_detectors_are_empty_no_object_is_unfound() -> None:
    found = audit_of({"page": [*WORDS, WORDS[0]]}, {"a": {"page": []}, "b": {"page": []}})
    assert [one.kind for one in found.suspects] == ["duplicate"]


BOXES = st.lists(
    st.tuples(
        *[st.integers(0, 60), st.integers(0, 60), st.integers(1, 30), st.integers(1, 30)]
    ).map(lambda box: [box[0], box[1], box[0] + box[2], box[1] + box[3]]),
    max_size=8,
)


@given(gt=BOXES, seen=st.lists(BOXES, min_size=2, max_size=4), data=st.data())
def test_suspects_of_any_boxes(
    gt: list[list[int]], seen: list[list[list[int]]], data: st.DataObject
) -> None:
    """They are of the objects, bounded, sorted, and the same whatever the order of detections."""
    texts = data.draw(st.lists(st.sampled_from(["", "a", "b"]), min_size=len(gt), max_size=len(gt)))
    hidden = data.draw(st.lists(st.booleans(), min_size=len(gt), max_size=len(gt)))
    page = image_objects(gt, texts=texts, dont_care=hidden)
    detectors = {f"d{k}": {"page": boxes} for k, boxes in enumerate(seen)}
    found = audit_of({"page": page}, detectors)
    values = [one.suspicion for one in found.suspects]
    assert values == sorted(values, reverse=True)
    for one in found.suspects:
        assert 0 <= one.suspicion <= 1
        assert [each.vertices for each in one.current] == [
            tuple(map(tuple, np.reshape(gt[number - 1], (2, 2)).tolist())) for number in one.objects
        ]
        assert set(one.detectors) <= set(found.independent) | set(found.readers)
    turned = {label: {"page": of_one["page"][::-1]} for label, of_one in detectors.items()}
    other = audit_of({"page": page}, turned)
    assert [(one.kind, one.objects, one.suspicion, one.box) for one in found.suspects] == [
        (one.kind, one.objects, one.suspicion, one.box) for one in other.suspects
    ]


def test_masks_are_refused() -> None:
    mask = np.ones((1, 8, 8), bool)
    with pytest.raises(InputError, match="expected boxes and polygons"):
        evaltex_cli.find_suspects([mask], [[mask], [mask]])
