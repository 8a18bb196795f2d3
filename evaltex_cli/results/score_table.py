"""The short table of dataset scores shown after a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaltex_cli.evaluation.tally import Evaluation


def table(evaluations: Sequence[Evaluation], intervals: Mapping[str, Mapping[str, Any]]) -> str:
    """Protocols as rows, their headline scores as columns; intervals by protocol and score, where there are any."""
    rows = []
    for evaluation in evaluations:
        bounds = intervals.get(evaluation.protocol.name, {})
        names = evaluation.protocol.headline
        shown = [f"{name} {_shown(evaluation.scores[name])}{_bounds(name, bounds)}" for name in names]
        rows.append([evaluation.protocol.name, *shown])
    width = max(len(cells[0]) for cells in rows)
    return "\n".join("  ".join([cells[0].ljust(width), *cells[1:]]) for cells in rows)


def _shown(value: float | None) -> str:
    return f"{'-':<6}" if value is None else f"{value:.4f}"


def _bounds(name: str, intervals: Mapping[str, Sequence[float] | None]) -> str:
    if name not in intervals:
        return ""
    interval = intervals[name]
    return f" [{interval[0]:.4f}, {interval[1]:.4f}]" if interval else " [-]"
