"""Matches by area recall and area precision: the matcher of the DetEval family, whose members differ in their `Rules`.

Area recall σ = Area(G ∩ D) / Area(G), area precision τ = Area(G ∩ D) / Area(D) (Wolf & Jolion, IJDAR 2006).
One-to-one matches are looked for first, then one-to-many (splits) object by object, then many-to-one (merges) detection
by detection; what one step has matched is not matched again.

Only pairs that overlap are ever looked at, and a split or merge has at least one partner. So no object is credited
twice and no score exceeds 1, thresholds of 0 included.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.geometry import shapes
from evaltex_cli.protocols.base import MANY_TO_ONE, MISSED, ONE_TO_MANY, ONE_TO_ONE
from evaltex_cli.protocols.ratios import ignored_detections, natural_log, quotient, settled
from evaltex_cli.records import ANY_TYPE, Bools, Convention, Floats, ImageBatch, Ints, Overlaps

LONE_IS_MANY, LONE_IS_ONE_TO_ONE, LONE_IS_RETESTED = range(3)
"""What a split or merge of one partner is: like any other; a one-to-one match; that, if it passes its thresholds."""
SLACK, SLACK_DECIMALS = 1e-9, 9
"""What rounding may add to distances in diagonals, and to sums of ratios, where no program says how to add."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How a member of the family matches.

    Attributes
    ----------
    lone_overlap : bool
        A one-to-one match overlaps nothing else that counts.
    several_overlaps : bool
        The one of a split or merge overlaps two others or more that count.
    separate_tests : bool
        One-to-one by Total-Text: σ > t_r and τ > t_p, each by exactly one detection of the row and in its column, not
        necessarily the same. Otherwise σ >= t_r and τ >= t_p by a single pair of its row and column.
    dont_care_rivals : bool
        Objects and detections that do not count are rivals of a one-to-one match; otherwise they are as if not there.
    lone : int
        One of `LONE_IS_MANY`, `LONE_IS_ONE_TO_ONE`, `LONE_IS_RETESTED`.
    sum_decimals : tuple of int
        Decimals that sums of ratios are rounded to, one after another.
    ratio_decimals : int or None
        Decimals that ratios are rounded to.
    typed : bool
        Objects and detections of different types never match; they are rivals all the same.
    single_precision : bool
        Ratios, their sums and all thresholds are 32 bit floats, centres and their distance whole pixels, as in Wolf's
        program.
    dont_care_margin : float
        Square pixels added to a detection's area before its share on don't care is taken.
    """

    lone_overlap: bool = True
    several_overlaps: bool = True
    separate_tests: bool = False
    dont_care_rivals: bool = False
    lone: int = LONE_IS_RETESTED
    sum_decimals: tuple[int, ...] = ()
    ratio_decimals: int | None = None
    typed: bool = False
    single_precision: bool = False
    dont_care_margin: float = 0.0


class Thresholds(NamedTuple):
    """Thresholds on σ ("recall") and τ ("precision").

    `one_to_many_recall` and `many_to_one_precision` are what the sum over all partners has to reach,
    `one_to_many_precision` and `many_to_one_recall` what every partner has to.
    """

    one_to_one_recall: float
    one_to_one_precision: float
    one_to_many_recall: float
    one_to_many_precision: float
    many_to_one_precision: float
    many_to_one_recall: float


@dataclass(frozen=True, slots=True)
class Weights:
    """Credits of the members of a split and of a merge: constants, or 1 / (1 + ln k) for k members (`logarithm`)."""

    split: float
    merge: float
    logarithm: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Overlapping pairs of a batch, sorted by (gt, det).

    Attributes
    ----------
    gt, det : (p,) int64
    recall, precision : (p,) float64 or float32
        σ and τ.
    counts : (p,) bool
        Whether both sides count.
    near : (p,) bool
        Whether centres, and borders where asked for, agree well enough for a one-to-one match.
    alike : (p,) bool
        Whether types allow a match at all.
    """

    gt: Ints
    det: Ints
    recall: NDArray[Any]
    precision: NDArray[Any]
    counts: Bools
    near: Bools
    alike: Bools

    def __getitem__(self, which: Any) -> Pairs:
        return Pairs(*(getattr(self, field.name)[which] for field in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Where a batch's matches are looked for: the pairs; (G,), (D,) bool, which objects and detections count."""

    pairs: Pairs
    gt_counts: Bools
    det_counts: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Credits:
    """Credits of one setting.

    Attributes
    ----------
    relation : (p,) uint8
        `ONE_TO_ONE`, `ONE_TO_MANY` or `MANY_TO_ONE` for a pair that matched, else `MISSED`.
    gt, det : (G,), (D,) float64
        Credit of every object towards recall, of every detection towards precision.
    """

    relation: NDArray[np.uint8]
    gt: Floats
    det: Floats


class Conditions(NamedTuple):
    """Which detections count, and which pairs may match one-to-one.

    Attributes
    ----------
    convention : Convention
        By which the overlaps were measured.
    dont_care_overlap : float
        A detection with more than this share of its area in a single don't-care object does not count.
    center : float or None
        A one-to-one match needs a distance of the bounding boxes' centres below this many mean diagonals; None for no
        such test.
    border : bool
        A one-to-one match may cut at most min(5 % of the width, 8 pixels) of the object on the left and on the right.
    """

    convention: Convention
    dont_care_overlap: float
    center: float | None = None
    border: bool = False


def scene(
    batch: ImageBatch, overlaps: Overlaps, rules: Rules, conditions: Conditions, left_out: Bools, thresholds: Floats
) -> Scene:
    """Prepare a batch for matching.

    Parameters
    ----------
    left_out : (G,) bool
        Objects that are not there: neither counted, nor don't care.
    thresholds : (k,) float64
        All that the ratios will be compared with.
    """
    convention, dont_care_overlap, center, border = conditions
    shares = overlaps._replace(det_area=overlaps.det_area + rules.dont_care_margin)
    gt_counts = ~(batch.gt.dont_care | left_out)
    det_counts = ~ignored_detections(batch, shares, dont_care_overlap)
    gt, det = overlaps.gt, overlaps.det
    recall, precision = quotient(overlaps.area, overlaps.gt_area[gt]), quotient(overlaps.area, overlaps.det_area[det])
    if rules.ratio_decimals is not None:
        halves = 2 * 10**rules.ratio_decimals
        marks = np.arange(halves + 1) / halves
        recall, precision = (settled(ratio, marks, overlaps) for ratio in (recall, precision))
        recall, precision = np.round(recall, rules.ratio_decimals), np.round(precision, rules.ratio_decimals)
    else:
        recall, precision = (settled(ratio, thresholds, overlaps) for ratio in (recall, precision))
    ratio_type: Any = np.float32 if rules.single_precision else np.float64
    gt_boxes, det_boxes = shapes.of(batch.gt, convention).boxes[gt], shapes.of(batch.det, convention).boxes[det]
    alike = _alike(batch, gt, det) if rules.typed else np.ones(len(gt), dtype=bool)
    near = alike.copy()
    if center is not None:
        distance = _center_distance(gt_boxes, det_boxes, rules.single_precision)
        # The programs know whole pixels only, and compare what they get.
        slack = 0.0 if convention.inclusive else SLACK
        near &= distance < float(ratio_type(center)) - slack
    if border:
        near &= _keeps_borders(gt_boxes, det_boxes)
    counts = gt_counts[gt] & det_counts[det]
    pairs = Pairs(gt, det, recall.astype(ratio_type), precision.astype(ratio_type), counts, near, alike)
    return Scene(pairs if rules.dont_care_rivals else pairs[counts], gt_counts, det_counts)


def _alike(batch: ImageBatch, gt: Ints, det: Ints) -> Bools:
    if batch.gt.types is None or batch.det.types is None:
        return np.ones(len(gt), dtype=bool)
    a, b = batch.gt.types[gt], batch.det.types[det]
    return np.asarray((a == b) | (a == ANY_TYPE) | (b == ANY_TYPE))


def _center_distance(a: Floats, b: Floats, whole_pixels: bool) -> Floats:
    """(p,) distances of the boxes' centres, in mean diagonals."""
    sides_a, sides_b = a[:, 2:] - a[:, :2], b[:, 2:] - b[:, :2]
    if whole_pixels:
        whole = (a[:, :2] + np.floor(sides_a / 2) - b[:, :2] - np.floor(sides_b / 2)).astype(np.float32)
        distance = np.trunc(np.sqrt(whole[:, 0] * whole[:, 0] + whole[:, 1] * whole[:, 1])).astype(np.float64)
    else:
        offset = (a[:, :2] + sides_a / 2) - (b[:, :2] + sides_b / 2)
        distance = np.sqrt((offset * offset).sum(axis=1))
    diagonals = np.sqrt((sides_a * sides_a).sum(axis=1)) + np.sqrt((sides_b * sides_b).sum(axis=1))
    return quotient(2 * distance, diagonals)


def _keeps_borders(gt: Floats, det: Floats) -> Bools:
    slack = np.maximum((gt[:, 0] - gt[:, 2]) / 20, -8)
    return np.asarray((gt[:, 0] - det[:, 0] >= slack) & (det[:, 2] - gt[:, 2] >= slack))


def exact_sums(rules: Rules) -> Rules:
    """Return rules for shapes that their program does not take: a sum that rounding moves off a threshold is at it."""
    return rules if rules.single_precision else replace(rules, sum_decimals=(SLACK_DECIMALS, *rules.sum_decimals))


# One setting ---------------------------------------------------------------------------------------------------------


class _Index(NamedTuple):
    """One side of the pairs: which object each is of, and how many objects there are."""

    of: Ints
    objects: int

    def times(self, chosen: NDArray[Any]) -> Ints:
        """(p,) how many chosen pairs the object of each pair has; `chosen` is a mask or indices."""
        return np.bincount(self.of[chosen], minlength=self.objects)[self.of]


def match(found: Scene, rules: Rules, thresholds: Thresholds) -> NDArray[np.uint8]:
    """Match every pair, one-to-one, one-to-many, many-to-one.

    Parameters
    ----------
    found : Scene
    rules : Rules
    thresholds : Thresholds
        In the type of the ratios.

    Returns
    -------
    (p,) uint8
        `ONE_TO_ONE`, `ONE_TO_MANY` or `MANY_TO_ONE` for a pair that matched, else `MISSED`.
    """
    pairs, t = found.pairs, thresholds
    gt, det = _Index(pairs.gt, len(found.gt_counts)), _Index(pairs.det, len(found.det_counts))
    relation = np.full(len(pairs.gt), MISSED, np.uint8)
    passes = (pairs.recall >= t.one_to_one_recall) & (pairs.precision >= t.one_to_one_precision)
    relation[_one_to_one(pairs, gt, det, passes, rules, t)] = ONE_TO_ONE
    one_to_many = (gt, det, pairs.recall, pairs.precision, t.one_to_many_recall, t.one_to_many_precision)
    many_to_one = (det, gt, pairs.precision, pairs.recall, t.many_to_one_precision, t.many_to_one_recall)
    for kind, sides in ((ONE_TO_MANY, one_to_many), (MANY_TO_ONE, many_to_one)):
        one, many, share, each, needed_sum, needed_each = sides
        taken = relation != MISSED
        free = (one.times(taken) == 0) & (many.times(taken) == 0)
        qualified = free & pairs.counts & pairs.alike & (each >= needed_each)
        if rules.several_overlaps:
            qualified &= one.times(pairs.counts & (share > 0)) > 1
        alive = np.flatnonzero(qualified)
        alive = alive[np.argsort(one.of[alive], kind="stable")]
        matched = _assemble((one.of, many.of), share, needed_sum, passes, alive, rules)
        single = (one.times(matched) == 1) & (rules.lone != LONE_IS_MANY)
        relation[matched] = np.where(single[matched], ONE_TO_ONE, kind)
    return relation


def _one_to_one(pairs: Pairs, gt: _Index, det: _Index, passes: Bools, rules: Rules, t: Thresholds) -> Bools:
    may = pairs.counts & pairs.near
    if rules.separate_tests:
        covers, fits = pairs.recall > t.one_to_one_recall, pairs.precision > t.one_to_one_precision
        fitted = gt.times(_is_single(fits, gt, det)) > 0
        return np.asarray(_is_single(covers, gt, det) & fitted & may)
    result = _is_single(passes, gt, det) & may
    return result & _is_single(pairs.counts, gt, det) if rules.lone_overlap else result


def _is_single(chosen: Bools, gt: _Index, det: _Index) -> Bools:
    """(p,) whether a pair is the only chosen one of its object and of its detection."""
    return np.asarray(chosen & (gt.times(chosen) == 1) & (det.times(chosen) == 1))


def _assemble(
    sides: tuple[Ints, Ints], share: NDArray[Any], needed: float, lone: Bools, alive: Ints, rules: Rules
) -> Ints:
    """Match the "ones" with all the free "many" that qualify for them, in the order of the ones.

    Parameters
    ----------
    sides : (p,) int64, (p,) int64
        The "one" and the "many" of all pairs.
    share : (p,)
        The ratio that is summed over a one's partners.
    needed : float
        What the sum must reach.
    lone : (p,) bool
        Whether a pair passes the one-to-one thresholds.
    alive : (a,) int64
        Pairs that qualify, sorted by (one, many).

    Returns
    -------
    (m,) int64
        The pairs that matched.

    Notes
    -----
    Those that cannot match any more, with however few of their partners taken, go first: sums only fall. A round then
    settles, at once, every one that comes first for each of its partners.
    """
    one, many = sides
    matched = [np.zeros(0, np.int64)]
    while len(alive):
        own, partner = one[alive], many[alive]
        total = np.zeros(int(own.max()) + 1, share.dtype)
        # Not a reduction by numpy, which adds in another order: sums that sit on a threshold have to fall as printed.
        np.add.at(total, own, share[alive])
        for decimals in rules.sum_decimals:
            total = np.round(total, decimals)
        passes = may_pass = total[own] >= needed
        if rules.lone == LONE_IS_RETESTED:
            has_lone = np.zeros(len(total), dtype=bool)
            has_lone[own[lone[alive]]] = True
            may_pass = passes | has_lone[own]
            passes = np.where(np.bincount(own)[own] == 1, lone[alive], passes)
        alive, own, partner, passes = alive[may_pass], own[may_pass], partner[may_pass], passes[may_pass]
        first = np.zeros(int(partner.max(initial=-1)) + 1, np.int64)
        first[partner[::-1]] = own[::-1]
        waits = np.zeros(len(total), dtype=bool)
        waits[own[first[partner] != own]] = True
        settled = ~waits[own]
        matched.append(alive[settled & passes])
        taken = np.zeros(len(first), dtype=bool)
        taken[partner[settled & passes]] = True
        alive = alive[~settled & ~taken[partner]]
    return np.sort(np.concatenate(matched))


def credit(found: Scene, rules: Rules, thresholds: Thresholds, weights: Weights) -> Credits:
    """Match a batch by one setting of the thresholds, and give the members of the matches their credit."""
    pairs = found.pairs
    # A 32 bit ratio compares with a 32 bit threshold: 0.8 as printed is then reached.
    relation = match(found, rules, Thresholds(*map(pairs.recall.dtype.type, thresholds)))
    weight = weights_of(pairs, relation, weights)
    matched = relation != MISSED
    gt_credit, det_credit = np.zeros(len(found.gt_counts)), np.zeros(len(found.det_counts))
    gt_credit[pairs.gt[matched]] = weight[matched]
    det_credit[pairs.det[matched]] = weight[matched]
    return Credits(relation, gt_credit, det_credit)


def weights_of(pairs: Pairs, relation: NDArray[np.uint8], weights: Weights) -> Floats:
    """(p,) credit of each member of the match a pair belongs to; 0 where it matched nothing."""
    weight = np.where(relation == ONE_TO_ONE, 1.0, 0.0)
    for kind, one, constant in ((ONE_TO_MANY, pairs.gt, weights.split), (MANY_TO_ONE, pairs.det, weights.merge)):
        of_kind = relation == kind
        size = np.bincount(one[of_kind])[one[of_kind]] if of_kind.any() else np.zeros(0, np.int64)
        weight[of_kind] = 1 / (1 + natural_log(size)) if weights.logarithm else constant
    return weight
