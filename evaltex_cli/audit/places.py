"""Places on which detectors agree, and what the objects of the ground truth have to do with them.

Areas are measured for all images at once; what follows are loops over plain records. Rows are those
of the objects, or of the detections, of all images.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.evaluation.evaluate import with_empty_images
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.formats.filters import treat_invalid
from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.overlaps import CONTINUOUS, overlaps_between
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.records import Ints, Objects, concatenate, offsets_of, take

SAME = 0.5
"""Least IoU of two outlines of one text."""
AGREE = 2
"""Least independent detectors that agree."""
COPIED_IOU, COPIED_SHARE = 0.95, 0.5
"""Two detectors count as one if so many of the detections of either have one of the other's with
such an IoU. Of the five detectors of CTW1500, 4 % at most do."""
NEAR = 0.3
"""Least share of an object that a detection has if the object is not unfound, whatever its IoU."""

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
    """Independent reader -> its detection here."""
    iou: float
    """Mean IoU of the centre with the other detectors' detections; 0 without others."""
    covered: float = 0.0
    """The share of the centre that objects cover, summed."""
    object_iou: float = 0.0
    """The best IoU of the centre with an object."""
    confidence: float = 1.0
    quality: float = 1.0
    trust: float = 1.0
    """These three are in [0, 1], and set by `suspicion.weigh`."""


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
    places: dict[int, Place]
    """Centre -> place, sorted."""
    duplicates: list[Pair]
    """Two objects in one place, at least one of which counts."""
    hidden: list[bool]
    """Whether each object is don't care."""
    ious: list[list[float]]
    """For each object its best IoU with a detection of each independent detector."""
    near: list[set[int]]
    """For each object the detectors that find it, or have a detection on a good part of it."""
    overlaps: list[Overlap] = field(default_factory=list)
    """Sorted by object and centre."""
    reliability: list[float] = field(default_factory=list)
    """How often 0, 1, 2... detectors that agree are right, set by `suspicion.weigh`."""

    @property
    def finders(self) -> list[int]:
        """How many detectors find each object."""
        return [sum(iou >= SAME for iou in ious) for ious in self.ious]


def read(inputs: Sequence[Inputs]) -> Evidence:
    """Return the evidence of all images from the inputs of each detector, which have the same
    ground truth and no faults (an evaluation finds them).
    """
    det, detector = interleaved([_detections(one) for one in inputs])
    gt = inputs[0].gt.objects  # an invalid polygon is there, even if a score leaves it out
    gt_shapes, det_shapes = (shapes.from_objects(side, CONTINUOUS) for side in (gt, det))
    pairs = _same(det_shapes, det.offsets)
    copied = [pair for pair in pairs if pair[2] >= COPIED_IOU]
    read_alike = [pair for pair in copied if det.texts[pair[0]] == det.texts[pair[1]]]
    owner = detector.tolist()
    original, first_reader = (_first(owner, len(inputs), some) for some in (copied, read_alike))
    # Detectors without detections count only if all are.
    detectors, readers = (
        sorted({first[k] for k in owner} or set(first)) for first in (original, first_reader)
    )
    group = [detectors.index(original[k]) for k in owner]
    reader = [readers.index(first_reader[k]) for k in owner]
    hidden = gt.dont_care.tolist()
    evidence = Evidence(
        Scene(inputs[0].gt.names, gt, det, detector),
        (gt_shapes, det_shapes),
        detectors,
        readers,
        {k: first for k, first in enumerate(original) if first != k},
        _places(det, pairs, group, reader),
        [one for one in _same(gt_shapes, gt.offsets) if not (hidden[one[0]] and hidden[one[1]])],
        hidden,
        [[0.0] * len(detectors) for _ in hidden],
        [set() for _ in hidden],
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


def rounded(value: Any) -> Any:
    """Return shares, or sums of shares, in steps so large that rounding errors decide nothing."""
    return np.round(value, 9)


def _same(drawn: Shapes, offsets: Ints) -> list[Pair]:
    """Return the pairs of shapes of one side with an IoU of at least `SAME`, each once."""
    pairs = overlaps_between(drawn, offsets, drawn, offsets)
    iou = rounded(pairs.iou())
    same = (pairs.gt < pairs.det) & (iou >= SAME)
    columns = (column[same].tolist() for column in (pairs.gt, pairs.det, iou))
    return list(zip(*columns, strict=True))


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


def _places(
    det: Objects, pairs: Sequence[Pair], group: Sequence[int], reader: Sequence[int]
) -> dict[int, Place]:
    """Return the places of all images by their centres, sorted.

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
    places = {}
    for centre, rows in sorted(members.items()):
        at: dict[int, int] = {}
        read: dict[int, int] = {}
        # The last one of a detector remains: the one that agrees best, the first of equal ones.
        for row in sorted(rows, key=lambda row: (near[centre].get(row, 2.0), -rank[row])):
            at[group[row]] = read[reader[row]] = row
        ious = [near[centre][row] for row in at.values() if row != centre]
        places[centre] = Place(centre, at, read, sum(ious) / len(ious) if ious else 0.0)
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
        return -len(best), -rounded(sum(best.values())), group[row], *drawn[row]

    drawn = det.boxes.tolist()
    return sorted(range(det.count), key=key)


def _measure(evidence: Evidence, group: Sequence[int]) -> None:
    """Add what objects share with detections and places; `group` has the independent detector of
    each detection.
    """
    (gt, det), scene = evidence.shapes, evidence.scene
    pairs = overlaps_between(gt, scene.gt.offsets, det, scene.det.offsets)
    of_objects, of_detections, ious = map(rounded, (pairs.recall(), pairs.precision(), pairs.iou()))
    columns = pairs.gt, pairs.det, of_objects, of_detections, ious
    for row, detection, of_object, of_detection, iou in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        detector, best = group[detection], evidence.ious[row]
        best[detector] = max(best[detector], iou)
        if of_object >= NEAR or iou >= SAME:
            evidence.near[row].add(detector)
        if place := evidence.places.get(detection):
            place.covered = rounded(place.covered + of_detection)
            place.object_iou = max(place.object_iou, iou)
            if len(place.at) >= AGREE:
                evidence.overlaps.append(Overlap(row, place, of_object, of_detection, iou))
