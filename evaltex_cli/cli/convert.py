"""``evaltex convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli.messages import all_faults_option
from evaltex_cli.cli.options import (
    columns_option,
    coordinates_option,
    format_option,
    group,
    images_option,
    min_confidence_option,
    quiet_option,
)
from evaltex_cli.cli.output import echo_err, error_exit, warn
from evaltex_cli.cli.paths import INPUT, OUTPUT_FOLDER, ConvertedData, force_option
from evaltex_cli.conversion import WRITERS, Target
from evaltex_cli.errors import counted
from evaltex_cli.formats.options import InputOptions


@click.argument("src", type=INPUT)
@click.argument("dst", type=ConvertedData())
@click.option(
    "--kind", type=click.Choice(["gt", "det"]), help="Ground truth or detections.  [default: detected from SRC]"
)
@format_option("SRC", "--format", "format_name")
@group(
    "how",
    Target,
    to=click.option("--to", type=click.Choice(list(WRITERS)), help="Format of DST.  [default: by its extension]"),
    regions=click.option(
        "--regions",
        type=click.Choice(["own", "lines"]),
        default="own",
        show_default=True,
        help="How to assign regions: own (as in SRC) or lines (group aligned words into lines).",
    ),
    boxes=click.option("--boxes", is_flag=True, help="Write polygons as their bounding boxes."),
    masks=click.option(
        "--masks", type=OUTPUT_FOLDER, metavar="DIR", help="Also write label masks to DIR (requires a .txt DST)."
    ),
    mask_format=click.option(
        "--mask-format", type=click.Choice(["tif", "png"]), default="tif", show_default=True, help="Format of --masks."
    ),
)
@images_option("Folder of the images' pictures; used for sizes that SRC does not have.")
@min_confidence_option
@coordinates_option
@columns_option
@force_option
@all_faults_option
@quiet_option
def command(
    src: Path,
    dst: Path,
    kind: str | None,
    format_name: str | None,
    how: Target,
    images: Path | None,
    min_confidence: float | None,
    coordinates: str | None,
    columns: str | None,
    quiet: bool,
) -> None:
    """Write SRC in another format.

    SRC is anything that can be evaluated. The ending of DST says what to write: .txt an EvaLTex file, .zip an
    ICDAR-style archive of quadrilaterals or polygons, .json COCO annotations or results, .csv a table. --to names other
    formats; those with one file per image are written to a .zip archive, or to a folder if DST has no ending.
    """
    with error_exit():
        from evaltex_cli.conversion.conversion import convert

        side: Any = kind
        options = InputOptions(
            *(format_name, format_name, images),
            min_confidence=min_confidence,
            coordinates=coordinates,
            columns=columns,
        )
        done = convert(src, dst, side, how, options)
        warn(done.warnings)
        if not quiet:
            for note in done.notes:
                echo_err("note", note)
            objects = counted(done.objects, "{count} object[s]")
            click.echo(f"{dst}: {counted(done.images, '{count} image[s]')}, {objects}")
