"""``evaltex formats``."""

from __future__ import annotations

import json

import click

from evaltex_cli.cli.options import form_option
from evaltex_cli.cli.output import echo_table, error_exit


@form_option("text", "json")
def command(form: str) -> None:
    """List the formats that are read, by their names for --gt-format and --det-format."""
    with error_exit():
        from evaltex_cli import formats

        titles = {name: formats.load(name).title for name in formats.FORMATS}
        if form == "json":
            click.echo(json.dumps(titles, indent=2))
        else:
            echo_table(titles)
