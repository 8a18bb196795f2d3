"""Polygons by shapely, and the only place that decides what becomes of an invalid one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import shapely

from evaltex_cli.errors import TangledError, counted
from evaltex_cli.geometry import crossings, geos, quads
from evaltex_cli.records import Bools, Floats, Geometries, GeometryCounts, Ints, Outlines

MITRE_LIMIT = 5.0
MAX_CROSSINGS = 1000
"""Most crossings of a polygon with itself, where it has no more vertices; with 10 of each, one takes GEOS minutes."""
FEW_CROSSINGS = 20
"""A polygon with no more of them costs little to repair."""
MAX_CROSSINGS_OF_ALL = 10_000
"""Most crossings of polygons with more than a few, together, of those read at once (1 MiB of text): a few seconds."""
_FEW_SIDES = 46


def from_vertices(
    vertices: Floats, vertex_offsets: Ints, refuse_tangled: bool = True
) -> tuple[Geometries, GeometryCounts]:
    """Make valid polygons of rings given by their vertices.

    Parameters
    ----------
    vertices : (v, 2) float64
        Vertices in drawing order, either orientation, the last not repeating the first (it may).
    vertex_offsets : (n + 1,) int64
        Ring i owns ``vertices[vertex_offsets[i]:vertex_offsets[i + 1]]``; a ring without vertices is a box.
    refuse_tangled : bool
        Raise for rings that take GEOS too long; not needed for what comes of rings that do not.

    Returns
    -------
    (n,) array of geometries
        None where a ring has no vertices. An invalid ring (self-intersecting, say) is replaced by
        `shapely.make_valid`, which keeps the area of every lobe.
    GeometryCounts
        How many were repaired, and how many have no area.

    Raises
    ------
    TangledError
        For a ring that crosses or touches itself more than `MAX_CROSSINGS` times, and more often than it has vertices;
        and for the ring with which those of more than `FEW_CROSSINGS` have more than `MAX_CROSSINGS_OF_ALL` together.
    """
    geometries, invalid = _rings(vertices, vertex_offsets)
    mended = np.zeros(len(geometries), dtype=bool)
    crossing = _crossing(geometries, invalid)
    if refuse_tangled:
        _refuse_tangled(vertices, vertex_offsets, crossing)
    geometries[crossing] = repair(geometries[crossing])
    mended[crossing] = True
    flat = shapely.area(geometries) == 0
    return geometries, GeometryCounts(repaired=int((mended & ~flat).sum()), zero_area=int(flat.sum()))


def _rings(vertices: Floats, vertex_offsets: Ints) -> tuple[Geometries, Bools]:
    """Polygons as drawn, empty below three vertices and None without any; and which of them are not valid."""
    counts = np.diff(vertex_offsets)
    geometries: Geometries = np.full(len(counts), None, dtype=object)
    geometries[counts > 0] = shapely.Polygon()
    four = np.flatnonzero(counts == 4)
    corners = vertices[vertex_offsets[four, None] + np.arange(4)]
    convex = quads.are_convex(corners)
    geometries[four[convex]] = quads.polygons(corners[convex])
    is_other = counts >= 3
    is_other[four[convex]] = False
    others = np.flatnonzero(is_other)
    if len(others):
        rank = np.cumsum(is_other) - 1
        owner = np.repeat(np.arange(len(counts)), counts)
        theirs = is_other[owner]
        geometries[others] = geos.polygons(geos.linearrings(vertices[theirs], indices=rank[owner[theirs]]))
    invalid: Bools = (counts > 0) & (counts < 3)
    invalid[others] = ~geos.is_valid(geometries[others])
    return geometries, invalid


def _crossing(geometries: Geometries, invalid: Bools) -> Ints:
    return np.flatnonzero(invalid & ~shapely.is_empty(geometries))


def self_crossing(outlines: Outlines) -> tuple[Ints, Geometries]:
    """Return which polygons, as read, cross or touch themselves or have no area; and these as drawn."""
    geometries, invalid = _rings(outlines.vertices, outlines.offsets)
    crossing = _crossing(geometries, invalid)
    return crossing, geometries[crossing]


def _refuse_tangled(vertices: Floats, vertex_offsets: Ints, crossing: Ints) -> None:
    of_all = 0
    for i in crossing.tolist():
        ring = vertices[vertex_offsets[i] : vertex_offsets[i + 1]]
        most = max(MAX_CROSSINGS, len(ring))
        count = _crossings(ring, most)
        of_all += count if count > FEW_CROSSINGS else 0
        x, y = ring[0].tolist()
        polygon = f"a polygon of {len(ring)} vertices, the first at ({x:g}, {y:g}),"
        if count > most:
            raise TangledError(
                f"{polygon} crosses or touches itself more than {most} times;"
                " expected an outline: remove it, or put its vertices in order",
                i,
            )
        if of_all > max(MAX_CROSSINGS_OF_ALL, most):
            raise TangledError(
                f"{polygon} and those before it cross or touch themselves more than {MAX_CROSSINGS_OF_ALL} times;"
                " expected outlines: put their vertices in order",
                i,
            )


def _crossings(ring: Floats, most: int) -> int:
    """Count the crossings of a ring with itself; those of few sides are no more than a few, and not counted."""
    sides = np.stack([ring, np.roll(ring, -1, axis=0)], axis=1)
    sides = sides[(sides[:, 0] != sides[:, 1]).any(axis=1)]
    if len(sides) * (len(sides) - 1) // 2 <= FEW_CROSSINGS:
        return 0
    if len(sides) <= _FEW_SIDES:
        i, j = np.triu_indices(len(sides), 1)
        return int(_meet(sides[i], sides[j]).sum())
    low, high = sides.min(axis=1), sides.max(axis=1)
    tree = shapely.STRtree(shapely.box(*low.T, *high.T))
    step = max(MAX_CROSSINGS * MAX_CROSSINGS // len(sides), 1)
    found = 0
    for start in range(0, len(sides), step):
        i, j = tree.query(shapely.box(*low[start : start + step].T, *high[start : start + step].T))
        i = i + start
        found += int(_meet(sides[i[j > i]], sides[j[j > i]]).sum())
        if found > most:
            break
    return found


def _meet(a: Floats, b: Floats) -> Bools:
    """Whether sides a[k] and b[k], (n, 2, 2), of touching bounding boxes have a point in common, but no end."""

    def turns(side: Floats, point: Floats) -> Floats:
        (dx, dy), (x, y) = (side[:, 1] - side[:, 0]).T, (point - side[:, 0]).T
        sign: Floats = np.sign(dx * y - dy * x)
        return sign

    at_ends: Bools = (a[:, :, None] == b[:, None]).all(axis=-1).any(axis=(1, 2))
    across: Bools = turns(a, b[:, 0]) * turns(a, b[:, 1]) <= 0
    back: Bools = turns(b, a[:, 0]) * turns(b, a[:, 1]) <= 0
    return across & back & ~at_ends


def describe_invalid(outlines: Outlines) -> dict[int, str]:
    """Say of every polygon that is not valid, as read, why not, by its index."""
    geometries, invalid = _rings(outlines.vertices, outlines.offsets)
    described = {}
    for i in np.flatnonzero(invalid).tolist():
        distinct = len(np.unique(outlines.ring(i), axis=0))
        if distinct < 3:
            described[i] = counted(distinct, "a polygon of {count} distinct point[s]")
        elif shapely.area(repair(geometries[i : i + 1]))[0] == 0:
            described[i] = "a polygon without area, all its points on a line"
        else:
            point = crossings.first_crossing(outlines.ring(i))
            where = f" at ({point[0]:g}, {point[1]:g})" if point else ""
            described[i] = f"a polygon that crosses or touches itself{where}"
    return described


def repair(geometries: Geometries) -> Geometries:
    """Make polygons valid, keeping the area of every lobe and dropping lines and points left over."""
    repaired: Geometries = geos.make_valid(geometries)
    for i in np.flatnonzero(shapely.get_type_id(repaired) == shapely.GeometryType.GEOMETRYCOLLECTION):
        parts = shapely.get_parts(repaired[i])
        flat = shapely.get_parts(parts) if len(parts) else parts
        polygonal = shapely.get_type_id(flat) == shapely.GeometryType.POLYGON
        repaired[i] = geos.union_all(flat[polygonal])
    repaired[shapely.get_dimensions(repaired) < 2] = shapely.Polygon()
    return repaired


def area(geometries: Geometries) -> Floats:
    """Areas in square pixels."""
    return np.asarray(shapely.area(geometries), dtype=np.float64)


def intersection_area(a: Geometries, b: Geometries) -> Floats:
    """(n,) areas of the intersections of a[k] and b[k]."""
    return area(geos.intersection(a, b))


def offset(geometries: Geometries, margin: Floats) -> Geometries:
    """Grow (margin > 0) or shrink (margin < 0) each polygon by mitred parallels of its sides.

    An offset that leaves nothing comes back empty, as does one that GEOS has none of.
    """
    moved: Any = geos.buffer(geometries, margin, join_style="mitre", mitre_limit=MITRE_LIMIT)
    return np.asarray(moved, dtype=object)


def union_area(group: Ints, a: Geometries, b: Geometries, groups: int) -> Floats:
    """(groups,) area of the union, within each group, of the intersections a[k] and b[k].

    Loops over groups of several: GEOS unites one set at a time.
    """
    pieces = geos.intersection(a, b)
    alone = np.bincount(group, minlength=groups)[group] == 1
    result = np.bincount(group[alone], weights=shapely.area(pieces[alone]), minlength=groups).astype(np.float64)
    crowded = np.flatnonzero(~alone)
    order = crowded[np.argsort(group[crowded], kind="stable")]
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    for start, stop in pairwise([*starts.tolist(), len(order)]):
        result[group[order[start]]] = shapely.area(geos.union_all(pieces[order[start:stop]]))
    return result
