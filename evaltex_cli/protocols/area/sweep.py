"""Matches by area recall and area precision for many thresholds at once: what graphs and grids are made of.

Most pairs are alone, or form a star: an object in pieces that overlap nothing else, or a detection of several such
objects. What becomes of these is a few comparisons, made for all thresholds at once. Only what hangs together in other
ways is matched again for each of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.protocols.area.matching import (
    LONE_IS_MANY,
    LONE_IS_RETESTED,
    Pairs,
    Rules,
    Scene,
    Thresholds,
    Weights,
    match,
    weights_of,
)
from evaltex_cli.protocols.base import MISSED, natural_log
from evaltex_cli.records import Bools, Floats, Ints, expanded, offsets_of

BLOCK_CELLS = 1 << 19
"""So many pairs, counted once a setting, are matched at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class _Turns:
    """Members of groups in such an order that groups are summed by slices, and each in the order of its members.

    Groups are numbered by falling size. First come the first members of all groups, then their second ones, and so on:
    the k-th are ``bounds[k]:bounds[k + 1]``, of the groups ``0, 1, ...``.

    Attributes
    ----------
    order : (n,) int64
        The members, in this order.
    number : (n,) int64
        The group of each, in this order.
    group : (groups,) int64
        What the groups are, by their number.
    bounds : (largest size + 1,) int64
    """

    order: Ints
    number: Ints
    group: Ints
    bounds: Ints

    @classmethod
    def of(cls, group: Ints) -> _Turns:
        """Arrange members of these groups."""
        groups, inverse, size = np.unique(group, return_inverse=True, return_counts=True)
        by_size = np.argsort(-size, kind="stable")
        number = np.empty_like(size)
        number[by_size] = np.arange(len(size))
        turn = np.empty_like(inverse)
        turn[np.argsort(inverse, kind="stable")] = expanded(size)[1]
        order = np.lexsort((number[inverse], turn))
        return cls(order, number[inverse][order], groups[by_size], offsets_of(np.bincount(turn)))

    def place(self) -> Ints:
        """(n,) where each member stands in this order."""
        place = np.empty_like(self.order)
        place[self.order] = np.arange(len(place))
        return place

    def add(self, sums: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
        """Add values (n, k), in this order, to sums (groups, k), one after another."""
        for start, stop in pairwise(self.bounds.tolist()):
            sums[: stop - start] += values[start:stop]
        return sums

    def count(self, chosen: Bools) -> NDArray[np.int32]:
        """(groups, k) how many members are chosen."""
        return self.add(np.zeros((len(self.group), chosen.shape[1]), np.int32), chosen)


@dataclass(frozen=True, slots=True, eq=False)
class _Stars:
    """Pairs of which each hub has several, and nothing else has more than one.

    Attributes
    ----------
    pairs : Pairs
        In the order of `turns`, whose groups are the stars.
    hub, partner : (h,), (p,) int64
        Rows of the credits of hubs, and of partners.
    share, each : (p,)
        The ratio that is summed over a hub's partners, and the one that every partner has to reach.
    of_gt : bool
        Whether hubs are objects, or else detections.
    """

    pairs: Pairs
    turns: _Turns
    hub: Ints
    partner: Ints
    share: NDArray[Any]
    each: NDArray[Any]
    of_gt: bool


def credits_by_setting(
    found: Scene, gt_image: Ints, images: int, rules: Rules, thresholds: Thresholds, weights: Weights
) -> tuple[Floats, Floats]:
    """Sum credits by image, for many settings at once.

    Parameters
    ----------
    found : Scene
    gt_image : (G,) int64
        Image of each object.
    rules : Rules
        With `several_overlaps`.
    thresholds : Thresholds
        (k,) each.

    Returns
    -------
    (images, k), (images, k) float64
        Credits towards recall and towards precision, added in the order of the objects, and of the detections.
    """
    pairs, settings = found.pairs, len(thresholds.one_to_one_recall)
    thresholds = thresholds.astype(pairs.recall.dtype)
    gt_links, det_links = np.bincount(pairs.gt)[pairs.gt], np.bincount(pairs.det)[pairs.det]
    alone = (gt_links == 1) & (det_links == 1)
    recall = _alone(pairs[alone & pairs.counts & pairs.near], gt_image, images, rules, thresholds)
    precision = recall.copy()
    pairs, gt_links, det_links = pairs[~alone], gt_links[~alone], det_links[~alone]
    if not len(pairs.gt):
        return recall, precision

    (gts, gt), (dets, det) = (np.unique(side, return_inverse=True) for side in (pairs.gt, pairs.det))
    pairs, det_image = replace(pairs, gt=gt, det=det), np.empty(len(dets), np.int64)
    det_image[det] = gt_image[gts[gt]]
    gt_turns, det_turns = _Turns.of(gt_image[gts]), _Turns.of(det_image)
    rows = gt_turns.place(), det_turns.place()
    splits, merges = _of_stars(gt, det_links), _of_stars(det, gt_links)
    stars = [_stars(pairs[chosen], *rows, of_gt) for chosen, of_gt in ((splits, True), (merges, False)) if chosen.any()]
    tangled = pairs[~splits & ~merges]
    step = max(1, BLOCK_CELLS // len(gt))
    for start in range(0, settings, step):
        some = thresholds[start : start + step]
        gt_credit, det_credit = (np.zeros((len(side), len(some.one_to_one_recall))) for side in (gts, dets))
        for one_kind in stars:
            _credit_stars(one_kind, rules, some, weights, gt_credit, det_credit)
        _credit_tangled(tangled, *rows, rules, some, weights, gt_credit, det_credit)
        for sums, turns, credit in ((recall, gt_turns, gt_credit), (precision, det_turns, det_credit)):
            block = turns.group, slice(start, start + step)
            sums[block] = turns.add(sums[block], credit)
    return recall, precision


def _passing(ratio: NDArray[Any], threshold: NDArray[Any]) -> Bools:
    """(p, k) where ratios reach the thresholds of all settings."""
    return np.asarray(ratio[:, None] >= threshold)


def _exceeding(ratio: NDArray[Any], threshold: NDArray[Any]) -> Bools:
    return np.asarray(ratio[:, None] > threshold)


def _alone(pairs: Pairs, gt_image: Ints, images: int, rules: Rules, thresholds: Thresholds) -> Floats:
    """(images, k) one-to-one matches among pairs that overlap nothing else: comparisons."""
    test, settings = _exceeding if rules.separate_tests else _passing, len(thresholds.one_to_one_recall)
    passes = test(pairs.recall, thresholds.one_to_one_recall) & test(pairs.precision, thresholds.one_to_one_precision)
    pair, setting = np.nonzero(passes)
    cell = gt_image[pairs.gt[pair]] * settings + setting
    return np.bincount(cell, minlength=images * settings).reshape(images, settings).astype(np.float64)


# Stars ---------------------------------------------------------------------------------------------------------------


def _of_stars(hub: Ints, partner_links: Ints) -> Bools:
    """(p,) where all partners of a pair's hub overlap nothing else; no pair is alone."""
    tangled = np.bincount(hub, weights=partner_links > 1)
    return np.asarray(tangled[hub] == 0)


def _stars(pairs: Pairs, gt_row: Ints, det_row: Ints, of_gt: bool) -> _Stars:
    turns = _Turns.of(pairs.gt if of_gt else pairs.det)
    pairs = pairs[turns.order]
    if of_gt:
        return _Stars(pairs, turns, gt_row[turns.group], det_row[pairs.det], pairs.recall, pairs.precision, True)
    return _Stars(pairs, turns, det_row[turns.group], gt_row[pairs.gt], pairs.precision, pairs.recall, False)


def _credit_stars(
    stars: _Stars, rules: Rules, thresholds: Thresholds, weights: Weights, gt_credit: Floats, det_credit: Floats
) -> None:
    """Put the credits of stars: one partner matches its hub one-to-one, or all that qualify share it."""
    pairs, star, count = stars.pairs, stars.turns.number, stars.turns.count
    one = _one_to_one(stars, rules, thresholds)
    has_one = count(one) > 0
    if stars.of_gt:
        needed, needed_each = thresholds.one_to_many_recall, thresholds.one_to_many_precision
    else:
        needed, needed_each = thresholds.many_to_one_precision, thresholds.many_to_one_recall
    alive = _passing(stars.each, needed_each) & ~has_one[star]
    alive &= (pairs.counts & pairs.alike & _shared_by_several(stars))[:, None]
    size = count(alive)
    # One after another, in the type of the ratios, as `match` adds them.
    total = stars.turns.add(np.zeros(size.shape, stars.share.dtype), stars.share[:, None] * alive)
    for decimals in rules.sum_decimals:
        total = np.round(total, decimals)
    passes = (total >= needed) & (size > 0)
    if rules.lone == LONE_IS_RETESTED:
        lone = _passing(pairs.recall, thresholds.one_to_one_recall)
        lone &= _passing(pairs.precision, thresholds.one_to_one_precision)
        passes = np.where(size == 1, count(alive & lone) > 0, passes)
    constant = weights.split if stars.of_gt else weights.merge
    weight = 1 / (1 + natural_log(np.maximum(size, 1))) if weights.logarithm else constant
    if rules.lone != LONE_IS_MANY:
        weight = np.where(size == 1, 1.0, weight)
    of_hub = passes * weight
    of_partner = of_hub[star] * alive + one
    of_hub += has_one
    hub_side, partner_side = (gt_credit, det_credit) if stars.of_gt else (det_credit, gt_credit)
    hub_side[stars.hub] = of_hub
    partner_side[stars.partner] = of_partner


def _one_to_one(stars: _Stars, rules: Rules, thresholds: Thresholds) -> Bools:
    """(p, k) where a partner and its hub match one-to-one."""
    pairs, star, count = stars.pairs, stars.turns.number, stars.turns.count
    may = pairs.counts & pairs.near
    if rules.separate_tests:
        covers = _exceeding(pairs.recall, thresholds.one_to_one_recall)
        fits = _exceeding(pairs.precision, thresholds.one_to_one_precision)
        alone = (count(covers) == 1) & (count(fits) == 1)
        if not stars.of_gt:
            covers &= fits
        return np.asarray(covers & alone[star] & may[:, None])
    agrees = _passing(pairs.recall, thresholds.one_to_one_recall)
    agrees &= _passing(pairs.precision, thresholds.one_to_one_precision)
    if rules.lone_overlap:
        may &= (np.bincount(star, weights=pairs.counts) == 1)[star]
    return np.asarray(agrees & (count(agrees) == 1)[star] & may[:, None])


def _shared_by_several(stars: _Stars) -> Bools:
    """(p,) where two partners or more that count have a share of a pair's hub."""
    star = stars.turns.number
    return np.asarray(np.bincount(star, weights=stars.pairs.counts & (stars.share > 0))[star] > 1)


# Everything else -----------------------------------------------------------------------------------------------------


def _credit_tangled(
    pairs: Pairs,
    gt_row: Ints,
    det_row: Ints,
    rules: Rules,
    thresholds: Thresholds,
    weights: Weights,
    gt_credit: Floats,
    det_credit: Floats,
) -> None:
    """Put the credits of pairs laid out once for each setting, as if these were so many pictures."""
    if not len(pairs.gt):
        return
    settings = gt_credit.shape[1]
    place, setting = np.tile(np.arange(len(pairs.gt)), settings), np.arange(settings).repeat(len(pairs.gt))
    tiles = pairs[place]
    tiles = replace(tiles, gt=tiles.gt + setting * len(gt_row), det=tiles.det + setting * len(det_row))
    relation = match(tiles, rules, thresholds[setting])
    weight = weights_of(tiles, relation, weights)
    matched = np.flatnonzero(relation != MISSED)
    for row, credit in ((gt_row[pairs.gt], gt_credit), (det_row[pairs.det], det_credit)):
        credit[row[place[matched]], setting[matched]] = weight[matched]
