"""Polygons by shapely: made of vertices, repaired if they are invalid, measured."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import shapely

from evaltex_cli.errors import TangledError, counted
from evaltex_cli.geometry import edges, geos, near_sides
from evaltex_cli.geometry.edges import Edges
from evaltex_cli.geometry.simple_rings import are_simple
from evaltex_cli.records import (
    Bools,
    Floats,
    Geometries,
    GeometryCounts,
    Ints,
    Outlines,
    blocks,
    offsets_of,
    stretches,
)

MITRE_LIMIT = 5.0
MAX_CROSSINGS = 1000
"""Most crossings of a polygon with itself, if it has no more vertices; one
with 10 times both takes GEOS minutes.
"""
MOST_CROSSINGS = 20_000
"""Most crossings of a polygon with itself, however many vertices it has."""
FEW_CROSSINGS = 20
"""A polygon with no more of them costs little to repair."""
MAX_CROSSINGS_OF_ALL = 10_000
"""Most crossings of polygons with more than a few, together, of those read at
once (1 MiB of text): a few seconds.
"""
_PAIRS = 1 << 20
"""Most pairs of sides that are compared at once."""
_LARGE = 1 << 12
"""Vertices of a shape from which it is looked at once for all that it meets."""
_VERTICES = 1 << 15
"""Vertices of rings of which GEOS makes polygons at once."""
BLOCK_RINGS = 1 << 12
"""Rings of which GEOS makes polygons at once: on the way each is there twice, 1 kB and more."""


def from_vertices(
    vertices: Floats,
    offsets: Ints,
    refuse_tangled: bool = True,
    keep: bool = True,
    most_kept: int | None = None,
) -> tuple[Geometries, GeometryCounts]:
    """Make valid polygons of rings given by their vertices.

    Parameters
    ----------
    vertices : (v, 2) float64
        Vertices in drawing order, either orientation, the last not repeating the first (it may).
    offsets : (n + 1,) int64
        Ring i owns ``vertices[offsets[i]:offsets[i + 1]]``; a ring without vertices is a box.
    refuse_tangled : bool
        Raise for rings that cross themselves too often; not needed for rings made of others that
        do not.
    keep : bool
        Return the geometries, not only the counts.
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

    Raises
    ------
    TangledError
        For a ring that crosses or touches itself more than `MAX_CROSSINGS` times, and more often
        than it has vertices or `MOST_CROSSINGS` times; for the ring with which those of more
        than `FEW_CROSSINGS` have more than `MAX_CROSSINGS_OF_ALL` together; and as
        `near_sides.refuse_many`.
    """
    parts: list[Geometries] = []
    counts = GeometryCounts()
    crossed = 0
    near_sides.refuse_many(vertices, offsets, np.arange(len(offsets) - 1), near_sides.MOST_NEAR)
    for start, some in _blocks(offsets):
        geometries, invalid = _rings(vertices, some)
        crossing = _crossing(geometries, invalid)
        if refuse_tangled:
            crossed = _refuse_tangled(vertices, offsets, start + crossing, crossed)
        near_sides.refuse_many(vertices, offsets, start + crossing, near_sides.MOST_CROSSING)
        geometries[crossing] = repair(geometries[crossing])
        flat = shapely.area(geometries) == 0
        counts += GeometryCounts(repaired=int((~flat[crossing]).sum()), zero_area=int(flat.sum()))
        if most_kept is not None:
            geometries[~invalid & (np.diff(some) > most_kept)] = None
        parts.append(geometries if keep else geometries[:0])
    return np.concatenate(parts) if parts else np.zeros(0, dtype=object), counts


def _blocks(offsets: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield the first ring and the offsets of some rings at a time."""
    for start in range(0, len(offsets) - 1, BLOCK_RINGS):
        yield start, offsets[start : start + BLOCK_RINGS + 1]


def _rings(vertices: Floats, offsets: Ints) -> tuple[Geometries, Bools]:
    """Polygons as drawn, empty below three vertices and None without any; and
    which of them are not valid.
    """
    vertices, offsets = vertices[offsets[0] : offsets[-1]], offsets - offsets[0]
    geometries = drawn(vertices, offsets)
    invalid: Bools = np.diff(offsets) > 0
    invalid &= ~are_simple(vertices, offsets)
    doubtful = np.flatnonzero(invalid)
    invalid[doubtful] = shapely.is_empty(geometries[doubtful]) | ~geos.is_valid(
        geometries[doubtful]
    )
    return geometries, invalid


