"""Checks of parsed objects: invalid, zero area, outside the image, duplicate, counter-clockwise."""

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
    """Yield all findings about objects, kind by kind; `sizes` are (images, 2), 0 where unknown."""
    drawn, low, high = objects.outlines, objects.boxes[:, :2], objects.boxes[:, 2:]
    for row, (why, has_area) in outlines.describe_invalid(drawn).items():
        fate = "is repaired" if has_area else "matches nothing"
        advice = f"it {fate} (--invalid changes this); better correct the file"
        yield "invalid-polygon", row, why, advice

    for row in np.flatnonzero((high <= low).any(axis=1) & (drawn.counts == 0)).tolist():
        found = f"a box without area, {_box(objects.boxes[row])}"
        yield "zero-area", row, found, "it matches nothing; correct or remove it"

    corner = sizes[objects.image][:, ::-1]
    known = (corner > 0).all(axis=1)
    over = ((low < -PIXEL) | (high > corner + PIXEL)).any(axis=1)
    for row in np.flatnonzero(known & over).tolist():
        is_away = ((high[row] <= 0) | (low[row] >= corner[row])).any()
        how = "lies outside" if is_away else "reaches beyond"
        width, height = corner[row].tolist()
        found = f"{_box(objects.boxes[row])} {how} the picture, {width:g} x {height:g}"
        advice = "check the order of coordinates, their scale and the size"
        yield "outside-picture", row, found, advice

    for row, before in repeated(objects):
        found = f"the coordinates of object {objects.ids[before]} again"
        yield "duplicate", row, found, "one of the two removed, if they are one object"

    quads = np.flatnonzero(drawn.counts == 4)
    x, y = np.moveaxis(drawn.vertices[drawn.offsets[quads, None] + np.arange(4)], 2, 0)
    area = (x * np.roll(y, -1, axis=1) - np.roll(x, -1, axis=1) * y).sum(axis=1)
    for row in quads[area < 0].tolist():
        advice = "harmless here; the RRC's own scripts want them clockwise"
        yield "orientation", row, "a quadrilateral drawn counter-clockwise", advice


def _box(box: Floats) -> str:
    return "({:g}, {:g}) to ({:g}, {:g})".format(*box)
