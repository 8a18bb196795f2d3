"""How errors, warnings and hints are laid out: wrapped at the terminal's
columns, and a failed run on one screen.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from evaltex_cli.errors import FaultsError

MOST_LINES = 12
"""Lines of the errors of a failed run, unless `--all-faults` is given."""
_NARROWEST, _WITHOUT_TERMINAL = 40, 80
_ALL_FAULTS = "evaltex.all_faults"
_PLACE = r"[^'\s](?:[^:]|:(?! ))*?(?:[/\\](?:[^:]|:(?! ))*|\.\w{1,6}(?::\d+)*):(?= )"
_BLANK = "\0"


def _keep_all_faults(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta[_ALL_FAULTS] = value


all_faults_option = click.option(
    "--all-faults",
    is_flag=True,
    expose_value=False,
    callback=_keep_all_faults,
    help="List every fault of the inputs, not each kind once.",
)


def all_faults() -> bool:
    """Whether the running command is to list every fault."""
    context = click.get_current_context(silent=True)
    return context is not None and context.meta.get(_ALL_FAULTS, False)


def columns() -> int:
    """Columns of the terminal; 80 where there is none and COLUMNS is not set."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return max(int(given), _NARROWEST)
    try:  # as shutil does, which takes long to import
        found = os.get_terminal_size(sys.__stdout__.fileno()).columns  # type: ignore[union-attr]
    except (AttributeError, OSError, ValueError):
        found = 0
    return max(found or _WITHOUT_TERMINAL, _NARROWEST)


def message(kind: str, text: str) -> list[str]:
    """Return the lines of a message; further lines of the text are indented."""
    return _laid_out(f"evaltex: {kind}: ", text)


def wrapped_usage(text: str) -> str:
    """Return what is wrong with a command's arguments as click shows it, after ``Error: ``."""
    lead = "Error: "
    return "\n".join(_laid_out(lead, text)).removeprefix(lead)


def _laid_out(lead: str, text: str) -> list[str]:
    first, *others = map(_printable, text.split("\n"))
    more = (line for other in others for line in _wrapped("  ", other.strip()))
    return [*_wrapped(lead, first), *more]


def _printable(line: str) -> str:
    """Escape what a terminal obeys or leaves out, such as in the name of a file."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)


def _wrapped(lead: str, text: str) -> list[str]:
    """Wrap one line; the place that it begins with stays in one piece, like
    all that has no blank.
    """
    place = re.match(_PLACE, text)
    whole = place[0].replace(" ", _BLANK) if place else ""
    text = whole + text[len(whole) :]
    wrapped = textwrap.wrap(
        text,
        columns(),
        initial_indent=lead,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_BLANK, " ") for line in wrapped] or [lead.rstrip()]


def of_error(error: Exception) -> list[str]:
    """Return the lines of an error: of faults each kind once, and what to do to see more."""
    if not isinstance(error, FaultsError):
        return _within([message("error", line) for line in str(error).split("\n")], [])
    log = error.log
    hints = [message("hint", note) for note in log.notes]
    if all_faults():
        return _joined([*(message("error", fault) for fault in log.every()), *hints])
    if log.count > 1:
        hints.append(message("hint", _advice()))
    return _within([message("error", paragraph) for paragraph in log.paragraphs()], hints)


def _advice() -> str:
    import shlex  # which a run without a fault does without

    context = click.get_current_context(silent=True)
    given = context.params if context is not None else {}
    inputs = [given[name] for name in ("gt", "det") if isinstance(given.get(name), Path)]
    command = (
        f"`evaltex validate {shlex.join(map(str, inputs))}` says more; " if len(inputs) == 2 else ""
    )
    return f"{command}--all-faults lists every fault"


def _within(messages: Sequence[list[str]], hints: Sequence[list[str]]) -> list[str]:
    """Return as many messages as fit on the screen with the hints; of the
    first one as much as fits.
    """
    if all_faults():
        return _joined([*messages, *hints])
    room = MOST_LINES - len(_joined(hints))
    shown = 0
    while shown < len(messages) and len(_joined(messages[: shown + 1])) <= room:
        shown += 1
    if shown == len(messages):
        return _joined([*messages, *hints])
    while shown and len(_joined(messages[:shown])) >= room:
        shown -= 1
    kept = _joined(messages[:shown]) if shown else [*messages[0][: room - 1], "  ..."]
    left = len(messages) - max(shown, 1)
    more = [f"evaltex: error: ... and {left} more (--all-faults shows them)"] if left else []
    return [*kept[: room - len(more)], *more, *_joined(hints)]


def _joined(messages: Iterable[Sequence[str]]) -> list[str]:
    return [line for each in messages for line in each]
