"""Ranks of detectors, by data set and protocol: who is best, and who cannot be distinguished."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaltex_cli.comparison.detectors import (
    DetectorResult,
    by_protocol,
    read_or_evaluate,
    warnings_of,
)
from evaltex_cli.errors import InputError, counted
from evaltex_cli.protocols.score_names import same
from evaltex_cli.ranking import statistics
from evaltex_cli.ranking.board import Board, Settings
from evaltex_cli.ranking.overall import (
    Entries,
    Entry,
    Interval,
    Overall,
    compared_images,
    overall,
    replicates_of,
)
from evaltex_cli.results import significance
from evaltex_cli.results.significance import Outcome
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.tables import Cell, Column, Table
from evaltex_cli.tables.record import Record, plain, raw

_METHODS = {"max-t": "step-down max-T", "holm": "Holm"}
_DETECTORS = (
    *("dataset", "protocol", "detector", "score", "value", "interval"),
    *("rank", "rank_interval", "groups"),
)
_PAIRS = (
    *("dataset", "protocol", "score", "a", "b"),
    *("difference", "interval", "p", "p_corrected", "reason"),
)
_OVERALL = (
    *("protocol", "score", "detector", "macro", "macro_interval"),
    *("mean_rank", "mean_rank_interval", "pooled", "pooled_interval"),
)


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


@dataclass(frozen=True, slots=True, repr=False)
class ProtocolRanking(Record):
    """One protocol's ranking on one data set, the best first; `compared_images` have objects, or
    detections of any detector. `resamples` is the number of subsets of images, all of them if
    `is_exact` (`significance.replicates`).
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
        rows: list[list[Cell]] = []
        pairs: list[tuple[float, int, int]] = []
        for i, values in enumerate(self.tau):
            shown = [None if value is None else f"{value:.2f}" for value in values[:i]]
            rows.append([f"{i + 1} {names[i]}", *shown, *[""] * (len(names) - 1 - i)])
            pairs += [(value, i, j) for j, value in enumerate(values[:i]) if value is not None]
        if pairs:
            value, i, j = min(pairs)
            interval = shown_range(self.intervals[i][j])
            notes = [f"Least alike: {names[j]} and {names[i]}, {value:.2f} {interval}."]
        columns = [Column("protocol"), *(Column(str(k)) for k in range(1, len(names)))]
        title = "Agreement of the protocols' rankings (Kendall's tau-b)"
        return [Table(title, columns, rows, notes)]


