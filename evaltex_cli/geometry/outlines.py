"""What is drawn around objects, made of the numbers in a file: boxes and polygons, and what is
wrong with these.

Boxes, and polygons that are valid beyond all doubt, need no shapely here.
"""

from __future__ import annotations

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.geometry import boxes as box_geometry
from evaltex_cli.records import (
    Bools,
    Floats,
    Geometries,
    GeometryCounts,
    Ints,
    Outlines,
    offsets_of,
)
from evaltex_cli.records.rows import taken_outlines

MOST_CROSSINGS = 500
"""Of a polygon with itself: GEOS takes a second to repair 1,000, a minute for 10,000."""
MANY_VERTICES = 2000
"""Valid polygons of more are not stored as geometries, which take as much memory again."""


def drawn(numbers: Floats, counts: Ints, is_box: Bools) -> Outlines:
    """Make outlines of the coordinates of objects.

    Parameters
    ----------
    numbers : (c,) float64
        x0, y0, x1, y1 of a box, x1, y1, x2, y2, ... of a polygon; one object after the other.
    counts : (n,) int64
        How many numbers each object has.
    is_box : (n,) bool
    """
    if is_box.all():
        return Outlines.of_boxes(numbers.reshape(-1, 4))
    polygon = np.flatnonzero(~is_box)
    boxes = np.empty((len(counts), 4))
    if len(polygon) == len(counts):
        vertices = numbers.reshape(-1, 2)
    else:
        of_box = np.repeat(is_box, counts)
        boxes[is_box] = numbers[of_box].reshape(-1, 4)
        vertices = numbers[~of_box].reshape(-1, 2)
    outlines = Outlines(boxes, vertices, offsets_of(np.where(is_box, 0, counts // 2)))
    boxes[polygon] = box_geometry.around(vertices, vertices, outlines.offsets[polygon])
    return outlines


def tangled(outlines: Outlines) -> Ints:
    """Return which polygons cross themselves more than `MOST_CROSSINGS` times."""
    fewest_sides = int((2 * MOST_CROSSINGS) ** 0.5)
    large = np.flatnonzero(outlines.counts > fewest_sides)
    if not len(large):
        return large
    some = taken_outlines(outlines, large)
    return large[geometry.polygons.crossing_more_than(MOST_CROSSINGS, some)]


def checked(outlines: Outlines) -> GeometryCounts:
    """Repair what is to be repaired, and return how many polygons were, and how many objects have
    no area.
    """
    flat = GeometryCounts(zero_area=_flat(outlines.boxes[outlines.counts == 0]))
    return flat if outlines.all_boxes else flat + _make_polygons(outlines)


def _flat(boxes: Floats) -> int:
    return int((boxes[:, 2:] <= boxes[:, :2]).any(axis=1).sum())


def polygons(outlines: Outlines) -> Geometries:
    """Return (n,) valid shapely polygons, perhaps of several parts, None for a box."""
    result = repaired(outlines).copy()
    drawn = np.flatnonzero((outlines.counts > 0) & ~geometry.shapely.is_geometry(result))
    some = taken_outlines(outlines, drawn)
    result[drawn] = geometry.polygons.drawn(some.vertices, some.offsets)
    return result


def repaired(outlines: Outlines) -> Geometries:
    """Return (n,) valid shapely polygons of rings that may be invalid as drawn, None for all other
    objects, and for valid rings of more than `MANY_VERTICES`; made at the first look, so read-only.
    """
    if not outlines.made:
        _make_polygons(outlines)
    return outlines.made[0]


def self_crossing(outlines: Outlines) -> tuple[Ints, Geometries]:
    """Return which polygons, as read, cross or touch themselves or have no area; and these as
    drawn.
    """
    doubtful = _doubtful(outlines)
    if not len(doubtful):
        return doubtful, np.zeros(0, dtype=object)
    crossing, drawn = geometry.polygons.self_crossing(taken_outlines(outlines, doubtful))
    return doubtful[crossing], drawn


def _doubtful(outlines: Outlines) -> Ints:
    """Polygons that may be invalid as drawn."""
    if outlines.made:
        return np.flatnonzero([polygon is not None for polygon in outlines.made[0].tolist()])
    simple = geometry.simple_rings.are_simple(outlines.vertices, outlines.offsets)
    return np.flatnonzero(~simple & (outlines.counts > 0))


def _make_polygons(outlines: Outlines) -> GeometryCounts:
    doubtful = _doubtful(outlines)
    made: Geometries = np.full(len(outlines.boxes), None, dtype=object)
    counts = GeometryCounts()
    if len(doubtful):
        some = taken_outlines(outlines, doubtful)
        made[doubtful], counts = geometry.polygons.from_vertices(
            some.vertices, some.offsets, MANY_VERTICES
        )
    outlines.made[:] = [made]
    return counts
