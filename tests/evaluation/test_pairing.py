"""Images of other names on both sides that are the same image, and those that
may be another one.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evaltex_cli import evaluate
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.pairing import with_names_of
from evaltex_cli.formats.base import Source
from evaltex_cli.validation.validation import validate

BOX = "10,10,60,30\n"


def of(path: str, *names: str) -> Source:
    return Source(names, np.zeros((len(names), 2)), path=path, format="test")


@pytest.mark.parametrize(
    ("gt", "det", "names"),
    [
        (["img_100.jpg", "img_2.jpg"], ["img_100", "img_2"], ["img_100.jpg", "img_2.jpg"]),
        (["a/x/img_1.JPG", "b/img_2.png"], ["img_1", "img_2"], ["a/x/img_1.JPG", "b/img_2.png"]),
        (["img_1", "img_2"], ["out/img_1.png", "img_2"], ["img_1", "img_2"]),
        (["a/img_1.jpg", "b/img_1.jpg"], ["img_1", "img_2"], ["img_1", "img_2"]),  # which of both?
        (["a/img_1", "b/img_1"], ["x/a/img_1.jpg", "x/b/img_1.jpg"], ["a/img_1", "b/img_1"]),
        (["a/img_1.jpg", "img_1", "img_2"], ["img_1", "img_2"], ["img_1", "img_2"]),
        (
            ["a/img_1.jpg", "b/img_2.jpg"],
            ["b/img_1.jpg", "c/img_2"],
            ["b/img_1.jpg", "c/img_2"],
        ),  # other folders
        (["img_1.jpg", "x"], ["IMG_1", "x"], ["IMG_1", "x"]),
    ],
)
def test_names_without_folders_endings_and_prefixes(
    gt: list[str], det: list[str], names: list[str]
) -> None:
    found = with_names_of(of("gt", *gt), of("det.zip", *det))
    assert list(found.names) == names
    renamed = [f"'{old}' with '{new}'" for old, new in zip(det, names, strict=True) if old != new]
    assert [warning.rpartition(": ")[2].split(", ") for warning in found.warnings] == (
        [renamed] if renamed else []
    )


@pytest.mark.parametrize(
    ("gt", "det", "name"),
    [
        (("gt.txt", "gt"), ("page.txt", "page"), "gt"),
        (("words.xml", "a/page 1.jpg"), ("out.json.gz", "out"), "a/page 1.jpg"),
        (
            ("gt_img_1.txt", "img_1"),
            ("res_img_2.txt", "img_2"),
            "img_2",
        ),  # a difference in numbers is one of images
        (("gt.json", "a"), ("det.json", "b"), "b"),  # both files say what their image is
        (("gt.json", "a.jpg"), ("det.json", "a"), "a.jpg"),
    ],
)
def test_two_files_of_one_image(gt: tuple[str, str], det: tuple[str, str], name: str) -> None:
    found = with_names_of(of(*gt), of(*det))
    assert list(found.names) == [name]
    note = (
        f"{det[0]}: 1 image of other names than in the ground truth is paired as the only one of"
        " each side"
    )
    assert found.warnings == ((f"{note}: '{det[1]}' with '{name}'",) if name != det[1] else ())


def test_an_evaluation_and_a_validation_say_so(tmp_path: Path) -> None:
    gt = tmp_path / "gt.xml"
    images = "".join(
        f"<image><imageName>a/img_{k}.jpg</imageName><taggedRectangles><taggedRectangle x='10'"
        " y='10' width='51' height='21'/></taggedRectangles></image>"
        for k in (1, 2)
    )
    gt.write_text(f"<tagset>{images}</tagset>")
    det = tmp_path / "det"
    det.mkdir()
    for k in (1, 2):
        (det / f"res_img_{k}.txt").write_text(BOX)
    found = evaluate(gt, det, "iou")
    assert found.scores["hmean"] == 1
    note = (
        "2 images of other names than in the ground truth are paired without folders, endings and"
        " prefixes: 'img_1' with 'a/img_1.jpg', 'img_2' with 'a/img_2.jpg'"
    )
    assert f"det: {note}" in found.warnings
    problems = validate(gt, det).problems
    assert [problem.level for problem in problems] == ["warning"] * len(problems)
    assert note in [problem.found for problem in problems]
    (det / "res_other_3.txt").write_text(BOX)
    with pytest.raises(InputError, match="image 'other_3' is not in the ground truth"):
        evaluate(gt, det, "iou")


def test_ground_truth_given_as_detections_is_named_by_its_sizes(tmp_path: Path) -> None:
    """An EvaLTex file of ground truth has a line of sizes after each name,
    which detections do not have.
    """
    (tmp_path / "gt.txt").write_text('a\n99,120\n1,1,"x",f,1,2,30,40\n')
    with pytest.raises(
        InputError,
        match=r"expected no line of height,width: an EvaLTex file of detections has none",
    ):
        evaluate(tmp_path / "gt.txt", tmp_path / "gt.txt")
