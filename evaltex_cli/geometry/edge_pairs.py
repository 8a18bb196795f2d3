"""Areas of the intersections of pairs of polygons, from the pairs of their edges.

A polygon is the signed sum of the regions above its edges. So the area of the intersection of two
is the sum, over all pairs of an edge p of one and an edge q of the other, of ± the integral of
min(p(x), q(x)) over the x that both have: a trapezium under the lower ends, less a triangle where
the edges cross. Holes and several parts need no special case. The error is a few units in the last
place of the smaller area.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evaltex_cli.records import Floats, Ints, chunks

EDGE_PAIRS_AT_ONCE = 1 << 16
"""Polygons of more pairs of edges are left to GEOS, whose work does not grow with these."""

_TINY = 1e-200
"""Edges that have less than this of x in common share no area, and their slopes may overflow."""


class Edges(NamedTuple):
    """The directed edges of n shapes; shape k owns rows ``offsets[k]:offsets[k + 1]``."""

    start: Floats
    stop: Floats
    """`start` and `stop`: (e, 2) float64. The ends of each edge."""
    offsets: Ints
    """(n + 1,) int64."""


def intersection_area(a: Edges, i: Ints, b: Edges, j: Ints, origin: Floats) -> Floats:
    """(p,) areas of the intersections of the shapes ``a[i[k]]`` and ``b[j[k]]``.

    `origin`, (p, 2), is a point near each pair, for coordinates far from zero.
    """
    a_counts, b_counts = np.diff(a.offsets)[i], np.diff(b.offsets)[j]
    result = np.zeros(len(i))
    for start, stop in chunks(a_counts * b_counts, EDGE_PAIRS_AT_ONCE):
        rows, columns = a_counts[start:stop], b_counts[start:stop]
        counts = rows * columns
        pair = np.repeat(np.arange(len(counts)), counts)
        place = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts)
        p, q = np.divmod(place, columns[pair])
        p += a.offsets[i[start:stop]][pair]
        q += b.offsets[j[start:stop]][pair]
        # Most edges of a pair have no x in common.
        ends = a.start[p, 0], a.stop[p, 0], b.start[q, 0], b.stop[q, 0]
        low = np.maximum(np.minimum(*ends[:2]), np.minimum(*ends[2:]))
        high = np.minimum(np.maximum(*ends[:2]), np.maximum(*ends[2:]))
        some = np.flatnonzero(high - low > _TINY)
        pair, p, q = pair[some], p[some], q[some]
        near = origin[start:stop][pair]
        sides = (side - near for side in (a.start[p], a.stop[p], b.start[q], b.stop[q]))
        terms = _twice_integrals(*sides)
        result[start:stop] = np.abs(np.bincount(pair, terms, len(counts))) / 2
    return result


def _twice_integrals(p0: Floats, p1: Floats, q0: Floats, q1: Floats) -> Floats:
    """Twice the integral of the lower of each two edges over the x of both, signed by direction."""
    sign = np.sign(p1[:, 0] - p0[:, 0]) * np.sign(q1[:, 0] - q0[:, 0])
    left = np.maximum(np.minimum(p0[:, 0], p1[:, 0]), np.minimum(q0[:, 0], q1[:, 0]))
    right = np.minimum(np.maximum(p0[:, 0], p1[:, 0]), np.maximum(q0[:, 0], q1[:, 0]))
    (p_left, p_right), (q_left, q_right) = (
        [v[:, 1] + slope * (x - v[:, 0]) for x in (left, right)]
        for v, slope in ((p0, _slope(p0, p1)), (q0, _slope(q0, q1)))
    )
    lower = np.minimum(p_left, q_left) + np.minimum(p_right, q_right)
    start, stop = p_left - q_left, p_right - q_right
    cross = start * stop < 0
    lower[cross] -= (start * stop)[cross] / (np.abs(start) + np.abs(stop))[cross]
    return np.asarray(sign * lower * (right - left))


def _slope(start: Floats, stop: Floats) -> Floats:
    return np.asarray((stop[:, 1] - start[:, 1]) / (stop[:, 0] - start[:, 0]))