def drawn(vertices: Floats, offsets: Ints) -> Geometries:
    """Return polygons as drawn, empty below three vertices and None without any."""
    counts = np.diff(offsets)
    geometries: Geometries = np.full(len(counts), None, dtype=object)
    geometries[counts > 0] = shapely.Polygon()
    for start, stop in blocks(counts, _VERTICES):
        some = start + np.flatnonzero(counts[start:stop] >= 3)
        owner = np.repeat(np.arange(len(some)), counts[some])
        points = vertices[stretches(offsets[some], counts[some])]
        geometries[some] = geos.polygons(geos.linearrings(points, indices=owner))
    return geometries


def _crossing(geometries: Geometries, invalid: Bools) -> Ints:
    return np.flatnonzero(invalid & ~shapely.is_empty(geometries))


def self_crossing(outlines: Outlines) -> tuple[Ints, Geometries]:
    """Return which polygons, as read, cross or touch themselves or have no
    area; and these as drawn.
    """
    rows, drawn = [np.zeros(0, np.int64)], [np.zeros(0, dtype=object)]
    for start, offsets in _blocks(outlines.offsets):
        geometries, invalid = _rings(outlines.vertices, offsets)
        crossing = _crossing(geometries, invalid)
        rows.append(start + crossing)
        drawn.append(geometries[crossing])
    return np.concatenate(rows), np.concatenate(drawn)


def _refuse_tangled(vertices: Floats, offsets: Ints, crossing: Ints, of_all: int) -> int:
    """Refuse rings that take GEOS too long; return `of_all`, the crossings of
    those before, and theirs.
    """
    for i in crossing.tolist():
        ring = vertices[offsets[i] : offsets[i + 1]]
        most = min(max(MAX_CROSSINGS, len(ring)), MOST_CROSSINGS)
        count = _crossings(ring, most)
        of_all += count if count > FEW_CROSSINGS else 0
        polygon = near_sides.called(ring)
        if count > most:
            raise TangledError(
                f"{polygon} crosses or touches itself more than {most} times;"
                " expected an outline: remove it, or put its vertices in order",
                i,
            )
        if of_all > max(MAX_CROSSINGS_OF_ALL, most):
            raise TangledError(
                f"{polygon} and those before it cross or touch themselves more than"
                f" {MAX_CROSSINGS_OF_ALL} times;"
                " expected outlines: put their vertices in order",
                i,
            )
    return of_all


def _crossings(ring: Floats, most: int) -> int:
    """Count the crossings of a ring with itself; those of few sides are no
    more than a few, and not counted.
    """
    sides = _sides(ring)
    if len(sides) * (len(sides) - 1) // 2 <= FEW_CROSSINGS:
        return 0
    count = 0
    for i, j in _near(sides):
        count += int(_meet(sides[i], sides[j]).sum())
        if count > most:
            break
    return count


def _sides(ring: Floats) -> Floats:
    """(n, 2, 2) sides of a ring, each from a vertex to the next, without
    those from a point to itself.
    """
    sides: Floats = np.stack([ring, np.roll(ring, -1, axis=0)], axis=1)
    return np.asarray(sides[(sides[:, 0] != sides[:, 1]).any(axis=1)])


