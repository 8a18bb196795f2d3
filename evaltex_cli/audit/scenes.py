"""The objects and all detectors' detections of images, with what overlaps; in columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.evaluation.batches import Part, cut, part_of
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.formats.filters import treat_invalid
from evaltex_cli.geometry import boxes, overlaps, shapes
from evaltex_cli.geometry.overlaps import CONTINUOUS, touching_boxes
from evaltex_cli.protocols.ratios import quotient
from evaltex_cli.records import Floats, ImageBatch, Ints, Objects, offsets_of
from evaltex_cli.records.rows import concatenate, take
from evaltex_cli.runtime import OrderedMap

SAME = 0.5
"""Least IoU of two outlines of one text."""
_SIDES = ("gt", "det")


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Some images with the objects of the ground truth and the detections of all detectors."""

    names: Sequence[str]
    """Of the images."""
    gt: Objects
    det: Objects
    """`gt` and `det`: the detections of an image are in the order of the detectors."""
    detector: Ints
    """(D,) int64. Index of each detection's detector."""
    one: Ints
    other: Ints
    """`one` and `other`: (p,) int64. Detections with an IoU of at least `SAME`, each pair once."""
    iou: Floats
    """(p,) float64."""
    at_gt: Ints
    at_det: Ints
    """`at_gt` and `at_det`: (m,) int64. Objects and detections that share some area."""
    share_of_gt: Floats
    share_of_det: Floats
    gt_iou: Floats
    """`share_of_gt`, `share_of_det` and `gt_iou`: (m,) float64. What they share, as a share of the
    object, of the detection and of both."""


class _Task(NamedTuple):
    """Some images of the ground truth and of each detector, with where their detections are."""

    names: Sequence[str]
    invalid: str
    gt: Part
    detectors: Sequence[tuple[Part, Ints]]


def read(inputs: Sequence[Inputs], ordered_map: OrderedMap = map) -> Scene:
    """Return all images, read and measured.

    Parameters
    ----------
    inputs : sequence of Inputs
        One for each detector, of the same ground truth; without faults (an evaluation finds them).
    ordered_map : callable
        What does the work (`workers`).
    """
    tasks = (_task(inputs, images) for images in cut(inputs[0]))
    return joined(ordered_map(_measured, tasks))


def _task(inputs: Sequence[Inputs], images: tuple[int, int]) -> _Task:
    here = slice(*images)
    first = inputs[0]
    detectors = []
    for one in inputs:
        partners = one.paired[here]
        present = partners != NO_DETECTIONS
        detectors.append((part_of(one.det, partners[present]), np.flatnonzero(present)))
    gt = part_of(first.gt, np.arange(*images))
    return _Task(gt.names, first.options.invalid, gt, detectors)


def _measured(task: _Task) -> Scene:
    count = len(task.names)
    gt = task.gt.read().objects  # an invalid polygon is there, even if a score leaves it out
    sides = [
        _spread(_detections(part, task.invalid), images, count) for part, images in task.detectors
    ]
    det, detector = interleaved(sides)
    overlap = overlaps.measure(ImageBatch(task.names, np.zeros((count, 2)), gt, det))
    gt_area, det_area = overlap.gt_area[overlap.gt], overlap.det_area[overlap.det]
    gt, pairs, det = _needed(gt), pairs_of(det), _needed(det)
    return Scene(
        task.names,
        gt,
        det,
        detector,
        *pairs,
        overlap.gt,
        overlap.det,
        quotient(overlap.area, gt_area),
        quotient(overlap.area, det_area),
        quotient(overlap.area, gt_area + det_area - overlap.area),
    )


def _needed(objects: Objects) -> Objects:
    """Return objects without what an audit does not ask for."""
    return replace(objects, pixels=None, types=None, line=None)


def _detections(part: Part, invalid: str) -> Objects:
    return treat_invalid(part.read(), invalid, "det")[0].objects


def _spread(objects: Objects, images: Ints, count: int) -> Objects:
    """Return the objects of some images as those of `count` images."""
    counts = np.zeros(count, np.int64)
    counts[images] = np.diff(objects.offsets)
    return replace(objects, offsets=offsets_of(counts))


def interleaved(sides: Sequence[Objects]) -> tuple[Objects, Ints]:
    """Return the objects of several sides of the same images as those of one, image by image; and
    of which side each is.
    """
    image = np.concatenate([side.image for side in sides])
    order = np.argsort(image, kind="stable")
    offsets = offsets_of(np.sum([np.diff(side.offsets) for side in sides], axis=0))
    side = np.repeat(np.arange(len(sides)), [one.count for one in sides])
    return take(concatenate(sides), order, offsets), side[order]


def pairs_of(objects: Objects) -> tuple[Ints, Ints, Floats]:
    """Return the pairs of objects of one side with an IoU of at least `SAME`, and the IoU."""
    drawn = objects.boxes
    made = shapes.from_objects(objects, CONTINUOUS)
    area = shapes.area(made)
    one, other = touching_boxes(drawn, objects.offsets, drawn, objects.offsets)
    once = one < other
    one, other = one[once], other[once]
    # No more than their boxes share can be shared: most pairs need no polygons.
    most = boxes.area(boxes.intersection(drawn[one], drawn[other]))
    possible = most >= SAME * np.maximum(area[one], area[other])
    one, other = one[possible], other[possible]
    shared = shapes.pair_area(made, one, made, other)
    iou = quotient(shared, area[one] + area[other] - shared)
    same = iou >= SAME
    return one[same], other[same], iou[same]


def joined(scenes: Iterable[Scene]) -> Scene:
    """Return the images of several scenes as one, its columns joined one after another, so that no
    more than one is there twice.
    """
    parts: dict[str, list[Any]] = {field.name: [] for field in fields(Scene)}
    for scene in scenes:
        for name, of_one in parts.items():
            of_one.append(getattr(scene, name))
    del scene
    gt_before, det_before = (offsets_of([one.count for one in parts[side]]) for side in _SIDES)

    def rows(name: str, before: Ints) -> Ints:
        return np.concatenate(
            [part + first for part, first in zip(parts.pop(name), before, strict=False)]
        )

    def column(name: str) -> Any:
        return np.concatenate(parts.pop(name))

    return Scene(
        [*chain.from_iterable(parts.pop("names"))],
        concatenate(parts.pop("gt")),
        concatenate(parts.pop("det")),
        column("detector"),
        rows("one", det_before),
        rows("other", det_before),
        column("iou"),
        rows("at_gt", gt_before),
        rows("at_det", det_before),
        *(column(name) for name in ("share_of_gt", "share_of_det", "gt_iou")),
    )
