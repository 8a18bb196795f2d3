"""Ratios and what comes of them: recall, precision and their harmonic mean; ties with a threshold;
empty images.

Ratios of areas that only rounding keeps from a threshold are moved onto it before they are compared
(`settled`). So a ratio that is exactly at a threshold stays there when all coordinates are
multiplied by 0.1 or 1000, which rounds every one of them. Whole coordinates give exact areas of
boxes, and ratios that are compared as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaltex_cli.geometry.intervals import sorted_in_groups
from evaltex_cli.geometry.rounding import area_error
from evaltex_cli.protocols.base import Scores
from evaltex_cli.records import Bools, Floats, ImageBatch, Ints, Overlaps

if TYPE_CHECKING:
    from evaltex_cli.protocols.object_tally import ObjectTally

Number: TypeAlias = Any
"""A number, None where it is undefined; or a column of them, NaN where undefined."""

LEAST, MOST = 1e-12, 1e-6
"""Bounds of the error of a ratio: the first as a share of it, for the
arithmetic; the second of whatever size.
"""
SLACK = 1e-9
"""What rounding may change in a sum of ratios, or in a distance in diagonals,
where no program says how to add.
"""
PAIRS_AT_ONCE = 1 << 15
"""Pairs of which errors are bounded at once; one takes 150 bytes on the way."""


def quotient(numerator: Floats, denominator: Floats) -> Floats:
    """Elementwise quotient; 0 where the denominator is 0."""
    return np.divide(
        numerator, denominator, out=np.zeros(np.shape(numerator)), where=denominator > 0
    )


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """Elementwise `quotient` within [0, 1]."""
    return np.clip(quotient(numerator, denominator), 0.0, 1.0)


def ratio(numerator: Number, denominator: Number) -> Number:
    """Ratio within [0, 1]; 0/0 is 0."""
    if isinstance(denominator, np.ndarray):
        return divide(numerator, denominator)
    if not denominator > 0:
        return 0.0
    value = numerator / denominator
    return 0.0 if value < 0.0 else 1.0 if value > 1.0 else value


def natural_log(counts: Ints) -> Floats:
    """Natural logarithms of counts above 0."""
    different, place = np.unique(counts.ravel(), return_inverse=True)
    logarithms = np.array([math.log(count) for count in different.tolist()])
    return logarithms[place].reshape(counts.shape)


def rate(numerator: Number, denominator: Number) -> Number:
    """Ratio of any size, undefined where the denominator is 0."""
    if isinstance(denominator, np.ndarray):
        return np.where(denominator > 0, quotient(numerator, denominator), np.nan)
    return numerator / denominator if denominator else None


def harmonic_mean(a: Number, b: Number) -> Number:
    """2ab / (a + b); 0 where both are 0."""
    total = a + b
    if isinstance(total, np.ndarray):
        return quotient(2 * a * b, total)
    return 2 * a * b / total if total > 0 else 0.0


def where(condition: Any, one: Number, other: Number) -> Number:
    """One number where a condition holds, else another."""
    if isinstance(condition, np.ndarray):
        return np.where(condition, *(np.nan if n is None else n for n in (one, other)))
    return one if condition else other


# Ties and don't care ------------------------------------------------------------------------------


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
        Four times the relative error of the overlap's area: no object is smaller, and three areas
        are in a union.
    """
    if overlaps.gt_boxes is None or overlaps.det_boxes is None:
        return LEAST * ratio
    result = np.empty(len(pairs))
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        which = slice(start, start + PAIRS_AT_ONCE)
        some = pairs[which]
        error = area_error(
            overlaps.gt_boxes.take(overlaps.gt[some], axis=0),
            overlaps.det_boxes.take(overlaps.det[some], axis=0),
        )
        area = overlaps.area[some]
        with np.errstate(over="ignore"):  # areas may be smaller than their error by any factor
            relative = np.divide(error, area, out=np.zeros(len(error)), where=area > 0)
            bounded = np.clip(4 * relative, LEAST, 1 / LEAST)
            result[which] = np.minimum(ratio[which] * bounded, MOST)
    return result


