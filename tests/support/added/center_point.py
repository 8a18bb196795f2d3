"""Centre points: an object and a detection are a pair if the centre of each one's box lies in the
other's box.

Pairs are taken in the order of the file (`first_fit`). An example of a new protocol, which
`docs/architecture.md` explains and `tests/registry/test_adding.py` adds to a copy of the
repository.

Empty cases: a ratio 0/0 is 0.

Of two words one is found; the centre of the other one is not in its detection:

>>> from evaltex_cli import Accumulator
>>> accumulator = Accumulator("center-point")
>>> accumulator.update([[0, 0, 100, 20], [120, 0, 220, 20]], [[0, 0, 90, 20], [160, 0, 165, 20]])
>>> accumulator.compute().scores
{'recall': 0.5, 'precision': 0.5, 'hmean': 0.5}
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaltex_cli.protocols.base import Evidence, Protocol, Scores, parameter
from evaltex_cli.protocols.matching import first_fit, in_dont_care, matches, object_counts
from evaltex_cli.protocols.scores import scores_of
from evaltex_cli.protocols.tally import Count, ObjectTally, require
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Overlaps


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of centre points."""

    dont_care_overlap: float = parameter(
        0.5, "a detection with more than this share in don't care is ignored", min=0.0, max=1.0
    )


@dataclass(frozen=True, eq=False)
class Tally(ObjectTally):
    """Evidence of centre points: the number of pairs."""

    pairs: Count

    def check(self) -> None:
        super().check()
        require(self.pairs <= self.counted_gt_objects, "more pairs than objects")
        require(self.pairs <= self.counted_detections, "more pairs than detections")


def evidence(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Evidence:
    """Pair a batch and count the pairs of its images."""
    gt_counts = ~batch.gt.dont_care
    det_counts = ~in_dont_care(batch, overlaps, parameters.dont_care_overlap)
    gt_boxes, det_boxes = batch.gt.boxes[overlaps.gt], batch.det.boxes[overlaps.det]
    counting = gt_counts[overlaps.gt] & det_counts[overlaps.det]
    centred = _has_centre(gt_boxes, det_boxes) & _has_centre(det_boxes, gt_boxes)
    pairs = overlaps.some(counting & centred)
    pairs = pairs.some(first_fit(pairs.gt, pairs.det))
    count = np.bincount(batch.gt.image[pairs.gt], minlength=len(batch.names))
    matched = matches(pairs.gt, pairs.det, gt_counts, det_counts, {}, {})
    return Evidence(Tally(*object_counts(batch, gt_counts, det_counts), count), matched)


def _has_centre(boxes: Floats, others: Floats) -> Bools:
    """(p,) whether each box has the centre of the other in it."""
    centre = (others[:, :2] + others[:, 2:]) / 2
    inside: Bools = ((boxes[:, :2] <= centre) & (centre <= boxes[:, 2:])).all(axis=1)
    return inside


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """Pairs over the objects that count, and over the detections that count."""
    return scores_of(tally, tally.pairs, tally.pairs)


PROTOCOL = Protocol(
    name="center-point",
    title="Centre points",
    version=1,
    parameters=Parameters,
    tally=Tally,
    evidence=evidence,
    scores=scores,
    convention=lambda parameters: Convention(as_boxes=True),
)
