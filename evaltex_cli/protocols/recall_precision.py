"""What the scripts of the ICDAR Robust Reading Competition share: don't care, empty images, the three scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evaltex_cli.protocols.base import Scores, Totals, divide, harmonic_mean, ratio
from evaltex_cli.protocols.ties import settled
from evaltex_cli.records import Bools, ImageBatch, Overlaps


def ignored_detections(batch: ImageBatch, overlaps: Overlaps, threshold: float) -> Bools:
    """(D,) bool: detections of which more than `threshold` lies in a single don't-care object."""
    on_dont_care = np.flatnonzero(batch.gt.dont_care[overlaps.gt])
    det = overlaps.det[on_dont_care]
    share = divide(overlaps.area[on_dont_care], overlaps.det_area[det])
    ignored = np.zeros(batch.det.count, dtype=bool)
    ignored[det[settled(share, threshold, overlaps, on_dont_care) > threshold]] = True
    return ignored


def recall_precision(recall_credit: float, gt: float, precision_credit: float, det: float) -> Scores:
    """Credits over the numbers of objects that count, and the harmonic mean of both; 0/0 is 0."""
    recall, precision = ratio(recall_credit, gt), ratio(precision_credit, det)
    return {"recall": recall, "precision": precision, "hmean": harmonic_mean(recall, precision)}


def scores_of(totals: Totals, recall_credit: float, precision_credit: float) -> Scores:
    """Recall, precision and their harmonic mean from summed credits, over the objects and detections that count."""
    return recall_precision(recall_credit, totals["counted_gt_objects"], precision_credit, totals["counted_detections"])


def image_scores_by(scores: Callable[[Totals, Any], Scores]) -> Callable[[Totals, Any], Scores]:
    """Return a protocol's `image_scores`: as its `scores`, or what the scripts give for an image without objects.

    Without objects that count recall is 1, and precision 0 if detections count, else 1.
    """

    def image_scores(totals: Totals, parameters: Any) -> Scores:
        found = scores(totals, parameters)
        if totals["counted_gt_objects"]:
            return found
        precision = 0.0 if totals["counted_detections"] else 1.0
        empty = {"recall": 1.0, "precision": precision, "hmean": harmonic_mean(1.0, precision)}
        return {name: empty[name.rpartition("_")[2]] for name in found}

    return image_scores
