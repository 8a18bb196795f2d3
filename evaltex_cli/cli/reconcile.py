"""``evaltex reconcile``."""

from __future__ import annotations

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
@opt.input_options(
    without=["min_confidence", "lines", "invalid", "dont_care", "coordinates", "columns"]
)
@opt.work_options
@opt.output_options("reconciliation")
def command(
    gt: Path,
    det: Path,
    protocols: tuple[tuple[str, ...], ...],
    options: InputOptions,
    work: opt.Work,
    out: Output,
    **published: Any,
) -> None:
    """Find the settings that give published figures: the commands that reproduce them.

    Tries the protocols with the settings that differ between programs in use. A setting fits if all
    figures agree in all digits given; else the nearest are listed.
    """
    from evaltex_cli.protocols import PROTOCOLS, config
    from evaltex_cli.reconciliation import figures, search

    given = figures.parsed(published)
    named = dict.fromkeys(name for listed in protocols for name in listed)
    names = list(PROTOCOLS) if opt.ALL in named else list(named)
    file = find_config()
    settings = config.read_config(file) if file else []
    base = {name: config.parameters_of(name, settings) for name in names}
    inputs = [str(gt), str(det)]
    for name, value in click.get_current_context().params.items():
        if name in opt.READING and value is not None:
            text = ",".join(value) if isinstance(value, tuple) else str(value)
            inputs += [opt.option_of(name), text]
    with work.workers() as ordered_map:
        found = search.search(gt, det, given, names, options, inputs, base, ordered_map)
    warn(found.warnings)
    out.show(found)
