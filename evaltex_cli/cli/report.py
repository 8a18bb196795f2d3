"""``evaltex report``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import say, warn
from evaltex_cli.cli.paths import INPUT, OutputFile
from evaltex_cli.runtime.marks import is_of
from evaltex_cli.runtime.outputs import check_file

EXAMPLES = ("evaltex report results --gt gt.txt --det det.txt --output report.html",)


@click.argument("results", type=INPUT, nargs=-1, required=True, metavar="RES_DIR...")
@click.option("--gt", type=INPUT, help="Ground truth, to draw the objects (with --det).")
@click.option(
    "--det", type=INPUT, multiple=True, help="Detections; one for each RES_DIR, in order."
)
@opt.READING["images"]
@opt.READING["lines"]
@opt.report_options
@opt.label_option
@click.option(
    "-o",
    "--output",
    type=OutputFile("report"),
    help="File to write.  [default: RES_DIR/report.html, or comparison.html in the first of"
    " several RES_DIR]",
)
@opt.jobs_options
def command(
    results: tuple[Path, ...],
    gt: Path | None,
    det: tuple[Path, ...],
    images: Path | None,
    lines: Path | None,
    shown: dict[str, Any],
    labels: tuple[str, ...],
    output: Path | None,
    workers: opt.Workers,
) -> None:
    """Write an HTML report of results: scores, where they are lost, charts, and images with their
    objects.

    RES_DIR has the results of a run with -a; several are shown side by side. The file needs no
    server and no network.
    """
    from evaltex_cli import report

    named = opt.named_detectors(results, labels)
    first = results[0] if results[0].is_dir() else results[0].parent
    page = output or first / ("report.html" if len(results) == 1 else "comparison.html")
    detectors = report.read(named, gt, det, images, lines)
    check_file(page, is_of("report"))
    with workers as ordered_map:
        detectors = report.with_diagnoses(detectors, ordered_map)
    made = report.make(page, detectors, images, **shown)
    warn(
        [
            f"{path}: has no results of images, so the report shows none; run the evaluation"
            " again with -a"
            for path, detector in zip(results, detectors, strict=True)
            if not detector.names
        ]
    )
    say(f"Report: {page} ({made})")
