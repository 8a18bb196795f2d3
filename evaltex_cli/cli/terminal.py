"""The terminal: how wide it is, and whether what is printed has colours."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from evaltex_cli.results.screen import Screen

_NARROWEST = 40


def _choose_color(ctx: click.Context, _: click.Parameter, value: str) -> None:
    """Make the choice known to click, which removes colours from what is printed if it is False."""
    if value == "auto":
        is_refused = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        ctx.color = False if is_refused else None
    else:
        ctx.color = value == "always"


def color_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option that every command has."""
    return click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"], case_sensitive=False),
        default="auto",
        show_default=True,
        is_eager=True,
        expose_value=False,
        callback=_choose_color,
        help="Whether to print colours.",
    )(command)


def columns() -> int:
    """Return the columns of the terminal; 80 where there is none and COLUMNS is not set."""
    import shutil

    return max(shutil.get_terminal_size().columns, _NARROWEST)


def screen(output: Path | None = None) -> Screen:
    """Return what stdout shows, or what a file that is written instead of it should have."""
    if output is not None:
        return Screen()
    color = click.get_current_context().color
    return Screen(columns(), sys.stdout.isatty() if color is None else color)
