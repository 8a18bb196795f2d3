"""What the ranking is without the suspects: scores and ranks as if each were don't care."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from evaltex_cli.audit.places import Scene, interleaved
from evaltex_cli.audit.suspects import Suspect
from evaltex_cli.comparison.detectors import DetectorResult, by_protocol, evaluated
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.formats.base import TextObject
from evaltex_cli.formats.columns import objects_of
from evaltex_cli.ranking import statistics
from evaltex_cli.records import Objects
from evaltex_cli.runtime import OrderedMap

Groups: TypeAlias = dict[str, list[DetectorResult]]
"""Protocol -> the result of each detector."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A detector's scores and rank, with all objects and without the suspects."""

    scores: dict[str, float | None]
    scores_without: dict[str, float | None]
    rank: int
    rank_without: int


def score(
    inputs: Mapping[str, Inputs], protocols: Mapping[str, Any], ordered_map: OrderedMap = map
) -> tuple[Groups, dict[str, str]]:
    """Evaluate all detectors by the protocols that serve all of them; return also the protocols
    that are left out, with the reason. Raises `InputError` as `evaluated` and `by_protocol`.
    """
    if not protocols:
        return {}, {}
    results = {
        label: evaluated(one, label, protocols, ordered_map, with_images=False)
        for label, one in inputs.items()
    }
    return by_protocol(results, protocols)


def what_if(
    inputs: Mapping[str, Inputs],
    scored: Groups,
    scene: Scene,
    suspects: Sequence[Suspect],
    ordered_map: OrderedMap = map,
) -> dict[str, dict[str, WhatIf]]:
    """Return protocol -> detector -> scores and ranks with and without suspects, the best detector
    first; `scored` has the results with all objects.
    """
    objects = without(scene, suspects)
    changed = {
        label: replace(one, gt=replace(one.gt, objects=objects)) for label, one in inputs.items()
    }
    parameters = {name: group[0].parameters for name, group in scored.items()}
    scored_without, _ = score(changed, parameters, ordered_map)
    compared = {}
    for name, group in scored.items():
        both = group, scored_without[name]
        scores = [[one.scores for one in results] for results in both]
        every = map(WhatIf, *scores, *map(_ranks, both))
        by_label = zip((one.label for one in group), every, strict=True)
        compared[name] = dict(sorted(by_label, key=lambda item: item[1].rank))
    return compared


def _ranks(results: Sequence[DetectorResult]) -> list[int]:
    values = [one.scores[one.protocol.main_score] for one in results]
    ranks: list[int] = statistics.ranks(np.array(values, np.float64)).astype(int).tolist()
    return ranks


def without(scene: Scene, suspects: Sequence[Suspect]) -> Objects:
    """Return the ground truth with suspects as don't care: their objects, and where others are
    proposed, these too, but those that are drawn as an object is.
    """
    gt, image_of = scene.gt, {name: k for k, name in enumerate(scene.names)}
    dont_care = gt.dont_care.copy()
    last_id = np.zeros(len(scene.names), np.int64)
    np.maximum.at(last_id, gt.image, np.maximum(gt.ids, gt.regions))
    added: list[list[TextObject]] = [[] for _ in scene.names]
    for one in suspects:
        k = image_of[one.image]
        start, stop = gt.offsets[k : k + 2].tolist()
        dont_care[start:stop] |= np.isin(gt.ids[start:stop], one.objects)
        if one.kind in ("missing", "misplaced", "merged", "split"):
            drawn = [each.vertices for each in one.current]
            for new in one.proposed:
                if new.vertices not in drawn:
                    last_id[k] += 1
                    added[k].append(TextObject(new.points, dont_care=True, id=int(last_id[k])))
    joined, _ = interleaved([replace(gt, dont_care=dont_care), objects_of(added)])
    return joined
