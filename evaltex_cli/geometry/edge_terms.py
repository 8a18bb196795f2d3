"""Integrals of pairs of edges, of which `edge_pairs` makes areas: in doubles, and in 32 digits."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.geometry.double_double import DoubleDouble
from evaltex_cli.records import Bools, Floats, Ints

LEAST_WIDTH = 1e-150
"""An edge that is no wider is vertical."""


class Side(NamedTuple):
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

    def some(self, which: Ints) -> Side:
        """Return some of the edges."""
        left, right, y, slope = (values.take(which) for values in self[:4])
        return Side(left, right, y, slope, self.sign.take(which), self.extent)


def drawn(ends: Sequence[Floats], is_there: Bools, origin: Floats) -> Side:
    x0, y0, x1, y1 = (row - origin[:, k % 2] for k, row in enumerate(ends))
    width, back = x1 - x0, x1 < x0
    is_there = is_there & (np.abs(width) > LEAST_WIDTH)
    slope = np.divide(y1 - y0, width, out=np.zeros_like(width), where=is_there)
    right = np.where(is_there, np.maximum(x0, x1), -np.inf)
    extent = np.maximum(np.abs(y0).max(axis=0), np.abs(y1).max(axis=0))
    left, y, sign = np.minimum(x0, x1), np.where(back, y1, y0), 1 - 2 * back.astype(np.int8)
    return Side(left.ravel(), right.ravel(), y.ravel(), slope.ravel(), sign.ravel(), extent)


def exact_sum(terms: DoubleDouble, some: slice) -> float:
    return fsum(terms.high[some].tolist() + terms.low[some].tolist())


def terms(a: Side, b: Side) -> tuple[Floats, Floats]:
    """Return twice the integral of each pair of edges, with its sign, and its width."""
    left = np.maximum(a.left, b.left)
    width = np.minimum(a.right, b.right) - left
    a_start = a.y + a.slope * (left - a.left)
    a_stop = a_start + a.slope * width
    b_start = b.y + b.slope * (left - b.left)
    b_stop = b_start + b.slope * width
    lower = np.minimum(a_start, b_start) + np.minimum(a_stop, b_stop)
    start, stop = a_start - b_start, a_stop - b_stop
    product = start * stop
    # Where they cross, the lower one is above the line between its ends, by a triangle.
    cross = np.flatnonzero(product < 0)
    lower[cross] -= product[cross] / (np.abs(start[cross]) + np.abs(stop[cross]))
    return lower * (a.sign * b.sign * width), width


@np.errstate(all="ignore")  # edges that do not cross may be parallel
def exact_terms(a: Floats, b: Floats, origin: Floats) -> DoubleDouble:
    """The integrals of `terms` in 32 digits, for edges (4, n); y is that from the origin."""
    left = np.maximum(np.minimum(a[0], a[2]), np.minimum(b[0], b[2]))
    right = np.minimum(np.maximum(a[0], a[2]), np.maximum(b[0], b[2]))
    # Each at both ends, (2, n).
    ends = np.stack([left, right])
    one, other = (_exact_height(edge, ends, origin) for edge in (a, b))
    apart = one - other
    start, stop = apart.rows()
    low_start, low_stop = _where(apart < 0, one, other).rows()
    lower = low_start + low_stop
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
