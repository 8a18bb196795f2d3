"""Scores from sums: ratios, recall, precision and their harmonic mean; empty images.

Everything works on a number, None where it is undefined, and on a column, NaN where undefined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from evaltex_cli.protocols.base import Scores
from evaltex_cli.protocols.tally import ObjectTally
from evaltex_cli.records import Floats

Number: TypeAlias = Any
"""A number, or a column of them."""


def quotient(numerator: Floats, denominator: Floats) -> Floats:
    """Quotients of columns; 0 where the denominator is 0."""
    result = np.zeros(np.shape(numerator))
    return np.divide(numerator, denominator, out=result, where=denominator > 0)


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """`quotient` within [0, 1]."""
    return np.clip(quotient(numerator, denominator), 0.0, 1.0)


def ratio(numerator: Number, denominator: Number) -> Number:
    """Ratio within [0, 1]; 0/0 is 0."""
    if isinstance(denominator, np.ndarray):
        return divide(numerator, denominator)
    return min(max(numerator / denominator, 0.0), 1.0) if denominator > 0 else 0.0


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


def recall_precision(
    recall_credit: Number, gt: Number, precision_credit: Number, det: Number
) -> Scores:
    """Credits over the numbers of objects that count, and the harmonic mean of both; 0/0 is 0."""
    recall, precision = ratio(recall_credit, gt), ratio(precision_credit, det)
    return {"recall": recall, "precision": precision, "hmean": harmonic_mean(recall, precision)}


def scores_of(tally: ObjectTally, recall_credit: Number, precision_credit: Number) -> Scores:
    """Recall, precision and their harmonic mean from summed credits, over the objects and
    detections that count.
    """
    return recall_precision(
        recall_credit, tally.counted_gt_objects, precision_credit, tally.counted_detections
    )


def image_scores_by(scores: Callable[[Any, Any], Scores]) -> Callable[[ObjectTally, Any], Scores]:
    """Return a protocol's `image_scores`: as its `scores`, or what the scripts give for an image
    without objects that count: recall 1, and precision 0 if detections count, else 1.
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


def score_columns(scores: Callable[[Any], Scores], tally: Any) -> dict[str, Floats]:
    """Return each score that is one number as a column, NaN where undefined.

    Parameters
    ----------
    scores : callable
        From evidence to scores (`Protocol.scores`).
    tally : Tally
        (n,) rows: images of a batch, or subsets of a data set.
    """
    undefined = np.full(len(next(iter(tally.as_dict().values()))), np.nan)
    return {
        name: undefined if value is None else value.astype(np.float64)
        for name, value in scores(tally.columns()).items()
        if value is None or getattr(value, "ndim", 0) == 1
    }
