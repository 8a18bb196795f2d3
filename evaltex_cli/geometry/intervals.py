"""The one sweep behind every union: how much of a line is covered by keyed intervals."""

from __future__ import annotations

import numpy as np

from evaltex_cli.records import Floats, Ints


def covered_length(key: Ints, start: Floats | Ints, stop: Floats | Ints, keys: int) -> Floats:
    """Return, for each key, the length of the union of its half-open intervals.

    Parameters
    ----------
    key : (n,) int64
        Group of each interval, in ``range(keys)``.
    start, stop : (n,)
        Ends; intervals with ``stop <= start`` count as empty.
    keys : int
        Number of groups.

    Returns
    -------
    (keys,) float64
        0 for a group without intervals. Integer ends give exact lengths.
    """
    filled = stop > start
    key, start, stop = key[filled], start[filled], stop[filled]
    position = np.concatenate([start, stop])
    group = np.concatenate([key, key])
    step = np.concatenate([np.ones(len(start), np.int64), np.full(len(stop), -1, np.int64)])
    order = np.lexsort((position, group))
    position, group, depth = position[order], group[order], np.cumsum(step[order])
    if not len(position):
        return np.zeros(keys)
    gaps = np.where(depth[:-1] > 0, np.diff(position), 0)
    return np.bincount(group[:-1], weights=gaps, minlength=keys).astype(np.float64)
