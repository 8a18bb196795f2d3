"""How far long work is, in a bar that a command line provides."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Item = TypeVar("Item")
AFTER_SECONDS, EVERY_SECONDS = 1.0, 0.1

new_bar: ContextVar[Callable[..., Any] | None] = ContextVar("new_bar", default=None)
"""`click.progressbar` if the next phase may show a bar."""


@contextmanager
def phase(label: str, unit: str, total: int) -> Iterator[Callable[[int], None]]:
    """Give what counts units, such as "images", as done; a phase within another has no bar."""
    if (create := new_bar.get()) is None:
        yield lambda count: None
        return
    bar = create(length=total, label=f"{label} ({unit})")
    done, next_time = 0, time.monotonic() + AFTER_SECONDS

    def advance(count: int) -> None:
        nonlocal done, next_time
        done += count
        if time.monotonic() >= next_time or (bar.pos and done == total):
            next_time = time.monotonic() + EVERY_SECONDS
            bar.update(done - bar.pos)

    new_bar.set(None)
    try:
        yield advance
    finally:
        new_bar.set(create)
        if bar.pos:
            bar.render_finish()


def tracked(items: Iterable[Item], label: str, unit: str, total: int) -> Iterator[Item]:
    """Yield the items and count them."""
    with phase(label, unit, total) as advance:
        for item in items:
            yield item
            advance(1)
