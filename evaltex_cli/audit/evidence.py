"""What speaks for and against each object: who finds it, and which places are at it, in columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaltex_cli.audit.agreement import SAME, Agreeing, Places
from evaltex_cli.audit.scenes import Scene
from evaltex_cli.records import Bools, Floats, Ints

TOUCHED = 0.1
"""A place of which the objects cover less has no object."""


@dataclass(frozen=True, slots=True, eq=False)
class AtPlaces:
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
    """Images, the places of independent detectors, and what both have to do with each other. Whole
    numbers are int32 when all images are together.
    """

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
    """Places on which detectors agree and the counted objects inside of them, likewise."""
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
