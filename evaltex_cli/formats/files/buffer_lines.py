"""Lines of a buffer."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.records import Ints

_NEWLINE = ord("\n")


def line_ends(data: NDArray[np.uint8]) -> Ints:
    """Positions of the newlines of a buffer that ends with one."""
    return np.flatnonzero(data == _NEWLINE)


def line_of_object(in_bulk: Ints, others: Iterable[int], index: int) -> int:
    """Return the line of one object, by its index among all; some lines were taken in bulk, others one by one."""
    return int(np.sort(np.concatenate([in_bulk, np.fromiter(others, np.int64)]))[index])
