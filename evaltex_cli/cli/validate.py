"""``evaltex validate``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from evaltex_cli.cli.messages import all_faults_option
from evaltex_cli.cli.options import (
    columns_option,
    coordinates_option,
    det_format_option,
    form_option,
    gt_format_option,
    output_option,
)
from evaltex_cli.cli.output import error_exit, write_output
from evaltex_cli.cli.paths import INPUT, PICTURES, force_option
from evaltex_cli.formats.options import INVALID_POLYGONS

NOT_VALID = 2


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT, required=False)
@gt_format_option
@det_format_option
@click.option("--images", type=PICTURES, metavar="DIR", help="Folder of the images' pictures, for their sizes.")
@click.option(
    "--invalid",
    type=click.Choice(INVALID_POLYGONS),
    default=INVALID_POLYGONS[0],
    show_default=True,
    help="What an evaluation does with invalid polygons; with error they are errors here.",
)
@coordinates_option
@columns_option
@click.option("--pairs", is_flag=True, help="List all images of the pairing.  [default: all up to 20]")
@click.option(
    "--limit", type=click.IntRange(min=0), help="Show no more than this many errors and warnings.  [default: all]"
)
@form_option("text", "json", help_text="Form of the output; JSON holds everything.")
@output_option("validation")
@force_option
@all_faults_option
def command(
    gt: Path,
    det: Path | None,
    gt_format: str | None,
    det_format: str | None,
    images: Path | None,
    invalid: str,
    coordinates: str | None,
    columns: str | None,
    pairs: bool,
    limit: int | None,
    form: str,
    output: Path | None,
) -> None:
    """Report what is wrong or suspicious about the ground truth GT and the detections DET.

    Shows the formats they are taken for and why, which images pair, and every problem with its file and line. Ends
    with status 2 where an evaluation would refuse them, with 0 where there are warnings at most.
    """
    with error_exit():
        from evaltex_cli.validation import findings, validation

        given = {"images": images, "invalid": invalid, "coordinates": coordinates, "columns": columns}
        result = validation.validate(gt, det, gt_format=gt_format, det_format=det_format, **given)
        write_output(findings.FORMATS[form](result, limit, pairs), output)
        if not result.passed:
            sys.exit(NOT_VALID)
