"""Detections of low confidence, left out before anything is measured."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evaltex_cli.errors import ConfigError
from evaltex_cli.formats.base import Source
from evaltex_cli.records import Ints, Objects, ReadImages, take


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


@dataclass(frozen=True, slots=True)
class _AtLeast:
    """A `base.Filter` that leaves out what `at_least` does."""

    minimum: float

    def part(self, positions: Ints) -> _AtLeast:
        return self

    def apply(self, images: ReadImages) -> ReadImages:
        objects = at_least(images.objects, self.minimum)
        return replace(images, objects=objects, unconfident=images.objects.count - objects.count)


def at_least(objects: Objects, minimum: float) -> Objects:
    """Leave out the objects whose confidence is below a minimum.

    Objects of exactly the minimum stay, as do those without a confidence (NaN, or no column at all). IDs, regions
    and order stay as they are; so do the images, of which some may be left empty.

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
