"""What speaks for and against each object: who finds it, and which places are at it, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evaltex_cli.audit import agreement, scenes
from evaltex_cli.audit.agreement import (
    AGREE,
    SAME,
    Agreeing,
    Grouped,
    Independent,
    Places,
    meeting,
    shares,
    stepped,
)
from evaltex_cli.audit.scenes import Scene
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.overlaps import CONTINUOUS
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.records import Bools, Floats, Ints, Objects, offsets_of
from evaltex_cli.records.rows import take

TOUCHED = 0.1
"""A place of which the objects cover less has no object."""
NEAR = 0.3
"""Least share of an object that a detection has if the object is not unfound, whatever its IoU."""
INSIDE = 0.6
"""Least share of an outline in another one that contains it."""
NESTED = 0.5
"""Least share that two parts have in common, of the smaller one, if they are one part."""


class AtPlaces(NamedTuple):
    """Pairs of an object and a place that share some area, sorted by both."""

    gt: Ints
    place: Ints
    """`gt` and `place`: (r,) int64."""
    iou: Floats
    """(r,) float64. Of the object and of the place's centre."""

    def of(self, rows: Bools | Ints) -> AtPlaces:
        """Return some of the pairs."""
        return AtPlaces(self.gt[rows], self.place[rows], self.iou[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Images, the places of independent detectors, and what both have to do with each other."""

    scene: Scene
    places: Places
    found: Floats
    """(G, groups) float64. The best IoU of each object with a detection of each detector."""
    near: Ints
    """(G,) int64. How many detectors have an object, or a detection on a good part of it."""
    covered: Floats
    """(P,) float64. The share of each place that objects cover, summed."""
    confirmed: Bools
    """(P,) bool. Places at which an object is."""
    best: tuple[AtPlaces, AtPlaces]
    """Counted objects, and those that are don't care, each with the best of the places on which
    detectors agree that no other of them fits better."""
    parts: tuple[Ints, Ints]
    """Counted objects and places on which detectors agree and that are inside of them, if these
    are two or more of an object; (r,) int64 each, sorted."""
    wholes: tuple[Ints, Ints]
    """Places on which detectors agree and the counted objects inside of them, likewise; of nested
    objects, the one that detectors fit better."""
    same: Agreeing
    """Two objects in one place, of which one counts."""

    @property
    def groups(self) -> int:
        """How many detectors are independent."""
        return len(self.found.T)

    @property
    def finders(self) -> Ints:
        """(G,) how many detectors find each object."""
        return np.asarray((self.found >= SAME).sum(axis=1))

    @property
    def empty(self) -> Bools:
        """(P,) places at which no object is."""
        return self.covered < TOUCHED


def read(inputs: Sequence[Inputs]) -> tuple[Evidence, Independent]:
    """Return the evidence of all images, and which detectors count.

    Parameters
    ----------
    inputs : sequence of Inputs
        One for each detector, of the same ground truth; without faults (an evaluation finds them).

    Raises
    ------
    InputError
        For an image in which too many objects, or detections, overlap (`agreeing`).
    """
    scene = scenes.read(inputs)
    gt, det = (shapes.from_objects(side, CONTINUOUS) for side in (scene.gt, scene.det))
    pairs = agreement.agreeing(scene.names, scene.det, det)
    independent = agreement.independent(scene, pairs, len(inputs))
    group, reader = (_grouped(first, scene.detector) for first in independent)
    places = agreement.places(scene, pairs, group, reader)
    same, hidden = agreement.agreeing(scene.names, scene.gt, gt), scene.gt.dont_care
    same = same.of(~(hidden[same.one] & hidden[same.other]))
    return _evidence(scene, places, group, same, _shared(scene, gt, det)), independent


def _grouped(first: Ints, detector: Ints) -> Grouped:
    counting = agreement.counting(first, detector)
    return Grouped(np.searchsorted(counting, first[detector]), len(counting))


class _Shared(NamedTuple):
    """What objects and detections, or places, share, by pairs of both, sorted."""

    gt: Ints
    other: Ints
    of_gt: Floats
    of_other: Floats
    iou: Floats
    """`of_gt`, `of_other` and `iou`: as a share of the object, of the other and of both."""

    def of(self, rows: Bools | Ints) -> _Shared:
        gt, other, of_gt, of_other, iou = self
        return _Shared(gt[rows], other[rows], of_gt[rows], of_other[rows], iou[rows])


def _shared(scene: Scene, gt: Shapes, det: Shapes) -> _Shared:
    """Return what the objects and detections share."""
    gt_area, det_area = gt.area(), det.area()
    i, j = touching_boxes(scene.gt.boxes, scene.gt.offsets, scene.det.boxes, scene.det.offsets)
    area = gt.pair_area(i, det, j)
    of_gt, of_det = shares(area, gt_area[i]), shares(area, det_area[j])
    iou = shares(area, gt_area[i] + det_area[j] - area)
    return _Shared(i, j, of_gt, of_det, iou).of(area > 0)


def _evidence(
    scene: Scene, places: Places, group: Grouped, same: Agreeing, pairs: _Shared
) -> Evidence:
    """Return the evidence of pairs of objects and detections."""
    found = np.zeros((scene.gt.count, group.groups))
    np.maximum.at(found, (pairs.gt, group.of[pairs.other]), pairs.iou)
    near = np.zeros(found.shape, bool)
    close = pairs.of((pairs.of_gt >= NEAR) | (pairs.iou >= SAME))
    near[close.gt, group.of[close.other]] = True
    # From here, of places instead of detections.
    count = len(places.centre)
    place = np.full(scene.det.count, -1)
    place[places.centre] = np.arange(count)
    pairs = pairs._replace(other=place[pairs.other])
    pairs = pairs.of(pairs.other >= 0)
    covered, fits = np.zeros(count), np.zeros(count)
    np.add.at(covered, pairs.other, pairs.of_other)
    np.maximum.at(fits, pairs.other, pairs.iou)
    pairs = pairs.of(places.count[pairs.other] >= AGREE)
    hidden = scene.gt.dont_care[pairs.gt]
    counted = pairs.of(~hidden)
    parts = counted.of(counted.of_other >= INSIDE)
    parts = parts.of(several(parts.gt))
    return Evidence(
        scene,
        places,
        found,
        near.sum(axis=1),
        stepped(covered),
        fits >= SAME,
        (_best(counted), _best(pairs.of(hidden))),
        (parts.gt, parts.other),
        _wholes(counted.of(counted.of_gt >= INSIDE), scene.gt, found),
        same,
    )


def _best(pairs: _Shared) -> AtPlaces:
    """Of each place the object that fits it best, and of each object the best of these places."""
    pairs = pairs.of(_is_first(pairs.other, pairs.iou, pairs.gt))
    pairs = pairs.of(_is_first(pairs.gt, pairs.iou, pairs.other))
    return AtPlaces(pairs.gt, pairs.other, pairs.iou)


def _is_first(key: Ints, value: Floats, tie: Ints) -> Bools:
    """(n,) whether a row has the highest value of its key; of equal ones the first by `tie`."""
    order = np.lexsort((tie, -value, key))
    first = np.ones(len(key), dtype=bool)
    first[order[1:]] = key[order[1:]] != key[order[:-1]]
    return first


def _wholes(inside: _Shared, objects: Objects, found: Floats) -> tuple[Ints, Ints]:
    """As `Evidence.wholes`, from the objects inside of places."""
    inside = inside.of(np.argsort(inside.other, kind="stable"))
    inside = inside.of(several(inside.other))
    rows = outermost(inside.other, objects, inside.gt, found.sum(axis=1)[inside.gt])
    inside = inside.of(rows)
    inside = inside.of(several(inside.other))
    return inside.other, inside.gt


def several(owner: Ints) -> Bools:
    """(r,) whether a row's owner has two rows or more."""
    _, number, counts = np.unique(owner, return_inverse=True, return_counts=True)
    return np.asarray(counts[number] >= 2)


def outermost(owner: Ints, objects: Objects, rows: Ints, trust: Floats) -> Bools:
    """(n,) which parts of something remain if of two that share much one goes, the one that is
    trusted less.

    Parameters
    ----------
    owner : (n,) int64
        What each is a part of, sorted.
    objects : Objects
    rows : (n,) int64
        The parts among the objects.
    trust : (n,) float64
    """
    offsets = offsets_of(np.unique(owner, return_counts=True)[1])
    made = shapes.from_objects(take(objects, rows, np.array([0, len(rows)])), CONTINUOUS)
    area = made.area()
    remains, trust = np.ones(len(rows), dtype=bool), stepped(trust)
    one, other = meeting(objects.boxes[rows], offsets)
    common = made.pair_area(one, made, other)
    nested = shares(common, np.minimum(area[one], area[other])) >= NESTED
    remains[np.where(trust[one] < trust[other], one, other)[nested]] = False
    return remains
