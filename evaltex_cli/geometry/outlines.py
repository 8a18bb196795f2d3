"""What is drawn around objects, made of the numbers in a file; and valid polygons of it.

A polygon that crosses itself is repaired: each lobe keeps its area, and lines and points that are
left over go.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import shapely

from evaltex_cli.errors import counted
from evaltex_cli.geometry import boxes as box_geometry
from evaltex_cli.records import Bools, Floats, Geometries, Ints, Outlines, offsets_of

MOST_CROSSINGS = 500
"""Of a polygon with itself: GEOS takes a second to repair 1,000, a minute for 10,000."""
_ROUNDING = 1e-9
"""Of the length of a ring that is cut where it meets itself, and of a corner's area."""


def drawn(numbers: Floats, counts: Ints, is_box: Bools) -> Outlines:
    """Make outlines of the coordinates of objects, one after the other: x0, y0, x1, y1 of a box,
    x1, y1, x2, y2, ... of a polygon. `counts` says how many numbers each object has.
    """
    if is_box.all():
        return Outlines.of_boxes(numbers.reshape(-1, 4))
    polygon = np.flatnonzero(~is_box)
    of_box = np.repeat(is_box, counts)
    vertices = numbers[~of_box].reshape(-1, 2)
    outlines = Outlines(
        np.empty((len(counts), 4)), vertices, offsets_of(np.where(is_box, 0, counts // 2))
    )
    outlines.boxes[is_box] = numbers[of_box].reshape(-1, 4)
    outlines.boxes[polygon] = box_geometry.around(vertices, vertices, outlines.offsets[polygon])
    return outlines


# Validity -----------------------------------------------------------------------------------------


class GeometryCounts(NamedTuple):
    """How many polygons a reader repaired, left out, or found without area."""

    repaired: int = 0
    dropped: int = 0
    zero_area: int = 0


class Invalid(NamedTuple):
    """Why a polygon is not valid, and whether it has an area once it is repaired."""

    why: str
    has_area: bool


def as_drawn(outlines: Outlines) -> tuple[Geometries, Bools]:
    """Return (n,) shapely polygons as drawn, empty below three vertices and None for a box; and
    which of them are not valid.
    """
    counts = outlines.counts
    polygons: Geometries = np.full(len(counts), None, dtype=object)
    polygons[counts > 0] = shapely.Polygon()
    rows = np.flatnonzero(counts >= 3)
    if len(rows):
        owner = np.repeat(np.arange(len(rows)), counts[rows])
        points = outlines[rows].vertices
        polygons[rows] = shapely.polygons(shapely.linearrings(points, indices=owner))
    with np.errstate(all="ignore"):  # GEOS takes NaN on its way to right answers
        is_valid = shapely.is_valid(polygons) & ~shapely.is_empty(polygons)
    return polygons, (counts > 0) & ~is_valid


def valid_polygons(outlines: Outlines) -> Geometries:
    """Return (n,) valid shapely polygons, repaired where that is needed, perhaps of several parts;
    None for a box.
    """
    polygons, invalid = as_drawn(outlines)
    polygons[invalid] = repaired(polygons[invalid])
    return polygons


def checked(outlines: Outlines) -> GeometryCounts:
    """Return how many polygons are to be repaired, and how many objects have no area."""
    boxes = outlines.boxes[outlines.counts == 0]
    flat = int((boxes[:, 2:] <= boxes[:, :2]).any(axis=1).sum())
    if outlines.all_boxes:
        return GeometryCounts(zero_area=flat)
    polygons, invalid = as_drawn(outlines[_perhaps_invalid(outlines)])
    has_area = shapely.area(repaired(polygons[invalid])) > 0
    return GeometryCounts(int(has_area.sum()), zero_area=flat + int((~has_area).sum()))


def self_crossing(outlines: Outlines) -> tuple[Ints, Geometries]:
    """Return which polygons, as read, cross or touch themselves or have no area; and these as
    drawn.
    """
    rows = _perhaps_invalid(outlines)
    polygons, invalid = as_drawn(outlines[rows])
    crossing = np.flatnonzero(invalid & ~shapely.is_empty(polygons))
    return rows[crossing], polygons[crossing]


def _perhaps_invalid(outlines: Outlines) -> Ints:
    """Return all polygons but convex quads, which are most of them, and valid."""
    quads = np.flatnonzero(outlines.counts == 4)
    corners = outlines.vertices[outlines.offsets[quads, None] + np.arange(4)]
    x, y = np.moveaxis(np.roll(corners, -1, axis=1) - corners, 2, 0)
    one, other = x * np.roll(y, -1, axis=1), y * np.roll(x, -1, axis=1)
    turns = np.where(np.abs(one - other) > _ROUNDING * np.abs(one), np.sign(one - other), 0)
    is_open = outlines.counts > 0
    is_open[quads] = np.abs(turns.sum(axis=1)) < 4
    return np.flatnonzero(is_open)


def describe_invalid(outlines: Outlines) -> dict[int, Invalid]:
    """Say of every polygon that is not valid, as read, why not, by its index."""
    polygons, invalid = as_drawn(outlines)
    return {k: _described(outlines.ring(k), polygons[k]) for k in np.flatnonzero(invalid).tolist()}


def _described(ring: Floats, polygon: Any) -> Invalid:
    points = len({*map(tuple, ring.tolist())})
    if points < 3:
        return Invalid(counted(points, "a polygon of {count} distinct point[s]"), False)
    if shapely.area(repaired(np.array([polygon])))[0] == 0:
        return Invalid("a polygon without area, all its points on a line", False)
    at = re.search(r"\[(\S+) (\S+)\]", shapely.is_valid_reason(polygon))
    where = f" at ({float(at[1]):g}, {float(at[2]):g})" if at else ""
    return Invalid(f"a polygon that crosses or touches itself{where}", True)


def tangled(outlines: Outlines) -> Ints:
    """Return which polygons cross themselves more than `MOST_CROSSINGS` times."""
    fewest_sides = int((2 * MOST_CROSSINGS) ** 0.5)
    large = np.flatnonzero(outlines.counts > fewest_sides)
    if not len(large):
        return large
    _, invalid = as_drawn(outlines[large])
    rows = large[invalid]
    return rows[[_is_tangled(outlines.ring(k)) for k in rows.tolist()]]


def _is_tangled(ring: Floats) -> bool:
    sides: Any = shapely.linestrings(np.stack([ring, np.roll(ring, -1, axis=0)], axis=1))
    tree = shapely.STRtree(sides)
    meetings = -3 * len(sides)  # of a side with itself, and with its neighbours
    for start in range(0, len(sides), 100):
        meetings += len(tree.query(sides[start : start + 100], predicate="intersects")[0])
        if meetings > 2 * MOST_CROSSINGS:
            return True
    return False


def repaired(polygons: Geometries) -> Geometries:
    """Return (n,) valid polygons of invalid ones, of one ring each.

    Where a ring goes back on itself, GEOS takes what these lines and the rest of the ring enclose
    for lobes; they are none but where the ring goes around them an odd number of times.
    """
    with np.errstate(all="ignore"):
        result: Geometries = np.asarray(shapely.make_valid(polygons), dtype=object)
        rings = shapely.get_exterior_ring(polygons)
        goes_back = shapely.length(shapely.node(rings)) < (1 - _ROUNDING) * shapely.length(rings)
        has_lines = shapely.get_type_id(result) == shapely.GeometryType.GEOMETRYCOLLECTION
        for k in np.flatnonzero(goes_back | has_lines):
            result[k] = shapely.union_all(_lobes(rings[k]))
    result[shapely.get_dimensions(result) < 2] = shapely.Polygon()
    return result


def _lobes(ring: Any) -> Geometries:
    """What a ring goes around an odd number of times.

    It is cut wherever it meets itself, on a grid: a line that goes back but for rounding would stay
    in the faces as a spike.
    """
    points = shapely.get_coordinates(ring)
    cut = shapely.union_all(ring, grid_size=16 * np.spacing(np.abs(points).max()))
    faces = shapely.get_parts(shapely.polygonize([cut]))
    (x0, y0), (x1, y1) = points[:-1].T, points[1:].T

    def is_lobe(x: float, y: float) -> bool:
        """A ray to the right crosses the ring; where this goes twice, twice or never."""
        crossed = (y0 <= y) != (y1 <= y)
        crossed &= x < (x1 - x0) * ((y - y0) / (y1 - y0)) + x0
        return int(crossed.sum()) % 2 == 1

    inside = shapely.get_coordinates(shapely.point_on_surface(faces)).tolist()
    return np.asarray(faces[[is_lobe(*point) for point in inside]], dtype=object)
