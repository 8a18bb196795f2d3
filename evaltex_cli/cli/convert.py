"""``evaltex convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli.common import PATH, quiet_option, told_errors, warn
from evaltex_cli.formats import FORMATS


@click.argument("src", type=PATH)
@click.argument("dst", type=PATH, metavar="DST.txt")
@click.option("--kind", type=click.Choice(["gt", "det"]), required=True, help="Ground truth or detections.")
@click.option(
    "--format", "format_name", type=click.Choice(list(FORMATS)), help="Format of SRC, where content should not decide."
)
@click.option(
    "--regions",
    type=click.Choice(["own", "lines"]),
    default="own",
    show_default=True,
    help="Region of an object: as SRC says, else its own ID; or the line of aligned words of similar height.",
)
@click.option("--boxes", is_flag=True, help="Write polygons as their bounding boxes.")
@quiet_option
def command(src: Path, dst: Path, kind: str, format_name: str | None, regions: str, boxes: bool, quiet: bool) -> None:
    """Write SRC as an EvaLTex .txt file.

    SRC is a folder or .zip archive of ICDAR-style .txt files, ICDAR XML, or an EvaLTex .txt file.
    """
    with told_errors():
        from evaltex_cli.convert import convert

        side: Any = kind
        done = convert(src, dst, side, format_name=format_name, lines_as_regions=regions == "lines", as_boxes=boxes)
        warn(done.warnings)
        if not quiet:
            for note in done.notes():
                click.echo(f"evaltex: note: {note}", err=True)
            click.echo(f"{dst}: {done.images} images, {done.objects} objects")
