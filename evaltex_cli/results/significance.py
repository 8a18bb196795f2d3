"""Intervals and p-values: the paired permutation test over images, by signs, and its inversion.

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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import ConfigError, counted
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.extras import IMAGES, Bootstrap, Intervals
from evaltex_cli.evaluation.groups import Units
from evaltex_cli.protocols.base import EvidenceRows, Scores
from evaltex_cli.protocols.score_names import UNBOUNDED
from evaltex_cli.protocols.scores import score_columns
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Bools, Floats
from evaltex_cli.runtime.progress import phase

LEVEL = 0.95
RESAMPLES = 2000
"""The smallest p-value is 2 / (RESAMPLES + 1), just below 0.001."""
MOST_RESAMPLES = 1_000_000
"""Each takes eight bytes for a score."""
ENOUGH_UNITS = 20
"""Below this number of units a warning is given."""
UNDEFINED = "the score is undefined"
TOO_FEW_COUNT = "too few of the images count for this score"
ALL_ALIKE = "the score is the same on all images, which do not show how much it varies"
DECIMALS = 12
POWER = 2.8
"""Standard errors of a difference that is found 8 times in 10."""
_CHUNK_CELLS = 1 << 20
_WORD = 64


def refuse_settings(resamples: int, level: float) -> None:
    """Raise `ConfigError` for what is out of range."""
    if not isinstance(resamples, int) or not 1 <= resamples <= MOST_RESAMPLES:
        expected = f"expected a whole number from 1 to {MOST_RESAMPLES}"
        raise ConfigError(f"resamples={resamples!r}; {expected}")
    if not 0 < level < 1:
        raise ConfigError(f"ci={level!r}; expected a number between 0 and 1")


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
    """(units,) bool. `EvidenceRows.has_objects`, in the order of the units' names."""
    units: Units
    is_exact: bool
    """Whether each subset that is not empty was taken once."""


