"""Where the score is lost: the share of every kind of mistake, and recall by what objects are like.

The share of a kind is the change of the score when that kind alone is repaired and all is scored
again, as in TIDE (Bolya et al., ECCV 2020), but by any protocol.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import neg
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.diagnosis import breakdown
from evaltex_cli.diagnosis.breakdown import PROPERTIES, Bin, BinPart, Edges
from evaltex_cli.diagnosis.error_types import ERROR_TYPES, MISREAD, OF_OBJECTS, Thresholds, find
from evaltex_cli.diagnosis.misread import (
    Misread,
    Pairs,
    misread_objects,
    misread_pairs,
    most_frequent,
)
from evaltex_cli.diagnosis.repairs import Repairs
from evaltex_cli.evaluation.evaluate import BatchImages, Run, Sink, evaluate_inputs, runs_of
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.inputs import Inputs, InputSummary
from evaltex_cli.protocols import score_names
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Bools, Convention, Ints
from evaltex_cli.results.slices import Slice
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
    """Property (`PROPERTIES`) -> bins."""
    warnings: list[str]
    misread: Misread | None = None
    """What is misread most often; None if the protocol does not compare texts."""
    classes: dict[str, Bin] | None = None
    """Class of the ground truth -> its objects, most first; None if there are not several."""

    def parts(self) -> dict[str, dict[str, float]]:
        """Return what the losses are the sum of: kinds, ``interaction`` and ``unexplained``."""
        kinds = {one.kind: one.shares for one in self.kinds}
        return {**kinds, "interaction": self.interaction, "unexplained": self.unexplained}

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
        """Return the main score, and the kind of mistake that costs most of it."""
        name, worst = self.main_score, self.costliest
        if not self.is_defined:
            return f"{score_names.shown(name)} –"
        score = f"{score_names.shown(name)} {self.scores[name]:.4f}"
        return f"{score}; {worst.kind} costs most ({worst.shares[name]:.4f})" if worst else score

    def conclusion(self) -> str:
        """Return a sentence that says what costs most of the main score."""
        name, shown = self.main_score, score_names.shown(self.main_score)
        score, loss, worst = self.scores[name], self.losses[name], self.costliest
        if not self.is_defined:
            return NOT_DEFINED
        if worst is None and loss < SHOWN:
            return f"Nothing is lost: {shown} is {score:.4f}."
        if worst is None:
            return (
                f"No kind of mistake costs anything alone: the loss of {loss:.4f} {shown} is"
                " interaction and unexplained (docs/diagnose.md, section 2)."
            )
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
            return [Table(f"{self.protocol}: {NOT_DEFINED}")]
        return [self._shares(), self._objects(all_scores), *self._misread()]

    def _shares(self) -> Table:
        scores = ", ".join(
            f"{score_names.shown(name)} {value:.4f}" for name, value in self.scores.items()
        )
        columns = [Column("mistake"), Column("count", "number"), Column("")]
        columns += [Column(score_names.shown(name), "change") for name in self.scores]
        rows: list[list[Cell]] = [
            [kind.kind, kind.count, kind.counted, *kind.shares.values()] for kind in self.kinds
        ]
        for name, shares in {**self.parts(), "all: 1 - score": self.losses}.items():
            if name not in {kind.kind for kind in self.kinds}:
                rows.append([name, "", "", *shares.values()])
        worst = {at for at, kind in enumerate(self.kinds) if kind is self.costliest}
        best = {(at, column) for at in worst for column in range(len(columns))}
        title = f"{self.protocol}: {scores}; what correcting one kind of mistake alone changes"
        return Table(title, columns, rows, [self.conclusion()], best)

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
            yield from [Table("", columns, rows)] if rows else []

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
        counts = {kind.kind: (kind.count, kind.counted) for kind in self.kinds}
        rows: list[list[Cell]] = []
        for name, shares in {**self.parts(), "loss": self.losses}.items():
            counted: Sequence[Cell] = counts.get(name, (None, None))
            for score, share in shares.items():
                value = share if self.is_defined else None
                rows.append([self.protocol, name, *counted, score, value])
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


class _Part(NamedTuple):
    """One protocol's diagnosis of a batch."""

    counts: dict[str, int]
    """Objects or detections of each kind."""
    repaired: dict[str, Tally]
    """Evidence after the repair of each kind, and of all (`ALL_KINDS`)."""
    bins: dict[Any, BinPart]
    """By `Slice`; and by the name of the class, if objects have several."""
    misread: Pairs | None


