"""Ranks of detectors, by data set and protocol: who is best, and who cannot be distinguished."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import chain, combinations
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np

from evaltex_cli.comparison.detectors import (
    DetectorResult,
    Opened,
    by_protocol,
    name_of,
    read_or_evaluate,
    warnings_of,
)
from evaltex_cli.errors import counted
from evaltex_cli.evaluation.extras import Bootstrap
from evaltex_cli.evaluation.groups import Units, grouping_of
from evaltex_cli.protocols.score_names import same
from evaltex_cli.ranking import statistics
from evaltex_cli.ranking.board import Board, Settings
from evaltex_cli.records import Floats
from evaltex_cli.results import significance
from evaltex_cli.results.significance import Outcome, Replicates, or_none
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.tables import Cell, Column, Table
from evaltex_cli.tables.record import Record, plain, raw

Interval: TypeAlias = "tuple[float, float] | None"
_METHODS = {"max-t": "step-down max-T", "holm": "Holm"}


@dataclass(frozen=True, slots=True, repr=False)
class Ranked(Record):
    """One detector's place under one protocol."""

    label: str
    scores: dict[str, float | None]
    """Every score that is a number; None where undefined."""
    interval: Interval
    """Of the main score."""
    rank: int
    """1 + how many detectors have a higher main score."""
    rank_interval: tuple[int, int]
    """The ranks that it may have; it contains the true one as often as the level says."""
    groups: str
    """Letters; detectors that share one do not differ significantly, all others do."""


@dataclass(frozen=True, slots=True, repr=False)
class Pair(Record):
    """The difference of two detectors' main scores, a's less b's, with interval and p-value of one
    test; `reason` says why they are missing.
    """

    a: str
    b: str
    difference: float | None
    interval: Interval
    p: float | None
    p_corrected: float | None
    reason: str | None = None
    detectable: float | None = None
    """The true difference that such images show 8 times in 10."""


@dataclass(frozen=True, slots=True, repr=False)
class ProtocolRanking(Record):
    """One protocol's ranking on one data set, the best first; `compared_images`, or other units,
    have objects, or detections of any detector. `resamples` is the number of subsets of these, all
    of them if `is_exact` (`significance.replicates`).
    """

    protocol: str
    score: str
    compared_images: int
    resamples: int
    is_exact: bool
    detectors: list[Ranked]
    pairs: list[Pair]
    signatures: dict[str, str]

    @property
    def best(self) -> list[str]:
        """The best detector, and those that do not differ from it significantly."""
        first = self.detectors[0]
        if first.scores[self.score] is None:
            return []
        return [one.label for one in self.detectors if set(one.groups) & set(first.groups)]

    @property
    def is_tested(self) -> bool:
        """Whether there are images enough to show any difference."""
        return any(pair.p is not None for pair in self.pairs)

    def sentence(self) -> str:
        """Say who is best, and who cannot be distinguished from it."""
        best, *others = self.best or [""]
        if not best:
            return "No detector has a score."
        if not self.is_tested:
            rest = str(self.pairs[0].reason)
        elif others:
            rest = f"not significantly lower: {', '.join(others)}"
        else:
            rest = "all others are significantly lower"
        return f"{best} has the highest {same(self.score)}; {rest}."


@dataclass(frozen=True, slots=True, repr=False)
class Agreement(Record):
    """Kendall's tau-b of every two protocols' rankings, None where one has no order; and its
    bootstrap intervals.
    """

    protocols: list[str]
    tau: list[list[float | None]]
    intervals: list[list[Interval]]

    def tables(self) -> list[Table]:
        """Return the matrix below its diagonal, and the pair of protocols that agrees least."""
        names, notes = self.protocols, []
        if len(names) < 2:
            return []
        rows: list[list[Cell]] = []
        pairs: list[tuple[float, int, int]] = []
        for i, values in enumerate(self.tau):
            shown = [None if value is None else f"{value:.2f}" for value in values[:i]]
            rows.append([f"{i + 1} {names[i]}", *shown, *[""] * (len(names) - 1 - i)])
            pairs += [(value, i, j) for j, value in enumerate(values[:i]) if value is not None]
        if pairs:
            value, i, j = min(pairs)
            ends = self.intervals[i][j]
            interval = "" if ends is None else " [{:.2f}, {:.2f}]".format(*ends)
            notes = [f"Least alike: {names[j]} and {names[i]}, {value:.2f}{interval}."]
        columns = [Column("protocol"), *(Column(str(k)) for k in range(1, len(names)))]
        return [
            Table("Agreement of the protocols' rankings (Kendall's tau-b)", columns, rows, notes)
        ]


