"""PQ (Long et al., Towards End-to-End Unified Scene Text Detection and Layout Analysis, CVPR 2022;
HierText).

Task: text localisation at the level of words, lines or paragraphs, by boxes, polygons or labelled
masks; with ``text=true`` end to end. Panoptic quality (Kirillov et al., CVPR 2019) is the mean IoU
of the pairs (SQ) times their F-score (RQ). An object and a detection are a pair if each is the
other's best by IoU, and this is above 0.5.

With ``objects=regions`` the objects of one region of an image are one: the union of their shapes.
So words that say which line or paragraph they belong to are scored as HierText scores lines and
paragraphs.

Empty cases: without objects recall is 1, without detections precision is 1, without pairs SQ is 1,
in the data set and in an image, as in the program.

Examples
--------
Of two words one is found with an IoU of 0.8, of the other the detection covers half, which is not
above the threshold:

>>> from evaltex_cli import Accumulator
>>> accumulator = Accumulator("pq")
>>> accumulator.update([[0, 0, 100, 20], [120, 0, 220, 20]], [[0, 0, 100, 16], [120, 0, 220, 10]])
>>> accumulator.compute().scores
{'recall': 0.5, 'precision': 0.5, 'rq': 0.5, 'sq': 0.8, 'pq': 0.4}
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import eq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import InputError
from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.overlaps import shapes_of
from evaltex_cli.protocols.base import (
    Evidence,
    Protocol,
    Scores,
    object_counts,
    parameter,
    per_image,
)
from evaltex_cli.protocols.iou.iou import iou
from evaltex_cli.protocols.matches import Matches, SideMatches, group_by, matches, mean_of, scatter
from evaltex_cli.protocols.normalisation import normalisation_field, with_normalised_texts
from evaltex_cli.protocols.object_tally import ObjectTally
from evaltex_cli.protocols.ratios import (
    equalised,
    harmonic_mean,
    ignored_detections,
    ratio,
    settled,
    where,
)
from evaltex_cli.protocols.tally import Count, Sum, at_most, require
from evaltex_cli.records import (
    Bools,
    Convention,
    Floats,
    ImageBatch,
    Ints,
    Objects,
    Outlines,
    Overlaps,
    concatenate_texts,
    offsets_of,
    some_texts,
    stretches,
)
from evaltex_cli.records.rows import take


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of PQ, with the defaults of HierText's program."""

    iou: float = parameter(0.5, "a pair has an IoU above this", min=0.0, max=1.0)
    dont_care_overlap: float = parameter(
        0.5, "a detection with more than this share in don't care is ignored", min=0.0, max=1.0
    )
    objects: str = parameter(
        "each",
        "what is scored: each object, or the union of the objects of each region (regions)",
        choices=("each", "regions"),
    )
    text: bool = parameter(False, "a pair counts only if its texts are the same")
    normalisation: str = normalisation_field("nfc")


@dataclass(frozen=True, eq=False)
class Tally(ObjectTally):
    """Evidence of PQ: the number of pairs, and the sum of their IoUs."""

    pairs: Count
    iou_sum: Sum

    def check(self) -> None:
        super().check()
        require(self.pairs <= self.counted_gt_objects, "more pairs than objects")
        require(self.pairs <= self.counted_detections, "more pairs than detections")
        require(at_most(self.iou_sum, self.pairs), "a larger sum of IoUs than pairs")


def evidence(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool
) -> Evidence:
    """Pair a batch, and count the pairs of its images and sum their IoUs."""
    if parameters.text:
        batch = with_normalised_texts(batch, parameters.normalisation)
    if parameters.objects == "each":
        return _evidence(batch, overlaps, parameters, with_matches)
    needs(batch, parameters)
    gt, det = _regions(batch.gt, overlaps.gt_area), _regions(batch.det, overlaps.det_area)
    regions = replace(batch, gt=gt.objects, det=det.objects)
    found = _evidence(regions, _overlaps(batch, overlaps, gt, det), parameters, with_matches)
    if found.matches is None:
        return found
    return found._replace(matches=_of_members(found.matches, gt.of, det.of))


def needs(batch: ImageBatch, parameters: Parameters) -> None:
    """Refuse label pictures whose regions are to be compared.

    Raises
    ------
    InputError
    """
    if parameters.objects == "regions" and batch.has_masks:
        raise InputError(
            "pq: objects=regions does not work on label pictures; leave out their folders"
        )


def _evidence(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool
) -> Evidence:
    gt_counts = ~batch.gt.dont_care
    det_counts = ~ignored_detections(batch, overlaps, parameters.dont_care_overlap)
    similarity = iou(overlaps)
    pairs = _pairs(overlaps, similarity, gt_counts, det_counts, parameters.iou)
    if parameters.text:
        pairs = pairs[_same_text(batch, overlaps.gt[pairs], overlaps.det[pairs])]
    gt, det, of_pairs = overlaps.gt[pairs], overlaps.det[pairs], similarity[pairs]
    image, images = batch.gt.image[gt], len(batch.names)
    tally = Tally(
        *object_counts(batch, gt_counts, det_counts),
        pairs=np.bincount(image, minlength=images),
        iou_sum=per_image(of_pairs, image, images),
    )
    if not with_matches:
        return Evidence(tally)
    gt_values, det_values = (
        scatter({"iou": of_pairs}, index, side.count)
        for index, side in ((gt, batch.gt), (det, batch.det))
    )
    return Evidence(tally, matches(gt, det, gt_counts, det_counts, gt_values, det_values))


