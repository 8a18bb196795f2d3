"""What the ranking is without the suspects: scores and ranks as if each were don't care."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evaltex_cli.audit.scenes import interleaved
from evaltex_cli.audit.suspects import Suspect
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.evaluate import evaluate_inputs, runs_of
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.formats.base import ReadImages, Source
from evaltex_cli.geometry import outlines
from evaltex_cli.protocols import score_names
from evaltex_cli.protocols.base import load
from evaltex_cli.ranking import statistics
from evaltex_cli.records import Ints, Objects, concatenate_texts, offsets_of
from evaltex_cli.runtime import OrderedMap

Outline = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A detector's scores and rank, with all objects and without the suspects."""

    scores: dict[str, float | None]
    scores_without: dict[str, float | None]
    rank: int
    rank_without: int


@dataclass(slots=True)
class _Ignored:
    """What is don't care in an image: IDs of objects, and outlines where none is."""

    ids: list[int] = field(default_factory=list)
    outlines: list[Outline] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _AsDontCare:
    """A `formats.base.Filter` that makes suspects don't care; one entry per image."""

    images: Sequence[_Ignored]

    def part(self, positions: Ints) -> _AsDontCare:
        return _AsDontCare([self.images[k] for k in positions.tolist()])

    def apply(self, images: ReadImages) -> ReadImages:
        objects = images.objects
        dont_care = objects.dont_care.copy()
        added = [one.outlines for one in self.images]
        first = np.zeros(len(added), np.int64)
        for k, one in enumerate(self.images):
            here = slice(*objects.offsets[k : k + 2])
            dont_care[here] |= np.isin(objects.ids[here], one.ids)
            both = np.concatenate([objects.ids[here], objects.regions[here]])
            first[k] = both.max(initial=0) + 1
        objects = replace(objects, dont_care=dont_care)
        joined, _ = interleaved([objects, _dont_care(added, first)])
        return replace(images, objects=joined)


def _dont_care(added: Sequence[Sequence[Outline]], first: Ints) -> Objects:
    """Return don't-care objects of some images, numbered from `first` of each."""
    every = [one for of_image in added for one in of_image]
    numbers = np.array([value for one in every for point in one for value in point], np.float64)
    counts = np.array([2 * len(one) for one in every], np.int64)
    drawn, _ = outlines.from_numbers(numbers, counts, counts == 4)
    offsets = offsets_of([len(of_image) for of_image in added])
    of_image = np.repeat(np.arange(len(added)), np.diff(offsets))
    ids = first[of_image] + np.arange(len(every)) - offsets[of_image]
    texts = concatenate_texts([""] * len(every))
    return Objects(offsets, ids, drawn, ids, np.ones(len(every), bool), texts)


def without(gt: Source, suspects: Sequence[Suspect]) -> Source:
    """Return the ground truth with suspects as don't care: their objects, and where others are
    proposed, these too.
    """
    ignored: dict[str, _Ignored] = defaultdict(_Ignored)
    for one in suspects:
        ignored[one.image].ids += one.objects
        known = {each.vertices for each in one.current}
        ignored[one.image].outlines += [
            each.vertices for each in one.proposed if each.vertices not in known
        ]
    images = [ignored.get(name, _Ignored()) for name in gt.names]
    return replace(gt, filters=(*gt.filters, _AsDontCare(images)))


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
    suspects: Sequence[Suspect],
    ordered_map: OrderedMap = map,
) -> dict[str, dict[str, WhatIf]]:
    """Return what the ranking is with and without suspects.

    Parameters
    ----------
    inputs : mapping
        Label -> the ground truth and the detections of a detector.
    scored_with : mapping
        Protocol -> detector -> its evaluation with all objects (`scored`).
    suspects : sequence of Suspect
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
    headline = load(protocol).headline[-1]
    labels = sorted(with_all)
    scores, scores_without = (
        {label: _scores(side[label]) for label in labels} for side in (with_all, without_some)
    )
    ranks, ranks_without = (
        statistics.ranks(
            np.array(
                [np.nan if (value := of[label][headline]) is None else value for label in labels],
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
