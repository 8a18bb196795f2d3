"""The objects and all detectors' detections of images, with what overlaps; in columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.evaluation.batches import Part, cut, part_of
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.formats.filters import treat_invalid
from evaltex_cli.geometry import boxes, overlaps, shapes
from evaltex_cli.geometry.overlaps import CONTINUOUS, touching_boxes
from evaltex_cli.protocols.ratios import quotient
from evaltex_cli.records import (
    Floats,
    ImageBatch,
    Ints,
    Objects,
    Outlines,
    Texts,
    offsets_of,
    stretches,
)
from evaltex_cli.records.rows import concatenate, packed, take
from evaltex_cli.runtime import OrderedMap

SAME = 0.5
"""Least IoU of two outlines of one text."""
_SHARES = ("share_of_gt", "share_of_det", "gt_iou")
_COLUMNS = (
    "per image",
    "ids",
    "boxes",
    "vertices",
    "corners",
    "dont_care",
    "letters",
    "lengths",
    "confidences",
)


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


@dataclass(frozen=True, slots=True, eq=False)
class Measured(Scene):
    """A scene with what overlaps in it."""

    one: Ints
    other: Ints
    """`one` and `other`: (p,) int64. Detections with an IoU of at least `SAME`, each pair once."""
    iou: Floats
    """(p,) float64."""
    same: tuple[Ints, Ints, Floats]
    """The same pairs of objects, and their IoU."""
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


def read(inputs: Sequence[Inputs], ordered_map: OrderedMap = map) -> Measured:
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


def _measured(task: _Task) -> Measured:
    count = len(task.names)
    gt = task.gt.read().objects  # an invalid polygon is there, even if a score leaves it out
    sides = [
        _spread(_detections(part, task.invalid), images, count) for part, images in task.detectors
    ]
    det, detector = interleaved(sides)
    overlap = overlaps.measure(ImageBatch(task.names, np.zeros((count, 2)), gt, det))
    gt_area, det_area = overlap.gt_area[overlap.gt], overlap.det_area[overlap.det]
    return Measured(
        task.names,
        gt,
        det,
        detector,
        *pairs_of(det),
        pairs_of(gt),
        overlap.gt,
        overlap.det,
        quotient(overlap.area, gt_area),
        quotient(overlap.area, det_area),
        quotient(overlap.area, gt_area + det_area - overlap.area),
    )


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


def joined(scenes: Iterable[Measured]) -> Measured:
    """Return the images of several scenes as one, without what an audit does not ask for."""
    names: list[str] = []
    columns: dict[str, _Column] = defaultdict(_Column)
    gt_count = det_count = 0
    for scene in scenes:
        names += scene.names
        numbers = {
            "detector": scene.detector,
            "one": scene.one + det_count,
            "other": scene.other + det_count,
            "iou": scene.iou,
            "same_one": scene.same[0] + gt_count,
            "same_other": scene.same[1] + gt_count,
            "same_iou": scene.same[2],
            "at_gt": scene.at_gt + gt_count,
            "at_det": scene.at_det + det_count,
            **{name: getattr(scene, name) for name in _SHARES},
        }
        for side in ("gt", "det"):
            of_side = _columns_of(getattr(scene, side)).items()
            numbers |= {f"{side} {name}": column for name, column in of_side}
        for name, part in numbers.items():
            columns[name].add(part)
        gt_count, det_count = gt_count + scene.gt.count, det_count + scene.det.count

    whole: dict[str, Any] = {}
    while columns:
        name, column = columns.popitem()
        whole[name] = column.array()
    gt, det = (_objects_of(whole, side) for side in ("gt", "det"))
    same = tuple(whole.pop(f"same_{name}") for name in ("one", "other", "iou"))
    return Measured(names, gt, det, same=same, **whole)


class _Column:
    """An array that grows in its place, so that no part of it is in memory twice."""

    def __init__(self) -> None:
        self._values = bytearray()

    def add(self, part: NDArray[Any]) -> None:
        self._like = part[:0]
        self._values.extend(np.ascontiguousarray(part).data.cast("B") if part.size else b"")

    def array(self) -> NDArray[Any]:
        shape = self._like.shape[1:]
        return np.frombuffer(self._values, self._like.dtype).reshape(-1, *shape)


def _columns_of(objects: Objects) -> dict[str, NDArray[Any]]:
    """Return what an audit asks objects for, each in a column that grows."""
    texts, confidences = packed(objects.texts), objects.confidences
    lengths = texts.stop - texts.start
    return {
        "per image": np.diff(objects.offsets),
        "ids": objects.ids,
        "boxes": objects.boxes,
        "vertices": objects.outlines.vertices,
        "corners": objects.outlines.counts,
        "dont_care": objects.dont_care,
        "letters": np.frombuffer(texts.buffer, np.uint8)[stretches(texts.start, lengths)],
        "lengths": lengths,
        "confidences": np.full(objects.count, np.nan) if confidences is None else confidences,
    }


def _objects_of(whole: dict[str, Any], side: str) -> Objects:
    """Return the objects of a side, whose columns are taken away."""
    column = {name: whole.pop(f"{side} {name}") for name in _COLUMNS}
    ids, ends, confidences = column["ids"], offsets_of(column["lengths"]), column["confidences"]
    outlines = Outlines(column["boxes"], column["vertices"], offsets_of(column["corners"]))
    return Objects(
        offsets_of(column["per image"]),
        ids,
        Outlines.of_boxes(outlines.boxes) if outlines.all_boxes else outlines,
        ids,
        column["dont_care"],
        Texts(column["letters"].tobytes(), ends[:-1], ends[1:]),
        None if np.isnan(confidences).all() else confidences,
    )