def settled(
    ratio: Floats, thresholds: ArrayLike, overlaps: Overlaps, pairs: Ints | None = None
) -> Floats:
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
    between = (marks[1:] + marks[:-1]) / 2  # searching these gives the nearest threshold
    nearest = (
        marks[np.searchsorted(between, ratio)]
        if len(between)
        else np.broadcast_to(marks, ratio.shape)
    )
    off = np.abs(ratio - nearest)
    close = np.flatnonzero((off <= MOST) & (off > 0))
    if not len(close):
        return ratio
    close = close[
        off[close] <= ratio_error(ratio[close], overlaps, close if pairs is None else pairs[close])
    ]
    result = ratio.copy()
    result[close] = nearest[close]
    return result


def equalised(ratio: Floats, owner: Ints, overlaps: Overlaps, pairs: Ints | None = None) -> Floats:
    """Give ratios of one owner that only rounding makes different the largest of them.

    Parameters
    ----------
    ratio : (n,) float64
        As of `ratio_error`.
    owner : (n,) int64
        The object, or the detection, of which one ratio is the best.
    overlaps, pairs
        As of `settled`.

    Returns
    -------
    (n,) float64
    """
    order = sorted_in_groups(owner, -ratio)
    owner, falling = owner[order], ratio[order]
    close = np.flatnonzero((owner[1:] == owner[:-1]) & (falling[:-1] - falling[1:] <= 2 * MOST))
    # A new value begins with a new owner, or where the fall is no rounding.
    is_less = np.ones(len(order), dtype=bool)
    errors = (
        ratio_error(falling[k], overlaps, order[k] if pairs is None else pairs[order[k]])
        for k in (close, close + 1)
    )
    is_less[close + 1] = falling[close] - falling[close + 1] > sum(errors)
    result = np.empty_like(ratio)
    # Each takes the ratio with which its run of equal ones begins.
    result[order] = falling[np.flatnonzero(is_less)[np.cumsum(is_less) - 1]]
    return result


def settled_sums(total: NDArray[Any], threshold: float, inexact: Bools | bool) -> NDArray[Any]:
    """Put sums of ratios that rounding may have moved off a threshold back on it.

    Parameters
    ----------
    total : (n,) float64 or float32
    threshold : float
        What the sums are compared with.
    inexact : bool or (n,) bool
        The sums that may be moved; others remain as a program adds them.
    """
    return np.where(inexact & (np.abs(total - threshold) <= SLACK), threshold, total)


def ignored_detections(batch: ImageBatch, overlaps: Overlaps, threshold: float) -> Bools:
    """(D,) bool: detections, as the overlaps number them, of which more than `threshold` lies in a
    single don't-care object.
    """
    on_dont_care = np.flatnonzero(batch.gt.dont_care[overlaps.gt])
    det = overlaps.det[on_dont_care]
    share = divide(overlaps.area[on_dont_care], overlaps.det_area[det])
    ignored = np.zeros(len(overlaps.det_area), dtype=bool)
    ignored[det[settled(share, threshold, overlaps, on_dont_care) > threshold]] = True
    return ignored


# Scores -------------------------------------------------------------------------------------------


def recall_precision(
    recall_credit: Number, gt: Number, precision_credit: Number, det: Number
) -> Scores:
    """Credits over the numbers of objects that count, and the harmonic mean of both; 0/0 is 0."""
    recall, precision = ratio(recall_credit, gt), ratio(precision_credit, det)
    return {"recall": recall, "precision": precision, "hmean": harmonic_mean(recall, precision)}


def scores_of(tally: ObjectTally, recall_credit: Number, precision_credit: Number) -> Scores:
    """Recall, precision and their harmonic mean from summed credits, over the
    objects and detections that count.
    """
    return recall_precision(
        recall_credit, tally.counted_gt_objects, precision_credit, tally.counted_detections
    )


def image_scores_by(scores: Callable[[Any, Any], Scores]) -> Callable[[ObjectTally, Any], Scores]:
    """Return a protocol's `image_scores`: as its `scores`, or what the scripts give for an image
    without objects.

    Without objects that count recall is 1, and precision 0 if detections count, else 1.
    """

    def image_scores(tally: ObjectTally, parameters: Any) -> Scores:
        has_objects = tally.counted_gt_objects > 0
        precision = where(tally.counted_detections > 0, 0.0, 1.0)
        empty = {"recall": 1.0, "precision": precision, "hmean": harmonic_mean(1.0, precision)}
        return {
            name: where(has_objects, value, empty[name.rpartition("_")[2]])
            for name, value in scores(tally, parameters).items()
        }

    return image_scores
