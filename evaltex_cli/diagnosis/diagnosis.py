"""Where the score is lost: the share of every kind of mistake, and recall by what objects are like.

The share of a kind is the change of the score when that kind alone is repaired and all is scored
again, as in TIDE (Bolya et al., ECCV 2020), but by any protocol.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import neg
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.diagnosis import breakdown
from evaltex_cli.diagnosis.breakdown import Bin, BinPart, Edges
from evaltex_cli.diagnosis.error_types import OF_OBJECTS, Thresholds, find
from evaltex_cli.diagnosis.misread import Misread, Pairs, misread_pairs, most_frequent, with_misread
from evaltex_cli.diagnosis.repairs import Repairs
from evaltex_cli.evaluation.evaluate import BatchImages, Sink, evaluate_inputs, runs_of
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.inputs import Inputs, InputSummary
from evaltex_cli.protocols import score_names
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Bools, Convention
from evaltex_cli.results.slices import QUANTITIES, Slice
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.tables import Cell, Column, Table
from evaltex_cli.tables.record import Record

ALL_KINDS = "all"
SHOWN = 0.00005
"""What is below it is shown as 0."""
_OF_SCORES = ("scores", "losses", "interaction", "unexplained", "remainder")
NOT_DEFINED = "No object of the ground truth counts, so no score is defined (–), and none is lost."


@dataclass(frozen=True, slots=True, repr=False)
class KindShare(Record):
    """One kind of mistake."""

    kind: str
    count: int
    counted: str
    """``objects`` or ``detections``."""
    shares: dict[str, float]
    """Score -> its change when this kind alone is repaired; below 0 where that costs more."""


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis(Record):
    """Where a detector loses score under one protocol."""

    protocol: str
    signature: str
    parameters: Any
    thresholds: Thresholds
    gt: InputSummary
    det: InputSummary
    scores: dict[str, float]
    """recall, precision and the protocol's main score."""
    losses: dict[str, float]
    """1 - score: the sum of the kinds' shares, `interaction` and `unexplained`."""
    kinds: list[KindShare]
    interaction: dict[str, float]
    """What repairing all kinds at once changes beyond the sum of what each alone does."""
    unexplained: dict[str, float]
    """What is lost still when all kinds are repaired."""
    breakdowns: dict[str, list[Bin]]
    """Height, aspect ratio and length (`slices.QUANTITIES`) -> bins."""
    warnings: list[str]
    misread: Misread | None = None
    """What is misread most often; None if the protocol does not compare texts."""
    classes: dict[str, Bin] | None = None
    """Class of the ground truth -> its objects, most first; None if there are not several."""

    def shares(self) -> Iterator[tuple[str, Cell, Cell, dict[str, float]]]:
        """Yield name, count, what is counted, and shares: those of the kinds, ``interaction`` and
        ``unexplained``, and their sum, ``loss``.
        """
        for kind in self.kinds:
            yield kind.kind, kind.count, kind.counted, kind.shares
        yield "interaction", None, None, self.interaction
        yield "unexplained", None, None, self.unexplained
        yield "loss", None, None, self.losses

    def named_bins(self) -> Iterator[tuple[str, str, Bin]]:
        """Yield all bins: of a property and named as gates name it, or of ``class`` and which."""
        for name, bins in self.breakdowns.items():
            yield from ((name, Slice(name, one.low, one.high).name, one) for one in bins)
        for label, one in (self.classes or {}).items():
            yield "class", label, one

    @property
    def is_defined(self) -> bool:
        """Whether an object of the ground truth counts; else the scores are conventions."""
        return any(one.objects for one in self.breakdowns["height"])

    @property
    def main_score(self) -> str:
        """The name of the protocol's main score."""
        return load(self.protocol).main_score

    @property
    def costliest(self) -> KindShare | None:
        """The kind with the greatest share of the main score; None if all are shown as 0."""
        worst = max(self.kinds, key=lambda kind: kind.shares[self.main_score])
        return worst if worst.shares[self.main_score] >= SHOWN else None

    @property
    def remainder(self) -> dict[str, float]:
        """The loss that is no kind's share: interaction and unexplained together."""
        return {name: self.interaction[name] + self.unexplained[name] for name in self.losses}

    def summary(self) -> str:
        """Return a sentence that says what costs most of the main score."""
        name, worst = self.main_score, self.costliest
        score, shown = self.scores[name], score_names.shown(name)
        if not self.is_defined:
            return NOT_DEFINED
        if worst is None:
            return f"No kind of mistake costs anything alone: {shown} is {score:.4f}."
        which = "that one were" if worst.count == 1 else f"all {worst.count} were"
        share = worst.shares[name]
        return (
            f"{worst.kind.capitalize()} {worst.counted} cost most: if {which} corrected, {shown}"
            f" would be {score + share:.4f} instead of {score:.4f} ({share:+.4f})."
        )

    def tables(self, all_scores: bool = False) -> list[Table]:
        """Return the shares of the kinds of mistakes, recall by what objects are like, and what is
        misread; `all_scores` adds the match types, and the means of the protocol's own values.
        """
        if not self.is_defined:
            return [Table(f"{self.protocol}: {self.summary()}")]
        return [self._shares(), self._objects(all_scores), *self._misread()]

    def _shares(self) -> Table:
        scores = ", ".join(
            f"{score_names.shown(name)} {value:.4f}" for name, value in self.scores.items()
        )
        columns = [Column("mistake"), Column("count", "number"), Column("")]
        columns += [Column(score_names.shown(name), "change") for name in self.scores]
        rows: list[list[Cell]] = []
        for name, count, counted, shares in self.shares():
            label = "all: 1 - score" if name == "loss" else name
            rows.append([label, "" if count is None else count, counted or "", *shares.values()])
        worst = {at for at, kind in enumerate(self.kinds) if kind is self.costliest}
        best = {(at, column) for at in worst for column in range(len(columns))}
        title = f"{self.protocol}: {scores}; what correcting one kind of mistake alone changes"
        return Table(title, columns, rows, [self.summary()], best)

    def _objects(self, all_scores: bool) -> Table:
        bins = [entry for entry in self.named_bins() if entry[2].objects]
        types = [name for name in breakdown.OF_GT if any(one.matches[name] for *_, one in bins)]
        types, means = (types, [*bins[0][2].means]) if all_scores and bins else ([], [])
        heads = ["objects", "found", "recall", *types, *(f"mean {name}" for name in means)]
        columns = [Column("objects by"), *(Column(head, "number") for head in heads)]
        rows: list[list[Cell]] = []
        for name, title, one in bins:
            label = f"class {title or '(none)'}" if name == "class" else title
            values = [one.objects, one.found, one.recall, *(one.matches[each] for each in types)]
            rows.append([label, *values, *(one.means[each] for each in means)])
        return Table("", columns, rows)

    def _misread(self) -> Iterator[Table]:
        for part in ("words", "characters") if self.misread else ():
            columns = [Column(f"misread {part}"), Column("read as"), Column("count", "number")]
            rows = [
                [*map(_named, (one.expected, one.read)), one.count]
                for one in getattr(self.misread, part)
            ]
            if rows:
                yield Table("", columns, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the members of the command's JSON for one protocol, without what is None; no
        scores where none is defined.
        """
        values = {**Record.to_dict(self), "remainder": self.remainder}
        if not self.is_defined:
            values |= {name: dict.fromkeys(self.scores) for name in _OF_SCORES}
        return {name: value for name, value in values.items() if value is not None}

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return ``mistakes``, one row for each kind (and interaction, unexplained, loss) and
        score; and ``objects``, one for each bin of the ground truth's objects by height, aspect
        ratio and length, and for each class.
        """
        return {"mistakes": self._data_of_mistakes, "objects": self._data_of_objects}

    def _data_of_mistakes(self) -> Table:
        columns = [Column(n) for n in ("protocol", "mistake", "count", "of", "score", "share")]
        rows: list[list[Cell]] = [
            [self.protocol, name, count, counted, score, share if self.is_defined else None]
            for name, count, counted, shares in self.shares()
            for score, share in shares.items()
        ]
        return Table("", columns, rows)

    def _data_of_objects(self) -> Table:
        heads = ("protocol", "property", "low", "high", "objects", "found", "recall")
        rows: list[list[Cell]] = []
        for name, label, one in self.named_bins():
            of = f"class {label}" if name == "class" else name
            rows.append([self.protocol, of, one.low, one.high, one.objects, one.found, one.recall])
        return Table("", [Column(head) for head in heads], rows)


def _named(text: str) -> str:
    """Return a text for reading, also one without a mark of its own."""
    return text if text.strip() else "(blank)" if text else "(nothing)"


class BatchDiagnosis(NamedTuple):
    """One protocol's diagnosis of a batch."""

    counts: dict[str, int]
    """Objects or detections of each kind."""
    repaired: dict[str, Tally]
    """Evidence after the repair of each kind, and of all (`ALL_KINDS`)."""
    bins: dict[Any, BinPart]
    """By `Slice`; and by the name of the class, if objects have several."""
    misread: Pairs | None


def diagnose_batch(thresholds: Thresholds, edges: Edges, images: BatchImages) -> BatchDiagnosis:
    """Diagnose a batch, perhaps in another process."""
    (protocol, parameters), gt, tally = images.run, images.batch.gt, images.evidence.tally
    mistakes = with_misread(images, find(images.measured, thresholds))
    convention = protocol.convention(parameters) or Convention()
    repairs = Repairs(images.measured, mistakes, convention.as_boxes or convention.inclusive)
    repaired = {}
    for name in (*mistakes.kinds, ALL_KINDS):
        changed, after = repairs.after(mistakes.kinds if name == ALL_KINDS else (name,))
        unchanged = tally.take(np.delete(np.arange(len(images.batch.names)), changed))
        rows = after.evidence(protocol, parameters).tally
        repaired[name] = Tally.concatenate([unchanged, rows])
    inside: dict[Any, Bools] = {**breakdown.members(gt, breakdown.slices(edges))}
    if gt.labels is not None and len(gt.labels.names) > 1:
        for k, label in enumerate(gt.labels.names):
            inside[label] = (gt.labels.codes == k) & ~gt.dont_care
    return BatchDiagnosis(
        {kind: int(getattr(mistakes, kind).sum()) for kind in mistakes.kinds},
        repaired,
        {key: breakdown.part_of(images, own) for key, own in inside.items()},
        misread_pairs(images),
    )


def diagnose_inputs(
    inputs: Inputs,
    protocols: Mapping[str, Any],
    thresholds: Thresholds | None = None,
    edges: Edges | None = None,
    ordered_map: OrderedMap = map,
) -> list[Diagnosis]:
    """Diagnose by several protocols, name -> parameters record; as `evaluate.evaluate_inputs`."""
    thresholds, edges = thresholds or Thresholds(), edges or Edges()
    parts: dict[str, list[BatchDiagnosis]] = defaultdict(list)
    sink = Sink(
        partial(diagnose_batch, thresholds, edges),
        lambda run, part: parts[run.protocol.name].append(part),
    )
    evaluations = evaluate_inputs(inputs, runs_of(protocols), [sink], ordered_map=ordered_map)
    return [_joined(parts[one.protocol.name], one, thresholds, edges) for one in evaluations]


def _joined(
    parts: Sequence[BatchDiagnosis], evaluation: Evaluation, thresholds: Thresholds, edges: Edges
) -> Diagnosis:
    names = tuple(dict.fromkeys(("recall", "precision", evaluation.protocol.main_score)))
    scores = _chosen(evaluation.scores, names)
    after = {}
    for name in parts[0].repaired:
        tally = Tally.concatenate([part.repaired[name] for part in parts]).sum()
        after[name] = _chosen(evaluation.score(tally), names)
    kinds = [
        KindShare(
            kind,
            sum(part.counts[kind] for part in parts),
            "objects" if kind in OF_OBJECTS else "detections",
            {name: after[kind][name] - scores[name] for name in names},
        )
        for kind in parts[0].counts
    ]
    losses = {name: 1.0 - scores[name] for name in names}
    unexplained = {name: 1.0 - after[ALL_KINDS][name] for name in names}
    interaction = {}
    for name in names:
        explained = [kind.shares[name] for kind in kinds]
        interaction[name] = math.fsum([losses[name], -unexplained[name], *map(neg, explained)])
    bins: dict[Any, list[BinPart]] = defaultdict(list)
    for part in parts:
        for key, own in part.bins.items():
            bins[key].append(own)
    breakdowns: dict[str, list[Bin]] = {name: [] for name in QUANTITIES}
    for key in breakdown.slices(edges):
        whole = breakdown.bin_of(bins.pop(key), evaluation, key.low, key.high)
        breakdowns[key.quantity].append(whole)
    classes = [(label, breakdown.bin_of(own, evaluation)) for label, own in bins.items()]
    classes = [(label, one) for label, one in classes if one.objects]
    classes.sort(key=lambda item: (-item[1].objects, item[0]))
    misread = [part.misread for part in parts if part.misread is not None]
    is_cased = getattr(evaluation.parameters, "case_sensitive", False)
    return Diagnosis(
        protocol=evaluation.protocol.name,
        signature=evaluation.signature,
        parameters=evaluation.parameters,
        thresholds=thresholds,
        gt=evaluation.gt,
        det=evaluation.det,
        scores=scores,
        losses=losses,
        kinds=kinds,
        interaction=interaction,
        unexplained=unexplained,
        breakdowns=breakdowns,
        warnings=evaluation.warnings,
        misread=most_frequent(sum(misread, Counter()), is_cased) if misread else None,
        classes=dict(classes) if len(classes) > 1 else None,
    )


def _chosen(scores: Mapping[str, Any], names: Sequence[str]) -> dict[str, float]:
    return {name: float(scores[name] or 0.0) for name in names}
