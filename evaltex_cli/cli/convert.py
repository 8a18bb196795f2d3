"""``evaltex convert``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli.messages import all_faults_option
from evaltex_cli.cli.options import (
    Name,
    choice,
    classes_option,
    columns_option,
    coordinates_option,
    default_option,
    format_option,
    group,
    images_option,
    level_option,
    min_confidence_option,
    only_option,
    quiet_option,
)
from evaltex_cli.cli.output import echo_err, echo_lines, error_exit, warn
from evaltex_cli.cli.paths import INPUT, OUTPUT_FOLDER, ConvertedData, force_option
from evaltex_cli.cli.work import Work, jobs_options
from evaltex_cli.conversion import WRITERS, Target
from evaltex_cli.errors import counted
from evaltex_cli.formats.options import InputOptions

EXAMPLES = (
    "evaltex convert gt.zip words.txt --regions lines",
    "evaltex convert det.txt pages.zip --from evaltex --to page",
)


@click.argument("src", type=INPUT)
@click.argument("dst", type=ConvertedData())
@click.option("--kind", type=choice(["gt", "det"]), help="What SRC is.  [default: detected]")
@format_option("SRC", "--from", "source_format")
@level_option("SRC", "--from-level", "level")
@classes_option("SRC", "--from-classes", "classes")
@group(
    "how",
    Target,
    to=click.option(
        "--to",
        type=Name("format", list(WRITERS)),
        help=f"Format of DST: {', '.join(WRITERS)}.  [default: by ending]",
    ),
    regions=default_option(
        "--regions",
        choice(["own", "lines"]),
        "own",
        "Regions: own (as in SRC) or lines (of aligned words).",
    ),
    boxes=click.option("--boxes", is_flag=True, help="Write polygons as bounding boxes."),
    masks=click.option(
        "--masks", type=OUTPUT_FOLDER, help="Also write labelled masks here; DST is a .txt."
    ),
    mask_format=default_option(
        "--mask-format", choice(["tif", "png"]), "tif", "Format of the masks."
    ),
)
@click.option(
    "--patch", type=INPUT, help="Apply the accepted entries of a patch; SRC is ground truth."
)
@images_option("Folder of the pictures, for sizes SRC does not have.")
@only_option
@min_confidence_option
@coordinates_option
@columns_option
@jobs_options
@force_option
@all_faults_option
@quiet_option
def command(
    src: Path,
    dst: Path,
    kind: str | None,
    source_format: str | None,
    level: str | None,
    classes: tuple[str, ...] | None,
    how: Target,
    patch: Path | None,
    images: Path | None,
    only: tuple[str, ...] | None,
    min_confidence: float | None,
    coordinates: str | None,
    columns: str | None,
    work: Work,
    quiet: bool,
) -> None:
    """Write SRC in another format.

    SRC is anything that can be evaluated. The ending of DST decides what is written: .txt an
    EvaLTex file, .zip an ICDAR-style archive of quadrilaterals or polygons, .json COCO annotations
    or results, .csv a table. --to names other formats; those with one file per image are written to
    a .zip archive, or to a folder if DST has no ending.
    """
    with error_exit():
        from evaltex_cli.audit.patches import patched
        from evaltex_cli.conversion.convert import convert

        change = None if patch is None else partial(patched, patch)
        side: Any = kind
        options = InputOptions(
            gt_format=source_format,
            det_format=source_format,
            gt_level=level,
            det_level=level,
            gt_classes=classes,
            det_classes=classes,
            images=images,
            min_confidence=min_confidence,
            coordinates=coordinates,
            columns=columns,
            only=only,
        )
        with work.workers() as ordered_map:
            done = convert(src, dst, side, how, options, ordered_map, change)
        warn(done.warnings)
        if not quiet:
            for note in done.notes:
                echo_err("note", note)
            objects = counted(done.objects, "{count} object[s]")
            echo_lines([f"{dst}: {counted(done.images, '{count} image[s]')}, {objects}"])
