"""``evaltex convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli.options import min_confidence_option, quiet_option
from evaltex_cli.cli.output import echo_err, error_exit, warn
from evaltex_cli.cli.paths import INPUT, OUTPUT_FOLDER, PICTURES, OutputFile, force_option
from evaltex_cli.convert.writers import WRITERS
from evaltex_cli.errors import counted
from evaltex_cli.formats import FORMATS


@click.argument("src", type=INPUT)
@click.argument("dst", type=OutputFile("data"))
@click.option("--kind", type=click.Choice(["gt", "det"]), required=True, help="Ground truth or detections.")
@click.option(
    "--format", "format_name", type=click.Choice(list(FORMATS)), help="Format of SRC, where content should not decide."
)
@click.option("--to", type=click.Choice(list(WRITERS)), help="Format of DST, where its ending should not decide.")
@click.option(
    "--regions",
    type=click.Choice(["own", "lines"]),
    default="own",
    show_default=True,
    help="Region of an object: as SRC says, else its own ID; or the line of aligned words of similar height.",
)
@click.option("--boxes", is_flag=True, help="Write polygons as their bounding boxes.")
@click.option(
    "--masks", type=OUTPUT_FOLDER, metavar="DIR", help="Draw label pictures of the objects too; with a DST.txt."
)
@click.option(
    "--mask-format", type=click.Choice(["tif", "png"]), default="tif", show_default=True, help="Format of --masks."
)
@click.option(
    "--images", type=PICTURES, metavar="DIR", help="Folder of the images' pictures: their sizes, where SRC states none."
)
@min_confidence_option
@force_option
@quiet_option
def command(
    src: Path,
    dst: Path,
    kind: str,
    format_name: str | None,
    to: str | None,
    regions: str,
    boxes: bool,
    masks: Path | None,
    mask_format: str,
    images: Path | None,
    min_confidence: float | None,
    quiet: bool,
) -> None:
    """Write SRC in another format.

    SRC is anything that can be evaluated. The ending of DST tells what to write: .txt an EvaLTex file, .zip an
    ICDAR-style archive of quadrilaterals or polygons, .json COCO annotations or results.
    """
    with error_exit():
        from evaltex_cli.convert.conversion import convert

        side: Any = kind
        done = convert(
            src,
            dst,
            side,
            format_name=format_name,
            to=to,
            lines_as_regions=regions == "lines",
            as_boxes=boxes,
            masks=masks,
            mask_format=mask_format,
            min_confidence=min_confidence,
            images=images,
        )
        warn(done.warnings)
        if not quiet:
            for note in done.notes:
                echo_err(f"note: {note}")
            objects = counted(done.objects, "{count} object[s]")
            click.echo(f"{dst}: {counted(done.images, '{count} image[s]')}, {objects}")
