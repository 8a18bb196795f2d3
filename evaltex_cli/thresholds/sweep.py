"""Scores at every confidence level, by a loop over the levels: only images that lose a detection at
a level are scored again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

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
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.formats.filters import treat_invalid
from evaltex_cli.protocols.base import EvidenceRows
from evaltex_cli.protocols.score_names import scalars
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Floats, Ints, take_images
from evaltex_cli.results.extras import Bootstrap
from evaltex_cli.results.significance import intervals
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.thresholds import average_precision, choice
from evaltex_cli.thresholds.average_precision import Ranked, known_confidences
from evaltex_cli.thresholds.result import CrossValidated, OperatingPoint, Sweep

BATCH_OBJECTS = 1 << 17
"""Larger batches than a run's, as few images of a batch change at a level."""
Changes: TypeAlias = dict[int, tuple[Ints, Tally]]
"""Level -> the images whose evidence is new there, and this evidence; all images at level 0."""


def swept(
    inputs: Inputs,
    runs: Sequence[Run],
    *,
    points: int = 100,
    folds: int = 5,
    seed: int = 0,
    tolerance: float = 0.005,
    max_detections: int | None = None,
    bootstrap: Bootstrap | None = None,
    progress: Progress | None = None,
    ordered_map: OrderedMap = map,
) -> list[Sweep]:
    """Sweep the confidence threshold by several protocols at once.

    The options are those of `evaltex_cli.sweep`; `bootstrap` says how intervals are made, if at
    all. Raises `ConfigError` for values out of range, and `InputError` as `evaluate_inputs`, where
    no detection has a confidence, and for label pictures.
    """
    numbers = {"points": (points, 1), "folds": (folds, 2), "seed": (seed, 0)}
    if max_detections is not None:
        numbers["max_detections"] = (max_detections, 1)
    for name, (value, least) in numbers.items():
        if not isinstance(value, int) or value < least:
            raise ConfigError(f"{name}={value!r}; expected a whole number from {least} up")
    if not 0 <= tolerance <= 1:
        raise ConfigError(f"tolerance={tolerance}; expected a number from 0 to 1")
    if inputs.options.masks is not None:
        raise InputError(
            "a sweep works on boxes and polygons, which have confidences; leave out the label"
            " pictures"
        )
    levels, kept, polygons_until = read_levels(inputs, points)
    if inputs.faults or not len(levels):
        evaluate_inputs(inputs, runs, [], progress, ordered_map)  # which reports faults
        raise InputError(
            f"{inputs.det.path}: no detection has a confidence, so there is no threshold to sweep;"
            " write the detector's confidences with its detections, without a threshold"
        )
    work = _Work(levels, polygons_until, _without_polygons(inputs, runs))
    rank = partial(average_precision.ranked, max_detections, inputs.options.preset)
    parts: dict[str, list[Changes]] = defaultdict(list)
    ranked: dict[str, list[Ranked]] = defaultdict(list)
    sinks = [
        Sink(work, lambda run, part: parts[run.protocol.name].append(part)),
        Sink(rank, lambda run, part: ranked[run.protocol.name].extend(part)),
    ]
    evaluations = evaluate_inputs(
        inputs, runs, sinks, progress, ordered_map, batch_objects=BATCH_OBJECTS
    )
    names, sweeps = inputs.gt.names, []
    rows_of_folds = choice.folds_of(names, folds, seed)
    for evaluation in evaluations:
        name, main_score = evaluation.protocol.name, evaluation.protocol.main_score
        every = Run(evaluation.protocol, evaluation.parameters)
        at_level = [work.run_at(every, k) for k in range(len(levels))]
        changes = [_joined(parts[name], k) for k in range(len(levels))]
        sums = [[rows.take(own).sum() for own in rows_of_folds] for rows in _at_levels(changes)]
        scores = [
            run.scores(Tally.total(of_folds)) for run, of_folds in zip(at_level, sums, strict=True)
        ]
        by_level = [one[main_score] for one in scores]
        best = choice.best_level(by_level)
        named, warnings = scalars(scores[best]), list(evaluation.warnings)
        low, high = choice.plateau_of(by_level, best, tolerance)
        of_scores = of_level = None
        if bootstrap is not None:
            rows = EvidenceRows(names, list(_at_levels(changes[: best + 1]))[-1])
            of_all, more = intervals(rows, at_level[best].scores, bootstrap)
            of_scores, warnings = {score: of_all[score] for score in named}, warnings + more
            if of_scores[main_score] is not None:
                ends = choice.level_interval(changes, names, at_level, bootstrap)
                of_level = float(levels[ends[0]]), float(levels[ends[1]])
        point = OperatingPoint(
            float(levels[best]),
            int(kept[best]),
            {score: scores[best][score] for score in named},
            (float(levels[low]), float(levels[high])),
            of_scores,
            of_level,
        )
        checked = None
        if chosen := choice.cross_validated(at_level, sums):
            checked = CrossValidated(
                tuple(levels[chosen[0]].tolist()),
                {score: chosen[1][score] for score in scalars(chosen[1])},
                by_level[best] - chosen[1][main_score],
            )
        sweeps.append(
            Sweep(
                protocol=name,
                signature=evaluation.signature,
                parameters=evaluation.parameters,
                gt=evaluation.gt,
                det=evaluation.det,
                seed=seed,
                folds=len(rows_of_folds),
                levels=tuple(levels.tolist()),
                kept=tuple(kept.tolist()),
                scores={score: [one[score] for one in scores] for score in named},
                main_score=main_score,
                operating_point=point,
                cross_validated=checked,
                average_precision=average_precision.averages(ranked[name]),
                warnings=warnings,
            )
        )
    return sweeps