def _near(sides: Floats) -> Iterator[tuple[Ints, Ints]]:
    """Yield the pairs i < j of sides with touching bounding boxes, sorted, a
    bounded number at a time.
    """
    boxes = shapely.box(*sides.min(axis=1).T, *sides.max(axis=1).T)
    tree = shapely.STRtree(boxes)
    step = max(_PAIRS // max(len(sides), 1), 1)
    for start in range(0, len(sides), step):
        i, j = tree.query(boxes[start : start + step])
        i = i + start
        i, j = i[i < j], j[i < j]
        order = np.lexsort((j, i))
        yield i[order], j[order]


def _meet(a: Floats, b: Floats) -> Bools:
    """Whether sides a[k] and b[k], (n, 2, 2), of touching bounding boxes have
    a point in common, but no end.
    """

    def turns(side: Floats, point: Floats) -> Floats:
        (dx, dy), (x, y) = (side[:, 1] - side[:, 0]).T, (point - side[:, 0]).T
        sign: Floats = np.sign(dx * y - dy * x)
        return sign

    # Both ends of a against both ends of b: (n, 2, 2) comparisons of points.
    at_ends: Bools = (a[:, :, None] == b[:, None]).all(axis=-1).any(axis=(1, 2))
    # Sides meet if the ends of each are on different sides of the other, or on it.
    across: Bools = turns(a, b[:, 0]) * turns(a, b[:, 1]) <= 0
    back: Bools = turns(b, a[:, 0]) * turns(b, a[:, 1]) <= 0
    return across & back & ~at_ends


class Invalid(NamedTuple):
    """Why a polygon is not valid, and whether it has an area once it is repaired."""

    why: str
    has_area: bool


def describe_invalid(outlines: Outlines) -> dict[int, Invalid]:
    """Say of every polygon that is not valid, as read, why not, by its index."""
    described = {}
    for start, offsets in _blocks(outlines.offsets):
        geometries, invalid = _rings(outlines.vertices, offsets)
        for i in np.flatnonzero(invalid).tolist():
            described[start + i] = _described(outlines.ring(start + i), geometries[i : i + 1])
    return described


def _described(ring: Floats, drawn: Geometries) -> Invalid:
    distinct = len(np.unique(ring, axis=0))
    if distinct < 3:
        return Invalid(counted(distinct, "a polygon of {count} distinct point[s]"), False)
    if shapely.area(repair(drawn))[0] == 0:
        return Invalid("a polygon without area, all its points on a line", False)
    point = first_crossing(ring)
    where = f" at ({point[0]:g}, {point[1]:g})" if point else ""
    return Invalid(f"a polygon that crosses or touches itself{where}", True)


def first_crossing(ring: Floats) -> tuple[float, float] | None:
    """Return the point of the first side, in drawing order, that crosses or touches a later one;
    None for no such side.

    Parameters
    ----------
    ring : (n, 2) float64
        Vertices; a side leads from the last to the first.
    """
    sides = _sides(ring)
    for i, j in _near(sides):
        neighbours = (j == i + 1) | ((i == 0) & (j == len(sides) - 1))
        with np.errstate(all="ignore"):
            share, meets = _meeting(sides[i], sides[j], neighbours)
        where = np.flatnonzero(meets)
        if len(where):
            start, stop = sides[i[where[0]]]
            x, y = (start + share[where[0]] * (stop - start)).tolist()
            return x, y
    return None


def _cross(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


def _meeting(a: Floats, b: Floats, neighbours: Bools) -> tuple[Floats, Bools]:
    """Return the first point of each side a that its side b has too, as a share of a; and whether
    there is any.

    Parameters
    ----------
    a, b : (n, 2, 2) float64
        Sides, each from a point to another.
    neighbours : (n,) bool
        Sides with a vertex in common, which meet only if one leads back on the other.
    """
    # a[0] + share_a * along_a = b[0] + share_b * along_b, by Cramer's rule; parallel sides divide
    # by 0.
    along_a, along_b, apart = a[:, 1] - a[:, 0], b[:, 1] - b[:, 0], b[:, 0] - a[:, 0]
    turn = _cross(along_a, along_b)
    share_a, share_b = _cross(apart, along_b) / turn, _cross(apart, along_a) / turn
    crosses = (
        (turn != 0)
        & (share_a >= 0)
        & (share_a <= 1)
        & (share_b >= 0)
        & (share_b <= 1)
        & ~neighbours
    )
    length = (along_a * along_a).sum(axis=1)
    # For sides on one line: the ends of b as shares of a.
    ends = (
        np.stack([(apart * along_a).sum(axis=1), ((b[:, 1] - a[:, 0]) * along_a).sum(axis=1)])
        / length
    )
    first, last = np.maximum(ends.min(axis=0), 0), np.minimum(ends.max(axis=0), 1)
    on_one_line = (turn == 0) & (_cross(apart, along_a) == 0)
    covers = on_one_line & np.where(neighbours, first < last, first <= last)
    return np.where(covers, first, share_a), crosses | covers


def repair(geometries: Geometries) -> Geometries:
    """Make polygons valid, keeping the area of every lobe and dropping lines
    and points left over.
    """
    repaired: Geometries = geos.make_valid(geometries)
    for i in np.flatnonzero(
        shapely.get_type_id(repaired) == shapely.GeometryType.GEOMETRYCOLLECTION
    ):
        parts = shapely.get_parts(repaired[i])
        flat = shapely.get_parts(parts) if len(parts) else parts
        polygonal = shapely.get_type_id(flat) == shapely.GeometryType.POLYGON
        repaired[i] = geos.union_all(flat[polygonal])
    repaired[shapely.get_dimensions(repaired) < 2] = shapely.Polygon()
    return repaired


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
    for start in range(0, len(turned), _VERTICES):
        some = ends[:, start : start + _VERTICES]
        which = turned[start : start + _VERTICES]
        some[:, which] = some[:, which][[2, 3, 0, 1]]
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
