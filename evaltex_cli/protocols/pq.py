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
from typing import Any

import numpy as np
import shapely

from evaltex_cli.errors import InputError, quote
from evaltex_cli.geometry import boxes as box_geometry
from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.filled import fill
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.protocols import matching
from evaltex_cli.protocols.base import Evidence, Protocol, Scores, parameter
from evaltex_cli.protocols.scores import harmonic_mean, ratio, where
from evaltex_cli.protocols.tally import Count, ObjectTally, Sum
from evaltex_cli.protocols.texts import normalisation_field, with_normalised_texts
from evaltex_cli.records import (
    Convention,
    ImageBatch,
    Ints,
    Objects,
    Outlines,
    Overlaps,
    Texts,
    offsets_of,
    ranges,
)


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


def evidence(batch: ImageBatch, overlaps: Overlaps | None, parameters: Parameters) -> Evidence:
    """Pair a batch, and count the pairs of its images and sum their IoUs."""
    if parameters.text:
        batch = with_normalised_texts(batch, parameters.normalisation)
    if overlaps is not None:
        return pair(batch, overlaps, parameters)
    if batch.has_masks:
        raise InputError("pq: leave out the label pictures, or objects=regions and areas=pixels")
    gt, gt_shapes, gt_region = regions_of(batch, batch.gt, parameters)
    det, det_shapes, det_region = regions_of(batch, batch.det, parameters)
    i, j = touching_boxes(gt.boxes, gt.offsets, det.boxes, det.offsets)
    # Flat words have pixels, too; but the program wants bounding boxes that share some area.
    common = gt_shapes.pair_area(i, det_shapes, j)
    common *= box_geometry.area(box_geometry.intersection(gt.boxes[i], det.boxes[j])) > 0
    sides = gt_shapes.area(), det_shapes.area(), gt_shapes, det_shapes
    overlaps = Overlaps(i, j, common, *sides).some(common > 0)
    evidence = pair(replace(batch, gt=gt, det=det), overlaps, parameters)
    of_gt = of_members(evidence.matches.gt, gt_region, det_region)
    of_det = of_members(evidence.matches.det, det_region, gt_region)
    return evidence._replace(matches=matching.Matches(of_gt, of_det))


def pair(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Evidence:
    """Pair objects and detections that are each other's best, but for those of don't care."""
    is_enough, measured = matching.above, overlaps
    if parameters.areas == "pixels":
        # The program adds 0.00001 in single precision, which is nothing from 256 pixels on.
        is_enough = matching.at_least
        measured = overlaps._replace(det_area=np.add(overlaps.det_area, 1e-5, dtype=np.float32))
    gt_counts = ~batch.gt.dont_care
    det_counts = ~matching.in_dont_care(batch, measured, parameters.dont_care_overlap, is_enough)
    pairs = overlaps.some(gt_counts[overlaps.gt] & det_counts[overlaps.det])
    gt, det, iou = pairs.gt, pairs.det, pairs.iou()
    is_pair = matching.are_best(gt, det, iou) & matching.are_best(det, gt, iou)
    is_pair &= is_enough(iou, parameters.iou)
    if parameters.text:
        same = [batch.gt.texts[i] == batch.det.texts[j] for i, j in matching.pairs_of(pairs)]
        is_pair &= np.array(same, bool)
    gt, det, iou = gt[is_pair], det[is_pair], iou[is_pair]
    image, images = batch.gt.image[gt], len(batch.names)
    tally = Tally(
        *matching.object_counts(batch, gt_counts, det_counts),
        pairs=np.bincount(image, minlength=images),
        iou_sum=matching.per_image(iou, image, images),
    )
    return Evidence(tally, matching.one_to_one(gt, det, gt_counts, det_counts, iou=iou))


# Regions ------------------------------------------------------------------------------------------


def regions_of(
    batch: ImageBatch, members: Objects, parameters: Parameters
) -> tuple[Objects, Any, Ints]:
    """Return each region of an image, or each object, as one object, its outline a bounding box;
    the unions of their members' shapes; and (n,) which one each member is in. A region is don't
    care if one of its members is.
    """
    number = members.regions if parameters.objects == "regions" else np.arange(members.count)
    first, region = matching.unique_pairs(members.image, number)
    rows = np.split(np.argsort(region, kind="stable"), np.cumsum(np.bincount(region)))[:-1]
    texts = [" ".join(filter(None, members.texts[own])) for own in rows]
    image = members.image[first]
    regions = Objects(
        offsets_of(np.bincount(image, minlength=len(batch.names))),
        members.ids[first],
        Outlines.of_boxes(box_geometry.around_groups(members.boxes, region)),
        members.regions[first],
        np.bincount(region, members.dont_care, len(first)) > 0,
        Texts.of(texts),
    )
    if parameters.areas == "polygons":
        drawn = shapes.from_objects(members, Convention()).geometries(np.arange(members.count))
        unions = np.array([shapely.union_all(drawn[own]) for own in rows], dtype=object)
        return regions, shapes.Shapes(regions.boxes).replaced(np.arange(len(rows)), unions), region
    for name in np.array(batch.names)[(batch.sizes <= 0).any(axis=1)].tolist():
        raise InputError(
            f"image {quote(name)} has no height and width, which areas=pixels needs; give the"
            " folder of the pictures by --images"
        )
    return regions, fill(members.outlines, region, image, batch.sizes), region


def of_members(regions: matching.SideMatches, own: Ints, other: Ints) -> matching.SideMatches:
    """Give each member the match of its region, with all members of its partner as partners."""
    partner = np.full(len(regions.types), -1)
    partner[np.diff(regions.offsets) > 0] = regions.partners  # a region has one partner or none
    members = np.argsort(other, kind="stable")
    start = np.searchsorted(other[members], partner[own])
    counts = np.searchsorted(other[members], partner[own], side="right") - start
    values = {name: column[own] for name, column in regions.values.items()}
    partners = members[ranges(start, counts)]
    return matching.SideMatches(regions.types[own], offsets_of(counts), partners, values)


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
    parameters=Parameters,
    tally=Tally,
    evidence=evidence,
    scores=scores,
    convention=lambda p: Convention() if (p.objects, p.areas) == ("each", "polygons") else None,
    headline=("recall", "precision", "rq", "sq", "pq"),
    object_credit=matching.mean_of("iou"),
)
