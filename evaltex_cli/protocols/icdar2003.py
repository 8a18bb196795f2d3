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
from typing import ClassVar

import numpy as np

from evaltex_cli.geometry.shapes import boxes_of
from evaltex_cli.protocols import area_matches, matching
from evaltex_cli.protocols.area_matches import one_without_any
from evaltex_cli.protocols.base import Evidence, Protocol, Scores, parameter
from evaltex_cli.protocols.matching import at_least, image_sums, in_dont_care, object_counts
from evaltex_cli.protocols.scores import credit_scores, ratio
from evaltex_cli.protocols.tally import CreditTally
from evaltex_cli.records import ImageBatch, Overlaps


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
        0.4, "share on a don't-care object above which a detection is ignored", min=0.0, max=1.0
    )
    shape: str = parameter("box", "polygons as boxes, or as they are", choices=("box", "polygon"))
    zero_rectangles: str = area_matches.zero_rectangles_field()
    variant: ClassVar[str] = "icdar2003"


def evidence(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Evidence:
    """Find every best match of a batch, and sum what its images contribute."""
    overlaps, gt_zero, det_zero = area_matches.without_zero_rectangles(batch, overlaps, parameters)
    gt_counts = ~(batch.gt.dont_care | gt_zero)
    det_counts = ~(in_dont_care(batch, overlaps, parameters.dont_care_overlap) | det_zero)
    overlaps = overlaps.some(gt_counts[overlaps.gt] & det_counts[overlaps.det])
    gt, det, area = overlaps.gt, overlaps.det, overlaps.area
    if parameters.match == "dice":
        match = 2 * area / (overlaps.gt_area[gt] + overlaps.det_area[det])
    else:
        a, b = (
            boxes_of(side, area_matches.convention(parameters)) for side in (batch.gt, batch.det)
        )
        around = np.maximum(a[gt, 2:], b[det, 2:]) - np.minimum(a[gt, :2], b[det, :2])
        match = np.minimum(area / around.prod(axis=1), 1.0)
    gt_best, det_best = np.zeros(batch.gt.count), np.zeros(batch.det.count)
    np.maximum.at(gt_best, gt, match)
    np.maximum.at(det_best, det, match)
    credits = image_sums(batch, gt_best, det_best)
    tally = CreditTally(*object_counts(batch, gt_counts, det_counts), *credits)
    # Partners are those that either side has as its best.
    best = at_least(match, gt_best[gt]) | at_least(match, det_best[det])
    values = {"best_match": gt_best}, {"best_match": det_best}
    return Evidence(tally, matching.matches(gt[best], det[best], gt_counts, det_counts, *values))


def scores(tally: CreditTally, parameters: Parameters) -> Scores:
    """Mean best matches, and 1 / (α/precision + (1 - α)/recall)."""
    result = credit_scores(tally, parameters)
    recall, precision = result["recall"], result["precision"]
    weighted = parameters.alpha * recall + (1 - parameters.alpha) * precision
    return result | {"hmean": ratio(recall * precision, weighted)}


PROTOCOL = Protocol(
    name="icdar2003",
    title="ICDAR 2003: the best overlap of each box, by area",
    parameters=Parameters,
    tally=CreditTally,
    evidence=evidence,
    scores=scores,
    convention=area_matches.convention,
    image_scores=lambda tally, parameters: one_without_any(tally, scores(tally, parameters)),
    object_credit=matching.mean_of("best_match"),
)
