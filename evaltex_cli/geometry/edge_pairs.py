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
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.geometry import edges as edge_columns
from evaltex_cli.geometry.edge_terms import LEAST_WIDTH, Side, drawn, exact_sum, exact_terms, terms
from evaltex_cli.geometry.edges import Edges
from evaltex_cli.geometry.near_edges import NearEdges, near_each_other
from evaltex_cli.records import Floats, Ints, blocks, stretches

EXACT = 4e-13
"""Greatest error of an area, as a share of it; where it may be larger, 32 digits are used."""
WHOLE = EXACT + edge_columns.EXACT
"""An intersection that is the smaller shape but for this share of it is that shape."""
_ROUNDING = 2.0**-49
"""Bound of the error of an integral, as a share of its width times the extent: 8 roundings."""
_MOST_EXACT = 1 << 20
"""Most pairs of edges of two shapes that are summed in 32 digits, which takes seconds."""
_MANY = 1 << 16
"""More pairs of edges of two shapes than this are not all looked at."""
_BLOCK = 1 << 15
"""Pairs of edges that are looked at at once; a pair takes up to 600 bytes on the way."""
_EXACT_BLOCK = 1 << 14
"""The same, where they are measured in 32 digits."""
_COST = 1 << 12
"""To look at so many pairs of edges that are not there takes as long as another block does."""
Counts: TypeAlias = NDArray[Any]
"""(n,) int32, as many as edges."""


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
        return PolygonPairs(a, i[which], b, j[which], origin.take(which, axis=0), negligible[which])


def intersection_area(pairs: PolygonPairs, is_exact: bool = True) -> Floats:
    """(p,) areas of the intersections of pairs.

    Each depends on its own two shapes only, and its error is below `EXACT` of it, unless more than
    a million of the edges of the two have some x in common; or, if they need not be exact, the area
    is beyond doubt not negligible.
    """
    result, error = np.zeros((2, len(pairs.i)))
    for some, sizes in _blocks(pairs, _BLOCK):
        measured = _large_areas if sizes[0] * sizes[1] > _MANY else _areas
        result[some], error[some] = measured(pairs.some(some), sizes)
    is_doubtful = (error > EXACT * result) & (result + error > pairs.negligible)
    if not is_exact:
        is_doubtful &= result - error <= pairs.negligible
    # All of them together, as they are few in each block.
    doubtful = np.flatnonzero(is_doubtful)
    for some, sizes in _blocks(pairs.some(doubtful), _EXACT_BLOCK):
        exact = _exact_large_areas if sizes[0] * sizes[1] > _MANY else _exact_areas
        result[doubtful[some]] = exact(pairs.some(doubtful[some]), sizes)
    return result


def _common(a: Floats, b: Floats, axis: int) -> int:
    """How many pairs of edges of two shapes, by their ends, have some x, or y, in common."""
    starts, stops = [], []
    for ends in (a, b):
        low, high = np.minimum(*ends[axis::2]), np.maximum(*ends[axis::2])
        wide = high - low > LEAST_WIDTH
        starts.append(low[wide])
        stops.append(high[wide])
        starts[-1].sort()
        stops[-1].sort()
    # All but those of which one ends before the other begins.
    apart = sum(int(np.searchsorted(stops[k], starts[1 - k], side="right").sum()) for k in (0, 1))
    return len(starts[0]) * len(starts[1]) - apart