# Levels -------------------------------------------------------------------------------------------


def read_levels(inputs: Inputs, points: int) -> tuple[Floats, Ints, int]:
    """Return the confidence levels to try, rising; how many detections each keeps; and how many
    levels, from the lowest, keep one of other than four vertices. Reports no faults.
    """
    in_images = inputs.paired[inputs.paired != NO_DETECTIONS]
    objects = take_images(inputs.det.objects, in_images)
    usable, _, _ = treat_invalid(objects, inputs.options.invalid, "det")
    confidences = np.sort(known_confidences(usable))
    values = np.unique(confidences[np.isfinite(confidences)]) + 0.0  # -0 is 0
    levels = values[ranks(len(values), points)]
    kept = len(confidences) - np.searchsorted(confidences, levels)
    # A run looks at all polygons that are read to decide what depends on them.
    counts = objects.outlines.counts
    highest = np.max(known_confidences(objects)[(counts != 0) & (counts != 4)], initial=-np.inf)
    return levels, kept, int(np.searchsorted(levels, highest, side="right"))


def ranks(count: int, points: int) -> list[int]:
    """Return which of so many sorted values are levels: all, or some, evenly by rank."""
    points = min(points, count)
    return [round(k * (count - 1) / max(points - 1, 1)) for k in range(points)]


def _without_polygons(inputs: Inputs, runs: Sequence[Run]) -> dict[str, Any]:
    """Return protocol -> its parameters at levels without polygons, if they make a difference."""
    found = {}
    for protocol, parameters in runs:
        boxes_only = protocol.resolve(parameters, lambda: False)
        if boxes_only != protocol.resolve(parameters, lambda: True):
            found[protocol.name] = boxes_only
    return {} if found and are_polygons(inputs.gt.objects) else found


# Evidence -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Work:
    """What is done with a batch, in whatever process."""

    levels: Floats
    polygons_until: int
    without_polygons: dict[str, Any]

    def run_at(self, run: Run, level: int) -> Run:
        """Return a run with the parameters that it has at a level."""
        boxes_only = self.without_polygons.get(run.protocol.name, run.parameters)
        return run if level < self.polygons_until else run._replace(parameters=boxes_only)

    def __call__(self, images: BatchImages) -> Changes:
        """Score the images again that lose a detection at a level."""
        batch, before = images.batch, images.run
        every = np.arange(len(batch.names))
        changes = {0: (every, images.evidence.tally)}
        kept = np.searchsorted(self.levels, known_confidences(batch.det), side="right")
        for level in range(len(self.levels)):
            run = self.run_at(images.run, level)
            changed = np.unique(batch.det.image[kept == level])
            if run.parameters != before.parameters:
                changed = every
            if len(changed):
                some = images.measured.some(changed, kept > level)
                changes[level] = changed, some.evidence(*run).tally
            before = run
        return changes


def _joined(parts: Sequence[Changes], level: int) -> tuple[Ints, Tally]:
    """Return the images of all batches whose evidence is new at a level, and this evidence."""
    first, images, tallies = 0, [np.zeros(0, np.int64)], [parts[0][0][1].take([])]
    for part in parts:
        if level in part:
            images.append(part[level][0] + first)
            tallies.append(part[level][1])
        first += len(part[0][0])
    return np.concatenate(images), Tally.concatenate(tallies)


def _at_levels(changes: Sequence[tuple[Ints, Tally]]) -> Iterator[Tally]:
    """Yield the evidence of all images, a row each, at every level from the lowest."""
    rows, count = changes[0][1], len(changes[0][0])
    for images, tally in changes:
        places = np.arange(count)
        places[images] = count + np.arange(len(images))
        rows = Tally.concatenate([rows, tally]).take(places)
        yield rows
