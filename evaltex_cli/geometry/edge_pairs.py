"""Areas of the intersections of polygons, from the pairs of their edges.

A shape is the sum of the regions below its edges, each taken as positive or negative by the
direction of the edge. So the area of the intersection of two shapes is the sum, over all pairs of
an edge p and an edge q, of

    ± the integral of min(p(x), q(x)) over the x that both edges have,

which is the trapezium of the smaller ends, and where the edges cross a triangle more. Nothing is
sorted, and coincident edges, common vertices and touching corners are cases like all others: a
sum of continuous functions has no special cases. What rounding does is bounded by the sum of the
widths times the extent; pairs for which this is not far below the area are summed again in 32
digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import fsum, prod
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.geometry.double_double import DoubleDouble
from evaltex_cli.geometry.edges import Edges, taken
from evaltex_cli.records import Bools, Floats, Ints, blocks, stretches

EXACT = 5e-13
"""Greatest error of an area, as a share of it; where it may be larger, 32 digits are used."""
WHOLE = 4 * EXACT
"""An intersection that is the smaller shape but for this share of it is that shape."""
_ROUNDING = 2.0**-49
"""Bound of the error of an integral, as a share of its width times the extent: 8 roundings."""
_LEAST_WIDTH = 1e-150
"""An edge that is no wider is vertical."""
_MOST_EXACT = 1 << 20
"""Most pairs of edges of two shapes that are summed in 32 digits, which takes seconds."""
_MANY = 1 << 16
"""More pairs of edges of two shapes than this are not all looked at."""
_BLOCK = 1 << 16
"""Pairs of edges that are looked at at once; a pair takes up to 300 bytes on the way."""
_COST = 1 << 12
"""To look at so many pairs of edges that are not there takes as long as another block does."""


class PolygonPairs(NamedTuple):
    """Pairs of the shapes ``a[i[k]]`` and ``b[j[k]]``.

    Attributes
    ----------
    a, b : Edges
    i, j : (p,) int64
    origin : (p, 2) float64
        A point near both shapes, best at the upper left of their intersection.
    negligible : (p,) float64
        Areas that are of no interest: these and smaller ones may be less exact.
    """

    a: Edges
    i: Ints
    b: Edges
    j: Ints
    origin: Floats
    negligible: Floats

    def some(self, which: Ints) -> PolygonPairs:
        """Return some of the pairs."""
        a, i, b, j, origin, negligible = self
        return PolygonPairs(a, i[which], b, j[which], origin[which], negligible[which])


def intersection_area(pairs: PolygonPairs) -> Floats:
    """(p,) areas of the intersections of pairs.

    Each depends on its own two shapes only, and its error is below `EXACT` of it, unless more than
    a million of the edges of the two have some x in common.
    """
    result, is_doubtful = np.zeros(len(pairs.i)), np.zeros(len(pairs.i), dtype=bool)
    for some, sizes in _blocks(pairs):
        result[some], is_doubtful[some] = _areas(_turned(pairs.some(some), sizes), sizes)
    # All of them together, as they are few in each block.
    doubtful = np.flatnonzero(is_doubtful)
    for some, sizes in _blocks(pairs.some(doubtful)):
        turned = _turned(pairs.some(doubtful[some]), sizes)
        result[doubtful[some]] = _exact_areas(turned, sizes)
    return result


def least_work(a: Edges, i: Ints, b: Edges, j: Ints) -> Iterator[int]:
    """Yield, for each pair, how many pairs of edges are looked at, or how many edges if these are
    more.
    """
    edges = (np.diff(a.offsets)[i] + np.diff(b.offsets)[j]).tolist()
    for one, other, count in zip(i.tolist(), j.tolist(), edges, strict=True):
        yield max(count, min(_common(a, one, b, other, axis) for axis in (0, 1)))


def _common(a: Edges, one: int, b: Edges, other: int, axis: int) -> int:
    """How many pairs of edges of a shape of a and one of b have some x, or y, in common."""
    starts, stops = [], []
    for table, row in ((a, one), (b, other)):
        ends = table.ends[axis::2, table.offsets[row] : table.offsets[row + 1]]
        low, high = ends.min(axis=0), ends.max(axis=0)
        wide = high - low > _LEAST_WIDTH
        starts.append(np.sort(low[wide]))
        stops.append(np.sort(high[wide]))
    # All but those of which one ends before the other begins.
    apart = sum(int(np.searchsorted(stops[k], starts[1 - k], side="right").sum()) for k in (0, 1))
    return len(starts[0]) * len(starts[1]) - apart


def _turned(pairs: PolygonPairs, sizes: tuple[int, int]) -> PolygonPairs:
    """One pair of many edges with x and y exchanged, if many have some x in common, and at most
    half as many some y; others as they are.
    """
    if sizes[0] * sizes[1] <= _MOST_EXACT:
        return pairs
    a, i, b, j, origin, negligible = pairs
    along_x = _common(a, int(i[0]), b, int(j[0]), 0)
    if along_x <= _MOST_EXACT or along_x < 2 * _common(a, int(i[0]), b, int(j[0]), 1):
        return pairs
    one, other = (_exchanged(*side) for side in ((a, i), (b, j)))
    zero = np.zeros(1, np.int64)
    return PolygonPairs(one, zero, other, zero, origin[:, ::-1], negligible)


def _exchanged(edges: Edges, row: Ints) -> Edges:
    """One shape, with x and y exchanged."""
    ends, offsets = taken(edges, row)
    return Edges(ends[[1, 0, 3, 2]], offsets)


def _blocks(pairs: PolygonPairs) -> Iterator[tuple[Ints, tuple[int, int]]]:
    """Yield pairs to be measured together, and how many edges their shapes have at most."""
    counts = np.diff(pairs.a.offsets)[pairs.i], np.diff(pairs.b.offsets)[pairs.j]
    for chosen, sizes in _classes(*counts):
        step = max(_BLOCK // (sizes[0] * sizes[1]), 1)
        for start in range(0, len(chosen), step):
            yield chosen[start : start + step], sizes


def _classes(a: Ints, b: Ints) -> Iterator[tuple[Ints, tuple[int, int]]]:
    """Yield pairs whose shapes have at most so many edges, and not many fewer unless these pairs
    are few.
    """
    drawn = np.flatnonzero((a > 0) & (b > 0))
    sizes = (_rounded_up(side[drawn]) for side in (a, b))
    rank = next(sizes) << 32 | next(sizes)
    order = np.argsort(rank, kind="stable")
    first = np.flatnonzero(np.diff(rank[order], prepend=-1))
    begin, largest = 0, (0, 0)
    for start, stop in pairwise([*first.tolist(), len(order)]):
        size = divmod(int(rank[order[start]]), 1 << 32)
        both = max(size[0], largest[0]), max(size[1], largest[1])
        apart = (start - begin) * prod(largest) + (stop - start) * prod(size)
        if start and (stop - begin) * prod(both) > min(apart + _COST, _BLOCK):
            yield drawn[order[begin:start]], largest
            begin, both = start, size
        largest = both
    if len(order):
        yield drawn[order[begin:]], largest


def _rounded_up(count: Ints) -> Ints:
    """Counts rounded up to few different ones: by at most 1 or a quarter."""
    step = np.maximum(1 << np.maximum(np.frexp(count)[1] - 3, 0), 2)
    return np.asarray(-(-count // step) * step)


class _Side(NamedTuple):
    """Edges of one side of n pairs, (size * n,): edge k of pair m is at ``k * n + m``."""

    left: Floats
    right: Floats
    y: Floats
    slope: Floats
    """`left`, `right`, `y` and `slope`: an edge leads from (left, y) to right, coordinates being
    those from the pair's origin. Edges that are not there, and vertical ones, end at minus
    infinity."""
    sign: np.ndarray[Any, np.dtype[np.int8]]
    """int8. 1 if it is drawn from left to right, else -1."""
    extent: Floats
    """(n,) the largest coordinate y of each pair."""


def _sides(pairs: PolygonPairs, sizes: tuple[int, int]) -> tuple[_Side, _Side]:
    a, i, b, j, origin, _ = pairs
    if sizes[0] * sizes[1] > _MANY:  # one pair, without room for more edges than it has
        one, other = np.diff(a.offsets)[i], np.diff(b.offsets)[j]
        sizes = int(one[0]), int(other[0])
    return _side(a, i, sizes[0], origin), _side(b, j, sizes[1], origin)


def _side(edges: Edges, index: Ints, size: int, origin: Floats) -> _Side:
    place, first = np.arange(size)[:, None], edges.offsets[index]
    is_there = place < edges.offsets[index + 1] - first
    edge = first + np.where(is_there, place, 0)
    x0, y0, x1, y1 = (row.take(edge) - origin[:, k % 2] for k, row in enumerate(edges.ends))
    width, back = x1 - x0, x1 < x0
    is_there &= np.abs(width) > _LEAST_WIDTH
    slope = np.divide(y1 - y0, width, out=np.zeros_like(width), where=is_there)
    right = np.where(is_there, np.maximum(x0, x1), -np.inf)
    extent = np.maximum(np.abs(y0).max(axis=0), np.abs(y1).max(axis=0))
    left, y, sign = np.minimum(x0, x1), np.where(back, y1, y0), 1 - 2 * back.astype(np.int8)
    return _Side(left.ravel(), right.ravel(), y.ravel(), slope.ravel(), sign.ravel(), extent)


def _areas(pairs: PolygonPairs, sizes: tuple[int, int]) -> tuple[Floats, Bools]:
    """Areas of pairs whose shapes have at most so many edges, and which may be too inexact."""
    count = len(pairs.i)
    a, b = _sides(pairs, sizes)
    total, widths, met = np.zeros(count), np.zeros(count), 0
    for p, q in _meetings(a, b, count, sizes):
        term, width = _terms(a, p, b, q)
        total += _sums(p, term, count, sizes)
        widths += np.bincount(p % count, weights=width, minlength=count)
        met += len(p)
    area = np.abs(total) / 2
    error = _ROUNDING * widths * np.maximum(a.extent, b.extent)
    doubtful = (error > EXACT * area) & (area + error > pairs.negligible)
    return area, doubtful & (met <= max(_MOST_EXACT, _MANY))


def _exact_areas(pairs: PolygonPairs, sizes: tuple[int, int]) -> Floats:
    """The same in 32 digits."""
    count = len(pairs.i)
    a, b = _sides(pairs, sizes)
    parts: list[list[float]] = [[] for _ in range(count)]
    for met in _meetings(a, b, count, sizes):
        p, q = (side[np.argsort(met[0] % count, kind="stable")] for side in met)
        pair = p % count
        a_edge, b_edge = (
            table.ends.take(table.offsets[index[pair]] + place // count, axis=1)
            for table, index, place in ((pairs.a, pairs.i, p), (pairs.b, pairs.j, q))
        )
        terms = _exact_terms(a_edge, b_edge, pairs.origin[pair, 1])
        cuts = np.searchsorted(pair, np.arange(count + 1)).tolist()
        for part, start, stop in zip(parts, cuts, cuts[1:], strict=False):
            part.append(fsum(terms.high[start:stop].tolist() + terms.low[start:stop].tolist()))
    return np.array([abs(fsum(part)) / 2 for part in parts])


def _meetings(
    a: _Side, b: _Side, count: int, sizes: tuple[int, int]
) -> Iterator[tuple[Ints, Ints]]:
    """Yield the places of all pairs of edges of a pair of shapes that have some x in common."""
    if sizes[0] * sizes[1] > _MANY:
        yield from _meetings_of_one(a, b)
        return
    left = np.maximum(a.left.reshape(-1, 1, count), b.left.reshape(-1, count))
    right = np.minimum(a.right.reshape(-1, 1, count), b.right.reshape(-1, count))
    both, pair = np.divmod(np.flatnonzero(left < right), count)
    p, q = np.divmod(both, sizes[1])
    yield p * count + pair, q * count + pair


def _meetings_of_one(a: _Side, b: _Side) -> Iterator[tuple[Ints, Ints]]:
    """The same for one pair of many edges."""
    order, first, partners = _beginning(a, b)
    for start, stop in blocks(partners, _BLOCK):
        row = np.repeat(np.arange(start, stop), partners[start:stop])
        partner = order[stretches(first[start:stop], partners[start:stop])]
        of_a = row < len(a.left)
        yield np.where(of_a, row, partner), np.where(of_a, partner, row - len(a.left))


def _beginning(a: _Side, b: _Side) -> tuple[Ints, Ints, Ints]:
    """Return which edges begin on each edge of a, and then of b: of all edges in an order, the
    first, and how many. Of two edges that begin at the same x, only that of a has the other one.
    """
    rows = len(a.left), len(b.left)
    first, partners = np.empty((2, sum(rows)), np.int64)
    orders, before = [], 0
    for one, other, own in ((a, b, slice(rows[0])), (b, a, slice(rows[0], None))):
        order = np.argsort(other.left, kind="stable")
        order = order[other.right[order] > other.left[order]]
        begin = other.left[order]
        first[own] = np.searchsorted(begin, one.left, side="left" if one is a else "right")
        partners[own] = np.searchsorted(begin, one.right, side="left") - first[own]
        first[own] += before
        before += len(order)
        orders.append(order)
    return np.concatenate(orders), first, np.maximum(partners, 0, out=partners)


def _terms(a: _Side, p: Ints, b: _Side, q: Ints) -> tuple[Floats, Floats]:
    """Return twice the integral of each pair of edges, with its sign, and its width."""
    a_left, b_left = a.left.take(p), b.left.take(q)
    left = np.maximum(a_left, b_left)
    width = np.minimum(a.right.take(p), b.right.take(q)) - left
    slope = a.slope.take(p)
    a_start = a.y.take(p) + slope * (left - a_left)
    a_stop = a_start + slope * width
    slope = b.slope.take(q)
    b_start = b.y.take(q) + slope * (left - b_left)
    b_stop = b_start + slope * width
    lower = np.minimum(a_start, b_start) + np.minimum(a_stop, b_stop)
    start, stop = a_start - b_start, a_stop - b_stop
    product = start * stop
    # Where they cross, the lower one is above the line between its ends, by a triangle.
    cross = np.flatnonzero(product < 0)
    lower[cross] -= product[cross] / (np.abs(start[cross]) + np.abs(stop[cross]))
    return lower * (a.sign.take(p) * b.sign.take(q) * width), width


def _sums(p: Ints, term: Floats, count: int, sizes: tuple[int, int]) -> Floats:
    """(count,) sums of the terms of each pair, in their order; of many, exactly."""
    if sizes[0] * sizes[1] > _MANY:
        return np.array([fsum(term.tolist())])
    return np.bincount(p % count, weights=term, minlength=count).astype(np.float64)


@np.errstate(all="ignore")  # edges that do not cross may be parallel
def _exact_terms(a: Floats, b: Floats, origin: Floats) -> DoubleDouble:
    """The integrals of `_terms` in 32 digits, for edges (4, n); y is that from the origin."""
    left = np.maximum(np.minimum(a[0], a[2]), np.minimum(b[0], b[2]))
    right = np.minimum(np.maximum(a[0], a[2]), np.maximum(b[0], b[2]))
    (a_start, a_stop), (b_start, b_stop) = (
        [_exact_height(edge, x, origin) for x in (left, right)] for edge in (a, b)
    )
    start, stop = a_start - b_start, a_stop - b_stop
    lower = _where(start < 0, a_start, b_start) + _where(stop < 0, a_stop, b_stop)
    both = start - stop
    triangle = start * stop / _where(both < 0, both, stop - start)
    cross = np.sign(start.high) * np.sign(stop.high) < 0
    lower = _where(cross, lower + triangle, lower)
    term = lower * DoubleDouble.difference(right, left)
    sign = np.where((a[0] < a[2]) == (b[0] < b[2]), 1.0, -1.0)
    return DoubleDouble(sign * term.high, sign * term.low)


def _where(condition: Bools, a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    return DoubleDouble(np.where(condition, a.high, b.high), np.where(condition, a.low, b.low))


def _exact_height(edge: Floats, x: Floats, origin: Floats) -> DoubleDouble:
    """How far an edge is below the origin at some x."""
    x0, y0, x1, y1 = edge
    difference = DoubleDouble.difference
    rise = difference(y1, y0) * difference(x, x0) / difference(x1, x0)
    return difference(y0, origin) + rise
