"""Scores of random subsets of the images, made from stored evidence; no image is evaluated again.

Each subset contains every image with probability 1/2 (the double-or-nothing bootstrap; Owen and Eckles 2012). Their
scores are the limits of the sign-flip test (Hartigan 1969), so `significance` reads intervals and p-values from them.
If there are no more than `resamples` subsets that are not empty, each is taken once and the test is exact. Images are
drawn in the order of their names, and replicates are rounded to 12 decimals, so that neither the order of the images
nor the order in which a machine adds floats changes a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaltex_cli.protocols.base import EvidenceRows, Scores, Totals
from evaltex_cli.records import Bools, Floats

RESAMPLES = 2000
"""The smallest p-value is 2 / (RESAMPLES + 1), just below 0.001."""
DECIMALS = 12
_CHUNK_CELLS = 1 << 22
_WORD = 64


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """Scores of subsets of the images.

    Attributes
    ----------
    values : dict of (subsets,) float64
        Each scalar score; NaN where it is undefined. Replicates of two detectors are paired: for the same seed and the
        same images, the subsets are the same.
    of_all, of_none : dict of float or None
        The same scores of all images, and of no image; the latter None for a count too.
    has_evidence : (images,) bool
        Images with anything to count, in the order of their names.
    is_exact : bool
        Whether each subset that is not empty was taken once.
    """

    values: Mapping[str, Floats]
    of_all: Mapping[str, float | None]
    of_none: Mapping[str, float | None]
    has_evidence: Bools
    is_exact: bool


def replicates(
    rows: EvidenceRows, scores: Callable[[Totals], Scores], resamples: int = RESAMPLES, seed: int = 0
) -> Replicates:
    """Score subsets of the images.

    A score that doubles with the evidence is a count: that of a subset is scaled to the number of images.

    Parameters
    ----------
    rows : EvidenceRows
        One row per image.
    scores : callable
        From summed evidence to scores.
    resamples, seed : int
    """
    images = len(rows.names)
    order = sorted(range(images), key=rows.names.__getitem__)
    columns = {name: column[order] for name, column in rows.columns.items()}
    everything = np.ones((1, images))
    (of_all,), (of_doubled,), (of_none,) = (
        [_scalars(scores(totals)) for totals in _totals(columns, weight * everything)] for weight in (1, 2, 0)
    )
    counts = {name for name, value in of_all.items() if value and of_doubled[name] == 2 * value}
    found: dict[str, list[float]] = {name: [] for name in of_all}
    for weights in _subsets(images, resamples, seed):
        scale = images / np.maximum(weights.sum(axis=1), 1)
        for totals, factor in zip(_totals(columns, weights), scale.tolist(), strict=True):
            for name, value in _scalars(scores(totals)).items():
                found[name].append(np.nan if value is None else value * factor if name in counts else value)
    return Replicates(
        {name: np.round(values, DECIMALS) for name, values in found.items()},
        of_all,
        of_none | dict.fromkeys(counts),
        _has_evidence(columns, images),
        _is_exact(images, resamples),
    )


def _is_exact(images: int, resamples: int) -> bool:
    return images < _WORD and 2**images - 1 <= resamples


def _subsets(images: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Which images are in each subset, 0 or 1, for some subsets at a time."""
    exact = _is_exact(images, resamples)
    subsets = 2**images - 1 if exact else resamples
    words = -(-images // _WORD)
    generator = np.random.default_rng(seed)
    at_once = max(1, _CHUNK_CELLS // max(images, 1))
    for start in range(0, subsets, at_once):
        stop = min(start + at_once, subsets)
        drawn = (
            np.arange(start + 1, stop + 1, dtype=np.uint64)[:, None]
            if exact
            else generator.integers(0, 2**_WORD, size=(stop - start, words), dtype=np.uint64)
        )
        bits = np.unpackbits(drawn.astype("<u8").view(np.uint8), axis=1, count=images, bitorder="little")
        yield bits.astype(np.float64)


def _totals(columns: Mapping[str, Any], weights: Floats) -> Iterator[dict[str, Any]]:
    """Sum the evidence by each row of weights, which are integers."""
    sums = {name: weights @ column.astype(np.float64) for name, column in columns.items()}
    cells = {
        name: (sums[name] if column.dtype.kind == "f" else np.rint(sums[name]).astype(np.int64)).tolist()
        for name, column in columns.items()
    }
    for values in zip(*cells.values(), strict=True):
        yield dict(zip(cells, values, strict=True))


def _scalars(scores: Scores) -> dict[str, float | None]:
    return {name: value for name, value in scores.items() if value is None or isinstance(value, int | float)}


def _has_evidence(columns: Mapping[str, Any], images: int) -> Bools:
    found = np.zeros(images, bool)
    for column in columns.values():
        found |= column.any(axis=tuple(range(1, column.ndim)))
    return found
