"""What a sweep found, as records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evaltex_cli.errors import counted
from evaltex_cli.evaluation.inputs import InputSummary
from evaltex_cli.protocols import score_names
from evaltex_cli.protocols.base import Scores
from evaltex_cli.tables import Cell, Column, Table
from evaltex_cli.tables.record import Record, Several, plain

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, repr=False)
class OperatingPoint(Record):
    """The level of the highest main score."""

    level: float
    kept: int
    """Detections that are kept."""
    scores: Scores
    plateau: Interval
    """The lowest and the highest level around it whose main score is within the tolerance."""
    intervals: Mapping[str, Interval | None] | None = None
    """Score -> (low, high), bootstrap intervals at this level; None for a score without."""
    level_interval: Interval | None = None
    """The interval of the level, which is chosen again in each resample."""

    def to_dict(self) -> dict[str, Any]:
        """Return the members of the JSON; intervals only if there are any."""
        members = Record.to_dict(self)
        if self.intervals is None:
            del members["intervals"], members["level_interval"]
        return members


@dataclass(frozen=True, slots=True, repr=False)
class CrossValidated(Record):
    """Scores of images at levels that were chosen on other images."""

    levels: tuple[float, ...]
    """The level of each fold, chosen on all other folds."""
    scores: Scores
    """Of the evidence of all folds at these levels."""
    optimism: float
    """The main score at the operating point minus the cross-validated one."""


@dataclass(frozen=True, slots=True, repr=False)
class Sweep(Record):
    """Scores of one protocol at each confidence level of one detection file."""

    protocol: str
    signature: str
    """That of the run on all detections."""
    parameters: Any
    gt: InputSummary
    det: InputSummary
    seed: int
    folds: int
    """`seed` and `folds` are those of the cross-validation."""
    levels: tuple[float, ...]
    """They rise; level τ keeps detections of confidence τ or more, and those without one."""
    kept: tuple[int, ...]
    """Detections that each level keeps."""
    scores: Mapping[str, Sequence[Any]]
    """Score -> its value at each level."""
    main_score: str
    """The score that the operating point maximises."""
    operating_point: OperatingPoint
    cross_validated: CrossValidated | None
    """None for a single image."""
    average_precision: Mapping[str, float | None] = field(default_factory=dict)
    """Name of a definition -> value; empty but for the protocol `iou`."""
    warnings: list[str] = field(default_factory=list)

    def summary(self) -> str:
        """Return the operating point in a line, and what choosing it adds to the score."""
        best, name = self.operating_point, score_names.shown(self.main_score)
        shown = Column("", "score").shown
        found = f"{name} {shown(best.scores[self.main_score])} at {best.level:g}"
        if self.cross_validated is None:
            return found
        return f"{found}, {shown(self.cross_validated.scores[self.main_score])} cross-validated"

    def tables(self) -> list[Table]:
        """Return the operating point."""
        return Sweeps([self]).tables()

    def average_precisions(self) -> list[str]:
        """Return a sentence with the average precision by each definition, if there is one."""
        shown = Column("", "score").shown
        values = [f"{name} {shown(value)}" for name, value in self.average_precision.items()]
        return [f"Average precision: {', '.join(values)}"] if values else []

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return one row per level: protocol, level, detections that are kept, and all scores."""
        return {"levels": self._levels}

    def _levels(self) -> Table:
        columns = [Column(name) for name in ("protocol", "level", "kept", *self.scores)]
        values = zip(self.levels, self.kept, *self.scores.values(), strict=True)
        return Table("", columns, [[self.protocol, *row] for row in values])

    def to_dict(self) -> dict[str, Any]:
        """Return the protocol's members of sweep.json."""
        members = ["signature", "main_score", "parameters", "levels", "kept", "scores"]
        members += ["operating_point", "cross_validated", "average_precision", "warnings"]
        return {name: plain(getattr(self, name)) for name in members}


@dataclass(frozen=True, slots=True, repr=False)
class Sweeps(Several):
    """Sweeps of the same inputs by several protocols."""

    results: Sequence[Sweep]
    notes: Sequence[str] = ()
    """Sentences below the table."""
    interval_level: float | None = None
    """The level of the intervals, if there are any."""

    def tables(self) -> list[Table]:
        """Return the operating points, one row per protocol, and their intervals."""
        first = self.results[0]
        names = list(dict.fromkeys(score_names.shown(one.main_score) for one in self.results))
        score = Column(names[0] if len(names) == 1 else "score", "score")
        recall, precision = Column("recall", "score"), Column("precision", "score")
        level = Column("level", "number")
        columns = [Column("protocol"), level, recall, precision, score]
        columns += [Column("crossval", "score"), Column("optimism", "score"), Column("plateau")]
        rows: list[list[Cell]] = []
        ends: list[list[Cell]] = []
        for one in self.results:
            point, checked = one.operating_point, one.cross_validated
            shown = ("recall", "precision", one.main_score)
            crossval: list[Cell] = [None, None]
            if checked is not None:
                crossval = [checked.scores[one.main_score], checked.optimism]
            scores = [point.scores[name] for name in shown]
            plateau = "{:.3g}–{:.3g}".format(*point.plateau)
            rows.append([one.protocol, point.level, *scores, *crossval, plateau])
            intervals = point.intervals or {}
            ends.append([one.protocol, point.level_interval, *map(intervals.get, shown)])
        notes = [line for one in self.results for line in one.average_precisions()]
        if len(names) > 1:
            notes.append(f"The score is each protocol's main score: {' or '.join(names)}.")
        images = counted(first.gt.images, "{count} image[s]")
        title = f"Operating points of {first.det.file or 'detections'} on {images}"
        if self.interval_level is None:
            return [Table(title, columns, rows, [*notes, *self.notes])]
        of_ends = [columns[0], level, *(replace(one, kind="interval") for one in columns[2:5])]
        method = f"{100 * self.interval_level:g}% intervals (paired permutation test over images)"
        return [Table(title, columns, rows, notes), Table(method, of_ends, ends, self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Return the members of sweep.json."""
        first = self.results[0]
        return {
            "inputs": {"gt": first.gt.to_dict(), "det": first.det.to_dict()},
            "seed": first.seed,
            "folds": first.folds,
            "protocols": {one.protocol: one.to_dict() for one in self.results},
        }
