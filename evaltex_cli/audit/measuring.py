"""What an audit keeps of some images: places, who finds each object, and what is at each place.

In a crowd, many more pairs overlap than there are objects. They are measured some at a time, and
only those are kept of which suspects may be made.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evaltex_cli.audit import agreement
from evaltex_cli.audit.agreement import SAME, Agreeing, Copies, Independent
from evaltex_cli.audit.at_places import AtObjects
from evaltex_cli.audit.evidence import Evidence
from evaltex_cli.audit.scenes import Scene, Task, read
from evaltex_cli.audit.shares import stepped
from evaltex_cli.geometry import overlaps
from evaltex_cli.geometry.overlaps import CONTINUOUS
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.records import ImageBatch, Ints


class Found(NamedTuple):
    """What some images have, and how many detections have copies."""

    evidence: Evidence
    copies: Copies


def found(counting: Independent, task: Task) -> list[Found]:
    """Return what some images have, if these detectors are independent; a few images at a time."""
    return [_found(counting, scene) for scene in read(task)]


def copies(task: Task) -> list[Copies]:
    """Return how many detections have copies in some images."""
    detectors = len(task.detectors)
    return [
        agreement.copies(scene, _agreeing(scene, _shapes(scene)[1]), detectors)
        for scene in read(task)
    ]


def _shapes(scene: Scene) -> tuple[Shapes, Shapes]:
    sizes = np.zeros((len(scene.names), 2))
    return overlaps.shapes_of(ImageBatch(scene.names, sizes, scene.gt, scene.det), CONTINUOUS)


def _agreeing(scene: Scene, det: Shapes) -> Agreeing:
    return agreement.agreeing(scene.names, scene.det, det)


def _found(counting: Independent, scene: Scene) -> Found:
    gt, det = _shapes(scene)
    pairs = _agreeing(scene, det)
    copied = agreement.copies(scene, pairs, len(counting.outlines))
    group, reader = (numbered(first) for first in counting)
    places = agreement.places(scene, pairs, group, reader)
    del pairs
    at = AtObjects(scene, places, group[scene.detector], int(group.max()) + 1)
    at.measure(gt, det)
    same, hidden = agreement.agreeing(scene.names, scene.gt, gt), scene.gt.dont_care
    evidence = Evidence(
        scene,
        places,
        at.found,
        at.near,
        stepped(at.covered),
        at.fits >= SAME,
        at.best,
        at.parts,
        at.wholes,
        same.of(~(hidden[same.one] & hidden[same.other])),
    )
    return Found(evidence, copied)


def numbered(first: Ints) -> Ints:
    """(detectors,) the number of each detector's first one among those that are first."""
    return np.searchsorted(np.unique(first), first)
