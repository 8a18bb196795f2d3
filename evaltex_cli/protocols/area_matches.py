"""What DetEval and ICDAR 2013 share: ratios, pairs, matching, and what matches add up to.

Area recall is σ = Area(G ∩ D) / Area(G), area precision τ = Area(G ∩ D) / Area(D) (Wolf & Jolion,
IJDAR 8(4), 2006). Only pairs that overlap are looked at, and a split or merge has at least one
part, so no object is credited twice and no score exceeds 1, thresholds of 0 included.

``parameters`` are those of either protocol; `variant` says whose program is followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from math import log
from operator import add, attrgetter, itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.geometry import shapes
from evaltex_cli.protocols import matching
from evaltex_cli.protocols.base import Scores, parameter
from evaltex_cli.protocols.matching import MANY_TO_ONE, ONE_TO_MANY, ONE_TO_ONE, above, at_least
from evaltex_cli.protocols.scores import harmonic_mean, quotient, where
from evaltex_cli.protocols.tally import Count, CreditTally
from evaltex_cli.records import ANY_TYPE, Bools, Convention, ImageBatch, Ints, Overlaps


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


# Pairs --------------------------------------------------------------------------------------------


class AreaPair(NamedTuple):
    """An object and a detection that overlap, as rows of the batch; their ratios; and whether all
    but the thresholds allows a match of each kind.
    """

    gt: int
    det: int
    recall: float
    precision: float
    one_to_one: bool
    split: bool
    merge: bool


GT, DET = attrgetter("gt"), attrgetter("det")
RECALL, PRECISION = attrgetter("recall"), attrgetter("precision")


def area_pairs(
    batch: ImageBatch, counts: tuple[Bools, Bools], overlaps: Overlaps, parameters: Any
) -> list[tuple[int, list[AreaPair]]]:
    """Return the number of each image that has pairs, and its pairs (docs/protocols/deteval.md,
    section 2); (G,), (D,) bool say which objects and detections count.
    """
    variant, gt, det = parameters.variant, overlaps.gt, overlaps.det
    recall = quotient(overlaps.area, overlaps.gt_area[gt])
    precision = quotient(overlaps.area, overlaps.det_area[det])
    if variant == "wolf":
        recall, precision = single(recall), single(precision)
    elif variant == "totaltext":  # what only rounding has moved off a half is put back first
        recall, precision = recall.round(9).round(2), precision.round(9).round(2)
    counting = counts[0][gt] & counts[1][det]
    # Does the object overlap several that count, and does the detection?
    split = np.bincount(gt[counting & (recall > 0)], minlength=batch.gt.count)[gt] > 1
    merge = np.bincount(det[counting & (precision > 0)], minlength=batch.det.count)[det] > 1
    may_match = counting & are_alike(batch, gt, det) if variant == "wolf" else counting
    one_to_one = may_match & are_near(batch, gt, det, parameters)
    if variant == "icdar2013":
        split = merge = counting
    elif variant != "totaltext":
        one_to_one &= ~(split | merge)
    # Don't care competes in the competitions' scripts.
    competes = counting | (variant in ("rrc", "icdar2013"))
    columns = gt, det, recall, precision, one_to_one, may_match & split, may_match & merge
    image, *own = (column[competes].tolist() for column in (batch.gt.image[gt], *columns))
    pairs = zip(image, map(AreaPair, *own), strict=True)
    return [(k, [pair for _, pair in group]) for k, group in groupby(pairs, itemgetter(0))]


def single(values: Any) -> Any:
    """Return numbers rounded to 32 bit floats, as Wolf's program holds them."""
    with np.errstate(over="ignore"):  # what is too large is no limit
        return np.asarray(values, np.float32).astype(np.float64)


def are_alike(batch: ImageBatch, gt: Ints, det: Ints) -> Bools:
    """(p,) whether objects and detections have the same type, or one of them has none."""
    if batch.gt.types is None or batch.det.types is None:
        return np.ones(len(gt), dtype=bool)
    a, b = batch.gt.types[gt], batch.det.types[det]
    return np.asarray((a == b) | (a == ANY_TYPE) | (b == ANY_TYPE))


