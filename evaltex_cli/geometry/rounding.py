"""How far rounding moves coordinates and areas: an intersection no larger than that is none.

A coordinate is a decimal rounded to a double, or the rounded sum of two of them (x + width). `STEP`
bounds the error of either, and leaves room for a user who has scaled the coordinates before.
"""

from __future__ import annotations

import numpy as np

from evaltex_cli.records import Bools, Floats

STEP = 2.0**-48
"""Bound of a coordinate's error, as a share of the largest magnitude that its object has on that
axis: 16 units in the last place."""
_BLOCK = 1 << 15
"""Points or boxes that are cut at once."""


def truncated(coordinates: Floats) -> Floats:
    """Cut the coordinates of points (..., 2) or boxes (n, 4) to integers, towards 0.

    One that is an integer but for rounding is that integer.
    """
    result = np.trunc(coordinates)
    for start in range(0, len(coordinates), _BLOCK):
        some, cut = coordinates[start : start + _BLOCK], result[start : start + _BLOCK]
        if (cut == some).all():
            continue
        reach = np.abs(some)
        if coordinates.shape[-1] == 4:
            reach = np.tile(np.maximum(reach[:, :2], reach[:, 2:]), 2)
        whole = np.rint(some)
        cut[...] = np.where(np.abs(some - whole) <= STEP * reach, whole, cut)
    return result


def area_error(a: Floats, b: Floats, slanted: Bools | None = None) -> Floats:
    """Bound the error of the areas of intersections.

    Parameters
    ----------
    a, b : (n, 4) float64
        Pairs of boxes that overlap, or the bounding boxes of pairs of polygons.
    slanted : (n,) bool, optional
        Pairs that are not two boxes; all of them, if not given.

    Returns
    -------
    (n,) float64
        In square pixels: the sides of the intersection, or of its bounding box, each times the
        error of the edges across it. A box's edge is as uncertain as its box; an edge of polygons,
        as both.
    """
    a, b = (np.ascontiguousarray(side.T) for side in (a, b))
    reach_a, reach_b = (np.maximum(np.abs(side[:2]), np.abs(side[2:])) for side in (a, b))
    reach = np.maximum(reach_a, reach_b)
    if slanted is not None:
        low = _reach_of_larger(a[:2], reach_a, b[:2], reach_b)
        high = _reach_of_larger(-a[2:], reach_a, -b[2:], reach_b)
        reach = np.where(slanted, reach, np.maximum(low, high))
    sides = np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0.0)
    return np.asarray(STEP * (reach[0] * sides[1] + reach[1] * sides[0]))


def _reach_of_larger(a: Floats, reach_a: Floats, b: Floats, reach_b: Floats) -> Floats:
    """Reaches of the objects with the larger edge; the smaller reach if both edges are the same."""
    return np.where(a > b, reach_a, np.where(b > a, reach_b, np.minimum(reach_a, reach_b)))


def without_errors(area: Floats, a: Floats, b: Floats, slanted: Bools | None = None) -> Floats:
    """Replace areas of intersections that are no larger than their error by
    0; arguments as of `area_error`.
    """
    if not len(area):
        return area
    # The largest magnitude of all bounds every error from above, and nearly all areas are larger.
    width = np.minimum(a[:, 2], b[:, 2]) - np.maximum(a[:, 0], b[:, 0])
    height = np.minimum(a[:, 3], b[:, 3]) - np.maximum(a[:, 1], b[:, 1])
    most = STEP * max(-a.min(), a.max(), -b.min(), b.max())
    small = np.flatnonzero(area <= most * (np.abs(width) + np.abs(height)))
    if not len(small):
        return area
    area = area.copy()
    error = area_error(
        a.take(small, axis=0), b.take(small, axis=0), None if slanted is None else slanted[small]
    )
    area[small[area[small] <= error]] = 0.0
    return area
