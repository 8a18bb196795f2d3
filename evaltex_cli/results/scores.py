"""The scores of a run by all its protocols, for reading and for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaltex_cli.evaluation.evaluation import Evaluation, headline_table, of_protocols
from evaltex_cli.protocols.score_names import scalars
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

    def tables(self) -> list[Table]:
        """Return the headline scores, a row per protocol; or all scores, a table per protocol."""
        title = next((one.size() for one in self.evaluations), "")
        bootstrap = next((one.bootstrap for one in self.evaluations if one.bootstrap), None)
        if bootstrap:
            title += f"; {bootstrap.title}"
        warned = of_protocols((one.protocol.name, one.warnings) for one in self.evaluations)
        reasons = (text for text in warned if text.startswith(NO_INTERVAL))
        notes = [f"–: {text.removeprefix(NO_INTERVAL)}" for text in reasons]
        if not self.all_scores:
            return [headline_table(self.evaluations, title, notes)]
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
        return tables

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return a row per protocol: its scores that are numbers, headline scores first, with
        intervals; and its signature.
        """
        return {"scores": self._scores}

    def _scores(self) -> Table:
        headlines = [name for one in self.evaluations for name in one.protocol.headline]
        numbers = [name for one in self.evaluations for name in scalars(one.scores)]
        names = list(dict.fromkeys([*headlines, *numbers]))
        bounded = list(
            dict.fromkeys(name for one in self.evaluations for name in one.intervals or ())
        )
        columns = [Column("protocol"), *map(Column, names)]
        columns += [*(Column(name, "interval") for name in bounded), Column("signature")]
        rows = [
            [
                one.protocol.name,
                *map({name: one.scores[name] for name in scalars(one.scores)}.get, names),
                *map((one.intervals or {}).get, bounded),
                one.signature,
            ]
            for one in self.evaluations
        ]
        return Table("", columns, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the headline scores; below them what the .json of each protocol contains, but for
        the images.
        """
        return {
            "headline": {one.protocol.name: one.headline for one in self.evaluations},
            "protocols": [one.members() for one in self.evaluations],
            **({} if self.files is None else {"files": list(self.files)}),
        }
