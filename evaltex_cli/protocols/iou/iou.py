"""IoU (Karatzas et al., ICDAR 2015 Robust Reading Competition, incidental scene text): one-to-one
pairs by IoU > 0.5.

Task: text localisation by boxes, polygons or labelled masks. An object and a detection are a pair
or not; a split or a merged word counts for nothing. The program takes coordinates cut to integers,
and pairs first-fit (`first_fit`), so the order of an image's detections may change the score.

Average precision, which the program adds where detections have confidences, ranks the detections of
all images together; it is no sum over images, and left out.

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

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.errors import InputError
from evaltex_cli.geometry import outlines
from evaltex_cli.protocols.base import Evidence, Protocol, Scores, object_counts, parameter
from evaltex_cli.protocols.detection_order import in_order, needs_confidences, order_field
from evaltex_cli.protocols.iou.unrotated import overlaps_by_angle
from evaltex_cli.protocols.level_states import (
    FirstFit,
    LevelStates,
    contested,
    numbered,
    stacked_candidates,
)
from evaltex_cli.protocols.matches import matches, mean_of, scatter
from evaltex_cli.protocols.object_tally import ObjectTally
from evaltex_cli.protocols.object_warnings import ObjectWarning, object_warning
from evaltex_cli.protocols.ratios import (
    SLACK,
    divide,
    equalised,
    ignored_detections,
    image_scores_by,
    scores_of,
    settled,
)
from evaltex_cli.protocols.tally import Count, require
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Objects, Overlaps


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


def convention(parameters: Parameters) -> Convention:
    """Boxes and polygons as they are, their coordinates cut to integers
    unless the user wants them otherwise.
    """
    return Convention(truncated=parameters.truncate)


def counting(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters
) -> tuple[Bools, Bools, tuple[ObjectWarning, ...]]:
    """Find which objects and detections count.

    Returns
    -------
    gt_counts, det_counts : (G,), (D,) bool
        Objects that are not don't care and not left out; detections that are not in don't care.
    warnings : tuple of ObjectWarning
        Where objects are left out.
    """
    gt_counts = ~batch.gt.dont_care
    det_counts = ~ignored_detections(batch, overlaps, parameters.dont_care_overlap)
    if parameters.self_crossing == "counted" or batch.has_masks:
        return gt_counts, det_counts, ()
    left_out = gt_counts & _crosses_itself(batch.gt)
    text = (
        "{count} object[s] left out because [its polygon crosses itself|their polygons cross"
        " themselves] ({images}); repair [it|them] or set self_crossing=counted"
    )
    return gt_counts & ~left_out, det_counts, object_warning(text, batch, left_out)


def _crosses_itself(objects: Objects) -> Bools:
    """(n,) bool: polygons that are not valid as they are drawn, less those
    without area, which cannot be repaired.
    """
    result = np.zeros(objects.count, dtype=bool)
    if objects.outlines.all_boxes:
        return result
    crossing, _ = outlines.self_crossing(objects.outlines)
    if len(crossing):
        repaired = outlines.repaired(objects.outlines)[crossing]
        result[crossing] = geometry.polygons.area(repaired) > 0
    return result


def pair(
    overlaps: Overlaps, similarity: Floats, gt_free: Bools, det_free: Bools, parameters: Parameters
) -> Ints:
    """Pair objects and detections first-fit.

    Parameters
    ----------
    overlaps : Overlaps
    similarity : (p,) float64
        IoU of every overlap.
    gt_free, det_free : (G,), (D,) bool
        Objects and detections that may be paired.

    Returns
    -------
    (m,) int64
        Indices of the overlaps that are pairs, in ascending order.
    """
    free = gt_free[overlaps.gt] & det_free[overlaps.det]
    candidates = np.flatnonzero(
        free & (settled(similarity, parameters.iou, overlaps) > parameters.iou)
    )
    return candidates[first_fit(overlaps.gt[candidates], overlaps.det[candidates])]


class Candidates(NamedTuple):
    """Overlapping pairs, sorted by (gt, det)."""

    gt: Ints
    det: Ints
    """`gt` and `det`: (p,) int64."""
    iou: Floats
    """(p,) float64."""
    fits: Bools
    """(p,) bool. Whether the IoU, and where they matter the angles, are those of a pair."""
    rank: Floats
    """(p,) float64. The IoU, with which objects are compared: if a detection takes its best object,
    the same for those of which only rounding makes it different."""

    def select(self, which: Bools | Ints) -> Candidates:
        """Return some of them."""
        columns: Iterable[Any] = self
        return Candidates(*(column[which] for column in columns))


def candidates_of(
    overlaps: Overlaps, threshold: float, pairing: str = "first", det: Ints | None = None
) -> Candidates:
    """Return overlaps with their IoU, which fits above the threshold; `det` are their detections,
    if these are numbered otherwise than in the overlaps.
    """
    gt, det, similarity = overlaps.gt, overlaps.det if det is None else det, iou(overlaps)
    fits = settled(similarity, threshold, overlaps) > threshold
    rank = equalised(similarity, det, overlaps) if pairing == "best" else similarity
    return Candidates(gt, det, similarity, fits, rank)


def iou(overlaps: Overlaps) -> Floats:
    """(p,) intersection over union of every overlapping pair."""
    union = overlaps.gt_area[overlaps.gt] + overlaps.det_area[overlaps.det] - overlaps.area
    return divide(overlaps.area, union)


def first_fit(gt: Ints, det: Ints) -> Bools:
    """Pair each object, in order, with its first candidate that is still free.

    Parameters
    ----------
    gt, det : (p,) int64
        Candidate pairs in the order in which they are tried.

    Returns
    -------
    (p,) bool
        The chosen pairs; no object and no detection is in two.
    """
    # Only pairs with a rival need the loop: few, because most objects overlap one detection.
    is_contested = contested(gt, det)
    chosen = ~is_contested
    paired_gt, paired_det = set(), set()
    disputes = np.flatnonzero(is_contested)
    for k, i, j in zip(
        disputes.tolist(), gt[disputes].tolist(), det[disputes].tolist(), strict=True
    ):
        if i not in paired_gt and j not in paired_det:
            paired_gt.add(i)
            paired_det.add(j)
            chosen[k] = True
    return chosen


def best_candidates(found: Candidates) -> Candidates:
    """Return of each detection the pair with the object of highest IoU, if it fits.

    Of equal IoU the first object counts as the best. Paired first-fit, each object takes the first
    of its detections, and a detection gets no other object.
    """
    by_det = np.lexsort((found.gt, -found.rank, found.det))
    is_best = np.diff(found.det[by_det], prepend=-1) > 0
    return found.select(np.sort(by_det[is_best & found.fits[by_det]]))


def first_fit_by_level(batch: ImageBatch, gt: Ints, det: Ints, states: LevelStates) -> FirstFit:
    """Pair as `first_fit` at every state of the images; gt, det are (p,) candidates of all
    detections, sorted.
    """
    image, drop = batch.gt.image[gt], states.drop[det]
    is_contested = contested(gt, det)
    candidate, state = stacked_candidates(states, image, drop, is_contested)
    chosen = first_fit(numbered(state, gt[candidate]), numbered(state, det[candidate]))
    return FirstFit(states, image, drop, ~is_contested, candidate[chosen], state[chosen])


@dataclass(frozen=True, eq=False)
class Tally(ObjectTally):
    """Evidence of IoU: the number of pairs."""

    one_to_one: Count

    def check(self) -> None:
        super().check()
        require(self.one_to_one <= self.counted_gt_objects, "more pairs than objects")
        require(self.one_to_one <= self.counted_detections, "more pairs than detections")


@in_order
def evidence(
    batch: ImageBatch, overlaps: Overlaps, parameters: IouParameters, with_matches: bool
) -> Evidence:
    """Pair a batch and count the pairs of its images."""
    needs(batch, parameters)
    gt_counts, det_counts, found, warnings = _candidates(batch, overlaps, parameters)
    chosen = first_fit(found.gt, found.det)
    gt, det, similarity = found.gt[chosen], found.det[chosen], found.iou[chosen]
    one_to_one = np.bincount(batch.gt.image[gt], minlength=len(batch.names))
    tally = Tally(*object_counts(batch, gt_counts, det_counts), one_to_one)
    if not with_matches:
        return Evidence(tally, warnings=warnings)
    gt_values = scatter({"iou": similarity}, gt, batch.gt.count)
    det_values = scatter({"iou": similarity}, det, batch.det.count)
    return Evidence(tally, matches(gt, det, gt_counts, det_counts, gt_values, det_values), warnings)


def _candidates(
    batch: ImageBatch, overlaps: Overlaps, parameters: IouParameters
) -> tuple[Bools, Bools, Candidates, tuple[ObjectWarning, ...]]:
    """Return which objects and detections count, what is paired first-fit, and warnings."""
    warnings: tuple[ObjectWarning, ...] = ()
    if parameters.unrotated:
        gt_counts, det_counts, found = _unrotated(batch, parameters)
    else:
        gt_counts, det_counts, warnings = counting(batch, overlaps, parameters)
        found = candidates_of(overlaps, parameters.iou, parameters.pairing)
    found = found.select(gt_counts[found.gt] & det_counts[found.det])
    if parameters.pairing == "best":
        return gt_counts, det_counts, best_candidates(found), warnings
    return gt_counts, det_counts, found.select(found.fits), warnings


def by_level(
    batch: ImageBatch, overlaps: Overlaps, parameters: IouParameters, states: LevelStates
) -> Tally | None:
    """Count the pairs of the states of a batch's images; only what detections compete for is paired
    again.
    """
    if parameters.order != "file":
        return None
    gt_counts, det_counts, found, _ = _candidates(batch, overlaps, parameters)
    pairs = first_fit_by_level(batch, found.gt, found.det, states)
    return Tally(*states.object_counts(batch, gt_counts, det_counts), pairs.pairs())


def _unrotated(batch: ImageBatch, parameters: IouParameters) -> tuple[Bools, Bools, Candidates]:
    """Return which objects and detections count, and the candidates, all of
    rectangles that are turned back.
    """
    overlaps, angle = overlaps_by_angle(batch, convention(parameters))
    ignored = ignored_detections(batch, overlaps, parameters.dont_care_overlap)
    det_counts: Bools = ~np.logical_or(*ignored.reshape(2, batch.det.count))
    det = overlaps.det % batch.det.count
    found = candidates_of(overlaps, parameters.iou, parameters.pairing, det)
    found = found.select(angle < np.radians(parameters.max_angle) - SLACK)
    return ~batch.gt.dont_care, det_counts, found.select(np.lexsort((found.det, found.gt)))


def needs(batch: ImageBatch, parameters: IouParameters) -> None:
    """Refuse detections without confidences if `order` asks for them, and label pictures that are
    to be turned back.

    Raises
    ------
    InputError
    """
    needs_confidences(batch, parameters)
    if parameters.unrotated and batch.has_masks:
        raise InputError(
            "unrotated=true compares rectangles; leave out the label pictures, or set"
            " unrotated=false"
        )


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """Pairs over the objects that count, and over the detections that count."""
    return scores_of(tally, tally.one_to_one, tally.one_to_one)


PROTOCOL = Protocol(
    name="iou",
    title="IoU (ICDAR 2015)",
    measures="one-to-one matches with IoU above 0.5",
    version=2,
    parameters=IouParameters,
    tally=Tally,
    evidence=evidence,
    scores=scores,
    convention=convention,
    image_scores=image_scores_by(scores),
    needs=needs,
    by_level=by_level,
    object_credit=mean_of("iou"),
)
