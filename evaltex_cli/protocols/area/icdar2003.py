"""ICDAR 2003 (Lucas et al., ICDAR 2003; Lucas, ICDAR 2005): every object's and detection's best
match, no thresholds.

Task: text localisation by boxes (or polygons, masks). A match m(G, D) in [0, 1] is

- ``dice``: 2 Area(G ∩ D) / (Area(G) + Area(D)): ICDAR 2005, Wolf & Jolion's paper (Eq. 6) and
  program
- ``minbox``: Area(G ∩ D) / Area(smallest box around both): the definition of 2003

Recall is the mean over objects of their best match, precision that over detections; a box may be
the best of many. Don't-care objects, and detections on them, are left out: the competition had
none.

Empty cases: 0/0 is 0 in the dataset; an image with neither objects nor detections has recall and
precision 1.

Examples
--------
Of two words one is missed, and of the other one half is found: its match is 2 · 1/2 / (1 + 1/2) =
2/3:

>>> from evaltex_cli import Accumulator
>>> accumulator = Accumulator("icdar2003")
>>> accumulator.update([[0, 0, 99, 19], [200, 0, 299, 19]], [[0, 0, 49, 19]])
>>> scores = accumulator.compute().scores
>>> round(scores["recall"], 3), round(scores["precision"], 3)
(0.333, 0.667)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaltex_cli.geometry import shapes
from evaltex_cli.protocols.area.pairs import without_zero_rectangles, zero_rectangles_field
from evaltex_cli.protocols.base import (
    Evidence,
    Protocol,
    Scores,
    object_counts,
    parameter,
    per_image,
)
from evaltex_cli.protocols.level_states import LevelStates, offsets_by_image
from evaltex_cli.protocols.matches import matches, mean_of
from evaltex_cli.protocols.object_tally import CreditTally
from evaltex_cli.protocols.ratios import Number, ignored_detections, ratio, ratio_error, where
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Overlaps, offsets_of


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of ICDAR 2003."""

    match: str = parameter(
        "dice", "2 common / (sum of areas), or common / smallest box", choices=("dice", "minbox")
    )
    alpha: float = parameter(
        0.5, "share of precision in hmean, 1/(α/p + (1-α)/r)", min=0.0, max=1.0
    )
    dont_care_overlap: float = parameter(
        0.4,
        "a detection with more than this share on a don't-care object is ignored",
        min=0.0,
        max=1.0,
    )
    shape: str = parameter(
        "box", "polygons as bounding boxes, or as they are", choices=("box", "polygon")
    )
    zero_rectangles: str = zero_rectangles_field()


def convention(parameters: Parameters) -> Convention:
    """Bounding boxes whose corners are pixels, or continuous polygons."""
    return Convention(inclusive=parameters.shape == "box")


def evidence(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool
) -> Evidence:
    """Find every best match of a batch and sum what its images contribute."""
    gt_counts, det_counts, overlaps, pairs, quality = _counted(batch, overlaps, parameters)
    gt, det = overlaps.gt[pairs], overlaps.det[pairs]
    gt_best, det_best = np.zeros(batch.gt.count), np.zeros(batch.det.count)
    np.maximum.at(gt_best, gt, quality)
    np.maximum.at(det_best, det, quality)
    images = len(batch.names)
    tally = CreditTally(
        *object_counts(batch, gt_counts, det_counts),
        recall_credit=per_image(gt_best, batch.gt.image, images),
        precision_credit=per_image(det_best, batch.det.image, images),
    )
    if not with_matches:
        return Evidence(tally)
    # Partners are those that either side has as its best, but for rounding.
    most = quality + ratio_error(quality, overlaps, pairs)
    best = (most >= gt_best[gt]) | (most >= det_best[det])
    gt_values, det_values = {"best_match": gt_best}, {"best_match": det_best}
    return Evidence(
        tally, matches(gt[best], det[best], gt_counts, det_counts, gt_values, det_values)
    )


