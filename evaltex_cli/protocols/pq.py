"""PQ (Long et al., Towards End-to-End Unified Scene Text Detection and Layout Analysis, CVPR 2022;
HierText).

Task: text localisation at the level of words, lines or paragraphs, by boxes, polygons or labelled
masks; with ``text=true`` end to end. Panoptic quality (Kirillov et al., CVPR 2019) is the mean IoU
of the pairs (SQ) times their F-score (RQ). An object and a detection are a pair if each is the
other's best by IoU, and this is above 0.5.

With ``objects=regions`` the objects of one region of an image are one: the union of their shapes.
So words that say which line or paragraph they belong to are scored as HierText scores lines and
paragraphs. Its program measures words as polygons, lines and paragraphs by the pixels that OpenCV
fills (``areas=pixels``); an IoU of exactly 0.5 is enough only on pixels.

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

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import InputError, quote
from evaltex_cli.geometry import boxes as box_geometry
from evaltex_cli.geometry.filled import fill
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.protocols.base import Evidence, Protocol, Scores, parameter
from evaltex_cli.protocols.matching import (
    Matches,
    SideMatches,
    above,
    at_least,
    group_by,
    in_dont_care,
    matches,
    mean_of,
    object_counts,
    per_image,
    scatter,
    unique_pairs,
)
from evaltex_cli.protocols.normalisation import normalisation_field, with_normalised_texts
from evaltex_cli.protocols.scores import harmonic_mean, ratio, where
from evaltex_cli.protocols.tally import Count, ObjectTally, Sum, at_most, require
from evaltex_cli.records import (
    Bools,
    Convention,
    ImageBatch,
    Ints,
    Objects,
    Outlines,
    Overlaps,
    concatenate_texts,
    offsets_of,
    ranges,
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
    areas: str = parameter(
        "polygons",
        "areas of polygons (polygons), or the pixels that OpenCV fills (pixels)",
        choices=("polygons", "pixels"),
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


def convention(parameters: Parameters) -> Convention | None:
    """Continuous coordinates, unless pixels are counted."""
    return None if parameters.areas == "pixels" else Convention()


def evidence(batch: ImageBatch, overlaps: Overlaps | None, parameters: Parameters) -> Evidence:
    """Pair a batch, and count the pairs of its images and sum their IoUs."""
    if parameters.text:
        batch = with_normalised_texts(batch, parameters.normalisation)
    if parameters.objects == "each" and overlaps is not None:
        return pair(batch, overlaps, parameters)
    if batch.has_masks:
        raise InputError(
            "pq: objects=regions and areas=pixels do not work on label pictures; leave out their"
            " folders"
        )
    gt, gt_region = regions_of(batch.gt, parameters)
    det, det_region = regions_of(batch.det, parameters)
    if overlaps is None:
        overlaps = filled(batch, gt, gt_region, det, det_region)
    else:
        overlaps = united(overlaps, gt, gt_region, det, det_region)
    evidence = pair(replace(batch, gt=gt, det=det), overlaps, parameters)
    of_gt = of_members(evidence.matches.gt, gt_region, det_region)
    of_det = of_members(evidence.matches.det, det_region, gt_region)
    return evidence._replace(matches=Matches(of_gt, of_det))


def pair(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Evidence:
    """Pair objects and detections that are each other's best, but for those of don't care."""
    is_enough, det_area = above, overlaps.det_area
    if parameters.areas == "pixels":
        # The program adds 0.00001 in single precision, which is nothing from 256 pixels on.
        is_enough, det_area = at_least, np.add(det_area, 1e-5, dtype=np.float32).astype(np.float64)
    gt_counts = ~batch.gt.dont_care
    measured = overlaps._replace(det_area=det_area)
    det_counts = ~in_dont_care(batch, measured, parameters.dont_care_overlap, is_enough)
    pairs = overlaps.some(gt_counts[overlaps.gt] & det_counts[overlaps.det])
    pairs = pairs.some(is_enough(pairs.iou(), parameters.iou) & are_best(pairs))
    if parameters.text:
        both = zip(pairs.gt.tolist(), pairs.det.tolist(), strict=True)
        same = [batch.gt.texts[i] == batch.det.texts[j] for i, j in both]
        pairs = pairs.some(np.array(same, dtype=bool))
    gt, det, iou = pairs.gt, pairs.det, pairs.iou()
    image, images = batch.gt.image[gt], len(batch.names)
    tally = Tally(
        *object_counts(batch, gt_counts, det_counts),
        pairs=np.bincount(image, minlength=images),
        iou_sum=per_image(iou, image, images),
    )
    gt_values, det_values = (
        {"iou": scatter(iou, index, side.count)}
        for index, side in ((gt, batch.gt), (det, batch.det))
    )
    return Evidence(tally, matches(gt, det, gt_counts, det_counts, gt_values, det_values))


def are_best(pairs: Overlaps) -> Bools:
    """(p,) pairs of which either side is the other's best by IoU; of ties the first is."""
    gt, det, worst_last = pairs.gt, pairs.det, -pairs.iou().round(9)
    result = np.ones(len(gt), dtype=bool)
    for own, other in ((gt, det), (det, gt)):
        order = np.lexsort((other, worst_last, own))
        result[order[np.diff(own[order], prepend=-1) == 0]] = False
    return result


