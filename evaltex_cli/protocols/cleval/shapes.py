"""Geometry of CLEval: outlines, aspects, pseudo-character centres (Eq. 1, Algorithm 2), centres
inside detections.

An object is a quadrilateral (a box is one) or a polygon; the official program treats the two
differently. Of a quadrilateral, areas and containment take its vertices cut to integers, and a
centre on its left or top edge is inside, one on its right or bottom edge is not. Of a polygon
everything is taken as it is, and a centre on its edge is outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli import geometry
from evaltex_cli.geometry import edges as edge_columns
from evaltex_cli.geometry import rings, rounding, shapes
from evaltex_cli.geometry.boxes import around
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
    stretches,
)

POLYGON_ASPECT = 1e5
"""What the official program has for every polygon: its slip of 1e+5 for 1e-5."""
FLAT_ASPECT = 1e9
"""Height over width of an object without width."""
MOST_CHARACTERS = 10
_BLOCK = 1 << 15
"""Vertices that are looked at at once."""
CENTRES_AT_ONCE = 1 << 15
"""Pairs of a character centre and a detection that are looked at at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Inclusions:
    """Which characters lie in which detections, and the pairs of objects and detections that
    follow.
    """

    offsets: Ints
    pair: NDArray[np.int32]
    """`offsets` and `pair`: (c + 1,) int64, (k,) int32. The pairs of character i, the detections of
    which include it, are ``pair[offsets[i]:offsets[i + 1]]``, ascending."""
    pair_gt: Ints
    pair_det: Ints
    """`pair_gt` and `pair_det`: (p,) int64. Pairs that share a character, sorted by object and the
    detections' order."""

    def characters(self, start: int, stop: int, chosen: Bools) -> tuple[Ints, Ints]:
        """Return the inclusions of a range of characters, of chosen pairs: character and pair."""
        offsets = self.offsets[start : stop + 1]
        pair = self.pair[offsets[0] : offsets[-1]].astype(np.int64)
        centre, is_chosen = np.repeat(np.arange(start, stop), np.diff(offsets)), chosen[pair]
        return centre[is_chosen], pair[is_chosen]


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


def overlap_areas(
    overlaps: Overlaps, gt: Side, det: Side, names: Sequence[str]
) -> tuple[Ints, Ints, Floats]:
    """Return the pairs (gt, det), sorted, of outlines that overlap, and the
    areas of their intersections.
    """
    if not gt.remade.any() and not det.remade.any():
        return overlaps.gt, overlaps.det, overlaps.area
    i, j = touching_boxes(gt.shapes.boxes, gt.offsets, det.shapes.boxes, det.offsets, names)
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


def centres(side: Side, lengths: Ints, vertical: Bools) -> tuple[Ints, Floats]:
    """Return the object of each pseudo-character centre, (c,), and the centres, (c, 2).

    Parameters
    ----------
    lengths : (n,) int64
        Number of characters of each object.
    vertical : (n,) bool
        Quadrilaterals that are read from their bottom to their top, not from left to right.
    """
    owner, place = expanded(lengths)
    result = np.empty((len(owner), 2))
    of_polygon = side.is_polygon[owner]
    quads = np.flatnonzero(~side.is_polygon)
    start, stop = np.empty((len(lengths), 2)), np.empty((len(lengths), 2))
    for first in range(0, len(quads), _BLOCK):
        some = quads[first : first + _BLOCK]
        corners = side.corners(side.vertices, some)
        corners = np.where(vertical[some, None, None], np.roll(corners, 1, axis=1), corners)
        start[some] = (corners[:, 0] + corners[:, 3]) / 2
        stop[some] = (corners[:, 1] + corners[:, 2]) / 2
    quad_owner, quad_place = owner[~of_polygon], place[~of_polygon, None]
    step = (stop[quad_owner] - start[quad_owner]) / lengths[quad_owner, None]
    result[~of_polygon] = start[quad_owner] + step / 2 + step * quad_place
    if of_polygon.any():
        result[of_polygon] = _polygon_centres(side, lengths, owner[of_polygon], place[of_polygon])
    return owner, result


