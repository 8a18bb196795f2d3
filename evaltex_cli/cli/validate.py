"""``evaltex validate``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from evaltex_cli.cli.messages import all_faults, all_faults_option
from evaltex_cli.cli.options import (
    columns_option,
    coordinates_option,
    det_format_option,
    form_option,
    gt_format_option,
    images_option,
    invalid_option,
    only_option,
    output_option,
)
from evaltex_cli.cli.output import error_exit, write_output
from evaltex_cli.cli.paths import INPUT, force_option
from evaltex_cli.cli.terminal import screen
from evaltex_cli.cli.work import Work, jobs_options

NOT_VALID = 2
EXAMPLES = (
    "evaltex validate gt.txt det.txt",
    "evaltex validate gt.txt --images pictures --format json",
)


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT, required=False)
@gt_format_option
@det_format_option
@images_option("Folder of the pictures, for their sizes.")
@only_option
@invalid_option
@coordinates_option
@columns_option
@click.option("--pairs", is_flag=True, help="List all images of the pairing.  [default: 20]")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    help="Errors, and warnings, to show; equal ones are one.  [default: all]",
)
@jobs_options
@form_option
@output_option("validation")
@force_option
@all_faults_option
def command(
    gt: Path,
    det: Path | None,
    gt_format: str | None,
    det_format: str | None,
    images: Path | None,
    only: tuple[str, ...] | None,
    invalid: str,
    coordinates: str | None,
    columns: str | None,
    pairs: bool,
    limit: int | None,
    work: Work,
    form: str,
    output: Path | None,
) -> None:
    """Report what is wrong or suspicious about the ground truth GT and the detections DET.

    It shows the format of each and how it was recognised, which images pair, and every problem with
    its file and line. The exit status is 2 if an evaluation would refuse them, and 0 if there are
    warnings at most.
    """
    with error_exit():
        from evaltex_cli.validation import findings, terminal_text, validation

        given = {
            "images": images,
            "invalid": invalid,
            "coordinates": coordinates,
            "columns": columns,
            "only": only,
        }
        with work.workers() as ordered_map:
            result = validation.validate(
                gt, det, ordered_map, gt_format=gt_format, det_format=det_format, **given
            )
        if form == "table":
            shown = terminal_text.text(result, limit, pairs, screen(output), all_faults())
        else:
            shown = findings.FORMATS[form](result, limit)
        write_output(shown, output)
        if not result.passed:
            sys.exit(NOT_VALID)
