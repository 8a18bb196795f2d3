"""Results in MLflow, Weights & Biases and TensorBoard.

Each function logs the headline scores that are defined, as ``evaltex/iou/recall``, and the
signatures. MLflow and Weights & Biases also get a .json per protocol and `report`, an HTML report
that `evaltex_cli.write_report` or ``evaltex ... --report`` wrote.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
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
    mlflow.set_tags({f"{prefix}.{name}": line for name, line in _signatures(result).items()})
    with _files(result, report) as paths:
        for path in paths:
            mlflow.log_artifact(path, prefix)


def log_to_wandb(
    result: Result, *, report: Report = None, step: int | None = None, prefix: str = "evaltex"
) -> None:
    """Log a result to the active run of Weights & Biases, which may be offline; raises
    `RuntimeError` if there is none.
    """
    import wandb

    if wandb.run is None:
        raise RuntimeError("no run of Weights & Biases is active; call wandb.init() first")
    scores, metadata = _scores(result, prefix), _signatures(result)
    wandb.run.log(scores, step=step)
    wandb.run.summary.update(scores)
    artifact = wandb.Artifact(f"{prefix}-{wandb.run.id}", type="evaluation", metadata=metadata)
    with _files(result, report) as paths:
        for path in paths:
            artifact.add_file(path)
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
    lines += ["", *(f"- `{line}`" for line in _signatures(result).values())]
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


def _signatures(result: Result) -> dict[str, str]:
    return {name: one.signature for name, one in by_protocol(result).items()}


@contextmanager
def _files(result: Result, report: Report) -> Iterator[list[str]]:
    """Yield the files to log: a .json per protocol, and the report."""
    with TemporaryDirectory() as folder:
        paths = []
        for protocol, one in by_protocol(result).items():
            paths.append(Path(folder) / f"{protocol}.json")
            paths[-1].write_text(json.dumps(one.to_dict(), ensure_ascii=False), encoding="utf-8")
        yield [*map(str, paths), *([] if report is None else [str(report)])]
