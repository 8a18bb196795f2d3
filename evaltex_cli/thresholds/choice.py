"""Which confidence level is best, how far it may be moved, and what choosing it on the same images
adds to its score.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import floor

import numpy as np

from evaltex_cli.evaluation.evaluate import Run
from evaltex_cli.evaluation.extras import Bootstrap
from evaltex_cli.evaluation.groups import Units
from evaltex_cli.protocols.base import EvidenceRows
from evaltex_cli.protocols.score_names import scalars
from evaltex_cli.protocols.scores import score_columns
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Floats, Ints
from evaltex_cli.results.significance import DECIMALS, numbers_of, tally_of
from evaltex_cli.runtime.progress import tracked
from evaltex_cli.thresholds.result import CrossValidated

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
    far = np.flatnonzero(~(known[best] - known <= tolerance + ROUNDING))  # NaN is far, too
    low, high = far[far < best].max(initial=-1) + 1, far[far > best].min(initial=len(known)) - 1
    return int(low), int(high)


def folds_of(names: Sequence[str], folds: int, seed: int, units: Units) -> list[Ints]:
    """Return the indices of the images in each fold, at most as many folds as units.

    Units are sorted by the name of their first image (code points), so that the order of images
    does not matter, and permuted at random; that at place i of the permutation is in fold i mod
    `folds`.
    """
    images, unit_of = defaultdict[str, list[int]](list), units.of_images(names)
    for k in sorted(range(len(names)), key=names.__getitem__):
        images[unit_of[k]].append(k)
    of_units = list(images.values())
    permuted = np.random.default_rng(seed).permutation(len(of_units)).tolist()
    count = max(min(folds, len(of_units)), 1)
    return [
        np.array([k for place in permuted[fold::count] for k in of_units[place]], np.int64)
        for fold in range(count)
    ]


def cross_validated(
    levels: Sequence[float], runs: Sequence[Run], sums: Sequence[Sequence[Tally]], best: float
) -> CrossValidated | None:
    """Choose a level for each fold on the others, and score the folds' evidence at these levels,
    added up; None with a single fold. `sums` are by level, then by fold; `best` is the score at the
    operating point.
    """
    folds, main_score, chosen = len(sums[0]), runs[0].protocol.main_score, []
    if folds < 2:
        return None
    for fold in range(folds):
        others = [Tally.total([*of_folds[:fold], *of_folds[fold + 1 :]]) for of_folds in sums]
        by_level = zip(runs, others, strict=True)
        chosen.append(best_level([run.scores(tally)[main_score] for run, tally in by_level]))
    held_out = Tally.total([sums[level][fold] for fold, level in enumerate(chosen)])
    scores = runs[0].scores(held_out)
    return CrossValidated(
        tuple(levels[k] for k in chosen),
        {name: scores[name] for name in scalars(scores)},
        best - scores[main_score],
    )


def level_interval(
    rows_by_level: Iterable[Tally], names: Sequence[str], runs: Sequence[Run], bootstrap: Bootstrap
) -> tuple[int, int]:
    """Return the lowest and the highest level that random subsets of the images choose, but for
    equal shares of the subsets at either end.

    Each subset contains every unit with probability 1/2, as in `results.significance`, in the
    order of the names. `rows_by_level` has the evidence of all images, a row each, and `runs` the
    parameters at each level.
    """
    generator = np.random.default_rng(bootstrap.seed)
    count = len(set(bootstrap.units.of_images(names)))
    weights = generator.integers(0, 2, (bootstrap.resamples, count)).astype(np.float64)
    levels = zip(runs, rows_by_level, strict=True)
    scores = []
    for run, of_images in tracked(levels, "choosing levels again", "levels", len(runs)):
        own, rows = bootstrap.units.rows(EvidenceRows(names, of_images))
        order = sorted(range(count), key=own.__getitem__)
        sums = tally_of(weights @ numbers_of(rows)[order], rows)
        scores.append(score_columns(run.scores, sums)[run.protocol.main_score])
    chosen = sorted(map(best_level, zip(*scores, strict=True)))
    cut = floor(round((1 - bootstrap.level) / 2 * len(chosen), DECIMALS))
    return chosen[cut], chosen[-1 - cut]
