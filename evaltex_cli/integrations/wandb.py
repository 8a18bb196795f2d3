"""Results in Weights & Biases: scores as metrics and in the summary,
documents and the report as an artifact.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import wandb

from evaltex_cli import Evaluation, Evaluations
from evaltex_cli.evaluation.evaluation import by_protocol
from evaltex_cli.integrations.scores import defined_scores, files


def log_result(
    result: Evaluation | Evaluations,
    *,
    report: str | PathLike[str] | None = None,
    step: int | None = None,
    prefix: str = "evaltex",
    run: Any = None,
) -> None:
    """Log a result to a run of Weights & Biases, which may be offline.

    Parameters
    ----------
    report : path, optional
        An HTML report, as `evaltex_cli.write_report` and ``evaltex ... --report`` write it.
    step : int, optional
        Of the training.
    prefix : str
        Of the names: ``evaltex/iou/recall``.
    run : wandb.Run, optional
        By default the active one.

    Raises
    ------
    RuntimeError
        When there is no run.
    """
    active = run or wandb.run
    if active is None:
        raise RuntimeError(
            "no run of Weights & Biases is active; call wandb.init() first, or give run=..."
        )
    scores = defined_scores(result, prefix)
    active.log(scores, step=step)
    active.summary.update(scores)
    signatures = {name: one.signature for name, one in by_protocol(result).items()}
    artifact = wandb.Artifact(f"{prefix}-{active.id}", type="evaluation", metadata=signatures)
    with files(result, None if report is None else Path(report)) as paths:
        for path in paths:
            artifact.add_file(str(path))
        active.log_artifact(artifact)
