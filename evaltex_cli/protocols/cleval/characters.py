"""Pseudo-characters of CLEval: their centres (Eq. 1, Algorithm 2), and which detections have them.

Of a quadrilateral, containment takes its vertices cut to integers, and a centre on its left or top
edge is inside, one on its right or bottom edge is not. A polygon is taken as it is, and a centre on
its edge is outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, starmap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli import geometry
from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.boxes import around
from evaltex_cli.geometry.overlaps import touching_boxes
from evaltex_cli.protocols.cleval.shapes import Side
from evaltex_cli.records import Bools, Floats, Ints, blocks, expanded, offsets_of, stretches

CENTRES_AT_ONCE = 1 << 15
"""Pairs of a character centre and a detection that are looked at at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Inclusions:
    """Which characters lie in which detections, and the pairs of objects and detections that
    follow.
    """

    starts: Ints
    """(G + 1,) int64. Object i has the characters ``starts[i]:starts[i + 1]``; none if it is near
    no detection."""
    times: NDArray[Any]
    """(c,) of the narrowest type. How many detections include each character."""
    offsets: Ints
    pair: NDArray[np.int32]
    """`offsets` and `pair`: (G + 1,) int64, (k,) int32. The pair of each inclusion, ascending for
    each character; those of object i are ``pair[offsets[i]:offsets[i + 1]]``."""
    pair_gt: Ints
    pair_det: Ints
    """`pair_gt` and `pair_det`: (p,) int64. Pairs that share a character, sorted by object and the
    detections' order."""
    ends: list[tuple[int, int]]
    """How many characters and inclusions there are until the ends of the stretches that are looked
    at at once, from (0, 0)."""

    def characters(
        self, start: tuple[int, int], stop: tuple[int, int], chosen: Bools
    ) -> tuple[Ints, Ints]:
        """Return the inclusions of chosen pairs in a stretch, from a character and inclusion to
        others: character, counted from the first, and pair.
        """
        pair = self.pair[start[1] : stop[1]].astype(np.int64)
        times = self.times[start[0] : stop[0]]
        centre = np.repeat(np.arange(len(times)), times)
        is_chosen = chosen[pair]
        return centre[is_chosen], pair[is_chosen]

    def characters_of(self, gt: int, chosen: Bools) -> tuple[Ints, Ints]:
        """Return those of an object."""
        start, stop = ((int(self.starts[k]), int(self.offsets[k])) for k in (gt, gt + 1))
        return self.characters(start, stop, chosen)


class Characters(NamedTuple):
    """The pseudo-characters of one side's objects."""

    side: Side
    lengths: Ints
    """(n,) int64. Number of characters of each object."""
    vertical: Bools
    """(n,) bool. Quadrilaterals that are read from their bottom to their top, not from left to
    right."""

    def centres(self, owner: Ints, place: Ints) -> Floats:
        """(c, 2) centres of characters: of these objects, ascending, at these places in them."""
        side, lengths, result = self.side, self.lengths[owner], np.empty((len(owner), 2))
        of_polygon = side.is_polygon[owner]
        of_quad = ~of_polygon
        is_first = np.diff(owner[of_quad], prepend=-1) > 0
        quads, which = owner[of_quad][is_first], np.cumsum(is_first) - 1
        corners = side.corners(side.vertices, quads)
        is_vertical = self.vertical[quads, None, None]
        corners = np.where(is_vertical, np.roll(corners, 1, axis=1), corners)
        start, stop = (corners[:, 0] + corners[:, 3]) / 2, (corners[:, 1] + corners[:, 2]) / 2
        step = (stop - start)[which] / lengths[of_quad, None]
        result[of_quad] = start[which] + step / 2 + step * place[of_quad, None]
        if of_polygon.any():
            of_these = lengths[of_polygon], owner[of_polygon], place[of_polygon]
            result[of_polygon] = _polygon_centres(side, *of_these)
        return result

    def around(self) -> Floats:
        """(m, 4) boxes around the centres of each object that has any; of a quadrilateral, around
        the first and the last, between which the others are.
        """
        is_polygon = self.side.is_polygon
        counts = np.where(is_polygon, self.lengths, np.minimum(self.lengths, 2))
        boxes = [np.zeros((0, 4))]
        for start, stop in blocks(counts, CENTRES_AT_ONCE):
            owner, place = expanded(counts[start:stop])
            owner += start
            is_last = (place == 1) & ~is_polygon[owner]
            points = self.centres(owner, np.where(is_last, self.lengths[owner] - 1, place))
            boxes.append(around(points, points, np.flatnonzero(place == 0)))
        return np.concatenate(boxes)


def _polygon_centres(side: Side, length: Ints, owner: Ints, place: Ints) -> Floats:
    """Centres of the pieces between the upper and the lower chain of a
    polygon's vertices (Algorithm 2).
    """
    first, count = side.starts[owner], np.diff(side.starts)[owner]
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


def inclusions(characters: Characters, det: Side, det_rank: Ints) -> Inclusions:
    """Find which characters lie in which detections of their image.

    Parameters
    ----------
    characters : Characters
        Of the ground truth.
    det_rank : (D,) int64
        The detections' order.
    """
    gt, lengths = characters.side, characters.lengths
    objects, with_centres = len(lengths), np.flatnonzero(lengths > 0)
    margin = np.array([-1.0, -1.0, 1.0, 1.0])
    bounds, boxes = characters.around() + margin, det.shapes.boxes + margin
    of_image = np.searchsorted(with_centres, gt.offsets)
    i, j = touching_boxes(bounds, of_image, boxes, det.offsets)
    del bounds, boxes
    i = with_centres[i]
    order = np.lexsort((det_rank[j], i))
    i, j = i[order], j[order]
    partners = np.bincount(i, minlength=objects)
    first, lengths = offsets_of(partners), np.where(partners > 0, lengths, 0)
    times = np.zeros(int(lengths.sum()), np.min_scalar_type(int(partners.max(initial=0))))
    of_object, is_pair = np.zeros(objects, np.int64), np.zeros(len(i), dtype=bool)
    including, done, filled = np.empty(int(lengths @ partners), np.int32), 0, 0
    ends = [(done, filled)]
    for start, stop in blocks(lengths * partners, CENTRES_AT_ONCE):
        owners, places = expanded(lengths[start:stop])
        owners += start
        for some in starmap(slice, blocks(partners[owners], CENTRES_AT_ONCE)):
            # Every centre with all pairs of its object.
            owner, points = owners[some], characters.centres(owners[some], places[some])
            centre = np.repeat(np.arange(len(owner)), partners[owner])
            pair = stretches(first[owner], partners[owner])
            box = det.shapes.boxes[j[pair]]
            near = ((box[:, :2] <= points[centre]) & (points[centre] <= box[:, 2:])).all(axis=1)
            centre, pair = centre[near], pair[near]
            inside = _inside(points[centre], j[pair], det)
            centre, pair = centre[inside], pair[inside]
            times[done : done + len(owner)] = np.bincount(centre, minlength=len(owner))
            of_object[start:stop] += np.bincount(owner[centre] - start, minlength=stop - start)
            is_pair[pair] = True
            including[filled : filled + len(pair)] = pair
            done, filled = done + len(owner), filled + len(pair)
            ends.append((done, filled))
    number = np.cumsum(is_pair) - 1
    for (_, start), (_, stop) in pairwise(ends):
        including[start:stop] = number[including[start:stop]]
    return Inclusions(
        offsets_of(lengths),
        times,
        offsets_of(of_object),
        including[:filled],
        i[is_pair],
        j[is_pair],
        ends,
    )


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
