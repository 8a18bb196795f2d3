"""Objects that are left out before anything is measured: of low confidence, or invalid polygons."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.errors import ConfigError
from evaltex_cli.old_formats.base import ReadImages, Side, Source
from evaltex_cli.old_formats.files.numbers import COORDINATE_LIMIT
from evaltex_cli.records import Bools, GeometryCounts, Ints, Objects, Outlines, offsets_of
from evaltex_cli.records.rows import take

NOWHERE = -COORDINATE_LIMIT
"""x and y of a point that no detection covers: the lower bound of what is read."""


def only_confident(source: Source, minimum: float) -> Source:
    """Return the input without the objects that `at_least` leaves out.

    Raises
    ------
    ConfigError
        When the minimum is not in [0, 1].
    """
    if not 0 <= minimum <= 1:
        raise ConfigError(f"least confidence {minimum}; expected a number from 0 to 1")
    return replace(source, min_confidence=minimum, filters=(*source.filters, _AtLeast(minimum)))


class _AtLeast(NamedTuple):
    """A `base.Filter` that leaves out what `at_least` does."""

    minimum: float

    def part(self, positions: Ints) -> _AtLeast:
        return self

    def apply(self, images: ReadImages) -> ReadImages:
        objects = at_least(images.objects, self.minimum)
        return replace(images, objects=objects, unconfident=images.objects.count - objects.count)


def at_least(objects: Objects, minimum: float) -> Objects:
    """Leave out the objects whose confidence is below a minimum.

    Objects of exactly the minimum stay, as do those without a confidence (NaN, or no column at
    all). IDs, regions and order stay as they are; so do the images, of which some may be left
    empty.

    Parameters
    ----------
    objects : Objects
    minimum : float
        In [0, 1].

    Returns
    -------
    Objects
        `objects` itself where nothing is left out.
    """
    if objects.confidences is None:
        return objects
    keep = ~(objects.confidences < minimum)
    return objects if keep.all() else take(objects, keep)


def with_dont_care(source: Source, policy: str) -> Source:
    """Return a ground truth with don't-care objects that count as others, or without them.

    Parameters
    ----------
    policy : {'ignore', 'count', 'drop'}
        As `InputOptions.dont_care`; `ignore` returns the ground truth itself.
    """
    if policy == "ignore":
        return source
    return replace(source, filters=(*source.filters, _DontCare(policy == "drop")))


class _DontCare(NamedTuple):
    """A `base.Filter` that lets don't-care objects count, or leaves them out."""

    are_dropped: bool

    def part(self, positions: Ints) -> _DontCare:
        return self

    def apply(self, images: ReadImages) -> ReadImages:
        objects = images.objects
        if not objects.dont_care.any():
            return images
        if self.are_dropped:
            return replace(images, objects=take(objects, ~objects.dont_care))
        counting = np.zeros(objects.count, dtype=bool)
        return replace(images, objects=replace(objects, dont_care=counting))


def treat_invalid(read: ReadImages, policy: str, side: Side) -> tuple[ReadImages, dict[int, str]]:
    """Apply the policy for invalid polygons to what a reader has repaired.

    Parameters
    ----------
    read : ReadImages
    policy : {'repair', 'drop', 'skip', 'error'}
        Keep the repaired polygons; leave these objects out; leave out detections, and let nothing
        match objects of the ground truth, which count; or refuse them.
    side : {'gt', 'det'}

    Returns
    -------
    ReadImages
        With `drop` and `skip` without these objects, or with them `NOWHERE`; `repairs` counts them
        as dropped.
    dict
        With `error` why, by object; otherwise empty.
    """
    objects, repairs = read.objects, read.repairs
    if (
        policy == "repair"
        or objects.outlines.all_boxes
        or not (repairs.repaired or repairs.zero_area)
    ):
        return read, {}
    invalid = geometry.polygons.describe_invalid(objects.outlines)
    if policy == "error" or not invalid:
        return read, {row: one.why for row, one in invalid.items()}
    gone = np.zeros(objects.count, dtype=bool)
    gone[list(invalid)] = True
    flat = sum(not one.has_area for one in invalid.values())
    counts = GeometryCounts(0, repairs.dropped + len(invalid), repairs.zero_area - flat)
    remaining = (
        _unreachable(objects, gone) if (policy, side) == ("skip", "gt") else take(objects, ~gone)
    )
    return replace(read, objects=remaining, repairs=counts), {}


def _unreachable(objects: Objects, gone: Bools) -> Objects:
    """Return all objects, some of them (n,) bool as points `NOWHERE`, each in
    a region of its own.
    """
    outlines = objects.outlines
    boxes, regions = outlines.boxes.copy(), objects.regions.copy()
    boxes[gone] = NOWHERE
    regions[gone] = np.setdiff1d(np.arange(len(gone) + gone.sum()), regions)[: gone.sum()]
    remain = ~np.repeat(gone, outlines.counts)
    drawn = Outlines(
        boxes, outlines.vertices[remain], offsets_of(np.where(gone, 0, outlines.counts))
    )
    pixels = None if objects.pixels is None else np.where(gone[:, None], NOWHERE, objects.pixels)
    return replace(objects, outlines=drawn, regions=regions, pixels=pixels)
