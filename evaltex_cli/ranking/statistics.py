"""Statistics of a ranking: p-values corrected for all pairs, rank intervals, ties, agreement.

All of them are made from replicates: a detector's scores of the same subsets of the images
(`results.significance`), so every joint distribution that they need is at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from string import ascii_letters

import numpy as np

from evaltex_cli.records import Bools, Floats, Ints
from evaltex_cli.results.significance import DECIMALS


def pairs(count: int) -> Ints:
    """(p, 2) indices i < j of all pairs of so many detectors, in lexicographic order."""
    return np.array(list(combinations(range(count), 2)), np.int64).reshape(-1, 2)


def max_t(scores: Floats, replicates: Floats) -> Floats:
    """Correct the differences of all pairs for their number: the step-down max-T method.

    Romano and Wolf (2005), algorithm 4.1, on studentised absolute differences: each pair's
    statistic is compared with the largest deviation, in each subset of the images, of this pair and
    of all with smaller statistics.

    Parameters
    ----------
    scores : (d,) float64
        Of all images; NaN where a detector's score is undefined.
    replicates : (d, b) float64
        Scores of the same b subsets of the images; NaN where undefined.

    Returns
    -------
    (p,) float64
        Corrected p-values of `pairs`, at least 1 / (1 + b); 1 for a pair with an undefined score.
    """
    which = pairs(len(scores))
    statistics = np.array([_studentised(scores, replicates, i, j) for i, j in which.tolist()])
    reached = np.ones(len(which))
    highest = np.full(replicates.shape[1], -np.inf)
    order = np.argsort(statistics, kind="stable")
    for pair in order[statistics[order] > 0].tolist():
        highest = np.maximum(highest, _deviations(scores, replicates, *which[pair].tolist()))
        as_far = (highest >= statistics[pair]) | np.isclose(highest, statistics[pair], 1e-9, 0)
        reached[pair] = (1 + as_far.sum()) / (1 + len(highest))
    # From the largest statistic down, no p-value is below one before it.
    downwards = order[::-1]
    corrected = np.empty(len(which))
    corrected[downwards] = np.maximum.accumulate(reached[downwards])
    return corrected


def _studentised(scores: Floats, replicates: Floats, i: int, j: int) -> float:
    difference = abs(round(float(scores[i] - scores[j]), DECIMALS))
    if not difference > 0:  # also of undefined scores
        return 0.0
    deviation = _standard_deviation(replicates[i] - replicates[j])
    return difference / deviation if deviation > 0 else np.inf


def _standard_deviation(values: Floats) -> float:
    known = values[~np.isnan(values)]
    # Replicates are rounded to `DECIMALS`, so what is below that is no variation.
    return 0.0 if len(known) < 2 or np.ptp(known) < 10.0**-DECIMALS else float(known.std(ddof=1))


def _deviations(scores: Floats, replicates: Floats, i: int, j: int) -> Floats:
    """(b,) how far the difference of each subset is from that of all images, studentised; an
    undefined one is as far as can be.
    """
    values = replicates[i] - replicates[j]
    deviation = _standard_deviation(values)
    if deviation == 0:
        return np.where(np.isnan(values), np.inf, -np.inf)
    away = np.abs(values - (scores[i] - scores[j])) / deviation
    return np.where(np.isnan(away), np.inf, away)


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
    that are significantly worse (Mogstad, Romano, Shaikh and Wilhelm 2024, section 3).

    Parameters
    ----------
    scores : (d,) float64
    differs : (d, d) bool
        Which pairs differ significantly; symmetric.
    """
    better = differs & (scores[None, :] > scores[:, None])
    worse = differs & (scores[None, :] < scores[:, None])
    return np.stack([1 + better.sum(axis=1), len(scores) - worse.sum(axis=1)], axis=1)


def tie_groups(order: Sequence[int], differs: Bools) -> list[str]:
    """Return letters for each detector: two share one exactly if they do not differ.

    Insert and absorb (Piepho 2004): begin with one group of all; split each group in two that has
    both of a pair that differs; drop groups within others.

    Parameters
    ----------
    order : sequence of d int
        The detectors from the best to the worst, in the order of which the letters are given.
    differs : (d, d) bool
    """
    places = {detector: place for place, detector in enumerate(order)}
    groups = [frozenset(order)]
    for i, j in combinations(order, 2):
        if differs[i, j]:
            groups = _absorbed(
                part
                for group in groups
                for part in ((group - {i}, group - {j}) if {i, j} <= group else (group,))
            )
    groups.sort(key=lambda group: sorted(map(places.__getitem__, group)))
    return [
        "".join(letter(k) for k, group in enumerate(groups) if detector in group)
        for detector in range(len(order))
    ]


def _absorbed(groups: Iterator[frozenset[int]]) -> list[frozenset[int]]:
    distinct = list(dict.fromkeys(groups))
    return [one for one in distinct if not any(one < other for other in distinct)]


def letter(k: int) -> str:
    """Return the name of a tie group: a letter; beyond all of them a number in brackets."""
    return ascii_letters[k] if k < len(ascii_letters) else f"({k + 1})"


def kendall(one: Floats, other: Floats) -> Floats:
    """Agreement of two orders of the same detectors: Kendall's tau-b.

    Parameters
    ----------
    one, other : (d, ...) float64
        Scores by two protocols.

    Returns
    -------
    (...) float64
        From -1, opposite orders, to 1, the same; NaN where one of them has no order.
    """
    i, j = pairs(len(one)).T
    first, second = (np.sign(np.round(each[i] - each[j], DECIMALS)) for each in (one, other))
    concordant = (first * second).sum(axis=0)
    untied = np.sqrt((first**2).sum(axis=0) * (second**2).sum(axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(untied > 0, concordant / untied, np.nan))
