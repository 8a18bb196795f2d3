"""Places on which detectors agree, and what the objects of the ground truth have to do with them.

Areas are measured for all images at once; what follows are loops over plain records. Rows are those
of the objects, or of the detections, of all images.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.evaluation.evaluate import with_empty_images
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.formats.filters import treat_invalid
from evaltex_cli.geometry import boxes, shapes
from evaltex_cli.geometry.overlaps import CONTINUOUS
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.protocols.scores import quotient
from evaltex_cli.records import Floats, Ints, Objects, concatenate, offsets_of, take

SAME = 0.5
"""Least IoU of two outlines of one text."""
AGREE = 2
"""Least independent detectors that agree."""
COPIED_IOU, COPIED_SHARE = 0.95, 0.5
"""Two detectors count as one if so many of the detections of either have one of the other's with
such an IoU. Of the five detectors of CTW1500, 4 % at most do."""
NEAR = 0.3
"""Least share of an object that a detection has if the object is not unfound, whatever its IoU."""
STEPS = 20 << 26
"""Steps of shares that are compared, so that rounding errors decide nothing. The thresholds, with
one or two decimals, are whole numbers of steps."""

Pair: TypeAlias = tuple[int, int, float]
"""Two rows of one side, and their IoU."""


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """All images with the objects of the ground truth and the detections of all detectors."""

    names: Sequence[str]
    """Of the images."""
    gt: Objects
    det: Objects
    """Within an image, the detections are in the order of the detectors."""
    detector: Ints
    """(D,) int64. Index of each detection's detector."""


@dataclass(slots=True, eq=False)
class Place:
    """A place on which one independent detector or several agree."""

    centre: int
    """The detection that agrees best with those of other detectors."""
    at: dict[int, int]
    """Independent detector (by its number among them) -> its detection here that agrees best with
    the centre."""
    read: dict[int, int]
    """The same for each independent reader."""
    iou: float
    """Mean IoU of the centre with the other detectors' detections; 0 without others."""
    covered: float = 0.0
    """The share of the centre that objects cover, summed."""
    object_iou: float = 0.0
    """The best IoU of the centre with an object."""
    confidence: float = 1.0
    quality: float = 1.0
    """`confidence` and `quality`: in [0, 1], set by `suspicion.weigh`."""


class Overlap(NamedTuple):
    """An object and a place on which detectors agree that share some area."""

    row: int
    place: Place
    of_object: float
    of_place: float
    iou: float


@dataclass(slots=True, eq=False)
class Evidence:
    """What speaks for and against each object of a ground truth."""

    scene: Scene
    shapes: tuple[Shapes, Shapes]
    """Of the objects and of the detections."""
    detectors: list[int]
    """Indices of the independent detectors."""
    readers: list[int]
    """Those of the independent readers: they may have the outlines of others, with other texts."""
    copies: dict[int, int]
    """Detector that does not count -> the one that has almost the same outlines."""
    places: list[Place]
    duplicates: list[Pair]
    """Two objects in one place, at least one of which counts."""
    found: list[list[float]]
    """For each object its best IoU with a detection of each independent detector."""
    near: list[int] = field(default_factory=list)
    """For each object how many detectors find it, or have a detection on a good part of it."""
    overlaps: list[Overlap] = field(default_factory=list)
    """Sorted by object and centre."""
    reliability: list[float] = field(default_factory=list)
    """How often 0, 1, 2... detectors that agree are right, set by `suspicion.weigh`."""

    @property
    def hidden(self) -> list[bool]:
        """Whether each object is don't care."""
        flags: list[bool] = self.scene.gt.dont_care.tolist()
        return flags

    @property
    def finders(self) -> list[int]:
        """How many detectors find each object."""
        return [sum(iou >= SAME for iou in ious) for ious in self.found]


