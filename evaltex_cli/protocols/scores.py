"""Scores from sums: ratios, recall, precision and their harmonic mean; empty images.

Everything works on a number, None where it is undefined, and on a column, NaN where undefined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from evaltex_cli.protocols.base import Scores
from evaltex_cli.protocols.tally import CreditTally, ObjectTally
from evaltex_cli.records import Floats

Number: TypeAlias = Any
"""A number, or a column of them."""


def quotient(numerator: Number, denominator: Number) -> Number:
    """Quotient of any size; 0 where the denominator is 0."""
    if isinstance(denominator, np.ndarray):
        result = np.zeros(np.shape(numerator))
        return np.divide(numerator, denominator, out=result, where=denominator > 0)
    return numerator / denominator if denominator > 0 else 0.0


def ratio(numerator: Number, denominator: Number) -> Number:
    """Quotient within [0, 1]; 0/0 is 0."""
    result = quotient(numerator, denominator)
    return np.clip(result, 0, 1) if isinstance(result, np.ndarray) else min(max(result, 0.0), 1.0)


def rate(numerator: Number, denominator: Number) -> Number:
    """Quotient of any size, undefined where the denominator is 0."""
    return where(denominator > 0, quotient(numerator, denominator), None)


def harmonic_mean(a: Number, b: Number) -> Number:
    """2ab / (a + b); 0 where both are 0."""
    return quotient(2 * a * b, a + b)


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
    """`recall_precision` over the objects and detections that count."""
    gt, det = tally.counted_gt_objects, tally.counted_detections
    return recall_precision(recall_credit, gt, precision_credit, det)


def credit_scores(tally: CreditTally, parameters: Any) -> Scores:
    """`Protocol.scores` of credits over the numbers of objects that count."""
    return scores_of(tally, tally.recall_credit, tally.precision_credit)


def scores_or_empty(has_objects: Any, scores: Scores, recall: Number, precision: Number) -> Scores:
    """An image's scores; without objects that count, every recall and precision as given, and
    every harmonic mean as precision; other scores as they are.
    """
    empty = {"recall": recall, "precision": precision, "hmean": precision}
    return {
        name: where(has_objects, value, next((empty[key] for key in empty if key in name), value))
        for name, value in scores.items()
    }


def image_scores_by(scores: Callable[[Any, Any], Scores]) -> Callable[[ObjectTally, Any], Scores]:
    """Return a protocol's `image_scores`: as its `scores`, or what the scripts give for an image
    without objects that count: recall 1, and precision 0 if detections count, else 1.
    """

    def image_scores(tally: ObjectTally, parameters: Any) -> Scores:
        precision = where(tally.counted_detections > 0, 0.0, 1.0)
        return scores_or_empty(
            tally.counted_gt_objects > 0, scores(tally, parameters), 1.0, precision
        )

    return image_scores


def score_columns(scores: Callable[[Any], Scores], tally: Any) -> dict[str, Floats]:
    """Return each score that is one number as a column, NaN where undefined; `scores` are
    `Protocol.scores` of a tally, which has n rows: images, or subsets of a data set.
    """
    undefined = np.full(len(next(iter(tally.as_dict().values()))), np.nan)
    return {
        name: undefined if value is None else value.astype(np.float64)
        for name, value in scores(tally.each(np.transpose)).items()
        if value is None or getattr(value, "ndim", 0) == 1
    }
