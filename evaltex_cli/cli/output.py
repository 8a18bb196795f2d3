"""What all commands print: results, warnings and errors."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TextIO

import click

from evaltex_cli.cli import messages, progress_bar
from evaltex_cli.cli.paths import rules
from evaltex_cli.cli.terminal import columns
from evaltex_cli.errors import EvaltexError
from evaltex_cli.runtime import outputs, signals

COLORS = {"error:": "red", "warning:": "yellow"}
"""Kinds of messages that are in colour on a terminal."""
_ARE_OF_MEMORY = "failed to map segment", "can't allocate lock"
"""What is said of libraries that cannot be loaded, and by Python, for want of memory."""
_CALLBACK_SECONDS = 0.01
"""Until a signal comes again that Python has dropped: it should be out of what it called back."""


@contextmanager
def error_exit() -> Iterator[None]:
    """Check where a command writes, and report any error in one message.

    The exit status is 2 for bad input and 130 when interrupted.
    SIGTERM gives 143, SIGHUP 129 unless the process was started without it, for example by nohup.
    """
    handlers = {number: signal.getsignal(number) for number in signals.ENDING}
    heard = [number for number, handler in handlers.items() if handler is not signal.SIG_IGN]
    _end_at(heard)
    report = sys.unraisablehook
    sys.unraisablehook = lambda dropped: _end_again(heard, dropped) or report(dropped)
    try:
        quiet = click.get_current_context().params.get("quiet", False)
        with (
            _short_memory_reported(),
            _reported(),
            _unwrapped(),
            outputs.guarded(rules()),
            progress_bar.shown(quiet),
        ):
            yield
    except KeyboardInterrupt:
        _echo_err([f"evaltex: interrupted; {_is_written()}"])
        sys.exit(130)
    finally:
        sys.unraisablehook = report
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _end_at(numbers: Iterable[int]) -> None:
    for number in numbers:
        signal.signal(number, _end)


def _end_again(heard: Iterable[int], dropped: Any) -> bool:
    """Have a signal come again if it came while Python called back, as when an object is freed:
    what is raised there is dropped. Return whether that is what was dropped.
    """
    end = dropped.exc_value
    if not isinstance(end, KeyboardInterrupt | SystemExit):
        return False
    _end_at(heard)
    number = int(end.code or 128) - 128 if isinstance(end, SystemExit) else signal.SIGINT
    threading.Timer(_CALLBACK_SECONDS, os.kill, (os.getpid(), number)).start()
    return True


def _end(number: int, _: object) -> NoReturn:
    """End what is under way; further signals (`timeout` sends two) do not
    disturb the cleaning up.
    """
    for each in signals.ENDING:
        signal.signal(each, signal.SIG_IGN)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


@contextmanager
def _reported() -> Iterator[None]:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files need not be Unicode
    try:
        yield
    except EvaltexError as error:
        complete = messages.message("note", _is_written()) if outputs.complete else []
        _end_with([*messages.of_error(error), *complete])
    except BrokenPipeError:
        _abandon_stdout()
        sys.exit(0)
    except OSError as error:
        stop(cause_of(error))
    except (click.exceptions.Exit, click.ClickException, SystemExit, MemoryError):
        raise
    except Exception as error:
        if os.environ.get("EVALTEX_DEBUG"):
            raise
        stop(
            f"internal error ({type(error).__name__}: {error}); please report it, with"
            " EVALTEX_DEBUG=1 for details"
        )


@contextmanager
def _unwrapped() -> Iterator[None]:
    """Raise what ends a command as it is. If a signal arrives, or memory runs out, while a class is
    made or a library is loaded, Python may raise another error instead.
    """
    try:
        yield
    except (RuntimeError, ImportError) as error:
        if isinstance(error.__cause__, (KeyboardInterrupt, SystemExit, MemoryError)):
            raise error.__cause__ from None
        if any(words in str(error) for words in _ARE_OF_MEMORY):
            raise MemoryError from error
        raise


def cause_of(error: OSError) -> str:
    """Return the message of what the system refused, if nothing that knows more has reported it."""
    reason = error.strerror or error
    if error.filename is not None:
        return f"{error.filename}: {reason}; check the path and its permissions"
    try:
        os.getcwd()  # noqa: PTH109
    except OSError:
        return "the current folder is no longer there; change to another one"
    return f"standard output, or a file, cannot be used ({reason}); see where it leads"


@contextmanager
def _short_memory_reported() -> Iterator[None]:
    """Report it; without colour and wrapping if there is no memory for these either."""
    try:
        yield
    except MemoryError:
        message = f"out of memory; {_is_written()}"
        try:
            stop(message)
        except MemoryError:
            os.write(2, f"evaltex: error: {message}\n".encode())
            sys.exit(2)


def _is_written() -> str:
    paths = [str(path) for path in outputs.complete]
    if len(paths) < 2:
        return f"{paths[0]} is complete" if paths else "nothing was written"
    return f"{', '.join(paths[:-1])} and {paths[-1]} are complete"


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


def write_output(text: str | Iterable[str], output: Path | None) -> None:
    """Write the output of a command, a text or its pieces, to a file or to stdout."""
    if output is None:
        progress_bar.end()
        for piece in [text] if isinstance(text, str) else text:
            click.echo(piece, nl=False)
        return
    from evaltex_cli.runtime.atomic_output import write_file

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
