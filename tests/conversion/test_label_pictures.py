"""Label pictures of the objects of a ground truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from evaltex_cli import evaluate
from evaltex_cli.conversion.convert import convert
from evaltex_cli.errors import InputError
from evaltex_cli.formats.base import TextObject
from evaltex_cli.formats.columns import objects_of


def evaltex_gt(path: Path, lines: str, size: str = "20,30") -> Path:
    path.write_text(f"img_1\n{size}\n{lines}\n")
    return path


@pytest.mark.parametrize("mask_format", ["tif", "png"])
def test_masks_hold_the_objects(tmp_path: Path, mask_format: Any) -> None:
    gt = evaltex_gt(
        tmp_path / "gt.txt", '1,1,"a",f,2,3,5,4\n300,1,"b",f,4,4,4,4\n3,1,"c",f,10,10,20,10,20,20\n'
    )
    convert(gt, tmp_path / "out.txt", "gt", masks=tmp_path / "masks", mask_format=mask_format)
    with Image.open(tmp_path / "masks" / f"img_1.{mask_format}") as picture:
        labels = np.asarray(picture)
    expected = np.zeros((20, 30), int)
    expected[3:7, 2:7] = 1
    expected[4:8, 4:8] = 300
    for row in range(10, 20):
        expected[row, row:20] = 3  # the diagonal's pixels have their centres on it
    assert labels.dtype == np.uint16 and labels.tolist() == expected.tolist()
    det = tmp_path / "det.txt"
    det.write_text('img_1\n1,"a",2,3,5,4\n300,"b",4,4,4,4\n3,"c",10,10,20,10,20,20\n')
    folder = tmp_path / "masks"
    scores = evaluate(tmp_path / "out.txt", det, gt_images=folder, det_images=folder).scores
    assert (scores["recall"], scores["precision"]) == (1, 1)


POINTS = st.lists(st.tuples(st.integers(-40, 200), st.integers(-40, 120)), min_size=3, max_size=7)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(POINTS)
def test_polygons_cover_the_pixels_whose_centres_lie_in_them(points: list[tuple[int, int]]) -> None:
    from evaltex_cli.conversion import label_pictures

    ring = [value / 4 for point in points for value in point]
    objects = objects_of([[TextObject(ring)]])
    picture = label_pictures.draw(objects, slice(0, 1), (12, 20))
    corners = list(zip(ring[::2], ring[1::2], strict=True))
    for row in range(12):
        for column in range(20):
            assert (picture[row, column] == 1) == _odd_crossings(
                corners, column + 0.5, row + 0.5
            ), (row, column)


def _odd_crossings(corners: list[tuple[float, float]], x: float, y: float) -> bool:
    """The even-odd rule; a point on a left side is within, on a right side not."""
    inside = False
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
        if (y0 <= y) != (y1 <= y) and x0 + (y - y0) * (x1 - x0) / (y1 - y0) <= x:
            inside = not inside
    return inside


@pytest.mark.parametrize(
    ("lines", "size", "message"),
    [
        ('1,1,"a",f,2,3,5,4\n2,1,"b",f,1,1,9,9\n', "20,30", "object 1 of image 'img_1' has no pixel"),
        ('1,1,"a",f,100,3,5,4\n', "20,30", "object 1 of image 'img_1' has no pixel"),
        ('70000,1,"a",f,1,3,5,4\n', "20,30", "IDs from 1 to 65535"),
        ('1,1,"a",f,1,3,5,4\n', "200000,300000", "at most 100000000 pixels"),
    ],
)  # fmt: skip
def test_masks_that_cannot_be_are_faults(
    tmp_path: Path, lines: str, size: str, message: str
) -> None:
    gt = evaltex_gt(tmp_path / "gt.txt", lines, size)
    with pytest.raises(InputError, match=message):
        convert(gt, tmp_path / "out.txt", "gt", masks=tmp_path / "masks")
    with pytest.raises(InputError, match="label pictures go with an EvaLTex file"):
        convert(gt, tmp_path / "out.zip", "gt", masks=tmp_path / "masks")
    assert [path.name for path in tmp_path.iterdir()] == ["gt.txt"]


def test_masks_need_sizes(tmp_path: Path) -> None:
    (tmp_path / "gt.csv").write_text("image,x0,y0,x1,y1\n1,1,2,3,4\n")
    with pytest.raises(InputError, match="image '1' without height and width"):
        convert(tmp_path / "gt.csv", tmp_path / "o.txt", "gt", masks=tmp_path / "masks")
