"""``evaltex protocols``."""

from __future__ import annotations

import json

import click

from evaltex_cli.cli.options import form_option
from evaltex_cli.cli.output import echo_table, error_exit
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.presets import PRESETS
from evaltex_cli.results import markup

EXAMPLES = ("evaltex protocols", "evaltex protocols --format csv")


@form_option
def command(form: str) -> None:
    """List the protocols, and the presets: the official rules of data sets.

    The table has one line for each. The other formats also have the options that a preset is the
    same as, and the formats of its official files, which decide where lines of numbers can be read
    as several formats. --protocol, --set and --invalid must not contradict a preset.
    """
    with error_exit():
        from evaltex_cli.protocols.base import load

        loaded = {name: load(name) for name in PROTOCOLS}
        titles = {name: one.title for name, one in loaded.items()}
        if form == "table":
            click.echo("Protocols (--protocol NAME), described in docs/protocols/NAME.md:")
            echo_table(titles)
            click.echo("\nPresets (--preset NAME), described in docs/presets.md:")
            echo_table({name: preset.title for name, preset in PRESETS.items()})
        elif form == "json":
            presets = {name: preset._asdict() for name, preset in PRESETS.items()}
            click.echo(json.dumps({"protocols": titles, "presets": presets}, indent=2))
        else:
            rows: list[tuple[str, ...]] = [("kind", "name", "title", "is the same as", "GT", "DET")]
            rows += [("protocol", name, title, "", "", "") for name, title in titles.items()]
            for name, preset in PRESETS.items():
                official = [", ".join(names) for names in (preset.gt_formats, preset.det_formats)]
                rows.append(("preset", name, preset.title, preset.options, *official))
            click.echo(markup.FORMS[form](rows), nl=False)
