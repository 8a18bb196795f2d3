"""Where the score is lost: the share of every kind of mistake, and recall by the size and length of objects.

The idea is TIDE's (Bolya et al., ECCV 2020), for text and for any protocol: the share of a kind is the change of the
score when that kind alone is repaired and everything is scored again by the same protocol.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.diagnose.breakdown import PROPERTIES, Bin, BinSums, Edges, add_bin, bins, properties
from evaltex_cli.diagnose.corrections import repaired, select_images
from evaltex_cli.diagnose.error_types import KINDS, OF_OBJECTS, Mistakes, Thresholds, find
from evaltex_cli.errors import ConfigError, InputError
from evaltex_cli.evaluation.evaluate import evaluate_sources, open_sources
from evaltex_cli.evaluation.tally import Evaluation, InputSummary, Run
from evaltex_cli.geometry.overlaps import measure
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import Evidence, ExactSums, load
from evaltex_cli.records import Convention, ImageBatch, Ints, Overlaps

ALL_KINDS = "all"


@dataclass(frozen=True, slots=True)
class KindShare:
    """One kind of mistake.

    Attributes
    ----------
    kind : str
    count : int
    counted : str
        ``objects`` or ``detections``.
    shares : dict
        Score -> its change when this kind alone is repaired; below 0 where the repair costs more than it mends.
    """

    kind: str
    count: int
    counted: str
    shares: dict[str, float]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Where a detector loses score under one protocol.

    Attributes
    ----------
    protocol, signature : str
    parameters, thresholds : dataclass
    gt, det : InputSummary
    scores : dict
        recall, precision and the protocol's headline score.
    losses : dict
        1 - score: the sum of the kinds' shares, `interaction` and `unexplained`.
    kinds : list of KindShare
    interaction : dict
        What repairing all kinds at once changes beyond the sum of what each alone does.
    unexplained : dict
        What is lost still when all kinds are repaired.
    breakdowns : dict
        Property (`PROPERTIES`) -> bins.
    warnings : list of str
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

    @property
    def remainder(self) -> dict[str, float]:
        """The loss that is no kind's share: interaction and unexplained together."""
        return {name: self.interaction[name] + self.unexplained[name] for name in self.losses}


@dataclass(slots=True)
class _Sums:
    """What one protocol's diagnosis adds up."""

    repaired: dict[str, ExactSums] = field(default_factory=dict)
    bins: dict[str, list[BinSums]] = field(default_factory=dict)


@dataclass(slots=True)
class _Prepared:
    """One batch's mistakes, and what of their repair is shared by protocols.

    `repairs` holds, for polygons taken as boxes or as they are and for each kind, the images that change and these
    images repaired.
    """

    batch: ImageBatch
    mistakes: Mistakes
    bins: dict[str, Ints]
    repairs: dict[bool, dict[str, tuple[Ints, ImageBatch]]] = field(default_factory=dict)
    measured: dict[Convention, Overlaps] = field(default_factory=dict)


class Diagnostician:
    """Gathers diagnoses while sources are evaluated: its `sink` is for `evaluate.evaluate_sources`.

    Parameters
    ----------
    thresholds : Thresholds
    edges : Edges
    """

    def __init__(self, thresholds: Thresholds, edges: Edges) -> None:
        self.thresholds, self.edges = thresholds, edges
        self._sums: dict[str, _Sums] = {}
        self._counts = dict.fromkeys(KINDS, 0)
        self._prepared: _Prepared | None = None

    def sink(self, run: Run, batch: ImageBatch, evidence: Evidence) -> None:
        """Add what one protocol found in a batch."""
        if self._prepared is None or self._prepared.batch is not batch:
            self._prepared = self._prepare(batch)
        prepared, sums = self._prepared, self._sums.setdefault(run.protocol.name, _Sums())
        convention = run.protocol.convention(run.parameters)
        if convention not in prepared.measured:
            prepared.measured[convention] = measure(batch, convention)
        overlaps = prepared.measured[convention]
        as_boxes = convention.as_boxes or convention.inclusive
        if as_boxes not in prepared.repairs:
            prepared.repairs[as_boxes] = _repairs(batch, prepared.mistakes, as_boxes)
        for kind, (images, mended) in prepared.repairs[as_boxes].items():
            columns = evidence.columns
            if len(images):
                columns = _with_rows(columns, images, _columns(run, mended, measure(mended, convention)))
            sums.repaired.setdefault(kind, ExactSums()).add(columns)
        for name, bin_of in prepared.bins.items():
            held = sums.bins.setdefault(name, [BinSums() for _ in range(len(getattr(self.edges, name)) + 1)])
            for k, inside in enumerate(held):
                add_bin(inside, run, batch, overlaps, evidence, (bin_of == k) & ~batch.gt.dont_care)

    def diagnosis(self, evaluation: Evaluation) -> Diagnosis:
        """Diagnose a protocol whose evaluation is done."""
        sums = self._sums[evaluation.protocol.name]
        names = tuple(dict.fromkeys(("recall", "precision", evaluation.protocol.headline[-1])))
        scores = _chosen(evaluation.scores, names)
        after = {kind: _chosen(evaluation.score(found.totals()), names) for kind, found in sums.repaired.items()}
        kinds = [
            KindShare(
                kind,
                self._counts[kind],
                "objects" if kind in OF_OBJECTS else "detections",
                {name: after[kind][name] - scores[name] for name in names},
            )
            for kind in KINDS
        ]
        losses = {name: 1.0 - scores[name] for name in names}
        unexplained = {name: 1.0 - after[ALL_KINDS][name] for name in names}
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
                name: math.fsum([losses[name], -unexplained[name], *(-kind.shares[name] for kind in kinds)])
                for name in names
            },
            unexplained=unexplained,
            breakdowns={name: bins(sums.bins[name], getattr(self.edges, name), evaluation) for name in PROPERTIES},
            warnings=evaluation.warnings,
        )

    def _prepare(self, batch: ImageBatch) -> _Prepared:
        if batch.has_masks:
            raise InputError("diagnose works on boxes and polygons; leave out the folders of label pictures")
        mistakes = find(batch, self.thresholds)
        for kind in KINDS:
            self._counts[kind] += mistakes.count(kind)
        bins = {
            name: np.searchsorted(np.array(getattr(self.edges, name)), values, side="right")
            for name, values in properties(batch.gt).items()
        }
        return _Prepared(batch, mistakes, bins)


