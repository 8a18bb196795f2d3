"""Signals, processes and files. Nothing here knows what text detection is.

Code that has work to do calls ``ordered_map(function, items)``, which returns what `map` does: that
is the only difference between one process, several (`workers`) and a cluster (`cluster`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

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


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
