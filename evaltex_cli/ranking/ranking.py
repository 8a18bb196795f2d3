"""Ranks of detectors, by data set and protocol: who is best, and who cannot be distinguished."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from evaltex_cli.display import DataFrame, Record, Table, number
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.evaluation import of_detectors
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.ranking import statistics
from evaltex_cli.ranking.board import Settings
from evaltex_cli.ranking.entry import Entry, protocol_of
from evaltex_cli.ranking.frames import frame_of
from evaltex_cli.ranking.overall import Overall, of_datasets
from evaltex_cli.records import Bools, Floats
from evaltex_cli.results import significance
from evaltex_cli.results.significance import Outcome

Interval: TypeAlias = "tuple[float, float] | None"
Entries: TypeAlias = "Mapping[str, Mapping[str, Entry]]"
"""Protocol -> detector -> what it is ranked by."""


@dataclass(frozen=True, slots=True, repr=False)
class Ranked(Record):
    """One detector's place under one protocol.

    Attributes
    ----------
    label : str
    scores : dict
        Every score that is a number; None where undefined.
    interval : (low, high) or None
        Of the main score.
    rank : int
        1 + how many detectors have a higher main score.
    rank_interval : (first, last)
        The ranks that it may have; it contains the true one as often as the level says.
    groups : str
        Letters; detectors that share one do not differ significantly, all others do.
    """

    label: str
    scores: dict[str, float | None]
    interval: Interval
    rank: int
    rank_interval: tuple[int, int]
    groups: str


@dataclass(frozen=True, slots=True, repr=False)
class Pair(Record):
    """The difference of two detectors' main scores, a's less b's.

    Interval and p are of one test (`significance`); `reason` says why they are missing.
    """

    a: str
    b: str
    difference: float | None
    interval: Interval
    p: float | None
    p_corrected: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ProtocolRanking(Record):
    """One protocol's ranking on one data set, the best first; `compared_images` have objects or
    detections of any detector.
    """

    protocol: str
    score: str
    compared_images: int
    detectors: list[Ranked]
    pairs: list[Pair]
    signatures: dict[str, str] = field(repr=False)

    @property
    def best(self) -> list[str]:
        """The best detector, and those that do not differ from it significantly."""
        first = self.detectors[0]
        if first.scores[self.score] is None:
            return []
        return [one.label for one in self.detectors if set(one.groups) & set(first.groups)]


@dataclass(frozen=True, slots=True, repr=False)
class Agreement(Record):
    """Kendall's tau-b of every two protocols' rankings, None where one has no order; and its
    bootstrap intervals.
    """

    protocols: list[str]
    tau: list[list[float | None]]
    intervals: list[list[Interval]]


@dataclass(frozen=True, slots=True, repr=False)
class DataSetRanking(Record):
    """All protocols' rankings on one data set; `left_out` says why some protocols have none."""

    name: str
    protocols: dict[str, ProtocolRanking]
    agreement: Agreement
    warnings: list[str] = field(default_factory=list, repr=False)


@dataclass(frozen=True, slots=True, repr=False)
class Ranking(Record):
    """Ranks of detectors on one data set or several.

    Attributes
    ----------
    settings : Settings
    detectors : list of str
        In the order in which they were given.
    datasets : list of DataSetRanking
    overall : dict
        Protocol -> means over all data sets, of the detectors that have all.
    """

    settings: Settings
    detectors: list[str]
    datasets: list[DataSetRanking]
    overall: dict[str, Overall]

    @property
    def warnings(self) -> list[str]:
        """What a user should know of the inputs and of the statistics, each once."""
        return list(dict.fromkeys(text for one in self.datasets for text in one.warnings))

    def shown(self) -> Table:
        """Return one line for each data set, protocol and detector."""
        rows = [["dataset", "protocol", "rank", "detector", "score", "ties"]]
        for dataset in self.datasets:
            for ranking in dataset.protocols.values():
                for one in ranking.detectors:
                    first, last = one.rank_interval
                    cells = [f"{one.rank} ({first}-{last})", one.label]
                    cells += [number(one.scores[ranking.score]), one.groups]
                    rows.append([dataset.name, ranking.protocol, *cells])
        return Table(f"Ranking of {len(self.detectors)} detectors", rows)

    def to_pandas(self, table: str = "detectors") -> DataFrame:
        """Return a table as a data frame.

        Parameters
        ----------
        table : {'detectors', 'pairs', 'overall'}

        Raises
        ------
        ConfigError
            When pandas is not installed (extra ``tables``), and for another table.
        """
        return frame_of(self, table)


def rank(entries: Mapping[str, Entries], detectors: Sequence[str], settings: Settings) -> Ranking:
    """Rank detectors.

    Parameters
    ----------
    entries : mapping
        Data set -> protocol -> detector -> entry.
    detectors : sequence of str
        All detectors, in the order in which they were given.
    settings : Settings

    Raises
    ------
    InputError
        When detectors were scored by other parameters of a protocol.
    """
    datasets = [_dataset(name, of_one, settings) for name, of_one in entries.items()]
    return Ranking(settings, list(detectors), datasets, of_datasets(entries, settings))


def _dataset(name: str, entries: Entries, settings: Settings) -> DataSetRanking:
    rankings = {
        protocol: _protocol(name, entries[protocol], settings)
        for protocol in PROTOCOLS
        if protocol in entries
    }
    warnings = of_detectors(
        (protocol, [(label, one.warnings) for label, one in entries[protocol].items()])
        for protocol in rankings
    )
    images = max(one.compared_images for one in rankings.values())
    few = significance.few_images(images)
    return DataSetRanking(
        name,
        rankings,
        _agreement({protocol: entries[protocol] for protocol in rankings}, images, settings),
        [*warnings, *([few] if few else [])],
    )


