"""What the adapters log of a result: its headline scores by name, its document, and its report."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from evaltex_cli import Evaluation, Evaluations
from evaltex_cli.evaluation.evaluation import by_protocol


def named_scores(result: Evaluation | Evaluations) -> dict[str, float]:
    """Return the headline scores, ``iou/recall``; NaN if undefined."""
    return {
        f"{protocol}/{name}": math.nan if value is None else float(value)
        for protocol, one in by_protocol(result).items()
        for name, value in one.headline.items()
    }


def defined_scores(result: Evaluation | Evaluations, prefix: str) -> dict[str, float]:
    """Return the headline scores that are defined, their names after a prefix."""
    return {
        f"{prefix}/{name}": value
        for name, value in named_scores(result).items()
        if not math.isnan(value)
    }


@contextmanager
def files(result: Evaluation | Evaluations, report: str | Path | None) -> Iterator[list[Path]]:
    """Yield the files to log: a .json per protocol, and the report, if there is one."""
    with TemporaryDirectory() as folder:
        found = []
        for protocol, one in by_protocol(result).items():
            found.append(Path(folder) / f"{protocol}.json")
            found[-1].write_text(json.dumps(one.to_dict(), ensure_ascii=False), encoding="utf-8")
        yield found + ([] if report is None else [Path(report)])
