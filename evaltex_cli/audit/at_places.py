"""What objects have to do with detections and with places, from the area that they share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evaltex_cli.audit.agreement import AGREE, SAME, Places
from evaltex_cli.audit.evidence import AtPlaces
from evaltex_cli.audit.parts import outermost, several
from evaltex_cli.audit.scenes import Scene
from evaltex_cli.audit.shares import shares
from evaltex_cli.geometry import overlaps, shapes
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.records import Bools, Floats, Ints

NEAR = 0.3
"""Least share of an object that a detection has if the object is not unfound, whatever its IoU."""
INSIDE = 0.6
"""Least share of an outline in another one that contains it."""
NO_PAIR = np.zeros((2, 0), np.int32)


class Shared(NamedTuple):
    """What some objects and detections share, by pairs of both, as `AtObjects` adds them up."""

    gt: Ints
    det: Ints
    of_gt: Floats
    of_det: Floats
    iou: Floats
    """`of_gt`, `of_det` and `iou`: as a share of the object, of the detection and of both."""

    def of(self, rows: Bools | Ints) -> Shared:
        """Return some of the pairs."""
        gt, det, of_gt, of_det, iou = self
        return Shared(gt[rows], det[rows], of_gt[rows], of_det[rows], iou[rows])


class AtObjects:
    """What is known of the objects and places of a scene."""

    def __init__(self, scene: Scene, places: Places, detector: Ints, detectors: int) -> None:
        count = len(places.centre)
        self._scene, self._detector = scene, detector
        self._agree = places.count >= AGREE
        self._place = np.full(scene.det.count, -1)
        self._place[places.centre] = np.arange(count)
        self.found = np.zeros((scene.gt.count, detectors))
        self._near = np.zeros((scene.gt.count, detectors), bool)
        self.covered, self.fits = np.zeros(count), np.zeros(count)
        # Of each place, the counted object and the one that is don't care that fit it best.
        self._best = np.full((2, count), -1, np.int32), np.full((2, count), -1.0)
        self._parts: list[Ints] = []
        self._wholes: list[Ints] = []

    def measure(self, gt: Shapes, det: Shapes) -> None:
        """Add all that the objects and detections share, some pairs at a time."""
        objects, others = self._scene.gt, self._scene.det
        gt_area, det_area = shapes.area(gt), shapes.area(det)
        for i, j in overlaps.touching_parts(
            objects.boxes, objects.offsets, others.boxes, others.offsets
        ):
            area = shapes.pair_area(gt, i, det, j)
            of_gt, of_det = shares(area, gt_area[i]), shares(area, det_area[j])
            iou = shares(area, gt_area[i] + det_area[j] - area)
            self._add(Shared(i, j, of_gt, of_det, iou).of(area > 0))

    def _add(self, pairs: Shared) -> None:
        np.maximum.at(self.found, (pairs.gt, self._detector[pairs.det]), pairs.iou)
        near = pairs.of((pairs.of_gt >= NEAR) | (pairs.iou >= SAME))
        self._near[near.gt, self._detector[near.det]] = True
        pairs = pairs._replace(det=self._place[pairs.det])
        pairs = pairs.of(pairs.det >= 0)
        np.add.at(self.covered, pairs.det, pairs.of_det)
        np.maximum.at(self.fits, pairs.det, pairs.iou)
        pairs = pairs.of(self._agree[pairs.det])
        hidden = self._scene.gt.dont_care[pairs.gt]
        for flag in (0, 1):
            self._fit(flag, pairs.of(hidden == flag))
        pairs = pairs.of(~hidden)
        for of_kind, share in ((self._parts, pairs.of_det), (self._wholes, pairs.of_gt)):
            rows = share >= INSIDE
            of_kind.append(np.stack([pairs.gt[rows], pairs.det[rows]]).astype(np.int32))

    def _fit(self, flag: int, pairs: Shared) -> None:
        """Take the objects that fit a place better; of equal ones the first, which comes first."""
        pairs = pairs.of(_is_first(pairs.det, pairs.iou, pairs.gt))
        gt, iou = self._best[0][flag], self._best[1][flag]
        pairs = pairs.of(pairs.iou > iou[pairs.det])
        gt[pairs.det], iou[pairs.det] = pairs.gt, pairs.iou

    @property
    def near(self) -> Ints:
        """As `Evidence.near`."""
        return np.asarray(self._near.sum(axis=1))

    @property
    def best(self) -> tuple[AtPlaces, AtPlaces]:
        """As `Evidence.best`."""
        return self._best_of(0), self._best_of(1)

    def _best_of(self, flag: int) -> AtPlaces:
        gt, iou = self._best[0][flag], self._best[1][flag]
        place = np.flatnonzero(gt >= 0)
        place = place[_is_first(gt[place], iou[place], place)]
        place = place[np.argsort(gt[place])]
        return AtPlaces(gt[place], place, iou[place])

    @property
    def parts(self) -> tuple[Ints, Ints]:
        """As `Evidence.parts`."""
        return _of_several(self._parts, 0)

    @property
    def wholes(self) -> tuple[Ints, Ints]:
        """As `Evidence.wholes`; of nested objects, the one that detectors fit better."""
        gt, place = _of_several(self._wholes, 1)
        rows = outermost(place, self._scene.gt, gt, self.found.sum(axis=1)[gt])
        gt, place = gt[rows], place[rows]
        rows = several(place)
        return place[rows], gt[rows]


def _of_several(pairs: list[Ints], side: int) -> tuple[Ints, Ints]:
    """The pairs whose object (side 0) or place (1) is in several of them, in its order."""
    both = np.concatenate([NO_PAIR, *pairs], axis=1)
    both = both[:, several(both[side])]
    gt, place = both[:, np.lexsort((both[1 - side], both[side]))]
    return gt, place


def _is_first(key: Ints, value: Floats, tie: Ints) -> Bools:
    """(n,) whether a row has the highest value of its key; of equal ones the first by `tie`."""
    order = np.lexsort((tie, -value, key))
    first = np.ones(len(key), dtype=bool)
    first[order[1:]] = key[order[1:]] != key[order[:-1]]
    return first
