"""Matches by area recall and area precision: the matcher of the DetEval family, whose members
differ by `Rules`.

One-to-one matches are looked for first, then one-to-many (splits) object by object, then
many-to-one (merges) detection by detection; what one step has matched is not matched again.

Only pairs that overlap are ever looked at, and a split or merge has at least one partner. So no
object is credited twice and no score exceeds 1, thresholds of 0 included.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import chain, groupby
from operator import add, itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.protocols.area.pairs import (
    SINGLE_IS_MANY,
    SINGLE_IS_RETESTED,
    SLACK_DECIMALS,
    Index,
    Pairs,
    Rules,
    Scene,
    Thresholds,
)
from evaltex_cli.protocols.base import object_counts, per_image
from evaltex_cli.protocols.matches import (
    FALSE_POSITIVE,
    IGNORED,
    MANY_TO_ONE,
    MISSED,
    ONE_TO_MANY,
    ONE_TO_ONE,
    Matches,
    side_matches,
)
from evaltex_cli.protocols.object_tally import CreditTally
from evaltex_cli.protocols.ratios import Number, natural_log, where
from evaltex_cli.protocols.tally import Count, require
from evaltex_cli.records import Bools, Floats, ImageBatch, Ints

_ROWS_AT_ONCE = 1 << 15
"""Pairs that are Python's numbers at once, of those that are matched one by one."""


class Weights(NamedTuple):
    """Credits of the members of a split and of a merge: constants, or 1 / (1
    + ln k) for k members (`logarithm`).
    """

    split: float
    merge: float
    logarithm: bool = False


class Credits(NamedTuple):
    """Credits of one setting."""

    relation: NDArray[np.uint8]
    """(p,) uint8. `ONE_TO_ONE`, `ONE_TO_MANY` or `MANY_TO_ONE` for a pair that matched, else
    `MISSED`."""
    gt: Floats
    det: Floats
    """`gt` and `det`: (G,), (D,) float64. Credit of every object towards recall, of every detection
    towards precision."""


class _Groups(NamedTuple):
    """What splits, or merges, are made of."""

    one: Index
    many: Index
    """`one` and `many`: of a split the object and its detections, of a merge the detection and its
    objects."""
    share: NDArray[Any]
    """(p,). The ratio that is summed over the many of a one."""
    needed: float
    """What that sum must reach."""
    fits: Bools
    """(p,) bool. Whether the other ratio of a pair reaches what every one of the many must, and
    nothing else is against such a match."""


def match(scene: Scene, rules: Rules, thresholds: Thresholds) -> NDArray[np.uint8]:
    """Match every pair, one-to-one, one-to-many, many-to-one.

    Parameters
    ----------
    scene : Scene
    rules : Rules
    thresholds : Thresholds
        In the type of the ratios.

    Returns
    -------
    (p,) uint8
        `ONE_TO_ONE`, `ONE_TO_MANY` or `MANY_TO_ONE` for a pair that matched, else `MISSED`.
    """
    pairs, t = scene.pairs, thresholds
    gt, det = Index(pairs.gt, len(scene.gt_counts)), Index(pairs.det, len(scene.det_counts))
    relation = np.full(len(pairs.gt), MISSED, np.uint8)
    passes = (pairs.recall >= t.one_to_one_recall) & (pairs.precision >= t.one_to_one_precision)
    relation[_one_to_one(pairs, gt, det, passes, rules, t)] = ONE_TO_ONE
    can_split = pairs.split & (pairs.precision >= t.one_to_many_precision)
    can_merge = pairs.merge & (pairs.recall >= t.many_to_one_recall)
    splits = _Groups(gt, det, pairs.recall, t.one_to_many_recall, can_split)
    merges = _Groups(det, gt, pairs.precision, t.many_to_one_precision, can_merge)
    for kind, groups in ((ONE_TO_MANY, splits), (MANY_TO_ONE, merges)):
        taken = np.flatnonzero(relation != MISSED)
        alive = np.flatnonzero(groups.fits & ~groups.one.has(taken) & ~groups.many.has(taken))
        # Pairs are sorted by (gt, det); a merge takes them by detection.
        alive = alive[np.argsort(groups.one.of[alive], kind="stable")]
        matched = _assemble(groups, passes, alive, rules)
        single = _is_alone(groups.one.of[matched]) & (rules.single != SINGLE_IS_MANY)
        relation[matched] = np.where(single, ONE_TO_ONE, kind)
    return relation


