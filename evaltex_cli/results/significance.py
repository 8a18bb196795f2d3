"""Intervals and p-values: the sign-flip (permutation) test over images, and its inversion.

The test asks how often a score's difference would be as far from 0 if the sign of each image's part in it were a matter
of chance. The hypotheses that it does not reject are the interval, so p < 1 - level exactly if the interval excludes 0.
Both are read from the scores of subsets of the images (`bootstrap`): a subset in which the difference is 0 or has the
other sign is an assignment of signs under which it is as far from 0 as the observed one. docs/statistics.md explains
it and shows its calibration.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.errors import counted
from evaltex_cli.evaluation.tally import Evaluation
from evaltex_cli.protocols.base import EvidenceRows, Scores, Totals
from evaltex_cli.records import Floats
from evaltex_cli.results import bootstrap
from evaltex_cli.results.bootstrap import DECIMALS, Replicates

LEVEL = 0.95
ENOUGH_IMAGES = 20
"""Below this number of images a warning is given."""
UNDEFINED = "the score is undefined"
TOO_FEW_COUNT = "too few of the images count for this score"
ALL_ALIKE = "the score is the same on all images, which do not show how much it varies"


class Outcome(NamedTuple):
    """What a test found; `reason` says why there is no interval and no p-value."""

    interval: tuple[float, float] | None = None
    p: float | None = None
    reason: str | None = None


def of_score(name: str, replicates: Replicates, images: int, level: float) -> Outcome:
    """Return the interval of one detector's score, from so many images with any evidence.

    A subset that scores like no image at all, though all images together do not, counts as undefined: 0/0 may be 0.
    """
    whole, nothing = replicates.of_all[name], replicates.of_none[name]
    if whole is None:
        return Outcome(reason=UNDEFINED)
    values = replicates.values[name]
    if nothing is not None and whole != nothing:
        values = np.where(values == np.round(nothing, DECIMALS), np.nan, values)
    outcome = _tested(values, images, level)
    if outcome.interval and outcome.interval[0] == outcome.interval[1]:
        return Outcome(reason=ALL_ALIKE)
    return Outcome(outcome.interval, None, outcome.reason)


def of_difference(name: str, first: Replicates, second: Replicates, images: int, level: float) -> Outcome:
    """Return interval and p-value of the second detector's score minus the first's."""
    if first.of_all[name] is None or second.of_all[name] is None:
        return Outcome(reason=UNDEFINED)
    values = np.round(second.values[name] - first.values[name], DECIMALS)
    return _tested(values, images, level)


def _tested(values: Floats, images: int, level: float) -> Outcome:
    """Test whether what was replicated is 0; undefined replicates and the empty subset count for both sides."""
    subsets = len(values)
    reason = _unresolved(images, subsets, level)
    if reason is not None:
        return Outcome(reason=reason)
    rejected = _rejected(subsets, level)
    undefined = np.isnan(values)
    low = float(np.sort(np.where(undefined, -np.inf, values))[rejected])
    high = float(np.sort(np.where(undefined, np.inf, values))[subsets - 1 - rejected])
    if not (math.isfinite(low) and math.isfinite(high)):
        return Outcome(reason=TOO_FEW_COUNT)
    below, above = int((undefined | (values <= 0)).sum()), int((undefined | (values >= 0)).sum())
    return Outcome((low, high), _p_value(min(below, above), subsets))


def smallest_p(subsets: int) -> float:
    """Return the smallest p-value that so many subsets can show."""
    return _p_value(0, subsets)


def _p_value(as_far: int, subsets: int) -> float:
    """Two-sided p-value, when so many subsets are at 0 or beyond it."""
    return min(1.0, 2 * (1 + as_far) / (1 + subsets))


def _alpha(level: float) -> float:
    return round(1 - level, DECIMALS) or 1 - level


def _rejected(subsets: int, level: float) -> int:
    """Return the most subsets at 0 or beyond it with which a difference is significant; -1 if none is few enough."""
    as_far = math.ceil(_alpha(level) * (1 + subsets) / 2)
    while as_far >= 0 and _p_value(as_far, subsets) >= _alpha(level):
        as_far -= 1
    return as_far


def _unresolved(images: int, subsets: int, level: float) -> str | None:
    """Why no difference of so few images or subsets can be significant, or None."""
    alpha = _alpha(level)
    least = next(n for n in itertools.count(1) if 2.0 ** (1 - n) < alpha)
    if images < least:
        have = counted(images, "{count} image[s]")
        return f"{have} cannot show a difference with p < {alpha:g}; at least {least} are needed"
    if _rejected(subsets, level) < 0:
        resamples = math.floor(2 / alpha - 1) + 1
        return f"{subsets} resamples cannot show a difference with p < {alpha:g}; at least {resamples} are needed"
    return None


def few_images(images: int) -> str | None:
    """Return a warning when there are few images."""
    if images >= ENOUGH_IMAGES:
        return None
    return (
        f"only {counted(images, '{count} image[s]')}: intervals and p-values are rough with fewer than {ENOUGH_IMAGES}"
    )


def intervals(
    rows: EvidenceRows, scores: Callable[[Totals], Scores], level: float, resamples: int, seed: int
) -> tuple[dict[str, tuple[float, float] | None], list[str]]:
    """Return each scalar score's interval, and what the user should know about them."""
    replicates = bootstrap.replicates(rows, scores, resamples, seed)
    images = int(replicates.has_evidence.sum())
    outcomes = {name: of_score(name, replicates, images, level) for name in replicates.values}
    warning = few_images(images)
    return (
        {name: outcome.interval for name, outcome in outcomes.items()},
        [*([warning] if warning else []), *missing({name: outcome.reason for name, outcome in outcomes.items()})],
    )


def with_intervals(
    evaluations: Sequence[Evaluation], level: float, resamples: int, seed: int
) -> tuple[list[Evaluation], dict[str, dict[str, Any]]]:
    """Return the evaluations, whose rows were kept, with warnings of missing intervals; and by protocol `intervals`."""
    found = [
        ({}, []) if one.rows is None else intervals(one.rows, one.score, level, resamples, seed) for one in evaluations
    ]
    warned = [
        replace(one, warnings=[*one.warnings, *warnings]) for one, (_, warnings) in zip(evaluations, found, strict=True)
    ]
    return warned, {one.protocol.name: made for one, (made, _) in zip(evaluations, found, strict=True)}


def missing(reasons: Mapping[str, str | None]) -> list[str]:
    """Return a sentence for each reason why scores that are defined have no interval, with these scores' names."""
    scores: dict[str | None, list[str]] = {}
    for name, reason in reasons.items():
        scores.setdefault(reason, []).append(name)
    scores.pop(UNDEFINED, None)
    return [
        f"no interval: {reason}" + ("" if len(scores) == 1 else f" ({', '.join(names)})")
        for reason, names in scores.items()
        if reason is not None
    ]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct p-values for their number (Holm 1979); those that are missing stay so."""
    known = sorted((p, k) for k, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, k) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * p))
        corrected[k] = highest
    return corrected