def replicates(
    rows: EvidenceRows, scores: Callable[[Any], Scores], bootstrap: Bootstrap
) -> Replicates:
    """Score subsets of the units of `bootstrap` by `scores`, which takes summed evidence, in
    columns too; `rows` are of images.

    A score that doubles with the evidence is a count: that of a subset is scaled to the number of
    units.
    """
    rows, resamples = bootstrap.units.rows(rows), bootstrap.resamples
    images = len(rows.names)
    order = np.array(sorted(range(images), key=rows.names.__getitem__), np.intp)
    numbers = numbers_of(rows.tally)[order]

    def scored(weights: Floats) -> dict[str, Floats]:
        return score_columns(scores, tally_of(weights @ numbers, rows.tally))

    known = scored(np.repeat([[1.0], [2.0], [0.0]], images, axis=1))
    counts = {name for name, (all_, doubled, _) in known.items() if all_ and doubled == 2 * all_}
    is_exact = images < _WORD and 2**images - 1 <= resamples
    subsets = 2**images - 1 if is_exact else resamples
    values: dict[str, Floats] = {name: np.empty(subsets) for name in known}
    generator = np.random.default_rng(bootstrap.seed)
    at_once = max(1, _CHUNK_CELLS // max(images, 1))
    with phase("resampling", "resamples", subsets) as advance:
        for start in range(0, subsets, at_once):
            stop = min(start + at_once, subsets)
            if is_exact:
                words = np.arange(start + 1, stop + 1, dtype=np.uint64)[:, None]
            else:
                shape = stop - start, math.ceil(images / _WORD)
                words = generator.integers(0, 2**_WORD, shape, np.uint64)
            # Bit k decides on image k; little-endian, so that every machine draws the same.
            octets = words.astype("<u8").view(np.uint8)
            bits = np.unpackbits(octets, axis=1, count=images, bitorder="little")
            weights = bits.astype(np.float64)
            scale = images / np.maximum(weights.sum(axis=1), 1)
            for name, column in scored(weights).items():
                values[name][start:stop] = column * scale if name in counts else column
            advance(stop - start)
    return Replicates(
        {name: np.round(drawn, DECIMALS) for name, drawn in values.items()},
        {name: or_none(of_all) for name, (of_all, _, _) in known.items()},
        {name: None if name in counts else or_none(none) for name, (_, _, none) in known.items()},
        rows.has_objects[order],
        bootstrap.units,
        is_exact,
    )


def numbers_of(tally: Tally) -> Floats:
    """(images, numbers) all fields beside each other, a histogram as several numbers."""
    columns = [
        column.reshape(len(column), math.prod(column.shape[1:]))
        for column in tally.as_dict().values()
    ]
    return np.hstack(columns).astype(np.float64)


def tally_of(numbers: Floats, like: Tally) -> Tally:
    """Return (n, numbers) sums of `numbers_of` as a tally, counts as whole numbers."""
    counts = [math.prod(column.shape[1:]) for column in like.as_dict().values()]
    parts = iter(np.split(numbers, np.cumsum(counts)[:-1], axis=1))

    def column(own: NDArray[Any]) -> NDArray[Any]:
        part = next(parts).reshape(len(numbers), *own.shape[1:])
        return part if own.dtype.kind == "f" else np.rint(part).astype(np.int64)

    return like.each(column)


def or_none(value: Any) -> float | None:
    """Return a number, None where it is undefined."""
    return None if math.isnan(value) else float(value)


class Outcome(NamedTuple):
    """What a test found; `reason` says why there is no interval and no p-value."""

    interval: tuple[float, float] | None = None
    p: float | None = None
    reason: str | None = None


def of_score(name: str, replicates: Replicates, count: int, level: float) -> Outcome:
    """Return the interval of one detector's score, from so many units with objects or detections.

    A subset that scores like no image at all, though all images together do not, counts as
    undefined: 0/0 may be 0. If all units have the best score, or the worst, the interval is
    one-sided: a true score beyond it would show another value in n units with a probability of more
    than the level (Clopper and Pearson 1934, of n in n).
    """
    whole, nothing = replicates.of_all[name], replicates.of_none[name]
    if whole is None:
        return Outcome(reason=UNDEFINED)
    values = replicates.values[name]
    if nothing is not None and whole != nothing:
        values = np.where(values == np.round(nothing, DECIMALS), np.nan, values)
    outcome = of_values(values, count, level, replicates.units)
    if outcome.interval and outcome.interval[0] == outcome.interval[1]:
        edge = (1 - level) ** (1 / count)
        one_sided = {1.0: (edge, 1.0), 0.0: (0.0, 1 - edge)}
        if name in UNBOUNDED or whole not in one_sided:
            return Outcome(reason=ALL_ALIKE)
        return Outcome(one_sided[whole])
    return Outcome(outcome.interval, None, outcome.reason)


def of_difference(
    name: str, first: Replicates, second: Replicates, count: int, level: float
) -> Outcome:
    """Return interval and p-value of the second detector's score minus the first's."""
    if first.of_all[name] is None or second.of_all[name] is None:
        return Outcome(reason=UNDEFINED)
    values = np.round(second.values[name] - first.values[name], DECIMALS)
    return of_values(values, count, level, first.units)


def least_units(level: float) -> int:
    """Return the number of units from which a difference can be significant."""
    alpha = round(1 - level, DECIMALS) or 1 - level
    return next(n for n in itertools.count(1) if 2.0 ** (1 - n) < alpha)


def of_values(values: Floats, count: int, level: float, units: Units = IMAGES) -> Outcome:
    """Test whether what was replicated is 0; undefined replicates and the empty subset count for
    both sides.
    """
    subsets, alpha = len(values), round(1 - level, DECIMALS) or 1 - level
    # The most subsets at 0 or beyond it with which a difference is significant.
    rejected = math.ceil(alpha * (1 + subsets) / 2)
    while rejected >= 0 and _p_value(rejected, subsets) >= alpha:
        rejected -= 1
    cannot = f"cannot show a difference with p < {alpha:g}; at least"
    if count < least_units(level):
        return Outcome(reason=f"{units.counted(count)} {cannot} {least_units(level)} are needed")
    if rejected < 0:
        needed = math.floor(2 / alpha - 1) + 1
        return Outcome(reason=f"{subsets} resamples {cannot} {needed} are needed")
    undefined = np.isnan(values)
    # An undefined replicate may be anything, so it counts as the lowest for the low end, as the
    # highest for the other.
    low = float(np.sort(np.where(undefined, -np.inf, values))[rejected])
    high = float(np.sort(np.where(undefined, np.inf, values))[subsets - 1 - rejected])
    if not (math.isfinite(low) and math.isfinite(high)):
        return Outcome(reason=TOO_FEW_COUNT)
    below, above = int((undefined | (values <= 0)).sum()), int((undefined | (values >= 0)).sum())
    return Outcome((low, high), _p_value(min(below, above), subsets))


def _p_value(as_far: int, subsets: int) -> float:
    """Two-sided p-value, when so many subsets are at 0 or beyond it."""
    return min(1.0, 2 * (1 + as_far) / (1 + subsets))


def detectable(name: str, first: Replicates, second: Replicates) -> float | None:
    """Return the true difference of a score that such a test finds 8 times in 10, at 95 %: 2.8
    standard errors of the paired difference (1.96 for p < 0.05, and 0.84 for the 8 times); None if
    nothing varies.
    """
    values = second.values[name] - first.values[name]
    known = values[~np.isnan(values)]
    error = float(known.std()) if len(known) else 0.0
    return POWER * error if error > 10.0**-DECIMALS else None


def shown_power(difference: float, count: int, units: Units = IMAGES) -> str:
    """Say what difference so many units show, and how many show half of it: errors shrink with the
    root of the number.
    """
    whole, half = (
        f"{points:.1f}" if points >= 1 else f"{points:.2g}"
        for points in (100 * difference, 50 * difference)
    )
    return (
        f"With these {units.counted(count)} a true difference of {whole} points is found 8 times in"
        f" 10; for {half} points take 4 times as many."
    )


def shown_subsets(count: int, is_exact: bool, units: Units = IMAGES) -> str:
    """Say of how many subsets the scores are (`Replicates`)."""
    every = f"all {{count}} subset[s] of the {units.plural}"
    return counted(count, every if is_exact else "{count} resample[s]")


def few_units(count: int, units: Units = IMAGES) -> str | None:
    """Return a warning when there are few images, or other units."""
    if count >= ENOUGH_UNITS:
        return None
    rough = f"intervals and p-values are rough with fewer than {ENOUGH_UNITS}"
    return f"only {units.counted(count)}: {rough}"


def intervals(
    rows: EvidenceRows, scores: Callable[[Any], Scores], bootstrap: Bootstrap
) -> tuple[Intervals, list[str]]:
    """Return each scalar score's interval, and what the user should know about them."""
    drawn = replicates(rows, scores, bootstrap)
    count, level = int(drawn.has_objects.sum()), bootstrap.level
    outcomes = {name: of_score(name, drawn, count, level) for name in drawn.values}
    reasons = {name: one.reason for name, one in outcomes.items() if one.reason != UNDEFINED}
    warnings = [few] if (few := few_units(count, drawn.units)) else []
    for reason in filter(None, dict.fromkeys(reasons.values())):
        names = [name for name, own in reasons.items() if own == reason]
        shown = "" if len(names) == len(reasons) else f" ({', '.join(names)})"
        warnings.append(f"no interval: {reason}{shown}")
    return {name: outcome.interval for name, outcome in outcomes.items()}, warnings


def with_intervals(evaluation: Evaluation, bootstrap: Bootstrap) -> Evaluation:
    """Return an evaluation, which has rows, with intervals, and warnings of missing ones."""
    assert evaluation.rows is not None
    bounds, warnings = intervals(evaluation.rows, evaluation.score, bootstrap)
    warnings = [*evaluation.warnings, *warnings]
    return replace(evaluation, intervals=bounds, bootstrap=bootstrap, warnings=warnings)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct p-values for their number (Holm 1979); those that are missing stay so."""
    known = sorted((p, k) for k, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, k) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * p))
        corrected[k] = highest
    return corrected