def _one_to_one(
    pairs: Pairs, gt: Index, det: Index, passes: Bools, rules: Rules, t: Thresholds
) -> Ints:
    """(m,) int64. The pairs that match one-to-one."""
    if rules.separate_tests:
        single = _single(pairs.recall > t.one_to_one_recall, gt, det)
        fitting = _single(pairs.precision > t.one_to_one_precision, gt, det)
        single = single[gt.has(fitting)[single]]
    else:
        single = _single(passes, gt, det)
    return single[pairs.one_to_one[single]]


def _single(chosen: Bools, gt: Index, det: Index) -> Ints:
    """(m,) int64. Those of the chosen pairs that are the only one of either side."""
    which = np.flatnonzero(chosen)
    return which[_is_alone(gt.of[which]) & _is_alone(det.of[which])]


def _is_alone(owner: Ints) -> Bools:
    """(p,) whether no other pair is of the same owner."""
    return np.asarray(np.bincount(owner)[owner] == 1)


def _assemble(groups: _Groups, is_one_to_one: Bools, alive: Ints, rules: Rules) -> Ints:
    """Match the "ones" with all the free "many" that qualify for them, in the order of the ones.

    Parameters
    ----------
    groups : _Groups
    is_one_to_one : (p,) bool
        Whether a pair passes the one-to-one thresholds.
    alive : (a,) int64
        Pairs that qualify, sorted by (one, many).

    Returns
    -------
    (m,) int64
        The pairs that matched.

    Notes
    -----
    Those that cannot match, were none of their partners taken, go first: sums only fall. Of the
    rest, those that share no partner are settled at once, the others one after another.
    """
    own, partner = groups.one.of[alive], groups.many.of[alive]
    total = np.zeros(groups.one.objects, groups.share.dtype)
    # Not a reduction by numpy, which adds in another order: sums that sit on a threshold have
    # to fall as printed.
    np.add.at(total, own, groups.share[alive])
    passes = may_pass = _reaches(total, groups.needed, rules)[own]
    if rules.single == SINGLE_IS_RETESTED:
        has_single = np.zeros(len(total), dtype=bool)
        has_single[own[is_one_to_one[alive]]] = True
        may_pass = passes | has_single[own]
        passes = np.where(_is_alone(own), is_one_to_one[alive], passes)
    alive, own, partner, passes = (column[may_pass] for column in (alive, own, partner, passes))
    shares_some = np.zeros(len(total), dtype=bool)
    shares_some[own[~_is_alone(partner)]] = True
    contested = shares_some[own]
    columns = [column[contested] for column in (own, partner, alive, passes)]
    rows = chain.from_iterable(
        zip(*(column[start : start + _ROWS_AT_ONCE].tolist() for column in columns), strict=True)
        for start in range(0, len(columns[0]), _ROWS_AT_ONCE)
    )
    one_by_one = _one_by_one(groups, is_one_to_one, rows, rules)
    return np.sort(np.concatenate([alive[~contested & passes], one_by_one]))


def _one_by_one(
    groups: _Groups, is_one_to_one: Bools, rows: Iterable[tuple[int, int, int, bool]], rules: Rules
) -> Ints:
    """Match one after another; arguments as of `_assemble`.

    Parameters
    ----------
    rows : iterable of (int, int, int, bool)
        One, partner and index of each pair, and whether the one passes with all its partners.
    """
    matched: list[int] = []
    taken: set[int] = set()
    for _, of_one in groupby(rows, itemgetter(0)):
        every = list(of_one)
        free = {pair: partner for _, partner, pair, _ in every if partner not in taken}
        pairs = list(free)
        if not pairs:
            continue
        if len(pairs) == len(every):
            passes = every[0][3]
        elif rules.single == SINGLE_IS_RETESTED and len(pairs) == 1:
            passes = is_one_to_one[pairs[0]]
        else:
            total = reduce(add, groups.share[pairs], groups.share.dtype.type(0))
            passes = _reaches(total, groups.needed, rules)
        if passes:
            matched += pairs
            taken.update(free.values())
    return np.array(matched, np.int64)


def _reaches(total: Any, needed: Any, rules: Rules) -> Any:
    """Whether sums are as large as needed."""
    if rules.settles_sums:
        total, needed = (np.round(each, SLACK_DECIMALS) for each in (total, needed))
    if rules.sum_decimals is not None:
        total = np.round(total, rules.sum_decimals)
    return total >= needed