def diagnose(
    gt: str | PathLike[str],
    det: str | PathLike[str],
    protocol: str = "evaltex",
    *,
    thresholds: Thresholds | None = None,
    edges: Edges | None = None,
    gt_format: str | None = None,
    det_format: str | None = None,
    min_confidence: float | None = None,
    **parameters: Any,
) -> Diagnosis:
    """Tell where detections lose score, by kinds of mistakes and by kinds of objects.

    Parameters
    ----------
    gt, det : path
        As `evaluate.evaluate`; boxes and polygons.
    protocol : str
        A name of the registry.
    thresholds : Thresholds, optional
        Where one kind of mistake ends and the next begins.
    edges : Edges, optional
        Of the bins of the breakdowns.
    gt_format, det_format : str, optional
        Formats' names, where content should not decide.
    min_confidence : float, optional
        Detections whose confidence is lower are left out.
    **parameters
        The protocol's parameters.

    Raises
    ------
    InputError, ConfigError
        As `evaluate.evaluate`; `ConfigError` also for thresholds out of range and edges that do not rise.
    """
    records = {protocol: config.checked(protocol, parameters)}
    return diagnosed(Path(gt), Path(det), records, thresholds, edges, gt_format, det_format, min_confidence)[0]


def diagnosed(
    gt: Path,
    det: Path,
    protocols: Mapping[str, Any],
    thresholds: Thresholds | None = None,
    edges: Edges | None = None,
    gt_format: str | None = None,
    det_format: str | None = None,
    min_confidence: float | None = None,
) -> list[Diagnosis]:
    """Diagnose by several protocols at once.

    Parameters
    ----------
    protocols : mapping
        Name -> parameters record.
    min_confidence : float, optional
        Detections whose confidence is lower are left out.

    Raises
    ------
    InputError, ConfigError
        As `diagnose`.
    """
    thresholds, edges = thresholds or Thresholds(), edges or Edges()
    _refuse_bad(thresholds, edges)
    diagnostician = Diagnostician(thresholds, edges)
    runs = [Run(load(name), parameters) for name, parameters in protocols.items()]
    sources = open_sources(gt, det, gt_format, det_format, min_confidence)
    return [diagnostician.diagnosis(one) for one in evaluate_sources(*sources, runs, sink=diagnostician.sink)]


def _repairs(batch: ImageBatch, mistakes: Mistakes, as_boxes: bool) -> dict[str, tuple[Ints, ImageBatch]]:
    repairs = {}
    for kind in (*KINDS, ALL_KINDS):
        mended, changed = repaired(batch, mistakes, KINDS if kind == ALL_KINDS else (kind,), as_boxes)
        repairs[kind] = np.flatnonzero(changed), select_images(mended, changed)
    return repairs


def _refuse_bad(thresholds: Thresholds, edges: Edges) -> None:
    for name, value in asdict(thresholds).items():
        if not 0 <= value <= 1:
            raise ConfigError(f"threshold {name} is {value}; expected a number from 0 to 1")
    for name in PROPERTIES:
        values = getattr(edges, name)
        rises = all(low < high for low, high in pairwise(values))
        if not rises or not all(map(math.isfinite, values)):
            raise ConfigError(f"edges of {name} are {', '.join(map(str, values))}; expected numbers that rise")


def _chosen(scores: Mapping[str, Any], names: Sequence[str]) -> dict[str, float]:
    return {name: float(scores[name] or 0.0) for name in names}


def _columns(run: Run, batch: ImageBatch, overlaps: Overlaps) -> Mapping[str, NDArray[Any]]:
    return run.protocol.evidence(batch, overlaps, run.parameters, False).columns


def _with_rows(
    columns: Mapping[str, NDArray[Any]], images: Ints, new: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Evidence in which some images' rows are others."""
    result = {name: column.copy() for name, column in columns.items()}
    for name, column in result.items():
        column[images] = new[name]
    return result
