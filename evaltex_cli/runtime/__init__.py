"""Signals, processes and files. Nothing here knows what text detection is.

Code that has work to do calls ``ordered_map(function, items)``, which returns what `map` does: that
is the only difference between one process, several (`workers`) and a cluster (`cluster`).
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

_COLLECTED_EVERY = (1 << 18, 50, 100)
"""Containers made, net, before Python looks for cycles among the young ones; how often it does
before it looks at older ones, and at all.
"""
_FREED_BYTES = 1 << 23

Item = TypeVar("Item")
Result = TypeVar("Result")


class OrderedMap(Protocol):
    """What `map` is: results of a function, in the order of the items."""

    def __call__(
        self, function: Callable[[Item], Result], items: Iterable[Item], /
    ) -> Iterator[Result]: ...


def is_elsewhere(ordered_map: OrderedMap) -> bool:
    """Whether the work is done by other machines, which know no relative path."""
    return getattr(ordered_map, "is_elsewhere", False)


def collect_rarely() -> None:
    """Have this process look for cycles of references less often than Python's default.

    Results are millions of small lists and records without cycles, and to look through them takes
    as long as half of all other work. Only for processes of our own.
    """
    gc.set_threshold(*_COLLECTED_EVERY)


def keep_freed_memory() -> None:
    """Have glibc keep what is freed of the arrays of a batch, so that they are not mapped again for
    each batch: it keeps blocks up to the size of the largest that it has given back to the system.

    Only for processes of our own, and after inputs are indexed: an index grows in steps, which
    would leave gaps.
    """
    bytes(_FREED_BYTES)


def leave_memory_to_exit() -> None:
    """Have this process end without a last look for cycles of references.

    The system gets all memory back at once; to look through all modules several times takes a
    third as long as a small run. Only at the end of processes of our own.
    """
    gc.freeze()


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
