"""Boxes and polygons behind one set of functions, in columns; shapely is needed for repairs only.

`label_runs` offers the same functions for masks, so that a protocol is written once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.geometry import boxes as box_geometry
from evaltex_cli.geometry import edge_pairs, rings, rounding
from evaltex_cli.geometry import edges as edge_columns
from evaltex_cli.geometry import outlines as outline_geometry
from evaltex_cli.geometry.edge_pairs import PolygonPairs
from evaltex_cli.geometry.edges import Edges
from evaltex_cli.records import Bools, Convention, Floats, Geometries, Ints, Objects, Outlines


class Polygons(NamedTuple):
    """What is enclosed by shapes of which some are polygons.

    Attributes
    ----------
    is_polygon : (n,) bool
    edges : Edges
        Of all shapes, boxes among them.
    made : (n,) array of shapely geometries
        Polygons that are no single ring, and perhaps others; None for the rest.
    """

    is_polygon: Bools
    edges: Edges
    made: Geometries


WHOLE = 4 * edge_pairs.EXACT
"""An intersection that is the smaller shape but for this share of it is that shape."""


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """Shapes in columns.

    Attributes
    ----------
    boxes : (n, 4) float64
        Bounding boxes.
    polygons : Polygons or None
        None for boxes only.
    """

    boxes: Floats
    polygons: Polygons | None = None

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
    vertices, offsets = rings.of(Outlines(boxes, outlines.vertices, outlines.offsets))
    edges, made = edge_columns.of_rings(vertices, offsets), outline_geometry.repaired(outlines)
    return with_geometries(Shapes(boxes, Polygons(~is_box, edges, made)), made)


def from_geometries(boxes: Floats, geometries: Geometries) -> Shapes:
    """Return shapes of (n, 4) bounding boxes and (n,) valid shapely polygons, None for a box."""
    return with_geometries(Shapes(boxes), geometries)


def with_geometries(shapes: Shapes, geometries: Geometries) -> Shapes:
    """Return shapes with (n,) valid shapely polygons in the place of some; None is for the rest."""
    rows = np.flatnonzero(has_geometry(geometries))
    if not len(rows):
        return shapes
    polygons = _polygons(shapes)
    is_polygon, made = polygons.is_polygon.copy(), polygons.made.copy()
    is_polygon[rows], made[rows] = True, geometries[rows]
    edges = edge_columns.with_others(
        polygons.edges, rows, geometry.polygons.edges_of(geometries[rows])
    )
    return Shapes(shapes.boxes, Polygons(is_polygon, edges, made))


def _polygons(shapes: Shapes) -> Polygons:
    if shapes.polygons is not None:
        return shapes.polygons
    count = len(shapes.boxes)
    made: Geometries = np.full(count, None, dtype=object)
    return Polygons(np.zeros(count, dtype=bool), edge_columns.of_boxes(shapes.boxes), made)


def concatenate(a: Shapes, b: Shapes) -> Shapes:
    """Return the shapes of a, and then those of b."""
    boxes = np.concatenate([a.boxes, b.boxes])
    if a.polygons is None and b.polygons is None:
        return Shapes(boxes)
    sides = _polygons(a), _polygons(b)
    return Shapes(
        boxes,
        Polygons(
            np.concatenate([side.is_polygon for side in sides]),
            edge_columns.concatenate(*(side.edges for side in sides)),
            np.concatenate([side.made for side in sides]),
        ),
    )


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
    corners = outlines.vertices[outlines.offsets[which, None] + np.arange(4)]
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
        result[which] = edge_columns.area(shapes.polygons.edges)[which]
    return result


def pair_area(a: Shapes, i: Ints, b: Shapes, j: Ints) -> Floats:
    """(p,) areas of the intersections of ``a[i[k]]`` and ``b[j[k]]``; 0 where
    rounding may have made them.
    """
    a_boxes, b_boxes = a.boxes[i], b.boxes[j]
    common = box_geometry.intersection(a_boxes, b_boxes)
    result = box_geometry.area(common)
    slanted = np.zeros(len(result), dtype=bool)
    if a.polygons is not None or b.polygons is not None:
        slanted = a.is_polygon[i] | b.is_polygon[j]
        which = np.flatnonzero(slanted & (result > 0))
        negligible = rounding.area_error(a_boxes[which], b_boxes[which])
        shared = edge_pairs.intersection_area(
            PolygonPairs(
                *(_polygons(a).edges, i[which]),
                *(_polygons(b).edges, j[which]),
                *(common[which, :2], negligible),
            )
        )
        smaller = np.minimum(area(a)[i[which]], area(b)[j[which]])
        inside = np.abs(shared - smaller) <= WHOLE * smaller
        result[which] = np.where(inside, smaller, np.minimum(shared, smaller))
    return rounding.without_errors(result, a_boxes, b_boxes, slanted)


def offset(shapes: Shapes, margin: Floats) -> Shapes:
    """Grow (margin > 0) or shrink (margin < 0) each shape; what shrinks to
    nothing is returned as it was.
    """
    if not margin.any():
        return shapes
    moved = Shapes(box_geometry.offset(shapes.boxes, margin))
    if shapes.polygons is None:
        return moved
    which = np.flatnonzero(shapes.is_polygon & (margin != 0))
    offsets = geometry.polygons.offset(geometries(shapes, which), margin[which])
    remains = ~np.asarray(geometry.shapely.is_empty(offsets), dtype=bool)
    which, offsets = which[remains], offsets[remains]
    still = shapes.is_polygon.copy()
    still[which] = False
    boxes = np.where(still[:, None], shapes.boxes, moved.boxes)
    boxes[which] = geometry.shapely.bounds(offsets)
    rows, made = np.flatnonzero(still), shapes.polygons.made.copy()
    edges = edge_columns.with_others(
        edge_columns.of_boxes(boxes), rows, edge_columns.taken(shapes.polygons.edges, rows)
    )
    made[~still] = None
    made[which] = offsets
    return with_geometries(Shapes(boxes, Polygons(still, edges, made)), made)


def union_area(group: Ints, pairs: Pairs[Shapes], groups: int) -> Floats:
    """(groups,) areas of the union of the intersections of each group's
    pairs; `group` is in ``range(groups)``.
    """
    a, i, b, j, known = pairs
    pieces = box_geometry.intersection(a.boxes[i], b.boxes[j])
    if a.polygons is None and b.polygons is None:
        return box_geometry.union_area(group, pieces, groups)
    has_polygon = np.zeros(groups, dtype=bool)
    # A group with one polygon is overlaid by GEOS as a whole; the others need only boxes.
    has_polygon[group[a.is_polygon[i] | b.is_polygon[j]]] = True
    alone = np.bincount(group, minlength=groups)[group] == 1
    if alone.any():
        rest = ~alone
        result = union_area(group[rest], Pairs(a, i[rest], b, j[rest]), groups)
        result[group[alone]] = (
            pair_area(a, i[alone], b, j[alone]) if known is None else known[alone]
        )
        return result
    overlay = has_polygon[group]
    result = box_geometry.union_area(group[~overlay], pieces[~overlay], groups)
    meets = overlay & (box_geometry.area(pieces) > 0)
    overlaid = geometry.polygons.union_area(
        group[meets], geometries(a, i[meets]), geometries(b, j[meets]), groups
    )
    return np.where(has_polygon, overlaid, result)


def geometries(shapes: Shapes, index: Ints) -> Geometries:
    """Return the chosen shapes as shapely geometries, boxes among them."""
    chosen = shapes.boxes[index]
    if shapes.polygons is None:
        return np.asarray(geometry.shapely.box(*chosen.T), dtype=object)
    is_polygon, edges, made = shapes.polygons
    result = made[index]
    is_box, drawn = ~is_polygon[index], np.flatnonzero(is_polygon[index] & ~has_geometry(result))
    result[is_box] = geometry.shapely.box(*chosen[is_box].T)
    some = edge_columns.taken(edges, index[drawn])
    result[drawn] = geometry.polygons.drawn(some.ends[:2].T, some.offsets)
    return result
