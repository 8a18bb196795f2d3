"""Detectors over all data sets: the macro mean of scores and the mean rank."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.comparison.detectors import DetectorResult
from evaltex_cli.protocols.base import EvidenceRows, Protocol
from evaltex_cli.ranking import statistics
from evaltex_cli.ranking.board import Settings
from evaltex_cli.records import Floats
from evaltex_cli.results import significance
from evaltex_cli.results.significance import Replicates
from evaltex_cli.tables.record import Record

Interval: TypeAlias = "tuple[float, float] | None"


class Entry(NamedTuple):
    """A detector's result under one protocol, and its headline scores of subsets of the images."""

    result: DetectorResult
    drawn: Replicates

    def value(self, score: str) -> float:
        """Return a score; NaN where it is undefined."""
        value = self.result.scores[score]
        return np.nan if value is None else float(value)


Entries: TypeAlias = Mapping[str, Entry]
"""Detector -> what it is ranked by."""


def replicates_of(
    protocol: Protocol, parameters: Any, rows: EvidenceRows, settings: Settings
) -> Replicates:
    """Return the headline scores of subsets of the images."""

    def headline(tally: Any) -> dict[str, Any]:
        scores = protocol.scores(tally, parameters)
        return {name: scores[name] for name in protocol.headline}

    return significance.replicates(rows, headline, settings.resamples, settings.seed)


@dataclass(frozen=True, slots=True, repr=False)
class OverallDetector(Record):
    """One detector over all data sets.

    Attributes
    ----------
    label : str
    macro : float or None
        Mean of the main scores of all data sets, whatever their size.
    macro_interval, mean_rank_interval : (low, high) or None
        From resamples of the images within each data set; None if one has too few images.
    mean_rank : float
        Mean of its ranks; detectors with equal scores share the mean of their ranks.
    pooled, pooled_interval : optional
        The score of the evidence of all data sets together, if asked for.
    """

    label: str
    macro: float | None
    macro_interval: Interval
    mean_rank: float
    mean_rank_interval: Interval
    pooled: float | None = None
    pooled_interval: Interval = None


@dataclass(frozen=True, slots=True, repr=False)
class Overall(Record):
    """One protocol over all data sets, the highest macro mean first; `left_out` are detectors that
    some data set lacks.
    """

    score: str
    detectors: list[OverallDetector]
    left_out: list[str]


def overall(datasets: Mapping[str, Entries], settings: Settings) -> Overall:
    """Return the detectors that all data sets have, under one protocol."""
    every = list(dict.fromkeys(label for entries in datasets.values() for label in entries))
    labels = [label for label in every if all(label in one for one in datasets.values())]
    left_out = [label for label in every if label not in labels]
    protocol = next(iter(next(iter(datasets.values())).values())).result.protocol
    score = protocol.main_score
    if not labels:
        return Overall(score, [], left_out)
    # (data sets, detectors), and the same with resamples behind.
    columns = {name: [one[label] for label in labels] for name, one in datasets.items()}
    values = np.array([[entry.value(score) for entry in column] for column in columns.values()])
    drawn = np.array([_resampled(name, one, score, settings) for name, one in columns.items()])
    ranks = np.array([statistics.mean_ranks(column) for column in values])
    drawn_ranks = np.array([statistics.mean_ranks(column) for column in drawn])
    # Resamples of too few images are much alike, whatever other images would show.
    images = min(map(compared_images, columns.values()))
    detectors = []
    for k, label in enumerate(labels):
        macro = values[:, k].mean()
        interval = _interval(drawn[:, k].mean(axis=0), images, settings)
        if interval is not None and interval[0] == interval[1]:
            interval = None  # all images score the same
        detectors.append(
            OverallDetector(
                label,
                None if np.isnan(macro) else float(macro),
                interval,
                float(ranks[:, k].mean()),
                _interval(drawn_ranks[:, k].mean(axis=0), images, settings),
                *_pooled([column[k] for column in columns.values()], score, settings),
            )
        )
    detectors.sort(key=lambda one: (one.macro is None, -(one.macro or 0.0)))
    return Overall(score, detectors, left_out)


def compared_images(entries: Sequence[Entry]) -> int:
    """Return how many images have objects, or detections of any detector."""
    return int(np.any([entry.drawn.has_objects for entry in entries], axis=0).sum())


def _resampled(name: str, entries: Sequence[Entry], score: str, settings: Settings) -> Floats:
    """(detectors, resamples) scores of the same random subsets of a data set's images.

    Each data set draws its subsets in an order of its own: with one order for all, the scores of
    two data sets would vary together.
    """
    seed = [settings.seed, *hashlib.sha256(name.encode("utf-8", "backslashreplace")).digest()]
    values = np.array([entry.drawn.values[score] for entry in entries])
    chosen = np.random.default_rng(seed).integers(0, max(values.shape[1], 1), settings.resamples)
    return values[:, chosen] if values.shape[1] else np.zeros((len(values), settings.resamples))


def _interval(values: Floats, images: int, settings: Settings) -> Interval:
    return significance.of_values(values, images, settings.level).interval


def _pooled(
    entries: Sequence[Entry], score: str, settings: Settings
) -> tuple[float | None, Interval]:
    """The score of the evidence of all data sets together, and its interval."""
    results = [entry.result for entry in entries]
    protocol, parameters = results[0].protocol, results[0].parameters
    if not settings.pooled or any(one.parameters != parameters for one in results):
        return None, None
    tally = protocol.tally.concatenate([one.rows.tally for one in results])
    # The data set's number keeps its images apart from those of the same name.
    names = [f"{k} {name}" for k, one in enumerate(results) for name in one.rows.names]
    drawn = replicates_of(protocol, parameters, EvidenceRows(names, tally), settings)
    images = int(drawn.has_objects.sum())
    value = protocol.scores(tally.sum(), parameters)[score]
    return value, significance.of_score(score, drawn, images, settings.level).interval
