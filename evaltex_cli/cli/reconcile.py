"""``evaltex reconcile``."""

from __future__ import annotations

from pathlib import Path

import click

from evaltex_cli.cli.messages import all_faults_option
from evaltex_cli.cli.options import (
    ALL,
    Decorator,
    form_option,
    input_options,
    output_option,
    protocol_option,
)
from evaltex_cli.cli.output import error_exit, warn, write_output
from evaltex_cli.cli.paths import INPUT, find_config, force_option, image_list
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
@input_options(
    without=["min_confidence", "lines", "invalid", "dont_care", "coordinates", "columns"]
)
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
    options: InputOptions,
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
        from evaltex_cli.reconciliation import figures, search, tables

        given = figures.parsed({"recall": recall, "precision": precision, "hmean": hmean})
        named = dict.fromkeys(name for listed in protocols for name in listed)
        names = list(PROTOCOLS) if ALL in named else list(named)
        with work.workers(gt, det, options.images) as ordered_map:
            found = search.search(gt, det, given, names, options, ordered_map)
        file = find_config(None)
        settings = config.read_config(file) if file else []
        base = {name: config.parameters_of(name, settings) for name in names}
        warn(found.warnings)
        inputs = [str(gt), str(det)]
        for option, value in (
            ("--gt-format", options.gt_format),
            ("--det-format", options.det_format),
            ("--gt-level", options.gt_level),
            ("--det-level", options.det_level),
            ("--gt-classes", options.gt_classes and ",".join(options.gt_classes)),
            ("--det-classes", options.det_classes and ",".join(options.det_classes)),
            ("--images", options.images),
            ("--only", image_list()),
        ):
            inputs += [] if value is None else [option, str(value)]
        asked = tables.Asked(given, inputs, base)
        if form == "table":
            write_output(tables.table(found, asked, screen(output)), output)
        else:
            write_output(tables.FORMATS[form](found, asked), output)
