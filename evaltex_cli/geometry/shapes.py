"""Boxes and polygons of objects as a protocol takes them, and their areas.

`masks.Masks` has the same methods for label pictures, so that a protocol is written once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import shapely

from evaltex_cli.geometry import boxes as box_geometry
from evaltex_cli.geometry import edge_pairs, outlines, rings
from evaltex_cli.geometry.edge_pairs import Edges
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.records import (
    Bools,
    Convention,
    Floats,
    Geometries,
    Ints,
    Objects,
    Outlines,
    offsets_of,
)

LEAST_SHARE = 1e-9
"""An intersection that is not more than this share of the smaller shape is none: rounding makes
such."""
MITRE_LIMIT = 5.0
"""How far the corner of a grown polygon reaches, in margins."""


class Shapes(NamedTuple):
    """Shapes in columns."""

    boxes: Floats
    """(n, 4) float64. Bounding boxes."""
    polygons: Geometries | None = None
    """(n,) valid shapely polygons, perhaps of several parts, None for a box; None if all are
    boxes."""

    @property
    def is_polygon(self) -> Bools:
        """(n,) whether a shape is a polygon."""
        if self.polygons is None:
            return np.zeros(len(self.boxes), dtype=bool)
        return np.asarray(shapely.is_geometry(self.polygons))

    def take(self, rows: Ints | Bools) -> Shapes:
        """Return some shapes, in the order of `rows`."""
        return Shapes(self.boxes[rows], None if self.polygons is None else self.polygons[rows])

    def replaced(self, rows: Ints, polygons: Geometries) -> Shapes:
        """Return the shapes with other polygons in the place of some."""
        if not len(rows):
            return self
        boxes = self.boxes.copy()
        every = np.full(len(boxes), None) if self.polygons is None else self.polygons.copy()
        boxes[rows], every[rows] = np.nan_to_num(shapely.bounds(polygons)), polygons
        return Shapes(boxes, every)

    def geometries(self, rows: Ints) -> Geometries:
        """Return some shapes as shapely geometries, boxes among them."""
        result = np.full(len(rows), None) if self.polygons is None else self.polygons[rows]
        is_box = ~shapely.is_geometry(result)
        result[is_box] = shapely.box(*self.boxes[rows[is_box]].T)
        return np.asarray(result, dtype=object)

    def longer_side(self) -> Floats:
        """(n,) the longer side of each bounding box."""
        return np.asarray((self.boxes[:, 2:] - self.boxes[:, :2]).max(axis=1, initial=0.0))

    def area(self) -> Floats:
        """(n,) areas in square pixels."""
        result = box_geometry.area(self.boxes)
        if self.polygons is not None:
            rows = np.flatnonzero(self.is_polygon)
            result[rows] = shapely.area(self.polygons[rows])
        return result

    def pair_area(self, i: Ints, other: Shapes, j: Ints) -> Floats:
        """(p,) areas of the intersections of ``self[i[k]]`` and ``other[j[k]]``; 0 where rounding
        may have made them.
        """
        common = box_geometry.intersection(self.boxes[i], other.boxes[j])
        result = box_geometry.area(common)
        slanted = np.flatnonzero((self.is_polygon[i] | other.is_polygon[j]) & (result > 0))
        if len(slanted):
            own, of_own = self._edges(i[slanted])
            others, of_other = other._edges(j[slanted])
            pairs = np.diff(own.offsets)[of_own] * np.diff(others.offsets)[of_other]
            few = pairs <= edge_pairs.EDGE_PAIRS_AT_ONCE
            rows, many = slanted[few], slanted[~few]
            result[rows] = edge_pairs.intersection_area(
                own, of_own[few], others, of_other[few], common[rows, :2]
            )
            shared = shapely.intersection(self.geometries(i[many]), other.geometries(j[many]))
            result[many] = shapely.area(shared)
        smaller = np.minimum(self.area()[i], other.area()[j])
        result = np.minimum(result, smaller)
        result[result <= LEAST_SHARE * smaller] = 0.0
        return result

    def _edges(self, rows: Ints) -> tuple[Edges, Ints]:
        """Return the edges of the shapes at some rows, and which of these each row is."""
        different, place = np.unique(rows, return_inverse=True)
        drawn = self.geometries(different)
        parts, of_part = shapely.get_parts(drawn, return_index=True)
        every, of_ring = shapely.get_rings(parts, return_index=True)
        owner, is_outer = of_part[of_ring], np.diff(of_ring, prepend=-1) != 0
        # Holes are drawn the other way round than what is around them, the first ring of a part.
        turned = np.flatnonzero(shapely.is_ccw(every) != is_outer)
        every[turned] = shapely.reverse(every[turned])
        points, of_point = shapely.get_coordinates(every, return_index=True)
        inside = np.flatnonzero(of_point[1:] == of_point[:-1])
        counts = np.bincount(owner[of_point[inside]], minlength=len(different))
        return Edges(points[inside], points[inside + 1], offsets_of(counts)), place

    def union_area(self, group: Ints, groups: int, i: Ints, other: Shapes, j: Ints) -> Floats:
        """(groups,) areas of the union, in each group, of the intersections of ``self[i[k]]`` and
        ``other[j[k]]``; `group` is in ``range(groups)``.
        """
        result = np.bincount(group, self.pair_area(i, other, j), groups).astype(np.float64)
        rows = np.flatnonzero(np.bincount(group)[group] > 1)
        rows = rows[np.argsort(group[rows], kind="stable")]
        group, i, j = group[rows], i[rows], j[rows]
        # Pieces add up, unless their boxes touch.
        pieces = box_geometry.intersection(self.boxes[i], other.boxes[j])
        offsets = offsets_of(np.bincount(group, minlength=groups))
        one, another = touching_boxes(pieces, offsets, pieces, offsets)
        touch, is_slanted = np.zeros((2, groups), dtype=bool)
        touch[group[one[one < another]]] = True
        is_slanted[group[self.is_polygon[i] | other.is_polygon[j]]] = True
        boxes = np.flatnonzero((touch & ~is_slanted)[group] & (box_geometry.area(pieces) > 0))
        united = box_geometry.union_area(pieces[boxes], group[boxes], groups)
        result = np.where(touch & ~is_slanted, united, result)
        rows = np.flatnonzero((touch & is_slanted)[group])
        if len(rows):
            parts = shapely.intersection(self.geometries(i[rows]), other.geometries(j[rows]))
            starts = np.flatnonzero(np.diff(group[rows], prepend=-1))
            unions = [shapely.union_all(some) for some in np.split(parts, starts[1:])]
            result[group[rows[starts]]] = shapely.area(unions)
        return result

    def without(self, i: Ints, other: Shapes, j: Ints) -> Shapes:
        """Return the shapes with those at ``i[k]`` less what they share with ``other[j[k]]``."""
        common = self.pair_area(i, other, j) > 0
        i, j = i[common], j[common]
        order = np.argsort(i, kind="stable")
        rows, first = np.unique(i[order], return_index=True)
        groups = np.split(other.geometries(j[order]), first[1:])
        lost = [shapely.union_all(some) for some in groups[: len(rows)]]
        return self.replaced(rows, shapely.difference(self.geometries(rows), lost))

    def moved(self, margin: Floats) -> Shapes:
        """Grow (margin > 0) or shrink (margin < 0) each shape; what shrinks to nothing stays as it
        was (EvaLTex Eq. 7, 8).
        """
        if not margin.any():
            return self
        boxes = self.boxes + margin[:, None] * np.array([-1.0, -1.0, 1.0, 1.0])
        if self.polygons is None:
            return Shapes(boxes)
        rows = np.flatnonzero(self.is_polygon & (margin != 0))
        polygons = self.polygons[rows]
        with np.errstate(all="ignore"):  # of tiny margins, on the way to right answers
            moved = shapely.buffer(
                polygons, margin[rows], join_style="mitre", mitre_limit=MITRE_LIMIT
            )
        remaining = np.where(shapely.is_empty(moved), polygons, moved)
        return Shapes(boxes, self.polygons).replaced(rows, remaining)


def from_objects(objects: Objects, convention: Convention) -> Shapes:
    """Return the shapes of objects as a convention takes them; a polygon of the four corners of a
    box is a box.
    """
    boxes = boxes_of(objects, convention)
    drawn = objects.outlines
    if convention.as_boxes or convention.inclusive or drawn.all_boxes:
        return Shapes(boxes)
    if convention.truncated:
        drawn = Outlines(boxes, rings.truncated(drawn.vertices), drawn.offsets)
    rows = np.flatnonzero(~_are_boxes(drawn))
    if not len(rows):
        return Shapes(boxes)
    polygons: Geometries = np.full(len(boxes), None, dtype=object)
    polygons[rows] = outlines.valid_polygons(drawn[rows])
    return Shapes(boxes, polygons)


def boxes_of(objects: Objects, convention: Convention) -> Floats:
    """(n, 4) bounding boxes of objects as a convention takes them."""
    boxes = objects.pixels if convention.inclusive and objects.pixels is not None else objects.boxes
    if convention.truncated:
        boxes = rings.truncated(boxes)
    return boxes + np.array([0.0, 0.0, 1.0, 1.0]) if convention.inclusive else boxes


def _are_boxes(drawn: Outlines) -> Bools:
    """(n,) whether an object is a box, or its vertices are the four corners of one, one after the
    other.
    """
    result = drawn.counts == 0
    rows = np.flatnonzero(drawn.counts == 4)
    corners = drawn.vertices[drawn.offsets[rows, None] + np.arange(4)]
    # A side of an upright box changes x or y but not both, and the next side the other one.
    moves = corners != np.roll(corners, -1, axis=1)
    in_turn = moves == moves[:, :1] ^ np.array([[False], [True], [False], [True]])
    result[rows] = in_turn.all(axis=(1, 2)) & (moves[:, 0, 0] != moves[:, 0, 1])
    return np.asarray(result)


def concatenate(a: Shapes, b: Shapes) -> Shapes:
    """Return the shapes of a, and then those of b."""
    boxes = np.concatenate([a.boxes, b.boxes])
    if a.polygons is None and b.polygons is None:
        return Shapes(boxes)
    sides = (
        np.full(len(side.boxes), None) if side.polygons is None else side.polygons
        for side in (a, b)
    )
    return Shapes(boxes, np.concatenate([*sides]))
