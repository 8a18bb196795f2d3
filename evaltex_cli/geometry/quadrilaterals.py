"""Intersections and unions of convex quadrilaterals; points are complex numbers."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.geometry.edges import Edges
from evaltex_cli.records import Floats, Ints

_LEAST = 1e-12
"""Of the square of the extent: how far a corner is from the line of a side, times the side's
length, beyond which rounding does not decide on which side of it the corner is.
"""
_ROUNDING = 1e-12
"""Of the extent times the largest coordinate: the same far from the origin, with room for the order
of the vertices of slivers.
"""
Points: TypeAlias = NDArray[np.complex128]


def convex_ones(edges: Edges, index: Ints) -> Points:
    """(n, 4) corners of some shapes, as drawn; NaN of one that is no convex quadrilateral."""
    result = np.full((len(index), 4), np.nan, np.complex128)
    which = np.flatnonzero(np.diff(edges.offsets)[index] == 4)
    row = edges.offsets[index[which], None] + np.arange(4)
    corners = edges.ends[0].take(row) + 1j * edges.ends[1].take(row)
    side = _next(corners) - corners
    turn = _cross(side, _next(side))
    is_convex = (turn < 0).all(axis=1) | (turn > 0).all(axis=1)
    result[which[is_convex]] = corners[is_convex]
    return result


@np.errstate(all="ignore")  # parallel sides do not cross, and what is NaN is not of interest
def overlays(a: Points, b: Points, is_union: bool) -> tuple[Floats, Ints]:
    """Return the outlines of the intersections, or unions, of ``a[k]`` and ``b[k]``.

    All of either outline is in sight of any point of the intersection, so that its vertices are in
    the order of their directions from there. They are drawn as by GEOS: from y to x, and the last
    vertex is where the first stretch of a on the outline begins.

    Parameters
    ----------
    a, b : (n, 4) complex128
        As of `convex_ones`.
    is_union : bool

    Returns
    -------
    (v, 2) float64, (n,) int64
        Rings, one after the other, and how many vertices each has: none if the two touch, or have
        no point in common, or one is not convex.
    """
    a_side, b_side = _next(a) - a, _next(b) - b
    a_turn, b_turn = (np.sign(_cross(side[:, :1], side[:, 1:2])) for side in (a_side, b_side))
    between = a[:, :, None] - b[:, None]
    extent = (np.abs(between.real) + np.abs(between.imag)).max(axis=(1, 2))
    size = np.maximum(np.abs(a).max(axis=1), np.abs(b).max(axis=1))
    least = (extent * (_LEAST * extent + _ROUNDING * size))[:, None, None]
    # How far each corner of one is inside of each side of the other one.
    of_a = b_turn[:, None] * _cross(b_side[:, None], between)
    of_b = -a_turn[:, None] * _cross(a_side[:, :, None], between)
    a_sign, b_sign = (np.sign(far) * (np.abs(far) > least) for far in (of_a, of_b))
    share = of_a / (of_a - _next(of_a))
    # The ends of one of two sides that do not cross are on the same side of the other one.
    apart = np.maximum(a_sign * _next(a_sign), b_sign * np.roll(b_sign, -1, axis=2))
    points, position, leaves, place = (
        np.concatenate([*corners, of_crossings.reshape(-1, 16)], axis=1)
        for *corners, of_crossings in (
            (a, b, a[:, :, None] + share * a_side[:, :, None]),
            (np.arange(4) + 0 * a.real, np.inf + 0 * b.real, np.arange(4)[:, None] + share),
            (a == np.inf, b == np.inf, (a_sign < 0) == is_union),
            # Above 0 of what is on the outline, 0 of what rounding decides.
            (a_sign.min(axis=2), b_sign.min(axis=1), -apart),
        )
    )
    inner = place > 0
    middle = np.where(inner, points, 0).sum(axis=1) / inner.sum(axis=1)
    if is_union:
        place[:, :8] *= -1
    is_sure = inner.any(axis=1) & (place != 0).all(axis=1)
    drawn = (place > 0) & is_sure[:, None]
    # Where a stretch begins, or ends if a is drawn from x to y.
    start = np.where(drawn & (leaves | (a_turn < 0)), position, np.inf).argmin(axis=1)
    direction = np.angle(points - middle[:, None])
    turn = (direction - direction[np.arange(len(start)), start, None]) % (2 * np.pi)
    order = np.where(drawn, -turn, np.inf).argsort(axis=1)
    counts = drawn.sum(axis=1)
    rings = np.take_along_axis(points, order, axis=1)[np.arange(24) < counts[:, None]]
    return rings.view(np.float64).reshape(-1, 2), counts


def _next(values: NDArray[Any]) -> NDArray[Any]:
    return np.roll(values, -1, axis=1)


def _cross(a: Points, b: Points) -> Floats:
    # Not a product of complex numbers, which some processors round fewer times.
    return np.asarray(a.real * b.imag - a.imag * b.real)
