"""The command line. Only this package imports click; commands are imported
when named, heavy modules inside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evaltex_cli.cli.output import add_common_options, error_exit, stop_for
from evaltex_cli.errors import nearest, quote

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["main", "stop_for"]
EVALUATE = "evaluate"
HELP_OPTIONS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
SUMMARIES: Mapping[str, str] = {
    "validate": "Report problems of ground truth and detections.",
    "compare": "Compare detectors: differences, intervals, p-values.",
    "rank": "Rank detectors: ties, and ranks with intervals.",
    "sweep": "Score every confidence threshold; choose one.",
    "reconcile": "Find the settings that give published figures.",
    "audit": "Find what may be wrong in the ground truth.",
    "diagnose": "Show where the score is lost, by error type and by size.",
    "report": "Write an HTML report of results, with every image.",
    "convert": "Write an input in another format.",
    "merge": "Merge the results of runs over disjoint images.",
    "toys": "Write toy detections, whose errors are known.",
    "formats": "List the formats that are read.",
    "protocols": "List the protocols and the presets.",
}
COMMANDS = tuple(SUMMARIES)
"""Those other than the plain form; each is the module of its name."""


class Entry(click.Group):
    """A group whose plain form, ``evaltex gt.txt det.txt res_dir``, is the command `evaluate`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            args = ["--help"]
        if args and args[0] not in (EVALUATE, *COMMANDS):
            if not ctx.resilient_parsing:
                _refuse_misspelt(args[0])
            args = [EVALUATE, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in (EVALUATE, *COMMANDS) and cmd_name not in self.commands:
            module = import_module(f"evaltex_cli.cli.{cmd_name}")
            examples = "".join(f"\n  {example}" for example in module.EXAMPLES)
            make_command = click.command(
                cmd_name,
                cls=PlainForm if cmd_name == EVALUATE else Command,
                context_settings=HELP_OPTIONS,
                short_help=SUMMARIES.get(cmd_name),
                epilog=f"\b\nExamples:{examples}",
            )
            command = make_command(module.command)
            add_common_options(command)
            self.add_command(command)
        return super().get_command(ctx, cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands that begin so, or have the shell look for a file."""
        from click.shell_completion import CompletionItem

        return super().shell_complete(ctx, incomplete) or [CompletionItem(incomplete, "file")]


def _refuse_misspelt(word: str) -> None:
    """Refuse a misspelt command, which would be taken for the ground truth."""
    if word.isalpha() and not Path(word).exists() and (hint := nearest(word, COMMANDS)):
        raise click.UsageError(f"no file and no command {quote(word)}{hint}")


class Command(click.Command):
    """A command whose errors are reported in one message, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        with error_exit(ctx):
            return super().invoke(ctx)


class PlainForm(Command):
    """`evaluate`, which shows itself as ``evaltex`` and lists the other commands in its help."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        return super().make_context("evaltex", args, parent=None, **extra)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands (`evaltex COMMAND --help` shows more)"):
            formatter.write_dl(list(SUMMARIES.items()))
        super().format_epilog(ctx, formatter)


@click.group(cls=Entry, context_settings=HELP_OPTIONS)
def main() -> None:
    """Evaluate text detections."""
