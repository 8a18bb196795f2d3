"""The objects and all detectors' detections of all images, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaltex_cli.evaluation.evaluate import with_empty_images
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.filters import treat_invalid
from evaltex_cli.records import Ints, Objects, offsets_of
from evaltex_cli.records.rows import concatenate, take


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """All images with the objects of the ground truth and the detections of all detectors."""

    names: Sequence[str]
    """Of the images."""
    gt: Objects
    det: Objects
    """`gt` and `det`: the detections of an image are in the order of the detectors."""
    detector: Ints
    """(D,) int64. Index of each detection's detector."""


def read(inputs: Sequence[Inputs]) -> Scene:
    """Return the images of all detectors, without faults (an evaluation finds them)."""
    det, detector = interleaved([_detections(one) for one in inputs])
    gt: Source = inputs[0].gt  # an invalid polygon is there, even if a score leaves it out
    return Scene(gt.names, gt.objects, det, detector)


def _detections(inputs: Inputs) -> Objects:
    present = inputs.paired != NO_DETECTIONS
    part = inputs.det.part(inputs.paired[present])
    objects, *_ = treat_invalid(part.objects, inputs.options.invalid, "det")
    objects = replace(objects, pixels=None, types=None, labels=None, places=None)
    return with_empty_images(objects, present)


def interleaved(sides: Sequence[Objects]) -> tuple[Objects, Ints]:
    """Return the objects of several sides of the same images as those of one, image by image; and
    of which side each is.
    """
    image = np.concatenate([side.image for side in sides])
    order = np.argsort(image, kind="stable")
    offsets = offsets_of(np.sum([np.diff(side.offsets) for side in sides], axis=0))
    side = np.repeat(np.arange(len(sides)), [one.count for one in sides])
    return take(concatenate(sides), order, offsets), side[order]