def are_near(batch: ImageBatch, gt: Ints, det: Ints, parameters: Any) -> Bools:
    """(p,) whether the distance of centres is below a share of the mean diagonal (not for
    totaltext) and, with `border`, at most min(5 % of the width, 8 pixels) is cut left and right.
    """
    near = np.ones(len(gt), dtype=bool)
    gt_boxes = shapes.boxes_of(batch.gt, convention(parameters))[gt]
    det_boxes = shapes.boxes_of(batch.det, convention(parameters))[det]
    if parameters.variant != "totaltext":
        is_wolf = parameters.variant == "wolf"  # whole pixels
        cut, center = (np.floor if is_wolf else np.asarray), parameters.center
        gt_sides, det_sides = (boxes[:, 2:] - boxes[:, :2] for boxes in (gt_boxes, det_boxes))
        offset = gt_boxes[:, :2] + cut(gt_sides / 2) - det_boxes[:, :2] - cut(det_sides / 2)
        distance, *diagonals = (np.linalg.norm(v, axis=1) for v in (offset, gt_sides, det_sides))
        share = quotient(2 * cut(distance), sum(diagonals))
        near &= ~at_least(share, single(center) if is_wolf else center)
    if parameters.border:
        slack = np.maximum((gt_boxes[:, 0] - gt_boxes[:, 2]) / 20, -8)
        near &= gt_boxes[:, 0] - det_boxes[:, 0] >= slack
        near &= det_boxes[:, 2] - gt_boxes[:, 2] >= slack
    return near


# Matching -----------------------------------------------------------------------------------------


class Thresholds(NamedTuple):
    """Thresholds on σ ("recall") and τ ("precision").

    `one_to_many_recall` and `many_to_one_precision` are what the sum over all parts has to reach,
    `one_to_many_precision` and `many_to_one_recall` what every part has to.
    """

    one_to_one_recall: float
    one_to_one_precision: float
    one_to_many_recall: float
    one_to_many_precision: float
    many_to_one_precision: float
    many_to_one_recall: float


Match: TypeAlias = tuple[int, list[AreaPair]]
"""The type of a match and its pairs: one, or the parts of a split or merge."""


def match_image(
    pairs: list[AreaPair], t: Thresholds, parameters: Any
) -> tuple[list[Match], list[float]]:
    """Match an image: one-to-one, then splits object by object, then merges detection by detection.
    What one step has matched, no later step matches again.

    Also returns the sums of ratios that were compared with a threshold.
    """
    variant, sums = parameters.variant, []
    if variant == "totaltext":
        one_to_one = fit_separately(pairs, t)
    else:
        one_to_one = matching.alone([pair for pair in pairs if fits(pair, t)])
        one_to_one = [pair for pair in one_to_one if pair.one_to_one]
    found: list[Match] = [(ONE_TO_ONE, [pair]) for pair in one_to_one]
    gt, det = set(map(GT, one_to_one)), set(map(DET, one_to_one))
    split = [p for p in pairs if p.split and at_least(p.precision, t.one_to_many_precision)]
    merge = [p for p in pairs if p.merge and at_least(p.recall, t.many_to_one_recall)]
    for kind, parts, owner, ratio, least in (
        (ONE_TO_MANY, split, GT, RECALL, t.one_to_many_recall),
        (MANY_TO_ONE, merge, DET, PRECISION, t.many_to_one_precision),
    ):
        for _, own in groupby(sorted(parts, key=owner), owner):
            free = [pair for pair in own if pair.gt not in gt and pair.det not in det]
            if not free:
                continue
            is_lone = len(free) == 1
            if is_lone and variant in ("wolf", "totaltext"):
                is_match = fits(free[0], t)
            else:
                sums.append(add_as(variant, [*map(ratio, free)]))
                # The programs, which take boxes, add without a tolerance.
                is_exact = parameters.shape == "box" and not is_lone
                is_match = sums[-1] >= least if is_exact else at_least(sums[-1], least)
            if is_match:
                found.append((ONE_TO_ONE if is_lone and variant != "icdar2013" else kind, free))
                gt.update(map(GT, free))
                det.update(map(DET, free))
    return found, sums


def fits(pair: AreaPair, t: Thresholds) -> bool:
    """Whether a pair passes both thresholds of a one-to-one match."""
    enough = at_least(pair.recall, t.one_to_one_recall)
    return bool(enough and at_least(pair.precision, t.one_to_one_precision))


