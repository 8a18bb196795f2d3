"""Members of a result that only some runs have: intervals, verdicts of gates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

SCHEMA = 1
TEST = "paired permutation test over images"

Interval: TypeAlias = tuple[float, float]
Intervals: TypeAlias = Mapping[str, Interval | None]
"""Score -> lower and upper bound; None where the images do not show them."""


class Verdict(NamedTuple):
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


class Bootstrap(NamedTuple):
    """How the intervals were made: their level, the number of random subsets
    of images, and the seed.
    """

    level: float
    resamples: int
    seed: int

    @property
    def title(self) -> str:
        """What tables say of the intervals."""
        return f"{100 * self.level:g}% confidence intervals: {TEST}"


class Extras(NamedTuple):
    """Members that only some results have; None if a result does not have one."""

    intervals: Intervals | None = None
    bootstrap: Bootstrap | None = None
    gates: Sequence[Verdict] | None = None
    merged_from: Sequence[str] | None = None
    """Of a merged result: SHA-256 of the ground truth of every evaluation in it."""

    def members(self) -> dict[str, Any]:
        """Return those that there are, as the .json has them."""
        members = self._asdict() | {
            "bootstrap": self.bootstrap and self.bootstrap._asdict(),
            "gates": None if self.gates is None else [gate._asdict() for gate in self.gates],
        }
        return {name: value for name, value in members.items() if value is not None}