def credit(scene: Scene, rules: Rules, thresholds: Thresholds, weights: Weights) -> Credits:
    """Match a batch by one setting of the thresholds, and give the members of
    the matches their credit.
    """
    pairs = scene.pairs
    # A 32 bit ratio compares with a 32 bit threshold: 0.8 as printed is then reached.
    relation = match(scene, rules, Thresholds(*map(pairs.recall.dtype.type, thresholds)))
    weight = weights_of(pairs, relation, weights)
    matched = relation != MISSED
    gt_credit, det_credit = np.zeros(len(scene.gt_counts)), np.zeros(len(scene.det_counts))
    gt_credit[pairs.gt[matched]] = weight[matched]
    det_credit[pairs.det[matched]] = weight[matched]
    return Credits(relation, gt_credit, det_credit)


def weights_of(pairs: Pairs, relation: NDArray[np.uint8], weights: Weights) -> Floats:
    """(p,) credit of each member of the match a pair belongs to; 0 where it matched nothing."""
    weight = np.where(relation == ONE_TO_ONE, 1.0, 0.0)
    for kind, one, constant in (
        (ONE_TO_MANY, pairs.gt, weights.split),
        (MANY_TO_ONE, pairs.det, weights.merge),
    ):
        of_kind = relation == kind
        size = np.bincount(one[of_kind])[one[of_kind]] if of_kind.any() else np.zeros(0, np.int64)
        weight[of_kind] = 1 / (1 + natural_log(size)) if weights.logarithm else constant
    return weight


# Evidence and matches -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AreaTally(CreditTally):
    """Evidence of every member of the family: objects and detections,
    credits, matches by their kind.
    """

    one_to_one: Count
    one_to_many: Count
    many_to_one: Count
    named_in_detections: Count

    def check(self) -> None:
        super().check()
        require(
            self.one_to_one + self.one_to_many <= self.counted_gt_objects,
            "more matches than objects",
        )
        require(
            self.one_to_one + self.many_to_one <= self.counted_detections,
            "more matches than detections",
        )


def tally_of(batch: ImageBatch, scene: Scene, credits: Credits) -> AreaTally:
    """Sum the evidence of a batch by image."""
    images, gt_image, det_image = len(batch.names), batch.gt.image, batch.det.image
    relation = credits.relation
    split, merged = relation == ONE_TO_MANY, relation == MANY_TO_ONE
    pair_image = gt_image[scene.pairs.gt]
    return AreaTally(
        *object_counts(batch, scene.gt_counts, scene.det_counts),
        recall_credit=per_image(credits.gt, gt_image, images),
        precision_credit=per_image(credits.det, det_image, images),
        one_to_one=per_image(relation == ONE_TO_ONE, pair_image, images),
        one_to_many=per_image(split & _is_first(split, scene.pairs.gt), pair_image, images),
        many_to_one=per_image(merged & _is_first(merged, scene.pairs.det), pair_image, images),
        named_in_detections=batch.named_in_detections.astype(np.int64),
    )


def empty_image_scores(tally: AreaTally) -> tuple[Number, Number]:
    """Recall and precision that the competition's scripts print for an image
    without an object that counts.
    """
    is_named = tally.named_in_detections > 0
    return where(is_named, 1.0, 0.0), where(is_named & (tally.detections == 0), 1.0, 0.0)


def _is_first(chosen: Bools, index: Ints) -> Bools:
    """Where a pair is the first chosen one of its object."""
    which = np.flatnonzero(chosen)
    result = np.zeros(len(index), dtype=bool)
    # unique returns where each object comes first among the chosen pairs.
    result[which[np.unique(index[which], return_index=True)[1]]] = True
    return result


def described(scene: Scene, credits: Credits) -> Matches:
    """Per-object results: partners, ``credit``, and σ or τ summed over the partners, at most 1."""
    pairs, relation = scene.pairs, credits.relation
    matched = relation != MISSED
    gt, det, kind = pairs.gt[matched], pairs.det[matched], relation[matched]
    sides = []
    for own, other, counts, credit_of, none, name, ratio in (
        (gt, det, scene.gt_counts, credits.gt, MISSED, "area_recall", pairs.recall[matched]),
        (
            det,
            gt,
            scene.det_counts,
            credits.det,
            FALSE_POSITIVE,
            "area_precision",
            pairs.precision[matched],
        ),
    ):
        types = np.full(len(counts), none, np.uint8)
        types[own] = kind
        types[~counts] = IGNORED
        share = np.minimum(np.bincount(own, weights=ratio, minlength=len(counts)), 1.0)
        sides.append(side_matches(types, own, other, counts, {"credit": credit_of, name: share}))
    return Matches(*sides)
