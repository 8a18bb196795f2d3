"""Results in MLflow, Weights & Biases and TensorBoard.

Each function logs the headline scores that are defined, as ``evaltex/iou/recall``, and the
signatures. MLflow and Weights & Biases also get a .json per protocol and `report`, an HTML report
that `evaltex_cli.write_report` or ``evaltex ... --report`` wrote.
"""

from __future__ import annotations

import json
import math
from os import PathLike
from typing import Any, TypeAlias

from evaltex_cli import Evaluation, Evaluations
from evaltex_cli.evaluation.evaluation import by_protocol

Result: TypeAlias = Evaluation | Evaluations
Report: TypeAlias = "str | PathLike[str] | None"


def log_to_mlflow(
    result: Result, *, report: Report = None, step: int | None = None, prefix: str = "evaltex"
) -> None:
    """Log a result to the active run of MLflow, or to a new one; `prefix` begins the names."""
    import mlflow

    mlflow.log_metrics(_scores(result, prefix), step=step)
    for protocol, one in by_protocol(result).items():
        mlflow.set_tag(f"{prefix}.{protocol}", one.signature)
        mlflow.log_dict(one.to_dict(), f"{prefix}/{protocol}.json")
    if report is not None:
        mlflow.log_artifact(str(report), prefix)


def log_to_wandb(
    result: Result, *, report: Report = None, step: int | None = None, prefix: str = "evaltex"
) -> None:
    """Log a result to the active run of Weights & Biases, which may be offline; raises
    `RuntimeError` if there is none.
    """
    import wandb

    if wandb.run is None:
        raise RuntimeError("no run of Weights & Biases is active; call wandb.init() first")
    scores, by_name = _scores(result, prefix), by_protocol(result)
    wandb.run.log(scores, step=step)
    wandb.run.summary.update(scores)
    signatures = {protocol: one.signature for protocol, one in by_name.items()}
    name = f"{prefix}-{wandb.run.id}"
    artifact = wandb.Artifact(name, type="evaluation", metadata=signatures)
    for protocol, one in by_name.items():
        with artifact.new_file(f"{protocol}.json", encoding="utf-8") as file:
            json.dump(one.to_dict(), file, ensure_ascii=False)
    if report is not None:
        artifact.add_file(str(report))
    wandb.run.log_artifact(artifact)


def log_to_tensorboard(
    writer: Any, result: Result, *, report: Report = None, step: int = 0, prefix: str = "evaltex"
) -> None:
    """Log a result to a ``SummaryWriter``: scores as scalars, and a text with the table, the
    signatures and the path of the report.
    """
    for name, value in _scores(result, prefix).items():
        writer.add_scalar(name, value, step)
    lines = [f"    {line}" for line in repr(result).splitlines()]  # indented: code in Markdown
    lines += ["", *(f"- `{one.signature}`" for one in by_protocol(result).values())]
    lines += [f"- report: `{report}`"] if report is not None else []
    writer.add_text(f"{prefix}/result", "\n".join(lines), step)


def named_scores(result: Result) -> dict[str, float]:
    """Return the headline scores, ``iou/recall``; NaN if undefined."""
    return {
        f"{protocol}/{name}": math.nan if value is None else float(value)
        for protocol, one in by_protocol(result).items()
        for name, value in one.headline.items()
    }


def _scores(result: Result, prefix: str) -> dict[str, float]:
    scores = named_scores(result)
    return {f"{prefix}/{name}": one for name, one in scores.items() if not math.isnan(one)}
