"""Signals, processes and files. Nothing here knows what text detection is.

Code that has work to do calls ``ordered_map(function, items)``, which returns what `map` does: that
is the only difference between one process, several (`workers`) and a cluster (`cluster`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class OrderedMap(Protocol):
    """What `map` is: results of a function, in the order of the items."""

    def __call__(
        self, function: Callable[[Item], Result], items: Iterable[Item], /
    ) -> Iterator[Result]: ...


def ahead(submitted: Iterator[Item], count: int) -> Iterator[Item]:
    """Yield work in the order in which it is submitted, while so much of it is under way."""
    under_way = deque(islice(submitted, count))
    while under_way:
        yield under_way.popleft()
        under_way.extend(islice(submitted, 1))
