"""Intervals and p-values: the sign-flip (permutation) test over images, and its inversion.

The test asks how often a score's difference would be as far from 0 if the sign of each image's part
in it were a matter of chance. The hypotheses that it does not reject are the interval, so p < 1 -
level exactly if the interval excludes 0. Both are read from the scores of subsets of the images
(`replicates`): a subset in which the difference is 0 or has the other sign is an assignment of
signs under which it is as far from 0 as the observed one. docs/statistics.md explains it and shows
its calibration.

Scores of subsets are made from stored evidence; no image is evaluated again. Each subset contains
every image with probability 1/2 (the double-or-nothing bootstrap; Owen and Eckles 2012); their
scores are the limits of the sign-flip test (Hartigan 1969). If there are no more than `resamples`
subsets that are not empty, each is taken once and the test is exact. Images are drawn in the order
of their names; replicates are rounded to 12 decimals, so that a difference of equal scores is 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import ConfigError, counted
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.progress import phase
from evaltex_cli.protocols.base import EvidenceRows, Scores
from evaltex_cli.protocols.scores import score_columns
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Bools, Floats, Ints, offsets_of
from evaltex_cli.results.extras import Bootstrap, Intervals

LEVEL = 0.95
RESAMPLES = 2000
"""The smallest p-value is 2 / (RESAMPLES + 1), just below 0.001."""
MOST_RESAMPLES = 1_000_000
"""Each takes eight bytes for a score."""
ENOUGH_IMAGES = 20
"""Below this number of images a warning is given."""
UNDEFINED = "the score is undefined"
TOO_FEW_COUNT = "too few of the images count for this score"
ALL_ALIKE = "the score is the same on all images, which do not show how much it varies"
DECIMALS = 12
_CHUNK_CELLS = 1 << 20
_WORD = 64


def refuse_resamples(resamples: int) -> None:
    if not isinstance(resamples, int) or not 1 <= resamples <= MOST_RESAMPLES:
        raise ConfigError(
            f"resamples={resamples!r}; expected a whole number from 1 to {MOST_RESAMPLES}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """Scores of subsets of the images."""

    values: Mapping[str, Floats]
    """Dict of (subsets,) float64. Each scalar score; NaN where it is undefined. Replicates of two
    detectors are paired: for the same seed and the same images, the subsets are the same."""
    of_all: Mapping[str, float | None]
    of_none: Mapping[str, float | None]
    """`of_all` and `of_none`: the same scores of all images, and of no image; the latter None for a
    count too."""
    has_objects: Bools
    """(images,) bool. `EvidenceRows.has_objects`, in the order of the images' names."""
    is_exact: bool
    """Whether each subset that is not empty was taken once."""


def replicates(
    rows: EvidenceRows, scores: Callable[[Any], Scores], resamples: int = RESAMPLES, seed: int = 0
) -> Replicates:
    """Score subsets of the images.

    A score that doubles with the evidence is a count: that of a subset is scaled to the number of
    images.

    Parameters
    ----------
    rows : EvidenceRows
        One row per image.
    scores : callable
        From summed evidence, in columns too, to scores (`Protocol.scores`).
    resamples, seed : int
    """
    images = len(rows.names)
    order = np.array(sorted(range(images), key=rows.names.__getitem__), np.intp)
    evidence = _Evidence.of(rows.tally, order)
    once = np.ones((1, images))
    known = score_columns(scores, evidence.sums(np.vstack([once, 2 * once, 0 * once])))
    counts = {name for name, (all_, doubled, _) in known.items() if all_ and doubled == 2 * all_}
    values = {name: np.empty(_count(images, resamples)) for name in known}
    stop = 0
    with phase("resampling", "resamples", _count(images, resamples)) as advance:
        for weights in _subsets(images, resamples, seed):
            start, stop = stop, stop + len(weights)
            scale = images / np.maximum(weights.sum(axis=1), 1)
            for name, scored in score_columns(scores, evidence.sums(weights)).items():
                values[name][start:stop] = scored * scale if name in counts else scored
            advance(len(weights))
    return Replicates(
        {name: np.round(drawn, DECIMALS) for name, drawn in values.items()},
        {name: _or_none(of_all) for name, (of_all, _, _) in known.items()},
        {name: None if name in counts else _or_none(none) for name, (_, _, none) in known.items()},
        rows.has_objects[order],
        _is_exact(images, resamples),
    )


def _is_exact(images: int, resamples: int) -> bool:
    return images < _WORD and 2**images - 1 <= resamples


def _count(images: int, resamples: int) -> int:
    """How many subsets are scored."""
    return 2**images - 1 if _is_exact(images, resamples) else resamples