@dataclass(frozen=True, slots=True, repr=False)
class DataSetRanking(Record):
    """All protocols' rankings on one data set."""

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

    def to_dict(self) -> dict[str, Any]:
        """Return the ranking as JSON has it."""
        return {
            **plain(self.settings),
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
            if len(dataset.agreement.protocols) > 1:
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
        rows: list[list[Cell]] = [
            [
                *(one.label, one.scores[ranking.score], one.interval, one.rank),
                *("–".join(map(str, dict.fromkeys(one.rank_interval))), one.groups),
            ]
            for one in ranking.detectors
        ]
        best = {
            (k, 1)
            for k, one in enumerate(ranking.detectors)
            if ranking.is_tested and one.label in ranking.best
        }
        images = counted(ranking.compared_images, "{count} image[s]")
        title = f"{ranking.protocol} on {dataset.name}, {images}"
        return Table(title, columns, rows, [ranking.sentence()], best)

    def notes(self, dataset: DataSetRanking) -> list[str]:
        """Say what the columns and marks of the tables of a data set mean."""
        settings, first = self.settings, next(iter(dataset.protocols.values()))
        count = len(first.detectors)
        pairs = counted(count * (count - 1) // 2, "{count} pair[s]")
        return [
            f"ranks: the ranks that a detector may have, at {100 * settings.level:g}%.",
            "group: detectors that share a letter do not differ significantly (paired permutation"
            f" test over images, {significance.shown_subsets(first.resamples, first.is_exact)};"
            " p-values"
            f" corrected for {pairs}, {_METHODS[settings.correction]}).",
            "Bold or green: the best, and all that do not differ from it significantly.",
        ]

    def overall_tables(self) -> list[Table]:
        """Return a table of means over all data sets for each protocol."""
        names = ", ".join(one.name for one in self.datasets)
        tables = []
        for protocol, each in self.overall.items():
            columns = [
                Column("detector"),
                *(Column(f"mean {same(each.score)}", "score"), Column("interval", "interval")),
                *(Column("mean rank", "number"), Column("rank interval", "number interval")),
                *(Column("pooled", "score"), Column("pooled interval", "interval")),
            ]
            rows: list[list[Cell]] = [
                [
                    *(one.label, one.macro, one.macro_interval),
                    *(one.mean_rank, one.mean_rank_interval, one.pooled, one.pooled_interval),
                ]
                for one in each.detectors
            ]
            if all(one.pooled is None for one in each.detectors):
                columns, rows = columns[:-2], [row[:-2] for row in rows]
            missing = f"Not on all data sets: {', '.join(each.left_out)}."
            notes = [missing] * bool(each.left_out)
            tables.append(Table(f"{protocol} over all data sets: {names}", columns, rows, notes))
        return tables

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return the tables of detectors, of pairs and of means over data sets."""
        return {"detectors": self._detectors, "pairs": self._pairs, "overall": self._overall}

    def _rankings(self) -> Iterator[tuple[dict[str, Cell], ProtocolRanking]]:
        for dataset in self.datasets:
            for one in dataset.protocols.values():
                yield {"dataset": dataset.name, "protocol": one.protocol, "score": one.score}, one

    def _detectors(self) -> Table:
        rows = (
            ({**lead, "detector": one.label, "value": one.scores[ranking.score]}, one)
            for lead, ranking in self._rankings()
            for one in ranking.detectors
        )
        return raw(_DETECTORS, rows)

    def _pairs(self) -> Table:
        return raw(_PAIRS, ((lead, pair) for lead, one in self._rankings() for pair in one.pairs))

    def _overall(self) -> Table:
        rows = (
            ({"protocol": protocol, "score": each.score, "detector": one.label}, one)
            for protocol, each in self.overall.items()
            for one in each.detectors
        )
        return raw(_OVERALL, rows)


def shown_range(interval: Interval) -> str:
    """Return an interval of ranks, or of Kendall's tau, for reading."""
    return "–" if interval is None else f"[{interval[0]:.2f}, {interval[1]:.2f}]"


# Ranking ------------------------------------------------------------------------------------------


def rank_board(board: Board, ordered_map: OrderedMap = map) -> tuple[Ranking, list[str]]:
    """Rank the detectors of a board; return also which protocols are left out, and why.

    Raises
    ------
    InputError
        As `read_or_evaluate`, and when no protocol serves all detectors of a data set.
    """
    datasets, left_out = {}, []
    for one in board.datasets:
        results = read_or_evaluate(
            one.gt, one.detections, one.options, one.parameters, ordered_map, with_images=False
        )
        try:
            datasets[one.name], reasons = by_protocol(results, one.parameters)
        except InputError as error:
            raise InputError(f"{one.name}: {error}") from error
        left_out += [f"{one.name}: left out: {name} ({why})" for name, why in reasons.items()]
    return rank(datasets, board.detectors, board.settings), left_out


def rank(
    datasets: Mapping[str, Mapping[str, Sequence[DetectorResult]]],
    detectors: Sequence[str],
    settings: Settings,
) -> Ranking:
    """Rank detectors.

    Parameters
    ----------
    datasets : mapping
        Data set -> protocol -> the results of its detectors, which belong together.
    detectors : sequence of str
        All detectors, in the order in which they were given.
    """
    entries = {
        name: {
            protocol: {
                one.label: Entry(
                    one, replicates_of(one.protocol, one.parameters, one.rows, settings)
                )
                for one in results
            }
            for protocol, results in groups.items()
        }
        for name, groups in datasets.items()
    }
    rankings = []
    for name, by_name in entries.items():
        protocols = {protocol: _ranking(one, settings) for protocol, one in by_name.items()}
        images = max(one.compared_images for one in protocols.values())
        warnings = warnings_of(datasets[name])
        warnings += [few] if (few := significance.few_images(images)) else []
        agreement = _agreement(by_name, images, settings)
        rankings.append(DataSetRanking(name, protocols, agreement, warnings))
    first, *others = entries.values()
    common = [name for name in first if others and all(name in one for one in others)]
    means = {
        name: overall({dataset: each[name] for dataset, each in entries.items()}, settings)
        for name in common
    }
    return Ranking(settings, list(detectors), rankings, means)


def _ranking(entries: Entries, settings: Settings) -> ProtocolRanking:
    """Rank detectors on one data set under one protocol."""
    labels, each = list(entries), list(entries.values())
    protocol = each[0].result.protocol
    score, images = protocol.main_score, compared_images(each)
    scores = np.array([entry.value(score) for entry in each])
    pairs = statistics.pairs(len(labels)).tolist()
    tests = [
        Outcome(reason=significance.UNDEFINED)
        if np.isnan(scores[i] - scores[j])
        else significance.of_difference(score, each[j].drawn, each[i].drawn, images, settings.level)
        for i, j in pairs
    ]
    if settings.correction == "holm":
        corrected = significance.holm([test.p for test in tests])
    else:
        together = statistics.max_t(scores, np.array([one.drawn.values[score] for one in each]))
        # A corrected p-value is never below that of the pair alone.
        corrected = [
            None if test.p is None else max(test.p, float(p))
            for test, p in zip(tests, together, strict=True)
        ]
    differs = np.zeros((len(labels), len(labels)), bool)
    alpha = round(1 - settings.level, significance.DECIMALS)
    for (i, j), p in zip(pairs, corrected, strict=True):
        differs[i, j] = differs[j, i] = p is not None and p < alpha
    listed = [
        Pair(
            a=labels[i],
            b=labels[j],
            difference=None if np.isnan(scores[i] - scores[j]) else float(scores[i] - scores[j]),
            interval=test.interval,
            p=test.p,
            p_corrected=p,
            reason=test.reason,
        )
        for (i, j), test, p in zip(pairs, tests, corrected, strict=True)
    ]
    # From the best to the worst; those of one rank stay in the order in which they were given.
    ranks = statistics.ranks(scores)
    order = np.argsort(ranks, kind="stable").tolist()
    rank_intervals = statistics.rank_intervals(scores, differs).tolist()
    groups = statistics.tie_groups(order, differs)
    ranked = [
        Ranked(
            labels[k],
            each[k].result.scores,
            significance.of_score(score, each[k].drawn, images, settings.level).interval,
            int(ranks[k]),
            (rank_intervals[k][0], rank_intervals[k][1]),
            groups[k],
        )
        for k in order
    ]
    drawn = each[0].drawn
    return ProtocolRanking(
        protocol.name,
        score,
        images,
        len(drawn.values[score]),
        drawn.is_exact,
        ranked,
        listed,
        {label: entry.result.document.signature for label, entry in entries.items()},
    )


def _agreement(entries: Mapping[str, Entries], images: int, settings: Settings) -> Agreement:
    """Return how far the protocols agree in the order of the detectors."""
    each = [list(one.values()) for one in entries.values()]
    names = [one[0].result.protocol.main_score for one in each]
    scores = [np.array([e.value(name) for e in one]) for one, name in zip(each, names, strict=True)]
    drawn = [
        np.array([e.drawn.values[name] for e in one]) for one, name in zip(each, names, strict=True)
    ]
    tau: list[list[float | None]] = [[None] * len(scores) for _ in scores]
    intervals: list[list[Interval]] = [[None] * len(scores) for _ in scores]
    for i in range(len(scores)):
        for j in range(len(scores)):
            value = float(statistics.kendall(scores[i], scores[j]))
            if not np.isnan(value):
                tau[i][j] = value
                resampled = statistics.kendall(drawn[i], drawn[j])
                intervals[i][j] = significance.of_values(resampled, images, settings.level).interval
    return Agreement(list(entries), tau, intervals)
