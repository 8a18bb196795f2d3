"""What all commands print: results, warnings, errors, and a progress bar."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TextIO

import click

from evaltex_cli.cli.paths import Input, protected
from evaltex_cli.errors import EvaltexError, FaultsError, escaped
from evaltex_cli.results.extras import Verdict
from evaltex_cli.runtime import progress
from evaltex_cli.runtime.marks import comment
from evaltex_cli.runtime.outputs import write_file
from evaltex_cli.tables import FORMS, SCHEMA, Table, in_csv, in_text, json_document, wrapped
from evaltex_cli.tables.record import Record
from evaltex_cli.version import __version__

COLORS = {"error:": "red", "warning:": "yellow"}
"""Kinds of messages that have a colour on a terminal."""
NARROWEST = 40
"""Columns that a table may use, however narrow the terminal is."""
BAR_AFTER_SECONDS, BAR_EVERY_SECONDS = 1.0, 0.1
_bars: list[Any] = []
"""The progress bar on the terminal, if there is one."""


# Options of every command -------------------------------------------------------------------------


def _keep(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.meta[f"evaltex.{param.name}"] = value


def _choose_color(ctx: click.Context, _: click.Parameter, value: str) -> None:
    """Tell click, which removes colours from what is printed if `ctx.color` is False."""
    ctx.color = None if value == "auto" else value == "always"
    if value == "auto" and (os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"):
        ctx.color = False


def _flag(help_text: str, *names: str) -> Callable[[Any], Any]:
    return click.option(*names, is_flag=True, expose_value=False, callback=_keep, help=help_text)


def add_common_options(command: click.Command) -> None:
    """Add the options that every command has, and those of all that read or write files."""
    types = [param.type for param in command.params]
    if any(isinstance(kind, click.Path) and not isinstance(kind, Input) for kind in types):
        _flag("Replace files that evaltex did not write.", "--force")(command)
    if any(isinstance(kind, Input) for kind in types):
        _flag("List every fault of the inputs, not each kind once.", "--all-faults")(command)
    _flag("Print only warnings and errors.", "-q", "--quiet")(command)
    click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"], case_sensitive=False),
        default="auto",
        show_default=True,
        is_eager=True,
        expose_value=False,
        callback=_choose_color,
        help="Whether to print colours.",
    )(command)
    click.version_option(
        __version__, "-V", "--version", prog_name="evaltex", message="%(prog)s %(version)s"
    )(command)


def is_set(flag: str) -> bool:
    """Whether the running command has the flag `quiet`, `force` or `all_faults`."""
    context = click.get_current_context(silent=True)
    return context is not None and context.meta.get(f"evaltex.{flag}", False)


# Errors and warnings ------------------------------------------------------------------------------


@contextmanager
def error_exit() -> Iterator[None]:
    """Check where a command writes, and report any error in one message.

    The exit status is 2 for bad input, 130 when interrupted and 143 for SIGTERM.
    """
    wanted = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: lambda *_: sys.exit(143)}
    before = {
        number: signal.signal(number, handler)
        for number, handler in wanted.items()
        if signal.getsignal(number) is not signal.SIG_IGN  # as nohup and & have it
    }
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files need not be Unicode
    try:
        with protected(is_set("force")), progress_bar(is_set("quiet")):
            yield
    except EvaltexError as error:
        _stop(_of_error(error))
    except KeyboardInterrupt:
        _echo_err(["evaltex: interrupted"])
        sys.exit(130)
    except BrokenPipeError:
        _abandon_stdout()
        sys.exit(0)
    except OSError as error:
        stop(cause_of(error))
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
        for number, handler in before.items():
            signal.signal(number, handler)


def cause_of(error: OSError) -> str:
    """Return the message for an error of the system that nothing else has reported."""
    reason = error.strerror or error
    if error.filename is not None:
        return f"{error.filename}: {reason}; check the path and its permissions"
    return f"cannot write to standard output or a file ({reason}); check where the output goes"


def stop(message: str) -> NoReturn:
    """End with an error message and exit status 2."""
    _stop(_of_error(EvaltexError(message)))


def _stop(lines: Sequence[str]) -> NoReturn:
    _echo_err(lines)
    try:
        sys.stdout.flush()
    except OSError:
        _abandon_stdout()
    sys.exit(2)


def warn(warnings: Sequence[str]) -> None:
    """Print each warning once."""
    for warning in dict.fromkeys(warnings):
        echo_err("warning", warning)


def echo_err(kind: str, text: str) -> None:
    """Print a message of a kind, such as a note, to standard error."""
    _echo_err(message(kind, text))


def message(kind: str, text: str) -> list[str]:
    """Return the lines of a message; further lines of the text are indented."""
    first, *more = map(escaped, text.split("\n"))
    return [f"evaltex: {kind}: {first}", *(f"  {line.strip()}" for line in more)]


def _of_error(error: Exception) -> list[str]:
    """Return the lines of an error: each kind of faults once, and what to do to see more."""
    if not isinstance(error, FaultsError):
        return [line for text in str(error).split("\n") for line in message("error", text)]
    log, hints = error.log, list(error.log.hints)
    if len(log) > 1 and not is_set("all_faults"):
        hints.append("--all-faults lists every fault; `evaltex validate` says more")
    texts = map(str, log) if is_set("all_faults") else log.paragraphs()
    lines = [line for text in texts for line in message("error", text)]
    return lines + [line for hint in hints for line in message("hint", hint)]


def _echo_err(lines: Sequence[str]) -> None:
    """Print lines to standard error; if that fails, there is nowhere to report it."""
    try:
        _end_bar()
        click.echo("\n".join(map(_colored, lines)), err=True)
    except OSError:
        sys.stderr = _nowhere()


def _colored(line: str) -> str:
    for kind, color in COLORS.items():
        if line.startswith(f"evaltex: {kind}"):
            return line.replace(kind, click.style(kind, fg=color, bold=True), 1)
    return line


# Results ------------------------------------------------------------------------------------------


class Output(NamedTuple):
    """The form of a command's result, and the file that it goes to instead of stdout."""

    kind: str
    form: str
    output: Path | None

    def show(
        self, result: Record, tables: Sequence[Table] | None = None, schema: int = SCHEMA
    ) -> None:
        """Print a result, or write it to the file; `tables` are instead of the result's own.

        Every form but a table for reading and CSV bears the mark of its kind.
        """
        tables = result.tables() if tables is None else tables
        if self.form == "json":
            text = json_document(self.kind, result.to_dict(), schema)
        elif self.form == "csv":
            text = in_csv(next(iter(result.data().values()))())
        elif self.form == "table":
            text = in_text(tables, *terminal_of(self.output))
        else:
            mark = f"% evaltex {self.kind}" if self.form == "latex" else comment(self.kind)
            head = '<meta charset="utf-8">\n' if self.form == "html" else ""
            text = f"{mark}\n{head}{FORMS[self.form](tables).rstrip()}\n"
        self.write(text)

    def write(self, text: str) -> None:
        """Print a text, unless the command is quiet, or write it to the file."""
        if self.output is not None:
            write_file(self.output, text)
        elif not is_set("quiet"):
            _end_bar()
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


