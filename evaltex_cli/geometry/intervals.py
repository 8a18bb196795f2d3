"""Intervals of whole numbers, from a start up to but without a stop: which
meet, and their union.
"""

from __future__ import annotations

import numpy as np

from evaltex_cli.records import Ints, stretches

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
