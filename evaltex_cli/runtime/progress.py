"""How far long work has come. The work counts; only a command line looks at the count and shows it.

for file in tracked(files, "reading", "files", len(files)):
    ...
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(eq=False, repr=False)
class Phase:
    """A part of a command's work."""

    label: str
    """What is done: "reading ground truth"."""
    unit: str = ""
    """What is counted: "images"."""
    total: int = 0
    """How many there are; 0 if that is not known."""
    done: int = 0
    began: float = field(default_factory=time.monotonic)
    """In seconds of `time.monotonic`."""


_phases: list[Phase] = []
"""Those under way, in the order in which they began; one is within another,
or in another thread.
"""


@contextmanager
def phase(label: str, unit: str = "", total: int = 0) -> Iterator[Phase]:
    """Give a phase that is under way while the block runs; the block adds to its `done`."""
    one = Phase(label, unit, total)
    _phases.append(one)
    try:
        yield one
    finally:
        _phases.remove(one)


def tracked(items: Iterable[Item], label: str, unit: str, total: int) -> Iterator[Item]:
    """Yield the items and count them."""
    with phase(label, unit, total) as one:
        for item in items:
            yield item
            one.done += 1


def counted_until(
    results: Iterable[tuple[tuple[int, int], Item]], label: str, images: int
) -> Iterator[tuple[tuple[int, int], Item]]:
    """Yield ranges of images with their results; images are done up to the
    stop of the last range that was used.
    """
    with phase(label, "images", images) as one:
        for (start, stop), result in results:
            yield (start, stop), result
            one.done = stop


def current() -> Phase | None:
    """Return the outermost phase with a known total; without any, the one
    that began last of those under way.
    """
    phases = tuple(_phases)
    return next((one for one in phases if one.total), phases[-1] if phases else None)


def within(outer: Phase | None) -> Phase | None:
    """Return the phase with a known total that began last within another one."""
    phases = tuple(_phases)
    after = phases[phases.index(outer) + 1 :] if outer in phases else ()
    return next((one for one in reversed(after) if one.total), None)
