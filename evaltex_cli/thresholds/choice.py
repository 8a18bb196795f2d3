"""Which confidence level is best, how far it may be moved, and what choosing it on the same images
adds to its score.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

import numpy as np

from evaltex_cli.evaluation.evaluate import Run
from evaltex_cli.protocols.base import Scores
from evaltex_cli.protocols.scores import score_columns
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Floats, Ints
from evaltex_cli.results.extras import Bootstrap
from evaltex_cli.results.significance import DECIMALS, numbers_of, tally_of
from evaltex_cli.runtime.progress import phase

SUBSETS_AT_ONCE = 64
ROUNDING = 1e-12
"""A difference of scores that may be rounding."""


def best_level(scores: Sequence[float | None] | Floats) -> int:
    """Return the highest level of the best score but for rounding; undefined ones are the worst."""
    known = np.round(np.array(scores, np.float64), DECIMALS)
    known[np.isnan(known)] = -np.inf
    return int(np.flatnonzero(known == known.max())[-1])


def plateau_of(scores: Sequence[float | None], best: int, tolerance: float) -> tuple[int, int]:
    """Return the first and last of the levels around the best, all within the tolerance of it."""
    known = np.array(scores, np.float64)
    near = known[best] - known <= tolerance + ROUNDING
    low = high = best
    while low > 0 and near[low - 1]:
        low -= 1
    while high + 1 < len(near) and near[high + 1]:
        high += 1
    return low, high


def folds_of(names: Sequence[str], folds: int, seed: int) -> list[Ints]:
    """Return the indices of the images in each fold, at most as many folds as images.

    Images are sorted by name (code points), so that their order does not matter, and permuted at
    random; the image at place i of the permutation is in fold i mod `folds`.
    """
    by_name = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    permuted = by_name[np.random.default_rng(seed).permutation(len(names))]
    count = max(min(folds, len(names)), 1)
    return [permuted[fold::count] for fold in range(count)]


def cross_validated(
    runs: Sequence[Run], sums: Sequence[Sequence[Tally]]
) -> tuple[list[int], Scores] | None:
    """Return the level chosen for each fold on the others, and the scores of the folds' evidence at
    these levels, added up; None with a single fold. `sums` are by level, then by fold.
    """
    folds, chosen = len(sums[0]), []
    if folds < 2:
        return None
    for fold in range(folds):
        scores = []
        for run, of_folds in zip(runs, sums, strict=True):
            others = Tally.total([*of_folds[:fold], *of_folds[fold + 1 :]])
            scores.append(run.scores(others)[run.protocol.main_score])
        chosen.append(best_level(scores))
    held_out = Tally.total([sums[level][fold] for fold, level in enumerate(chosen)])
    return chosen, runs[0].scores(held_out)


def level_interval(
    changes: Sequence[tuple[Ints, Tally]],
    names: Sequence[str],
    runs: Sequence[Run],
    bootstrap: Bootstrap,
) -> tuple[int, int]:
    """Return the lowest and the highest level that random subsets of the images choose, but for
    equal shares of the subsets at either end.

    Each subset contains every image with probability 1/2, as in `results.significance`, in the
    order of the names. `changes` are each level's images with new evidence, and this evidence.
    """
    rank = np.argsort(sorted(range(len(names)), key=names.__getitem__))
    numbers = numbers_of(changes[0][1])
    differences = [(changes[0][0], numbers.copy())]
    for images, tally in changes[1:]:
        new = numbers_of(tally)
        differences.append((images, new - numbers[images]))
        numbers[images] = new
    generator, chosen = np.random.default_rng(bootstrap.seed), list[int]()
    with phase("choosing levels again", "resamples", bootstrap.resamples) as advance:
        while len(chosen) < bootstrap.resamples:
            count = min(SUBSETS_AT_ONCE, bootstrap.resamples - len(chosen))
            weights = generator.integers(0, 2, (count, len(names)))[:, rank].astype(np.float64)
            sums, scores = np.zeros((count, numbers.shape[1])), []
            for run, (images, difference) in zip(runs, differences, strict=True):
                sums = sums + weights[:, images] @ difference
                columns = score_columns(run.scores, tally_of(sums, changes[0][1]))
                scores.append(columns[run.protocol.main_score])
            chosen += map(best_level, zip(*scores, strict=True))
            advance(count)
    cut = floor(round((1 - bootstrap.level) / 2 * len(chosen), DECIMALS))
    chosen.sort()
    return chosen[cut], chosen[-1 - cut]
