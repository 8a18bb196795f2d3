"""Shares of areas of which no rounding decides: whether two are equal, or one is a threshold."""

from __future__ import annotations

import numpy as np

from evaltex_cli.protocols.ratios import quotient
from evaltex_cli.records import Floats

STEPS = 20 << 26
"""Steps of a share. The thresholds, with one or two decimals, are whole numbers of them; and half
of a step is no ratio of small numbers, as half of 10^-9 is, so what is equal becomes equal."""


def shares(part: Floats, whole: Floats) -> Floats:
    """(n,) the parts as shares of their wholes, in whole steps; 0 of nothing."""
    return stepped(quotient(part, whole))


def stepped(values: Floats) -> Floats:
    """Return shares, or sums of shares, in whole steps."""
    return np.asarray(np.rint(values * STEPS) / STEPS)
