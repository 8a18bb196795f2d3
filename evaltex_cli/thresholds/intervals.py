"""Bootstrap intervals over images: of the scores at the operating point, and of its level.

The level is chosen again in each random subset of the images, so its interval shows how far the
choice depends on the images. The scores' intervals are those of `results.significance`, at the one
level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import floor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.evaluation.evaluate import Run
from evaltex_cli.progress import phase
from evaltex_cli.protocols.base import EvidenceRows, Scores
from evaltex_cli.protocols.scores import score_columns
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Floats, Ints
from evaltex_cli.results.extras import Bootstrap, Intervals
from evaltex_cli.results.significance import DECIMALS, intervals
from evaltex_cli.thresholds.choice import best_level
from evaltex_cli.thresholds.result import OperatingPoint
from evaltex_cli.thresholds.stacking import StateRows

SUBSETS_AT_ONCE = 64


class Resampled(NamedTuple):
    """A protocol's evidence, to be resampled."""

    names: Sequence[str]
    """Of the images."""
    rows: StateRows
    """Of all images at all levels."""
    runs: Sequence[Run]
    """The protocol with its parameters at each level."""
    bootstrap: Bootstrap


def with_intervals(
    point: OperatingPoint, levels: Sequence[float], given: Resampled
) -> tuple[OperatingPoint, list[str]]:
    """Return an operating point with its intervals, and what the user should know about them."""
    k = levels.index(point.level)
    run = given.runs[k]
    at_point = (given.rows.start <= k) & (k < given.rows.stop)
    order = np.flatnonzero(at_point)[np.argsort(given.rows.image[at_point], kind="stable")]
    tally = given.rows.tally.take(order)
    found, warnings = intervals(
        EvidenceRows(given.names, tally),
        partial(_scores, run),
        given.bootstrap,
    )
    of_scores: Intervals = {name: found[name] for name in point.scores}
    of_level = None
    if of_scores[run.protocol.main_score] is not None:
        low, high = _level_interval(given)
        of_level = levels[low], levels[high]
    return replace(point, intervals=of_scores, level_interval=of_level), warnings


def _level_interval(given: Resampled) -> tuple[int, int]:
    """Return the lowest and highest level, but for equal shares of the subsets at either end."""
    chosen: list[int] = []
    with phase("choosing levels again", "resamples", given.bootstrap.resamples) as advance:
        for sums in _subset_sums(given):
            levels = [best_level(scores) for scores in _main_scores(given.runs, sums)]
            chosen += levels
            advance(len(levels))
    chosen.sort()
    cut = floor(round((1 - given.bootstrap.level) / 2 * len(chosen), DECIMALS))
    return chosen[cut], chosen[-1 - cut]


def _main_scores(runs: Sequence[Run], sums: Tally) -> Floats:
    """(subsets, levels) main scores; NaN where undefined."""
    name, levels = runs[0].protocol.main_score, len(runs)
    scores = {
        key: score_columns(partial(_scores, run), sums)[name]
        for key, run in {id(run): run for run in runs}.items()  # many levels have the same
    }
    of_levels = [scores[id(run)][k::levels] for k, run in enumerate(runs)]
    return np.stack(of_levels, axis=1)


def _scores(run: Run, sums: Tally) -> Scores:
    return run.protocol.scores(sums, run.parameters)


def _subset_sums(given: Resampled) -> Iterator[Tally]:
    """Yield the sums of some random subsets of the images after the other: a row for each level, of
    one subset after those of another.

    Each subset contains every image with probability 1/2 (as in `results.significance`); images are
    drawn in the order of their names.
    """
    rows, levels, images = given.rows, len(given.runs), len(given.names)
    place = np.empty(images, np.int64)
    place[sorted(range(images), key=given.names.__getitem__)] = np.arange(images)
    drawn_of = place[rows.image]
    ends = np.flatnonzero(rows.stop < levels)
    image = np.concatenate([drawn_of, drawn_of[ends]])
    level = np.concatenate([rows.start, rows.stop[ends]])
    order = np.argsort(level, kind="stable")
    starts = np.searchsorted(level[order], np.arange(levels + 1))
    generator = np.random.default_rng(given.bootstrap.seed)
    columns = {
        name: np.concatenate([column, -column[ends]]).astype(np.float64)[order]
        for name, column in rows.tally.as_dict().items()
    }
    for first in range(0, given.bootstrap.resamples, SUBSETS_AT_ONCE):
        count = min(SUBSETS_AT_ONCE, given.bootstrap.resamples - first)
        weights = generator.integers(0, 2, (count, images)).astype(np.float64)
        sums = {
            name: _at_levels(weights, image[order], starts, column)
            for name, column in columns.items()
        }
        yield type(rows.tally)(
            **{name: _like(rows.tally, name, column) for name, column in sums.items()}
        )


def _at_levels(weights: Floats, image: Ints, starts: Ints, changes: Floats) -> Floats:
    """(subsets * levels, ...) sums of each subset at each level."""
    shape = (len(weights), len(starts) - 1, *changes.shape[1:])
    sums = np.zeros(shape)
    for level, (start, stop) in enumerate(pairwise(starts.tolist())):
        sums[:, level] = weights[:, image[start:stop]] @ changes[start:stop]
    return np.cumsum(sums, axis=1).reshape(-1, *changes.shape[1:])


def _like(tally: Tally, name: str, sums: Floats) -> NDArray[Any]:
    """Return sums as the column of a tally is: whole numbers, or fractions."""
    column = getattr(tally, name)
    return np.rint(sums).astype(np.int64) if column.dtype.kind == "i" else sums
