"""The scores of a run by all its protocols, for reading and for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaltex_cli.evaluation.evaluation import Evaluation, headline_table, of_protocols
from evaltex_cli.protocols import score_names
from evaltex_cli.results.extras import Extras
from evaltex_cli.results.writer import SCORES, SCORES_TABLE, ResultWriter, members
from evaltex_cli.tables import Cell, Column, Table, in_csv, json_document
from evaltex_cli.tables.record import Record

SCHEMA = 2
"""The version of the layout of the JSON."""
NO_INTERVAL = "no interval: "
"""How the warnings begin that a table shows as its notes."""


@dataclass(frozen=True, slots=True, repr=False)
class RunScores(Record):
    """The scores of a run, one evaluation for each protocol."""

    evaluations: Sequence[Evaluation]
    extras: Mapping[str, Extras]
    """Protocol -> what only some results have."""
    files: Sequence[str] | None = None
    """Those of the result folder, if there is one."""
    all_scores: bool = False
    """Whether the tables show all scores, instead of the headline scores."""

    def tables(self) -> list[Table]:
        """Return the headline scores, a row per protocol; or all scores, a table per protocol."""
        bounds = {name: one.intervals for name, one in self.extras.items() if one.intervals}
        size = next((one.size() for one in self.evaluations), "")
        made = next((one.bootstrap for one in self.extras.values() if bounds), None)
        title = f"{size}; {made.title}" if made else size
        warned = of_protocols((one.protocol.name, one.warnings) for one in self.evaluations)
        notes = [
            f"–: {text.removeprefix(NO_INTERVAL)}"
            for text in warned
            if text.startswith(NO_INTERVAL)
        ]
        if not self.all_scores:
            return [headline_table(self.evaluations, title, bounds, notes)]
        tables = [Table(title, notes=notes)]
        for one in self.evaluations:
            name, intervals = one.protocol.name, bounds.get(one.protocol.name, {})
            columns = [Column(name), Column("score", "score")]
            rows: list[list[Cell]] = [
                [score, one.meaningful_scores[score]] for score in score_names.scalars(one.scores)
            ]
            if intervals:
                columns.append(Column("interval", "interval"))
                rows = [[*row, intervals.get(str(row[0]))] for row in rows]
            tables.append(Table("", columns, rows))
        return tables

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return a row per protocol: its scores that are numbers, headline scores first, with
        intervals; and its signature.
        """
        return {"scores": self._scores}

    def _scores(self) -> Table:
        headlines = [name for one in self.evaluations for name in one.protocol.headline]
        scalars = [name for one in self.evaluations for name in score_names.scalars(one.scores)]
        names = list(dict.fromkeys([*headlines, *scalars]))
        bounds = {name: one.intervals or {} for name, one in self.extras.items()}
        bounded = list(dict.fromkeys(name for each in bounds.values() for name in each))
        columns = [Column("protocol"), *map(Column, names)]
        columns += [*(Column(name, "interval") for name in bounded), Column("signature")]
        rows: list[list[Cell]] = []
        for one in self.evaluations:
            own = {name: one.scores[name] for name in score_names.scalars(one.scores)}
            intervals = bounds[one.protocol.name]
            row = [one.protocol.name, *map(own.get, names), *map(intervals.get, bounded)]
            rows.append([*row, one.signature])
        return Table("", columns, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the headline scores; below them what the .json of each protocol contains, but for
        the images.
        """
        protocols = [
            members(one, self.extras[one.protocol.name]) | {"warnings": one.warnings}
            for one in self.evaluations
        ]
        headline = {one.protocol.name: one.headline for one in self.evaluations}
        files = {} if self.files is None else {"files": list(self.files)}
        return {"headline": headline, "protocols": protocols, **files}


def write(
    writer: ResultWriter, evaluations: Sequence[Evaluation], extras: Mapping[str, Extras]
) -> None:
    """Write scores.json and scores.csv, when all other files are there: scores.json lists them."""
    scores = RunScores(evaluations, extras, writer.files())
    writer.write(SCORES, json_document("scores", scores.to_dict(), SCHEMA))
    writer.write(SCORES_TABLE, in_csv(scores.data()["scores"]()))
