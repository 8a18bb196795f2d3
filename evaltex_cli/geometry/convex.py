"""Convex rings of vertices: which are, and their offsets.

Rings are columns: vertices (v, 2) in drawing order, either orientation, and offsets (n + 1,).
Vertices may repeat, and may be on the line between their neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaltex_cli.geometry import boxes as box_geometry
from evaltex_cli.geometry import convex_offsets
from evaltex_cli.geometry.convex_offsets import Corners
from evaltex_cli.geometry.double_double import exact_product, exact_sum
from evaltex_cli.geometry.edges import Edges
from evaltex_cli.geometry.rings import dot, following, with_vertices, without_repeats
from evaltex_cli.records import Bools, Floats, Ints, blocks, expanded, offsets_of

_BLOCK = 1 << 15
"""Vertices of rings that are looked at together."""
_LEAST_SHARE = 1e-12
_LEAST = 1e-280
"""Twice the area of the triangle at a corner, as a share of the bounding box and as such, above
which rounding can change neither the way the corner turns nor that the whole has an area."""
_LEAST_PRODUCT = 1e-200
"""Above it, the error of a product is a double too."""


def are_convex(vertices: Floats, offsets: Ints) -> Bools:
    """Whether rings are valid polygons with an area beyond all doubt: all corners turn the same
    way, once around in all.

    Vertices on the line between their neighbours, or at the place of one, are no corners.

    Parameters
    ----------
    vertices : (v, 2) float64
    offsets : (n + 1,) int64

    Returns
    -------
    (n,) bool
        False for some that are convex too, if rounding could decide it.
    """
    result = np.zeros(len(offsets) - 1, dtype=bool)
    with np.errstate(all="ignore"):  # an overflow makes inf or NaN, which is not above the least
        for start, stop in _blocks(offsets):
            some = vertices[offsets[start] : offsets[stop]]
            if len(some) > _BLOCK and _turns_both_ways(some):
                continue
            result[start:stop] = _are_convex(some, offsets[start : stop + 1] - offsets[start])
    return result


def _blocks(offsets: Ints) -> Iterator[tuple[int, int]]:
    """Yield stretches of rings with at most `_BLOCK` vertices, or of one ring."""
    start, rings = 0, len(offsets) - 1
    while start < rings:
        stop = int(np.searchsorted(offsets, offsets[start] + _BLOCK, side="right")) - 1
        yield start, (stop := max(stop, start + 1))
        start = stop


def _turns_both_ways(ring: Floats) -> bool:
    """Whether a ring, looked at in stretches, turns from x to y somewhere and from y to x
    elsewhere.
    """
    signs: set[float] = set()
    for start in range(0, len(ring), _BLOCK):
        # Of each stretch, also the two vertices after it.
        at = np.arange(start, min(start + _BLOCK, len(ring)) + 2) % len(ring)
        steps = np.diff(ring[at], axis=0)
        signs |= set(np.sign(steps[:-1, 0] * steps[1:, 1] - steps[:-1, 1] * steps[1:, 0]).tolist())
    return {-1.0, 1.0} <= signs


def _are_convex(vertices: Floats, offsets: Ints) -> Bools:
    vertices, offsets = without_repeats(vertices, offsets)
    result = np.diff(offsets) >= 3
    # From here on only rings with three vertices or more.
    vertices, offsets = _chosen(vertices, offsets, result)
    if not len(vertices):
        return result
    starts = offsets[:-1]
    steps, next_steps, turn = _turns(vertices, offsets)
    box = box_geometry.around(vertices, vertices, starts)
    least = np.maximum(_LEAST_SHARE * box_geometry.area(box), _LEAST)
    straight = turn == 0
    corner = np.where(straight, np.repeat(np.inf, len(turn)), turn)
    left = np.minimum.reduceat(corner, starts) > least
    corner[straight] = -np.inf
    right = np.maximum.reduceat(corner, starts) < -least
    # Sides lead upwards in one stretch, if the ring goes around once.
    upwards = (steps[:, 1] > 0) | ((steps[:, 1] == 0) & (steps[:, 0] > 0))
    next_upwards = (next_steps[:, 1] > 0) | ((next_steps[:, 1] == 0) & (next_steps[:, 0] > 0))
    once = np.add.reduceat(upwards < next_upwards, starts, dtype=np.int64) == 1
    convex = (left | right) & once
    if straight.any():
        at = np.flatnonzero(straight)
        doubtful = at[~_on_a_line(vertices, offsets, at, steps[at], next_steps[at])]
        convex[np.searchsorted(offsets, doubtful, side="right") - 1] = False
    result[result] = convex
    return result


def _on_a_line(vertices: Floats, offsets: Ints, at: Ints, step: Floats, then: Floats) -> Bools:
    """(m,) whether the steps from some vertices to the next and from there to the one after it
    lead the same way, as exact arithmetic finds it.
    """
    second = following(np.arange(len(vertices)), offsets)
    exact = np.ones(len(at), dtype=bool)
    for start, stop in ((at, second[at]), (second[at], second[second[at]])):
        _, error = exact_sum(vertices[stop], -vertices[start])
        exact &= (error == 0).all(axis=1)
    products = []
    for a, b in ((step[:, 0], then[:, 1]), (step[:, 1], then[:, 0])):
        product, error = exact_product(a, b)
        exact &= (np.abs(product) > _LEAST_PRODUCT) | (a == 0) | (b == 0)
        products.append((product, error))
    (one, one_error), (other, other_error) = products
    onwards = dot(step, then) > 0
    return np.asarray(exact & onwards & (one == other) & (one_error == other_error))


def _turns(vertices: Floats, offsets: Ints) -> tuple[Floats, Floats, Floats]:
    """Return the steps from each vertex to the next, (v, 2), and from there to the one after it;
    and their cross product, (v,): above 0, if they turn from x to y.
    """
    steps = following(vertices, offsets) - vertices
    then = following(steps, offsets)
    return steps, then, steps[:, 0] * then[:, 1] - steps[:, 1] * then[:, 0]


def _chosen(vertices: Floats, offsets: Ints, which: Bools) -> tuple[Floats, Ints]:
    """Return some of the rings."""
    if which.all():
        return vertices, offsets
    counts = np.diff(offsets)
    return vertices[np.repeat(which, counts)], offsets_of(counts[which])


def offset(vertices: Floats, offsets: Ints, margin: Floats) -> tuple[Floats, Ints]:
    """Move the sides of convex rings outwards (margin > 0) or inwards (margin < 0).

    Parameters
    ----------
    vertices : (v, 2) float64
    offsets : (n + 1,) int64
        Rings as `are_convex` finds them.
    margin : (n,) float64
        How far, in pixels.

    Returns
    -------
    (w, 2) float64, (n + 1,) int64
        Rings, of corners only, as mitred buffers are. A corner that would move outwards by more
        than `convex_offsets.MITRE_LIMIT` margins is cut off there, across. Sides that a margin
        consumes are left out; a ring of which nothing remains has no vertices.
    """
    return convex_offsets.moved(corners(vertices, offsets), margin)


def are_apart(a: Edges, i: Ints, b: Edges, j: Ints) -> Bools:
    """(p,) whether rings ``a[i[k]]`` and ``b[j[k]]`` of `corners` have no point in common: all
    vertices of one are beyond a side of the other.

    Exact for whole numbers of up to 24 bits.
    """
    result = np.zeros(len(i), dtype=bool)
    sizes = np.diff(a.offsets)[i] * np.diff(b.offsets)[j]
    for start, stop in blocks(sizes, _BLOCK):
        some = slice(start, stop)
        result[some] = _beyond(a, i[some], b, j[some]) | _beyond(b, j[some], a, i[some])
    return result


def _beyond(a: Edges, i: Ints, b: Edges, j: Ints) -> Bools:
    """Whether all of b is beyond one of the sides of a."""
    pair, place = expanded(np.diff(a.offsets)[i])
    x0, y0, x1, y1 = a.ends.take(a.offsets[i[pair]] + place, axis=1)
    side, place = expanded(np.diff(b.offsets)[j[pair]])
    x, y = b.ends[:2].take(b.offsets[j[pair[side]]] + place, axis=1)
    turn = (x1 - x0)[side] * (y - y0[side]) - (y1 - y0)[side] * (x - x0[side])
    inside = np.bincount(side, weights=turn >= 0, minlength=len(pair))
    beyond: Bools = np.bincount(pair, weights=inside == 0, minlength=len(i)) > 0
    return beyond


def inner_points(rings: Edges, middle: Floats) -> Floats:
    """(n, 2) points inside rings of `corners`, as GEOS chooses them: amid the line half way between
    the vertices above and below the middle of the bounding box, of y (n,).
    """
    owner, _ = expanded(np.diff(rings.offsets))
    starts, (x0, y0, x1, y1) = rings.offsets[:-1], rings.ends
    if not len(starts):
        return np.zeros((0, 2))
    is_low = y0 <= middle[owner]
    low = np.maximum.reduceat(np.where(is_low, y0, -np.inf), starts)
    high = np.minimum.reduceat(np.where(is_low, np.inf, y0), starts)
    y = (high + low) / 2
    cut = np.flatnonzero((y0 < y[owner]) != (y1 < y[owner]))
    x0, y0, x1, y1, owner = x0[cut], y0[cut], x1[cut], y1[cut], owner[cut]
    # GEOS draws hulls from y to x, and rounds as seen from where a side begins.
    run = x0 - x1
    slope = np.divide(y0 - y1, run, out=np.full(len(cut), np.inf), where=run != 0)
    x = x1 + (y[owner] - y1) / slope
    return np.stack([np.bincount(owner, weights=x, minlength=len(y)) / 2, y], axis=1)


def corners(vertices: Floats, offsets: Ints) -> Corners:
    """Return convex rings by their corners alone, all turning from x to y."""
    vertices, offsets = without_repeats(vertices, offsets)
    turn = _turns(vertices, offsets)[2]
    turns = turn != 0
    # Any corner of a ring says which way all of them turn.
    backwards = turn[turns][offsets_of(turns)[offsets[:-1]]] < 0
    # A turn is at the end of a step, and the vertex there is the next one.
    stays = np.empty(len(vertices), dtype=bool)
    stays[following(np.arange(len(vertices)), offsets)] = turns
    vertices, offsets = with_vertices(vertices, offsets, stays)
    if backwards.any():
        # Row r of a ring of rows s to e becomes row s + e - r.
        rows = np.arange(len(vertices))
        ends = np.repeat(offsets[:-1] + offsets[1:] - 1, np.diff(offsets))
        turned = np.repeat(backwards, np.diff(offsets))
        vertices = vertices[np.where(turned, ends - rows, rows)]
    return Corners(vertices, offsets, box_geometry.around(vertices, vertices, offsets[:-1]))
