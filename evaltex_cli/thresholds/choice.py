"""Which confidence level is best, how far it may be moved, and what choosing it on the same images
adds to its score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaltex_cli.errors import ConfigError
from evaltex_cli.evaluation.evaluate import Run
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Floats, Ints
from evaltex_cli.results.significance import DECIMALS

FOLDS, TOLERANCE = 5, 0.005
ROUNDING = 1e-12
"""A difference of scores that may be rounding."""


def best_level(scores: Sequence[float | None] | Floats) -> int:
    """Return the level of the highest score; of several that differ by rounding at most, the
    highest. An undefined one, None or NaN, is the lowest.
    """
    known = np.round(np.array(scores, np.float64), DECIMALS)
    known[np.isnan(known)] = -np.inf
    return int(np.flatnonzero(known == known.max())[-1])


def plateau_of(
    scores: Sequence[float | None], best: int, tolerance: float = TOLERANCE
) -> tuple[int, int]:
    """Return the first and last of the neighbouring levels, the best among them, whose scores are
    within the tolerance of the best one's.
    """
    low = high = best
    top = scores[best]
    if top is None:
        return best, best
    near = [one is not None and top - one <= tolerance + ROUNDING for one in scores]
    while low > 0 and near[low - 1]:
        low -= 1
    while high + 1 < len(near) and near[high + 1]:
        high += 1
    return low, high


def folds_of(names: Sequence[str], folds: int, seed: int) -> Ints:
    """(images,) the fold of each image; as many folds as images, if there are fewer images.

    Images are sorted by name (code points) and permuted at random; the image at place i of the
    permutation is in fold i mod `folds`. So neither the order of the files nor that of the images
    matters.

    Raises
    ------
    ConfigError
        For less than two folds.
    """
    if folds < 2:
        raise ConfigError(f"folds={folds}; expected a number from 2 up")
    images = len(names)
    by_name = np.array(sorted(range(images), key=names.__getitem__), np.int64)
    permuted = by_name[np.random.default_rng(seed).permutation(images)]
    result = np.zeros(images, np.int64)
    result[permuted] = np.arange(images) % max(min(folds, images), 1)
    return result


def cross_validated(runs: Sequence[Run], sums: Sequence[Sequence[Tally]]) -> Any:
    """Return the level chosen for each fold on the others, and the scores of the folds' evidence at
    these levels, added up; None with a single fold, which has no others.

    Parameters
    ----------
    runs : sequence of Run
        The protocol with its parameters at each level.
    sums : sequence of sequence of Tally
        Of each fold at each level.
    """
    if len(sums) < 2:
        return None
    levels = range(len(runs))
    name = runs[0].protocol.main_score
    chosen = []
    for fold in range(len(sums)):
        others = [
            Tally.total([of_fold[k] for other, of_fold in enumerate(sums) if other != fold])
            for k in levels
        ]
        scores = (
            run.protocol.scores(tally, run.parameters)
            for run, tally in zip(runs, others, strict=True)
        )
        chosen.append(best_level([one[name] for one in scores]))
    held_out = Tally.total([sums[fold][k] for fold, k in enumerate(chosen)])
    return chosen, runs[0].protocol.scores(held_out, runs[0].parameters)
