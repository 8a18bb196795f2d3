"""Detections of low confidence, left out before anything is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from evaltex_cli.errors import ConfigError, FaultLog
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
    return replace(
        source,
        min_confidence=minimum,
        read=partial(_read, source.read, minimum),
        part=None if source.part is None else partial(_part, source.part, minimum),
    )


def _read(read: Callable[..., ReadImages], minimum: float, *arguments: Any) -> ReadImages:
    found = read(*arguments)
    objects = at_least(found.objects, minimum)
    return replace(found, objects=objects, unconfident=found.objects.count - objects.count)


def _part(
    part: Callable[[Ints], Callable[[FaultLog], ReadImages]], minimum: float, positions: Ints
) -> Callable[[FaultLog], ReadImages]:
    return partial(_read, part(positions), minimum)


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
