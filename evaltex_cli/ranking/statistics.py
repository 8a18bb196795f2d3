"""Statistics of a ranking: p-values corrected for all pairs, rank intervals, ties, agreement.

All of them are made from replicates: a detector's scores of the same subsets of the images
(`results.significance`), so every joint distribution that they need is at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from string import ascii_letters

import numpy as np

from evaltex_cli.records import Bools, Floats, Ints
from evaltex_cli.results.significance import DECIMALS


def max_t(scores: Floats, replicates: Floats) -> Floats:
    """Return p-values of the pairs (0, 1), (0, 2), ..., corrected for their number by the step-down
    max-T method, from scores of all images (d,) and of the same b subsets of these (d, b).

    Romano and Wolf (2005), algorithm 4.1, on studentised absolute differences: each pair's
    statistic is compared with the largest deviation, in each subset of the images, of this pair and
    of all with smaller statistics. They are at least 1 / (1 + b), and 1 where a score is undefined.
    """
    studentised = [
        _studentised(scores[i] - scores[j], replicates[i] - replicates[j])
        for i, j in combinations(range(len(scores)), 2)
    ]
    statistics, deviations = map(np.array, zip(*studentised, strict=True))
    order = np.argsort(statistics, kind="stable")
    observed, highest = statistics[order, None], np.maximum.accumulate(deviations[order])
    as_far = (highest >= observed) | np.isclose(highest, observed, 1e-9, 0)
    p = (1 + as_far.sum(axis=1)) / (1 + replicates.shape[1])
    # From the largest statistic down, no p-value is below one before it.
    corrected = np.empty(len(p))
    corrected[order[::-1]] = np.maximum.accumulate(p[::-1])
    return corrected


def _studentised(difference: float, replicates: Floats) -> tuple[float, Floats]:
    """Return a difference, and how far from it each replicate is, in standard deviations; an
    undefined replicate is as far as can be.
    """
    size = abs(round(difference, DECIMALS))
    if not size > 0:  # or undefined: it shows nothing
        return 0.0, np.zeros(len(replicates))
    known = replicates[~np.isnan(replicates)]
    # Replicates are rounded to `DECIMALS`, so what is below that is no variation.
    if len(known) < 2 or np.ptp(known) < 10.0**-DECIMALS:
        return np.inf, np.where(np.isnan(replicates), np.inf, 0.0)
    deviation = float(known.std(ddof=1))
    away = np.abs(replicates - difference) / deviation
    return size / deviation, np.nan_to_num(away, nan=np.inf)


def ranks(scores: Floats) -> Ints:
    """(d,) ranks: 1 + how many detectors have a higher score; undefined scores come last."""
    known = _comparable(scores)
    return np.asarray(1 + (known[None, :] > known[:, None]).sum(axis=1))


def mean_ranks(scores: Floats) -> Floats:
    """(d, ...) ranks along the first axis, equal scores with the mean of their ranks."""
    known = _comparable(scores)
    above = (known[None] > known[:, None]).sum(axis=1)
    equal = (known[None] == known[:, None]).sum(axis=1)
    return np.asarray(above + (equal + 1) / 2)


def _comparable(scores: Floats) -> Floats:
    """Scores rounded, so that equal ones of other parts are equal; undefined ones come last."""
    return np.where(np.isnan(scores), -np.inf, np.round(scores, DECIMALS))


def rank_intervals(scores: Floats, differs: Bools) -> Ints:
    """(d, 2) the first and the last rank that each detector may have.

    From 1 + the number of detectors that are significantly better, to the number of all less those
    that are significantly worse (Mogstad, Romano, Shaikh and Wilhelm 2024, section 3); `differs`
    says which pairs differ significantly, (d, d).
    """
    better = differs & (scores[None, :] > scores[:, None])
    worse = differs & (scores[None, :] < scores[:, None])
    return np.stack([1 + better.sum(axis=1), len(scores) - worse.sum(axis=1)], axis=1)


def tie_groups(order: Sequence[int], differs: Bools) -> list[str]:
    """Return letters for each detector: two share one exactly if they do not differ. The letters
    follow the order, from the best detector to the worst.

    Insert and absorb (Piepho 2004): begin with one group of all; split each group in two that has
    both of a pair that differs; drop groups within others.
    """
    groups = {frozenset(order)}
    for i, j in combinations(order, 2):
        if differs[i, j]:
            both = {group for group in groups if {i, j} <= group}
            groups = (groups - both) | {group - {k} for group in both for k in (i, j)}
            groups = {one for one in groups if not any(one < other for other in groups)}
    in_order = sorted(groups, key=lambda group: sorted(map(order.index, group)))
    # Beyond all letters a number in brackets.
    names = [ascii_letters[k : k + 1] or f"({k + 1})" for k in range(len(in_order))]
    return [
        "".join(name for name, group in zip(names, in_order, strict=True) if detector in group)
        for detector in range(len(order))
    ]


def kendall(one: Floats, other: Floats) -> Floats:
    """Return how far the scores of detectors by two protocols, (d, ...), agree in their order:
    Kendall's tau-b, from -1, opposite orders, to 1, the same; NaN where one of them has no order.
    """
    i, j = np.triu_indices(len(one), 1)
    first, second = (np.sign(np.round(each[i] - each[j], DECIMALS)) for each in (one, other))
    concordant = (first * second).sum(axis=0)
    untied = np.sqrt((first**2).sum(axis=0) * (second**2).sum(axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(untied > 0, concordant / untied, np.nan))
