"""Where the score is lost: the share of every kind of mistake, and recall by the size and length of
objects.

The idea is TIDE's (Bolya et al., ECCV 2020), for text and for any protocol: the share of a kind is
the change of the score when that kind alone is repaired and everything is scored again by the same
protocol.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from evaltex_cli.diagnosis.batch_sums import BatchSums, Sums
from evaltex_cli.diagnosis.breakdown import PROPERTIES, Bin, Edges, bins, classes
from evaltex_cli.diagnosis.changes import ALL_TYPES
from evaltex_cli.diagnosis.error_types import ERROR_TYPES, OF_OBJECTS, Thresholds
from evaltex_cli.diagnosis.misread import Misread, most_frequent
from evaltex_cli.display import DataFrame, Record, Table, frame_of_rows, number, unknown_table
from evaltex_cli.errors import ConfigError
from evaltex_cli.evaluation.evaluate import evaluate_inputs, runs_of
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.input_counts import InputSummary
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.tally import Run, Sink
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.runtime import OrderedMap

NOT_DEFINED = "No object of the ground truth counts, so no score is defined (–), and none is lost."


@dataclass(frozen=True, slots=True, repr=False)
class KindShare(Record):
    """One kind of mistake.

    Attributes
    ----------
    kind : str
    count : int
    counted : str
        ``objects`` or ``detections``.
    shares : dict
        Score -> its change when this kind alone is repaired; below 0 where the correction costs
        more than it gains.
    """

    kind: str
    count: int
    counted: str
    shares: dict[str, float]


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis(Record):
    """Where a detector loses score under one protocol.

    Attributes
    ----------
    protocol, signature : str
    parameters, thresholds : dataclass
    gt, det : InputSummary
    scores : dict
        recall, precision and the protocol's main score.
    losses : dict
        1 - score: the sum of the kinds' shares, `interaction` and `unexplained`.
    kinds : list of KindShare
    interaction : dict
        What repairing all kinds at once changes beyond the sum of what each alone does.
    unexplained : dict
        What is lost still when all kinds are repaired.
    breakdowns : dict
        Property (`PROPERTIES`) -> bins.
    classes : dict or None
        Class of the ground truth -> its objects, most first; None if there are not several.
    warnings : list of str
    misread : Misread or None
        What is misread most often; None if the protocol does not compare texts.
    """

    protocol: str
    signature: str
    parameters: Any
    thresholds: Thresholds
    gt: InputSummary
    det: InputSummary
    scores: dict[str, float]
    losses: dict[str, float]
    kinds: list[KindShare]
    interaction: dict[str, float]
    unexplained: dict[str, float]
    breakdowns: dict[str, list[Bin]]
    warnings: list[str]
    misread: Misread | None = None
    classes: dict[str, Bin] | None = None

    @property
    def is_defined(self) -> bool:
        """Whether an object of the ground truth counts; else the scores, and what is lost, are
        conventions.
        """
        return any(one.objects for bins in self.breakdowns.values() for one in bins)

    @property
    def main_score(self) -> str:
        """The name of the protocol's main score."""
        return load(self.protocol).main_score

    @property
    def remainder(self) -> dict[str, float]:
        """The loss that is no kind's share: interaction and unexplained together."""
        return {name: self.interaction[name] + self.unexplained[name] for name in self.losses}

    def summary(self) -> str:
        """Return the main score, and the kind of mistake that costs most of it."""
        name = self.main_score
        if not self.is_defined:
            return f"{name} {number(None)}"
        worst = max(self.kinds, key=lambda kind: kind.shares[name])
        most = (
            f"; {worst.kind} costs most ({number(worst.shares[name])})"
            if worst.shares[name] > 0
            else ""
        )
        return f"{name} {number(self.scores[name])}{most}"

    def shown(self) -> Table:
        """Return one row per kind of mistake: how many, and what the scores
        gain when it alone is repaired.
        """
        if not self.is_defined:
            return Table(f"{self.protocol}: {NOT_DEFINED}")
        rows = [["mistake", "count", "of", *self.scores]]
        for kind in self.kinds:
            shares = (number(kind.shares[name], "+") for name in self.scores)
            rows.append([kind.kind, str(kind.count), kind.counted, *shares])
        scores = ", ".join(f"{name} {number(value)}" for name, value in self.scores.items())
        return Table(
            f"{self.protocol}: {scores}; gained if one kind of mistake were repaired:", rows
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the members of the command's JSON for one protocol."""
        return {**Record.to_dict(self), "remainder": dict(self.remainder)}

    def to_pandas(self, table: str = "mistakes") -> DataFrame:
        """Return a table as a data frame.

        Parameters
        ----------
        table : {'mistakes', 'objects'}
            One row per kind of mistake and score; or per bin of the ground truth's objects by
            height, aspect ratio and length, and per class.

        Raises
        ------
        ConfigError
            When pandas is not installed (extra ``tables``), and for another table.
        """
        if table == "mistakes":
            kinds = ((one, name) for one in self.kinds for name in self.scores)
            rows = (
                (self.protocol, one.kind, one.count, one.counted, name, one.shares[name])
                for one, name in kinds
            )
            return frame_of_rows(("protocol", "mistake", "count", "of", "score", "share"), rows)
        if table != "objects":
            raise unknown_table(table, ("mistakes", "objects"))
        bins_ = [(name, one) for name, bins in self.breakdowns.items() for one in bins]
        bins_ += [(f"class {name}", one) for name, one in (self.classes or {}).items()]
        of_bins = (
            (self.protocol, name, one.low, one.high, one.objects, one.found, one.recall)
            for name, one in bins_
        )
        return frame_of_rows(
            ("protocol", "property", "low", "high", "objects", "found", "recall"), of_bins
        )


class Diagnostician:
    """Gathers diagnoses while inputs are evaluated: its `sink` is for `evaluate.evaluate_inputs`.

    Raises
    ------
    ConfigError
        For thresholds out of range and edges that do not rise.
    """

    def __init__(self, thresholds: Thresholds | None = None, edges: Edges | None = None) -> None:
        self.thresholds, self.edges = thresholds or Thresholds(), edges or Edges()
        _refuse_bad(self.thresholds, self.edges)
        self._sums: dict[str, Sums] = {}
        self._of_batch = BatchSums(self.thresholds, self.edges)
        self.sink = Sink(self._of_batch, self._take)

    def _take(self, run: Run, sums: Sums) -> None:
        self._of_batch.prepared = None  # of a batch that is done
        self._sums.setdefault(run.protocol.name, Sums()).add(sums)

    def diagnosis(self, evaluation: Evaluation) -> Diagnosis:
        """Diagnose a protocol whose evaluation is done."""
        sums = self._sums[evaluation.protocol.name]
        names = tuple(dict.fromkeys(("recall", "precision", evaluation.protocol.main_score)))
        scores = _chosen(evaluation.scores, names)
        after = {
            kind: _chosen(evaluation.score(Tally.concatenate(tallies).sum()), names)
            for kind, tallies in sums.repaired.items()
        }
        kinds = [
            KindShare(
                kind,
                sums.counts[kind],
                "objects" if kind in OF_OBJECTS else "detections",
                {name: after[kind][name] - scores[name] for name in names},
            )
            for kind in ERROR_TYPES
        ]
        losses = {name: 1.0 - scores[name] for name in names}
        unexplained = {name: 1.0 - after[ALL_TYPES][name] for name in names}
        return Diagnosis(
            protocol=evaluation.protocol.name,
            signature=evaluation.signature,
            parameters=evaluation.parameters,
            thresholds=self.thresholds,
            gt=evaluation.gt,
            det=evaluation.det,
            scores=scores,
            losses=losses,
            kinds=kinds,
            interaction={
                name: math.fsum(
                    [losses[name], -unexplained[name], *(-kind.shares[name] for kind in kinds)]
                )
                for name in names
            },
            unexplained=unexplained,
            breakdowns={
                name: bins(sums.bins[name], getattr(self.edges, name), evaluation)
                for name in PROPERTIES
            },
            warnings=evaluation.warnings,
            misread=None if sums.misread is None else most_frequent(sums.misread),
            classes=classes(sums.classes, evaluation),
        )


def diagnosed(
    inputs: Inputs,
    protocols: Mapping[str, Any],
    diagnostician: Diagnostician,
    ordered_map: OrderedMap = map,
) -> list[Diagnosis]:
    """Diagnose by several protocols at once.

    Parameters
    ----------
    protocols : mapping
        Name -> parameters record.
    ordered_map : callable
        As for `evaluate.evaluate_inputs`.

    Raises
    ------
    InputError, ConfigError
        As `evaluate.evaluate_inputs`.
    """
    evaluations = evaluate_inputs(inputs, runs_of(protocols), diagnostician.sink, None, ordered_map)
    return [diagnostician.diagnosis(evaluation) for evaluation in evaluations]


def _refuse_bad(thresholds: Thresholds, edges: Edges) -> None:
    for name, value in asdict(thresholds).items():
        if not 0 <= value <= 1:
            raise ConfigError(f"threshold {name} is {value}; expected a number from 0 to 1")
    for name in PROPERTIES:
        values = getattr(edges, name)
        rises = all(low < high for low, high in pairwise(values))
        if not rises or not all(map(math.isfinite, values)):
            raise ConfigError(
                f"edges of {name} are {', '.join(map(str, values))}; expected numbers that rise"
            )


def _chosen(scores: Mapping[str, Any], names: Sequence[str]) -> dict[str, float]:
    return {name: float(scores[name] or 0.0) for name in names}
