"""Coordinates that are all fractions and texts that are all numbers are reported by a run and by
`validate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from evaltex_cli import evaluate
from evaltex_cli.validation.validation import validate

BOXES = [(10, 10 + 30 * k, 110, 30 + 30 * k) for k in range(6)]
WORDS = ["to", "be", "or", "not", "to", "be"]
DECIMALS = ["0.91", "0.87", "0.5", "0.99", "1.0", "0.31"]
CLASSES = ["1", "2", "1", "3", "1", "2"]
RUNNING = [str(k + 1) for k in range(6)]
HEAD = "image,x0,y0,x1,y1,text\n"


def table(path: Path, texts: Sequence[str]) -> Path:
    """A table of two images with the same boxes, which has a column of texts."""
    rows = [
        f"img_{image},{','.join(map(str, box))},{text}\n"
        for image in (1, 2)
        for box, text in zip(BOXES, texts, strict=True)
    ]
    path.write_text(HEAD + "".join(rows))
    return path


def found(tmp_path: Path, gt: Sequence[str], det: Sequence[str]) -> list[str]:
    """What a run says of texts; `validate` says the same."""
    paths = table(tmp_path / "gt.csv", gt), table(tmp_path / "det.csv", det)
    warned = [text for text in evaluate(*paths, "iou").warnings if "numbers" in text]
    problems = [one for one in validate(*paths).problems if one.kind == "texts"]
    assert [f"{one.file}: {one.found}; {one.advice}" for one in problems] == warned
    return [text.removeprefix(f"{tmp_path}/") for text in warned]


@pytest.mark.parametrize(
    ("texts", "what"),
    [
        (DECIMALS, "such as '0.91'; are they confidences, in the place of the texts?"),
        (RUNNING, "such as '1'; are they IDs, in the place of the texts?"),
        (CLASSES, "such as '1'; are they IDs, classes or confidences, in the place of the texts?"),
    ],
)
def test_numbers_for_texts(tmp_path: Path, texts: list[str], what: str) -> None:
    numbers = "all transcriptions are numbers"
    assert found(tmp_path, WORDS, texts) == [f"det.csv: {numbers}, {what}"]
    if texts != DECIMALS:  # of which a run says that the sides may have been swapped
        assert found(tmp_path, texts, WORDS) == [f"gt.csv: {numbers}, {what}"]


def test_numbers_that_may_be_what_was_written(tmp_path: Path) -> None:
    """On both sides, some among words, and few of them."""
    assert found(tmp_path, CLASSES, CLASSES[::-1]) == []
    assert found(tmp_path, WORDS, [*CLASSES[:5], "No"]) == []
    gt, det = tmp_path / "one.csv", table(tmp_path / "det.csv", WORDS)
    gt.write_text(f"{HEAD}img_1,10,10,110,30,17\nimg_2,10,10,110,30,4\n")
    assert not any("numbers" in text for text in evaluate(gt, det, "iou").warnings)


@pytest.mark.parametrize(("gt", "det"), [(RUNNING, RUNNING), (CLASSES, RUNNING)])
def test_ids_on_both_sides(tmp_path: Path, gt: list[str], det: list[str]) -> None:
    assert found(tmp_path, gt, det) != []


def test_fractions(tmp_path: Path) -> None:
    gt, det = tmp_path / "gt", tmp_path / "det"
    for folder in (gt, det):
        folder.mkdir()
        lines = [",".join(f"{value / 1000:g}" for value in box) + ",word\n" for box in BOXES]
        (folder / "img_1.txt").write_text("".join(lines))
    said = "all coordinates are in [0, 1], and are read as pixels"
    assert sum(said in text for text in evaluate(gt, det, "iou").warnings) == 2
    problems = [(one.side, one.kind) for one in validate(gt, det).problems if said == one.found]
    assert problems == [("gt", "coordinates"), ("det", "coordinates")]
    assert [one.kind for one in validate(gt).problems if said == one.found] == ["coordinates"]


def test_validate_without_any_object(tmp_path: Path) -> None:
    gt, det = table(tmp_path / "gt.csv", WORDS), tmp_path / "det.txt"
    det.write_text("img_1\n\nimg_2\n")
    sides = [one.side for one in validate(gt, det).problems if one.kind == "no-objects"]
    assert sides == ["det"]
    empty = tmp_path / "gt.txt"
    empty.write_text("img_1\n90,120\n")
    assert [one.kind for one in validate(empty).problems] == ["no-objects"]


def test_confidences_before_the_coordinates(tmp_path: Path) -> None:
    gt, det = tmp_path / "gt", tmp_path / "det"
    for folder, first, last in ((gt, "", ",word"), (det, "0.9,", "")):
        folder.mkdir()
        lines = [first + ",".join(map(str, box)) + last + "\n" for box in BOXES]
        (folder / "img_1.txt").write_text("".join(lines))
    said = "the first coordinate of all boxes is in [0, 1]; if it is a confidence"
    assert sum(said in text for text in evaluate(gt, det, "iou").warnings) == 1
    assert [one.side for one in validate(gt, det).problems if one.kind == "confidences"] == ["det"]


def test_an_empty_list_of_results(tmp_path: Path) -> None:
    """Of a detector that has found nothing; whatever the format, a warning says so."""
    gt, det = table(tmp_path / "gt.csv", WORDS), tmp_path / "det.json"
    det.write_text("[]")
    assert evaluate(gt, det, "iou").warnings == [
        "det.json: no image in the detection file, as if nothing was detected"
    ]


def test_confidences_after_the_texts(tmp_path: Path) -> None:
    gt, det = tmp_path / "gt", tmp_path / "det"
    for folder, last in ((gt, ",word"), (det, ",word,0.9")):
        folder.mkdir()
        lines = [",".join(map(str, box)) + last + "\n" for box in BOXES]
        (folder / "img_1.txt").write_text("".join(lines))
    said = "all transcriptions end in a number from 0 to 1, such as 'word,0.9'"
    assert [said in text for text in evaluate(gt, det, "iou").warnings] == [True]
    assert [said == one.found for one in validate(gt, det).problems] == [True]
    assert evaluate(gt, gt, "iou").warnings == []
