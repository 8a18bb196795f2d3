"""``evaltex validate``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import Output
from evaltex_cli.cli.paths import INPUT
from evaltex_cli.formats.options import InputOptions

EXAMPLES = (
    "evaltex validate gt.txt det.txt",
    "evaltex validate gt.txt --images pictures --format json",
)


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT, required=False)
@opt.input_options("min_confidence", "lines", "dont_care")
@click.option("--pairs", "all_pairs", is_flag=True, help="List how all images pair, not only 20.")
@click.option("--all-faults", "every", is_flag=True, help="List every problem, not each kind once.")
@opt.jobs_options
@opt.output_options("validation")
def command(
    gt: Path,
    det: Path | None,
    options: InputOptions,
    workers: opt.Workers,
    out: Output,
    **shown: Any,
) -> None:
    """Report what is wrong or suspicious about the ground truth GT and the detections DET.

    It shows the format of each and how it was recognised, which images pair, and every problem with
    its file and line. The exit status is 2 if an evaluation would refuse them, and 0 if there are
    warnings at most.
    """
    from evaltex_cli.validation import validation

    with workers as ordered_map:
        result = validation.validate(gt, det, options, ordered_map)
    out.show(result, result.tables(**shown))
    if not result.passed:
        sys.exit(2)
