"""Where detectors agree: which of them are independent, and the places on which some agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from evaltex_cli.audit.scenes import Scene
from evaltex_cli.errors import InputError, quote
from evaltex_cli.geometry import boxes
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.protocols.scores import quotient
from evaltex_cli.records import Bools, Floats, Ints, Objects

SAME = 0.5
"""Least IoU of two outlines of one text."""
AGREE = 2
"""Least independent detectors that agree."""
MOST_PAIRS = 500_000
"""Most pairs of overlapping detections of an image, or of objects: those of 1,000 in one place."""
COPIED_IOU, COPIED_SHARE = 0.95, 0.5
"""Two detectors count as one if so many of the detections of either have one of the other's with
such an IoU. Of the five detectors of CTW1500, 4 % at most do."""

STEPS = 20 << 26
"""Steps of a share. The thresholds, with one or two decimals, are whole numbers of them; and half
of a step is no ratio of small numbers, as half of 10^-9 is, so what is equal becomes equal."""


def stepped(values: Floats) -> Floats:
    """Return shares, or sums of shares, in whole steps: rounding decides nothing."""
    return np.asarray(np.rint(values * STEPS) / STEPS)


def shares(part: Floats, whole: Floats) -> Floats:
    """(n,) the parts as shares of their wholes, in whole steps; 0 of nothing."""
    return stepped(quotient(part, whole))


def meeting(boxes: Floats, offsets: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of boxes of one group that share some area, each once."""
    one, other = touching_boxes(boxes, offsets, boxes, offsets)
    return one[one < other], other[one < other]


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Places on which one independent detector or several agree."""

    centre: Ints
    """(P,) int64. The detection that agrees best with those of other detectors."""
    count: Ints
    """(P,) int64. How many independent detectors agree, the centre's included."""
    iou: Floats
    """(P,) float64. Mean IoU of the centre with the best detection of each other one; 0 if there is
    none."""
    at: Ints
    """(P, G) int64. The detection of each independent detector; -1 if it has none here."""
    read: Ints
    """(P, R) int64. The same of each independent reader."""


class Agreeing(NamedTuple):
    """Pairs of detections, or of objects, with an IoU of at least `SAME`; each pair once."""

    one: Ints
    other: Ints
    """`one` and `other`: (p,) int64."""
    iou: Floats
    """(p,) float64."""

    def of(self, rows: Bools) -> Agreeing:
        """Return some of the pairs."""
        return Agreeing(self.one[rows], self.other[rows], self.iou[rows])


class Independent(NamedTuple):
    """Which detectors count."""

    outlines: Ints
    """(detectors,) int64. The first detector whose outlines each has almost, or itself."""
    texts: Ints
    """(detectors,) int64. The first one of which each has almost the outlines and the texts:
    several recognisers of the same outlines are one detector, and several readers."""


class Grouped(NamedTuple):
    """Which independent detector, or reader, each detection is of."""

    of: Ints
    """(D,) int64."""
    groups: int
    """How many there are."""


def agreeing(names: Sequence[str], objects: Objects, made: Shapes) -> Agreeing:
    """Return the pairs that agree among the objects of one side.

    Raises
    ------
    InputError
        For an image in which more than `MOST_PAIRS` overlap.
    """
    image = objects.image
    one, other = meeting(objects.boxes, objects.offsets)
    count = np.bincount(image[one], minlength=len(names))
    if (count > MOST_PAIRS).any():
        raise InputError(
            f"image {quote(names[int(count.argmax())])}: more than {MOST_PAIRS} pairs of"
            " detections, or of objects, overlap; expected fewer: remove duplicates"
            " (non-maximum suppression)"
        )
    drawn, area = objects.boxes, made.area()
    # No more than their boxes share can be shared: most pairs need no polygons.
    most = boxes.area(boxes.intersection(drawn[one], drawn[other]))
    possible = shares(most, np.maximum(area[one], area[other])) >= SAME
    one, other = one[possible], other[possible]
    shared = made.pair_area(one, made, other)
    iou = shares(shared, area[one] + area[other] - shared)
    same = iou >= SAME
    return Agreeing(one[same], other[same], iou[same])


def independent(scene: Scene, pairs: Agreeing, detectors: int) -> Independent:
    """Return which detectors count, by the pairs of detections that agree: those whose detections
    are almost the same count as one.
    """
    close = pairs.of(pairs.iou >= COPIED_IOU)
    both = zip(close.one.tolist(), close.other.tolist(), strict=True)
    texts = scene.det.texts
    alike = close.of(np.fromiter((texts[a] == texts[b] for a, b in both), bool, len(close.one)))
    totals = np.bincount(scene.detector, minlength=detectors)
    return Independent(*(_first(totals, scene.detector, one) for one in (close, alike)))


