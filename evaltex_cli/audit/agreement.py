"""Where detectors agree: which of them are independent, and the places on which some agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaltex_cli.audit.scenes import Measured
from evaltex_cli.records import Bools, Floats, Ints, count_texts

COPIED_IOU, COPIED_SHARE = 0.95, 0.5
"""Two detectors count as one if so many of the detections of either have one of the other's with
such an IoU. Of the five detectors of CTW1500, 4 % at most do."""


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


@dataclass(frozen=True, slots=True, eq=False)
class Independent:
    """Which detectors count."""

    outlines: Ints
    """(detectors,) int64. The first detector whose outlines each has almost, or itself."""
    texts: Ints
    """(detectors,) int64. The first one of which each has almost the outlines and the texts:
    several recognisers of the same outlines are one detector, and several readers."""


def independent(scene: Measured, detectors: int) -> Independent:
    """Return which detectors count: those whose detections are almost the same count as one."""
    close = scene.iou >= COPIED_IOU
    alike, texts = close.copy(), scene.det.texts
    if count_texts(texts):
        rows = np.flatnonzero(close)
        pairs = zip(scene.one[rows].tolist(), scene.other[rows].tolist(), strict=True)
        alike[rows] = [texts[one] == texts[other] for one, other in pairs]
    return Independent(_first(scene, detectors, close), _first(scene, detectors, alike))


def _first(scene: Measured, detectors: int, same: Bools) -> Ints:
    """(detectors,) the first detector that has almost the detections of each, by pairs of
    detections that are the same.
    """
    one, other = scene.detector[scene.one], scene.detector[scene.other]
    totals = np.bincount(scene.detector, minlength=detectors)
    first = np.arange(detectors)
    for a in range(detectors):
        for b in range(a + 1, detectors):
            between = same & (((one == a) & (other == b)) | ((one == b) & (other == a)))
            # A detection counts once, even if several of the other detector are so close to it.
            rows = np.unique(np.concatenate([scene.one[between], scene.other[between]]))
            has_copy = np.bincount(scene.detector[rows], minlength=detectors)
            share = np.minimum(has_copy[a], has_copy[b]) / max(totals[a], totals[b], 1)
            if share >= COPIED_SHARE:
                first[first == first[b]] = first[a]
    return first


def places(scene: Measured, group: Ints, reader: Ints) -> Places:
    """Return the places of all images.

    The detection on which most independent detectors agree (at an IoU of `scenes.SAME`) is a
    centre; it and all that agree with it make a place, and the rest go on without them.

    Parameters
    ----------
    group, reader : (detectors,) int64
        The number of each detector among the independent detectors, and readers.
    """
    # Both directions of each pair.
    near = np.concatenate([scene.one, scene.other])
    far = np.concatenate([scene.other, scene.one])
    iou = np.concatenate([scene.iou, scene.iou])
    rank = _ranks(scene, group, (near, far, iou))
    centre_of = _centres(near, far, iou, rank)
    centre = np.unique(centre_of)
    to_centre = np.ones(scene.det.count)
    with_centre = centre_of[near] == far
    to_centre[near[with_centre]] = iou[with_centre]
    place = np.searchsorted(centre, centre_of)

    def best_of(number: Ints) -> Ints:
        columns = number[scene.detector], int(number.max()) + 1
        return _best_of(place, columns[0], to_centre, centre, columns[1])

    at = best_of(group)
    read = at if np.array_equal(group, reader) else best_of(reader)
    has = at >= 0
    count = has.sum(axis=1)
    ious = np.where(has, to_centre[at], 0).sum(axis=1) - 1
    return Places(centre, count, ious / np.maximum(count - 1, 1), at, read)


Pairs = tuple[Ints, Ints, Floats]


def _best(group: Ints, groups: int, pairs: Pairs) -> Floats:
    """(D, groups) the best IoU of each detection with a detection of each group."""
    near, far, iou = pairs
    best = np.zeros((len(group), groups))
    np.maximum.at(best, (near, group[far]), iou)
    best[np.arange(len(group)), group] = 1
    return best


def _ranks(scene: Measured, group: Ints, pairs: Pairs) -> Ints:
    """(D,) the detections' ranks, those with which most agree, and best, first; equal ones by
    where they are, so that the order of a file does not matter.
    """
    groups, group = int(group.max()) + 1, group[scene.detector]
    best = _best(group, groups, pairs)
    agree, total = (best > 0).sum(axis=1), best.sum(axis=1).round(9)
    keys = (*scene.det.boxes.T[::-1], group, -total, -agree)
    rank = np.empty(len(group), np.int64)
    rank[np.lexsort(keys)] = np.arange(len(group))
    return rank


def _centres(near: Ints, far: Ints, iou: Floats, rank: Ints) -> Ints:
    """(D,) the centre of the place of each detection; of a centre, itself."""
    count = len(rank)
    centre_of = np.full(count, -1)
    open_ = np.ones(count, dtype=bool)
    while open_.any():
        alive = open_[near] & open_[far]
        near, far, iou = near[alive], far[alive], iou[alive]
        ahead = np.full(count, count)
        np.minimum.at(ahead, near, rank[far])
        is_centre = open_ & (rank < ahead)
        centre_of[is_centre] = np.flatnonzero(is_centre)
        # The rest go to the centre that agrees best with them.
        to_centre = np.flatnonzero(is_centre[far])
        order = to_centre[np.lexsort((-rank[far[to_centre]], iou[to_centre]))]
        centre_of[near[order]] = far[order]
        open_ &= centre_of < 0
    return centre_of


def _best_of(place: Ints, column: Ints, to_centre: Floats, centre: Ints, columns: int) -> Ints:
    """(P, columns) the detection of each detector, or reader, that agrees best with the centre."""
    order = np.lexsort((-np.arange(len(place)), to_centre))
    at = np.full((len(centre), columns), -1)
    at[place[order], column[order]] = order  # the last one, which agrees best, remains
    at[np.arange(len(centre)), column[centre]] = centre
    return at
