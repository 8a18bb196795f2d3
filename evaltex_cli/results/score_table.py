"""The scores of a run as a table on a terminal: headline scores, one row for
each protocol, or all scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.protocols import score_names
from evaltex_cli.results.extras import Bootstrap, Intervals
from evaltex_cli.results.screen import (
    Screen,
    aligned,
    fitted,
    per_cent,
    short_interval,
    shown_interval,
    shown_score,
)

F_SCORE = "fscore"
"""Head of the column of F-scores if the protocols call it differently."""


def score_table(
    evaluations: Sequence[Evaluation],
    screen: Screen,
    intervals: Mapping[str, Intervals] | None = None,
    bootstrap: Bootstrap | None = None,
    all_scores: bool = False,
) -> Iterator[str]:
    """Yield the lines of a run's scores.

    Parameters
    ----------
    intervals : mapping, optional
        By protocol, made as `bootstrap` says.
    all_scores : bool
        Also those that are not headline scores, one below the other.
    """
    if bootstrap is not None:
        yield screen.paint(
            f"{per_cent(bootstrap.level)} bootstrap confidence intervals over images", "dim"
        )
    bounds = intervals or {}
    if all_scores:
        for evaluation in evaluations:
            yield from _all_scores(evaluation, bounds.get(evaluation.protocol.name, {}), screen)
    else:
        head, *rows = fitted(list(_headline_rows(evaluations, bounds)), screen.columns)
        yield screen.paint(head, "bold")
        yield from rows


def _all_scores(evaluation: Evaluation, bounds: Intervals, screen: Screen) -> Iterator[str]:
    yield screen.paint(evaluation.protocol.name, "bold")
    rows = []
    for name in score_names.scalars(evaluation.scores):
        interval = [shown_interval(bounds[name])] if name in bounds else [""]
        rows.append([f"  {name}", shown_score(evaluation.meaningful_scores[name]), *interval])
    yield from aligned(rows, texts=(0, 2))


def _headline_rows(
    evaluations: Sequence[Evaluation], intervals: Mapping[str, Intervals]
) -> Iterator[list[str]]:
    """The head, and a row for each protocol; columns are in the order of the
    protocols, F-scores in one.
    """
    columns: dict[str, list[str]] = {}
    for evaluation in evaluations:
        for name in evaluation.protocol.headline:
            columns.setdefault(score_names.same(name), []).append(name)
    yield [
        "protocol",
        *(names[0] if len(set(names)) == 1 else F_SCORE for names in columns.values()),
    ]
    for evaluation in evaluations:
        own = {score_names.same(name): name for name in evaluation.protocol.headline}
        bounds = intervals.get(evaluation.protocol.name, {})
        cells = (
            _cell(evaluation, own[column], bounds) if column in own else "" for column in columns
        )
        yield [evaluation.protocol.name, *cells]


def _cell(evaluation: Evaluation, name: str, bounds: Intervals) -> str:
    interval = f" {short_interval(bounds[name])}" if name in bounds else ""
    return shown_score(evaluation.meaningful_scores[name]) + interval
