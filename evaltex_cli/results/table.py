"""The short table of dataset scores shown after a run."""

from __future__ import annotations

from collections.abc import Sequence

from evaltex_cli.evaluation import Evaluation


def table(evaluations: Sequence[Evaluation]) -> str:
    """Protocols as rows, their headline scores as columns."""
    rows = []
    for evaluation in evaluations:
        values = [(name, evaluation.scores[name]) for name in evaluation.protocol.headline]
        shown = [f"{name} {'-':<6}" if value is None else f"{name} {value:.4f}" for name, value in values]
        rows.append([evaluation.protocol.name, *shown])
    width = max(len(cells[0]) for cells in rows)
    return "\n".join("  ".join([cells[0].ljust(width), *cells[1:]]) for cells in rows)
