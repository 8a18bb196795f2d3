"""What the ranking is without the suspects: scores and ranks as if each were don't care."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from evaltex_cli.audit import patches
from evaltex_cli.audit.findings import Lists
from evaltex_cli.audit.scenes import interleaved
from evaltex_cli.audit.suspect_columns import Suspects
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.evaluate import evaluate_inputs, runs_of
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.formats.base import Source
from evaltex_cli.protocols import score_names
from evaltex_cli.protocols.base import load
from evaltex_cli.ranking import statistics
from evaltex_cli.records import Ints, Objects, concatenate_texts, expanded, offsets_of
from evaltex_cli.records.rows import take
from evaltex_cli.runtime import OrderedMap


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A detector's scores and rank, with all objects and without the suspects."""

    scores: dict[str, float | None]
    scores_without: dict[str, float | None]
    rank: int
    rank_without: int


def without(gt: Source, suspects: Suspects) -> Source:
    """Return the ground truth with suspects as don't care: their objects, and where others are
    proposed, these too.
    """
    scene = suspects.scene
    rows = np.unique(suspects.objects.rows)
    ids = Lists(scene.gt.ids[rows], np.searchsorted(rows, scene.gt.offsets))
    rows = _elsewhere(suspects)
    image = np.searchsorted(scene.det.offsets, rows, side="right") - 1
    offsets = offsets_of(np.bincount(image, minlength=len(scene.names)))
    added = take(scene.det, rows[np.argsort(image, kind="stable")], offsets)
    added = replace(
        added,
        dont_care=np.ones(added.count, bool),
        texts=concatenate_texts([""] * added.count),
        confidences=None,
    )
    return replace(gt, objects=_with_dont_care(gt.objects, ids, added))


def _with_dont_care(objects: Objects, ids: Lists, added: Objects) -> Objects:
    """Make suspects don't care: of each image those of these IDs; and add what is where no object
    is.
    """
    dont_care = objects.dont_care.copy()
    next_id = np.ones(len(objects.offsets) - 1, np.int64)
    for k, (start, stop) in enumerate(pairwise(objects.offsets.tolist())):
        own = ids.rows[slice(*ids.offsets[k : k + 2])]
        dont_care[start:stop] |= np.isin(objects.ids[start:stop], own)
        both = np.concatenate([objects.ids[start:stop], objects.regions[start:stop]])
        next_id[k] = both.max(initial=0) + 1
    image, number = expanded(np.diff(added.offsets))
    new = next_id[image] + number
    objects = replace(objects, dont_care=dont_care)
    joined, _ = interleaved([objects, replace(added, ids=new, regions=new)])
    return joined


def _elsewhere(suspects: Suspects) -> Ints:
    """Return the detections that are proposed, but those that are drawn as an object is."""
    scene = suspects.scene
    suspects = suspects.of(np.flatnonzero(suspects.are("missing", "misplaced", "merged", "split")))
    objects, centres = suspects.objects, suspects.centres
    owner, number = expanded(objects.counts[centres.owner])
    first = objects.offsets[centres.owner[owner]]
    pairs = np.stack([objects.rows[first + number], centres.rows[owner]])
    alike = (scene.gt.boxes[pairs[0]] == scene.det.boxes[pairs[1]]).all(axis=1)
    drawn = np.zeros(len(centres.rows), bool)
    for k in np.flatnonzero(alike).tolist():
        one, other = (
            patches.audited(scene.gt, pairs[0, k]),
            patches.audited(scene.det, pairs[1, k]),
        )
        drawn[owner[k]] |= one.vertices == other.vertices
    return centres.rows[~drawn]


def scored(
    inputs: Mapping[str, Inputs], protocols: Mapping[str, Any], ordered_map: OrderedMap = map
) -> tuple[dict[str, dict[str, Evaluation]], list[str]]:
    """Return protocol -> detector -> its evaluation, of the protocols that serve all detectors; and
    why others are left out.

    Raises
    ------
    InputError
        As `evaluate.evaluate_inputs`, and if no protocol serves all.
    """
    found: dict[str, dict[str, Evaluation]] = {name: {} for name in protocols}
    for label, one in inputs.items():
        for result in evaluate_inputs(one, runs_of(protocols), ordered_map=ordered_map):
            found[result.protocol.name][label] = result
    served = {name: of_one for name, of_one in found.items() if len(of_one) == len(inputs)}
    if not served:
        raise InputError("no protocol serves all detectors; choose another, such as iou")
    left_out = [
        f"left out: {name} ({label}: no transcriptions)"
        for name, of_one in found.items()
        for label in inputs
        if label not in of_one
    ]
    return served, left_out


def what_if(
    inputs: Mapping[str, Inputs],
    scored_with: Mapping[str, Mapping[str, Evaluation]],
    suspects: Suspects,
    ordered_map: OrderedMap = map,
) -> dict[str, dict[str, WhatIf]]:
    """Return what the ranking is with and without suspects.

    Parameters
    ----------
    inputs : mapping
        Label -> the ground truth and the detections of a detector.
    scored_with : mapping
        Protocol -> detector -> its evaluation with all objects (`scored`).
    suspects : Suspects
        Those that are left out.

    Returns
    -------
    dict
        Protocol -> detector -> scores and ranks, the best detector first.
    """
    parameters = {
        name: next(iter(of_one.values())).parameters for name, of_one in scored_with.items()
    }
    changed = {label: replace(one, gt=without(one.gt, suspects)) for label, one in inputs.items()}
    scored_without, _ = scored(changed, parameters, ordered_map)
    return {
        name: _compared(name, scored_with[name], scored_without[name]) for name in scored_without
    }


def _compared(
    protocol: str, with_all: Mapping[str, Evaluation], without_some: Mapping[str, Evaluation]
) -> dict[str, WhatIf]:
    main_score = load(protocol).main_score
    labels = sorted(with_all)
    scores, scores_without = (
        {label: _scores(side[label]) for label in labels} for side in (with_all, without_some)
    )
    ranks, ranks_without = (
        statistics.ranks(
            np.array(
                [np.nan if (value := of[label][main_score]) is None else value for label in labels],
                np.float64,
            )
        ).tolist()
        for of in (scores, scores_without)
    )
    found = {
        label: WhatIf(scores[label], scores_without[label], int(rank), int(rank_without))
        for label, rank, rank_without in zip(labels, ranks, ranks_without, strict=True)
    }
    return dict(sorted(found.items(), key=lambda item: (item[1].rank, item[0])))


def _scores(evaluation: Evaluation) -> dict[str, float | None]:
    scores = evaluation.meaningful_scores
    return {name: scores[name] for name in score_names.scalars(scores)}
