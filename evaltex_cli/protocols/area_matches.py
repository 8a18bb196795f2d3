"""What DetEval and ICDAR 2013 share: ratios, matching, and what matches add up to; some of it is
ICDAR 2003's, too.

Area recall is σ = Area(G ∩ D) / Area(G), area precision τ = Area(G ∩ D) / Area(D) (Wolf & Jolion,
IJDAR 8(4), 2006). Only pairs that overlap are looked at, so no score exceeds 1, thresholds of 0
included. ``parameters`` are a protocol's own; `variant` says whose program is followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from math import log
from operator import add
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.geometry.shapes import boxes_of
from evaltex_cli.protocols import matching
from evaltex_cli.protocols.base import Evidence, Scores, parameter
from evaltex_cli.protocols.matching import MANY_TO_ONE, ONE_TO_MANY, ONE_TO_ONE, above, at_least
from evaltex_cli.protocols.scores import quotient, scores_or_empty, where
from evaltex_cli.protocols.tally import Count, CreditTally, ObjectTally
from evaltex_cli.records import ANY_TYPE, Bools, Convention, Floats, ImageBatch, Ints, Overlaps


def convention(parameters: Any) -> Convention:
    """Bounding boxes whose corners are pixels, or continuous polygons."""
    if parameters.variant == "totaltext" or parameters.shape == "polygon":
        return Convention()
    return Convention(inclusive=True, truncated=parameters.variant == "wolf")


def optional(text: str) -> Any:
    """Return the field of a number; below 0 it is what the text begins with."""
    return parameter(-1.0, f"{text} (below 0: the default)", min=-1.0, max=1.0)


def or_default(value: float, default: float) -> float:
    """Return a parameter, or what it means below 0."""
    return default if value < 0 else value


def zero_rectangles_field() -> Any:
    """Return the parameter `zero_rectangles`: option ``-z`` of Wolf's evaldetection."""
    text = "rectangles without a column or row beyond 0 (ignored: evaldetection -z)"
    return parameter("counted", text, choices=("counted", "ignored"))


def without_zero_rectangles(
    batch: ImageBatch, overlaps: Overlaps, parameters: Any
) -> tuple[Overlaps, Bools, Bools]:
    """Return overlaps without rectangles of zeros, and (G,), (D,) which these are; none where they
    count. Some data sets have them in images without text.
    """
    is_ignored = parameters.zero_rectangles == "ignored" and not batch.has_masks
    pixels = (side.boxes if side.pixels is None else side.pixels for side in (batch.gt, batch.det))
    gt, det = (np.asarray(is_ignored & (corners < 1).all(axis=1)) for corners in pixels)
    return overlaps.some(~(gt[overlaps.gt] | det[overlaps.det])), gt, det


class AreaPairs(NamedTuple):
    """Objects and detections that overlap, (p,) each, as rows of the batch; their ratios σ and τ;
    and whether all but the thresholds allows a match of each type.
    """

    gt: Ints
    det: Ints
    recall: Floats
    precision: Floats
    one_to_one: Bools
    split: Bools
    merge: Bools


def area_pairs(
    batch: ImageBatch, counts: tuple[Bools, Bools], overlaps: Overlaps, parameters: Any
) -> AreaPairs:
    """Return the pairs of a batch (docs/protocols/deteval.md, section 2); (G,), (D,) bool say which
    objects and detections count.
    """
    variant, gt, det = parameters.variant, overlaps.gt, overlaps.det
    recall = quotient(overlaps.area, overlaps.gt_area[gt])
    precision = quotient(overlaps.area, overlaps.det_area[det])
    if variant == "wolf":
        recall, precision = single(recall), single(precision)
    elif variant == "totaltext":  # what only rounding has moved off a half is put back first
        recall, precision = recall.round(9).round(2), precision.round(9).round(2)
    counting = may_match = counts[0][gt] & counts[1][det]
    if variant == "wolf" and not (batch.gt.types is None or batch.det.types is None):
        a, b = batch.gt.types[gt], batch.det.types[det]
        may_match = counting & ((a == b) | (a == ANY_TYPE) | (b == ANY_TYPE))
    # Does the object overlap several that count, and does the detection?
    split = np.bincount(gt[counting & (recall > 0)], minlength=batch.gt.count)[gt] > 1
    merge = np.bincount(det[counting & (precision > 0)], minlength=batch.det.count)[det] > 1
    one_to_one = may_match & are_near(batch, overlaps, parameters)
    if variant == "icdar2013":
        split = merge = counting
    elif variant != "totaltext":
        one_to_one &= ~(split | merge)
    # Don't care competes in the competitions' scripts.
    competes = counting | (variant in ("rrc", "icdar2013"))
    columns = gt, det, recall, precision, one_to_one, may_match & split, may_match & merge
    return AreaPairs._make(column[competes] for column in columns)


