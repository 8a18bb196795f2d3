"""Sweeps of the confidence threshold: levels, then all evidence in one pass, then what follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.errors import ConfigError, InputError
from evaltex_cli.evaluation.evaluate import (
    BatchImages,
    Progress,
    Run,
    Sink,
    are_polygons,
    evaluate_inputs,
)
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.protocols.score_names import scalars
from evaltex_cli.records import Ints
from evaltex_cli.results.extras import Bootstrap
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.thresholds import average_precision, choice
from evaltex_cli.thresholds.average_precision import Ranked
from evaltex_cli.thresholds.intervals import Resampled, with_intervals
from evaltex_cli.thresholds.levels import (
    POINTS,
    Levels,
    read_confidences,
)
from evaltex_cli.thresholds.result import CrossValidated, OperatingPoint, Sweep
from evaltex_cli.thresholds.stacking import StateRows, joined, rows_of, sums_of

WITH_AVERAGE_PRECISION = "iou"


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """How a sweep is made.

    Raises
    ------
    ConfigError
        For values out of range.
    """

    points: int = POINTS
    """Levels to try, at most."""
    folds: int = choice.FOLDS
    seed: int = 0
    """`folds` and `seed`: of the cross-validation; the seed is of the random folds."""
    tolerance: float = choice.TOLERANCE
    """How far below the best the main scores of the plateau are, at most."""
    max_detections: int | None = None
    """Of an image, for COCO's average precision; None for no limit."""
    bootstrap: Bootstrap | None = None
    """Of the intervals; None for none."""

    def __post_init__(self) -> None:
        for name, least in (("points", 1), ("folds", 2), ("seed", 0), ("max_detections", 1)):
            value = getattr(self, name)
            if name == "max_detections" and value is None:
                continue
            if not isinstance(value, int) or value < least:
                raise ConfigError(f"{name}={value!r}; expected a whole number from {least} up")
        if not 0 <= self.tolerance <= 1:
            raise ConfigError(f"tolerance={self.tolerance}; expected a number from 0 to 1")


class OfBatch(NamedTuple):
    """What a sweep needs of a batch, by one protocol."""

    images: int
    drops: Ints
    """(L + 1,) int64. How many detections are kept by so many levels."""
    rows: list[StateRows]
    ranked: Ranked | None = None
    """The detections for average precision, of the protocol that has it."""


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """What is done with the evidence of a batch, in whatever process."""

    levels: Levels
    without_polygons: Mapping[str, Any]
    """Protocol -> its parameters at the levels without polygons, where they are others."""
    max_detections: int | None
    preset: str | None = None
    """`max_detections` and `preset`: as of `average_precision.ranked`."""

    def __call__(self, images: BatchImages) -> OfBatch:
        run, batch = images.run, images.batch
        count = len(self.levels)
        drops = np.bincount(self.levels.drops(batch.det), minlength=count + 1)
        rows = []
        for k, (start, stop, one) in enumerate(self.segments(run)):
            first = images.evidence.tally if k == 0 else None
            rows.append(rows_of(one, images.measured, self.levels, (start, stop), first))
        ranked = None
        if run.protocol.name == WITH_AVERAGE_PRECISION:
            ranked = average_precision.ranked(
                run, images.measured, self.max_detections, self.preset
            )
        return OfBatch(len(batch.names), drops, rows, ranked)

    def segments(self, run: Run) -> list[tuple[int, int, Run]]:
        """Return ranges of levels with the parameters that apply to them."""
        count, until = len(self.levels), self.levels.with_polygons
        if run.protocol.name not in self.without_polygons or until == count:
            return [(0, count, run)]
        other = run._replace(parameters=self.without_polygons[run.protocol.name])
        return [(0, until, run), (until, count, other)]


