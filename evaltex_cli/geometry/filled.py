"""Pixels of polygons as OpenCV's fillPoly fills them: those inside, and those on the outline."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import InputError
from evaltex_cli.geometry import rings
from evaltex_cli.geometry.masks import Masks, find_runs
from evaltex_cli.records import Floats, Ints, Outlines, offsets_of

OLDEST = (4, 11)
"""OpenCV 4.7 to 4.10 fill other pixels along slanted sides than the versions before and after."""
FAR = 1_000_000
"""No vertex is drawn farther from the origin, where OpenCV's numbers would overflow."""


def fill(outlines: Outlines, group: Ints, image: Ints, sizes: Floats) -> Masks:
    """Return the pixels of groups of outlines, each group the union of its members: coordinates are
    rounded to whole pixels, and what reaches beyond its image is cut off.

    `group` is that of each outline, none being empty; `image` that of each group; `sizes` are
    (images, 2) heights and widths. Raises `InputError` when OpenCV is not installed, or is too old.
    """
    cv2 = _opencv()
    vertices, offsets = rings.corners_and_vertices(outlines)
    points = np.rint(vertices).clip(-FAR, FAR).astype(np.int32)
    members: list[list[NDArray[np.int32]]] = [[] for _ in image]
    for k, (start, stop) in zip(group.tolist(), pairwise(offsets.tolist()), strict=True):
        members[k].append(points[start:stop])
    extents = sizes.astype(np.int64)
    first_row = offsets_of(extents[:, 0])
    columns: list[tuple[Ints, ...]] = [(np.zeros(0, np.int64),) * 4]
    for k, of_image in enumerate(image.tolist()):
        own = np.concatenate(members[k])
        ends = np.array([own.min(axis=0), own.max(axis=0) + 1])
        (left, top), (right, bottom) = ends.clip(0, extents[of_image, ::-1]).tolist()
        canvas = np.zeros((bottom - top, right - left), np.uint8)
        if canvas.size:
            for ring in members[k]:  # rings that are filled in one call erase what they share
                cv2.fillPoly(canvas, [ring], 1, offset=(-left, -top))
            runs = find_runs(canvas)
            row, column = np.divmod(runs.start, right - left)
            row, column = row + top + first_row[of_image], column + left
            columns.append((np.full(len(row), k), row, column, column + runs.stop - runs.start))
    return Masks.from_runs([np.concatenate(c) for c in zip(*columns, strict=True)], len(image))


def _opencv() -> Any:
    try:
        import cv2
    except ImportError as error:
        raise InputError("areas=pixels needs OpenCV: pip install opencv-python-headless") from error
    if tuple(map(int, cv2.__version__.split(".")[:2])) < OLDEST:
        raise InputError(
            f"areas=pixels needs OpenCV 4.11 or later, and this is {cv2.__version__}:"
            " pip install --upgrade opencv-python-headless"
        )
    return cv2
