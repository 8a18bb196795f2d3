"""Outlines of many objects in columns: boxes and rings of vertices, overlaid and united."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.geometry import edges, quadrilaterals, rings, shapes
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.records import (
    Bools,
    Floats,
    Geometries,
    Ints,
    Objects,
    distinct,
    offsets_of,
    stretches,
)

SAME_AREA = 1e-9
"""An overlay that differs from an outline by less than this share of its area is that outline."""
_BOX_NUMBERS = 4
_OVERLAYS_AT_ONCE = 1 << 12
"""Overlays of quadrilaterals that are made at once; one takes 3 kB on the way."""


class Drawn(NamedTuple):
    """Outlines of n objects, as `geometry.outlines.drawn` takes them."""

    numbers: Floats
    """(c,) float64. x0, y0, x1, y1 of a box, x1, y1, x2, y2, ... of a ring; one outline after the
    other."""
    sizes: Ints
    """(n,) int64. How many numbers each outline has."""
    is_box: Bools
    """(n,) bool."""

    def rows(self, index: Ints) -> Drawn:
        """Return some of the outlines, in the given order."""
        sizes = self.sizes[index]
        starts = offsets_of(self.sizes)[:-1]
        return Drawn(self.numbers[stretches(starts[index], sizes)], sizes, self.is_box[index])

    def bounds(self) -> Floats:
        """(n, 4) bounding boxes; every outline has some numbers."""
        at = offsets_of(self.sizes)[:-1]
        # Numbers of x are at even distances from the first of each outline; so are they in all.
        x, y = self.numbers[::2], self.numbers[1::2]
        if not len(at):
            return np.zeros((0, 4))
        bounds = [
            extreme.reduceat(axis, at // 2)
            for extreme in (np.minimum, np.maximum)
            for axis in (x, y)
        ]
        return np.stack(bounds, axis=1)


def of_boxes(boxes: Floats) -> Drawn:
    """Return (n, 4) boxes as outlines."""
    count = len(boxes)
    return Drawn(boxes.ravel(), np.full(count, _BOX_NUMBERS), np.ones(count, dtype=bool))


def of_rings(points: Floats, counts: Ints) -> Drawn:
    """Return rings of (n,) counts of vertices as outlines."""
    return Drawn(points.ravel(), 2 * counts, np.zeros(len(counts), dtype=bool))


def joined(parts: Sequence[Drawn]) -> Drawn:
    """Return the outlines of all parts, one after the other."""
    return Drawn(*map(np.concatenate, zip(*parts, strict=True)))


def replaced(drawn: Drawn, which: Ints, others: Drawn) -> Drawn:
    """Return outlines in which the rows `which` are others."""
    rows = np.arange(len(drawn.sizes))
    rows[which] = len(drawn.sizes) + np.arange(len(which))
    return joined([drawn, others]).rows(rows)


class Side:
    """Outlines of one side of a batch, and what they enclose.

    Parameters
    ----------
    objects : Objects
    shapes : Shapes
        Of the objects, continuous.
    """

    def __init__(self, objects: Objects, shapes: Shapes) -> None:
        self.boxes = objects.boxes
        self.shapes = shapes
        self.is_polygon = self.shapes.is_polygon
        self.drawn = of_boxes(self.boxes)
        if self.is_polygon.any():
            points, offsets = rings.of(objects.outlines)
            polygon = np.flatnonzero(self.is_polygon)
            drawn = of_rings(points, np.diff(offsets)).rows(polygon)
            self.drawn = replaced(self.drawn, polygon, drawn)


def overlaid(
    how: Literal["intersection", "union"], boxes: Floats, det: Side, j: Ints, gt: Side, i: Ints
) -> Drawn:
    """Return boxes, and overlays of detections j and objects i for them where a side is a polygon.

    Where an overlay is the object or the detection, its outline is as it was; of one that GEOS
    cannot make, it is that of the detection.
    """
    result = of_boxes(boxes)
    which = np.flatnonzero(det.is_polygon[j] | gt.is_polygon[i])
    if not len(which):
        return result
    j, i = j[which], i[which]
    drawn = _of_quadrilaterals(how, det.shapes, j, gt.shapes, i)
    area = edges.area(edges.of_rings(drawn.numbers.reshape(-1, 2), offsets_of(drawn.sizes // 2)))
    det_area, gt_area = shapes.area(det.shapes)[j], shapes.area(gt.shapes)[i]
    least, most = np.minimum(det_area, gt_area), np.maximum(det_area, gt_area)
    # Of slivers far from the origin, rounding may decide on the order of the vertices.
    low, high = (0 * least, least) if how == "intersection" else (most, least + most)
    is_likely = (area >= (1 - SAME_AREA) * low) & (area <= (1 + SAME_AREA) * high)
    rest = np.flatnonzero((drawn.sizes == 0) | ~is_likely)
    overlay: Geometries = getattr(geometry.geos, how)(
        shapes.geometries(det.shapes, j[rest]), shapes.geometries(gt.shapes, i[rest])
    )
    area[rest] = geometry.polygons.area(overlay)
    drawn = replaced(drawn, rest, outer_rings(overlay))
    is_gt = np.abs(area - gt_area) <= SAME_AREA * gt_area
    is_det = ~is_gt & ((np.abs(area - det_area) <= SAME_AREA * det_area) | (area == 0))
    for same, side, rows in ((is_gt, gt, i), (is_det, det, j)):
        drawn = replaced(drawn, np.flatnonzero(same), side.drawn.rows(rows[same]))
    return replaced(result, which, drawn)


def _of_quadrilaterals(how: str, a: Shapes, i: Ints, b: Shapes, j: Ints) -> Drawn:
    """Overlays of convex quadrilaterals ``a[i[k]]`` and ``b[j[k]]``; others have no numbers."""
    sides = (shapes.polygons_of(a).edges, i), (shapes.polygons_of(b).edges, j)
    parts = []
    for start in range(0, len(i), _OVERLAYS_AT_ONCE):
        some = slice(start, start + _OVERLAYS_AT_ONCE)
        corners = [quadrilaterals.convex_ones(all_edges, index[some]) for all_edges, index in sides]
        parts.append(of_rings(*quadrilaterals.overlays(corners[0], corners[1], how == "union")))
    return joined(parts)


def outer_rings(geometries: Geometries) -> Drawn:
    """Return the outer vertices of shapes with an area; of the convex hulls of those in parts."""
    parts, owner = geometry.shapely.get_parts(geometries, return_index=True)
    has_area = geometry.polygons.area(parts) > 0
    parts, owner = parts[has_area], owner[has_area]
    alone = np.bincount(owner, minlength=len(geometries)) == 1
    outer = np.empty(len(geometries), dtype=object)
    outer[~alone] = geometry.geos.convex_hull(geometries[~alone])
    outer[owner[alone[owner]]] = parts[alone[owner]]
    points, of_ring = geometry.shapely.get_coordinates(
        geometry.shapely.get_exterior_ring(outer), return_index=True
    )
    is_last = np.diff(of_ring, append=-1) != 0  # which repeats the first
    counts = np.bincount(of_ring[~is_last], minlength=len(geometries))
    return of_rings(points[~is_last], counts)


def united(parts: Drawn, owner: Ints, objects: Drawn, object_owner: Ints) -> Drawn:
    """Return what the pieces of some objects are together.

    Parameters
    ----------
    parts : Drawn
        Pieces, sorted by their group.
    owner : (p,) int64
        The group of each, from 0; every group has one or more.
    objects : Drawn
        The objects of the groups, sorted by group.
    object_owner : (q,) int64

    Notes
    -----
    Boxes become the bounding box of all; where a piece is a polygon, the pieces become their union
    and what of the objects is in the convex hull of it.
    """
    if not len(owner):
        return of_boxes(np.zeros((0, 4)))
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    bounds = parts.bounds()
    low, high = (
        np.minimum.reduceat(bounds[:, :2], starts),
        np.maximum.reduceat(bounds[:, 2:], starts),
    )
    result = of_boxes(np.concatenate([low, high], axis=1))
    which = np.flatnonzero(~np.logical_and.reduceat(parts.is_box, starts))
    if not len(which):
        return result
    pieces, text = (
        _unions(side, of_group, which)
        for side, of_group in ((parts, owner), (objects, object_owner))
    )
    between = geometry.geos.intersection(geometry.geos.convex_hull(pieces), text)
    whole = geometry.geos.union(pieces, between)
    made = geometry.polygons.area(whole) > 0  # else GEOS fails, and the bounding box remains
    return replaced(result, which[made], outer_rings(whole[made]))


def _unions(drawn: Drawn, owner: Ints, groups: Ints) -> Geometries:
    """(g,) unions of the outlines of each of some groups; those of as many outlines at once."""
    rows = np.flatnonzero(np.isin(owner, groups))
    shown: Any = _geometries(drawn.rows(rows))
    starts = np.flatnonzero(np.diff(owner[rows], prepend=-1))
    sizes = np.diff(starts, append=len(rows))
    result = np.empty(len(groups), dtype=object)
    for size in distinct(sizes).tolist():
        which = np.flatnonzero(sizes == size)
        result[which] = geometry.geos.unions(shown[starts[which, None] + np.arange(size)])
    return result


def _geometries(drawn: Drawn) -> Geometries:
    """(n,) shapely polygons of outlines."""
    result = np.empty(len(drawn.sizes), dtype=object)
    boxes = drawn.rows(np.flatnonzero(drawn.is_box)).numbers.reshape(-1, 4)
    polygons = drawn.rows(np.flatnonzero(~drawn.is_box))
    result[drawn.is_box] = geometry.shapely.box(*boxes.T)
    made: Any = geometry.polygons.from_vertices(
        polygons.numbers.reshape(-1, 2), offsets_of(polygons.sizes // 2)
    )
    result[~drawn.is_box] = made[0]
    return result
