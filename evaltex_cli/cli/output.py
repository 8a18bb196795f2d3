"""What all commands print: results, warnings and errors."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import click

from evaltex_cli.cli.paths import OutputFile, OutputFolder, protected
from evaltex_cli.errors import EvaltexError, FaultsError, escaped
from evaltex_cli.evaluation.extras import Verdict
from evaltex_cli.runtime.marks import comment
from evaltex_cli.runtime.outputs import write_file
from evaltex_cli.runtime.progress import new_bar
from evaltex_cli.tables import FORMS, SCHEMA, Table, in_csv, in_text, json_document, wrapped
from evaltex_cli.tables.record import Record
from evaltex_cli.version import __version__

COLORS = {"error": "red", "warning": "yellow"}
"""Kinds of messages that have a colour on a terminal."""
NARROWEST = 40
"""Columns that a table may use, however narrow the terminal is."""


# Options of every command -------------------------------------------------------------------------


def add_common_options(command: click.Command) -> None:
    """Add the options that every command has, and that of all that write files."""
    if any(isinstance(param.type, OutputFile | OutputFolder) for param in command.params):
        click.option("--force", is_flag=True, help="Replace files that evaltex did not write.")(
            command
        )
    click.option("-q", "--quiet", is_flag=True, help="Print only warnings and errors.")(command)
    click.version_option(
        __version__, "-V", "--version", prog_name="evaltex", message="%(prog)s %(version)s"
    )(command)


def is_quiet() -> bool:
    """Whether the running command prints only warnings and errors."""
    return bool(click.get_current_context().meta["evaltex.quiet"])


# Errors, warnings and notes -----------------------------------------------------------------------


@contextmanager
def error_exit(ctx: click.Context) -> Iterator[None]:
    """Take the common options, check where a command writes, and report any error in one message.

    The exit status is 2 for bad input, and 130 when interrupted.
    """
    ctx.meta["evaltex.quiet"] = quiet = ctx.params.pop("quiet")
    force = ctx.params.pop("force", False)
    if os.environ.get("NO_COLOR"):
        ctx.color = False  # which click then removes from all that is printed
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files need not be Unicode
    if not quiet and sys.stderr is not None and sys.stderr.isatty():
        new_bar.set(partial(click.progressbar, show_pos=True, file=sys.stderr))
    try:
        with protected(force):
            yield
    except KeyboardInterrupt:
        click.echo("evaltex: interrupted", err=True)
        sys.exit(130)
    except FaultsError as error:
        _report(error)
        sys.exit(2)
    except EvaltexError as error:
        stop(str(error))
    except BrokenPipeError:
        _abandon_stdout()
        sys.exit(0)
    except OSError as error:
        stop_for(error)
    except MemoryError:
        stop("out of memory; use fewer --jobs, or a machine with more memory")
    except (click.exceptions.Exit, click.ClickException):
        raise
    except Exception as error:
        if os.environ.get("EVALTEX_DEBUG"):
            raise
        stop(
            f"internal error ({type(error).__name__}: {error}); please report it, with"
            " EVALTEX_DEBUG=1 for details"
        )
    finally:
        new_bar.set(None)


def stop(message: str) -> NoReturn:
    """End with an error message and exit status 2."""
    for line in message.split("\n"):
        echo_err("error", line)
    sys.exit(2)


def stop_for(error: OSError) -> NoReturn:
    """End with the message for an error of the system that nothing else has reported."""
    reason = error.strerror or error
    if error.filename is not None:
        stop(f"{error.filename}: {reason}; check the path and its permissions")
    _abandon_stdout()
    stop(f"cannot write to standard output or a file ({reason}); check where the output goes")


def _abandon_stdout() -> None:
    """Replace stdout, which failed: Python flushes it once more at exit."""
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115


def _report(error: FaultsError) -> None:
    """Print each kind of faults once, and what to do."""
    for text in error.log.paragraphs():
        echo_err("error", text)
    for hint in error.log.hints:
        echo_err("hint", hint)
    if len(error.log) > 1:
        echo_err("hint", "`evaltex validate --all-faults` lists every fault")


def warn(warnings: Sequence[str]) -> None:
    """Print each warning once."""
    for warning in dict.fromkeys(warnings):
        echo_err("warning", warning)


def note(text: str) -> None:
    """Print a note, unless the command is quiet."""
    if not is_quiet():
        echo_err("note", text)


def echo_err(kind: str, text: str) -> None:
    """Print a message of a kind to standard error; further lines of the text are indented."""
    first, *more = map(escaped, text.split("\n"))
    color = COLORS.get(kind)
    heading = click.style(f"{kind}:", fg=color, bold=True) if color else f"{kind}:"
    lines = [f"evaltex: {heading} {first}", *(f"  {line.strip()}" for line in more)]
    click.echo("\n".join(lines), err=True)


# Results ------------------------------------------------------------------------------------------


class Output(NamedTuple):
    """The form of a command's result, and the file that it goes to instead of stdout."""

    kind: str
    format: str
    output: Path | None

    def show(
        self, result: Record, tables: Sequence[Table] | None = None, schema: int = SCHEMA
    ) -> None:
        """Print a result unless the command is quiet, or write it to the file; `tables` are instead
        of the result's own.

        Every form but a table for reading and CSV bears the mark of its kind.
        """
        tables = result.tables() if tables is None else tables
        if self.format == "json":
            text = json_document(self.kind, result.to_dict(), schema)
        elif self.format == "csv":
            text = in_csv(next(iter(result.data().values()))())
        elif self.format == "table":
            text = in_text(tables, *terminal_of(self.output))
        else:
            mark = f"% evaltex {self.kind}" if self.format == "latex" else comment(self.kind)
            head = '<meta charset="utf-8">\n' if self.format == "html" else ""
            text = f"{mark}\n{head}{FORMS[self.format](tables).rstrip()}\n"
        if self.output is not None:
            write_file(self.output, text)
        elif not is_quiet():
            click.echo(text, nl=False)


