"""The files of a sweep in a result folder: tables, curves and one HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from evaltex_cli.protocols.base import Plot
from evaltex_cli.results.line_chart import svg
from evaltex_cli.results.page import page
from evaltex_cli.runtime.marks import comment
from evaltex_cli.tables import in_csv, in_markdown, json_document
from evaltex_cli.thresholds.result import Sweep, Sweeps

PLOTS = ("precision-recall", "levels")


def names_of(protocols: Sequence[str]) -> list[str]:
    """Return the names of all files of a sweep by these protocols."""
    names = ["sweep.json", "sweep.csv", "sweep.md", "sweep.html"]
    return names + [f"sweep-{protocol}-{plot}.svg" for protocol in protocols for plot in PLOTS]


def write(folder: Path, sweeps: Sweeps, has_plots: bool, has_page: bool) -> None:
    """Write the files."""
    texts = {
        "sweep.json": json_document("sweep", sweeps.to_dict()),
        "sweep.csv": in_csv(sweeps.data()["levels"]()),
        "sweep.md": f"{comment('sweep')}\n{in_markdown(sweeps.tables())}",
    }
    for one in sweeps.results if has_plots else ():
        texts |= {f"sweep-{one.protocol}-{plot.name}.svg": svg(plot) for plot in plots(one)}
    if has_page:
        table, *others = sweeps.tables()
        texts["sweep.html"] = page(
            "thresholds/page.html",
            "sweep",
            table.title,
            gt=sweeps.results[0].gt,
            tables=[replace(table, title=""), *others],
            sweeps=[(one, list(map(svg, plots(one)))) for one in sweeps.results],
        )
    for name, text in texts.items():  # names of files need not be Unicode
        (folder / name).write_text(text, encoding="utf-8", errors="replace", newline="\n")


def plots(sweep: Sweep) -> Iterator[Plot]:
    """Yield the plots of one protocol; the operating point is marked, and where its plateau is."""
    best, name = sweep.operating_point, sweep.main_score
    recall, precision, main = (
        [value or 0.0 for value in sweep.scores[one]] for one in ("recall", "precision", name)
    )
    k = sweep.levels.index(best.level)
    at = f"{name} {main[k]:.4f} at {best.level:.6g}"
    yield Plot(
        PLOTS[0],
        f"{sweep.protocol}: precision against recall",
        "recall",
        "precision",
        recall[::-1],
        {"precision": precision[::-1]},
        mark=(recall[k], precision[k], at),
    )
    yield Plot(
        PLOTS[1],
        f"{sweep.protocol}: scores against the confidence threshold",
        "confidence threshold; shaded: the plateau",
        "score",
        sweep.levels,
        {name: main, "recall": recall, "precision": precision},
        mark=(best.level, main[k], at),
        band=best.plateau,
    )
