"""Detectors over all data sets: the macro mean of scores and the mean rank."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from evaltex_cli.display import Record
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.base import EvidenceRows
from evaltex_cli.ranking import statistics
from evaltex_cli.ranking.board import Settings
from evaltex_cli.ranking.entry import Entry, Subsets, drawn_of, protocol_of
from evaltex_cli.records import Floats
from evaltex_cli.results import significance

Interval: TypeAlias = "tuple[float, float] | None"
Entries: TypeAlias = "Mapping[str, Mapping[str, Mapping[str, Entry]]]"
"""Data set -> protocol -> detector -> what it is ranked by."""


@dataclass(frozen=True, slots=True, repr=False)
class OverallDetector(Record):
    """One detector over all data sets.

    Attributes
    ----------
    label : str
    macro : float or None
        Mean of the main scores of all data sets, whatever their size.
    mean_rank : float
        Mean of its ranks; detectors with equal scores share the mean of their ranks.
    macro_interval, mean_rank_interval : (low, high) or None
        Of resamples of the images within each data set; None if one has too few images.
    pooled : float or None
        The score of the evidence of all data sets together, if asked for.
    pooled_interval : (low, high) or None
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
    """One protocol over all data sets, the best macro mean first; `left_out` are detectors without
    all data sets.
    """

    score: str
    detectors: list[OverallDetector]
    left_out: list[str]


def of_datasets(entries: Entries, settings: Settings) -> dict[str, Overall]:
    """Return protocol -> detectors over all data sets that it ranks; nothing for a single one."""
    names = [
        name
        for name in PROTOCOLS
        if len(entries) > 1 and all(name in one for one in entries.values())
    ]
    return {
        name: _overall({data: of_one[name] for data, of_one in entries.items()}, settings)
        for name in names
    }


def _overall(entries: Mapping[str, Mapping[str, Entry]], settings: Settings) -> Overall:
    every = list(dict.fromkeys(label for of_one in entries.values() for label in of_one))
    labels = [label for label in every if all(label in of_one for of_one in entries.values())]
    score = protocol_of(next(iter(entries.values()))).main_score
    images = min(_images(of_one, labels) for of_one in entries.values())
    # (data sets, detectors), and the same with resamples behind.
    values = np.array(
        [[_value(of_one[label], score) for label in labels] for of_one in entries.values()]
    )
    drawn = np.array(
        [_resampled(name, of_one, labels, score, settings) for name, of_one in entries.items()]
    )
    values = values.reshape(len(entries), len(labels))
    ranks = np.array([statistics.mean_ranks(one) for one in values])
    drawn_ranks = np.array([statistics.mean_ranks(one) for one in drawn])
    if not labels:
        return Overall(score, [], every)
    found = [
        OverallDetector(
            label,
            _or_none(values[:, k].mean()),
            _varying(_interval(drawn[:, k].mean(axis=0), images, settings)),
            float(ranks[:, k].mean()),
            _interval(drawn_ranks[:, k].mean(axis=0), images, settings),
            *(_pooled([one[label] for one in entries.values()], score, settings)),
        )
        for k, label in enumerate(labels)
    ]
    found.sort(key=lambda one: (one.macro is None, -(one.macro or 0.0)))
    return Overall(score, found, [label for label in every if label not in labels])


def _value(entry: Entry, score: str) -> float:
    value = entry.scores[score]
    return np.nan if value is None else float(value)


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _resampled(
    name: str, entries: Mapping[str, Entry], labels: list[str], score: str, settings: Settings
) -> Floats:
    """(detectors, resamples) scores of the same random subsets of a data set's images.

    The subsets of each data set are drawn from those that were scored in an order of its own, as
    those of two data sets would else be the same random numbers.
    """
    seed = [settings.seed, *hashlib.sha256(name.encode("utf-8", "backslashreplace")).digest()]
    values = np.array([entries[label].drawn.values[score] for label in labels])
    values = values.reshape(len(labels), -1)
    chosen = np.random.default_rng(seed).integers(0, max(values.shape[1], 1), settings.resamples)
    return values[:, chosen] if values.shape[1] else np.zeros((len(labels), settings.resamples))


def _images(entries: Mapping[str, Entry], labels: list[str]) -> int:
    """How many images have objects or detections of any detector."""
    return int(np.any([entries[label].drawn.has_objects for label in labels], axis=0).sum())


def _interval(values: Floats, images: int, settings: Settings) -> Interval:
    """The interval of what was resampled, `images` in the smallest data set: resamples of too few
    are much alike, whatever other images would show.
    """
    return significance.of_values(values, images, settings.level).interval


def _varying(interval: Interval) -> Interval:
    """The interval of a score; None if all images score the same, as of one data set's score."""
    return None if interval is None or interval[0] == interval[1] else interval


def _pooled(entries: list[Entry], score: str, settings: Settings) -> tuple[float | None, Interval]:
    """The score of the evidence of all data sets together, and its interval."""
    protocol, parameters = entries[0].protocol, entries[0].parameters
    if not settings.pooled or any(entry.parameters != parameters for entry in entries):
        return None, None
    tally = protocol.tally.concatenate([entry.rows.tally for entry in entries])
    # The data set's number keeps its images apart from those of the same name.
    names = [f"{k} {name}" for k, entry in enumerate(entries) for name in entry.rows.names]
    drawn = drawn_of(
        protocol, parameters, EvidenceRows(names, tally), Subsets(settings.resamples, settings.seed)
    )
    images = int(drawn.has_objects.sum())
    value = protocol.scores(tally.sum(), parameters)[score]
    return value, significance.of_score(score, drawn, images, settings.level).interval
