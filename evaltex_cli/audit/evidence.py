"""What speaks for and against each object: who finds it, and which places are at it, in columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaltex_cli.audit.agreement import Places
from evaltex_cli.audit.scenes import SAME, Measured
from evaltex_cli.records import Bools, Floats, Ints

TOUCHED = 0.1
"""A place of which the objects cover less has no object."""


@dataclass(frozen=True, slots=True, eq=False)
class AtPlaces:
    """The pairs of an object and a place that share some area, as `Measured` has them."""

    gt: Ints
    place: Ints
    """`gt` and `place`: (r,) int64."""
    share_of_gt: Floats
    share_of_place: Floats
    iou: Floats
    """`share_of_gt`, `share_of_place` and `iou`: (r,) float64. Of the object and of the place's
    centre."""

    def of(self, rows: Bools | Ints) -> AtPlaces:
        """Return some of the pairs."""
        return AtPlaces(
            self.gt[rows],
            self.place[rows],
            self.share_of_gt[rows],
            self.share_of_place[rows],
            self.iou[rows],
        )


@dataclass(frozen=True, eq=False)
class Evidence:
    """Scenes, the places of independent detectors, and what both have to do with each other."""

    scene: Measured
    places: Places
    group: Ints
    """(D,) int64. The independent detector of each detection."""
    groups: int

    @cached_property
    def found(self) -> Floats:
        """(G, groups) the best IoU of each object with a detection of each detector."""
        scene = self.scene
        best = np.zeros((scene.gt.count, self.groups))
        np.maximum.at(best, (scene.at_gt, self.group[scene.at_det]), scene.gt_iou)
        return best

    @cached_property
    def finders(self) -> Ints:
        """(G,) how many detectors find each object."""
        return np.asarray((self.found >= SAME).sum(axis=1))

    @cached_property
    def at(self) -> AtPlaces:
        """Objects at places, sorted by both."""
        scene = self.scene
        place = np.full(scene.det.count, -1)
        place[self.places.centre] = np.arange(len(self.places.centre))
        rows = np.flatnonzero(place[scene.at_det] >= 0)
        return AtPlaces(
            scene.at_gt[rows],
            place[scene.at_det[rows]],
            scene.share_of_gt[rows],
            scene.share_of_det[rows],
            scene.gt_iou[rows],
        )

    @cached_property
    def covered(self) -> Floats:
        """(P,) the share of each place that objects cover, summed."""
        places = len(self.places.centre)
        shares: Floats = np.bincount(self.at.place, self.at.share_of_place, places).astype(float)
        return shares

    @cached_property
    def place_iou(self) -> Floats:
        """(P,) the IoU of each place with the object that fits it best."""
        best = np.zeros(len(self.places.centre))
        np.maximum.at(best, self.at.place, self.at.iou)
        return best

    @property
    def confirmed(self) -> Bools:
        """(P,) places at which an object is."""
        return self.place_iou >= SAME

    @property
    def empty(self) -> Bools:
        """(P,) places at which no object is."""
        return self.covered < TOUCHED
