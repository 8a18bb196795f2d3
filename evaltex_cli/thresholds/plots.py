"""The curves of a sweep: precision against recall, and the F-score against the level."""

from __future__ import annotations

from collections.abc import Iterator

from evaltex_cli.protocols.base import Mark, Plot
from evaltex_cli.thresholds.result import Sweep

NAMES = ("precision-recall", "levels")


def plots(sweep: Sweep) -> Iterator[Plot]:
    """Yield the plots of one protocol; the operating point is marked, and where its plateau is."""
    best, name = sweep.operating_point, sweep.f_score
    recall, precision, f_score = (
        [float(value or 0.0) for value in sweep.scores[one]]
        for one in ("recall", "precision", name)
    )
    k = sweep.levels.index(best.level)
    at = f"{name} {f_score[k]:.4f} at {best.level:.6g}"
    yield Plot(
        NAMES[0],
        f"{sweep.protocol}: precision against recall",
        "recall",
        "precision",
        recall[::-1],
        {"precision": precision[::-1]},
        marks=(Mark(recall[k], precision[k], at),),
    )
    yield Plot(
        NAMES[1],
        f"{sweep.protocol}: scores against the confidence threshold",
        "confidence threshold; shaded: the plateau",
        "score",
        sweep.levels,
        {name: f_score, "recall": recall, "precision": precision},
        marks=(Mark(best.level, f_score[k], at),),
        band=best.plateau,
    )
