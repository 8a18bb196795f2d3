"""``evaltex convert``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import echo_err, is_set, say, warn
from evaltex_cli.cli.paths import INPUT, OUTPUT_FOLDER, OutputFile
from evaltex_cli.conversion import WRITERS
from evaltex_cli.errors import counted
from evaltex_cli.formats.options import InputOptions

EXAMPLES = (
    "evaltex convert gt.zip words.txt --regions lines",
    "evaltex convert det.txt pages.zip --from evaltex --to page",
)


def _options(format: Any, level: Any, classes: Any, **others: Any) -> InputOptions:
    """Return how SRC is read, whichever side it is."""
    for side in ("gt", "det"):
        others |= {f"{side}_format": format, f"{side}_level": level, f"{side}_classes": classes}
    return opt.read_by(**others)


@click.argument("src", type=INPUT)
@click.argument("dst", type=OutputFile("data"))
@click.option("--kind", type=opt.choice(["gt", "det"]), help="What SRC is.  [default: detected]")
@opt.group(
    "options",
    _options,
    format=opt.format_option("SRC", "--from", "format"),
    level=opt.level_option("SRC", "--from-level", "level"),
    classes=opt.classes_option("SRC", "--from-classes", "classes"),
    images=opt.images_option("Folder of the pictures, for sizes SRC does not have."),
    **{name: opt.READING[name] for name in ("only", "min_confidence", "coordinates", "columns")},
)
@opt.group(
    "how",
    dict,
    to=click.option(
        "--to",
        type=opt.Name("format", list(WRITERS)),
        help=f"Format of DST: {', '.join(WRITERS)}.  [default: by ending]",
    ),
    regions=opt.default_option(
        "--regions",
        opt.choice(["own", "lines"]),
        "own",
        "Regions: own (as in SRC) or lines (of aligned words).",
    ),
    boxes=click.option("--boxes", is_flag=True, help="Write polygons as bounding boxes."),
    masks=click.option(
        "--masks", type=OUTPUT_FOLDER, help="Also write labelled masks here; DST is a .txt."
    ),
    mask_format=opt.default_option(
        "--mask-format", opt.choice(["tif", "png"]), "tif", "Format of the masks."
    ),
)
@click.option(
    "--patch", type=INPUT, help="Apply the accepted entries of a patch to SRC, a ground truth."
)
@opt.jobs_options
def command(
    src: Path,
    dst: Path,
    kind: str | None,
    options: InputOptions,
    how: dict[str, Any],
    patch: Path | None,
    work: opt.Work,
) -> None:
    """Write SRC in another format.

    SRC is anything that can be evaluated. The ending of DST decides what is written: .txt an
    EvaLTex file, .zip an ICDAR-style archive of quadrilaterals or polygons, .json COCO annotations
    or results, .csv a table. --to names other formats; those with one file per image are written to
    a .zip archive, or to a folder if DST has no ending.
    """
    from evaltex_cli.audit.patches import patched
    from evaltex_cli.conversion.convert import convert

    change = None if patch is None else partial(patched, patch)
    side: Any = kind
    with work.workers() as ordered_map:
        done = convert(
            src, dst, side, options=options, ordered_map=ordered_map, change=change, **how
        )
    warn(done.warnings)
    for note in [] if is_set("quiet") else done.notes:
        echo_err("note", note)
    objects = counted(done.objects, "{count} object[s]")
    say(f"{dst}: {counted(done.images, '{count} image[s]')}, {objects}")
