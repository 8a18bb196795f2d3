"""The command line. Only this package imports click; commands are imported
when named, heavy modules inside them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evaltex_cli.cli.messages import wrapped_usage
from evaltex_cli.cli.names import completion_item
from evaltex_cli.cli.options import HELP_OPTIONS
from evaltex_cli.cli.output import cause_of, stop
from evaltex_cli.cli.pages import Command
from evaltex_cli.cli.terminal import color_option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["cause_of", "main", "stop"]
EVALUATE = "evaluate"
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
    "completion": "Print the script that completes commands in a shell.",
    "help": "Show the help of a command.",
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
                self._refuse_misspelt(args)
            args = [EVALUATE, *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what is wrong with its arguments fits the terminal."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise _wrapped(error.format_message(), error.ctx) from error

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in (EVALUATE, *COMMANDS) and cmd_name not in self.commands:
            module = import_module(f"evaltex_cli.cli.{cmd_name}")
            kind = PlainForm if cmd_name == EVALUATE else Command
            made = click.command(
                cmd_name,
                cls=kind,
                context_settings=HELP_OPTIONS,
                short_help=SUMMARIES.get(cmd_name),
                examples=module.EXAMPLES,
            )
            self.add_command(made(color_option(module.command)))
        return super().get_command(ctx, cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return what the first word may be: an option of the plain form, a command or a file.

        Shells look for files themselves if they get nothing else; next to commands, files have to
        be among the names.
        """
        plain_form = self.get_command(ctx, EVALUATE)
        if incomplete.startswith("-") and plain_form is not None:
            return plain_form.shell_complete(
                plain_form.make_context(None, [], resilient_parsing=True), incomplete
            )
        named = [
            completion_item(name, about=text)
            for name, text in SUMMARIES.items()
            if name.startswith(incomplete)
        ]
        if not named:
            return [completion_item(incomplete, "file")]
        files = sorted(os.listdir()) if incomplete else []
        return [*named, *(completion_item(name) for name in files if name.startswith(incomplete))]

    def _refuse_misspelt(self, args: list[str]) -> None:
        """Refuse a misspelt command, which would be taken for the ground
        truth; also one after options.
        """
        word = next((word for word in args if not word.startswith("-")), "")
        if word and not Path(word).exists():
            import difflib  # which a run without a fault does without

            close = difflib.get_close_matches(word, COMMANDS, n=1, cutoff=0.75)
            if close:
                raise _wrapped(
                    f"no file {word!r}; did you mean: evaltex {close[0]} ... (the command first)?"
                )
            if args[0] == word and all(Path(other).is_file() for other in (*args[1:3], ".")[:2]):
                raise _wrapped(
                    f"no file {word!r}, and no command; give GT DET [RES_DIR], or a command that"
                    " `evaltex --help` lists"
                )


def _wrapped(text: str, ctx: click.Context | None = None) -> click.UsageError:
    """What is wrong with the arguments, in lines that fit the terminal."""
    return click.UsageError(wrapped_usage(text), ctx)


class PlainForm(Command):
    """`evaluate`, which shows itself as plain ``evaltex`` and lists the other
    commands in its help.
    """

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> Any:
        return super().make_context("evaltex", args, parent=None, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, with numpy imported first: farther down the stack, Python 3.11 gets and
        gives back memory for nearly every call in it. Not if processes are to be started, which
        then import it at the same time.
        """
        if ctx.params["jobs"] == 1:
            import numpy  # noqa: F401

        return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[OPTIONS] GT DET [RES_DIR [GT_IMG_DIR DET_IMG_DIR]]"]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands (`evaltex help COMMAND` shows more)"):
            formatter.write_dl(list(SUMMARIES.items()))
        super().format_epilog(ctx, formatter)


@click.group(cls=Entry, context_settings=HELP_OPTIONS)
def main() -> None:
    """Evaluate text detections."""
