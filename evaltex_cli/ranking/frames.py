"""A ranking's detectors, pairs and means as rows, and as data frames of pandas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evaltex_cli.display import DataFrame, frame_of_rows, unknown_table

HEADS = {
    "detectors": (
        *("dataset", "protocol", "detector", "score", "value", "low", "high"),
        *("rank", "first_rank", "last_rank", "ties"),
    ),
    "pairs": (
        *("dataset", "protocol", "score", "a", "b", "difference", "low", "high"),
        *("p_value", "p_corrected", "reason"),
    ),
    "overall": (
        *("protocol", "score", "detector", "macro", "macro_low", "macro_high"),
        *("mean_rank", "mean_rank_low", "mean_rank_high", "pooled", "pooled_low", "pooled_high"),
    ),
}
"""Columns of the tables as data frames; the first is that of CSV, too."""
_NOTHING = (None, None)


def frame_of(ranking: Any, table: str) -> DataFrame:
    """Return one table; raises as `Ranking.to_pandas`."""
    if table not in HEADS:
        raise unknown_table(table, list(HEADS))
    return frame_of_rows(HEADS[table], rows_of(ranking, table))


def rows_of(ranking: Any, table: str) -> Iterator[Sequence[Any]]:
    """Yield the rows of one table of a `ranking.Ranking`, None where a cell is empty."""
    if table == "overall":
        for name, overall in ranking.overall.items():
            for one in overall.detectors:
                cells = [one.macro, *(one.macro_interval or _NOTHING)]
                cells += [one.mean_rank, *(one.mean_rank_interval or _NOTHING)]
                cells += [one.pooled, *(one.pooled_interval or _NOTHING)]
                yield [name, overall.score, one.label, *cells]
        return
    for dataset in ranking.datasets:
        for of_one in dataset.protocols.values():
            yield from (
                _detector_rows(dataset.name, of_one)
                if table == "detectors"
                else _pair_rows(dataset.name, of_one)
            )


def _detector_rows(name: str, ranking: Any) -> Iterator[Sequence[Any]]:
    for one in ranking.detectors:
        scored = [one.label, ranking.score, one.scores[ranking.score]]
        ranks = [one.rank, *one.rank_interval, one.groups]
        yield [name, ranking.protocol, *scored, *(one.interval or _NOTHING), *ranks]


def _pair_rows(name: str, ranking: Any) -> Iterator[Sequence[Any]]:
    for pair in ranking.pairs:
        tested = [pair.difference, *(pair.interval or _NOTHING), pair.p, pair.p_corrected]
        yield [name, ranking.protocol, ranking.score, pair.a, pair.b, *tested, pair.reason]
