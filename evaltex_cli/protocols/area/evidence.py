"""What protocols that match by area recall and area precision sum up, and how they describe their matches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaltex_cli.protocols.area.matching import Credits, Scene
from evaltex_cli.protocols.base import (
    FALSE_POSITIVE,
    IGNORED,
    MANY_TO_ONE,
    MISSED,
    ONE_TO_MANY,
    ONE_TO_ONE,
    Count,
    CreditTally,
    Matches,
    object_counts,
    per_image,
    require,
)
from evaltex_cli.protocols.matches import side_matches
from evaltex_cli.records import Bools, ImageBatch, Ints


@dataclass(frozen=True, eq=False)
class AreaTally(CreditTally):
    """Evidence of every member of the family: objects and detections, credits, matches by their kind."""

    one_to_one: Count
    one_to_many: Count
    many_to_one: Count
    named_in_detections: Count

    def check(self) -> None:
        super().check()
        require(self.one_to_one + self.one_to_many <= self.counted_gt_objects, "more matches than objects")
        require(self.one_to_one + self.many_to_one <= self.counted_detections, "more matches than detections")


def tally_of(batch: ImageBatch, found: Scene, credits: Credits) -> AreaTally:
    """Sum the evidence of a batch by image."""
    images, gt_image, det_image = len(batch.names), batch.gt.image, batch.det.image
    relation = credits.relation
    split, merged = relation == ONE_TO_MANY, relation == MANY_TO_ONE
    pair_image = gt_image[found.pairs.gt]
    return AreaTally(
        *object_counts(batch, found.gt_counts, found.det_counts),
        recall_credit=per_image(credits.gt, gt_image, images),
        precision_credit=per_image(credits.det, det_image, images),
        one_to_one=per_image(relation == ONE_TO_ONE, pair_image, images),
        one_to_many=per_image(split & _is_first(split, found.pairs.gt), pair_image, images),
        many_to_one=per_image(merged & _is_first(merged, found.pairs.det), pair_image, images),
        named_in_detections=batch.named_in_detections.astype(np.int64),
    )


def empty_image_scores(tally: AreaTally) -> tuple[float, float]:
    """Recall and precision that the competition's scripts print for an image without an object that counts."""
    if not tally.named_in_detections:
        return 0.0, 0.0
    return 1.0, 0.0 if tally.detections else 1.0


def _is_first(chosen: Bools, index: Ints) -> Bools:
    """Where a pair is the first chosen one of its object."""
    which = np.flatnonzero(chosen)
    result = np.zeros(len(index), dtype=bool)
    result[which[np.unique(index[which], return_index=True)[1]]] = True
    return result


def described(found: Scene, credits: Credits) -> Matches:
    """Per-object results: partners, ``credit``, and σ or τ summed over the partners, at most 1."""
    pairs, relation = found.pairs, credits.relation
    matched = relation != MISSED
    gt, det, kind = pairs.gt[matched], pairs.det[matched], relation[matched]
    sides = []
    for own, other, counts, credit_of, none, name, ratio in (
        (gt, det, found.gt_counts, credits.gt, MISSED, "area_recall", pairs.recall[matched]),
        (det, gt, found.det_counts, credits.det, FALSE_POSITIVE, "area_precision", pairs.precision[matched]),
    ):
        types = np.full(len(counts), none, np.uint8)
        types[own] = kind
        types[~counts] = IGNORED
        share = np.minimum(np.bincount(own, weights=ratio, minlength=len(counts)), 1.0)
        sides.append(side_matches(types, own, other, counts, {"credit": credit_of, name: share}))
    return Matches(*sides)
