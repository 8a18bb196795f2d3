"""Lexicons of end-to-end tasks: which word replaces a text, and what it does to scores."""

from __future__ import annotations

from pathlib import Path

import pytest
import reference_texts as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import Accumulator, ConfigError, InputError, evaluate, image_objects
from evaltex_cli.protocols import lexicon
from evaltex_cli.protocols.lexicon import Lexicon, fingerprinted

ANY_EDITS = 1 << 32
BOXES = [[0, 0, 100, 20], [120, 0, 220, 20]]
words = st.text("abcXé", min_size=1, max_size=6)


def lexicon_of(words: list[str], most_edits: int) -> Lexicon:
    return Lexicon({word.upper(): word.upper() for word in words}, most_edits)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.lists(words, min_size=1, max_size=12),
    st.lists(st.text("abcXéz", max_size=7), max_size=4),
    st.sampled_from([0, 1, 2, ANY_EDITS]),
)
def test_the_nearest_word_is_the_first_of_the_least_distance(
    listed: list[str], texts: list[str], most: int
) -> None:
    found = lexicon_of(listed, most)
    for text in [*texts, *texts]:
        word, distance = reference.nearest(text, listed)
        assert found.nearest(text) == (word if distance <= most else None)


def test_a_text_of_any_length_has_a_nearest_word() -> None:
    assert lexicon_of(["b", "a"], ANY_EDITS).nearest("a" * 100_000) == "A"
    assert lexicon_of(["b", "a"], 1).nearest("a" * 100_000) is None


def scores(read: list[str], **parameters: object) -> dict[str, float]:
    accumulator = Accumulator("iou-crw", **parameters)
    gt = image_objects(BOXES, texts=["Hotel", "Bar"])
    accumulator.update(gt, image_objects(BOXES[: len(read)], texts=read))
    return accumulator.compute().scores


def test_a_list_for_all_images_replaces_texts_that_are_near(tmp_path: Path) -> None:
    """Hotol is one edit from a word; Bxx is two from any, and its detection is left out."""
    path = tmp_path / "voc.txt"
    path.write_bytes(b"\xef\xbb\xbfhotel\r\nBar\n\n  inn \n")
    assert scores(["Hotol", "Bxx"])["recall"] == 0
    found = scores(["Hotol", "Bxx"], lexicon=path)
    assert (found["recall"], found["precision"]) == (0.5, 1.0)
    found = scores(["Hotol", "Bxx"], lexicon=path, lexicon_edits=2)
    assert (found["recall"], found["precision"]) == (1.0, 1.0)
    assert scores(["Hotol"], lexicon=path, lexicon_edits=0)["precision"] == 0