def _blocks(pairs: PolygonPairs, most: int) -> Iterator[tuple[Ints, tuple[int, int]]]:
    """Yield pairs to be measured together, of at most so many pairs of edges, and how many edges
    their shapes have at most.
    """
    counts = np.diff(pairs.a.offsets)[pairs.i], np.diff(pairs.b.offsets)[pairs.j]
    for chosen, sizes in _classes(*counts):
        each = sizes[0] * sizes[1]
        step = max(most // each, 1) if each <= _MANY else len(chosen)
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


def _side(edges: Edges, index: Ints, size: int, origin: Floats) -> Side:
    place, first = np.arange(size)[:, None], edges.offsets[index]
    is_there = place < edges.offsets[index + 1] - first
    edge = first + np.where(is_there, place, 0)
    return drawn([row.take(edge) for row in edges.ends], is_there, origin)


def _areas(pairs: PolygonPairs, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    """Areas of pairs whose shapes have at most so many edges, and bounds of their errors."""
    count = len(pairs.i)
    a = _side(pairs.a, pairs.i, sizes[0], pairs.origin)
    b = _side(pairs.b, pairs.j, sizes[1], pairs.origin)
    p, q = _meetings(a, b, count, sizes)
    term, width = terms(a.some(p), b.some(q))
    total, widths = (
        np.bincount(p % count, weights=values, minlength=count).astype(np.float64)
        for values in (term, width)
    )
    return np.abs(total) / 2, _ROUNDING * widths * np.maximum(a.extent, b.extent)


def _exact_areas(pairs: PolygonPairs, sizes: tuple[int, int]) -> Floats:
    """The same in 32 digits; x is not moved, so that none of what edges have in common is lost."""
    count = len(pairs.i)
    a = _side(pairs.a, pairs.i, sizes[0], np.zeros_like(pairs.origin))
    b = _side(pairs.b, pairs.j, sizes[1], np.zeros_like(pairs.origin))
    met = _meetings(a, b, count, sizes)
    p, q = (side[np.argsort(met[0] % count, kind="stable")] for side in met)
    pair = p % count
    a_edge, b_edge = (
        table.ends.take(table.offsets[index[pair]] + place // count, axis=1)
        for table, index, place in ((pairs.a, pairs.i, p), (pairs.b, pairs.j, q))
    )
    terms = exact_terms(a_edge, b_edge, pairs.origin[pair, 1])
    cuts = np.searchsorted(pair, np.arange(count + 1)).tolist()
    return np.array([abs(exact_sum(terms, slice(*cut))) / 2 for cut in pairwise(cuts)])


def _meetings(a: Side, b: Side, count: int, sizes: tuple[int, int]) -> tuple[Ints, Ints]:
    """Return the places of all pairs of edges of a pair of shapes that have some x in common."""
    left = np.maximum(a.left.reshape(-1, 1, count), b.left.reshape(-1, count))
    right = np.minimum(a.right.reshape(-1, 1, count), b.right.reshape(-1, count))
    both, pair = np.divmod(np.flatnonzero(left < right), count)
    p, q = np.divmod(both, sizes[1])
    return p * count + pair, q * count + pair


class _Large(NamedTuple):
    """One pair of shapes of many edges, of which only some are looked at at once.

    Attributes
    ----------
    a, b : (4, e) float64
        x0, y0, x1, y1 of the edges that may have some x in common; or y0, x0, y1, x1, if the areas
        are measured along y.
    origin : (1, 2) float64
    extent : float
        The largest coordinate y of all edges, from the origin.
    """

    a: Floats
    b: Floats
    origin: Floats
    extent: float

    @classmethod
    def each(cls, pairs: PolygonPairs) -> Iterator[_Large]:
        """Yield the pairs, with x and y exchanged if many of the edges have some x in common, and
        at most half as many some y.
        """
        sides = NearEdges(pairs.a), NearEdges(pairs.b)
        for one, other, origin in zip(
            pairs.i.tolist(), pairs.j.tolist(), pairs.origin, strict=True
        ):
            a, b = near_each_other(sides[0], one, sides[1], other, 0)
            along_x, order = _common(a, b, 0), [0, 1]
            if along_x > _MOST_EXACT:
                lying = near_each_other(sides[0], one, sides[1], other, 1)
                if along_x >= 2 * _common(*lying, 1):
                    order = [1, 0]
                    a, b = (ends[[1, 0, 3, 2]] for ends in lying)
            x, y = order
            reach = [sides[0].reach(one)[y::2], sides[1].reach(other)[y::2]]
            extent = max(float(np.abs(some - origin[y]).max()) for some in reach)
            yield cls(a, b, origin[None, [x, y]], extent)


def _large_areas(pairs: PolygonPairs, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    """The same as `_areas`, for pairs of many edges; without an error if it takes too long to be
    more exact.
    """
    result = np.zeros((2, len(pairs.i)))
    for k, large in enumerate(_Large.each(pairs)):
        total, width_of_all, met = 0.0, 0.0, 0
        for p, q in _meetings_of_one(large):
            sides = (
                drawn([row.take(some) for row in ends], np.ones(len(some), bool), large.origin)
                for ends, some in ((large.a, p), (large.b, q))
            )
            term, width = terms(*sides)
            total += fsum(term.tolist())
            width_of_all += float(width.sum())
            met += len(p)
        error = _ROUNDING * width_of_all * large.extent if met <= _MOST_EXACT else 0.0
        result[:, k] = abs(total) / 2, error
    return result[0], result[1]


def _exact_large_areas(pairs: PolygonPairs, sizes: tuple[int, int]) -> Floats:
    """The same in 32 digits."""
    result = np.empty(len(pairs.i))
    for k, large in enumerate(_Large.each(pairs)):
        parts = []
        for p, q in _meetings_of_one(large._replace(origin=np.zeros((1, 2)))):
            terms = exact_terms(
                large.a.take(p, axis=1), large.b.take(q, axis=1), large.origin[0, 1]
            )
            parts.append(exact_sum(terms, slice(None)))
        result[k] = abs(fsum(parts)) / 2
    return result


def _meetings_of_one(large: _Large) -> Iterator[tuple[Ints, Ints]]:
    """Yield all pairs of edges of a and b that have some x in common."""
    edges = large.a.shape[1]
    order, first, partners = _beginning(large)
    for start, stop in blocks(partners, _BLOCK):
        if not partners[start:stop].any():
            continue
        row = np.repeat(np.arange(start, stop), partners[start:stop])
        some = first[start:stop].astype(np.int64), partners[start:stop].astype(np.int64)
        partner = order[stretches(*some)].astype(np.int64)
        of_a = row < edges
        yield np.where(of_a, row, partner), np.where(of_a, partner, row - edges)


def _spans(ends: Floats, origin: Floats) -> tuple[Floats, Floats]:
    """Where edges begin and end, from left to right; vertical ones end at minus infinity."""
    left, right = np.empty((2, len(ends[0])))
    for start in range(0, len(left), _BLOCK):
        some = slice(start, start + _BLOCK)
        x0, x1 = ends[0][some] - origin[0, 0], ends[2][some] - origin[0, 0]
        left[some] = np.minimum(x0, x1)
        right[some] = np.where(np.abs(x1 - x0) > LEAST_WIDTH, np.maximum(x0, x1), -np.inf)
    return left, right


def _beginning(large: _Large) -> tuple[Counts, Counts, Counts]:
    """Return which edges begin on each edge of a, and then of b: of all edges in an order, the
    first, and how many. Of two edges that begin at the same x, only that of a has the other one.
    """
    a, b = _spans(large.a, large.origin), _spans(large.b, large.origin)
    rows = len(a[0])
    first, partners = np.empty((2, rows + len(b[0])), np.int32)
    orders, before = [], 0
    for one, other, own in ((a, b, slice(rows)), (b, a, slice(rows, None))):
        order = np.argsort(other[0], kind="stable").astype(np.int32)
        order = order[other[1][order] > other[0][order]]
        begin = other[0][order]
        first[own] = np.searchsorted(begin, one[0], side="left" if one is a else "right")
        partners[own] = np.searchsorted(begin, one[1], side="left") - first[own]
        first[own] += before
        before += len(order)
        orders.append(order)
    return np.concatenate(orders), first, np.maximum(partners, 0, out=partners)
