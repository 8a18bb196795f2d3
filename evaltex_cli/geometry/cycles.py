"""Values at the vertices of rings, in a column: those at the next vertex, or at the one before."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaltex_cli.records import Ints


def following(values: Any, offsets: Ints) -> Any:
    """The value at the next vertex of each ring, the first being next to the last.

    Parameters
    ----------
    values : (v, ...) array
    offsets : (n + 1,) int64
        Ring i owns rows ``offsets[i]:offsets[i + 1]``; it may have none.
    """
    result = np.empty_like(values)
    result[:-1] = values[1:]
    filled = np.flatnonzero(np.diff(offsets))
    result[offsets[filled + 1] - 1] = values[offsets[filled]]
    return result


def preceding(values: Any, offsets: Ints) -> Any:
    """The value at the vertex before, the last being before the first; as `following`."""
    result = np.empty_like(values)
    result[1:] = values[:-1]
    filled = np.flatnonzero(np.diff(offsets))
    result[offsets[filled]] = values[offsets[filled + 1] - 1]
    return result
