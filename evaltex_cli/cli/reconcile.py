"""``evaltex reconcile``."""

from __future__ import annotations

from pathlib import Path

import click

from evaltex_cli.cli.messages import all_faults_option
from evaltex_cli.cli.options import (
    ALL,
    Decorator,
    det_format_option,
    form_option,
    gt_format_option,
    images_option,
    only_option,
    output_option,
    protocol_option,
)
from evaltex_cli.cli.output import error_exit, warn, write_output
from evaltex_cli.cli.paths import INPUT, force_option, image_list
from evaltex_cli.cli.terminal import screen
from evaltex_cli.cli.work import Work, work_options
from evaltex_cli.formats.options import InputOptions

EXAMPLES = (
    "evaltex reconcile gt.txt det.txt --recall 0.9143 --precision 0.6657",
    "evaltex reconcile gt.txt det.txt --recall 50.0 --precision 58.8 --protocol iou",
)


def _figure(name: str) -> Decorator:
    return click.option(f"--{name}", metavar="N", help=f"Published {name}: 0.8162, 81.6 or 81.6%.")


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT)
@_figure("recall")
@_figure("precision")
@_figure("hmean")
@protocol_option([ALL], "Protocols to try.")
@gt_format_option
@det_format_option
@images_option("Folder of the pictures, for sizes GT does not have.")
@only_option
@work_options
@form_option
@output_option("reconciliation")
@force_option
@all_faults_option
def command(
    gt: Path,
    det: Path,
    recall: str | None,
    precision: str | None,
    hmean: str | None,
    protocols: tuple[tuple[str, ...], ...],
    gt_format: str | None,
    det_format: str | None,
    images: Path | None,
    only: tuple[str, ...] | None,
    work: Work,
    form: str,
    output: Path | None,
) -> None:
    """Find the settings that give published figures: the commands that reproduce them.

    Tries the protocols with the settings that differ between programs in use. A setting fits if all
    figures agree in all digits given; else the nearest are listed.
    """
    with error_exit():
        from evaltex_cli.protocols import PROTOCOLS, config
        from evaltex_cli.protocols.config_path import find_config
        from evaltex_cli.reconciliation import figures, search, tables

        given = figures.parsed({"recall": recall, "precision": precision, "hmean": hmean})
        named = dict.fromkeys(name for listed in protocols for name in listed)
        names = list(PROTOCOLS) if ALL in named else list(named)
        options = InputOptions(gt_format=gt_format, det_format=det_format, images=images, only=only)
        with work.workers(gt, det, images) as ordered_map:
            found = search.search(gt, det, given, names, options, ordered_map)
        file = find_config(None)
        settings = config.read_config(file) if file else []
        base = {name: config.parameters_of(name, settings) for name in names}
        warn(found.warnings)
        inputs = [str(gt), str(det)]
        for option, value in (
            ("--gt-format", gt_format),
            ("--det-format", det_format),
            ("--images", images),
            ("--only", image_list()),
        ):
            inputs += [] if value is None else [option, str(value)]
        asked = tables.Asked(given, inputs, base)
        if form == "table":
            write_output(tables.table(found, asked, screen(output)), output)
        else:
            write_output(tables.FORMATS[form](found, asked), output)