def read(inputs: Sequence[Inputs]) -> Evidence:
    """Return the evidence of all images.

    Parameters
    ----------
    inputs : sequence of Inputs
        One for each detector, with the same ground truth; without faults (an evaluation finds
        them).
    """
    det, detector = interleaved([_detections(one) for one in inputs])
    gt = inputs[0].gt.objects  # an invalid polygon is there, even if a score leaves it out
    scene = Scene(inputs[0].gt.names, gt, det, detector)
    gt_shapes, det_shapes = (shapes.from_objects(side, CONTINUOUS) for side in (gt, det))
    pairs = _same(det, det_shapes)
    close = [pair for pair in pairs if pair[2] >= COPIED_IOU]
    alike = [pair for pair in close if det.texts[pair[0]] == det.texts[pair[1]]]
    owner = detector.tolist()
    firsts = [_first(owner, len(inputs), some) for some in (close, alike)]
    detectors, readers = (_counting(first, set(owner)) for first in firsts)
    group, reader = (
        [some.index(first[k]) for k in owner]
        for some, first in zip((detectors, readers), firsts, strict=True)
    )
    hidden = gt.dont_care
    evidence = Evidence(
        scene,
        (gt_shapes, det_shapes),
        detectors,
        readers,
        {k: first for k, first in enumerate(firsts[0]) if first != k},
        _places(det, pairs, group, reader),
        [pair for pair in _same(gt, gt_shapes) if not (hidden[pair[0]] and hidden[pair[1]])],
        [[0.0] * len(detectors) for _ in range(gt.count)],
    )
    _measure(evidence, group)
    return evidence


def _detections(inputs: Inputs) -> Objects:
    present = inputs.paired != NO_DETECTIONS
    part = inputs.det.part(inputs.paired[present])
    objects, *_ = treat_invalid(part.objects, inputs.options.invalid, "det")
    objects = replace(objects, pixels=None, types=None, labels=None, places=None)
    return with_empty_images(objects, present)


def interleaved(sides: Sequence[Objects]) -> tuple[Objects, Ints]:
    """Return the objects of several sides of the same images as those of one, image by image; and
    the side of each.
    """
    image = np.concatenate([side.image for side in sides])
    order = np.argsort(image, kind="stable")
    offsets = offsets_of(np.sum([np.diff(side.offsets) for side in sides], axis=0))
    side = np.repeat(np.arange(len(sides)), [one.count for one in sides])
    return take(concatenate(sides), order, offsets), side[order]


def stepped(value: Any) -> Any:
    """Return a share, a sum of shares, or an array of them, in whole steps."""
    return np.rint(value * STEPS) / STEPS


def shares(part: Floats, whole: Floats) -> Floats:
    """(n,) the parts as shares of their wholes, in whole steps; 0 of nothing."""
    return np.asarray(stepped(quotient(part, whole)))


def _same(objects: Objects, drawn: Shapes) -> list[Pair]:
    """Return the pairs of objects of one side with an IoU of at least `SAME`, each once."""
    one, other = touching_boxes(objects.boxes, objects.offsets, objects.boxes, objects.offsets)
    one, other = one[one < other], other[one < other]
    area = drawn.area()
    # No more than their boxes share can be shared: most pairs need no polygons.
    most = boxes.area(boxes.intersection(drawn.boxes[one], drawn.boxes[other]))
    possible = shares(most, np.maximum(area[one], area[other])) >= SAME
    one, other = one[possible], other[possible]
    shared = drawn.pair_area(one, drawn, other)
    iou = shares(shared, area[one] + area[other] - shared)
    every = zip(one.tolist(), other.tolist(), iou.tolist(), strict=True)
    return [pair for pair in every if pair[2] >= SAME]


def _first(owner: Sequence[int], detectors: int, pairs: Sequence[Pair]) -> list[int]:
    """Return for each detector the first one that has almost its detections, or itself.

    `pairs` are detections that are almost the same.
    """
    totals = Counter(owner)
    # A detection counts once, even if several of a detector are so close to it.
    matched = {(a, owner[b]) for a, b, _ in pairs} | {(b, owner[a]) for a, b, _ in pairs}
    having = Counter((owner[row], other) for row, other in matched)
    first = list(range(detectors))
    for a, b in combinations(range(detectors), 2):
        share = min(having[a, b], having[b, a]) / max(totals[a], totals[b], 1)
        if share >= COPIED_SHARE:
            first = [first[a] if one == first[b] else one for one in first]
    return first


