"""What the ranking is without the suspects: scores and ranks as if each were don't care."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from evaltex_cli.audit.places import Scene, interleaved
from evaltex_cli.audit.suspects import Suspect
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.evaluate import evaluate_inputs, runs_of
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.formats.base import TextObject
from evaltex_cli.formats.columns import objects_of
from evaltex_cli.protocols import score_names
from evaltex_cli.protocols.base import load
from evaltex_cli.ranking import statistics
from evaltex_cli.records import Objects
from evaltex_cli.runtime import OrderedMap


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A detector's scores and rank, with all objects and without the suspects."""

    scores: dict[str, float | None]
    scores_without: dict[str, float | None]
    rank: int
    rank_without: int


def without(scene: Scene, suspects: Sequence[Suspect]) -> Objects:
    """Return the ground truth with suspects as don't care: their objects, and where others are
    proposed, these too, but those that are drawn as an object is.
    """
    gt, image_of = scene.gt, {name: k for k, name in enumerate(scene.names)}
    dont_care = gt.dont_care.copy()
    added: list[list[TextObject]] = [[] for _ in scene.names]
    for one in suspects:
        k = image_of[one.image]
        start, stop = gt.offsets[k : k + 2].tolist()
        dont_care[start:stop] |= np.isin(gt.ids[start:stop], one.objects)
        if one.kind in ("missing", "misplaced", "merged", "split"):
            drawn = [each.vertices for each in one.current]
            added[k] += [
                TextObject([*chain.from_iterable(new.vertices)], dont_care=True)
                for new in one.proposed
                if new.vertices not in drawn
            ]
    new = objects_of(added)
    last_id = np.zeros(len(added), np.int64)
    np.maximum.at(last_id, gt.image, np.maximum(gt.ids, gt.regions))
    ids = last_id[new.image] + new.ids
    new = replace(new, ids=ids, regions=ids, types=None, labels=None, places=None)
    joined, _ = interleaved([replace(gt, dont_care=dont_care), new])
    return joined


def score(
    inputs: Mapping[str, Inputs], protocols: Mapping[str, Any], ordered_map: OrderedMap = map
) -> tuple[dict[str, dict[str, Evaluation]], list[str]]:
    """Return protocol -> detector -> its evaluation, for the protocols that serve all detectors;
    and why others are left out. Without protocols, nothing is evaluated.

    Raises
    ------
    InputError
        As `evaluate.evaluate_inputs`, and if no protocol serves all.
    """
    if not protocols:
        return {}, []
    found: dict[str, dict[str, Evaluation]] = {name: {} for name in protocols}
    for label, one in inputs.items():
        for result in evaluate_inputs(one, runs_of(protocols), ordered_map=ordered_map):
            found[result.protocol.name][label] = result
    served = {name: results for name, results in found.items() if len(results) == len(inputs)}
    if not served:
        raise InputError("no protocol serves all detectors; choose another, such as iou")
    left_out = [
        f"left out: {name} ({label}: no transcriptions)"
        for name, results in found.items()
        for label in inputs
        if label not in results
    ]
    return served, left_out


def what_if(
    inputs: Mapping[str, Inputs],
    scored: Mapping[str, Mapping[str, Evaluation]],
    scene: Scene,
    suspects: Sequence[Suspect],
    ordered_map: OrderedMap = map,
) -> dict[str, dict[str, WhatIf]]:
    """Return protocol -> detector -> scores and ranks with and without suspects, the best detector
    first.

    Parameters
    ----------
    inputs : mapping
        Label -> the ground truth and the detections of a detector.
    scored : mapping
        Protocol -> detector -> its evaluation with all objects (`score`).
    scene : Scene
    suspects : sequence of Suspect
        Those that are left out.
    """
    parameters = {name: next(iter(results.values())).parameters for name, results in scored.items()}
    objects = without(scene, suspects)
    changed = {
        label: replace(one, gt=replace(one.gt, objects=objects)) for label, one in inputs.items()
    }
    scored_without, _ = score(changed, parameters, ordered_map)
    compared: dict[str, dict[str, WhatIf]] = {}
    for name, results in scored_without.items():
        main_score = load(name).main_score
        scores, ranks = [], []
        for side in (scored[name], results):
            scores.append([_scores(side[label]) for label in inputs])
            values = np.array([one[main_score] for one in scores[-1]], np.float64)
            ranks.append(statistics.ranks(values).astype(int).tolist())
        every = map(WhatIf, *scores, *ranks)
        by_rank = sorted(zip(inputs, every, strict=True), key=lambda item: item[1].rank)
        compared[name] = dict(by_rank)
    return compared


def _scores(evaluation: Evaluation) -> dict[str, float | None]:
    scores = evaluation.meaningful_scores
    return {name: scores[name] for name in score_names.scalars(scores)}