class _OfBatch:
    """Diagnoses batches, also in another process; protocols share the mistakes of a batch and what
    repairs make of it.
    """

    def __init__(self, thresholds: Thresholds, edges: Edges) -> None:
        self.thresholds, self.edges = thresholds, edges
        self._measured: Measured | None = None

    def __call__(self, images: BatchImages) -> _Part:
        run, gt = images.run, images.batch.gt
        if self._measured is not images.measured:
            self._mistakes = find(images.measured, self.thresholds)
            self._measured = images.measured
            self._repaired: dict[bool, dict[str, tuple[Ints, Measured]]] = {}
        misread = misread_objects(images, self._mistakes)
        repaired = {}
        for kind, (changed, measured) in self._after(images, misread).items():
            repaired[kind] = images.evidence.tally
            if len(changed):
                rows = measured.evidence(run.protocol, run.parameters).tally
                unchanged = np.delete(np.arange(len(images.batch.names)), changed)
                repaired[kind] = Tally.concatenate([images.evidence.tally.take(unchanged), rows])
        counts = {kind: int(getattr(self._mistakes, kind).sum()) for kind in ERROR_TYPES}
        if misread is not None:
            counts[MISREAD] = int(misread.sum())
        wanted = breakdown.slices(self.edges)
        inside: dict[Any, Bools] = dict(zip(wanted, breakdown.members(gt, wanted), strict=True))
        if gt.labels is not None and len(gt.labels.names) > 1:
            for k, label in enumerate(gt.labels.names):
                inside[label] = (gt.labels.codes == k) & ~gt.dont_care
        return _Part(
            counts,
            repaired,
            {key: breakdown.part_of(images, own) for key, own in inside.items()},
            misread_pairs(images.batch, images.evidence.matches, run.parameters),
        )

    def _after(
        self, images: BatchImages, misread: Bools | None
    ) -> dict[str, tuple[Ints, Measured]]:
        """Return the images that each repair changes, and these after it."""
        protocol, parameters = images.run
        convention = protocol.convention(parameters) or Convention()
        as_boxes = convention.as_boxes or convention.inclusive
        kinds: dict[str, Sequence[str]] = {kind: (kind,) for kind in ERROR_TYPES}
        kinds[ALL_KINDS] = ERROR_TYPES
        if misread is not None:
            repairs = Repairs(images.measured, self._mistakes, as_boxes, misread)
            kinds |= {MISREAD: (MISREAD,), ALL_KINDS: (*ERROR_TYPES, MISREAD)}
            return {name: repairs.after(some) for name, some in kinds.items()}
        if as_boxes not in self._repaired:
            repairs = Repairs(images.measured, self._mistakes, as_boxes)
            self._repaired[as_boxes] = {name: repairs.after(some) for name, some in kinds.items()}
        return self._repaired[as_boxes]


class Diagnostician:
    """Gathers diagnoses while inputs are evaluated; its `sink` is for `evaluate_inputs`."""

    def __init__(self, thresholds: Thresholds | None = None, edges: Edges | None = None) -> None:
        self.thresholds, self.edges = thresholds or Thresholds(), edges or Edges()
        self._parts: dict[str, list[_Part]] = defaultdict(list)
        self.sink = Sink(_OfBatch(self.thresholds, self.edges), self._add)

    def _add(self, run: Run, part: _Part) -> None:
        self._parts[run.protocol.name].append(part)

    def diagnosis(self, evaluation: Evaluation) -> Diagnosis:
        """Diagnose a protocol whose evaluation is done."""
        parts = self._parts[evaluation.protocol.name]
        names = tuple(dict.fromkeys(("recall", "precision", evaluation.protocol.main_score)))
        scores = _chosen(evaluation.scores, names)
        after = {}
        for kind in parts[0].repaired:
            tally = Tally.concatenate([part.repaired[kind] for part in parts]).sum()
            after[kind] = _chosen(evaluation.score(tally), names)
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
        bins = defaultdict(list)
        for part in parts:
            for key, one in part.bins.items():
                bins[key].append(one)
        breakdowns: dict[str, list[Bin]] = {name: [] for name in PROPERTIES}
        for wanted in breakdown.slices(self.edges):
            of_bin = breakdown.bin_of(bins.pop(wanted), evaluation, wanted.low, wanted.high)
            breakdowns[wanted.quantity].append(of_bin)
        classes = [(label, breakdown.bin_of(one, evaluation)) for label, one in bins.items()]
        classes = [(label, one) for label, one in classes if one.objects]
        classes.sort(key=lambda item: (-item[1].objects, item[0]))
        misread = [part.misread for part in parts if part.misread is not None]
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
            interaction=interaction,
            unexplained=unexplained,
            breakdowns=breakdowns,
            warnings=evaluation.warnings,
            misread=most_frequent(sum(misread, Counter())) if misread else None,
            classes=dict(classes) if len(classes) > 1 else None,
        )


def diagnosed(
    inputs: Inputs,
    protocols: Mapping[str, Any],
    diagnostician: Diagnostician,
    ordered_map: OrderedMap = map,
) -> list[Diagnosis]:
    """Diagnose by several protocols, name -> parameters record; as `evaluate.evaluate_inputs`."""
    sinks = [diagnostician.sink]
    evaluations = evaluate_inputs(inputs, runs_of(protocols), sinks, ordered_map=ordered_map)
    return list(map(diagnostician.diagnosis, evaluations))


def _chosen(scores: Mapping[str, Any], names: Sequence[str]) -> dict[str, float]:
    return {name: float(scores[name] or 0.0) for name in names}
