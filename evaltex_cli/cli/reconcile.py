"""``evaltex reconcile``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import Output, warn
from evaltex_cli.cli.paths import INPUT, find_config
from evaltex_cli.formats.options import InputOptions

EXAMPLES = (
    "evaltex reconcile gt.txt det.txt --recall 0.9143 --precision 0.6657",
    "evaltex reconcile gt.txt det.txt --recall 50.0 --precision 58.8 --protocol iou",
)


def _figure(name: str) -> opt.Decorator:
    return click.option(f"--{name}", metavar="N", help=f"Published {name}: 0.8162, 81.6 or 81.6%.")


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT)
@_figure("recall")
@_figure("precision")
@_figure("hmean")
@opt.protocol_option([opt.ALL], "Protocols to try.")
@opt.input_options("min_confidence", "lines", "invalid", "dont_care", "coordinates", "columns")
@opt.work_options
@opt.output_options("reconciliation")
def command(
    gt: Path,
    det: Path,
    protocols: tuple[tuple[str, ...], ...],
    options: InputOptions,
    workers: opt.Workers,
    out: Output,
    **published: Any,
) -> None:
    """Find the settings that give published figures: the commands that reproduce them.

    Tries the protocols with the settings that differ between programs in use. A setting fits if all
    figures agree in all digits given; else the nearest are listed.
    """
    from evaltex_cli.protocols import config
    from evaltex_cli.reconciliation import figures, search

    given = figures.parsed(published)
    names = opt.names_of(protocols)
    inputs, file = [str(gt), str(det)], find_config()
    settings = config.read_config(file) if file else []
    if any(config.parameters_of(name, settings) != config.checked(name, {}) for name in names):
        inputs += ["--config", os.devnull]
    context = click.get_current_context()
    for param in context.command.params:
        value = context.params.get(param.name or "")
        if param.name in opt.READING and value is not None:
            inputs += [param.opts[0], ",".join(value) if isinstance(value, tuple) else str(value)]
    with workers as ordered_map:
        found = search.search(gt, det, given, names, options, inputs, ordered_map)
    warn(found.warnings)
    out.show(found)
