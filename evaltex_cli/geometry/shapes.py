"""Boxes and polygons behind one set of functions, in columns; shapely is needed for repairs only.

`label_runs` offers the same functions for masks, so that a protocol is written once.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.geometry import boxes as box_geometry
from evaltex_cli.geometry import edges as edge_columns
from evaltex_cli.geometry import outlines as outline_geometry
from evaltex_cli.geometry import rounding
from evaltex_cli.geometry.edges import Edges
from evaltex_cli.records import (
    Bools,
    Convention,
    Floats,
    Geometries,
    Ints,
    Objects,
    Outlines,
    blocks,
    distinct,
    offsets_of,
    stretches,
)


class Polygons(NamedTuple):
    """What is enclosed by shapes of which some are polygons."""

    is_polygon: Bools
    """(n,) bool."""
    edges: Edges
    """Of all shapes, boxes among them."""
    area: Floats
    """(n,) float64. In square pixels."""
    made: Geometries
    """(n,) array of shapely geometries. Polygons that are no single ring, and perhaps others; None
    for the rest."""

    @classmethod
    def of(cls, is_polygon: Bools, edges: Edges, made: Geometries | None = None) -> Polygons:
        """Measure shapes; without `made`, every one is a single ring."""
        if made is None:
            made = np.full(len(is_polygon), None, dtype=object)
        return cls(is_polygon, edges, edge_columns.area(edges), made)


_MOST_COMPARED = 16
"""Pieces of a group that are compared with each other, to see whether any two meet."""
_PAIRS_AT_ONCE = 1 << 14
"""Pairs that are measured at once; a pair takes 150 bytes on the way, in a union 500."""
_VERTICES_AT_ONCE = 1 << 13
"""Vertices of geometries of which edges are made at once."""
_MOST_BY_STRIPS = 16
"""Pieces of a union that is measured by strips: their number grows with the square."""


class Shapes(NamedTuple):
    """Shapes in columns."""

    boxes: Floats
    """(n, 4) float64. Bounding boxes."""
    polygons: Polygons | None = None
    """None for boxes only."""

    @property
    def is_polygon(self) -> Bools:
        """(n,) whether a shape is a polygon."""
        if self.polygons is None:
            return np.zeros(len(self.boxes), dtype=bool)
        return self.polygons.is_polygon


_Side = TypeVar("_Side")


class Pairs(NamedTuple, Generic[_Side]):
    """Pairs of ``a[i[k]]`` and ``b[j[k]]``: of shapes, or of masks (`label_runs`).

    Attributes
    ----------
    a, b : Shapes or Masks
    i, j : (p,) int64
    area : (p,) float64, or None
        Areas of their intersections, if they are known.
    """

    a: _Side
    i: Ints
    b: _Side
    j: Ints
    area: Floats | None = None


def has_geometry(polygons: Geometries) -> Bools:
    """(n,) whether an element of an object array is a geometry, not None."""
    return np.array([polygon is not None for polygon in polygons.tolist()], dtype=bool)


def from_objects(objects: Objects, convention: Convention) -> Shapes:
    """Return the shapes of objects as a convention takes them; a box given by
    its four corners is a box.
    """
    boxes = boxes_of(objects, convention)
    outlines = _truncated(objects.outlines) if convention.truncated else objects.outlines
    if convention.as_boxes or convention.inclusive or outlines.all_boxes:
        return Shapes(boxes)
    is_box = _are_boxes(outlines)
    if is_box.all():
        return Shapes(boxes)
    made = outline_geometry.repaired(outlines)
    rows = np.flatnonzero(has_geometry(made))
    if len(rows) == len(made):
        return from_geometries(boxes, made)
    vertices, offsets = geometry.rings.of(Outlines(boxes, outlines.vertices, outlines.offsets))
    drawn = Shapes(boxes, Polygons.of(~is_box, edge_columns.of_rings(vertices, offsets)))
    return with_others(drawn, rows, from_geometries(boxes[rows], made[rows]))


def from_rings(vertices: Floats, offsets: Ints) -> Shapes:
    """Return polygons of simple rings, (v, 2) vertices and (n + 1,) offsets; none is empty."""
    edges = edge_columns.of_rings(vertices, offsets)
    return Shapes(
        box_geometry.around(vertices, vertices, offsets[:-1]),
        Polygons.of(np.ones(len(offsets) - 1, dtype=bool), edges),
    )


def from_geometries(boxes: Floats, geometries: Geometries) -> Shapes:
    """Return shapes of (n, 4) bounding boxes and (n,) valid shapely polygons, None for a box."""
    shapes, rows = Shapes(boxes), np.flatnonzero(has_geometry(geometries))
    if not len(rows):
        return shapes
    # Some at a time: a ring takes 1 kB on the way.
    vertices = geometry.shapely.get_num_coordinates(geometries[rows]).astype(np.int64)
    edges = edge_columns.concatenate(
        *(
            geometry.polygons.edges_of(geometries[rows[start:stop]])
            for start, stop in blocks(vertices, _VERTICES_AT_ONCE)
        )
    )
    drawn = Polygons.of(np.ones(len(rows), dtype=bool), edges, geometries[rows])
    return with_others(shapes, rows, Shapes(boxes[rows], drawn))


def with_others(shapes: Shapes, rows: Ints, others: Shapes) -> Shapes:
    """Return `shapes`, with ``others[k]`` in the place of shape ``rows[k]``, rows ascending."""
    if not len(rows):
        return shapes
    if len(rows) == len(shapes.boxes):
        return others
    boxes = shapes.boxes.copy()
    boxes[rows] = others.boxes
    if shapes.polygons is None and others.polygons is None:
        return Shapes(boxes)
    polygons, replacements = polygons_of(shapes), polygons_of(others)
    edges = edge_columns.with_others(polygons.edges, rows, replacements.edges)
    is_polygon, area = polygons.is_polygon.copy(), polygons.area.copy()
    made = polygons.made.copy()
    is_polygon[rows], area[rows] = replacements.is_polygon, replacements.area
    made[rows] = replacements.made
    return Shapes(boxes, Polygons(is_polygon, edges, area, made))


def taken(shapes: Shapes, rows: Ints) -> Shapes:
    """Return some shapes, in the order of `rows`."""
    if shapes.polygons is None:
        return Shapes(shapes.boxes.take(rows, axis=0))
    is_polygon, edges, area, made = shapes.polygons
    chosen = is_polygon[rows], edge_columns.taken(edges, rows), area[rows], made[rows]
    return Shapes(shapes.boxes.take(rows, axis=0), Polygons(*chosen))


def polygons_of(shapes: Shapes) -> Polygons:
    """Return what shapes enclose, also if all are boxes."""
    if shapes.polygons is not None:
        return shapes.polygons
    boxes = shapes.boxes
    return Polygons.of(np.zeros(len(boxes), dtype=bool), edge_columns.of_boxes(boxes))


def concatenate(a: Shapes, b: Shapes) -> Shapes:
    """Return the shapes of a, and then those of b."""
    boxes = np.concatenate([a.boxes, b.boxes])
    if a.polygons is None and b.polygons is None:
        return Shapes(boxes)
    sides = polygons_of(a), polygons_of(b)
    is_polygon, area, made = (
        np.concatenate([getattr(side, name) for side in sides])
        for name in ("is_polygon", "area", "made")
    )
    edges = edge_columns.concatenate(*(side.edges for side in sides))
    return Shapes(boxes, Polygons(is_polygon, edges, area, made))


def boxes_of(objects: Objects, convention: Convention) -> Floats:
    """(n, 4) bounding boxes of objects as a convention takes them."""
    boxes = objects.pixels if convention.inclusive and objects.pixels is not None else objects.boxes
    if convention.truncated:
        boxes = rounding.truncated(boxes)
    return boxes + np.array([0.0, 0.0, 1.0, 1.0]) if convention.inclusive else boxes


def _are_boxes(outlines: Outlines) -> Bools:
    """(n,) whether an object is a box, or its vertices are the four corners
    of one, one after the other.
    """
    counts = outlines.counts
    which = np.flatnonzero(counts == 4)
    corners = outlines.vertices.take(outlines.offsets[which, None] + np.arange(4), axis=0)
    # A side of an upright box changes x or y but not both, and the next side the other one.
    moves = corners != np.roll(corners, -1, axis=1)
    in_turn = moves == moves[:, :1] ^ np.array([[False], [True], [False], [True]])
    result: Bools = counts == 0
    result[which] = in_turn.all(axis=(1, 2)) & (moves[:, 0, 0] != moves[:, 0, 1])
    return result


def _truncated(outlines: Outlines) -> Outlines:
    vertices = rounding.truncated(outlines.vertices)
    unchanged = (vertices == outlines.vertices).all()
    return outlines if unchanged else Outlines(outlines.boxes, vertices, outlines.offsets)


def area(shapes: Shapes) -> Floats:
    """(n,) areas in square pixels."""
    result = box_geometry.area(shapes.boxes)
    if shapes.polygons is not None:
        which = shapes.is_polygon
        result[which] = shapes.polygons.area[which]
    return result


def pair_area(a: Shapes, i: Ints, b: Shapes, j: Ints) -> Floats:
    """(p,) areas of the intersections of ``a[i[k]]`` and ``b[j[k]]``; 0 where
    rounding may have made them.
    """
    return _pair_area(a, i, b, j, is_exact=True)


def meet(a: Shapes, i: Ints, b: Shapes, j: Ints) -> Bools:
    """(p,) whether `pair_area` is above 0, which takes fewer digits."""
    return _pair_area(a, i, b, j, is_exact=False) > 0


def _pair_area(a: Shapes, i: Ints, b: Shapes, j: Ints, is_exact: bool) -> Floats:
    drawn = None
    if a.polygons is not None or b.polygons is not None:
        drawn = polygons_of(a), polygons_of(b)
    result = np.empty(len(i))
    for start in range(0, len(i), _PAIRS_AT_ONCE):
        some = slice(start, start + _PAIRS_AT_ONCE)
        result[some] = _areas(Pairs(a, i[some], b, j[some]), drawn, is_exact)
    return result


def _areas(pairs: Pairs[Shapes], drawn: tuple[Polygons, Polygons] | None, is_exact: bool) -> Floats:
    """(p,) areas of the intersections of a few pairs, of polygons that are `drawn` if any are."""
    a, i, b, j, _ = pairs
    a_boxes, b_boxes = a.boxes.take(i, axis=0), b.boxes.take(j, axis=0)
    common = box_geometry.intersection(a_boxes, b_boxes)
    result = box_geometry.area(common)
    slanted = np.zeros(len(result), dtype=bool)
    if drawn is not None:
        one, other = drawn
        slanted = one.is_polygon[i] | other.is_polygon[j]
        which = np.flatnonzero(slanted & (result > 0))
        negligible = rounding.area_error(a_boxes.take(which, axis=0), b_boxes.take(which, axis=0))
        sides = one.edges, i[which], other.edges, j[which]
        measured = geometry.edge_pairs.PolygonPairs(
            *sides, common.take(which, axis=0)[:, :2], negligible
        )
        shared = geometry.edge_pairs.intersection_area(measured, is_exact)
        smaller = np.minimum(one.area[i[which]], other.area[j[which]])
        inside = np.abs(shared - smaller) <= geometry.edge_pairs.WHOLE * smaller
        result[which] = np.where(inside, smaller, np.minimum(shared, smaller))
    return rounding.without_errors(result, a_boxes, b_boxes, slanted)


def union_area(group: Ints, pairs: Pairs[Shapes], groups: int) -> Floats:
    """(groups,) areas of the union of the intersections of each group's
    pairs; `group` is in ``range(groups)``.
    """
    if len(group) <= _PAIRS_AT_ONCE:
        return _union_area(group, pairs, groups)
    a, i, b, j, known = pairs
    result = np.zeros(groups)
    counts = np.bincount(group, minlength=groups)
    order, offsets = np.argsort(group, kind="stable"), offsets_of(counts)
    for start, stop in blocks(counts, _PAIRS_AT_ONCE):
        rows = order[offsets[start] : offsets[stop]]
        some = Pairs(a, i[rows], b, j[rows], None if known is None else known[rows])
        result[start:stop] = _union_area(group[rows] - start, some, stop - start)
    return result


def _union_area(group: Ints, pairs: Pairs[Shapes], groups: int) -> Floats:
    a, i, b, j, known = pairs
    pieces = box_geometry.intersection(a.boxes.take(i, axis=0), b.boxes.take(j, axis=0))
    if a.polygons is None and b.polygons is None:
        return box_geometry.union_area(group, pieces, groups)
    has_polygon = np.zeros(groups, dtype=bool)
    # A group with one polygon is measured as polygons; the others need only boxes.
    has_polygon[group[a.is_polygon[i] | b.is_polygon[j]]] = True
    slanted = has_polygon[group]
    result = box_geometry.union_area(group[~slanted], pieces[~slanted], groups)
    which = np.flatnonzero(slanted & (box_geometry.area(pieces) > 0))
    which = which[np.argsort(group[which], kind="stable")]
    group, pieces, i, j = group[which], pieces.take(which, axis=0), i[which], j[which]
    together = _together(group, pieces, Pairs(a, i, b, j), groups)[group]
    alone = np.flatnonzero(~together)
    area = pair_area(a, i[alone], b, j[alone]) if known is None else known[which[alone]]
    result += np.bincount(group[alone], weights=area, minlength=groups)
    return result + _united(
        group[together], pieces[together], Pairs(a, i[together], b, j[together]), groups
    )


def _together(group: Ints, pieces: Floats, pairs: Pairs[Shapes], groups: int) -> Bools:
    """(groups,) whether pieces of a group, which are in order of it, may have some area in common:
    whether their union may be less than their sum.
    """
    a, i, b, j, _ = pairs
    counts = np.bincount(group, minlength=groups)
    result = counts > _MOST_COMPARED
    # Each piece with those after it in its group.
    later = np.cumsum(counts)[group] - np.arange(1, len(group) + 1)
    later = np.where(result[group], 0, later)
    one = np.repeat(np.arange(len(group)), later)
    other = stretches(np.arange(1, len(group) + 1), later)
    boxes = box_geometry.intersection(pieces.take(one, axis=0), pieces.take(other, axis=0))
    near = np.flatnonzero(box_geometry.area(boxes) > 0)
    one, other = one[near], other[near]
    for side, index in ((a, i), (b, j)):
        is_common = index[one] == index[other]
        asked = np.flatnonzero(~is_common)
        is_common[asked] = meet(side, index[one[asked]], side, index[other[asked]])
        one, other = one[is_common], other[is_common]
    result[group[one]] = True
    return result


def _united(group: Ints, pieces: Floats, pairs: Pairs[Shapes], groups: int) -> Floats:
    """(groups,) areas of the unions of pieces, which are in order of their groups: by strips, and
    for many pieces by GEOS, as the strips are many more; in 32 digits where these are needed.
    """
    a, i, b, j, _ = pairs
    result, counts = np.zeros(groups), np.bincount(group, minlength=groups)
    chosen = np.flatnonzero(counts)
    if not len(chosen):
        return result
    rank, starts = np.searchsorted(chosen, group), offsets_of(counts[chosen])[:-1]
    around = box_geometry.around(pieces[:, :2], pieces[:, 2:], starts)
    boxes = a.boxes.take(i, axis=0), b.boxes.take(j, axis=0)
    low, high = np.minimum(*boxes), np.maximum(*boxes)
    shapes = box_geometry.around(low[:, :2], high[:, 2:], starts)
    edges = polygons_of(a).edges, polygons_of(b).edges
    united = geometry.midlines.Pieces(rank, edges[0], i, edges[1], j, around[:, :2])
    few = counts[chosen] <= _MOST_BY_STRIPS
    found = np.zeros(len(chosen))
    if few.any():
        found[few] = geometry.midlines.union_area(united.some(few))
    if not few.all():
        many = ~few[rank]
        found += geometry.polygons.union_area(
            rank[many], geometries(a, i[many]), geometries(b, j[many]), len(chosen)
        )
    result[chosen] = geometry.exact_unions.refined(united, found, few, around, shapes)
    return result


def geometries(shapes: Shapes, index: Ints) -> Geometries:
    """Return the chosen shapes as shapely geometries, boxes among them; one that is chosen again
    is the same geometry.
    """
    again = distinct(index)
    if len(again) < len(index):
        return geometries(shapes, again)[np.searchsorted(again, index)]
    chosen = shapes.boxes[index]
    if shapes.polygons is None:
        return np.asarray(geometry.shapely.box(*chosen.T), dtype=object)
    is_polygon, edges, _, made = shapes.polygons
    result = made[index]
    is_box, drawn = ~is_polygon[index], np.flatnonzero(is_polygon[index] & ~has_geometry(result))
    result[is_box] = geometry.shapely.box(*chosen[is_box].T)
    some = edge_columns.taken(edges, index[drawn])
    result[drawn] = geometry.polygons.drawn(some.ends[:2].T, some.offsets)
    return result
