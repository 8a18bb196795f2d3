"""Parts of a result that only some runs have: intervals, verdicts of gates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

TEST = "paired permutation test over images"

Interval: TypeAlias = tuple[float, float]
Intervals: TypeAlias = Mapping[str, Interval | None]
"""Score -> lower and upper bound; None where the images do not show them."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a gate; `limit` is the value beyond which it fails,
    `baseline` None for an absolute one.
    """

    expression: str
    protocol: str
    score: str
    value: float | None
    baseline: float | None
    limit: float
    passed: bool

    @property
    def state(self) -> str:
        """Whether the gate is passed, in one word."""
        return "passed" if self.passed else "FAILED"

    def __str__(self) -> str:
        value = "undefined" if self.value is None else f"{self.value:.6g}"
        against = "" if self.baseline is None else f", baseline {self.baseline:.6g}"
        return (
            f"{self.state}  {self.expression}: {self.protocol} {self.score} is {value}, limit"
            f" {self.limit:.6g}{against}"
        )


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How intervals are made: level, number of random subsets of images, and seed."""

    level: float
    resamples: int
    seed: int

    @property
    def title(self) -> str:
        """What tables say of the intervals."""
        return f"{100 * self.level:g}% confidence intervals: {TEST}"
