"""Polygons by shapely. The only place that decides what becomes of an invalid one, and that calls shapely's overlay."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import shapely

from evaltex_cli.records import Floats, Geometries, GeometryCounts, Ints

MITRE_LIMIT = 5.0


def from_vertices(vertices: Floats, vertex_offsets: Ints) -> tuple[Geometries, GeometryCounts]:
    """Make valid polygons of rings given by their vertices.

    Parameters
    ----------
    vertices : (v, 2) float64
        Vertices in drawing order, either orientation, the last not repeating the first (it may).
    vertex_offsets : (n + 1,) int64
        Ring i owns ``vertices[vertex_offsets[i]:vertex_offsets[i + 1]]``; a ring without vertices is a box.

    Returns
    -------
    (n,) array of geometries
        None where a ring has no vertices. An invalid ring (self-intersecting, say) is replaced by
        `shapely.make_valid`, which keeps the area of every lobe.
    GeometryCounts
        How many were repaired, and how many have no area.
    """
    counts = np.diff(vertex_offsets)
    geometries: Geometries = np.full(len(counts), None, dtype=object)
    rings = np.flatnonzero(counts > 0)
    if not len(rings):
        return geometries, GeometryCounts()
    owner = np.repeat(np.arange(len(counts)), counts)
    short = counts[owner] < 3
    points, owner = vertices[~short], owner[~short]
    usable = np.flatnonzero(counts >= 3)
    geometries[rings] = shapely.Polygon()
    if len(usable):
        rank = np.zeros(len(counts), np.int64)
        rank[usable] = np.arange(len(usable))
        with np.errstate(invalid="ignore"):
            made: Any = shapely.polygons(shapely.linearrings(points, indices=rank[owner]))
        invalid = np.flatnonzero(~shapely.is_valid(made))
        made[invalid] = repair(made[invalid])
        geometries[usable] = made
        repaired = int((shapely.area(made[invalid]) > 0).sum())
    else:
        repaired = 0
    return geometries, GeometryCounts(repaired=repaired, zero_area=int((shapely.area(geometries[rings]) == 0).sum()))


def repair(geometries: Geometries) -> Geometries:
    """Make polygons valid, keeping the area of every lobe and dropping lines and points left over."""
    repaired = shapely.make_valid(geometries)
    for i in np.flatnonzero(shapely.get_type_id(repaired) == shapely.GeometryType.GEOMETRYCOLLECTION):
        parts = shapely.get_parts(repaired[i])
        flat = shapely.get_parts(parts) if len(parts) else parts
        polygonal = shapely.get_type_id(flat) == shapely.GeometryType.POLYGON
        repaired[i] = shapely.union_all(flat[polygonal])
    repaired[shapely.get_dimensions(repaired) < 2] = shapely.Polygon()
    return repaired


def area(geometries: Geometries) -> Floats:
    """Areas in square pixels."""
    return np.asarray(shapely.area(geometries), dtype=np.float64)


def intersection_area(a: Geometries, b: Geometries) -> Floats:
    """(n,) areas of the intersections of a[k] and b[k]."""
    return area(shapely.intersection(a, b))


def offset(geometries: Geometries, margin: Floats) -> Geometries:
    """Grow (margin > 0) or shrink (margin < 0) each polygon by mitred parallels of its sides.

    An offset that leaves nothing comes back empty. A margin of 0 returns the polygon itself.
    """
    moved: Any = shapely.buffer(geometries, margin, join_style="mitre", mitre_limit=MITRE_LIMIT)
    return np.where(margin == 0, geometries, moved)


def union_area(group: Ints, a: Geometries, b: Geometries, groups: int) -> Floats:
    """(groups,) area of the union, within each group, of the intersections a[k] and b[k].

    Loops over groups: GEOS unites one set at a time.
    """
    result = np.zeros(groups)
    pieces = shapely.intersection(a, b)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    for start, stop in pairwise([*starts.tolist(), len(order)]):
        members = pieces[order[start:stop]]
        result[group[order[start]]] = shapely.area(members[0] if len(members) == 1 else shapely.union_all(members))
    return result
