"""Parts of a result that only some runs have: intervals, verdicts of gates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from evaltex_cli.evaluation.groups import Units
from evaltex_cli.protocols.score_names import shown

IMAGES = Units()

Interval: TypeAlias = tuple[float, float]
Intervals: TypeAlias = Mapping[str, Interval | None]
"""Score -> lower and upper bound; None where the images do not show them."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a gate; `limit` is the value beyond which it fails, `baseline` None for an
    absolute one. `passed` is None if the evidence that the gate asks for does not decide.
    """

    expression: str
    protocol: str
    score: str
    value: float | None
    baseline: float | None
    limit: float
    passed: bool | None
    interval: Interval | None = None
    """Of the difference to the baseline, where the gate asks for evidence."""
    advice: str = ""
    """What would decide."""

    @property
    def state(self) -> str:
        """Whether the gate is passed, in one word."""
        return {True: "passed", False: "FAILED", None: "unclear"}[self.passed]

    @property
    def is_beyond(self) -> bool:
        """Whether the difference is beyond the limit, be it by chance."""
        if self.value is None or self.baseline is None:
            return False
        return (self.value < self.limit) == (self.limit < self.baseline)

    def __str__(self) -> str:
        value = "undefined" if self.value is None else f"{self.value:.6g}"
        against = "" if self.baseline is None else f", baseline {self.baseline:.6g}"
        if self.value is not None and self.baseline is not None and self.interval is not None:
            low, high = self.interval
            against += f"; difference {self.value - self.baseline:+.4f} [{low:+.4f}, {high:+.4f}]"
        against += f"; {self.advice}" if self.advice else ""
        return (
            f"{self.state}  {self.expression}: {self.protocol} {shown(self.score)} is {value},"
            f" limit {self.limit:.6g}{against}"
        )


@dataclass(frozen=True, slots=True)
class SliceScores:
    """The headline scores of the images with one value of an attribute, `by`, or of the objects of
    one class; None where undefined.
    """

    by: str
    value: str
    images: int
    objects: int
    detections: int
    scores: dict[str, float | None]
    intervals: Intervals | None = None


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How intervals are made: level, number of random subsets of the units, and seed."""

    level: float
    resamples: int
    seed: int
    units: Units = IMAGES

    @property
    def title(self) -> str:
        """What tables say of the intervals."""
        return f"{100 * self.level:g}% confidence intervals: {self.units.test}"
