"""The confidence levels that are tried, chosen from the confidences of all detections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaltex_cli.errors import ConfigError
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.formats.filters import treat_invalid
from evaltex_cli.records import Bools, Floats, Ints, Objects
from evaltex_cli.records.rows import take_images

POINTS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Confidence levels; level τ keeps detections of confidence τ or more, or without one."""

    values: Floats
    """(L,) float64. They rise; the lowest keeps all detections."""
    with_polygons: int
    """At how many levels, from the lowest, a detection has other than four vertices."""

    def __len__(self) -> int:
        return len(self.values)

    def drops(self, objects: Objects) -> Ints:
        """(n,) how many levels, from the lowest, keep each detection."""
        if objects.confidences is None:
            return np.full(objects.count, len(self))
        confidences = objects.confidences
        kept = np.searchsorted(self.values, confidences, side="right")
        return np.where(np.isnan(confidences), len(self), kept)


@dataclass(frozen=True, slots=True, eq=False)
class Confidences:
    """What is read of detections before levels are chosen."""

    values: Floats
    """(m,) float64. All different confidences, rising."""
    of_polygons: float = -np.inf
    """The highest confidence of a detection of other than four vertices, infinite if one has none;
    -inf without such a detection."""

    @classmethod
    def of(cls, objects: Objects) -> Confidences:
        """Return those of some detections."""
        counts = objects.outlines.counts
        known = objects.confidences
        if known is None:
            known = np.full(objects.count, np.nan)
        of_polygons = known[(counts != 0) & (counts != 4)]
        highest = np.max(np.where(np.isnan(of_polygons), np.inf, of_polygons), initial=-np.inf)
        return cls(distinct(known[~np.isnan(known)]), float(highest))

    def levels(self, points: int) -> Levels:
        """Return the levels to try, at most so many.

        Raises
        ------
        ConfigError
            For less than one point.
        """
        if points < 1:
            raise ConfigError(f"points={points}; expected a number of levels from 1 up")
        chosen = self.values[ranks(len(self.values), points)]
        return Levels(chosen, int(np.searchsorted(chosen, self.of_polygons, side="right")))


def distinct(values: Floats) -> Floats:
    """Return values sorted, each once; -0 is 0."""
    ordered = np.sort(values + 0.0)
    is_first: Bools = np.diff(ordered, prepend=-np.inf) > 0
    return ordered[is_first]


def ranks(count: int, points: int) -> list[int]:
    """Return which of so many sorted values are levels: all, or some, evenly by rank."""
    if count <= points:
        return list(range(count))
    if points == 1:
        return [0]
    return [round(k * (count - 1) / (points - 1)) for k in range(points)]


def read_confidences(inputs: Inputs) -> Confidences:
    """Return the confidences of all detections whose image the ground truth has.

    Faults are not reported here, but by the evaluation after this.
    """
    positions = inputs.paired[inputs.paired != NO_DETECTIONS]
    objects = inputs.det.objects
    if len(positions) < len(inputs.det.names):
        objects = take_images(objects, positions)
    treated, _, _ = treat_invalid(objects, inputs.options.invalid, "det")
    # A run looks at all polygons that are read to decide what depends on them.
    return Confidences(Confidences.of(treated).values, Confidences.of(objects).of_polygons)
