"""Checks of parsed objects: outside the image, duplicate, counter-clockwise, zero area, invalid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from evaltex_cli.geometry import outlines
from evaltex_cli.records import Floats, Objects, repeated

PIXEL = 1.0
"""By how much an object may reach beyond the picture, as conventions of the last pixel differ."""
Finding: TypeAlias = tuple[str, int, str, str]
"""A kind of problem, the row of `Objects` that has it, what is wrong with it, and what to do."""


def check(objects: Objects, sizes: Floats) -> Iterator[Finding]:
    """Yield all findings about objects; `sizes` are (images, 2), 0 where unknown."""
    yield from invalid_polygons(objects)
    yield from boxes_without_area(objects)
    yield from beyond_picture(objects, sizes)
    yield from duplicates(objects)
    yield from counter_clockwise(objects)


def invalid_polygons(objects: Objects) -> Iterator[Finding]:
    """Yield polygons that cross themselves, or have no area."""
    if objects.outlines.all_boxes:
        return
    for row, (why, has_area) in outlines.describe_invalid(objects.outlines).items():
        fate = "is repaired, every lobe kept" if has_area else "matches nothing"
        advice = f"it {fate}, unless --invalid says otherwise; better repair it"
        yield ("invalid-polygon", row, why, advice)


def boxes_without_area(objects: Objects) -> Iterator[Finding]:
    """Yield boxes whose width or height is 0."""
    flat = (objects.boxes[:, 2:] <= objects.boxes[:, :2]).any(axis=1) & (
        objects.outlines.counts == 0
    )
    for row in np.flatnonzero(flat).tolist():
        found = f"a box without area, {_box(objects.boxes[row])}"
        yield ("zero-area", row, found, "it matches nothing; correct or remove it")


def beyond_picture(objects: Objects, sizes: Floats) -> Iterator[Finding]:
    """Yield objects that reach more than `PIXEL` beyond a picture of known size."""
    corner = sizes[objects.image][:, ::-1]
    known = (corner > 0).all(axis=1)
    over = (objects.boxes[:, :2] < -PIXEL) | (objects.boxes[:, 2:] > corner + PIXEL)
    away = np.asarray(((objects.boxes[:, 2:] <= 0) | (objects.boxes[:, :2] >= corner)).any(axis=1))
    for row in np.flatnonzero(known & over.any(axis=1)).tolist():
        how = "lies outside" if away[row] else "reaches beyond"
        width, height = corner[row].tolist()
        found = f"{_box(objects.boxes[row])} {how} the picture, {width:g} x {height:g}"
        advice = "check the order of coordinates, their scale and the size"
        yield ("outside-picture", row, found, advice)


def duplicates(objects: Objects) -> Iterator[Finding]:
    """Yield objects with the coordinates of an object before them in the same image."""
    for row, before in repeated(objects):
        found = f"the coordinates of object {objects.ids[before]} again"
        yield ("duplicate", row, found, "one of the two removed, if they are one object")


def counter_clockwise(objects: Objects) -> Iterator[Finding]:
    """Yield quadrilaterals drawn counter-clockwise as one sees them."""
    drawn = objects.outlines
    quads = np.flatnonzero(drawn.counts == 4)
    corners = drawn.vertices[drawn.offsets[quads, None] + np.arange(4)]  # (q, 4, 2)
    after = np.roll(corners, -1, axis=1)
    area = (corners[..., 0] * after[..., 1] - after[..., 0] * corners[..., 1]).sum(axis=1)
    for row in quads[area < 0].tolist():
        advice = "harmless here; the RRC's own scripts want them clockwise"
        yield ("orientation", row, "a quadrilateral drawn counter-clockwise", advice)


def _box(box: Floats) -> str:
    return "({:g}, {:g}) to ({:g}, {:g})".format(*box)
