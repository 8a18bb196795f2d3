"""Outlines of TedEval: corners in reading order, pseudo character centres,
and points that a detection contains.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.geometry import rings, shapes
from evaltex_cli.protocols.ratios import quotient
from evaltex_cli.records import (
    Bools,
    Floats,
    Geometries,
    Ints,
    Objects,
    blocks,
    distinct,
    expanded,
    offsets_of,
    stretches,
)

_BLOCK = 1 << 15
"""Pairs of a point and an edge that are looked at at once."""
_FAR = 2.0**16
"""Sums of products of three whole numbers that are no larger are exact, of some tens of them."""
VERTICAL = 1.5
"""A word whose bounding box is more than this many times as high as wide is
read from top to bottom.
"""


class Outlines(NamedTuple):
    """Vertices of one side's objects, cut to integers, and what follows from them."""

    points: Floats
    offsets: Ints
    """`points` and `offsets`: (v, 2) float64, (n + 1,) int64. Object i's vertices are
    ``points[offsets[i]:offsets[i + 1]]``."""
    corners: Floats
    """(n, 4, 2). Both ends of the upper side in reading direction, then of the lower side against
    it."""

    def starts_of_line(self, which: Ints) -> Floats:
        """(m, 2) middles of the sides of some where reading begins."""
        return np.asarray((self.corners[which, 0] + self.corners[which, 3]) / 2)

    def diagonals(self, which: Ints) -> Floats:
        """(m,) means of both diagonals of some."""
        corners = self.corners[which]
        return np.asarray(length(corners[:, :2] - corners[:, 2:]).mean(axis=1))

    def centres(self, which: Ints) -> Floats:
        """(m, 2) centroids of some; NaN without area."""
        counts, result = np.diff(self.offsets)[which], np.full((len(which), 2), np.nan)
        for start, stop in blocks(counts, _BLOCK):
            own = counts[start:stop]
            points = self.points[stretches(self.offsets[which[start:stop]], own)]
            _centroids(points, offsets_of(own), result[start:stop])
        return result


