"""Coordinates that are fractions of the page, made pixels by the picture or
by the size on the other side.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from evaltex_cli.old_formats.base import ReadImages, Source
from evaltex_cli.old_formats.collected import Images, source
from evaltex_cli.old_formats.image_sizes import with_sizes, with_sizes_of_each_other
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

BOX = (0.1, 0.2, 0.5, 0.4)
TRIANGLE = (0.0, 0.0, 0.5, 0.0, 0.5, 0.25)
BOW_TIE = (0.1, 0.1, 0.2, 0.2, 0.2, 0.1, 0.1, 0.2)


def made(**images: CollectedImage) -> Source:
    return source("det.json", "test", "", Images(images.values()))


def image(
    name: str, *coordinates: tuple[float, ...], size: tuple[int, int] | None = None
) -> CollectedImage:
    """An image in pixels, of this height and width, or in fractions."""
    height, width = size or (0, 0)
    found = CollectedImage(
        name, "det.json", ("images", name), height, width, in_fractions=size is None
    )
    for numbers in coordinates:
        found.add(CollectedObject(numbers))
    return found


def read(one: Source, status: str = "") -> ReadImages:
    images = one.read(np.arange(len(one.names)))
    assert "\n".join(map(str, images.faults.shown)) == status
    return images


FAULT = (
    "det.json: images.{}: coordinates that are fractions of the page, whose size in pixels is not"
    " known; expected the size of its picture: give the pictures by --images FOLDER"
)


def test_they_are_a_fault_of_the_first_image_with_objects() -> None:
    read(made(a=image("a"), b=image("b", BOX), c=image("c", BOX)), FAULT.format("b"))
    read(made(a=image("a")))


def test_pictures_make_them_pixels(tmp_path: Path) -> None:
    Image.new("L", (200, 100)).save(tmp_path / "a.png")
    both = made(a=image("a", BOX, TRIANGLE), b=image("b", (1, 2, 3, 4), size=(10, 20)))
    images = read(with_sizes(both, tmp_path))
    assert images.in_fractions is None
    np.testing.assert_allclose(
        images.objects.boxes, [[20, 20, 100, 40], [0, 0, 100, 25], [1, 2, 3, 4]]
    )
    np.testing.assert_allclose(images.objects.outlines.ring(1), [[0, 0], [100, 0], [100, 25]])
    assert images.sizes.tolist() == [[100, 200], [10, 20]]
    read(with_sizes(made(a=image("a", BOX), c=image("c", BOX)), tmp_path), FAULT.format("c"))


def test_polygons_are_repaired_and_counted_in_pixels(tmp_path: Path) -> None:
    Image.new("L", (200, 100)).save(tmp_path / "a.png")
    drawn = (20, 10, 40, 20, 40, 10, 20, 20)
    in_pixels = read(made(a=image("a", drawn, size=(100, 200))))
    images = read(with_sizes(made(a=image("a", BOW_TIE)), tmp_path))
    assert images.repairs == in_pixels.repairs
    assert images.repairs.repaired == 1
    np.testing.assert_allclose(
        images.objects.outlines.vertices, in_pixels.objects.outlines.vertices
    )


def test_the_size_on_the_other_side_makes_them_pixels() -> None:
    gt = made(a=image("a", (0, 0, 9, 9), size=(100, 200)), b=image("b", BOX), c=image("c", BOX))
    det = made(b=image("b", (0, 0, 9, 9), size=(50, 10)), a=image("a", BOX))
    ours, theirs = with_sizes_of_each_other(gt, det, np.array([1, 0, -1]))
    images = read(theirs)
    np.testing.assert_allclose(images.objects.boxes, [[0, 0, 9, 9], [20, 20, 100, 40]])
    np.testing.assert_allclose(
        theirs.read(np.array([1])).objects.boxes,
        [[20, 20, 100, 40]],
        err_msg="a part has its own partners",
    )
    images = read(ours, FAULT.format("c"))
    np.testing.assert_allclose(images.objects.boxes[:2], [[0, 0, 9, 9], [1, 10, 5, 20]])
    assert images.sizes.tolist() == [[100, 200], [50, 10], [0, 0]]


@pytest.mark.parametrize("gt_size", [(0, 0), None])
def test_without_a_size_on_either_side_they_are_a_fault(gt_size: tuple[int, int] | None) -> None:
    gt = made(a=image("a", BOX, size=gt_size))
    _, theirs = with_sizes_of_each_other(gt, made(a=image("a", BOX)), np.array([0]))
    read(theirs, FAULT.format("a"))


def test_a_picture_of_another_size_than_is_stated_is_a_fault(tmp_path: Path) -> None:
    """It is not known which of them the fractions are of."""
    Image.new("L", (100, 50)).save(tmp_path / "a.png")
    Image.new("L", (200, 100)).save(tmp_path / "b.png")
    gt = made(
        a=image("a", (0, 0, 9, 9), size=(100, 200)), b=image("b", (0, 0, 9, 9), size=(100, 200))
    )
    det = made(a=image("a", BOX), b=image("b", BOX))
    _, theirs = with_sizes_of_each_other(gt, det, np.array([0, 1]), tmp_path)
    stated = (
        "while 100,200 are stated; expected one size of an image in which coordinates are"
        " fractions of the page"
    )
    read(theirs, f"{tmp_path}/a.png: a picture of height,width 50,100, {stated}")
    assert not theirs.read(np.array([1])).faults.count
    pixels = made(a=image("a", (0, 0, 9, 9), size=(1, 1)))
    read(with_sizes_of_each_other(gt, pixels, np.array([0, -1]), tmp_path)[1])
