"""``evaltex toys``."""

from __future__ import annotations

from pathlib import Path

import click

from evaltex_cli.cli.messages import all_faults_option
from evaltex_cli.cli.options import (
    choice,
    columns_option,
    coordinates_option,
    gt_classes_option,
    gt_format_option,
    gt_level_option,
    images_option,
    quiet_option,
)
from evaltex_cli.cli.output import error_exit, warn
from evaltex_cli.cli.paths import INPUT, OUTPUT_FOLDER, force_option
from evaltex_cli.errors import counted
from evaltex_cli.formats.options import InputOptions

EXAMPLES = (
    "evaltex toys gt.txt toys --recipe crop80 --recipe split2",
    "evaltex toys gt.txt split --recipe split5 --layout zip",
)


@click.argument("gt", type=INPUT)
@click.argument("out_dir", type=OUTPUT_FOLDER)
@click.option(
    "--recipe",
    "--set",
    "sets",
    multiple=True,
    metavar="NAME",
    help="Set to make: orig, crop81, split3, overlap20, e2e_orig, e2e_insert1, e2e_delete1,"
    " e2e_replace1, e2e_replace1_rand, or with other numbers; repeatable.  [default: the paper's]",
)
@click.option(
    "--layout",
    type=choice(["zip", "txt"]),
    help="ICDAR-style archives, or EvaLTex files.  [default: what GT is]",
)
@gt_format_option
@gt_level_option
@gt_classes_option
@images_option("Folder of the pictures, for sizes GT does not have.")
@coordinates_option
@columns_option
@force_option
@all_faults_option
@quiet_option
def command(
    gt: Path,
    out_dir: Path,
    sets: tuple[str, ...],
    layout: str | None,
    gt_format: str | None,
    gt_level: str | None,
    gt_classes: tuple[str, ...] | None,
    images: Path | None,
    coordinates: str | None,
    columns: str | None,
    quiet: bool,
) -> None:
    """Write toy detections of the ground truth GT to OUT_DIR.

    Words are cropped, cut, made to overlap, or get characters inserted, deleted or replaced: the
    sets of the CLEval paper, Tables 4 to 8. docs/toys.md has the recipes.
    """
    with error_exit():
        from evaltex_cli.conversion.toys import write_toys

        options = InputOptions(
            gt_format,
            gt_level=gt_level,
            gt_classes=gt_classes,
            images=images,
            coordinates=coordinates,
            columns=columns,
        )
        made = write_toys(gt, out_dir, sets, layout, options)
        warn(made.notes)
        if not quiet:
            sets_of = counted(len(made.files), "{count} set[s] of ")
            words = counted(made.words, "{count} word[s] in ")
            click.echo(f"{out_dir}: {sets_of}{words}{counted(made.images, '{count} image[s]')}")