def fit_separately(pairs: list[AreaPair], t: Thresholds) -> list[AreaPair]:
    """Return Total-Text's one-to-one matches: pairs that alone pass the first threshold, of objects
    with a pair, perhaps another one, that alone passes the second.
    """
    found = [pair for pair in pairs if above(pair.recall, t.one_to_one_recall)]
    right = [pair for pair in pairs if above(pair.precision, t.one_to_one_precision)]
    objects = set(map(GT, matching.alone(right)))
    return [p for p in matching.alone(found) if p.gt in objects and p.one_to_one]


def add_as(variant: str, ratios: list[float]) -> float:
    """Add one ratio after another: in 32 bits (``wolf``), rounded to 4 decimals (``rrc``), or
    plainly; from Python 3.12 on, `sum` rounds otherwise.
    """
    if variant == "wolf":
        return float(np.cumsum(ratios, dtype=np.float32)[-1])
    total = reduce(add, ratios)
    return round(10_000 * total) / 10_000 if variant == "rrc" else total


def credit_of(match: Match, parameters: Any) -> float:
    """Return the credit of each object and detection of a match."""
    kind, parts = match
    if kind == ONE_TO_ONE:
        return 1.0
    if parameters.scatter == "logarithm":
        return 1 / (1 + log(len(parts)))
    if kind == ONE_TO_MANY:
        return float(parameters.split_weight)
    return or_default(parameters.merge_weight, 1.0 if parameters.variant == "rrc" else 0.8)


# Evidence and scores ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AreaTally(CreditTally):
    """Evidence: objects and detections, their credits, and matches by type."""

    one_to_one: Count
    one_to_many: Count
    many_to_one: Count
    named_in_detections: Count


def tally_and_matches(
    batch: ImageBatch, counts: tuple[Bools, Bools], found: list[Match], parameters: Any
) -> tuple[AreaTally, matching.Matches]:
    """Sum what the images of a batch contribute, and describe their objects: ``credit``, and σ or τ
    summed over the partners, at most 1; (G,), (D,) bool say which objects and detections count.
    """
    (gt_counts, det_counts), images = counts, len(batch.names)
    per_image = matching.per_image
    rows = [(m[0], credit_of(m, parameters), *pair[:4]) for m in found for pair in m[1]]
    kind, credit, *own, recall, precision = np.array(rows, np.float64).reshape(-1, 6).T
    gt, det = (column.astype(np.int64) for column in own)
    gt_type = np.where(gt_counts, matching.MISSED, matching.IGNORED).astype(np.uint8)
    det_type = np.where(det_counts, matching.FALSE_POSITIVE, matching.IGNORED).astype(np.uint8)
    gt_credit, det_credit = np.zeros(batch.gt.count), np.zeros(batch.det.count)
    gt_type[gt], gt_credit[gt] = kind, credit
    det_type[det], det_credit[det] = kind, credit
    tally = AreaTally(
        *matching.object_counts(batch, gt_counts, det_counts),
        recall_credit=per_image(gt_credit, batch.gt.image, images),
        precision_credit=per_image(det_credit, batch.det.image, images),
        one_to_one=per_image(gt_type == ONE_TO_ONE, batch.gt.image, images),
        one_to_many=per_image(gt_type == ONE_TO_MANY, batch.gt.image, images),
        many_to_one=per_image(det_type == MANY_TO_ONE, batch.det.image, images),
        named_in_detections=batch.named_in_detections.astype(np.int64),
    )
    gt_recall = np.minimum(np.bincount(gt, recall, batch.gt.count), 1.0)
    det_precision = np.minimum(np.bincount(det, precision, batch.det.count), 1.0)
    gt_values = {"credit": gt_credit, "area_recall": gt_recall}
    det_values = {"credit": det_credit, "area_precision": det_precision}
    types = gt_type, det_type
    return tally, matching.matches(gt, det, *counts, gt_values, det_values, types)


def as_competition(tally: AreaTally, scores: Scores) -> Scores:
    """Return an image's scores, or what the competitions' scripts print for one without an object
    that counts: recall 1, and precision 1 without detections, else 0; both are 0 where the
    detections do not name it.
    """
    is_named = tally.named_in_detections > 0
    recall = where(is_named, 1.0, 0.0)
    precision = where(is_named & (tally.detections == 0), 1.0, 0.0)
    hmean = harmonic_mean(recall, precision)
    empty = {"recall": recall, "precision": precision, "hmean": hmean}
    return {
        name: where(tally.counted_gt_objects == 0, empty[name.partition("_")[0]], value)
        for name, value in scores.items()
    }
