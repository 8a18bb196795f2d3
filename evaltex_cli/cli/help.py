"""``evaltex help [COMMAND]``."""

from __future__ import annotations

import click

from evaltex_cli.cli import COMMANDS, EVALUATE, main
from evaltex_cli.cli.names import Name
from evaltex_cli.cli.options import HELP_OPTIONS
from evaltex_cli.cli.pages import ALL_OPTIONS

EXAMPLES = ("evaltex help --all", "evaltex help compare")


@click.argument("name", metavar="[COMMAND]", type=Name("command", COMMANDS), required=False)
@click.option("--all", "has_all", is_flag=True, help="Show all options, also those that few need.")
@click.pass_context
def command(ctx: click.Context, name: str | None, has_all: bool) -> None:
    """Show the help of a command; without COMMAND, that of `evaltex GT DET`."""
    shown = main.get_command(ctx, name or EVALUATE)
    assert shown is not None
    page = click.Context(
        shown, info_name=name or "evaltex", parent=ctx.parent if name else None, **HELP_OPTIONS
    )
    page.meta[ALL_OPTIONS] = has_all
    click.echo(shown.get_help(page))
