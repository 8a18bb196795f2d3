"""What a sweep found, as records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaltex_cli.errors import counted
from evaltex_cli.evaluation.extras import Bootstrap, Interval
from evaltex_cli.evaluation.inputs import InputSummary
from evaltex_cli.protocols import score_names
from evaltex_cli.protocols.base import Scores
from evaltex_cli.tables import Cell, Column, Table
from evaltex_cli.tables.record import Record, Several, plain


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

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return one row per level: protocol, level, detections that are kept, and all scores."""
        columns = [Column(name) for name in ("protocol", "level", "kept", *self.scores)]
        values = zip(self.levels, self.kept, *self.scores.values(), strict=True)
        rows = [[self.protocol, *row] for row in values]
        return {"levels": lambda: Table("", columns, rows)}

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
    bootstrap: Bootstrap | None = None
    """How intervals were made, if there are any."""

    def tables(self) -> list[Table]:
        """Return the operating points, one row per protocol, and their intervals."""
        first = self.results[0]
        mains = list(dict.fromkeys(score_names.shown(one.main_score) for one in self.results))
        heads = ("recall", "precision", mains[0] if len(mains) == 1 else "score")
        rows: list[list[Cell]] = []
        ends: list[list[Cell]] = []
        notes, shown = [], Column("", "score").shown
        for one in self.results:
            point, checked = one.operating_point, one.cross_validated
            names = ("recall", "precision", one.main_score)
            scores = [point.scores[name] for name in names]
            scores += [checked and checked.scores[one.main_score], checked and checked.optimism]
            plateau = "{:.3g}–{:.3g}".format(*point.plateau)
            rows.append([one.protocol, point.level, *scores, plateau])
            intervals = point.intervals or {}
            ends.append([one.protocol, point.level_interval, *map(intervals.get, names)])
            if one.average_precision:
                values = [f"{name} {shown(value)}" for name, value in one.average_precision.items()]
                notes.append(f"Average precision: {', '.join(values)}")
        if len(mains) > 1:
            notes.append(f"The score is each protocol's main score: {' or '.join(mains)}.")
        images = counted(first.gt.images, "{count} image[s]")
        title = f"Operating points of {first.det.file or 'detections'} on {images}"
        columns = [Column("protocol"), Column("level", "number")]
        columns += [Column(name, "score") for name in (*heads, "crossval", "optimism")]
        table = Table(title, [*columns, Column("plateau")], rows, [*notes, *self.notes])
        if self.bootstrap is None:
            return [table]
        columns[2:] = [Column(name, "interval") for name in heads]
        method = f"{100 * self.bootstrap.level:g}% intervals ({self.bootstrap.units.test})"
        return [table, Table(method, columns, ends)]

    def to_dict(self) -> dict[str, Any]:
        """Return the members of sweep.json."""
        first = self.results[0]
        return {
            "inputs": {"gt": first.gt.to_dict(), "det": first.det.to_dict()},
            "seed": first.seed,
            "folds": first.folds,
            "protocols": {one.protocol: one.to_dict() for one in self.results},
        }
