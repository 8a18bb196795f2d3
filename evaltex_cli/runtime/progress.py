"""How far long work has come. The work counts; only a command line shows the count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")

listener: Callable[[str, int, int], None] | None = None
"""Gets the label of the outermost phase, how many of its units are done, and of how many."""
_phases: list[str] = []


@contextmanager
def phase(label: str, unit: str, total: int) -> Iterator[Callable[[int], None]]:
    """Give what counts units, such as "images", as done; phases within another are not shown."""
    done, is_outermost = 0, not _phases

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if listener is not None and is_outermost:
            listener(f"{label} ({unit})", done, total)

    _phases.append(label)
    try:
        yield advance
    finally:
        _phases.pop()


def tracked(items: Iterable[Item], label: str, unit: str, total: int) -> Iterator[Item]:
    """Yield the items and count them."""
    with phase(label, unit, total) as advance:
        for item in items:
            yield item
            advance(1)
