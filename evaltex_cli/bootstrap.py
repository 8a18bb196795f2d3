"""Bootstrap over images: resamples stored evidence, never evaluates again.

Image indices come from ``numpy.random.default_rng(seed).integers(0, images, size=(resamples, images))``, as
`scipy.stats.bootstrap` draws them; a resample's scores are the protocol's scores of its summed evidence. Replicates are
rounded to 12 decimals, so that the order in which a machine adds floats does not show.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from evaltex_cli.protocols.base import EvidenceRows, Scores, Totals
from evaltex_cli.records import Floats, Ints

RESAMPLES = 1000
LEVEL = 0.95
DECIMALS = 12
_CHUNK_CELLS = 1 << 23


def replicates(
    rows: EvidenceRows, scores: Callable[[Totals], Scores], resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Floats]:
    """Score every resample.

    Parameters
    ----------
    rows : EvidenceRows
        One row an image.
    scores : callable
        From summed evidence to scores.
    resamples, seed : int

    Returns
    -------
    dict of (resamples,) float64
        Each scalar score's replicates; NaN where undefined. The same seed draws the same images for every `rows` of as
        many images, so replicates of two detectors are paired.
    """
    shapes = {name: column.shape[1:] for name, column in rows.columns.items()}
    kinds = {name: column.dtype.kind for name, column in rows.columns.items()}
    matrix = np.concatenate([column.reshape(len(rows.names), -1) for column in rows.columns.values()], axis=1)
    widths = [math.prod(shape) for shape in shapes.values()]
    found: dict[str, list[float]] = {}
    for counts in _counts(len(rows.names), resamples, seed):
        sums = counts.astype(np.float64) @ matrix.astype(np.float64)
        for row in sums:
            cells = iter(np.split(row, np.cumsum(widths)[:-1]))
            totals = {name: _cell(next(cells), shape, kinds[name]) for name, shape in shapes.items()}
            for name, value in scores(totals).items():
                if value is None or isinstance(value, int | float):
                    found.setdefault(name, []).append(np.nan if value is None else value)
    return {name: np.round(values, DECIMALS) for name, values in found.items()}


def _counts(images: int, resamples: int, seed: int) -> Iterator[Ints]:
    """How often each image is drawn, for some resamples at a time."""
    generator = np.random.default_rng(seed)
    at_once = max(1, _CHUNK_CELLS // max(images, 1))
    for start in range(0, resamples, at_once):
        rows = min(at_once, resamples - start)
        drawn = generator.integers(0, images, size=(rows, images)) + images * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * images).reshape(rows, images)


def _cell(values: Floats, shape: tuple[int, ...], kind: str) -> Any:
    numbers: list[Any] = values.tolist()
    if kind != "f":
        numbers = [round(number) for number in numbers]
    return numbers if shape else numbers[0]


def interval(values: Floats, level: float = LEVEL) -> tuple[float, float] | None:
    """Percentile interval of a score's replicates; None where it is undefined in all of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        low, high = np.nanquantile(values, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return None if np.isnan(low) else (round(low, DECIMALS), round(high, DECIMALS))


def p_value(difference: float, replicated: Floats) -> float:
    """Two-sided p-value of a difference under the hypothesis of none.

    The share of resamples whose difference strays from the mean of all as far as the observed one does from 0, the
    observed one counted among them (Riezler and Maxwell 2005, as in sacreBLEU).
    """
    strays = np.abs(replicated - replicated.mean()) >= np.round(abs(difference), DECIMALS)
    return float((1 + strays.sum()) / (1 + len(replicated)))


def intervals(
    rows: EvidenceRows, scores: Callable[[Totals], Scores], level: float, resamples: int, seed: int
) -> dict[str, tuple[float, float] | None]:
    """Each scalar score's interval."""
    return {name: interval(values, level) for name, values in replicates(rows, scores, resamples, seed).items()}
