"""What all commands print: results, warnings and errors."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, TextIO

import click

from evaltex_cli.cli import messages, progress_bar
from evaltex_cli.cli.paths import protected
from evaltex_cli.cli.terminal import columns
from evaltex_cli.errors import EvaltexError

COLORS = {"error:": "red", "warning:": "yellow"}
"""Kinds of messages that are in colour on a terminal."""


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
    try:
        quiet = click.get_current_context().params.get("quiet", False)
        with _reported(), protected(), progress_bar.shown(quiet):
            yield
    except KeyboardInterrupt:
        _echo_err(["evaltex: interrupted"])
        sys.exit(130)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _reported() -> Iterator[None]:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files need not be Unicode
    try:
        yield
    except EvaltexError as error:
        _end_with(messages.of_error(error))
    except BrokenPipeError:
        _abandon_stdout()
        sys.exit(0)
    except OSError as error:
        stop(cause_of(error))
    except MemoryError:
        stop("out of memory; use fewer --jobs, or a machine with more memory")
    except (click.exceptions.Exit, click.ClickException, SystemExit):
        raise
    except Exception as error:
        if os.environ.get("EVALTEX_DEBUG"):
            raise
        stop(
            f"internal error ({type(error).__name__}: {error}); please report it, with"
            " EVALTEX_DEBUG=1 for details"
        )


def cause_of(error: OSError) -> str:
    """Return the message for an error of the system that nothing else has reported."""
    reason = error.strerror or error
    if error.filename is not None:
        return f"{error.filename}: {reason}; check the path and its permissions"
    return f"standard output, or a file, cannot be used ({reason}); see where it leads"


def stop(message: str) -> NoReturn:
    """End with an error message and exit status 2."""
    _end_with(messages.of_error(EvaltexError(message)))


def _end_with(lines: Sequence[str]) -> NoReturn:
    _echo_err(lines)
    try:
        sys.stdout.flush()
    except OSError:
        _abandon_stdout()
    sys.exit(2)


def echo_err(kind: str, text: str) -> None:
    """Print a message of a kind, such as a note, to standard error."""
    _echo_err(messages.message(kind, text))


def _echo_err(lines: Sequence[str]) -> None:
    """Print lines to standard error; if that fails, there is nowhere to report it."""
    try:
        progress_bar.end()
        click.echo("\n".join(map(_colored, lines)), err=True)
    except OSError:
        sys.stderr = _nowhere()


def _colored(line: str) -> str:
    """Return a line with the kind of its message in colour, which click
    removes if stderr is no terminal.
    """
    lead, kind, text = line.partition(
        next((kind for kind in COLORS if line.startswith(f"evaltex: {kind}")), "\n")
    )
    return lead + click.style(kind, fg=COLORS[kind], bold=True) + text if kind else line


def echo_lines(lines: Sequence[str], to_stderr: bool = False) -> None:
    """Print lines; a closed pipe is not an error."""
    progress_bar.end()
    try:
        for line in lines:
            click.echo(line, err=to_stderr)
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon_stdout()


def write_output(text: str, output: Path | None) -> None:
    """Write the output of a command to a file or to stdout."""
    if output is None:
        progress_bar.end()
        click.echo(text, nl=False)
        return
    from evaltex_cli.runtime.outputs import write_file

    write_file(output, text)


def _abandon_stdout() -> None:
    sys.stdout = _nowhere()


def _nowhere() -> TextIO:
    """Return what takes the place of a stream that fails: Python flushes it once more at exit."""
    return Path(os.devnull).open("w")


def warn(warnings: Sequence[str]) -> None:
    """Print each warning once."""
    for warning in dict.fromkeys(warnings):
        echo_err("warning", warning)


def echo_table(rows: Mapping[str, str]) -> None:
    """Print names, each with its text behind it, in lines that fit the terminal."""
    formatter = click.HelpFormatter(width=columns())
    with formatter.indentation():
        formatter.write_dl(list(rows.items()))
    click.echo(formatter.getvalue(), nl=False)