def single(values: Any) -> Any:
    """Return numbers rounded to 32 bit floats, as Wolf's program holds them."""
    with np.errstate(over="ignore"):  # what is too large is no limit
        return np.asarray(values, np.float32).astype(np.float64)


def are_near(batch: ImageBatch, overlaps: Overlaps, parameters: Any) -> Bools:
    """(p,) whether the distance of centres is below a share of the mean diagonal (not for
    totaltext) and, with `border`, at most min(5 % of the width, 8 pixels) is cut left and right.
    """
    near = np.ones(len(overlaps.gt), dtype=bool)
    gt = boxes_of(batch.gt, convention(parameters))[overlaps.gt]
    det = boxes_of(batch.det, convention(parameters))[overlaps.det]
    if parameters.variant != "totaltext":
        cut = np.floor if parameters.variant == "wolf" else np.asarray  # to whole pixels
        center = single(parameters.center) if parameters.variant == "wolf" else parameters.center
        gt_sides, det_sides = (boxes[:, 2:] - boxes[:, :2] for boxes in (gt, det))
        offset = gt[:, :2] + cut(gt_sides / 2) - det[:, :2] - cut(det_sides / 2)
        distance, *diagonals = (np.linalg.norm(v, axis=1) for v in (offset, gt_sides, det_sides))
        near &= ~at_least(quotient(2 * cut(distance), sum(diagonals)), center)
    if parameters.border:
        slack = np.maximum((gt[:, 0] - gt[:, 2]) / 20, -8)
        near &= (gt[:, 0] - det[:, 0] >= slack) & (det[:, 2] - gt[:, 2] >= slack)
    return near


class Thresholds(NamedTuple):
    """Thresholds on σ ("recall") and τ ("precision"); of a split the recalls are summed, of a merge
    the precisions.
    """

    one_to_one_recall: float
    one_to_one_precision: float
    one_to_many_recall: float
    one_to_many_precision: float
    many_to_one_precision: float
    many_to_one_recall: float


ROUNDED = 0.001
"""More than sums of ratios lose where a program rounds them."""
Found: TypeAlias = tuple[AreaPairs, Ints, Floats]
"""The pairs that are matched, (m,) their types, and (m,) what the object and the detection get."""


def match_pairs(pairs: AreaPairs, t: Thresholds, parameters: Any) -> Found:
    """Match one-to-one, then splits object by object, then merges detection by detection. What one
    step has matched, no later step matches again.
    """
    variant, recall, precision = parameters.variant, pairs.recall, pairs.precision
    enough = at_least(recall, t.one_to_one_recall) & at_least(precision, t.one_to_one_precision)
    if variant == "totaltext":  # the detections of an object for either threshold may differ
        alone = are_alone(pairs, above(precision, t.one_to_one_precision))
        alone = np.isin(pairs.gt, pairs.gt[alone])
        alone &= are_alone(pairs, above(recall, t.one_to_one_recall))
    else:
        alone = are_alone(pairs, enough)
    one_to_one = alone & pairs.one_to_one
    types, credit = np.where(one_to_one, ONE_TO_ONE, matching.MISSED), one_to_one.astype(np.float64)
    gt, det = pairs.gt.tolist(), pairs.det.tolist()
    taken_gt, taken_det, matched = set[int](), set[int](), dict[int, tuple[int, float]]()
    is_logarithm = parameters.scatter == "logarithm"
    partners = (np.bincount(side, one_to_one)[side] for side in (pairs.gt, pairs.det))
    is_free = sum(partners) == 0
    split = is_free & pairs.split & at_least(precision, t.one_to_many_precision)
    merge = is_free & pairs.merge & at_least(recall, t.many_to_one_recall)
    merge_weight = or_default(parameters.merge_weight, 1.0 if variant == "rrc" else 0.8)
    for kind, is_part, owner, ratio, least, weight in (
        (ONE_TO_MANY, split, pairs.gt, recall, t.one_to_many_recall, parameters.split_weight),
        (MANY_TO_ONE, merge, pairs.det, precision, t.many_to_one_precision, merge_weight),
    ):
        # Most have too little in all their parts, and are not looked at one by one.
        suffices = np.bincount(owner, is_part * ratio)[owner] > least - ROUNDED
        suffices |= np.bincount(owner, is_part & enough)[owner] > 0
        rows = np.flatnonzero(is_part & suffices)
        rows = rows[np.argsort(owner[rows], kind="stable")]
        ratios = dict(zip(rows.tolist(), ratio[rows].tolist(), strict=True))
        for _, group in groupby(ratios, owner.tolist().__getitem__):
            parts = [row for row in group if gt[row] not in taken_gt and det[row] not in taken_det]
            if not parts:
                continue
            is_lone = len(parts) == 1
            if is_lone and variant in ("wolf", "totaltext"):
                is_match = enough[parts[0]]
            else:
                total = add_as(variant, [ratios[row] for row in parts])
                # The programs, which take boxes, add without a tolerance.
                is_exact = parameters.shape == "box" and not is_lone
                is_match = total >= least if is_exact else at_least(total, least)
            if is_match:
                match = kind, 1 / (1 + log(len(parts))) if is_logarithm else weight
                if is_lone and variant != "icdar2013":
                    match = ONE_TO_ONE, 1.0
                matched |= dict.fromkeys(parts, match)
                taken_gt.update(gt[row] for row in parts)
                taken_det.update(det[row] for row in parts)
    for row, match in matched.items():
        types[row], credit[row] = match
    is_match = types != matching.MISSED
    found = AreaPairs._make(column[is_match] for column in pairs)
    return found, types[is_match], credit[is_match]


