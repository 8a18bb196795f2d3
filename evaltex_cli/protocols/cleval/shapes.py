"""Geometry of CLEval's objects: outlines, areas, aspects.

An object is a quadrilateral (a box is one) or a polygon; the official program treats the two
differently. Areas of a quadrilateral take its vertices cut to integers; a polygon is taken as it
is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.geometry import edges as edge_columns
from evaltex_cli.geometry import rings, rounding, shapes
from evaltex_cli.geometry.overlaps import touching_boxes
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.records import (
    Bools,
    Convention,
    Floats,
    Geometries,
    Ints,
    Objects,
    Overlaps,
    blocks,
    expanded,
    offsets_of,
)

POLYGON_ASPECT = 1e5
"""What the official program has for every polygon: its slip of 1e+5 for 1e-5."""
FLAT_ASPECT = 1e9
"""Height over width of an object without width."""
MOST_CHARACTERS = 10
_BLOCK = 1 << 15
"""Vertices that are looked at at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One side's objects as CLEval takes them."""

    offsets: Ints
    """(images + 1,) int64."""
    is_polygon: Bools
    """(n,) bool. Else a quadrilateral."""
    vertices: Floats
    starts: Ints
    """`vertices` and `starts`: (v, 2) float64, (n + 1,) int64. Object i owns
    ``vertices[starts[i]:starts[i + 1]]``; a box has its four corners, clockwise from the top left.
    """
    outlines: Floats
    """(v, 2) float64. The vertices, cut to integers where they are a quadrilateral's."""
    shapes: Shapes
    """Of the outlines."""
    area: Floats
    """(n,) float64. Areas; by the shoelace formula for quadrilaterals, so that the lobes of a
    crossed one cancel."""
    remade: Bools
    """(n,) bool. Shapes that are others than overlaps were measured with."""

    def corners(self, vertices: Floats, which: Ints) -> Floats:
        """(k, 4, 2) the vertices of quadrilaterals."""
        corners: Floats = vertices[self.starts[which][:, None] + np.arange(4)]
        return corners

    def without_vertices(self) -> Side:
        """Return the same side, with what takes most left out."""
        return replace(self, vertices=np.zeros((0, 2)), outlines=np.zeros((0, 2)))


def side_of(objects: Objects, taken: Shapes, convention: Convention, all_polygons: bool) -> Side:
    """Return objects as CLEval takes them.

    Parameters
    ----------
    taken : Shapes
        Of the objects, as the convention takes them.
    convention : Convention
        What overlaps were measured with.
    all_polygons : bool
        Whether four vertices are a polygon too.
    """
    vertices, starts = rings.of(objects.outlines)
    counts = np.diff(starts)
    is_polygon = np.full(objects.count, all_polygons) | (counts != 4)
    if (counts == 3).any():
        first = starts[:-1][counts == 3]
        fourth = np.stack([vertices[first, 0], vertices[first + 2, 1]], axis=1)
        vertices = np.insert(vertices, first + 3, fourth, axis=0)
        starts = offsets_of(counts + (counts == 3))
    outlines = vertices
    if not is_polygon.all():
        outlines = _truncated(vertices, np.repeat(~is_polygon, np.diff(starts)))
    area, shoelace = shapes.area(taken), _areas(outlines, starts)
    moved = np.zeros(objects.count, dtype=bool)
    if is_polygon.any() and convention.truncated:
        owner = np.repeat(np.arange(objects.count), np.diff(starts))
        moved[owner[(vertices != np.trunc(vertices)).any(axis=1)]] = True
    other = np.flatnonzero(
        is_polygon & (moved | (counts == 3) | ~np.isclose(shoelace, area, rtol=1e-9, atol=1e-9))
    )
    if len(other):
        made = _buffered(vertices, starts, other)
        others = shapes.from_geometries(objects.boxes[other], made)
        taken = shapes.with_others(taken, other, others)
        area = shapes.area(taken)
    area = np.where(is_polygon, area, shoelace)
    remade = np.bincount(other, minlength=objects.count) > 0
    return Side(objects.offsets, is_polygon, vertices, starts, outlines, taken, area, remade)


def _truncated(vertices: Floats, of_quad: Bools) -> Floats:
    """(v, 2) vertices, some cut to integers; the same array if all of these are integers."""
    result = vertices
    for start in range(0, len(vertices), _BLOCK):
        some, cut = vertices[start : start + _BLOCK], of_quad[start : start + _BLOCK, None]
        made = np.where(cut, rounding.truncated(some), some)
        if (made != some).any():
            result = result.copy() if result is vertices else result
            result[start : start + _BLOCK] = made
    return result


