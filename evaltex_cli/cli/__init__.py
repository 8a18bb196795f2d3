"""The command line. Only this package imports click; heavy modules are imported inside the commands."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli import compare, convert, diagnose, evaluate, merge, report, toys, validate
from evaltex_cli.cli.common import HELP_OPTIONS

EVALUATE = "evaluate"


class Entry(click.Group):
    """A group whose plain form, ``evaltex gt.txt det.txt res_dir``, is the command `evaluate`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in self.commands:
            self._refuse_misspelt(args)
            args = [EVALUATE, *args]
        return super().parse_args(ctx, args)

    def _refuse_misspelt(self, args: list[str]) -> None:
        """A command's name with a slip in it is no ground truth; nor is one after options."""
        word = next((word for word in args if not word.startswith("-")), "")
        if word and not Path(word).exists():
            close = difflib.get_close_matches(word, set(self.commands) - {EVALUATE}, n=1, cutoff=0.75)
            if close:
                raise click.UsageError(f"no file {word!r}; did you mean: evaltex {close[0]} ... (the command first)?")


class PlainForm(click.Command):
    """`evaluate`, which shows itself as plain ``evaltex`` and lists the other commands in its help."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> Any:
        return super().make_context("evaltex", args, parent=None, **extra)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        others = [(name, command) for name, command in main.commands.items() if name != EVALUATE]
        with formatter.section("Commands (evaltex COMMAND --help tells more)"):
            formatter.write_dl([(name, command.get_short_help_str(limit=70)) for name, command in others])


@click.group(cls=Entry, context_settings=HELP_OPTIONS)
def main() -> None:
    """Evaluate text detections."""


main.command(EVALUATE, cls=PlainForm, context_settings=HELP_OPTIONS, hidden=True)(evaluate.command)
main.command("compare", context_settings=HELP_OPTIONS)(compare.command)
main.command("convert", context_settings=HELP_OPTIONS)(convert.command)
main.command("diagnose", context_settings=HELP_OPTIONS)(diagnose.command)
main.command("merge", context_settings=HELP_OPTIONS)(merge.command)
main.command("report", context_settings=HELP_OPTIONS)(report.command)
main.command("toys", context_settings=HELP_OPTIONS)(toys.command)
main.command("validate", context_settings=HELP_OPTIONS)(validate.command)