class Sweeper:
    """Gathers sweeps while inputs are evaluated: its `sink` is for `evaluate.evaluate_inputs`.

    Parameters
    ----------
    levels : Levels
    names : sequence of str
        Of the images, in the order in which they are evaluated.
    options : SweepOptions
    without_polygons : mapping, optional
    preset : str, optional
        As of `Measure`.
    """

    def __init__(
        self,
        levels: Levels,
        names: Sequence[str],
        options: SweepOptions,
        without_polygons: Mapping[str, Any] | None = None,
        preset: str | None = None,
    ) -> None:
        self._measure = Measure(levels, without_polygons or {}, options.max_detections, preset)
        self._options, self._names = options, names
        self._rows: dict[str, list[StateRows]] = {}
        self._folds = choice.folds_of(names, options.folds, options.seed)
        self._done: dict[str, int] = {}
        self._drops: dict[str, Ints] = {}
        self._ranked: list[Ranked] = []
        self.sink = Sink(self._measure, self._take)

    def _take(self, run: Run, made: OfBatch) -> None:
        name = run.protocol.name
        first = self._done.get(name, 0)
        rows = [one._replace(image=one.image + first) for one in made.rows]
        self._rows.setdefault(name, []).extend(rows)
        self._done[name] = first + made.images
        self._drops[name] = self._drops.get(name, 0) + made.drops
        if made.ranked is not None:
            self._ranked.append(made.ranked)

    def sweep(self, evaluation: Evaluation) -> Sweep:
        """Return the sweep of a protocol whose evaluation is done."""
        name, levels = evaluation.protocol.name, self._measure.levels.values.tolist()
        runs = [
            run
            for start, stop, run in self._measure.segments(
                Run(evaluation.protocol, evaluation.parameters)
            )
            for _ in range(start, stop)
        ]
        rows = joined(self._rows.pop(name), self._names)
        folds = sums_of(rows, self._folds, len(levels))
        scores = [
            run.protocol.scores(
                run.protocol.tally.total([of_fold[k] for of_fold in folds]), run.parameters
            )
            for k, run in enumerate(runs)
        ]
        kept = self._drops[name][::-1].cumsum()[::-1][1:].tolist()
        main_score = evaluation.protocol.main_score
        by_level = [one[main_score] for one in scores]
        best = choice.best_level(by_level)
        low, high = choice.plateau_of(by_level, best, self._options.tolerance)
        named = scalars(scores[best])
        point = OperatingPoint(
            levels[best],
            kept[best],
            {score: scores[best][score] for score in named},
            (levels[low], levels[high]),
        )
        warnings = list(evaluation.warnings)
        if self._options.bootstrap is not None:
            given = Resampled(self._names, rows, runs, self._options.bootstrap)
            point, more = with_intervals(point, levels, given)
            warnings += more
        return Sweep(
            protocol=name,
            signature=evaluation.signature,
            parameters=evaluation.parameters,
            gt=evaluation.gt,
            det=evaluation.det,
            seed=self._options.seed,
            folds=len(folds),
            levels=tuple(levels),
            kept=tuple(kept),
            scores={score: [one[score] for one in scores] for score in named},
            main_score=main_score,
            operating_point=point,
            cross_validated=self._cross_validated(runs, folds, by_level[best]),
            average_precision=self._average_precision(name),
            warnings=warnings,
        )

    def _average_precision(self, protocol: str) -> dict[str, float | None]:
        if protocol != WITH_AVERAGE_PRECISION:
            return {}
        return average_precision.averages(self._ranked)

    def _cross_validated(
        self, runs: Sequence[Run], folds: Sequence[Sequence[Any]], best: float
    ) -> CrossValidated | None:
        found = choice.cross_validated(runs, folds)
        if found is None:
            return None
        chosen, scores = found
        levels = self._measure.levels.values
        return CrossValidated(
            tuple(levels[chosen].tolist()),
            {name: scores[name] for name in scalars(scores)},
            best - scores[runs[0].protocol.main_score],
        )


def swept(
    inputs: Inputs,
    runs: Sequence[Run],
    options: SweepOptions,
    progress: Progress | None = None,
    ordered_map: OrderedMap = map,
) -> list[Sweep]:
    """Sweep the confidence threshold by several protocols at once.

    Parameters
    ----------
    inputs : Inputs
        Boxes and polygons.
    runs : sequence of Run
    progress, ordered_map
        As of `evaluate.evaluate_inputs`.

    Raises
    ------
    InputError
        As `evaluate.evaluate_inputs`; also where no detection has a confidence, and for label
        pictures.
    """
    if inputs.options.masks is not None:
        raise InputError(
            "a sweep works on boxes and polygons, which have confidences; leave out the label"
            " pictures"
        )
    confidences = read_confidences(inputs)
    if inputs.faults.count or not len(confidences.values):
        evaluate_inputs(inputs, runs, [], progress, ordered_map)  # which reports faults
        raise InputError(
            f"{inputs.det.path}: no detection has a confidence, so there is no threshold to sweep;"
            " write the detector's confidences with its detections, without a threshold"
        )
    levels = confidences.levels(options.points)
    others = _without_polygons(runs, levels, lambda: are_polygons(inputs.gt.objects))
    sweeper = Sweeper(levels, inputs.gt.names, options, others, inputs.options.preset)
    evaluations = evaluate_inputs(inputs, runs, [sweeper.sink], progress, ordered_map)
    return [sweeper.sweep(evaluation) for evaluation in evaluations]


def _without_polygons(
    runs: Sequence[Run], levels: Levels, gt_has_polygons: Callable[[], bool]
) -> dict[str, Any]:
    """Return protocol -> parameters at the levels that keep no detection of other than four
    vertices, of the protocols with others for them, if the ground truth has no such object either.
    """
    others = {
        run.protocol.name: run.protocol.resolve(run.parameters, lambda: False) for run in runs
    }
    differing = {
        run.protocol.name: others[run.protocol.name]
        for run in runs
        if run.protocol.resolve(run.parameters, lambda: True) != others[run.protocol.name]
    }
    if not differing or levels.with_polygons in (0, len(levels)):
        return {}
    return {} if gt_has_polygons() else differing


__all__ = ["SweepOptions", "Sweeper", "swept"]
