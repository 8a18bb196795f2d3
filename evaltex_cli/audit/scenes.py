"""The objects and all detectors' detections of images, in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.filters import treat_invalid
from evaltex_cli.records import Ints, Objects, blocks, offsets_of
from evaltex_cli.records.rows import concatenate, take, take_images

PAIRS_AT_ONCE = 1 << 18
"""Pairs of detections that may overlap, of all images that are measured at once; each takes 100
bytes on the way if it does and they agree.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Some images with the objects of the ground truth and the detections of all detectors."""

    names: Sequence[str]
    """Of the images."""
    gt: Objects
    det: Objects
    """`gt` and `det`: the detections of an image are in the order of the detectors."""
    detector: Ints
    """(D,) int32. Index of each detection's detector."""


class Task(NamedTuple):
    """Some images of the ground truth and of each detector, with where their detections are."""

    names: Sequence[str]
    invalid: str
    gt: Source
    detectors: Sequence[tuple[Source, Ints]]


def task(inputs: Sequence[Inputs], images: Ints) -> Task:
    """Return some images of all detectors, without faults (an evaluation finds them)."""
    first = inputs[0]
    detectors = []
    for one in inputs:
        partners = one.paired[images]
        present = partners != NO_DETECTIONS
        detectors.append((one.det.part(partners[present]), np.flatnonzero(present)))
    gt = first.gt.part(images)
    return Task(gt.names, first.options.invalid, gt, detectors)


def read(images: Task) -> Iterator[Scene]:
    """Yield some images, as many at a time as have few pairs of detections that overlap."""
    count = len(images.names)
    gt = images.gt.objects  # an invalid polygon is there, even if a score leaves it out
    sides = [
        _spread(_detections(part, images.invalid), where, count) for part, where in images.detectors
    ]
    det, detector = interleaved(sides)
    whole = Scene(images.names, gt, det, detector.astype(np.int32))
    for start, stop in blocks(np.diff(det.offsets) ** 2, PAIRS_AT_ONCE):
        yield _some_images(whole, start, stop)


def _some_images(scene: Scene, start: int, stop: int) -> Scene:
    if stop - start == len(scene.names):
        return scene
    images = np.arange(start, stop)
    return Scene(
        scene.names[start:stop],
        take_images(scene.gt, images),
        take_images(scene.det, images),
        scene.detector[slice(*scene.det.offsets[[start, stop]])],
    )


def _detections(part: Source, invalid: str) -> Objects:
    return treat_invalid(part.objects, invalid, "det")[0]


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