def are_alone(pairs: AreaPairs, passing: Bools) -> Bools:
    """(p,) whether a pair passes, and no other pair of its object or its detection does."""
    of_gt = np.bincount(pairs.gt, passing)[pairs.gt]
    of_det = np.bincount(pairs.det, passing)[pairs.det]
    return np.asarray(passing & (of_gt == 1) & (of_det == 1))


def add_as(variant: str, ratios: list[float]) -> float:
    """Add one ratio after another: in 32 bits (``wolf``), rounded to 4 decimals (``rrc``), or
    plainly; from Python 3.12 on, `sum` rounds otherwise.
    """
    if variant == "wolf":
        return float(np.cumsum(ratios, dtype=np.float32)[-1])
    total = reduce(add, ratios)
    return round(10_000 * total) / 10_000 if variant == "rrc" else total


@dataclass(frozen=True, eq=False)
class AreaTally(CreditTally):
    """Evidence: objects and detections, their credits, and matches by type."""

    one_to_one: Count
    one_to_many: Count
    many_to_one: Count
    named_in_detections: Count


def credits_of_objects(batch: ImageBatch, found: Found) -> tuple[Floats, Floats]:
    """(G,), (D,) credits of objects and of detections."""
    pairs, _, credit = found
    gt = matching.scatter(credit, pairs.gt, batch.gt.count)
    return gt, matching.scatter(credit, pairs.det, batch.det.count)


def evidence_of(
    batch: ImageBatch, counts: tuple[Bools, Bools], found: Found, tally: Any = AreaTally, **own: Any
) -> Evidence:
    """Sum what the images of a batch contribute, besides a tally's own columns, and describe their
    objects: ``credit``, and σ or τ summed over the partners, at most 1; (G,), (D,) bool say which
    objects and detections count.
    """
    (gt, det, recall, precision, *_), types, _ = found
    per_image, images = matching.per_image, len(batch.names)
    gt_credit, det_credit = credits_of_objects(batch, found)
    recall = np.minimum(np.bincount(gt, recall, batch.gt.count), 1.0)
    precision = np.minimum(np.bincount(det, precision, batch.det.count), 1.0)
    gt_values = {"credit": gt_credit, "area_recall": recall}
    det_values = {"credit": det_credit, "area_precision": precision}
    matched = matching.matches(gt, det, *counts, gt_values, det_values)
    matched.gt.types[gt] = matched.det.types[det] = types
    sums = tally(
        *matching.object_counts(batch, *counts),
        *matching.image_sums(batch, gt_credit, det_credit),
        one_to_one=per_image(matched.gt.types == ONE_TO_ONE, batch.gt.image, images),
        one_to_many=per_image(matched.gt.types == ONE_TO_MANY, batch.gt.image, images),
        many_to_one=per_image(matched.det.types == MANY_TO_ONE, batch.det.image, images),
        named_in_detections=batch.named_in_detections.astype(np.int64),
        **own,
    )
    return Evidence(sums, matched)


def as_competition(tally: AreaTally, scores: Scores) -> Scores:
    """Return an image's scores, or what the competitions' scripts print for one without an object
    that counts: recall 1, and precision 1 without detections, else 0; both are 0 where the
    detections do not name it.
    """
    has_objects, is_named = tally.counted_gt_objects > 0, tally.named_in_detections > 0
    precision = where(is_named & (tally.detections == 0), 1.0, 0.0)
    return scores_or_empty(has_objects, scores, where(is_named, 1.0, 0.0), precision)


def one_without_any(tally: ObjectTally, scores: Scores) -> Scores:
    """Return an image's scores, or 1 where neither objects nor detections count."""
    has_any = (tally.counted_gt_objects > 0) | (tally.counted_detections > 0)
    return {name: where(has_any, value, 1.0) for name, value in scores.items()}
