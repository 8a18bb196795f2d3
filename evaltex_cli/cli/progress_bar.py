"""The progress bar on the terminal of a command that runs for longer than a second."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from evaltex_cli import progress

AFTER_SECONDS = 1.0
_EVERY_SECONDS = 0.1
_bars: list[Any] = []
"""The bar that is on the terminal, if there is one."""


@contextmanager
def shown(quiet: bool) -> Iterator[None]:
    """Show how far the work of the block is, if standard error is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    process, next_time = os.getpid(), time.monotonic() + AFTER_SECONDS

    def show(label: str, done: int, total: int) -> None:
        nonlocal next_time
        is_same = bool(_bars) and _bars[0].label == label
        is_last = is_same and done >= total
        if os.getpid() != process or (time.monotonic() < next_time and not is_last):
            return
        next_time = time.monotonic() + _EVERY_SECONDS
        if not is_same:
            end()
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
        end()


def end() -> None:
    """End the line of the bar, if there is one: other output follows."""
    while _bars:
        with suppress(OSError):
            _bars.pop().render_finish()