def _subsets(images: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Which images are in each subset, 0 or 1, for some subsets at a time."""
    exact, subsets = _is_exact(images, resamples), _count(images, resamples)
    # Rounded up.
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
        # Bit k of a random number decides on image k; little-endian, so that every machine draws
        # the same.
        bits = np.unpackbits(
            drawn.astype("<u8").view(np.uint8), axis=1, count=images, bitorder="little"
        )
        yield bits.astype(np.float64)


class _Evidence(NamedTuple):
    """Evidence of images, and the numbers of all its fields as one matrix, in another order."""

    tally: Tally
    numbers: Floats
    """(images, numbers) float64."""

    @classmethod
    def of(cls, tally: Tally, order: Ints) -> _Evidence:
        columns = list(tally.as_dict().values())
        ends = offsets_of([math.prod(column.shape[1:]) for column in columns])
        numbers = np.empty((len(order), ends[-1]))
        for column, (start, stop) in zip(columns, pairwise(ends), strict=True):
            for k, one in enumerate(column.reshape(len(order), stop - start).T, start):
                numbers[:, k] = one[order]
        return cls(tally, numbers)

    def sums(self, weights: Floats) -> Tally:
        """Return the sums by each row of weights, which are whole numbers."""
        # (subsets, images) times (images, numbers): one product sums all subsets.
        sums = weights @ self.numbers
        counts = [math.prod(column.shape[1:]) for column in self.tally.as_dict().values()]
        parts = iter(np.split(sums, np.cumsum(counts)[:-1], axis=1))

        def summed(column: NDArray[Any]) -> NDArray[Any]:
            part = next(parts).reshape(len(weights), *column.shape[1:])
            return part if column.dtype.kind == "f" else np.rint(part).astype(np.int64)

        return self.tally.each(summed)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


class Outcome(NamedTuple):
    """What a test found; `reason` says why there is no interval and no p-value."""

    interval: tuple[float, float] | None = None
    p: float | None = None
    reason: str | None = None


def of_score(name: str, replicates: Replicates, images: int, level: float) -> Outcome:
    """Return the interval of one detector's score, from so many images with objects or detections.

    A subset that scores like no image at all, though all images together do not, counts as
    undefined: 0/0 may be 0.
    """
    whole, nothing = replicates.of_all[name], replicates.of_none[name]
    if whole is None:
        return Outcome(reason=UNDEFINED)
    values = replicates.values[name]
    if nothing is not None and whole != nothing:
        values = np.where(values == np.round(nothing, DECIMALS), np.nan, values)
    outcome = of_values(values, images, level)
    if outcome.interval and outcome.interval[0] == outcome.interval[1]:
        return Outcome(reason=ALL_ALIKE)
    return Outcome(outcome.interval, None, outcome.reason)


def of_difference(
    name: str, first: Replicates, second: Replicates, images: int, level: float
) -> Outcome:
    """Return interval and p-value of the second detector's score minus the first's."""
    if first.of_all[name] is None or second.of_all[name] is None:
        return Outcome(reason=UNDEFINED)
    values = np.round(second.values[name] - first.values[name], DECIMALS)
    return of_values(values, images, level)


def of_values(values: Floats, images: int, level: float) -> Outcome:
    """Test whether what was replicated is 0; undefined replicates and the
    empty subset count for both sides.
    """
    subsets = len(values)
    reason = _unresolved(images, subsets, level)
    if reason is not None:
        return Outcome(reason=reason)
    rejected = _rejected(subsets, level)
    undefined = np.isnan(values)
    # An undefined replicate may be anything, so it counts as the lowest for the low end, as the
    # highest for the other.
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
    """Return the most subsets at 0 or beyond it with which a difference is
    significant; -1 if none is few enough.
    """
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
        return (
            f"{subsets} resamples cannot show a difference with p < {alpha:g}; at least"
            f" {resamples} are needed"
        )
    return None


def few_images(images: int) -> str | None:
    """Return a warning when there are few images."""
    if images >= ENOUGH_IMAGES:
        return None
    return (
        f"only {counted(images, '{count} image[s]')}: intervals and p-values are rough with"
        f" fewer than {ENOUGH_IMAGES}"
    )


def intervals(
    rows: EvidenceRows, scores: Callable[[Any], Scores], bootstrap: Bootstrap
) -> tuple[Intervals, list[str]]:
    """Return each scalar score's interval, and what the user should know about them."""
    drawn = replicates(rows, scores, bootstrap.resamples, bootstrap.seed)
    images = int(drawn.has_objects.sum())
    outcomes = {name: of_score(name, drawn, images, bootstrap.level) for name in drawn.values}
    warning = few_images(images)
    return (
        {name: outcome.interval for name, outcome in outcomes.items()},
        [
            *([warning] if warning else []),
            *missing({name: outcome.reason for name, outcome in outcomes.items()}),
        ],
    )


def with_intervals(
    evaluations: Sequence[Evaluation], bootstrap: Bootstrap
) -> tuple[list[Evaluation], dict[str, Intervals]]:
    """Return the evaluations, which have rows, with warnings of missing
    intervals; and by protocol `intervals`.
    """
    replicated = [
        ({}, []) if one.rows is None else intervals(one.rows, one.score, bootstrap)
        for one in evaluations
    ]
    warned = [
        replace(one, warnings=[*one.warnings, *warnings])
        for one, (_, warnings) in zip(evaluations, replicated, strict=True)
    ]
    return warned, {
        one.protocol.name: made for one, (made, _) in zip(evaluations, replicated, strict=True)
    }


def missing(reasons: Mapping[str, str | None]) -> list[str]:
    """Return a sentence for each reason why scores that are defined have no
    interval, with these scores' names.
    """
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