def print_below(lines: Sequence[str], out: Output, verdicts: Sequence[Verdict] = ()) -> None:
    """Print lines below a result, and what gates say; if quiet, only the gates that failed.

    They go to standard error where the result on standard output is for a program.
    """
    width, has_color = terminal_of()
    is_quiet = is_set("quiet")
    shown = [part for line in lines for part in wrapped(line, width, " " * 9) if not is_quiet]
    for verdict in verdicts:
        if not (is_quiet and verdict.passed):
            first, *more = wrapped(f"Gate {verdict}", width, " " * 13)
            color = "green" if verdict.passed else "red"
            state = click.style(verdict.state, fg=color) if has_color else verdict.state
            shown += [first.replace(verdict.state, state, 1), *more]
    is_for_program = out.form != "table" and out.output is None
    _echo(shown, to_stderr=is_quiet or is_for_program)


def say(line: str) -> None:
    """Print what a command has done, unless it is quiet."""
    if not is_set("quiet"):
        _echo([line])


def _echo(lines: Sequence[str], to_stderr: bool = False) -> None:
    """Print lines; a closed pipe is not an error."""
    _end_bar()
    try:
        for line in lines:
            click.echo(line, err=to_stderr)
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon_stdout()


def terminal_of(output: Path | None = None) -> tuple[int | None, bool]:
    """Return how many columns a text may have, and whether it has colours: none and False for a
    file or a pipe, which get whole lines.
    """
    color = click.get_current_context().color
    is_terminal = output is None and sys.stdout.isatty()
    has_color = output is None and (is_terminal if color is None else color)
    width = max(shutil.get_terminal_size().columns, NARROWEST)
    return width if is_terminal else None, has_color


def _abandon_stdout() -> None:
    sys.stdout = _nowhere()


def _nowhere() -> TextIO:
    """Return what takes the place of a stream that fails: Python flushes it once more at exit."""
    return Path(os.devnull).open("w")


# Progress -----------------------------------------------------------------------------------------


@contextmanager
def progress_bar(quiet: bool) -> Iterator[None]:
    """Show how far the work of the block is, after a second, if standard error is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    process, next_time = os.getpid(), time.monotonic() + BAR_AFTER_SECONDS

    def show(label: str, done: int, total: int) -> None:
        nonlocal next_time
        bar = _bars[0] if _bars else None
        is_same = bar and (bar.label, bar.length) == (label, total) and done >= bar.pos
        is_last = is_same and done >= total
        if os.getpid() != process or (time.monotonic() < next_time and not is_last):
            return
        next_time = time.monotonic() + BAR_EVERY_SECONDS
        if not is_same:
            _end_bar()
            _bars.append(
                click.progressbar(length=total, label=label, show_pos=True, file=sys.stderr)
            )
        with suppress(OSError):  # a terminal that is gone
            _bars[0].update(done - _bars[0].pos)

    progress.listener = show
    try:
        yield
    finally:
        progress.listener = None
        _end_bar()


def _end_bar() -> None:
    """End the line of the bar, if there is one: other output follows."""
    while _bars:
        with suppress(OSError):
            _bars.pop().render_finish()
