"""Results in MLflow: scores as metrics, documents and the report as artifacts."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import mlflow

from evaltex_cli import Evaluation, Evaluations
from evaltex_cli.evaluation.evaluation import by_protocol
from evaltex_cli.integrations.scores import defined_scores, files


def log_result(
    result: Evaluation | Evaluations,
    *,
    report: str | PathLike[str] | None = None,
    step: int | None = None,
    prefix: str = "evaltex",
) -> None:
    """Log a result to the active run of MLflow, or to one that this begins.

    Parameters
    ----------
    report : path, optional
        An HTML report, as `evaltex_cli.write_report` and ``evaltex ... --report`` write it.
    step : int, optional
        Of the training.
    prefix : str
        Of the names: ``evaltex/iou/recall``; the artifacts' folder.
    """
    mlflow.log_metrics(defined_scores(result, prefix), step=step)
    mlflow.set_tags(
        {f"{prefix}.{name}": one.signature for name, one in by_protocol(result).items()}
    )
    with files(result, None if report is None else Path(report)) as paths:
        for path in paths:
            mlflow.log_artifact(str(path), prefix)
