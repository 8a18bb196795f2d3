"""``evaltex report``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import say, stop, warn
from evaltex_cli.cli.paths import INPUT, PICTURES, OutputFile
from evaltex_cli.runtime.marks import is_of
from evaltex_cli.runtime.outputs import check_file

EXAMPLES = ("evaltex report results --gt gt.txt --det det.txt --output report.html",)


@click.argument("results", type=INPUT, nargs=-1, required=True, metavar="RES_DIR...")
@click.option("--gt", type=INPUT, help="Ground truth, to draw the objects (with --det).")
@click.option(
    "--det",
    "detections",
    type=INPUT,
    multiple=True,
    help="Detections; one for each RES_DIR, in order.",
)
@click.option(
    "--images", "pictures", type=PICTURES, help="Folder of the pictures, which the report links to."
)
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
    detections: tuple[Path, ...],
    pictures: Path | None,
    lines: Path | None,
    shown: dict[str, Any],
    diagnose: bool,
    labels: tuple[str, ...],
    output: Path | None,
    work: opt.Work,
) -> None:
    """Write an HTML report of results: scores, where they are lost, charts, and images with their
    objects.

    RES_DIR has the results of a run with -a; several are shown side by side. The file needs no
    server and no network.
    """
    from evaltex_cli import report

    if shown["embed"] and pictures is None:
        stop("--embed needs --images DIR")
    opt.check_labels(labels, results)
    first = results[0] if results[0].is_dir() else results[0].parent
    page = output or first / ("report.html" if len(results) == 1 else "comparison.html")
    check_file(page, is_of("report"))
    if gt is None or not detections or not diagnose:
        work.warn_unused("without --gt and --det" if diagnose else "with --no-diagnose")
    detectors = report.read(results, labels, gt, detections, pictures, lines)
    if diagnose:
        with work.workers() as ordered_map:
            detectors = report.with_diagnoses(detectors, ordered_map)
    made = report.make(page, detectors, pictures, **shown)
    warn(
        [
            f"{path}: has no results of images, so the report shows none; run the evaluation"
            " again with -a"
            for path, detector in zip(results, detectors, strict=True)
            if not detector.names
        ]
    )
    say(f"Report: {page} ({made})")
