"""Scores at every confidence level, by a loop over the levels: only images that lose a detection at
a level are scored again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
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
from evaltex_cli.evaluation.extras import IMAGES, Bootstrap
from evaltex_cli.evaluation.groups import Units
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.formats.filters import treat_invalid
from evaltex_cli.protocols.base import EvidenceRows
from evaltex_cli.protocols.score_names import scalars
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Floats, Ints, take_images
from evaltex_cli.results.significance import intervals
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.thresholds import average_precision, choice
from evaltex_cli.thresholds.average_precision import Ranked, known_confidences
from evaltex_cli.thresholds.result import OperatingPoint, Sweep

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
    units: Units = IMAGES,
    progress: Progress | None = None,
    ordered_map: OrderedMap = map,
) -> list[Sweep]:
    """Sweep the confidence threshold by several protocols at once.

    The options are those of `evaltex_cli.sweep`; `bootstrap` says how intervals are made, if at
    all. Raises `ConfigError` for values out of range, and `InputError` as `evaluate_inputs`, and
    where no detection has a confidence.
    """
    for name, value, least in (("points", points, 1), ("folds", folds, 2)):
        if value < least:
            raise ConfigError(f"{name}={value}; expected {least} or more")
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
    names, values, sweeps = inputs.gt.names, levels.tolist(), []
    rows_of_folds = choice.folds_of(names, folds, seed, units)
    for evaluation in evaluations:
        name, main_score = evaluation.protocol.name, evaluation.protocol.main_score
        every = Run(evaluation.protocol, evaluation.parameters)
        at_level = [work.run_at(every, k) for k in range(len(levels))]
        by_level = partial(_rows_by_level, parts[name], len(levels))
        sums = [[rows.take(own).sum() for own in rows_of_folds] for rows in by_level()]
        scores = [
            run.scores(Tally.total(of_folds)) for run, of_folds in zip(at_level, sums, strict=True)
        ]
        main = [one[main_score] for one in scores]
        best = choice.best_level(main)
        named, warnings = scalars(scores[best]), list(evaluation.warnings)
        low, high = choice.plateau_of(main, best, tolerance)
        of_scores = of_level = None
        if bootstrap is not None:
            rows = EvidenceRows(names, next(islice(by_level(), best, None)))
            of_all, more = intervals(rows, at_level[best].scores, bootstrap)
            of_scores, warnings = {score: of_all[score] for score in named}, warnings + more
            if of_scores[main_score] is not None:
                lowest, highest = choice.level_interval(by_level(), names, at_level, bootstrap)
                of_level = values[lowest], values[highest]
        point = OperatingPoint(
            *(values[best], int(kept[best]), {score: scores[best][score] for score in named}),
            *((values[low], values[high]), of_scores, of_level),
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
                levels=tuple(values),
                kept=tuple(kept.tolist()),
                scores={score: [one[score] for one in scores] for score in named},
                main_score=main_score,
                operating_point=point,
                cross_validated=choice.cross_validated(values, at_level, sums, main[best]),
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
    count = min(points, len(values))  # all, or some, evenly by rank
    ranks = np.round(np.arange(count) * (len(values) - 1) / max(count - 1, 1)).astype(np.int64)
    levels = values[ranks]
    kept = len(confidences) - np.searchsorted(confidences, levels)
    # A run looks at all polygons that are read to decide what depends on them.
    counts = objects.outlines.counts
    highest = np.max(known_confidences(objects)[(counts != 0) & (counts != 4)], initial=-np.inf)
    return levels, kept, int(np.searchsorted(levels, highest, side="right"))


def _without_polygons(inputs: Inputs, runs: Sequence[Run]) -> dict[str, Any]:
    """Return protocol -> its parameters at levels without polygons, if they make a difference."""
    if are_polygons(inputs.gt.objects):
        return {}
    boxes_only = [run.protocol.resolve(run.parameters, lambda: False) for run in runs]
    pairs = zip(runs, boxes_only, strict=True)
    return {run.protocol.name: other for run, other in pairs if other != run.parameters}


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
        batch = images.batch
        every = np.arange(len(batch.names))
        changes = {0: (every, images.evidence.tally)}
        kept = np.searchsorted(self.levels, known_confidences(batch.det), side="right")
        for level in range(len(self.levels)):
            run = self.run_at(images.run, level)
            changed = np.unique(batch.det.image[kept == level])
            if level == self.polygons_until and run != images.run:
                changed = every
            if len(changed):
                some = images.measured.some(changed, kept > level)
                changes[level] = changed, some.evidence(*run).tally
        return changes


def _rows_by_level(batches: Sequence[Changes], levels: int) -> Iterator[Tally]:
    """Yield the evidence of all images, a row each, at every level from the lowest."""
    rows = [changes[0][1] for changes in batches]
    for level in range(levels):
        for k, changes in enumerate(batches):
            if level in changes:
                images, new = changes[level]
                places = np.arange(len(changes[0][0]))
                places[images] = len(places) + np.arange(len(images))
                rows[k] = Tally.concatenate([rows[k], new]).take(places)
        yield Tally.concatenate(rows)
