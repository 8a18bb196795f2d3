"""The manual page evaltex(1), made of the declarations that the help is made of.

`setup.py` writes it into the wheel; ``python -m evaltex_cli.cli.manual > evaltex.1`` prints it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from evaltex_cli.cli import COMMANDS, EVALUATE, SUMMARIES, main
from evaltex_cli.cli.pages import Command, names_of, text_of
from evaltex_cli.version import __version__

STATUSES = {
    "0": "Success; problems that `validate` finds are warnings at most.",
    "1": "A gate of --fail-if is not met. All results are written.",
    "2": "The command line or an input is wrong. Nothing is written.",
    "130, 143, 129": "Ended by a signal (interrupt, SIGTERM, SIGHUP).",
}


def page() -> str:
    """Return the page in the macros of man."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    plain, commands = _command(EVALUATE), [_command(name) for name in COMMANDS]
    yield f'.TH EVALTEX 1 "" "evaltex {__version__}" "User Commands"'
    yield from (
        ".SH NAME",
        r"evaltex \- score text detections against ground truth",
        ".SH SYNOPSIS",
    )
    for command in (plain, *commands):
        yield from (".br", _usage(command))
    yield ".SH DESCRIPTION"
    yield from _paragraphs(plain)
    yield ".SH OPTIONS"
    for title, options in plain.groups(_context(plain), True):
        yield from (f'.SS "{title}"', *_options(options))
    yield ".SH COMMANDS"
    for command in commands:
        yield from (
            f'.SS "{_plain(SUMMARIES[str(command.name)])}"',
            _usage(command),
            ".PP",
            *_paragraphs(command),
        )
        for _, options in command.groups(_context(command), True):
            yield from _options(options)
    yield ".SH EXAMPLES"
    for command in (plain, *commands):
        yield from (
            line for example in command.examples for line in (".PP", ".nf", _plain(example), ".fi")
        )
    yield ".SH EXIT STATUS"
    for status, meaning in STATUSES.items():
        yield from (".TP", _bold(status), _plain(meaning))
    yield from (".SH FILES", ".TP", _bold("./evaltex.ini"))
    yield (
        "Parameters of the protocols, read if it is in the current folder and no --config is given."
    )


def _command(name: str) -> Command:
    found = main.get_command(click.Context(main), name)
    assert isinstance(found, Command)
    return found


def _context(command: Command) -> click.Context:
    name = None if command.name == EVALUATE else click.Context(main, info_name="evaltex")
    return click.Context(command, info_name=command.name if name else "evaltex", parent=name)


def _usage(command: Command) -> str:
    context = _context(command)
    return (
        f"{_bold(context.command_path)} {_plain(' '.join(command.collect_usage_pieces(context)))}"
    )


def _paragraphs(command: Command) -> Iterator[str]:
    for k, paragraph in enumerate(inspect.cleandoc(command.help or "").split("\n\n")):
        yield from ([".PP"] if k else [])
        yield _plain(" ".join(paragraph.split("\n")))


def _options(options: list[click.Option]) -> Iterator[str]:
    for option in options:
        yield from (".TP", _bold(names_of(option)), _plain(text_of(option)))


def _bold(text: str) -> str:
    return rf"\fB{_escaped(text)}\fR"


def _plain(text: str) -> str:
    """Return a text as a line that is no request."""
    return rf"\&{_escaped(text)}" if text.startswith((".", "'")) else _escaped(text)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\e").replace("-", r"\-").replace("`", r"\`")


if __name__ == "__main__":
    print(page(), end="")
