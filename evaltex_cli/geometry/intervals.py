"""Intervals of a line, from a start up to but without a stop: which meet, and their union.

Every area is one of intervals: of the rows of masks, of lines across strips of boxes and of
polygons.
"""

from __future__ import annotations

import numpy as np

from evaltex_cli.records import Floats, Ints, stretches

BEFORE = np.iinfo(np.int64).min
"""Smaller than any start."""


def meetings(a_start: Ints, a_stop: Ints, b_start: Ints, b_stop: Ints) -> tuple[Ints, Ints]:
    """Return indices of all intervals a and b that share something; those of
    b are disjoint and in order.
    """
    # Intervals b in order: those that end after a begins, up to the one before the first that
    # begins after a ends.
    first = np.searchsorted(b_stop, a_start, side="right")
    partners = np.searchsorted(b_start, a_stop, side="left") - first
    return np.repeat(np.arange(len(a_start)), partners), stretches(first, partners)


def joined(start: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """Return the union of intervals as maximal ones."""
    order = np.argsort(start, kind="stable")
    start, stop = start[order], stop[order]
    first = np.flatnonzero(start > reach_before(stop))
    return start[first], np.maximum.reduceat(stop, first) if len(first) else stop


def reach_before(stop: Ints) -> Ints:
    """How far the intervals before each reach, these being in order of their starts."""
    farthest = np.full(len(stop), BEFORE)
    # Shifted by one: nothing is before the first interval.
    np.maximum.accumulate(stop[:-1], out=farthest[1:])
    return farthest


def sorted_in_groups(group: Ints, position: Floats | Ints) -> Ints:
    """Order of positions by group, equal ones as they are: that of `np.lexsort`, which sorts by all
    positions first, in a third of its time if most groups are in order.

    Parameters
    ----------
    group, position : (n,)
        None of them NaN, nor a whole number beyond 2^53.
    """
    both = np.empty(len(group), np.complex128)
    both.real, both.imag = group, position
    return np.argsort(both, kind="stable")


def covered(
    key: Ints, start: Floats | Ints, stop: Floats | Ints, depth: int
) -> tuple[Ints, Floats | Ints, Floats | Ints]:
    """Return what at least `depth` intervals of a key cover, as disjoint intervals in order.

    Parameters
    ----------
    key : (n,) int64
        The group of each interval.
    start, stop : (n,)
        Ends; intervals with ``stop <= start`` count as empty.
    depth : int

    Returns
    -------
    key, start, stop : (m,)
    """
    filled = stop > start
    key, start, stop = key[filled], start[filled], stop[filled]
    position, group = np.concatenate([start, stop]), np.concatenate([key, key])
    order = sorted_in_groups(group, position)
    step = np.where(order < len(start), 1, -1)
    # How many intervals are open after each end; 0 after the last of a key, as all of a key are
    # closed there.
    position, group, is_open = position[order], group[order], np.cumsum(step) >= depth
    inside = np.flatnonzero(is_open[:-1] & (position[1:] > position[:-1]))
    return group[inside], position[inside], position[inside + 1]


def covered_length(key: Ints, start: Floats | Ints, stop: Floats | Ints, keys: int) -> Floats:
    """(keys,) length of what the intervals of each key cover, keys being in ``range(keys)``.

    Integer ends give exact lengths.
    """
    alone = np.bincount(key, minlength=keys)[key] == 1
    own = np.maximum(stop[alone] - start[alone], 0)
    result = np.bincount(key[alone], weights=own, minlength=keys).astype(np.float64)
    key, start, stop = covered(key[~alone], start[~alone], stop[~alone], 1)
    return result + np.bincount(key, weights=stop - start, minlength=keys)