def _protocol(dataset: str, entries: Mapping[str, Entry], settings: Settings) -> ProtocolRanking:
    labels = list(entries)
    _refuse_unlike(dataset, entries)
    protocol = entries[labels[0]].protocol
    score = protocol.main_score
    images = int(np.any([entry.drawn.has_objects for entry in entries.values()], axis=0).sum())
    scores, replicates = columns_of(entries, score)
    tests = _tests(list(entries.values()), score, images, settings)
    corrected = _corrected(scores, replicates, tests, settings)
    differs = _significant(corrected, len(labels), settings)
    pairs = [
        Pair(
            labels[i],
            labels[j],
            None if np.isnan(difference := scores[i] - scores[j]) else float(difference),
            test.interval,
            test.p,
            p,
            test.reason,
        )
        for (i, j), test, p in zip(
            statistics.pairs(len(labels)).tolist(), tests, corrected, strict=True
        )
    ]
    ranks = statistics.ranks(scores)
    # Detectors of one rank stay in the order in which they were given.
    order = np.argsort(ranks, kind="stable").tolist()
    intervals = statistics.rank_intervals(scores, differs)
    groups = statistics.tie_groups(order, differs)
    ranked = [
        Ranked(
            labels[k],
            entries[labels[k]].scores,
            significance.of_score(score, entries[labels[k]].drawn, images, settings.level).interval,
            int(ranks[k]),
            (int(intervals[k, 0]), int(intervals[k, 1])),
            groups[k],
        )
        for k in order
    ]
    signatures = {label: entry.signature for label, entry in entries.items()}
    return ProtocolRanking(protocol.name, score, images, ranked, pairs, signatures)


def columns_of(entries: Mapping[str, Entry], score: str) -> tuple[Floats, Floats]:
    """(d,) scores of the detectors and (d, b) of the subsets of the images; NaN where undefined."""
    scores = [entry.scores[score] for entry in entries.values()]
    return (
        np.array([np.nan if value is None else value for value in scores], np.float64),
        np.array([entry.drawn.values[score] for entry in entries.values()]),
    )


def _tests(entries: Sequence[Entry], score: str, images: int, settings: Settings) -> list[Outcome]:
    """The test of each pair, the first less the second, as `compare` makes it."""
    return [
        significance.of_difference(
            score, entries[j].drawn, entries[i].drawn, images, settings.level
        )
        if entries[i].scores[score] is not None and entries[j].scores[score] is not None
        else Outcome(reason=significance.UNDEFINED)
        for i, j in statistics.pairs(len(entries)).tolist()
    ]


def _corrected(
    scores: Floats, replicates: Floats, tests: Sequence[Outcome], settings: Settings
) -> list[float | None]:
    """P-values corrected for all pairs; never below the p-value of the pair alone."""
    alone = [test.p for test in tests]
    if settings.correction == "holm":
        return significance.holm(alone)
    together = statistics.max_t(scores, replicates).tolist()
    return [
        None if p is None else max(p, corrected)
        for p, corrected in zip(alone, together, strict=True)
    ]


def _significant(corrected: Sequence[float | None], count: int, settings: Settings) -> Bools:
    """(d, d) which detectors differ."""
    differs = np.zeros((count, count), bool)
    alpha = round(1 - settings.level, significance.DECIMALS)
    for (i, j), p in zip(statistics.pairs(count).tolist(), corrected, strict=True):
        differs[i, j] = differs[j, i] = p is not None and p < alpha
    return differs


def _refuse_unlike(dataset: str, entries: Mapping[str, Entry]) -> None:
    (first, one), *others = entries.items()
    for label, other in others:
        name = one.protocol.name
        if one.parameters != other.parameters:
            differing = [
                f"{key}={getattr(one.parameters, key)} and {getattr(other.parameters, key)}"
                for key in one.parameters.__dataclass_fields__
                if getattr(one.parameters, key) != getattr(other.parameters, key)
            ]
            raise InputError(
                f"{dataset}: {first} and {label} cannot be ranked under {name}, which scores them"
                f" by {', '.join(differing)}; set the parameter for all"
            )
        if list(one.rows.names) != list(other.rows.names):
            raise InputError(
                f"{dataset}: {first} and {label} were scored on other images; rank detectors of one"
                " ground truth"
            )


def _agreement(entries: Entries, images: int, settings: Settings) -> Agreement:
    """How far the protocols that rank the same detectors agree."""
    labels = list(next(iter(entries.values())))
    columns = {
        name: columns_of({label: of_one[label] for label in labels}, protocol_of(of_one).main_score)
        for name, of_one in entries.items()
        if list(of_one) == labels
    }
    names = list(columns)
    tau: list[list[float | None]] = [[None] * len(names) for _ in names]
    intervals: list[list[Interval]] = [[None] * len(names) for _ in names]
    for i, one in enumerate(names):
        for j, other in enumerate(names):
            value = float(statistics.kendall(columns[one][0], columns[other][0]))
            if not np.isnan(value):
                tau[i][j] = value
                drawn = statistics.kendall(columns[one][1], columns[other][1])
                intervals[i][j] = significance.of_values(drawn, images, settings.level).interval
    return Agreement(names, tau, intervals)
