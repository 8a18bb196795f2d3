"""``evaltex report``."""

from __future__ import annotations

from pathlib import Path

import click

from evaltex_cli.cli.messages import all_faults_option
from evaltex_cli.cli.options import diagnose_option, embed_option, lines_option, quiet_option
from evaltex_cli.cli.output import echo_lines, error_exit, stop, warn
from evaltex_cli.cli.paths import INPUT, PICTURES, RESULTS, OutputFile, force_option
from evaltex_cli.cli.work import Work, jobs_options
from evaltex_cli.errors import counted
from evaltex_cli.marks import is_of
from evaltex_cli.runtime.outputs import check_file

EXAMPLES = ("evaltex report results --gt gt.txt --det det.txt --output report.html",)


@click.argument("results", type=RESULTS, nargs=-1, required=True, metavar="RES_DIR...")
@click.option("--gt", type=INPUT, help="Ground truth, to draw the objects (with --det).")
@click.option(
    "--det",
    "detections",
    type=INPUT,
    multiple=True,
    help="Detections; one for each RES_DIR, in order.",
)
@click.option(
    "--images",
    "pictures",
    type=PICTURES,
    help="Folder of the pictures, which the report links to.",
)
@lines_option
@embed_option
@diagnose_option
@click.option(
    "--label",
    "labels",
    multiple=True,
    help="Name of a detector, in order.  [default: folder name]",
)
@click.option(
    "--output",
    type=OutputFile("report"),
    help="File to write.  [default: RES_DIR/report.html; of several, the first with"
    " comparison.html]",
)
@jobs_options
@force_option
@all_faults_option
@quiet_option
def command(
    results: tuple[Path, ...],
    gt: Path | None,
    detections: tuple[Path, ...],
    pictures: Path | None,
    lines: Path | None,
    embed: bool,
    diagnose: bool,
    labels: tuple[str, ...],
    output: Path | None,
    work: Work,
    quiet: bool,
) -> None:
    """Write an HTML report of results: scores, where they are lost, histograms, and every image
    with its objects.

    RES_DIR has the results of a run with -a; several are shown side by side. The file needs no
    server and no network.
    """
    with error_exit():
        from evaltex_cli import report

        if embed and pictures is None:
            stop("--embed needs --images DIR")
        if labels and len(labels) != len(results):
            given = counted(len(labels), "{count} label[s]")
            stop(
                f"{given} for {counted(len(results), '{count} result[s]')}; give one a result, or"
                " none"
            )
        first = results[0] if results[0].is_dir() else results[0].parent
        page = output or first / (report.NAME if len(results) == 1 else report.COMPARISON_NAME)
        check_file(page, is_of("report"))
        if gt is None or not detections or not diagnose:
            work.warn_unused("give --gt and --det, to show where the score is lost")
        subject = report.read(results, labels or None, gt, detections, pictures, lines)
        if diagnose:
            with work.workers() as ordered_map:
                subject = subject.with_losses(ordered_map)
        made = report.make(page, subject, report.Pictures(pictures, embed))
        warn(
            [
                (
                    f"{path}: holds no results of single images, so the page has none; make it"
                    " again with -a"
                )
                for path in subject.without_images
            ]
        )
        if not quiet:
            echo_lines([f"Report: {page} ({made})"])
