"""Where detectors agree: which of them are independent, and the places on which some agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evaltex_cli.audit.parts import meeting
from evaltex_cli.audit.scenes import Scene
from evaltex_cli.audit.shares import shares, stepped
from evaltex_cli.errors import InputError, quote
from evaltex_cli.geometry import boxes, shapes
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.records import Bools, Floats, Ints, Objects, count_texts

SAME = 0.5
"""Least IoU of two outlines of one text."""
AGREE = 2
"""Least independent detectors that agree."""
MOST_PAIRS = 500_000
"""Most pairs of overlapping detections of an image, or of objects: those of 1,000 in one place."""
COPIED_IOU, COPIED_SHARE = 0.95, 0.5
"""Two detectors count as one if so many of the detections of either have one of the other's with
such an IoU. Of the five detectors of CTW1500, 4 % at most do."""


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Places on which one independent detector or several agree. Whole numbers are int32 when all
    images are together.
    """

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
    """`one` and `other`: (p,) int32."""
    iou: Floats
    """(p,) float64."""

    def of(self, rows: Bools) -> Agreeing:
        """Return some of the pairs."""
        return Agreeing(self.one[rows], self.other[rows], self.iou[rows])


class Copies(NamedTuple):
    """How many detections have a copy, by each of n detectors."""

    detections: Ints
    """(n,) int64. All of each detector."""
    outlines: Ints
    """(n, n) int64. Those of the first detector that the second one has almost the same of."""
    texts: Ints
    """(n, n) int64. Those of which it has the text, too."""


class Independent(NamedTuple):
    """Which detectors count."""

    outlines: Ints
    """(detectors,) int64. The first detector whose outlines each has almost, or itself."""
    texts: Ints
    """(detectors,) int64. The first one of which each has almost the outlines and the texts:
    several recognisers of the same outlines are one detector, and several readers."""


def agreeing(names: Sequence[str], objects: Objects, made: Shapes) -> Agreeing:
    """Return the pairs that agree among the objects of one side of some images.

    Raises
    ------
    InputError
        For an image in which more than `MOST_PAIRS` overlap.
    """
    image, count = objects.image, np.zeros(len(names), np.int64)
    found = [Agreeing(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))]
    for one, other in meeting(objects.boxes, objects.offsets):
        count += np.bincount(image[one], minlength=len(names))
        if (count > MOST_PAIRS).any():
            raise InputError(
                f"image {quote(names[int(count.argmax())])}: more than {MOST_PAIRS} pairs of"
                " detections, or of objects, overlap; expected fewer: remove duplicates"
                " (non-maximum suppression)"
            )
        found.append(_agreeing(names, objects, made, one, other))
    return Agreeing(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _agreeing(
    names: Sequence[str], objects: Objects, made: Shapes, one: Ints, other: Ints
) -> Agreeing:
    """Return those of some pairs that agree."""
    drawn, area = objects.boxes, shapes.area(made)
    # No more than their boxes share can be shared: most pairs need no polygons.
    most = boxes.area(boxes.intersection(drawn[one], drawn[other]))
    possible = shares(most, np.maximum(area[one], area[other])) >= SAME
    one, other = one[possible], other[possible]
    shared = shapes.pair_area(made, one, made, other)
    iou = shares(shared, area[one] + area[other] - shared)
    same = iou >= SAME
    return Agreeing(one[same].astype(np.int32), other[same].astype(np.int32), iou[same])


def copies(scene: Scene, pairs: Agreeing, detectors: int) -> Copies:
    """Return how many detections have copies, by the pairs of those that agree."""
    close = pairs.of(pairs.iou >= COPIED_IOU)
    alike, texts = close, scene.det.texts
    if count_texts(texts):
        both = zip(close.one.tolist(), close.other.tolist(), strict=True)
        alike = close.of(np.fromiter((texts[a] == texts[b] for a, b in both), bool, len(close.one)))
    totals = np.bincount(scene.detector, minlength=detectors)
    return Copies(totals, *(_having(scene.detector, of, detectors) for of in (close, alike)))


def _having(detector: Ints, same: Agreeing, detectors: int) -> Ints:
    """(n, n) how many detections of the first detector have one of the second in pairs that are the
    same; one counts once, even if several are so close to it.
    """
    near, far = np.concatenate([same.one, same.other]), np.concatenate([same.other, same.one])
    row, other = np.divmod(np.unique(near * np.int64(detectors) + detector[far]), detectors)
    cells = detector[row] * detectors + other
    return np.bincount(cells, minlength=detectors**2).reshape(detectors, detectors)


def independent(found: Copies) -> Independent:
    """Return which detectors count: those whose detections are almost the same count as one."""
    return Independent(
        _first(found.detections, found.outlines), _first(found.detections, found.texts)
    )


def _first(totals: Ints, having: Ints) -> Ints:
    """(detectors,) the first detector that has almost the detections of each."""
    first = np.arange(len(totals))
    for a in range(len(totals)):
        for b in range(a + 1, len(totals)):
            share = np.minimum(having[a, b], having[b, a]) / max(totals[a], totals[b], 1)
            if share >= COPIED_SHARE:
                first[first == first[b]] = first[a]
    return first


def places(scene: Scene, pairs: Agreeing, group: Ints, reader: Ints) -> Places:
    """Return the places of some images.

    The detection on which most independent detectors agree (at an IoU of `SAME`) is a
    centre; it and all that agree with it make a place, and the rest go on without them.

    Parameters
    ----------
    group, reader : (detectors,) int64
        The number of each detector among the independent detectors, and readers.
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

    def best_of(number: Ints) -> Ints:
        columns = number[scene.detector], int(number.max()) + 1
        return _best_of(place, columns[0], (to_centre, rank), centre, columns[1])

    at = best_of(group)
    read = at if np.array_equal(group, reader) else best_of(reader)
    has = at >= 0
    count = has.sum(axis=1)
    ious = np.where(has, to_centre[at], 0).sum(axis=1) - 1
    return Places(centre, count, ious / np.maximum(count - 1, 1), at, read)


def _best(group: Ints, groups: int, pairs: tuple[Ints, Ints, Floats]) -> Floats:
    """(D, groups) the best IoU of each detection with a detection of each group."""
    near, far, iou = pairs
    best = np.zeros((len(group), groups))
    np.maximum.at(best, (near, group[far]), iou)
    best[np.arange(len(group)), group] = 1
    return best


def _ranks(scene: Scene, group: Ints, pairs: tuple[Ints, Ints, Floats]) -> Ints:
    """(D,) the detections' ranks, those with which most agree, and best, first; equal ones by
    where they are, so that the order of a file does not matter.
    """
    groups, group = int(group.max()) + 1, group[scene.detector]
    best = _best(group, groups, pairs)
    agree, total = (best > 0).sum(axis=1), stepped(best.sum(axis=1))
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


def _best_of(
    place: Ints, column: Ints, fit: tuple[Floats, Ints], centre: Ints, columns: int
) -> Ints:
    """(P, columns) the detection of each detector, or reader, that agrees best with the centre; of
    equal ones the first by rank.
    """
    to_centre, rank = fit
    order = np.lexsort((-rank, to_centre))
    at = np.full((len(centre), columns), -1)
    at[place[order], column[order]] = order  # the last one, which agrees best, remains
    at[np.arange(len(centre)), column[centre]] = centre
    return at
