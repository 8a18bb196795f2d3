"""Scores of parts of a data set (`--by`): the images of each value of an attribute, or the objects
of each class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evaltex_cli.errors import ConfigError
from evaltex_cli.evaluation.evaluate import Run, evaluate_inputs
from evaltex_cli.evaluation.evaluation import Evaluation, defined
from evaltex_cli.evaluation.extras import Bootstrap, SliceScores
from evaltex_cli.evaluation.groups import CLASS, NONE, Grouping
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.filters import class_counts
from evaltex_cli.protocols.base import EvidenceRows
from evaltex_cli.records import take
from evaltex_cli.results.significance import intervals
from evaltex_cli.runtime import OrderedMap


def with_slices(
    evaluations: Sequence[Evaluation],
    inputs: Inputs,
    runs: Sequence[Run],
    grouping: Grouping,
    bootstrap: Bootstrap | None,
    ordered_map: OrderedMap = map,
) -> list[Evaluation]:
    """Return the evaluations of inputs by these runs, with their scores of each part."""
    if not grouping.by:
        return list(evaluations)
    slices: dict[str, list[SliceScores]] = {one.protocol.name: [] for one in evaluations}
    for one in evaluations:
        assert one.rows is not None
        for by, value, own in grouping.images(one.rows.names):
            slices[one.protocol.name].append(_scores(one, one.rows.take(own), by, value, bootstrap))
    if grouping.has_class:
        of_protocol = {one.protocol.name: one for one in evaluations}
        for value, part, has_labels in parts_by_class(inputs):
            own_runs = [run for run in runs if run.protocol.name in of_protocol]
            of_part = evaluate_inputs(part, own_runs, (), None, ordered_map, in_training=True)
            for one in of_part:
                name = one.protocol.name
                assert one.rows is not None
                scores = _scores(of_protocol[name], one.rows, CLASS, value, bootstrap)
                slices[name].append(scores if has_labels else _recall_only(scores))
    return [replace(one, slices=slices[one.protocol.name]) for one in evaluations]


def _scores(
    evaluation: Evaluation, rows: EvidenceRows, by: str, value: str, bootstrap: Bootstrap | None
) -> SliceScores:
    total: Any = rows.tally.sum()
    scores = defined(evaluation.score(total), total.as_dict())
    bounds = intervals(rows, evaluation.score, bootstrap)[0] if bootstrap else None
    return SliceScores(
        *(by, value, len(rows.names), total.gt_objects, total.detections),
        {name: scores[name] for name in evaluation.headline},
        bounds and {name: bounds[name] for name in evaluation.headline},
    )


def _recall_only(scores: SliceScores) -> SliceScores:
    """Without labels all detections stand against the objects of one class."""
    known = {name: value if "recall" in name else None for name, value in scores.scores.items()}
    return replace(scores, scores=known)


def parts_by_class(inputs: Inputs) -> Iterator[tuple[str, Inputs, bool]]:
    """Yield each class, the inputs with its objects alone, and whether detections have classes."""
    classes, has_labels = class_counts(inputs.gt), bool(class_counts(inputs.det))
    if not classes:
        raise ConfigError("--by class: the objects of the ground truth have no classes")
    for name in sorted(classes):
        det = _of_class(inputs.det, name) if has_labels else inputs.det
        yield name or NONE, replace(inputs, gt=_of_class(inputs.gt, name), det=det), has_labels


def _of_class(source: Source, name: str) -> Source:
    labels = source.objects.labels
    assert labels is not None
    is_of_class = np.array([one == name for one in labels.names], np.bool_)[labels.codes]
    return replace(source, objects=take(source.objects, is_of_class))
