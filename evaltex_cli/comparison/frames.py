"""A comparison's scores, images and objects as data frames of pandas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from evaltex_cli.display import frame_of_rows, unknown_table

if TYPE_CHECKING:
    import pandas

SCORES = (
    *(
        "protocol",
        "score",
        "detector",
        "value",
        "low",
        "high",
        "difference",
        "difference_low",
        "difference_high",
    ),
    *("p_value", "p_corrected", "reason"),
)
CHANGES = {
    "images": ("image", "system", "score", "before", "after", "change"),
    "objects": ("image", "system", "id", "match_before", "match_after", "change"),
}


class Compared(Protocol):
    """What is needed of a `comparison.Comparison`."""

    @property
    def protocol(self) -> str: ...
    @property
    def systems(self) -> list[str]: ...
    @property
    def scores(self) -> Sequence[Any]: ...
    @property
    def images(self) -> Sequence[Any]: ...
    @property
    def objects(self) -> Sequence[Any]: ...


def of_comparison(comparison: Compared, table: str) -> pandas.DataFrame:
    """Return one table; raises as `comparison.Comparison.to_pandas`."""
    if table not in TABLES:
        raise unknown_table(table, list(TABLES))
    return TABLES[table](comparison)


def score_rows(comparison: Compared) -> Iterator[Sequence[Any]]:
    """Yield one row of `SCORES` per score and detector, None where a cell is empty."""
    for score in comparison.scores:
        for k, label in enumerate(comparison.systems):
            own, of_difference = (
                score.intervals[k] or (None, None),
                score.difference_intervals[k] or (None, None),
            )
            cells = [score.values[k], *own, score.differences[k], *of_difference]
            cells += [
                score.p_values[k],
                score.p_corrected[k],
                score.reasons[k] or score.interval_reasons[k],
            ]
            yield [comparison.protocol, score.score, label, *cells]


def _changes(name: str) -> Callable[[Compared], pandas.DataFrame]:
    heads = CHANGES[name]
    return lambda comparison: frame_of_rows(
        heads, ([getattr(one, head) for head in heads] for one in getattr(comparison, name))
    )


TABLES: dict[str, Callable[[Compared], pandas.DataFrame]] = {
    "scores": lambda comparison: frame_of_rows(SCORES, score_rows(comparison)),
    **{name: _changes(name) for name in CHANGES},
}
