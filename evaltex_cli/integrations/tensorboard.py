"""Results in TensorBoard: scores as scalars, a table of them as text, and a link to the report."""

from __future__ import annotations

from os import PathLike
from typing import Any

from evaltex_cli import Evaluation, Evaluations
from evaltex_cli.evaluation.evaluation import by_protocol
from evaltex_cli.integrations.scores import defined_scores


def log_result(
    writer: Any,
    result: Evaluation | Evaluations,
    *,
    report: str | PathLike[str] | None = None,
    step: int = 0,
    prefix: str = "evaltex",
) -> None:
    """Log a result to TensorBoard.

    Parameters
    ----------
    writer : torch.utils.tensorboard.SummaryWriter
        Or anything with its `add_scalar` and `add_text`.
    report : path, optional
        An HTML report, as `evaltex_cli.write_report` and ``evaltex ... --report`` write it; its
        path is shown.
    step : int
        Of the training.
    prefix : str
        Of the names: ``evaltex/iou/recall``.
    """
    for name, value in defined_scores(result, prefix).items():
        writer.add_scalar(name, value, step)
    lines = [
        f"    {line}" for line in repr(result).splitlines()
    ]  # indented lines are code in Markdown
    lines += ["", *(f"- `{one.signature}`" for one in by_protocol(result).values())]
    lines += [f"- report: `{report}`"] if report is not None else []
    writer.add_text(f"{prefix}/result", "\n".join(lines), step)