def outlines_of(objects: Objects) -> Outlines:
    """Cut the vertices of objects to integers, and find their corners."""
    points, offsets = rings.of(objects.outlines, truncated=True)
    first, count = offsets[:-1], np.diff(offsets)
    if (count == 4).all():
        corners = points.reshape(-1, 4, 2)
    else:
        top_end = np.maximum(count // 2, 1) - 1
        bottom = first + np.minimum(top_end + 1, count - 1)
        corners = points[np.stack([first, first + top_end, bottom, offsets[1:] - 1], axis=1)]
    return Outlines(points, offsets, corners)


def _centroids(points: Floats, offsets: Ints, centre: Floats) -> None:
    """Fill in the centroids of some outlines that have an area; of those far from the origin as
    seen from their first vertices, as products of their coordinates have too many digits.
    """
    first = offsets[:-1]
    origin = np.where(np.abs(points[first]).max(axis=1, keepdims=True) > _FAR, points[first], 0.0)
    if origin.any():
        points = points - np.repeat(origin, np.diff(offsets), axis=0)
    following = points[_following(offsets)]
    cross = points[:, 0] * following[:, 1] - following[:, 0] * points[:, 1]
    area = np.add.reduceat(cross, first)
    for k in (0, 1):
        moment = points[:, k] + following[:, k]
        moment *= cross
        sums = np.add.reduceat(moment, first)
        np.divide(sums, 3 * area, out=centre[:, k], where=area != 0)
    centre += origin


def _following(offsets: Ints) -> Ints:
    """(v,) index of the vertex that comes next in its ring."""
    result = np.arange(1, offsets[-1] + 1)
    result[offsets[1:] - 1] = offsets[:-1]  # after the last vertex comes the first
    return result


def pseudo_centres(outlines: Outlines, characters: Ints, objects: Ints) -> tuple[Ints, Floats]:
    """Return the pseudo character centres of some objects, (c, 2), and which of these each is of,
    (c,).

    Parameters
    ----------
    characters : (n,) int64
        How many each of all objects has.
    objects : (m,) int64
    """
    corners, offsets, characters = outlines.corners[objects], outlines.offsets, characters[objects]
    count = np.diff(offsets)[objects]
    start, stop = (corners[:, 0] + corners[:, 3]) / 2, (corners[:, 1] + corners[:, 2]) / 2
    downwards = np.flatnonzero((count == 4) & _are_tall(corners))
    turned = corners[downwards]
    start[downwards] = (turned[:, 3] + turned[:, 2]) / 2
    stop[downwards] = (turned[:, 0] + turned[:, 1]) / 2
    step = stop - start
    step /= np.maximum(characters, 1)[:, None]
    owner, k = expanded(characters)
    result = start[owner] + step[owner] / 2
    result += step[owner] * k[:, None]
    first = np.cumsum(characters) - characters
    curved = np.flatnonzero((count != 4) & (characters > 0))
    for vertices in distinct(count[curved]).tolist():
        # Polygons of as many vertices at once.
        i = curved[count[curved] == vertices]
        polygon, k = expanded(characters[i])
        shares = (k + 0.5) / characters[i][polygon]
        loops = outlines.points[offsets[objects[i], None] + np.arange(vertices)]
        top, bottom = (rings.along_each(chain, polygon, shares) for chain in rings.chains(loops))
        result[first[i][polygon] + k] = (top + bottom) / 2
    return owner, result


def _are_tall(corners: Floats) -> Bools:
    """(n,) whether bounding boxes of (n, 4, 2) corners are read from top to bottom."""
    width, height = (corners.max(axis=1) - corners.min(axis=1)).T
    return np.asarray(quotient(height, width) > VERTICAL)


class Edges(NamedTuple):
    """The edges of some objects."""

    starts: Floats
    ends: Floats
    """`starts` and `ends`: (e, 2) float64."""
    offsets: Ints
    """(n + 1,) int64. Object i's are ``offsets[i]:offsets[i + 1]``."""


def edges(outlines: Outlines, cut: Geometries, which: Ints) -> Edges:
    """Return the edges of some detections; of what remains where cut."""
    counts, cut = np.diff(outlines.offsets)[which], cut[which]
    offsets = offsets_of(counts)
    starts = outlines.points[stretches(outlines.offsets[which], counts)]
    ends = starts[_following(offsets)]
    is_cut = shapes.has_geometry(cut)
    if not is_cut.any():
        return Edges(starts, ends, offsets)
    owner = np.repeat(np.arange(len(cut)), counts)
    parts, part_owner = geometry.shapely.get_parts(cut[is_cut], return_index=True)
    loops, loop_owner = geometry.shapely.get_rings(parts, return_index=True)
    points, loop = geometry.shapely.get_coordinates(loops, return_index=True)
    same = loop[1:] == loop[:-1]
    whole = ~is_cut[owner]
    cut_owner = np.flatnonzero(is_cut)[part_owner[loop_owner[loop[1:][same]]]]
    owner = np.concatenate([owner[whole], cut_owner])
    order = np.argsort(owner, kind="stable")
    starts = np.concatenate([starts[whole], points[:-1][same]])[order]
    ends = np.concatenate([ends[whole], points[1:][same]])[order]
    return Edges(starts, ends, np.searchsorted(owner[order], np.arange(len(cut) + 1)))


def contains(edges: Edges, det: Ints, points: Floats) -> Bools:
    """(n,) whether detection ``det[k]`` contains ``points[k]``, which it does
    on its left and top edges.
    """
    counts = np.diff(edges.offsets)[det]
    until = np.cumsum(counts)
    crossings = np.zeros(len(det), np.int64)
    for start in range(0, int(counts.sum()), _BLOCK):
        # Every point with every edge of its detection: rows that are numbered through.
        row = np.arange(start, min(start + _BLOCK, until[-1]))
        point = np.searchsorted(until, row, side="right")
        edge = edges.offsets[det[point]] + row - (until - counts)[point]
        y = points[point, 1]
        spans = (edges.starts[edge, 1] <= y) != (edges.ends[edge, 1] <= y)
        (x0, y0), (x1, y1) = edges.starts[edge[spans]].T, edges.ends[edge[spans]].T
        x, y = points[point[spans]].T
        crossed = point[spans][x < (x0 - x1) * (y - y1) / (y0 - y1) + x1]
        some = slice(point[0], point[-1] + 1)
        crossings[some] += np.bincount(crossed - point[0], minlength=point[-1] + 1 - point[0])
    return np.asarray(crossings % 2 == 1)


def members(objects: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Expand each of `objects` to its members, of which all objects have
    `counts`: place in `objects`, and member.
    """
    place, k = expanded(counts[objects])
    return place, (np.cumsum(counts) - counts)[objects[place]] + k


def length(vectors: Floats) -> Floats:
    """(...) lengths of vectors (..., 2)."""
    return np.asarray(np.sqrt(vectors[..., 0] ** 2 + vectors[..., 1] ** 2))
