"""``evaltex convert``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import note, say, warn
from evaltex_cli.cli.paths import INPUT, OUTPUT_FOLDER, OutputFile
from evaltex_cli.conversion import WRITERS
from evaltex_cli.errors import counted
from evaltex_cli.formats.options import InputOptions

_READING = ("images", "only", "min_confidence", "coordinates", "columns")
EXAMPLES = (
    "evaltex convert gt.zip words.txt --regions lines",
    "evaltex convert det.txt pages.zip --from evaltex --to page",
)


def _options(**given: Any) -> InputOptions:
    """Return how SRC is read, whichever side it is."""
    for name in ("format", "level", "classes"):
        given[f"gt_{name}"] = given[f"det_{name}"] = given.pop(f"from_{name}")
    return opt.read_by(**given)


@click.argument("src", type=INPUT)
@click.argument("dst", type=OutputFile("data"))
@click.option("--kind", "side", type=opt.choice(["gt", "det"]), help="What SRC is, if unclear.")
@opt.group(
    "options",
    _options,
    **opt.side_options("SRC", "from", "--from"),
    **{name: opt.READING[name] for name in _READING},
)
@click.option(
    "--to",
    type=opt.Name("format", list(WRITERS)),
    help=f"Format of DST: {', '.join(WRITERS)}.  [default: by ending]",
)
@opt.choice_option(
    "--regions", ["own", "lines"], "Regions: own (as in SRC) or lines (of aligned words)."
)
@click.option("--boxes", is_flag=True, help="Write polygons as bounding boxes.")
@click.option("--masks", type=OUTPUT_FOLDER, help="Also write labelled masks here; DST is a .txt.")
@opt.choice_option("--mask-format", ["tif", "png"], "Format of the masks.")
@click.option("--patch", type=INPUT, help="Apply the accepted entries of a patch to SRC.")
@opt.jobs_options
def command(
    src: Path,
    dst: Path,
    options: InputOptions,
    patch: Path | None,
    workers: opt.Workers,
    **how: Any,
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
    with workers as ordered_map:
        done = convert(src, dst, options=options, ordered_map=ordered_map, change=change, **how)
    warn(done.warnings)
    for text in done.notes:
        note(text)
    objects = counted(done.objects, "{count} object[s]")
    say(f"{dst}: {counted(done.images, '{count} image[s]')}, {objects}")
