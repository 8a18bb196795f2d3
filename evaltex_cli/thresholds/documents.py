"""Sweeps as JSON, CSV, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict

from evaltex_cli.results import markup
from evaltex_cli.results.text_tables import json_document
from evaltex_cli.thresholds.result import Sweep

HEADS = (
    *("protocol", "level", "recall", "precision", "score"),
    *("cross-validated", "optimism", "plateau from", "plateau to"),
)


def in_json(sweeps: Sequence[Sweep]) -> str:
    """Return everything, as in sweep.json."""
    one = sweeps[0]
    content = {
        "inputs": {"gt": asdict(one.gt), "det": asdict(one.det)},
        "seed": one.seed,
        "folds": one.folds,
        "protocols": {each.protocol: each.to_dict() for each in sweeps},
    }
    text = json_document("sweep", content)
    return text.encode("utf-8", "replace").decode("utf-8")  # names of files need not be Unicode


def in_csv(sweeps: Sequence[Sweep]) -> str:
    """Return all scores at full precision, one row for each protocol and level."""
    names = list(dict.fromkeys(name for one in sweeps for name in one.scores))
    rows: list[Sequence[markup.Cell]] = [["protocol", "level", "kept", *names]]
    for one in sweeps:
        for k, (level, kept) in enumerate(zip(one.levels, one.kept, strict=True)):
            values = (one.scores[name][k] if name in one.scores else None for name in names)
            rows.append([one.protocol, level, kept, *values])
    return markup.in_csv(rows)


def _points(sweeps: Sequence[Sweep]) -> list[Sequence[markup.Cell]]:
    return [HEADS, *map(point_of, sweeps)]


FORMS: Mapping[str, Callable[[Sequence[Sweep]], str]] = {
    **markup.forms_of("sweep", _points),
    "json": in_json,
    "csv": in_csv,
}
"""Markdown and LaTeX have the operating points only."""
FILES = {"sweep.json": in_json, "sweep.csv": in_csv, "sweep.md": FORMS["markdown"]}
"""In a result folder."""


def point_of(sweep: Sweep) -> list[markup.Cell]:
    """Return the cells of a sweep below `HEADS`; None for what is undefined."""
    best, checked = sweep.operating_point, sweep.cross_validated
    names = ("recall", "precision", sweep.main_score)
    return [
        sweep.protocol,
        best.level,
        *(best.scores[name] for name in names),
        None if checked is None else checked.scores[sweep.main_score],
        None if checked is None else checked.optimism,
        *best.plateau,
    ]


def averages(sweeps: Sequence[Sweep]) -> Iterator[tuple[str, float | None]]:
    """Yield each definition of average precision with its value."""
    for one in sweeps:
        yield from one.average_precision.items()
