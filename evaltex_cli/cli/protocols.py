"""``evaltex protocols``."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from evaltex_cli.cli.options import form_option
from evaltex_cli.cli.output import echo_table, error_exit
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.presets import PRESETS


@form_option("text", "json")
def command(form: str) -> None:
    """List the protocols, and the presets: the official rules of data sets.

    A preset is the options that follow it in the list; --set, --invalid and --protocol must not contradict it. Its
    formats are those of the official files. They decide where lines of numbers can be read as several formats; input in
    other formats is read, too.
    """
    with error_exit():
        from evaltex_cli.protocols.base import load

        titles = {name: load(name).title for name in PROTOCOLS}
        if form == "json":
            presets = {name: asdict(preset) for name, preset in PRESETS.items()}
            click.echo(json.dumps({"protocols": titles, "presets": presets}, indent=2))
            return
        click.echo("Protocols (--protocol NAME):")
        echo_table(titles)
        click.echo("\nPresets (--preset NAME):")
        rows = {}
        for name, preset in PRESETS.items():
            gt, det = (", ".join(found) for found in (preset.gt_formats, preset.det_formats))
            rows[name] = f"{preset.title}: {preset.options}; formats: GT {gt}, DET {det}"
        echo_table(rows)