def _counting(first: Sequence[int], with_detections: Collection[int]) -> list[int]:
    """Return the detectors that count: copies do not, or those without any detection, if others
    have some.
    """
    return sorted({first[k] for k in with_detections} or set(first))


def _places(
    det: Objects, pairs: Sequence[Pair], group: Sequence[int], reader: Sequence[int]
) -> list[Place]:
    """Return the places of all images, sorted by their centres.

    The detection on which most independent detectors agree is a centre; those that agree with it
    belong to its place, and the rest go on without them. A detection that agrees with several
    centres at once belongs to the one with which it agrees best.
    """
    near: dict[int, dict[int, float]] = defaultdict(dict)
    for one, other, iou in pairs:
        near[one][other] = near[other][one] = iou
    order = _ranked(det, near, group)
    rank = {row: k for k, row in enumerate(order)}
    members: dict[int, list[int]] = {}
    # Round by round: what has no better one near it that is left is a centre, and those around it
    # go. The round of a detection is known once those of all better ones near it are.
    gone: dict[int, int] = {}
    for row in order:
        better = [other for other in near[row] if other in gone]
        centres = [other for other in better if other in members]
        if centres:
            gone[row] = min(gone[other] for other in centres)
            centres = [other for other in centres if gone[other] == gone[row]]
            best = max(centres, key=lambda other: (near[row][other], -rank[other]))
            members[best].append(row)
        else:
            gone[row] = 1 + max((gone[other] for other in better), default=0)
            members[row] = [row]
    places = []
    for centre, rows in sorted(members.items()):
        at: dict[int, int] = {}
        read: dict[int, int] = {}
        # The last one of a detector remains: the one that agrees best, the first of equal ones.
        for row in sorted(rows, key=lambda row: (near[centre].get(row, 2.0), -rank[row])):
            at[group[row]] = read[reader[row]] = row
        ious = [near[centre][row] for row in at.values() if row != centre]
        places.append(Place(centre, at, read, sum(ious) / len(ious) if ious else 0.0))
    return places


def _ranked(
    det: Objects, near: Mapping[int, Mapping[int, float]], group: Sequence[int]
) -> list[int]:
    """Return the detections, those first with which most detectors agree, and best; equal ones by
    where they are, so that the order of a file does not matter.
    """

    def key(row: int) -> tuple[float, ...]:
        best: dict[int, float] = {}
        for other, iou in near.get(row, {}).items():
            best[group[other]] = max(best.get(group[other], 0.0), iou)
        best[group[row]] = 1.0
        return -len(best), -stepped(sum(best.values())), group[row], *drawn[row]

    drawn = det.boxes.tolist()
    return sorted(range(det.count), key=key)


def _measure(evidence: Evidence, group: Sequence[int]) -> None:
    """Add what objects share with detections and places; `group` has the independent detector of
    each detection.
    """
    (gt_shapes, det_shapes), scene = evidence.shapes, evidence.scene
    i, j = touching_boxes(scene.gt.boxes, scene.gt.offsets, scene.det.boxes, scene.det.offsets)
    area, gt_area, det_area = (
        gt_shapes.pair_area(i, det_shapes, j),
        gt_shapes.area(),
        det_shapes.area(),
    )
    rows = np.flatnonzero(area > 0)
    i, j, area = i[rows], j[rows], area[rows]
    of_objects, of_detections = shares(area, gt_area[i]), shares(area, det_area[j])
    columns = i, j, of_objects, of_detections, shares(area, gt_area[i] + det_area[j] - area)
    place_of = {place.centre: place for place in evidence.places}
    near: list[set[int]] = [set() for _ in evidence.found]
    for row, detection, of_object, of_detection, iou in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        detector, ious = group[detection], evidence.found[row]
        ious[detector] = max(ious[detector], iou)
        if of_object >= NEAR or iou >= SAME:
            near[row].add(detector)
        place = place_of.get(detection)
        if place is not None:
            place.covered = stepped(place.covered + of_detection)
            place.object_iou = max(place.object_iou, iou)
            if len(place.at) >= AGREE:
                evidence.overlaps.append(Overlap(row, place, of_object, of_detection, iou))
    evidence.near = [len(detectors) for detectors in near]
