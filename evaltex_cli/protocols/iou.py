"""IoU (Karatzas et al., ICDAR 2015 Robust Reading Competition, incidental scene text): one-to-one
pairs by IoU > 0.5.

Task: text localisation by boxes, polygons or labelled masks. An object and a detection are a pair
or not; a split or a merged word counts for nothing. The program takes coordinates cut to integers,
and pairs first-fit (`first_fit`), so the order of an image's detections may change the score. Its
average precision ranks the detections of all images together; it is no sum over images, and left
out.

Empty cases: a ratio 0/0 is 0 in the dataset. An image without objects that count has recall 1, and
precision 0 if it has detections that count, else 1, as in the program.

Examples
--------
Two words; of one the detection covers 60 %, of the other 50 %, which is not above the threshold, so
half of the words are found and half of the detections are right:

>>> from evaltex_cli import Accumulator
>>> accumulator = Accumulator("iou")
>>> accumulator.update([[0, 0, 100, 20], [120, 0, 220, 20]], [[0, 0, 100, 12], [120, 0, 220, 10]])
>>> accumulator.compute().scores
{'recall': 0.5, 'precision': 0.5, 'hmean': 0.5}
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely

from evaltex_cli.geometry import outlines
from evaltex_cli.protocols import matching
from evaltex_cli.protocols.base import Evidence, Protocol, Scores, parameter
from evaltex_cli.protocols.measured import order_field
from evaltex_cli.protocols.object_warnings import ObjectWarning, object_warning
from evaltex_cli.protocols.scores import image_scores_by, scores_of
from evaltex_cli.protocols.tally import Count, ObjectTally
from evaltex_cli.protocols.unrotated import overlaps_turned_back
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Overlaps


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of first-fit pairing, with the defaults of the ICDAR 2015 program."""

    iou: float = parameter(0.5, "a pair has an IoU above this", min=0.0, max=1.0)
    dont_care_overlap: float = parameter(
        0.5, "a detection with more than this share in don't care is ignored", min=0.0, max=1.0
    )
    truncate: bool = parameter(True, "coordinates are cut to integers, towards 0")
    self_crossing: str = parameter(
        "ignored",
        "objects whose polygon crosses itself, which the programs refuse: left out"
        " (ignored), or counted",
        choices=("ignored", "counted"),
    )
    order: str = order_field()


@dataclass(frozen=True, slots=True)
class IouParameters(Parameters):
    """Parameters of IoU: those of the ICDAR 2015 program, and what other data sets' programs do."""

    pairing: str = parameter(
        "first",
        "an object takes its first detection of enough IoU, or a detection its best"
        " object, and no other",
        choices=("first", "best"),
    )
    unrotated: bool = parameter(
        False, "IoU is that of rectangles turned back about their centres, as of MSRA-TD500"
    )
    max_angle: float = parameter(
        22.5, "with unrotated, a pair includes an angle below this, in degrees", min=0.0, max=45.0
    )


@dataclass(frozen=True, eq=False)
class Tally(ObjectTally):
    """Evidence of IoU: the number of pairs."""

    one_to_one: Count


def convention(parameters: Parameters) -> Convention:
    """Boxes and polygons as they are; coordinates are cut to integers unless the user says no."""
    return Convention(truncated=parameters.truncate)


def counting(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters
) -> tuple[Bools, Bools, tuple[ObjectWarning, ...]]:
    """Return which objects count, (G,) bool: no don't care, and none that crosses itself; which
    detections, (D,): none in don't care; and a warning of objects that cross themselves.
    """
    gt_counts = ~batch.gt.dont_care
    det_counts = ~matching.in_dont_care(batch, overlaps, parameters.dont_care_overlap)
    left_out = np.zeros(batch.gt.count, dtype=bool)
    if parameters.self_crossing == "ignored" and not batch.has_masks:
        crossing, polygons = outlines.self_crossing(batch.gt.outlines)
        # One without area cannot be repaired, and is never found.
        left_out[crossing] = shapely.area(outlines.repaired(polygons)) > 0
    left_out &= gt_counts
    text = (
        "{count} object[s] left out because [its polygon crosses itself|their polygons cross"
        " themselves] ({images}); repair [it|them] or set self_crossing=counted"
    )
    return gt_counts & ~left_out, det_counts, object_warning(text, batch, left_out)


def pair(gt: Ints, det: Ints, iou: Floats, is_free: Bools, threshold: float) -> Ints:
    """(m,) which of (p,) overlaps, sorted by (gt, det), are pairs: each object takes, of its
    detections with an IoU above the threshold, the first that is free. Only overlaps in which both
    are free before may become pairs.
    """
    rows = np.flatnonzero(is_free & matching.above(iou, threshold))
    return rows[matching.first_fit(gt[rows], det[rows])]


def evidence(batch: ImageBatch, overlaps: Overlaps | None, parameters: IouParameters) -> Evidence:
    """Pair a batch and count the pairs of its images."""
    warnings: tuple[ObjectWarning, ...] = ()
    if overlaps is None:
        gt_counts = ~batch.gt.dont_care
        gt, det, iou, det_counts = overlaps_turned_back(batch, parameters)
    else:
        gt_counts, det_counts, warnings = counting(batch, overlaps, parameters)
        gt, det, iou = overlaps.gt, overlaps.det, overlaps.iou()
    is_free = gt_counts[gt] & det_counts[det]
    if parameters.pairing == "best":
        is_free &= matching.are_best(det, gt, np.where(is_free, iou, 0.0))
    pairs = pair(gt, det, iou, is_free, parameters.iou)
    gt, det, iou = gt[pairs], det[pairs], iou[pairs]
    found = np.bincount(batch.gt.image[gt], minlength=len(batch.names))
    return Evidence(
        Tally(*matching.object_counts(batch, gt_counts, det_counts), found),
        matching.one_to_one(gt, det, gt_counts, det_counts, iou=iou),
        warnings,
    )


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """Pairs over the objects that count, and over the detections that count."""
    return scores_of(tally, tally.one_to_one, tally.one_to_one)


PROTOCOL = Protocol(
    name="iou",
    title="IoU (ICDAR 2015): one-to-one matches with IoU above 0.5",
    version=2,
    parameters=IouParameters,
    tally=Tally,
    evidence=evidence,
    scores=scores,
    convention=lambda parameters: None if parameters.unrotated else convention(parameters),
    image_scores=image_scores_by(scores),
    object_credit=matching.mean_of("iou"),
)
