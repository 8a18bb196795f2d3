"""``evaltex toys``."""

from __future__ import annotations

from pathlib import Path

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import say, warn
from evaltex_cli.cli.paths import INPUT, OUTPUT_FOLDER
from evaltex_cli.errors import counted
from evaltex_cli.formats.options import InputOptions

_READ = ("gt_format", "gt_level", "gt_classes", "images", "coordinates", "columns")
EXAMPLES = (
    "evaltex toys gt.txt toys --recipe crop80 --recipe split2",
    "evaltex toys gt.txt split --recipe split5 --layout zip",
)


@click.argument("gt", type=INPUT)
@click.argument("out_dir", type=OUTPUT_FOLDER)
@click.option(
    "--recipe", multiple=True, help="Set to make: crop81, split3 etc.  [default: the paper's]"
)
@click.option(
    "--layout", type=opt.choice(["zip", "txt"]), help="Format of the sets.  [default: that of GT]"
)
@opt.group("options", InputOptions, **{name: opt.READING[name] for name in _READ})
def command(
    gt: Path, out_dir: Path, recipe: tuple[str, ...], layout: str | None, options: InputOptions
) -> None:
    """Write toy detections of the ground truth GT to OUT_DIR.

    Words are cropped, cut, made to overlap, or get characters inserted, deleted or replaced: the
    sets of the CLEval paper, Tables 4 to 8. docs/toys.md has the recipes.
    """
    from evaltex_cli.conversion.toys import write_toys

    made = write_toys(gt, out_dir, recipe, layout, options)
    warn(made.notes)
    sets_of = counted(len(made.files), "{count} set[s] of ")
    words = counted(made.words, "{count} word[s] in ")
    say(f"{out_dir}: {sets_of}{words}{counted(made.images, '{count} image[s]')}")
