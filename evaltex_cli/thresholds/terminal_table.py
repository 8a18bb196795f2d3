"""Sweeps as a table on a terminal: the operating point of each protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaltex_cli.results.screen import (
    Screen,
    fitted,
    per_cent,
    short_interval,
    shown_interval,
    shown_score,
)
from evaltex_cli.thresholds.documents import averages, point_of
from evaltex_cli.thresholds.result import Sweep

HEADS = ("protocol", "level", "recall", "precision", "score", "crossval", "optimism", "plateau")


def table(sweeps: Sequence[Sweep], screen: Screen, ci: float | None = None) -> Iterator[str]:
    """Yield the lines of a table with one row per protocol, then average precisions.

    Parameters
    ----------
    ci : float, optional
        Level of the intervals, if there are any.
    """
    rows = [list(HEADS), *(_row(one) for one in sweeps)]
    head, *body = fitted(rows, screen.columns)
    yield screen.paint(head, "bold")
    yield from body
    if ci is not None:
        yield from _intervals(sweeps, screen, ci)
    found = [f"{name} {shown_score(value)}" for name, value in averages(sweeps)]
    if found:
        yield from screen.wrapped(f"Average precision: {', '.join(found)}", "  ")


def _row(sweep: Sweep) -> list[str]:
    protocol, level, *scores, low, high = point_of(sweep)
    assert isinstance(low, float) and isinstance(high, float) and isinstance(level, float)
    shown = (shown_score(one if isinstance(one, float) else None) for one in scores)
    return [str(protocol), f"{level:.4g}", *shown, f"{low:.3g}-{high:.3g}"]


def _intervals(sweeps: Sequence[Sweep], screen: Screen, ci: float) -> Iterator[str]:
    yield screen.paint(f"{per_cent(ci)} bootstrap confidence intervals over images", "dim")
    rows = [["protocol", "level", "recall", "precision", "score"]]
    for one in sweeps:
        best = one.operating_point
        names = ("recall", "precision", one.main_score)
        bounds = (short_interval((best.intervals or {}).get(name)) for name in names)
        rows.append([one.protocol, shown_interval(best.level_interval), *bounds])
    yield from fitted(rows, screen.columns)