def _first(totals: Ints, detector: Ints, same: Agreeing) -> Ints:
    """(detectors,) the first detector that has almost the detections of each."""
    detectors = len(totals)
    near, far = np.concatenate([same.one, same.other]), np.concatenate([same.other, same.one])
    # A detection counts once, even if several of a detector are so close to it.
    row, other = np.divmod(np.unique(near * detectors + detector[far]), detectors)
    having = np.zeros((detectors, detectors), np.int64)
    np.add.at(having, (detector[row], other), 1)
    first = np.arange(detectors)
    for a, b in combinations(range(detectors), 2):
        share = min(having[a, b], having[b, a]) / max(totals[a], totals[b], 1)
        if share >= COPIED_SHARE:
            first[first == first[b]] = first[a]
    return first


def counting(first: Ints, detector: Ints) -> Ints:
    """Return the detectors that are first and have any detection; all, if none has."""
    some = np.bincount(detector, minlength=len(first)) > 0
    return np.unique(first[some] if some.any() else first)


def places(scene: Scene, pairs: Agreeing, group: Grouped, reader: Grouped) -> Places:
    """Return the places of all images.

    The detection on which most independent detectors agree (at an IoU of `SAME`) is a
    centre; it and all that agree with it make a place, and the rest go on without them.
    """
    # Both directions of each pair.
    near = np.concatenate([pairs.one, pairs.other])
    far = np.concatenate([pairs.other, pairs.one])
    iou = np.concatenate([pairs.iou, pairs.iou])
    rank = _ranks(scene, group, (near, far, iou))
    centre_of = _centres(near, far, iou, rank)
    centre = np.unique(centre_of)
    to_centre = np.ones(scene.det.count)
    with_centre = centre_of[near] == far
    to_centre[near[with_centre]] = iou[with_centre]
    place = np.searchsorted(centre, centre_of)
    at, read = (_best_of(place, one, (to_centre, rank), centre) for one in (group, reader))
    has = at >= 0
    count = has.sum(axis=1)
    ious = np.where(has, to_centre[at], 0).sum(axis=1) - 1
    return Places(centre, count, ious / np.maximum(count - 1, 1), at, read)


def _ranks(scene: Scene, group: Grouped, pairs: tuple[Ints, Ints, Floats]) -> Ints:
    """(D,) the detections' ranks, those with which most agree, and best, first; equal ones by
    where they are, so that the order of a file does not matter.
    """
    near, far, iou = pairs
    best = np.zeros((scene.det.count, group.groups))
    np.maximum.at(best, (near, group.of[far]), iou)
    best[np.arange(len(best)), group.of] = 1
    agree, total = (best > 0).sum(axis=1), stepped(best.sum(axis=1))
    rank = np.empty(len(best), np.int64)
    rank[np.lexsort((*scene.det.boxes.T[::-1], group.of, -total, -agree))] = np.arange(len(best))
    return rank


def _centres(near: Ints, far: Ints, iou: Floats, rank: Ints) -> Ints:
    """(D,) the centre of the place of each detection; of a centre, itself."""
    count = len(rank)
    centre_of = np.full(count, -1)
    open_ = np.ones(count, dtype=bool)
    while open_.any():
        ahead = np.full(count, count)
        np.minimum.at(ahead, near, rank[far])
        is_centre = open_ & (rank < ahead)
        centre_of[is_centre] = np.flatnonzero(is_centre)
        # The rest go to the centre that agrees best with them.
        to_centre = np.flatnonzero(is_centre[far])
        order = to_centre[np.lexsort((-rank[far[to_centre]], iou[to_centre]))]
        centre_of[near[order]] = far[order]
        open_ &= centre_of < 0
        alive = open_[near] & open_[far]
        near, far, iou = near[alive], far[alive], iou[alive]
    return centre_of


def _best_of(place: Ints, column: Grouped, fit: tuple[Floats, Ints], centre: Ints) -> Ints:
    """(P, columns) the detection of each detector, or reader, that agrees best with the centre; of
    equal ones the first by rank.
    """
    to_centre, rank = fit
    order = np.lexsort((-rank, to_centre))
    at = np.full((len(centre), column.groups), -1)
    at[place[order], column.of[order]] = order  # the last one, which agrees best, remains
    at[np.arange(len(centre)), column.of[centre]] = centre
    return at
