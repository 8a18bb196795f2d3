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
    Decorator,
    all_scores_option,
    ci_option,
    default_option,
    diagnose_option,
    embed_option,
    form_option,
    group,
    input_options,
    protocol_options,
    quiet_option,
    resamples_option,
    seed_option,
)
from evaltex_cli.cli.output import error_exit, stop
from evaltex_cli.cli.paths import INPUT, OUTPUT_FOLDER, PICTURES, RESULTS, OutputFile, force_option
from evaltex_cli.cli.work import work_options
from evaltex_cli.formats.options import MAX_PIXELS, InputOptions, MaskFolders

if TYPE_CHECKING:
    from evaltex_cli.results.extras import Bootstrap

GATE_NOT_MET = 1
EXAMPLES = (
    "evaltex gt.txt det.txt",
    "evaltex gt.txt det.txt results -a --protocol iou,tiou --report",
)


def fail_if_option(help_text: str) -> Decorator:
    """Return the option of the gates."""
    return click.option("--fail-if", multiple=True, metavar="EXPR", help=help_text)


def baseline_option(help_text: str) -> Decorator:
    """Return the option of the results that gates compare with."""
    return click.option("--baseline", "baselines", multiple=True, type=RESULTS, help=help_text)


junit_option = click.option(
    "--junit", type=OutputFile("junit"), help="Write the verdicts of the gates as JUnit XML."
)


def _bootstrap(level: float | None, **drawn: int) -> Bootstrap | None:
    if level is None:
        return None
    from evaltex_cli.results.extras import Bootstrap

    return Bootstrap(level, **drawn)


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT)
@click.argument("res_dir", type=OUTPUT_FOLDER, required=False, metavar="RES_DIR")
@click.argument("gt_img_dir", type=PICTURES, required=False, metavar="GT_IMG_DIR")
@click.argument("det_img_dir", type=PICTURES, required=False, metavar="DET_IMG_DIR")
@click.option("-a", "per_image", is_flag=True, help="Also write the results of each image.")
@form_option
@click.option(
    "--objects",
    type=OutputFile("objects"),
    help="Write one row per object to a .csv or .parquet file.",
)
@click.option("--plots", is_flag=True, help="Write curves as SVG, of protocols that have any.")
@click.option("--report", is_flag=True, help="Write RES_DIR/report.html with every image.")
@embed_option
@diagnose_option
@protocol_options("evaltex")
@input_options("Folder of the pictures, for sizes and the report.")
@default_option(
    "--max-pixels", click.IntRange(min=1), MAX_PIXELS, "Refuse label pictures of more pixels."
)
@group(
    "bootstrap",
    _bootstrap,
    level=ci_option("level", None, "Bootstrap intervals of this level.  [default: 0.95]"),
    resamples=resamples_option,
    seed=seed_option,
)
@all_scores_option
@fail_if_option("Exit with 1 if true: fscore<0.7, recall:-0.5% etc.")
@baseline_option("Earlier result, a .json or a folder; repeatable.")
@junit_option
@work_options
@force_option
@all_faults_option
@quiet_option
def command(
    gt_img_dir: Path | None,
    det_img_dir: Path | None,
    max_pixels: int,
    options: InputOptions,
    chosen: Chosen,
    **given: Any,
) -> None:
    """Score the text detections DET against the ground truth GT.

    GT and DET may have any format in `evaltex formats`. Scores are printed, and go to RES_DIR
    if given: PROTOCOL.txt and .json, with -a PROTOCOL/IMAGE.txt. With GT_IMG_DIR and DET_IMG_DIR,
    objects are labelled masks.
    """
    res_dir = given["res_dir"]
    if res_dir is not None and res_dir.is_file():
        stop(
            f"{res_dir}: is a file; give a folder for the results (several detections are for"
            " `evaltex compare`)"
        )
    with error_exit():
        if (gt_img_dir is None) != (det_img_dir is None):
            raise click.UsageError(
                "GT_IMG_DIR and DET_IMG_DIR go together, after RES_DIR: give GT DET, GT DET"
                " RES_DIR, or GT DET RES_DIR GT_IMG_DIR DET_IMG_DIR."
            )
        options = chosen.with_preset(options)
        if gt_img_dir is not None and det_img_dir is not None:
            options = replace(options, masks=MaskFolders(gt_img_dir, det_img_dir, max_pixels))
        from evaltex_cli.cli.run import Request, run

        verdicts = run(Request(options=options, chosen=chosen, **given))
        if not all(verdict.passed for verdict in verdicts):
            sys.exit(GATE_NOT_MET)
