"""Polygons by shapely: made of vertices, repaired if they are invalid, measured."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import shapely

from evaltex_cli.errors import counted
from evaltex_cli.geometry import edges, geos, self_crossings
from evaltex_cli.geometry.edges import Edges
from evaltex_cli.records import (
    Bools,
    Floats,
    Geometries,
    GeometryCounts,
    Ints,
    Outlines,
    offsets_of,
    stretches,
)

MITRE_LIMIT = 5.0
_LARGE = 1 << 12
"""Vertices of a shape from which it is looked at once for all that it meets."""
_ROUNDING = 1e-9
"""Of the length of a ring that is cut where it meets itself."""


def from_vertices(
    vertices: Floats,
    offsets: Ints,
    most_kept: int | None = None,
) -> tuple[Geometries, GeometryCounts]:
    """Make valid polygons of rings given by their vertices.

    Parameters
    ----------
    vertices : (v, 2) float64
        Vertices in drawing order, either orientation, the last not repeating the first (it may).
    offsets : (n + 1,) int64
        Ring i owns ``vertices[offsets[i]:offsets[i + 1]]``; a ring without vertices is a box.
    most_kept : int, optional
        Of a valid ring of more vertices, do not return the geometry, which is the ring again.

    Returns
    -------
    (n,) array of geometries
        None where a ring has no vertices, or as `most_kept` says. An invalid ring, for example one
        that crosses itself, is replaced by `shapely.make_valid`, which keeps the area of every
        lobe.
    GeometryCounts
        How many were repaired, and how many have no area.
    """
    geometries, invalid = _rings(vertices, offsets)
    crossing = _crossing(geometries, invalid)
    geometries[crossing] = repair(geometries[crossing])
    flat = shapely.area(geometries) == 0
    counts = GeometryCounts(repaired=int((~flat[crossing]).sum()), zero_area=int(flat.sum()))
    if most_kept is not None:
        geometries[~invalid & (np.diff(offsets) > most_kept)] = None
    return geometries, counts


def _rings(vertices: Floats, offsets: Ints) -> tuple[Geometries, Bools]:
    """Polygons as drawn, empty below three vertices and None without any; and
    which of them are not valid.
    """
    geometries = drawn(vertices, offsets)
    is_valid = geos.is_valid(geometries) & ~shapely.is_empty(geometries)
    return geometries, (np.diff(offsets) > 0) & ~is_valid


def drawn(vertices: Floats, offsets: Ints) -> Geometries:
    """Return polygons as drawn, empty below three vertices and None without any."""
    counts = np.diff(offsets)
    geometries: Geometries = np.full(len(counts), None, dtype=object)
    geometries[counts > 0] = shapely.Polygon()
    some = np.flatnonzero(counts >= 3)
    owner = np.repeat(np.arange(len(some)), counts[some])
    points = vertices.take(stretches(offsets[some], counts[some]), axis=0)
    geometries[some] = geos.polygons(geos.linearrings(points, indices=owner))
    return geometries


def _crossing(geometries: Geometries, invalid: Bools) -> Ints:
    return np.flatnonzero(invalid & ~shapely.is_empty(geometries))


def self_crossing(outlines: Outlines) -> tuple[Ints, Geometries]:
    """Return which polygons, as read, cross or touch themselves or have no
    area; and these as drawn.
    """
    geometries, invalid = _rings(outlines.vertices, outlines.offsets)
    crossing = _crossing(geometries, invalid)
    return crossing, geometries[crossing]


class Invalid(NamedTuple):
    """Why a polygon is not valid, and whether it has an area once it is repaired."""

    why: str
    has_area: bool


def describe_invalid(outlines: Outlines) -> dict[int, Invalid]:
    """Say of every polygon that is not valid, as read, why not, by its index."""
    geometries, invalid = _rings(outlines.vertices, outlines.offsets)
    return {
        i: _described(outlines.ring(i), geometries[i : i + 1])
        for i in np.flatnonzero(invalid).tolist()
    }


def crossing_more_than(most: int, outlines: Outlines) -> Ints:
    """Return which polygons cross themselves more than so many times."""
    _, invalid = _rings(outlines.vertices, outlines.offsets)
    rows = np.flatnonzero(invalid).tolist()
    tangled = [k for k in rows if self_crossings.are_more_than(most, outlines.ring(k))]
    return np.array(tangled, np.int64)


def _described(ring: Floats, drawn: Geometries) -> Invalid:
    distinct = len(np.unique(ring, axis=0))
    if distinct < 3:
        return Invalid(counted(distinct, "a polygon of {count} distinct point[s]"), False)
    if shapely.area(repair(drawn))[0] == 0:
        return Invalid("a polygon without area, all its points on a line", False)
    point = self_crossings.first_crossing(ring)
    where = f" at ({point[0]:g}, {point[1]:g})" if point else ""
    return Invalid(f"a polygon that crosses or touches itself{where}", True)


def repair(geometries: Geometries) -> Geometries:
    """Make polygons of one ring each valid, keeping the area of every lobe and dropping lines and
    points left over.

    Where a ring goes back on itself, GEOS takes what these lines and the rest of the ring enclose
    for lobes; they are none but where the ring goes around them an odd number of times.
    """
    repaired: Geometries = geos.make_valid(geometries)
    rings = shapely.get_exterior_ring(geometries)
    goes_back = shapely.length(geos.node(rings)) < (1 - _ROUNDING) * shapely.length(rings)
    has_lines = shapely.get_type_id(repaired) == shapely.GeometryType.GEOMETRYCOLLECTION
    for i in np.flatnonzero(goes_back | has_lines):
        repaired[i] = geos.union_all(_lobes(rings[i]).tolist())
    repaired[shapely.get_dimensions(repaired) < 2] = shapely.Polygon()
    return repaired


@np.errstate(all="ignore")
def _lobes(ring: Any) -> Geometries:
    """What a ring goes around an odd number of times.

    It is cut wherever it meets itself, on a grid of `rounding.STEP`: a line that goes back but for
    rounding would stay in the faces as a spike.
    """
    points = shapely.get_coordinates(ring)
    cut = geos.node_on_grid(ring, 16 * np.spacing(np.abs(points).max()))
    faces = shapely.get_parts(geos.polygonize([cut]))
    (x0, y0), (x1, y1) = points[:-1].T, points[1:].T

    def is_lobe(x: float, y: float) -> bool:
        """A ray to the right crosses the ring; where this goes twice, twice or never."""
        crossed = (y0 <= y) != (y1 <= y)
        crossed &= x < (x1 - x0) * ((y - y0) / (y1 - y0)) + x0
        return int(crossed.sum()) % 2 == 1

    inside = shapely.get_coordinates(geos.point_on_surface(faces)).tolist()
    return np.asarray(faces[[is_lobe(*point) for point in inside]], dtype=object)


def edges_of(geometries: Geometries) -> Edges:
    """Return the edges of (n,) valid polygons, of several parts and with holes perhaps."""
    parts, shape = shapely.get_parts(geometries, return_index=True)
    rings, part = shapely.get_rings(parts, return_index=True)
    points, ring = shapely.get_coordinates(rings, return_index=True)
    counts = np.bincount(ring, minlength=len(rings))
    of_shape = np.bincount(shape[part], weights=counts, minlength=len(geometries))
    ends, offsets = edges.of_rings(points, offsets_of(of_shape), offsets_of(counts))
    # Holes are drawn the other way round than what is around them, the first ring of a part.
    is_outer = np.diff(part, prepend=-1) != 0
    turned = (shapely.is_ccw(rings) != is_outer)[ring]
    ends[:, turned] = ends[:, turned][[2, 3, 0, 1]]
    return Edges(ends, offsets)


def area(geometries: Geometries) -> Floats:
    """Areas in square pixels."""
    return np.asarray(shapely.area(geometries), dtype=np.float64)


def offset(geometries: Geometries, margin: Floats) -> Geometries:
    """Grow (margin > 0) or shrink (margin < 0) each polygon by mitred parallels of its sides.

    An offset that leaves nothing is empty, as is one for which GEOS fails.
    """
    moved: Any = geos.buffer(geometries, margin, join_style="mitre", mitre_limit=MITRE_LIMIT)
    return np.asarray(moved, dtype=object)


def union_area(group: Ints, a: Geometries, b: Geometries, groups: int) -> Floats:
    """(groups,) area of the union, within each group, of the intersections a[k] and b[k].

    Groups are a loop: GEOS unites one set at a time.
    """
    result = np.zeros(groups)
    order = np.argsort(group, kind="stable")
    # Sorted by group: a group begins where the number changes.
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    for start, stop in pairwise([*starts.tolist(), len(order)]):
        rows = order[start:stop]
        result[group[rows[0]]] = shapely.area(_united(a[rows], b[rows]))
    return result


def _united(a: Geometries, b: Geometries) -> Any:
    """The union of the intersections of a[k] and b[k]; if either side is one shape of many vertices
    again and again, GEOS looks at it once.
    """
    for one, others in ((a, b), (b, a)):
        if shapely.get_num_coordinates(one[0]) > _LARGE and all(each is one[0] for each in one):
            return geos.intersection(one[0], geos.union_all(others.tolist()))
    return geos.union_all(geos.intersection(a, b).tolist())
