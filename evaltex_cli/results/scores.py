"""The scores of a run by all its protocols, for reading and for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaltex_cli.errors import ConfigError
from evaltex_cli.evaluation.evaluation import (
    Evaluation,
    ScoredRow,
    headline_table,
    of_protocols,
    scores_table,
)
from evaltex_cli.evaluation.extras import SliceScores
from evaltex_cli.protocols.score_names import resolve, scalars
from evaltex_cli.tables import Cell, Column, Table
from evaltex_cli.tables.record import Record

SCHEMA = 2
"""The version of the layout of the JSON."""
NO_INTERVAL = "no interval: "
"""How the warnings begin that a table shows as its notes."""


@dataclass(frozen=True, slots=True, repr=False)
class RunScores(Record):
    """The scores of a run, one evaluation for each protocol."""

    evaluations: Sequence[Evaluation]
    files: Sequence[str] | None = None
    """Those of the result folder, if there is one."""
    all_scores: bool = False
    """Whether the tables show all scores, instead of the headline scores."""

    @property
    def warnings(self) -> list[str]:
        """The warnings of all protocols, each once."""
        return of_protocols((one.protocol.name, one.warnings) for one in self.evaluations)

    def tables(self) -> list[Table]:
        """Return the headline scores, a row per protocol; or all scores, a table per protocol."""
        title = next((one.size() for one in self.evaluations), "")
        bootstrap = next((one.bootstrap for one in self.evaluations if one.bootstrap), None)
        if bootstrap:
            title += f"; {bootstrap.title}"
        reasons = (text for text in self.warnings if text.startswith(NO_INTERVAL))
        notes = [f"–: {text.removeprefix(NO_INTERVAL)}" for text in reasons]
        if not self.all_scores:
            return [headline_table(self.evaluations, title, notes), *self._slices()]
        tables = [Table(title, notes=notes)]
        for one in self.evaluations:
            columns = [Column(one.protocol.name), Column("score", "score")]
            rows: list[list[Cell]] = [
                [name, one.meaningful_scores[name]] for name in scalars(one.scores)
            ]
            if one.intervals:
                columns.append(Column("interval", "interval"))
                rows = [[*row, one.intervals.get(str(row[0]))] for row in rows]
            tables.append(Table("", columns, rows))
        return [*tables, *self._slices()]

    def _slices(self) -> list[Table]:
        every = self.evaluations
        return slice_tables(
            [(one.protocol.name, part) for one in every for part in one.slices or ()]
        )

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return a row per protocol: its scores that are numbers, headline scores first, with
        intervals; and its signature. With `slices`, a row for each of these follows.
        """
        return {"scores": self._scores}

    def _scores(self) -> Table:
        headlines = [name for one in self.evaluations for name in one.protocol.headline]
        every = [name for one in self.evaluations for name in scalars(one.scores)]
        names = list(dict.fromkeys([*headlines, *every]))
        bounded = list(
            dict.fromkeys(name for one in self.evaluations for name in one.intervals or ())
        )
        parts = 2 if any(one.slices for one in self.evaluations) else 0
        columns = [Column("protocol"), *[Column("by"), Column("part")][:parts]]
        columns += [*map(Column, names), *(Column(name, "interval") for name in bounded)]
        rows: list[list[Cell]] = []
        for one in self.evaluations:
            own = {name: one.scores[name] for name in scalars(one.scores)}
            for part, known, bounds in (
                (("", ""), own, one.intervals),
                *(((own.by, own.value), own.scores, own.intervals) for own in one.slices or ()),
            ):
                numbers: list[Cell] = [*map(known.get, names), *map((bounds or {}).get, bounded)]
                rows.append([one.protocol.name, *part[:parts], *numbers, one.signature])
        return Table("", [*columns, Column("signature")], rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the headline scores; below them what the .json of each protocol contains, but for
        the images.
        """
        return {
            "headline": {one.protocol.name: one.headline for one in self.evaluations},
            "protocols": [one.members() for one in self.evaluations],
            **({} if self.files is None else {"files": list(self.files)}),
        }


def slice_tables(parts: Sequence[tuple[str, SliceScores]], what: str = "protocol") -> list[Table]:
    """Return a table for each attribute: the headline scores of its values, by each protocol, or
    `what` the parts come with a name of.
    """
    leads, tables = min(len({name for name, _ in parts}), 2), []
    for by in dict.fromkeys(part.by for _, part in parts):
        columns = [Column(by), Column(what)][:leads]
        columns += [Column(name, "number") for name in ("images", "objects", "detections")]
        own = [(protocol, part) for protocol, part in parts if part.by == by]
        values = list(dict.fromkeys(part.value for _, part in own))
        rows: list[ScoredRow] = []
        for protocol, part in sorted(own, key=lambda one: values.index(one[1].value)):
            counts = part.images, part.objects, part.detections
            rows.append(([*[part.value, protocol][:leads], *counts], part.scores, part.intervals))
        tables.append(scores_table("", columns, rows))
    return tables


def named(evaluations: Sequence[Evaluation], name: str) -> float | None:
    """Return one score of a run, of ``PROTOCOL.SCORE`` or, by one protocol, of ``SCORE``; raises
    `ConfigError` for a name that is not there.
    """
    protocol, dot, score = name.rpartition(".")
    known = {one.protocol.name: one for one in evaluations}
    protocol = protocol if dot else next(iter(known))
    if protocol not in known or (not dot and len(known) > 1):
        some = ", ".join(f"{protocol}.{score}" for protocol in known)
        raise ConfigError(f"score {name}: give one of {some}")
    scores = known[protocol].meaningful_scores
    value: float | None = scores[resolve(score, scalars(scores))]
    return value
