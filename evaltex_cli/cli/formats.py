"""``evaltex formats``."""

from __future__ import annotations

import json

import click

from evaltex_cli import formats
from evaltex_cli.cli.options import form_option
from evaltex_cli.cli.output import echo_table, error_exit
from evaltex_cli.results import markup

EXAMPLES = ("evaltex formats", "evaltex formats --format json")


@form_option
def command(form: str) -> None:
    """List the formats that are read, by their names for --gt-format, --det-format and --from."""
    with error_exit():
        titles = {name: formats.load(name).title for name in formats.FORMATS}
        if form == "table":
            click.echo("Formats (--gt-format, --det-format, --from), described in docs/formats.md:")
            echo_table(titles)
        elif form == "json":
            click.echo(json.dumps(titles, indent=2))
        else:
            click.echo(markup.FORMS[form]([("format", "title"), *titles.items()]), nl=False)
