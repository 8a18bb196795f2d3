"""IoU (Karatzas et al., ICDAR 2015 Robust Reading Competition, incidental scene text): one-to-one pairs by IoU > 0.5.

Task: text localisation by boxes, polygons or labelled masks. An object and a detection are a pair or not; a split or a
merged word counts for nothing. The program takes coordinates cut to integers, and pairs first-fit (`first_fit`), so the
order of an image's detections may change the score.

Average precision, which the program adds where detections have confidences, ranks the detections of all images
together; it is no sum over images, and left out.

Empty cases: a ratio 0/0 is 0 in the dataset. An image without objects that count has recall 1, and precision 0 if it
has detections that count, else 1, as in the program.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaltex_cli.protocols.base import Count, Evidence, ObjectTally, Protocol, Scores, object_counts, require
from evaltex_cli.protocols.detection_order import in_order, needs_confidences
from evaltex_cli.protocols.iou.first_fit import Parameters, convention, counting, iou, pair, spread
from evaltex_cli.protocols.matches import matches, mean_of
from evaltex_cli.protocols.ratios import image_scores_by, scores_of
from evaltex_cli.records import ImageBatch, Overlaps


@dataclass(frozen=True, eq=False)
class Tally(ObjectTally):
    """Evidence of IoU: the number of pairs."""

    one_to_one: Count

    def check(self) -> None:
        super().check()
        require(self.one_to_one <= self.counted_gt_objects, "more pairs than objects")
        require(self.one_to_one <= self.counted_detections, "more pairs than detections")


@in_order
def evidence(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool) -> Evidence:
    """Pair a batch and count the pairs of its images."""
    gt_counts, det_counts, warnings = counting(batch, overlaps, parameters)
    similarity = iou(overlaps)
    pairs = pair(overlaps, similarity, gt_counts, det_counts, parameters)
    gt, det = overlaps.gt[pairs], overlaps.det[pairs]
    one_to_one = np.bincount(batch.gt.image[gt], minlength=len(batch.names))
    tally = Tally(*object_counts(batch, gt_counts, det_counts), one_to_one)
    if not with_matches:
        return Evidence(tally, warnings=warnings)
    gt_values = spread({"iou": similarity[pairs]}, gt, batch.gt.count)
    det_values = spread({"iou": similarity[pairs]}, det, batch.det.count)
    return Evidence(tally, matches(gt, det, gt_counts, det_counts, gt_values, det_values), warnings)


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """Pairs over the objects that count, and over the detections that count."""
    return scores_of(tally, tally.one_to_one, tally.one_to_one)


PROTOCOL = Protocol(
    name="iou",
    title="IoU (ICDAR 2015)",
    version=1,
    parameters=Parameters,
    tally=Tally,
    evidence=evidence,
    scores=scores,
    headline=("recall", "precision", "hmean"),
    convention=convention,
    image_scores=image_scores_by(scores),
    needs=needs_confidences,
    object_credit=mean_of("iou"),
)
