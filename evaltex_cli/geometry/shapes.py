"""Boxes and polygons behind one set of functions; boxes never reach shapely.

`label_runs` offers the same functions for masks, so that a protocol is written once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.geometry import boxes as box_geometry
from evaltex_cli.geometry import outlines as outline_geometry
from evaltex_cli.geometry import rounding
from evaltex_cli.records import Bools, Convention, Floats, Geometries, Ints, Objects, Outlines


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """Shapes in columns: bounding boxes (n, 4), and (n,) polygons, None for a
    box; None as a whole for boxes only.
    """

    boxes: Floats
    polygons: Geometries | None = None

    @property
    def is_polygon(self) -> Bools:
        """(n,) whether a shape is a polygon."""
        if self.polygons is None:
            return np.zeros(len(self.boxes), dtype=bool)
        return has_geometry(self.polygons)


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
    return np.asarray(geometry.shapely.is_geometry(polygons), dtype=bool)


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
    polygons = outline_geometry.polygons(outlines).copy()
    polygons[is_box] = None
    return Shapes(boxes, polygons)


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
        result[which] = geometry.polygons.area(shapes.polygons[which])
    return result


def pair_area(a: Shapes, i: Ints, b: Shapes, j: Ints) -> Floats:
    """(p,) areas of the intersections of ``a[i[k]]`` and ``b[j[k]]``; 0 where
    rounding may have made them.
    """
    a_boxes, b_boxes = a.boxes[i], b.boxes[j]
    result = box_geometry.area(box_geometry.intersection(a_boxes, b_boxes))
    slanted = np.zeros(len(result), dtype=bool)
    if a.polygons is not None or b.polygons is not None:
        slanted = a.is_polygon[i] | b.is_polygon[j]
        which = np.flatnonzero(slanted & (result > 0))
        result[which] = geometry.polygons.intersection_area(
            geometries(a, i[which]), geometries(b, j[which])
        )
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
    result = shapes.polygons.copy()
    offsets = geometry.polygons.offset(result[which], margin[which])
    result[which] = np.where(geometry.shapely.is_empty(offsets), result[which], offsets)
    # The bounds of an empty polygon are NaN.
    moved.boxes[which] = np.nan_to_num(geometry.shapely.bounds(result[which]))
    return Shapes(moved.boxes, result)


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
    if (
        known is not None
    ):  # an overlay of polygons costs far more than to look for groups of one pair
        alone = np.bincount(group, minlength=groups)[group] == 1
        rest = ~alone
        result = union_area(group[rest], Pairs(a, i[rest], b, j[rest]), groups)
        result[group[alone]] = known[alone]
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
    result = shapes.polygons[index]
    is_box = ~has_geometry(result)
    result[is_box] = geometry.shapely.box(*chosen[is_box].T)
    return result