@dataclass(frozen=True, slots=True, repr=False)
class DataSetRanking(Record):
    """All protocols' rankings on one data set."""

    name: str
    protocols: dict[str, ProtocolRanking]
    agreement: Agreement
    warnings: list[str] = field(default_factory=list, repr=False)


@dataclass(frozen=True, slots=True, repr=False)
class OverallDetector(Record):
    """One detector over all data sets."""

    label: str
    macro: float | None
    """Mean of the main scores of all data sets, whatever their size."""
    macro_interval: Interval
    """This and `mean_rank_interval`: from resamples of the images within each data set; None if one
    has too few images."""
    mean_rank: float
    """Mean of its ranks; detectors with equal scores share the mean of their ranks."""
    mean_rank_interval: Interval


@dataclass(frozen=True, slots=True, repr=False)
class Overall(Record):
    """One protocol over all data sets, the highest macro mean first; `left_out` are detectors that
    some data set lacks.
    """

    score: str
    detectors: list[OverallDetector]
    left_out: list[str]


@dataclass(frozen=True, slots=True, repr=False)
class Ranking(Record):
    """Ranks of detectors on one data set or several."""

    settings: Settings
    detectors: list[str]
    """In the order in which they were given."""
    datasets: list[DataSetRanking]
    overall: dict[str, Overall]
    """Protocol -> means over all data sets, of the detectors that have all."""

    @property
    def warnings(self) -> list[str]:
        """What a user should know of the inputs and of the statistics, each once."""
        return list(dict.fromkeys(text for one in self.datasets for text in one.warnings))

    def to_dict(self) -> dict[str, Any]:
        """Return the ranking as JSON has it."""
        return {
            **msgspec.structs.asdict(self.settings),
            "detectors": self.detectors,
            "datasets": plain(self.datasets),
            "overall": plain(self.overall),
            "warnings": self.warnings,
        }

    def tables(self) -> list[Table]:
        """Return a table for each data set and protocol, agreement, and means over data sets."""
        tables = []
        for dataset in self.datasets:
            tables += [self.table_of(dataset, one) for one in dataset.protocols.values()]
            tables[-1].notes = [*tables[-1].notes, *self.notes(dataset)]
            tables += dataset.agreement.tables()
        return tables + self.overall_tables()

    def table_of(self, dataset: DataSetRanking, ranking: ProtocolRanking) -> Table:
        """Return the ranks on one data set under one protocol; the best group stands out."""
        columns = [
            Column("detector"),
            Column(same(ranking.score), "score"),
            Column(f"{100 * self.settings.level:g}% interval", "interval"),
            *(Column("rank", "number"), Column("ranks"), Column("group")),
        ]
        rows: list[list[Cell]] = []
        for one in ranking.detectors:
            ranks = "–".join(map(str, dict.fromkeys(one.rank_interval)))
            rows.append(
                [one.label, one.scores[ranking.score], one.interval, one.rank, ranks, one.groups]
            )
        best = ranking.best if ranking.is_tested else []
        cells = {(k, 1) for k, one in enumerate(ranking.detectors) if one.label in best}
        units = Units(self.settings.unit).counted(ranking.compared_images)
        title = f"{ranking.protocol} on {dataset.name}, {units}"
        return Table(title, columns, rows, [ranking.sentence()], cells)

    def notes(self, dataset: DataSetRanking) -> list[str]:
        """Say what the columns and marks of the tables of a data set mean."""
        first = next(iter(dataset.protocols.values()))
        units = Units(self.settings.unit)
        subsets = significance.shown_subsets(first.resamples, first.is_exact, units)
        pairs = counted(len(first.pairs), "{count} pair[s]")
        notes = [
            f"ranks: the ranks that a detector may have, at {100 * self.settings.level:g}%.",
            f"group: detectors that share a letter do not differ significantly ({units.test},"
            f" {subsets}; p-values corrected for {pairs}, {_METHODS[self.settings.correction]}).",
            "Bold or green: the best, and all that do not differ from it significantly.",
        ]
        if least := [one.detectable for one in first.pairs if one.detectable is not None]:
            median = float(np.median(least))
            notes.append(significance.shown_power(median, first.compared_images, units))
        return notes

    def overall_tables(self) -> list[Table]:
        """Return a table of means over all data sets for each protocol."""
        names = ", ".join(one.name for one in self.datasets)
        tables = []
        for protocol, each in self.overall.items():
            columns = [
                Column("detector"),
                *(Column(f"mean {same(each.score)}", "score"), Column("interval", "interval")),
                *(Column("mean rank", "number"), Column("rank interval", "number interval")),
            ]
            rows: list[list[Cell]] = [
                [one.label, one.macro, one.macro_interval, one.mean_rank, one.mean_rank_interval]
                for one in each.detectors
            ]
            missing = f"Not in all data sets: {', '.join(each.left_out)}."
            notes = [missing] * bool(each.left_out)
            tables.append(Table(f"{protocol} over all data sets: {names}", columns, rows, notes))
        return tables

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return the tables of detectors, of pairs and of means over data sets."""
        rankings = [
            ({"dataset": dataset.name, "protocol": one.protocol, "score": one.score}, one)
            for dataset in self.datasets
            for one in dataset.protocols.values()
        ]
        detectors = [
            ({**lead, "detector": one.label, "value": one.scores[ranking.score]}, one)
            for lead, ranking in rankings
            for one in ranking.detectors
        ]
        pairs = [(lead, pair) for lead, ranking in rankings for pair in ranking.pairs]
        overall = [
            ({"protocol": protocol, "score": each.score, "detector": one.label}, one)
            for protocol, each in self.overall.items()
            for one in each.detectors
        ]
        lead = ("dataset", "protocol", "detector", "score", "value", "interval", "rank")
        of_pair = [one.name for one in fields(Pair)]
        of_overall = [one.name for one in fields(OverallDetector) if one.name != "label"]
        return {
            "detectors": partial(raw, (*lead, "rank_interval", "groups"), detectors),
            "pairs": partial(raw, ("dataset", "protocol", "score", *of_pair), pairs),
            "overall": partial(raw, ("protocol", "score", "detector", *of_overall), overall),
        }


# Ranking ------------------------------------------------------------------------------------------


class MainScores(NamedTuple):
    """The main scores of all detectors on one data set under one protocol."""

    results: Sequence[DetectorResult]
    drawn: Sequence[Replicates]
    """One per detector."""
    scores: Floats
    """(detectors,)"""
    replicates: Floats
    """(detectors, subsets)"""
    images: int
    """How many images, or other units, have objects, or detections of any detector."""


def rank(
    board: Board,
    ordered_map: OrderedMap = map,
    opened: Opened | None = None,
) -> Ranking:
    """Rank the detectors of a board.

    `opened` is that of `read_or_evaluate`. Raises `InputError` as this does, and when no protocol
    serves all detectors of a data set.
    """
    settings = board.settings
    by_dataset: dict[str, dict[str, MainScores]] = {}
    rankings = []
    for one in board.datasets:
        results = read_or_evaluate(
            *(one.gt, one.detections, one.options, one.parameters, ordered_map),
            with_images=False,
            opened=opened,
        )
        groups, left_out = by_protocol(results, one.parameters)
        name = one.name or name_of(groups)
        grouping = grouping_of(settings.unit, one.groups)
        bootstrap = Bootstrap(settings.level, settings.resamples, settings.seed, grouping.units)
        scored = {protocol: _main_scores(group, bootstrap) for protocol, group in groups.items()}
        images = max(each.images for each in scored.values())
        warnings = [f"{name}: left out: {what} ({why})" for what, why in left_out.items()]
        names = next(iter(scored.values())).results[0].rows.names
        few = significance.few_units(images, grouping.units)
        warnings += [*grouping.warnings(names), *warnings_of(groups), *filter(None, [few])]
        protocols = {protocol: _ranking(each, settings) for protocol, each in scored.items()}
        agreement = _agreement(scored, images, settings)
        rankings.append(DataSetRanking(name, protocols, agreement, warnings))
        by_dataset[name] = scored
    first, *others = by_dataset.values()
    means = {
        protocol: _overall({name: one[protocol] for name, one in by_dataset.items()}, settings)
        for protocol in first
        if others and all(protocol in one for one in others)
    }
    detectors = list(dict.fromkeys(chain(*(one.detections for one in board.datasets))))
    return Ranking(settings, detectors, rankings, means)


def _main_scores(results: Sequence[DetectorResult], bootstrap: Bootstrap) -> MainScores:
    name = results[0].protocol.main_score
    drawn = [significance.replicates(one.rows, one.score, bootstrap) for one in results]
    return MainScores(
        results,
        drawn,
        np.array([one.scores[name] for one in results], np.float64),  # None is NaN
        np.array([one.values[name] for one in drawn]),
        int(np.any([one.has_objects for one in drawn], axis=0).sum()),
    )


def _ranking(scored: MainScores, settings: Settings) -> ProtocolRanking:
    """Rank detectors on one data set under one protocol."""
    results, drawn, scores, replicates, images = scored
    labels, protocol = [one.label for one in results], results[0].protocol
    main_score = protocol.main_score
    pairs = list(combinations(range(len(labels)), 2))
    tests = [
        Outcome(reason=significance.UNDEFINED)
        if np.isnan(scores[i] - scores[j])
        else significance.of_difference(main_score, drawn[j], drawn[i], images, settings.level)
        for i, j in pairs
    ]
    if settings.correction == "holm":
        corrected = significance.holm([test.p for test in tests])
    else:
        # A corrected p-value is never below that of the pair alone.
        corrected = [
            None if test.p is None else max(test.p, p)
            for test, p in zip(tests, statistics.max_t(scores, replicates).tolist(), strict=True)
        ]
    differs = np.zeros((len(labels), len(labels)), bool)
    alpha = round(1 - settings.level, significance.DECIMALS)
    listed = []
    for (i, j), test, p in zip(pairs, tests, corrected, strict=True):
        differs[i, j] = differs[j, i] = p is not None and p < alpha
        difference = or_none(scores[i] - scores[j])
        detectable = None
        if test.p is not None:
            detectable = significance.detectable(main_score, drawn[j], drawn[i])
        tested = test.interval, test.p, p, test.reason, detectable
        listed.append(Pair(labels[i], labels[j], difference, *tested))
    # From the best to the worst; those of one rank stay in the order in which they were given.
    ranks = statistics.ranks(scores)
    order = np.argsort(ranks, kind="stable").tolist()
    rank_intervals = statistics.rank_intervals(scores, differs).tolist()
    groups = statistics.tie_groups(order, differs)
    ranked = []
    for k in order:
        test = significance.of_score(main_score, drawn[k], images, settings.level)
        low, high = rank_intervals[k]
        own = (labels[k], results[k].scores, test.interval, int(ranks[k]), (low, high), groups[k])
        ranked.append(Ranked(*own))
    signatures = {one.label: one.document.signature for one in results}
    subsets = replicates.shape[1], drawn[0].is_exact
    return ProtocolRanking(protocol.name, main_score, images, *subsets, ranked, listed, signatures)


def _agreement(scored: Mapping[str, MainScores], images: int, settings: Settings) -> Agreement:
    """Return how far the protocols agree in the order of the detectors."""
    tau: list[list[float | None]] = []
    intervals: list[list[Interval]] = []
    for one in scored.values():
        tau.append([])
        intervals.append([])
        for other in scored.values():
            value = or_none(statistics.kendall(one.scores, other.scores))
            drawn = statistics.kendall(one.replicates, other.replicates)
            tau[-1].append(value)
            intervals[-1].append(None if value is None else _interval(drawn, images, settings))
    return Agreement(list(scored), tau, intervals)


def _overall(datasets: Mapping[str, MainScores], settings: Settings) -> Overall:
    """Return the detectors that all data sets have, under one protocol."""
    labels_of = [[result.label for result in one.results] for one in datasets.values()]
    every = list(dict.fromkeys(chain(*labels_of)))
    labels = [label for label in every if all(label in own for own in labels_of)]
    values, drawn = [], []
    for (name, one), own in zip(datasets.items(), labels_of, strict=True):
        rows = [own.index(label) for label in labels]
        values.append(one.scores[rows])
        drawn.append(_drawn_again(name, one.replicates[rows], settings))
    # Means over the data sets, of detectors and of resamples of each.
    macro, drawn_macro = np.mean(values, axis=0), np.mean(drawn, axis=0)
    ranks = np.mean([statistics.mean_ranks(column) for column in values], axis=0)
    drawn_ranks = np.mean([statistics.mean_ranks(column) for column in drawn], axis=0)
    # Resamples of too few images are much alike, whatever other images would show.
    images = min(one.images for one in datasets.values())
    detectors = []
    for k, label in enumerate(labels):
        interval = _interval(drawn_macro[k], images, settings)
        if interval is not None and interval[0] == interval[1]:
            interval = None  # all images score the same
        rank_interval = _interval(drawn_ranks[k], images, settings)
        detectors.append(
            OverallDetector(label, or_none(macro[k]), interval, float(ranks[k]), rank_interval)
        )
    detectors.sort(key=lambda one: (one.macro is None, -(one.macro or 0.0)))
    score = next(iter(datasets.values())).results[0].protocol.main_score
    return Overall(score, detectors, [label for label in every if label not in labels])


def _drawn_again(name: str, replicates: Floats, settings: Settings) -> Floats:
    """(detectors, resamples) scores of the same random subsets of a data set's images.

    Each data set draws its subsets in an order of its own: with one order for all, the scores of
    two data sets would vary together.
    """
    seed = [settings.seed, *hashlib.sha256(name.encode("utf-8", "backslashreplace")).digest()]
    generator = np.random.default_rng(seed)
    return replicates[:, generator.integers(0, replicates.shape[1], settings.resamples)]


def _interval(values: Floats, images: int, settings: Settings) -> Interval:
    return significance.of_values(values, images, settings.level).interval
