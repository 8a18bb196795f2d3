"""What is drawn around objects, made of the numbers in a file: boxes and polygons, and what is
wrong with these.

Boxes, and quadrilaterals that are convex beyond all doubt, need no shapely here.
"""

from __future__ import annotations

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.geometry import boxes as box_geometry
from evaltex_cli.geometry import rings
from evaltex_cli.records import (
    Bools,
    Floats,
    Geometries,
    GeometryCounts,
    Ints,
    Outlines,
    offsets_of,
)

MOST_MADE_EARLY = 1 << 14
"""Objects of one batch whose polygons are stored when they are read; of more
they are made again on demand.
"""


def from_numbers(numbers: Floats, counts: Ints, is_box: Bools) -> tuple[Outlines, GeometryCounts]:
    """Make outlines of the coordinates of objects.

    Parameters
    ----------
    numbers : (c,) float64
        x0, y0, x1, y1 of a box, x1, y1, x2, y2, ... of a polygon; one object after the other.
    counts : (n,) int64
        How many numbers each object has.
    is_box : (n,) bool

    Returns
    -------
    Outlines
    GeometryCounts
        How many polygons had to be repaired, and how many objects have no area.

    Raises
    ------
    TangledError
        As `polygons.from_vertices`; its `ring` is the index of the object.
    """
    if is_box.all():
        boxes = numbers.reshape(-1, 4)
        return Outlines.of_boxes(boxes), GeometryCounts(zero_area=_flat(boxes))
    polygon = np.flatnonzero(~is_box)
    boxes = np.empty((len(counts), 4))
    if len(polygon) == len(counts):
        vertices = numbers.reshape(-1, 2)
    else:
        of_box = np.repeat(is_box, counts)
        boxes[is_box] = numbers[of_box].reshape(-1, 4)
        vertices = numbers[~of_box].reshape(-1, 2)
    flat = GeometryCounts(zero_area=_flat(boxes[is_box]))
    outlines = Outlines(boxes, vertices, offsets_of(np.where(is_box, 0, counts // 2)))
    boxes[polygon] = box_geometry.around(vertices, vertices, outlines.offsets[polygon])
    if (counts[polygon] == 8).all() and rings.are_convex(vertices.reshape(-1, 4, 2)).all():
        return outlines, flat
    return outlines, flat + _make_polygons(outlines, refuse_tangled=True)


def _flat(boxes: Floats) -> int:
    return int((boxes[:, 2:] <= boxes[:, :2]).any(axis=1).sum())


def polygons(outlines: Outlines) -> Geometries:
    """(n,) valid shapely polygons, perhaps of several parts, None for a box;
    made at the first look, so read-only.
    """
    if not outlines.made:
        _make_polygons(outlines, refuse_tangled=False)
    return outlines.made[0]


def _make_polygons(outlines: Outlines, refuse_tangled: bool) -> GeometryCounts:
    keep = not refuse_tangled or len(outlines.boxes) <= MOST_MADE_EARLY
    made, counts = geometry.polygons.from_vertices(
        outlines.vertices, outlines.offsets, refuse_tangled, keep
    )
    outlines.made[:] = [made] if keep else []
    return counts
