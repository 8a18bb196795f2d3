"""Ratios of areas that only rounding keeps from a threshold: they are settled on it before they are compared.

So what is exactly at a threshold stays there when all coordinates are multiplied by 0.1 or 1000, which rounds every one
of them. Coordinates that are integers give exact areas of boxes, and ratios that settling leaves as they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evaltex_cli.geometry.rounding import area_error
from evaltex_cli.records import Floats, Ints, Overlaps

LEAST, MOST = 1e-12, 1e-6
"""Bounds of the error of a ratio: the first as a share of it, for the arithmetic; the second of whatever size."""


def ratio_error(ratio: Floats, overlaps: Overlaps, pairs: Ints) -> Floats:
    """Bound the error of ratios of the overlaps' areas.

    Parameters
    ----------
    ratio : (n,) float64
        Area of an overlap over that of its object, its detection or their union.
    overlaps : Overlaps
    pairs : (n,) int64
        The overlap of each ratio.

    Returns
    -------
    (n,) float64
        Four times the relative error of the overlap's area: no object is smaller, and three areas are in a union.
    """
    if overlaps.gt_boxes is None or overlaps.det_boxes is None:
        return LEAST * ratio
    error = area_error(overlaps.gt_boxes[overlaps.gt[pairs]], overlaps.det_boxes[overlaps.det[pairs]])
    area = overlaps.area[pairs]
    with np.errstate(over="ignore"):  # areas may be smaller than their error by any factor
        relative = np.divide(error, area, out=np.zeros(len(error)), where=area > 0)
        return np.asarray(np.minimum(ratio * np.clip(4 * relative, LEAST, 1 / LEAST), MOST))


def settled(ratio: Floats, thresholds: ArrayLike, overlaps: Overlaps, pairs: Ints | None = None) -> Floats:
    """Put ratios that rounding may have moved off a threshold back on it.

    Parameters
    ----------
    ratio : (n,) float64
        As of `ratio_error`.
    thresholds : float or (k,) of float
        What the ratios are compared with.
    overlaps : Overlaps
    pairs : (n,) int64, optional
        The overlap of each ratio; all of them, in their order, if not given.

    Returns
    -------
    (n,) float64
        The ratios, or the nearest threshold where the error bridges the difference.
    """
    marks = np.sort(np.atleast_1d(np.asarray(thresholds, dtype=np.float64)))
    between = (marks[1:] + marks[:-1]) / 2
    nearest = marks[np.searchsorted(between, ratio)] if len(between) else np.broadcast_to(marks, ratio.shape)
    off = np.abs(ratio - nearest)
    close = np.flatnonzero((off <= MOST) & (off > 0))
    if not len(close):
        return ratio
    close = close[off[close] <= ratio_error(ratio[close], overlaps, close if pairs is None else pairs[close])]
    result = ratio.copy()
    result[close] = nearest[close]
    return result
