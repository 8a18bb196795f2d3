"""Sizes of images by their pictures or the other side; fractions of the page made pixels by them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from evaltex_cli.formats import base
from evaltex_cli.formats.base import Source, TextObject
from evaltex_cli.formats.columns import columns
from evaltex_cli.formats.sizes import (
    find_pictures,
    sizes_from_pictures,
    with_sizes,
    with_sizes_of_each_other,
)

BOX = (0.1, 0.2, 0.5, 0.4)
TRIANGLE = (0.0, 0.0, 0.5, 0.0, 0.5, 0.25)
STATED = (0, 0, 9, 9)


def image(name: str, *points: tuple[float, ...], size: tuple[int, int] | None = None) -> base.Image:
    """An image of this height and width with pixels, or with fractions of the page."""
    objects = [TextObject(numbers) for numbers in points]
    return base.Image(name, objects, *(size or (0, 0)), fractions=size is None)


def source(*images: base.Image) -> Source:
    return replace(columns(images), path="det.json", files=())


def picture(path: Path, size: tuple[int, int], orientation: int = 0) -> None:
    """A picture of this width and height."""
    path.parent.mkdir(parents=True, exist_ok=True)
    exif = Image.Exif()
    if orientation:
        exif[0x0112] = orientation
    Image.new("L", size).save(path, exif=exif)


def in_fractions(found: Source) -> list[bool]:
    return [] if found.fractions is None else found.fractions.tolist()


def test_pictures_are_found_by_name_then_by_stem(tmp_path: Path) -> None:
    """The one nearest to the folder counts, then the ending that comes first."""
    for file in ("a.jpg", "a.png", "deep/a.png", "deep/b.JPG", "deep/er/c.tif", "x.txt"):
        picture(tmp_path / file, (2, 1)) if "x" not in file else (tmp_path / file).touch()
    names = ["a", "deep/a", "gt_b.xml", "c.tif", "../a", "x", "z"]
    found = [
        path and path.relative_to(tmp_path).as_posix() for path in find_pictures(tmp_path, names)
    ]
    assert found == ["a.png", "deep/a.png", "deep/b.JPG", "deep/er/c.tif", "a.png", None, None]


def test_sizes_are_those_that_viewers_show(tmp_path: Path) -> None:
    """A photograph that lies on its side is turned; what cannot be read has no size."""
    picture(tmp_path / "upright.jpg", (200, 100), 3)
    picture(tmp_path / "turned.jpg", (200, 100), 6)
    picture(tmp_path / "turned_png.png", (200, 100), 6)
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    names = ["upright", "turned", "turned_png", "broken", "missing"]
    expected = [[100, 200], [200, 100], [100, 200], [0, 0], [0, 0]]
    assert sizes_from_pictures(tmp_path, names).tolist() == expected


def test_pictures_make_fractions_pixels(tmp_path: Path) -> None:
    """A stated size stays."""
    picture(tmp_path / "a.png", (200, 100))
    picture(tmp_path / "b.png", (7, 7))
    both = source(
        image("a", BOX, TRIANGLE), image("b", (1, 2, 3, 4), size=(10, 20)), image("c", BOX)
    )
    found = with_sizes(both, tmp_path)
    boxes = [[20, 20, 100, 40], [0, 0, 100, 25], [1, 2, 3, 4], [*BOX]]
    np.testing.assert_allclose(found.objects.boxes, boxes)
    np.testing.assert_allclose(found.objects.outlines.ring(1), [[0, 0], [100, 0], [100, 25]])
    assert found.sizes.tolist() == [[100, 200], [10, 20], [0, 0]]
    assert in_fractions(found) == [False, False, True]


def test_the_size_on_the_other_side_makes_them_pixels() -> None:
    gt = source(image("a", STATED, size=(100, 200)), image("b", BOX), image("c", BOX))
    det = source(image("b", STATED, size=(50, 10)), image("a", BOX))
    ours, theirs = with_sizes_of_each_other(gt, det, np.array([1, 0, -1]))
    np.testing.assert_allclose(theirs.objects.boxes, [STATED, [20, 20, 100, 40]])
    np.testing.assert_allclose(ours.objects.boxes[:2], [STATED, [1, 10, 5, 20]])
    assert ours.sizes.tolist() == [[100, 200], [50, 10], [0, 0]]
    assert (in_fractions(ours), in_fractions(theirs)) == ([False, False, True], [])