def written(folder: Path, strong: dict[str, str]) -> None:
    for name, content in {
        "gt/gt_img_1.txt": "0,0,99,20,Hotel\n",
        "gt/gt_img_2.txt": "0,0,99,20,Bar\n",
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    (folder / "det").mkdir()
    (folder / "det" / "res_img_1.txt").write_text("0,0,99,20,Hxxxx\n")
    (folder / "det" / "res_img_2.txt").write_text("0,0,99,20,Hotel\n")
    (folder / "strong").mkdir()
    for name, content in strong.items():
        (folder / "strong" / name).write_text(content)


def test_a_list_for_each_image_replaces_texts_that_are_near(tmp_path: Path) -> None:
    """As AdelaiDet and MaskTextSpotter do: Hxxxx is four edits from Hotel, and is left out."""
    written(tmp_path, {"voc_img_1.txt": "Hotel\nThe\n", "img_2.txt": "Inn\nHotels\n"})
    found = evaluate(tmp_path / "gt", tmp_path / "det", "iou-crw", lexicon=tmp_path / "strong")
    assert (found.totals["counted_detections"], found.scores["recall"]) == (1, 0)
    found = evaluate(
        tmp_path / "gt", tmp_path / "det", "iou-crw", lexicon=tmp_path / "strong", lexicon_edits=99
    )
    assert (found.scores["recall"], found.scores["precision"]) == (0.5, 0.5)
    assert f"|lexicon:{fingerprinted(str(tmp_path / 'strong'))}|" in found.signature
    (tmp_path / "strong" / "img_2.txt").unlink()
    with pytest.raises(
        InputError, match=r"image 'img_2' has no lexicon; expected 'voc_img_2\.txt' in the folder"
    ):
        evaluate(tmp_path / "gt", tmp_path / "det", "iou-crw", lexicon=tmp_path / "strong")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            None,
            "voc.txt: cannot be read (No such file or directory); expected one word in each line",
        ),
        (b"", "voc.txt: no word in it; expected one in each line"),
        (b"a\nb\xff\n", "voc.txt:2: byte 0xff; expected text in UTF-8: save the file as UTF-8"),
    ],
)
def test_what_is_no_lexicon_is_refused(
    content: bytes | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("voc.txt").write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        Accumulator("iou-crw", lexicon="voc.txt")
    assert str(caught.value) == f"parameters: lexicon: {message}"


def test_folders_that_are_no_lexicon_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no \.txt file; expected one for each image"):
        fingerprinted(str(tmp_path))
    for name in ("voc_img_1.txt", "img_1.txt"):
        (tmp_path / name).write_text("word\n")
    with pytest.raises(ConfigError, match=r"'img_1.txt' and 'voc_img_1.txt' are lexicons of one"):
        fingerprinted(str(tmp_path))


def test_a_file_of_pairs_has_the_words_as_they_are_compared_and_as_they_are_written(
    tmp_path: Path,
) -> None:
    """Words may have blanks."""
    path = tmp_path / "GenericVocabulary_pair_list.txt"
    path.write_text(
        "BAR Bar!\nHOTEL Hotel\nBAR (Bar)\nJOHN John's Inn\nNEW YORK New York\nLE CAF Le Café\n"
        "ST JOHNS INN St. John's Inn!\nOPEN  Open\n"
    )
    found = lexicon.load(fingerprinted(str(path)), 1, "none")[lexicon.ALL_IMAGES]
    texts = {"bax": "(BAR)", "bar": "(BAR)", "hotel": "HOTEL", "jon": "JOHN'S INN", "nothing": None}
    texts |= {"NEW YORX": "NEW YORK", "new": None, "le caf": "LE CAFÉ", "oben": "OPEN"}
    texts |= {"st john inn": "ST. JOHN'S INN!"}
    assert {text: found.nearest(text) for text in texts} == texts
    path.write_text("BAR Bar\nHOTEL\n")
    with pytest.raises(
        ConfigError,
        match=r"list\.txt:2: 'HOTEL' alone; expected a word, a blank and the word as the",
    ):
        fingerprinted(str(path))


def test_files_of_pairs_in_a_folder(tmp_path: Path) -> None:
    """As text spotters distribute them: the words, and the pairs of the same words."""
    for name, content in {
        "new_voc_img_1": "BAR\n",
        "pair_voc_img_1": "BAR Bar!\n",
        "pair_voc_img_2": "INN Inn\n",
    }.items():
        (tmp_path / f"{name}.txt").write_text(content)
    found = lexicon.load(fingerprinted(str(tmp_path)), 1, "none")
    assert [found[f"img_{k}"].nearest(word) for k, word in ((1, "ba"), (2, "in"))] == [
        "BAR!",
        "INN",
    ]
    (tmp_path / "img_1.txt").write_text("BAR\n")
    with pytest.raises(ConfigError, match=r"'new_voc_img_1\.txt' are lexicons of one"):
        fingerprinted(str(tmp_path))


def test_another_lexicon_than_that_of_a_result_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "voc.txt"
    path.write_text("Hotel\n")
    value = fingerprinted(str(path))
    assert fingerprinted(value) == value
    path.write_text("Hotels\n")
    with pytest.raises(ConfigError, match=r"voc\.txt: is not the lexicon that was used"):
        fingerprinted(value)
    path.unlink()
    with pytest.raises(ConfigError, match=r"voc\.txt: cannot be read"):
        lexicon.load(value, 1, "none")
