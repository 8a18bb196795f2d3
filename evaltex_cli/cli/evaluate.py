"""``evaltex GT DET RES_DIR``: the plain form."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evaltex_cli.cli.messages import all_faults_option
from evaltex_cli.cli.options import (
    Chosen,
    Work,
    all_scores_option,
    ci_option,
    confidence_option,
    diagnose_option,
    embed_option,
    group,
    input_options,
    protocol_options,
    quiet_option,
    resamples_option,
    seed_option,
    work_options,
)
from evaltex_cli.cli.output import error_exit
from evaltex_cli.cli.paths import INPUT, OUTPUT_FOLDER, PICTURES, RESULTS, OutputFile, force_option
from evaltex_cli.formats.options import MAX_PIXELS, InputOptions, MaskFolders
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.version import __version__

if TYPE_CHECKING:
    from evaltex_cli.results.result_document import Bootstrap

GATE_NOT_MET = 1


def _bootstrap(level: float | None, **drawn: int) -> Bootstrap | None:
    from evaltex_cli.results.result_document import Bootstrap

    return None if level is None else Bootstrap(level, **drawn)


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT)
@click.argument("res_dir", type=OUTPUT_FOLDER)
@click.argument("gt_img_dir", type=PICTURES, required=False, metavar="[GT_IMG_DIR")
@click.argument("det_img_dir", type=PICTURES, required=False, metavar="DET_IMG_DIR]")
@click.option("-a", "per_image", is_flag=True, help="Also write per-image results.")
@click.option("--plots", is_flag=True, help="Write performance curves, of protocols that have any, as SVG.")
@click.option("--report", is_flag=True, help="Write an HTML report to RES_DIR/report.html (implies -a).")
@embed_option
@diagnose_option
@protocol_options("evaltex")
@input_options("Folder of the images' pictures; used for sizes that GT does not have, and in the report.")
@click.option(
    "--max-pixels",
    type=click.IntRange(min=1),
    default=MAX_PIXELS,
    show_default=True,
    help="Refuse label pictures with more pixels.",
)
@group(
    "bootstrap",
    _bootstrap,
    level=ci_option("level", None, "Show bootstrap confidence intervals.  [default level: 0.95]"),
    resamples=resamples_option,
    seed=seed_option,
)
@confidence_option
@all_scores_option
@click.option(
    "--fail-if",
    multiple=True,
    metavar="EXPR",
    help="Exit with status 1 if EXPR is true: fscore<0.7, or against a baseline recall:-0.5% or recall:-0.005; prefix"
    " PROTOCOL. when several are run. Repeatable.",
)
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    type=RESULTS,
    help="Result .json (or folder) of an earlier run. Repeatable.",
)
@click.option("--junit", type=OutputFile("junit"), help="Write the gates' verdicts to this file as JUnit XML.")
@work_options
@click.option(
    "--resume", is_flag=True, help="Save progress, so that the same command continues a run that was interrupted."
)
@force_option
@all_faults_option
@quiet_option
@click.version_option(__version__, prog_name="evaltex", message="%(prog)s %(version)s")
def command(
    gt: Path,
    det: Path,
    gt_img_dir: Path | None,
    det_img_dir: Path | None,
    options: InputOptions,
    chosen: Chosen,
    work: Work,
    max_pixels: int,
    fail_if: tuple[str, ...],
    baselines: tuple[Path, ...],
    **results: Any,
) -> None:
    """Evaluate the text detections DET against the ground truth GT; write results to RES_DIR.

    GT and DET are EvaLTex .txt files, folders or .zip archives of ICDAR-style .txt files, or a data set's XML, JSON or
    .mat files. With GT_IMG_DIR and DET_IMG_DIR, objects are the labelled masks in these folders' pictures.

    Results: RES_DIR/PROTOCOL.txt and .json; with -a also RES_DIR/PROTOCOL/IMAGE.txt.
    """
    with error_exit():
        if (gt_img_dir is None) != (det_img_dir is None):
            raise click.UsageError(
                "GT_IMG_DIR and DET_IMG_DIR go together: give both folders of label pictures, or neither."
            )
        options = chosen.read_by(options)
        if gt_img_dir is not None and det_img_dir is not None:
            options = replace(options, masks=MaskFolders(gt_img_dir, det_img_dir, max_pixels))
        modules = [PROTOCOLS[name] for name in chosen.names()]
        modules.append(f"evaltex_cli.formats.{'icdar' if gt.is_dir() else 'evaltex'}.format")
        modules += ["evaltex_cli.formats.label_images"] if options.masks else []
        work.prepare("evaltex_cli.evaluation.batches", "evaltex_cli.results.writer", *modules)
        from evaltex_cli.cli.run import Request, Results, run

        results["per_image"] |= results["report"]
        verdicts = run(Request(gt, det, options, chosen, work, fail_if, baselines, Results(**results)))
        if not all(verdict.passed for verdict in verdicts):
            sys.exit(GATE_NOT_MET)