def _pairs(
    overlaps: Overlaps, similarity: Floats, gt_counts: Bools, det_counts: Bools, threshold: float
) -> Ints:
    """Indices of the overlaps of which either side is the other's best, and
    that are above the threshold.
    """
    free = gt_counts[overlaps.gt] & det_counts[overlaps.det]
    candidates = np.flatnonzero(free & (settled(similarity, threshold, overlaps) > threshold))
    gt, det, of_pairs = overlaps.gt[candidates], overlaps.det[candidates], similarity[candidates]
    best_of_gt, best_of_det = (
        _is_best(own, other, equalised(of_pairs, own, overlaps, candidates))
        for own, other in ((gt, det), (det, gt))
    )
    return candidates[best_of_gt & best_of_det]


def _is_best(own: Ints, other: Ints, similarity: Floats) -> Bools:
    """(p,) whether a candidate is the best of its `own` side; of ties the
    first of the other side is.
    """
    order = np.lexsort((other, -similarity, own))
    result = np.zeros(len(own), dtype=bool)
    result[order[np.diff(own[order], prepend=-1) > 0]] = True
    return result


def _same_text(batch: ImageBatch, gt: Ints, det: Ints) -> Bools:
    texts = some_texts(batch.gt.texts, gt), some_texts(batch.det.texts, det)
    return np.fromiter(map(eq, *texts), np.bool_, len(gt))


# Regions ------------------------------------------------------------------------------------------


class _Regions(NamedTuple):
    """The regions of one side."""

    objects: Objects
    """Each as one object with its bounding box; don't care if one of its members is."""
    of: Ints
    """(n,) int64. The region of each member."""
    area: Floats
    """(regions,) float64. Areas of the unions of their members."""


def _regions(members: Objects, area: Floats) -> _Regions:
    """Unite the objects of each region of an image; `area` (n,) is that of each."""
    image = members.image
    order = np.lexsort((members.regions, image))
    is_first = (np.diff(image[order], prepend=-1) > 0) | (
        np.diff(members.regions[order], prepend=-1) != 0
    )
    of, first = np.empty(members.count, np.int64), order[is_first]
    of[order] = np.cumsum(is_first) - 1
    starts = np.flatnonzero(is_first)
    low, high = (
        edge.reduceat(members.boxes[order, corner], starts) if len(starts) else np.zeros((0, 2))
        for edge, corner in ((np.minimum, slice(0, 2)), (np.maximum, slice(2, 4)))
    )
    words: list[list[str]] = [[] for _ in first]
    for k, text in zip(of.tolist(), members.texts, strict=True):
        words[k].append(text)
    one_each = take(
        members, first, offsets_of(np.bincount(image[first], minlength=len(members.offsets) - 1))
    )
    regions = replace(
        one_each,
        outlines=Outlines.of_boxes(np.concatenate([low, high], axis=1)),
        dont_care=np.bincount(of, weights=members.dont_care, minlength=len(first)) > 0,
        texts=concatenate_texts([" ".join(filter(None, of_region)) for of_region in words]),
    )
    outlines, every = shapes.from_objects(members, Convention()), np.arange(members.count)
    return _Regions(
        regions,
        of,
        shapes.union_area(of, shapes.Pairs(outlines, every, outlines, every, area), len(first)),
    )


def _overlaps(batch: ImageBatch, overlaps: Overlaps, gt: _Regions, det: _Regions) -> Overlaps:
    """Return the overlaps of regions: the areas of the unions of their members' overlaps."""
    detections = max(det.objects.count, 1)
    keys, of_pair = np.unique(
        gt.of[overlaps.gt] * detections + det.of[overlaps.det], return_inverse=True
    )
    gt_shapes, det_shapes = shapes_of(batch, Convention())
    pairs = shapes.Pairs(gt_shapes, overlaps.gt, det_shapes, overlaps.det, overlaps.area)
    return Overlaps(
        *np.divmod(keys, detections),
        shapes.union_area(of_pair, pairs, len(keys)),
        gt.area,
        det.area,
        gt.objects.boxes,
        det.objects.boxes,
    )


def _of_members(found: Matches, gt: Ints, det: Ints) -> Matches:
    """Give each member the match of its region, with all members of its partner as partners."""
    return Matches(_of_side(found.gt, gt, det), _of_side(found.det, det, gt))


def _of_side(regions: SideMatches, own: Ints, other: Ints) -> SideMatches:
    offsets, members = group_by(other, np.arange(len(other)), int(other.max(initial=-1)) + 1)
    partner = np.full(len(regions.types), -1)
    partner[np.diff(regions.offsets) > 0] = regions.partners  # a region has one partner or none
    counts = np.append(np.diff(offsets), 0)[partner[own]]  # the 0 is of the partner -1
    types: NDArray[np.uint8] = regions.types[own]
    return SideMatches(
        types,
        offsets_of(counts),
        members[stretches(offsets[partner[own]], counts)],
        {name: values[own] for name, values in regions.values.items()},
    )


# Scores -------------------------------------------------------------------------------------------


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """Recall, precision, their harmonic mean RQ, the mean IoU of the pairs SQ, and PQ = RQ · SQ."""
    objects, detections, pairs = tally.counted_gt_objects, tally.counted_detections, tally.pairs
    recall, precision, sq = (
        where(whole > 0, ratio(part, whole), 1.0)
        for part, whole in ((pairs, objects), (pairs, detections), (tally.iou_sum, pairs))
    )
    rq = harmonic_mean(recall, precision)
    return {"recall": recall, "precision": precision, "rq": rq, "sq": sq, "pq": rq * sq}


PROTOCOL = Protocol(
    name="pq",
    title="PQ, RQ, SQ (HierText)",
    measures="panoptic quality of one-to-one matches",
    parameters=Parameters,
    tally=Tally,
    evidence=evidence,
    scores=scores,
    headline=("recall", "precision", "rq", "sq", "pq"),
    main_score="pq",
    needs=needs,
    object_credit=mean_of("iou"),
)
