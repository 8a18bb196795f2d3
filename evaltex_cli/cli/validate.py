"""``evaltex validate``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from evaltex_cli.cli.messages import all_faults, all_faults_option
from evaltex_cli.cli.options import (
    form_option,
    input_options,
    output_option,
)
from evaltex_cli.cli.output import error_exit, write_output
from evaltex_cli.cli.paths import INPUT, force_option
from evaltex_cli.cli.terminal import screen
from evaltex_cli.cli.work import Work, jobs_options
from evaltex_cli.formats.options import InputOptions

NOT_VALID = 2
EXAMPLES = (
    "evaltex validate gt.txt det.txt",
    "evaltex validate gt.txt --images pictures --format json",
)


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT, required=False)
@input_options(
    "Folder of the pictures, for their sizes.", without=["min_confidence", "lines", "dont_care"]
)
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
    options: InputOptions,
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

        with work.workers() as ordered_map:
            result = validation.validate(gt, det, options, ordered_map)
        if form == "table":
            shown = terminal_text.text(result, limit, pairs, screen(output), all_faults())
        else:
            shown = findings.FORMATS[form](result, limit)
        write_output(shown, output)
        if not result.passed:
            sys.exit(NOT_VALID)
