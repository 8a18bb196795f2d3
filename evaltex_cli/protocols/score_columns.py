"""Scores of many rows of evidence at once: images of a batch, or subsets of a data set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evaltex_cli.protocols.base import Scores
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Floats


def score_columns(scores: Callable[[Any], Scores], tally: Tally) -> dict[str, Floats]:
    """Return each score that is one number as a column.

    Parameters
    ----------
    scores : callable
        From evidence to scores (`Protocol.scores`).
    tally : Tally
        (n,) rows.

    Returns
    -------
    dict of (n,) float64
        NaN where undefined.
    """
    undefined = np.full(len(next(iter(tally.as_dict().values()))), np.nan)
    return {
        name: undefined if value is None else value.astype(np.float64)
        for name, value in scores(tally.columns()).items()
        if value is None or getattr(value, "ndim", 0) == 1
    }