def _polygon_centres(side: Side, lengths: Ints, owner: Ints, place: Ints) -> Floats:
    """Centres of the pieces between the upper and the lower chain of a
    polygon's vertices (Algorithm 2).
    """
    first, count, length = side.starts[owner], np.diff(side.starts)[owner], lengths[owner]
    half = count // 2
    sections = np.maximum(half - 1, 0)
    total = np.zeros((len(owner), 2))
    # A piece has four corners: its beginning and its end on the upper chain, and both on the lower
    # one.
    for step, forwards in ((0, True), (1, True), (0, False), (1, False)):
        at = (place + step) * sections
        section, part = at // length, at % length
        is_end = section == sections
        last = np.maximum(half - 1, 0) if forwards else count - half - 1
        index = np.where(is_end, last, section)
        following = np.where(part > 0, section + 1, index)
        if not forwards:
            index, following = count - 1 - index, count - 1 - following
        here, there = side.vertices[first + index], side.vertices[first + following]
        inner = np.trunc(here + (there - here) / length[:, None] * part[:, None])
        total += np.where(part[:, None] > 0, inner, here)
    return total / 4


def inclusions(
    owner: Ints,
    points: Floats,
    gt_offsets: Ints,
    det: Side,
    det_rank: Ints,
    names: Sequence[str],
) -> Inclusions:
    """Find which characters lie in which detections of their image.

    Parameters
    ----------
    owner, points : (c,) int64, (c, 2) float64
        The object of each centre, ascending, and the centres.
    gt_offsets : (images + 1,) int64
    det_rank : (D,) int64
        The detections' order.
    names : sequence of str
        The images' names, for a message.
    """
    objects = int(gt_offsets[-1])
    counts = np.bincount(owner, minlength=objects)
    # `around` takes no empty group.
    with_centres = np.flatnonzero(counts > 0)
    starts = offsets_of(counts)[with_centres]
    margin = np.array([-1.0, -1.0, 1.0, 1.0])
    bounds, boxes = around(points, points, starts) + margin, det.shapes.boxes + margin
    of_image = np.searchsorted(with_centres, gt_offsets)
    i, j = touching_boxes(bounds, of_image, boxes, det.offsets, names)
    del bounds, boxes
    i = with_centres[i]
    order = np.lexsort((det_rank[j], i))
    i, j = i[order], j[order]
    # Every centre with all pairs of its object.
    of_object = np.bincount(i, minlength=objects)
    first, partners = offsets_of(of_object)[owner], of_object[owner]
    times, is_pair = np.zeros(len(owner), np.int64), np.zeros(len(i), dtype=bool)
    including, filled = np.empty(int(partners.sum()), np.int32), 0
    for start, stop in blocks(partners, CENTRES_AT_ONCE):
        centre = np.repeat(np.arange(start, stop), partners[start:stop])
        pair = stretches(first[start:stop], partners[start:stop])
        box = det.shapes.boxes[j[pair]]
        near = ((box[:, :2] <= points[centre]) & (points[centre] <= box[:, 2:])).all(axis=1)
        centre, pair = centre[near], pair[near]
        inside = _inside(points[centre], j[pair], det)
        centre, pair = centre[inside], pair[inside]
        times[start:stop] = np.bincount(centre - start, minlength=stop - start)
        is_pair[pair] = True
        including[filled : filled + len(pair)] = pair
        filled += len(pair)
    number = np.cumsum(is_pair) - 1
    for start in range(0, filled, CENTRES_AT_ONCE):
        some = including[start : min(start + CENTRES_AT_ONCE, filled)]
        some[...] = number[some]
    return Inclusions(offsets_of(times), including[:filled], i[is_pair], j[is_pair])


def _inside(points: Floats, within: Ints, det: Side) -> Bools:
    """(p,) whether each point is inside its detection."""
    result = np.zeros(len(points), dtype=bool)
    of_polygon = det.is_polygon[within]
    quads = np.flatnonzero(~of_polygon)
    x, y = points[quads].T
    corners = det.corners(det.outlines, within[quads])
    odd = np.zeros(len(quads), dtype=bool)
    for k in range(4):
        (x0, y0), (x1, y1) = corners[:, k].T, corners[:, k - 1].T
        # Even-odd rule: a ray to the right crosses this side, or not.
        crossed = (y0 <= y) != (y1 <= y)
        height = np.where(crossed, y1 - y0, 1.0)
        odd ^= crossed & (x < (x1 - x0) * (y - y0) / height + x0)
    result[quads] = odd
    if of_polygon.any():
        rest = np.flatnonzero(of_polygon)
        polygons = shapes.geometries(det.shapes, within[rest])
        result[rest] = geometry.geos.contains_xy(polygons, points[rest, 0], points[rest, 1])
    return result


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
