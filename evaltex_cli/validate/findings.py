"""What a validation reports: the problems found, what each side holds, which images pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evaltex_cli.formats.base import Side

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong or suspicious.

    Attributes
    ----------
    level : {'error', 'warning'}
        An error stops an evaluation.
    kind : str
        ``input`` (cannot be read as it stands), ``extra-image``, ``missing-image``, ``empty-image``,
        ``invalid-polygon``, ``zero-area``, ``outside-picture``, ``duplicate``, ``orientation``, ``dont-care``,
        ``coordinates``, ``picture``, ``swapped-sides``.
    side : {'gt', 'det'}
    file : str
    line, column : int or None
        From 1; None of what has no line: whole files, and files that are no text.
    image : str or None
    object : int or None
        The object's ID.
    found, advice : str
        What stands there; what was expected, or is to be done.
    """

    level: Level
    kind: str
    side: Side
    file: str
    line: int | None = None
    column: int | None = None
    image: str | None = None
    object: int | None = None
    found: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class SideSummary:
    """What one side holds, its format, and why it was taken for that."""

    file: str
    format: str
    reason: str
    images: int
    objects: int
    dont_care: int
    transcriptions: int
    empty: int
    all_dont_care: int
    invalid_polygons: int
    zero_area: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Images of both sides that are one.

    Attributes
    ----------
    gt, det : str or None
        Their names; None where a side has none.
    by : {'name', 'stem', 'number'} or None
        What the names share. Only those that share the whole name are evaluated together.
    objects, detections : int or None
        How many each has.
    """

    gt: str | None
    det: str | None
    by: str | None
    objects: int | None
    detections: int | None


@dataclass(frozen=True, slots=True)
class Validation:
    """Everything found; sides are None where they cannot be read at all."""

    gt: SideSummary | None
    det: SideSummary | None
    pairs: list[Pair]
    problems: list[Problem]

    def count(self, level: Level) -> int:
        """Number of problems of a level."""
        return sum(problem.level == level for problem in self.problems)

    @property
    def passed(self) -> bool:
        """Whether an evaluation would run: there is no error."""
        return self.count("error") == 0