def by_level(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, states: LevelStates
) -> CreditTally:
    """Sum the best matches of the states of a batch's images; matches are those of all detections,
    and the best of a detection is the same at every state that keeps it.
    """
    gt_counts, det_counts, overlaps, counted, quality = _counted(batch, overlaps, parameters)
    gt, det = overlaps.gt[counted], overlaps.det[counted]
    det_best = np.zeros(batch.det.count)
    np.maximum.at(det_best, det, quality)
    kept, state = states.stacked(batch.det.offsets)
    is_kept = states.drop[kept] > states.level[state]
    precision = per_image(np.where(is_kept, det_best[kept], 0.0), state, len(states))
    objects, object_state = states.stacked(batch.gt.offsets)
    pairs, pair_state = states.stacked(offsets_by_image(batch.gt.image[gt], len(batch.names)))
    of_kept = states.drop[det[pairs]] > states.level[pair_state]
    pairs, pair_state = pairs[of_kept], pair_state[of_kept]
    first = offsets_of(np.diff(batch.gt.offsets)[states.image])[:-1]
    place = gt[pairs] - batch.gt.offsets[:-1][states.image[pair_state]] + first[pair_state]
    gt_best = np.zeros(len(objects))
    np.maximum.at(gt_best, place, quality[pairs])
    return CreditTally(
        *states.object_counts(batch, gt_counts, det_counts),
        recall_credit=per_image(gt_best, object_state, len(states)),
        precision_credit=precision,
    )


def _counted(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters
) -> tuple[Bools, Bools, Overlaps, Ints, Floats]:
    """Return which objects and detections count, the overlaps that are looked at, the indices of
    those between what counts, and the match of each.
    """
    overlaps, gt_zero, det_zero = without_zero_rectangles(batch, overlaps, parameters)
    gt_counts = ~(batch.gt.dont_care | gt_zero)
    det_counts = ~det_zero & ~ignored_detections(batch, overlaps, parameters.dont_care_overlap)
    pairs = np.flatnonzero(gt_counts[overlaps.gt] & det_counts[overlaps.det])
    return gt_counts, det_counts, overlaps, pairs, _quality(batch, overlaps, parameters)[pairs]


def _quality(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Floats:
    """(p,) match of each overlapping pair."""
    gt, det = overlaps.gt, overlaps.det
    if parameters.match == "dice":
        return np.asarray(2 * overlaps.area / (overlaps.gt_area[gt] + overlaps.det_area[det]))
    a, b = (shapes.boxes_of(side, convention(parameters)) for side in (batch.gt, batch.det))
    around = np.maximum(a[gt, 2:], b[det, 2:]) - np.minimum(a[gt, :2], b[det, :2])
    return np.asarray(np.minimum(overlaps.area / around.prod(axis=1), 1.0))


def scores(tally: CreditTally, parameters: Parameters) -> Scores:
    """Mean best matches, and 1 / (α/precision + (1 - α)/recall)."""
    recall = ratio(tally.recall_credit, tally.counted_gt_objects)
    precision = ratio(tally.precision_credit, tally.counted_detections)
    return _with_hmean(recall, precision, parameters)


def image_scores(tally: CreditTally, parameters: Parameters) -> Scores:
    """As `scores`; 1 in an image with neither objects nor detections."""
    has_any = (tally.counted_gt_objects > 0) | (tally.counted_detections > 0)
    empty = _with_hmean(1.0, 1.0, parameters)
    return {
        name: where(has_any, value, empty[name])
        for name, value in scores(tally, parameters).items()
    }


def _with_hmean(recall: Number, precision: Number, parameters: Parameters) -> Scores:
    weighted = parameters.alpha * recall + (1 - parameters.alpha) * precision
    hmean = ratio(recall * precision, weighted)
    return {"recall": recall, "precision": precision, "hmean": hmean}


PROTOCOL = Protocol(
    name="icdar2003",
    title="ICDAR 2003",
    measures="the best overlap of each box, by area",
    version=1,
    parameters=Parameters,
    tally=CreditTally,
    evidence=evidence,
    scores=scores,
    convention=convention,
    image_scores=image_scores,
    by_level=by_level,
    object_credit=mean_of("best_match"),
)