def _areas(vertices: Floats, starts: Ints) -> Floats:
    """(n,) areas of rings, the lobes of a crossed one cancelling each other."""
    result = np.empty(len(starts) - 1)
    for start, stop in blocks(np.diff(starts), _BLOCK):
        own = starts[start : stop + 1]
        edges = edge_columns.of_rings(vertices[own[0] : own[-1]], own - own[0])
        result[start:stop] = edge_columns.area(edges)
    return result


def _buffered(vertices: Floats, starts: Ints, which: Ints) -> Geometries:
    """Polygons made valid as the official program does: of a crossed one the
    lobes of one orientation remain.
    """
    counts = np.diff(starts)[which]
    geometries: Any = np.full(len(which), geometry.shapely.Polygon(), dtype=object)
    usable = np.flatnonzero(counts >= 3)
    owner, place = expanded(counts[usable])
    # The vertices of these rings only, one ring after another.
    loops = vertices[starts[which[usable]][owner] + place]
    drawn = geometry.geos.polygons(geometry.geos.linearrings(loops, indices=owner))
    geometries[usable] = geometry.geos.buffer(drawn, 0)
    return np.asarray(geometries, dtype=object)


def overlap_areas(overlaps: Overlaps, gt: Side, det: Side) -> tuple[Ints, Ints, Floats]:
    """Return the pairs (gt, det), sorted, of outlines that overlap, and the
    areas of their intersections.
    """
    if not gt.remade.any() and not det.remade.any():
        return overlaps.gt, overlaps.det, overlaps.area
    i, j = touching_boxes(gt.shapes.boxes, gt.offsets, det.shapes.boxes, det.offsets)
    again = gt.remade[i] | det.remade[j]
    i, j = i[again], j[again]
    area = shapes.pair_area(gt.shapes, i, det.shapes, j)
    stays, overlap = ~(gt.remade[overlaps.gt] | det.remade[overlaps.det]), area > 0
    i = np.concatenate([overlaps.gt[stays], i[overlap]])
    j = np.concatenate([overlaps.det[stays], j[overlap]])
    area = np.concatenate([overlaps.area[stays], area[overlap]])
    order = np.lexsort((j, i))
    return i[order], j[order], area[order]


def aspects(side: Side, official: bool) -> Floats:
    """(n,) width over height by vertex order (official), or height over width of the bounding box
    (paper).

    Officially every polygon has the same aspect, so that as a false positive it is one character.
    """
    if not official:
        width, height = (side.shapes.boxes[:, 2:] - side.shapes.boxes[:, :2]).T
        result = np.where(height > 0, FLAT_ASPECT, 1.0)
        np.divide(height, width, out=result, where=width > 0)
        return result
    result = np.full(len(side.is_polygon), POLYGON_ASPECT)
    quads = np.flatnonzero(~side.is_polygon)
    for start in range(0, len(quads), _BLOCK):
        some = quads[start : start + _BLOCK]
        corners = side.corners(side.vertices, some)
        edges = np.roll(corners, -1, axis=1) - corners
        lengths = np.sqrt(edges[..., 0] ** 2 + edges[..., 1] ** 2)
        along, across = (lengths[:, 0] + lengths[:, 2]) / 2, (lengths[:, 1] + lengths[:, 3]) / 2
        result[some] = (along + 1e-5) / (across + 1e-5)
    return result


def lengths_by_aspect(aspect: Floats) -> Ints:
    """(n,) how many characters an object without transcription is taken to
    have, along its longer side.
    """
    longer = np.maximum(aspect, 1 / np.maximum(aspect, 1 / FLAT_ASPECT))
    return _at_most_ten(0.5 + longer)


def false_positive_lengths(aspect: Floats) -> Ints:
    """(n,) how many characters a false positive counts for: one over the aspect (Eq. 8a)."""
    return _at_most_ten(0.5 + 1 / (1e-5 + aspect))


def _at_most_ten(value: Floats) -> Ints:
    """Rounded, a half to the even number."""
    return np.minimum(np.rint(value), MOST_CHARACTERS).astype(np.int64)


def shorter_sides(side: Side) -> Floats:
    """(n,) shorter sides of the smallest rectangles around the vertices,
    corners rounded to whole pixels.
    """
    result = np.zeros(len(side.starts) - 1)
    if not len(result):
        return result
    owner = np.repeat(np.arange(len(result)), np.diff(side.starts))
    around: Any = geometry.geos.oriented_envelope(geometry.geos.paths(side.vertices, owner))
    is_area = np.flatnonzero(
        geometry.shapely.get_type_id(around) == geometry.shapely.GeometryType.POLYGON
    )
    corners = np.rint(geometry.shapely.get_coordinates(around[is_area])).reshape(-1, 5, 2)
    edges = np.diff(corners, axis=1)
    lengths = np.sqrt(edges[..., 0] ** 2 + edges[..., 1] ** 2)
    result[is_area] = np.minimum(lengths[:, 0] + lengths[:, 2], lengths[:, 1] + lengths[:, 3]) / 2
    return result
