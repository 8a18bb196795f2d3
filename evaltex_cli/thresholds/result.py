"""What a sweep found for one protocol, as a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from evaltex_cli.display import (
    DataFrame,
    Record,
    Table,
    frame_of_rows,
    number,
    plain,
    unknown_table,
)
from evaltex_cli.evaluation.inputs import InputSummary
from evaltex_cli.protocols.base import Scores

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, repr=False)
class OperatingPoint(Record):
    """The level of the highest main score.

    Attributes
    ----------
    level : float
    kept : int
        Detections that are kept.
    scores : mapping
        Score -> value.
    plateau : (float, float)
        The lowest and the highest of the neighbouring levels around it whose main score is within
        the tolerance.
    intervals : mapping or None
        Score -> (low, high), bootstrap intervals at this level; None for a score without.
    level_interval : (float, float) or None
        The interval of the level, which is chosen again in each resample.
    """

    level: float
    kept: int
    scores: Scores
    plateau: Interval
    intervals: Mapping[str, Interval | None] | None = None
    level_interval: Interval | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the members of the JSON; intervals only if there are any."""
        members = Record.to_dict(self)
        if self.intervals is None:
            del members["intervals"], members["level_interval"]
        return members


@dataclass(frozen=True, slots=True, repr=False)
class CrossValidated(Record):
    """Scores of images at levels that were chosen on other images.

    Attributes
    ----------
    levels : tuple of float
        The level of each fold, chosen on all other folds.
    scores : mapping
        Of the evidence of all folds at these levels.
    optimism : float
        The main score at the operating point minus the cross-validated one.
    """

    levels: tuple[float, ...]
    scores: Scores
    optimism: float


@dataclass(frozen=True, slots=True, repr=False)
class Sweep(Record):
    """Scores of one protocol at each confidence level of one detection file.

    Attributes
    ----------
    protocol, signature : str
        `signature` is that of the run on all detections.
    parameters : dataclass
        The protocol's parameters record.
    gt, det : InputSummary
    seed, folds : int
        Of the cross-validation.
    levels : tuple of float
        They rise; level τ keeps detections of confidence τ or more, and those without one.
    kept : tuple of int
        Detections that each level keeps.
    scores : mapping
        Score -> its value at each level.
    main_score : str
        The score that the operating point maximises.
    operating_point : OperatingPoint
    cross_validated : CrossValidated or None
        None for a single image.
    average_precision : mapping
        Name of a definition -> value; empty but for the protocol `iou`.
    warnings : list of str
    """

    protocol: str
    signature: str
    parameters: Any
    gt: InputSummary
    det: InputSummary
    seed: int
    folds: int
    levels: tuple[float, ...]
    kept: tuple[int, ...]
    scores: Mapping[str, Sequence[Any]]
    main_score: str
    operating_point: OperatingPoint
    cross_validated: CrossValidated | None
    average_precision: Mapping[str, float | None] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def summary(self) -> str:
        """Return the operating point in a line, and what choosing it adds to the score."""
        best = self.operating_point
        found = f"{self.main_score} {number(best.scores[self.main_score])} at {best.level:g}"
        if self.cross_validated is None:
            return found
        return f"{found}, {number(self.cross_validated.scores[self.main_score])} cross-validated"

    def shown(self) -> Table:
        """Return the scores at the operating point, at the ends of its plateau, and of all
        detections.
        """
        names = list(dict.fromkeys(("recall", "precision", self.main_score)))
        low, high = self.operating_point.plateau
        of_levels = {
            "operating point": self.operating_point.level,
            "plateau from": low,
            "plateau to": high,
            "all detections": self.levels[0],
        }
        rows = [["", "level", "detections", *names]]
        for what, level in of_levels.items():
            k = self.levels.index(level)
            values = (number(self.scores[name][k]) for name in names)
            rows.append([what, f"{level:.6g}", str(self.kept[k]), *values])
        if self.cross_validated is not None:
            values = (number(self.cross_validated.scores[name]) for name in names)
            rows.append(["cross-validated", "", "", *values])
        ap = ", ".join(f"{name} {number(one)}" for name, one in self.average_precision.items())
        return Table(f"{self.protocol}: {self.summary()}", rows, ap)

    def to_dict(self) -> dict[str, Any]:
        """Return the protocol's members of sweep.json."""
        return {
            "signature": self.signature,
            "main_score": self.main_score,
            "parameters": plain(asdict(self.parameters)),
            "levels": list(self.levels),
            "kept": list(self.kept),
            "scores": plain(self.scores),
            "operating_point": self.operating_point.to_dict(),
            "cross_validated": plain(self.cross_validated),
            "average_precision": plain(self.average_precision),
            "warnings": list(self.warnings),
        }

    def to_pandas(self, table: str = "levels") -> DataFrame:
        """Return the scores at each level as a data frame, one row per level.

        Raises
        ------
        ConfigError
            When pandas is not installed (extra ``tables``), and for another table.
        """
        if table != "levels":
            raise unknown_table(table, ("levels",))
        return frame_of_rows(("protocol", "level", "kept", *self.scores), self.rows())

    def rows(self) -> Iterator[Sequence[Any]]:
        """Yield protocol, level, detections that are kept, and all scores, for each level."""
        for k, (level, kept) in enumerate(zip(self.levels, self.kept, strict=True)):
            yield [self.protocol, level, kept, *(values[k] for values in self.scores.values())]
