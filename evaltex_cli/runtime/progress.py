"""How far long work has come. The work counts; only a command line shows the count.

for file in tracked(files, "reading", "files", len(files)):
    ...
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")


class Phase:
    """A part of a command's work, such as "reading", and its `total` of units, such as "images"."""

    def __init__(self, label: str, unit: str, total: int) -> None:
        self.label, self.unit, self.total = label, unit, total
        self.began = time.time()
        self._done = 0

    @property
    def done(self) -> int:
        """How many units are done; the listener hears of it if the phase is in no other one."""
        return self._done

    @done.setter
    def done(self, count: int) -> None:
        self._done = count
        if listener is not None and _phases[:1] == [self]:
            listener(self)


listener: Callable[[Phase], None] | None = None
"""What shows how far the outermost phase is."""
_phases: list[Phase] = []
"""Those under way, the outermost first."""


@contextmanager
def phase(label: str, unit: str, total: int) -> Iterator[Phase]:
    """Give a phase that is under way while the block runs; the block counts its `done`."""
    under_way = Phase(label, unit, total)
    _phases.append(under_way)
    try:
        yield under_way
    finally:
        _phases.remove(under_way)


def tracked(items: Iterable[Item], label: str, unit: str, total: int) -> Iterator[Item]:
    """Yield the items and count them."""
    with phase(label, unit, total) as counting:
        for item in items:
            yield item
            counting.done += 1


def counted_until(
    results: Iterable[tuple[tuple[int, int], Item]], label: str, images: int
) -> Iterator[tuple[tuple[int, int], Item]]:
    """Yield ranges of images with their results; images are done up to the stop of a range that was
    used.
    """
    with phase(label, "images", images) as counting:
        for (start, stop), result in results:
            yield (start, stop), result
            counting.done = stop