@dataclass(frozen=True, repr=False)
class Listing(Record):
    """What evaltex knows: as tables, as one table for CSV, and as the members of JSON."""

    shown: Sequence[Table]
    table: Table
    document: Mapping[str, Any]

    def tables(self) -> Sequence[Table]:
        return self.shown

    def data(self) -> Mapping[str, Callable[[], Table]]:
        return {"list": lambda: self.table}

    def to_dict(self) -> dict[str, Any]:
        return dict(self.document)


def end(
    lines: Sequence[str], out: Output, verdicts: Sequence[Verdict] = (), unclear: str = "pass"
) -> None:
    """Print lines and the verdicts of gates below a result, and exit with 1 if a gate failed.

    A quiet command prints only the gates that did not pass; `unclear` says whether those fail that
    the evidence does not decide. What is printed goes to standard error if the
    result on standard output is for a program.
    """
    width, _ = terminal_of()
    shown = [] if is_quiet() else ["\n".join(wrapped(line, width, " " * 9)) for line in lines]
    for verdict in verdicts:
        if not (is_quiet() and verdict.passed):
            colour = {True: "green", False: "red", None: "yellow"}[verdict.passed]
            state = click.style(verdict.state, fg=colour)
            text = "\n".join(wrapped(f"Gate {verdict}", width, " " * 13))
            shown.append(text.replace(verdict.state, state, 1))
    is_for_program = out.format != "table" and out.output is None
    for text in shown:
        click.echo(text, err=is_quiet() or is_for_program)
    for verdict in verdicts:
        if verdict.passed is None and verdict.is_beyond and "GITHUB_ACTIONS" in os.environ:
            click.echo(f"::warning title=evaltex::{verdict}", err=True)
    failing = (False, None) if unclear == "fail" else (False,)
    if any(verdict.passed in failing for verdict in verdicts):
        sys.exit(1)


def say(line: str) -> None:
    """Print what a command has done, unless it is quiet."""
    if not is_quiet():
        click.echo(line)


def terminal_of(output: Path | None = None) -> tuple[int | None, bool]:
    """Return how many columns a text may have, and whether it has colours: none and False for a
    file or a pipe, which get whole lines.
    """
    if output is not None or sys.stdout is None or not sys.stdout.isatty():
        return None, False
    return max(shutil.get_terminal_size().columns, NARROWEST), not os.environ.get("NO_COLOR")
