"""The command line. Only this package imports click; commands are imported when named, heavy modules inside them."""

from __future__ import annotations

import difflib
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli.options import HELP_OPTIONS
from evaltex_cli.cli.output import stop
from evaltex_cli.cli.terminal import color_option

__all__ = ["main", "stop"]
EVALUATE = "evaluate"
COMMANDS = ("compare", "convert", "diagnose", "formats", "merge", "protocols", "report", "toys", "validate")
"""Those other than the plain form; each is the module of its name."""


class Entry(click.Group):
    """A group whose plain form, ``evaltex gt.txt det.txt res_dir``, is the command `evaluate`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in (EVALUATE, *COMMANDS):
            self._refuse_misspelt(args)
            args = [EVALUATE, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in (EVALUATE, *COMMANDS) and cmd_name not in self.commands:
            function = import_module(f"evaltex_cli.cli.{cmd_name}").command
            kind = PlainForm if cmd_name == EVALUATE else click.Command
            self.add_command(click.command(cmd_name, cls=kind, context_settings=HELP_OPTIONS)(color_option(function)))
        return super().get_command(ctx, cmd_name)

    def _refuse_misspelt(self, args: list[str]) -> None:
        """Refuse a misspelt command, which would be taken for the ground truth; also one after options."""
        word = next((word for word in args if not word.startswith("-")), "")
        if word and not Path(word).exists():
            close = difflib.get_close_matches(word, COMMANDS, n=1, cutoff=0.75)
            if close:
                raise click.UsageError(f"no file {word!r}; did you mean: evaltex {close[0]} ... (the command first)?")


class PlainForm(click.Command):
    """`evaluate`, which shows itself as plain ``evaltex`` and lists the other commands in its help."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> Any:
        return super().make_context("evaltex", args, parent=None, **extra)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        others = [command for name in COMMANDS if (command := main.get_command(ctx, name))]
        with formatter.section("Commands (more: evaltex COMMAND --help)"):
            formatter.write_dl([(str(command.name), command.get_short_help_str(limit=70)) for command in others])


@click.group(cls=Entry, context_settings=HELP_OPTIONS)
def main() -> None:
    """Evaluate text detections."""