# Regions ------------------------------------------------------------------------------------------


def regions_of(members: Objects, parameters: Parameters) -> tuple[Objects, Ints]:
    """Return each region of an image, or each object, as one object, its outline a bounding box,
    and (n,) which one each member is in. A region is don't care if one of its members is.
    """
    number = members.regions if parameters.objects == "regions" else np.arange(members.count)
    first, region = unique_pairs(members.image, number)
    words: list[list[str]] = [[] for _ in first]
    for k, text in zip(region.tolist(), members.texts, strict=True):
        words[k].append(text)
    images = len(members.offsets) - 1
    regions = replace(
        take(members, first, offsets_of(np.bincount(members.image[first], minlength=images))),
        outlines=Outlines.of_boxes(box_geometry.around_groups(members.boxes, region)),
        dont_care=np.bincount(region, weights=members.dont_care, minlength=len(first)) > 0,
        texts=concatenate_texts([" ".join(filter(None, own)) for own in words]),
    )
    return regions, region


def united(
    overlaps: Overlaps, gt: Objects, gt_region: Ints, det: Objects, det_region: Ints
) -> Overlaps:
    """Return the overlaps of regions: the areas of the unions of their members' overlaps."""
    gt_shapes, det_shapes = overlaps.gt_shapes, overlaps.det_shapes
    every = np.arange(len(gt_region))
    gt_area = gt_shapes.union_area(gt_region, gt.count, every, gt_shapes, every)
    every = np.arange(len(det_region))
    det_area = det_shapes.union_area(det_region, det.count, every, det_shapes, every)
    i, j = gt_region[overlaps.gt], det_region[overlaps.det]
    first, both = unique_pairs(i, j)
    common = gt_shapes.union_area(both, len(first), overlaps.gt, det_shapes, overlaps.det)
    return Overlaps(i[first], j[first], common, gt_area, det_area, gt_shapes, det_shapes)


def filled(
    batch: ImageBatch, gt: Objects, gt_region: Ints, det: Objects, det_region: Ints
) -> Overlaps:
    """Return the overlaps of regions on pixels; as in the program, bounding boxes must share some
    area.
    """
    for k in np.flatnonzero((batch.sizes <= 0).any(axis=1)).tolist():
        raise InputError(
            f"image {quote(batch.names[k])} has no height and width, which areas=pixels needs; give"
            " the folder of the pictures by --images"
        )
    gt_masks = fill(batch.gt.outlines, gt_region, gt.image, batch.sizes)
    det_masks = fill(batch.det.outlines, det_region, det.image, batch.sizes)
    i, j = touching_boxes(gt.boxes, gt.offsets, det.boxes, det.offsets)
    common = gt_masks.pair_area(i, det_masks, j)
    common *= box_geometry.area(box_geometry.intersection(gt.boxes[i], det.boxes[j])) > 0
    sides = gt_masks.area(), det_masks.area(), gt_masks, det_masks
    return Overlaps(i, j, common, *sides).some(common > 0)


def of_members(regions: SideMatches, own: Ints, other: Ints) -> SideMatches:
    """Give each member the match of its region, with all members of its partner as partners."""
    offsets, members = group_by(other, np.arange(len(other)), int(other.max(initial=-1)) + 1)
    partner = np.full(len(regions.types), -1)
    partner[np.diff(regions.offsets) > 0] = regions.partners  # a region has one partner or none
    counts = np.append(np.diff(offsets), 0)[partner[own]]  # the 0 is of the partner -1
    types: NDArray[np.uint8] = regions.types[own]
    return SideMatches(
        types,
        offsets_of(counts),
        members[ranges(offsets[partner[own]], counts)],
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
    title="PQ, RQ, SQ (HierText): panoptic quality of one-to-one matches",
    version=1,
    parameters=Parameters,
    tally=Tally,
    evidence=evidence,
    scores=scores,
    convention=convention,
    headline=("recall", "precision", "rq", "sq", "pq"),
    object_credit=mean_of("iou"),
)
