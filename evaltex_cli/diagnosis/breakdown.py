"""Recall by what objects are like: height, aspect ratio, length of the text, and class; and of the
slices that gates name.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import ConfigError
from evaltex_cli.evaluation.evaluate import BatchImages, Sink
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.protocols.matching import MATCH_TYPES, MISSED, Types
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Bools, Floats, Objects
from evaltex_cli.results.slices import QUANTITIES, Slice, parse

OF_GT = MATCH_TYPES[: MISSED + 1]
"""Match types of objects that count."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Inner edges of the bins, which contain their lower ones; `ConfigError` if they fall."""

    height: tuple[float, ...] = (8, 16, 32, 64, 128)
    aspect_ratio: tuple[float, ...] = (0.5, 1, 2, 4, 8)
    length: tuple[float, ...] = (1, 2, 4, 7, 11)

    def __post_init__(self) -> None:
        for name, edges in asdict(self).items():
            if not all(low < high for low, high in pairwise(edges)):
                shown = ", ".join(map(str, edges))
                raise ConfigError(f"edges of {name} are {shown}; expected numbers that rise")


@dataclass(frozen=True, slots=True)
class Bin:
    """The objects of one bin, from `low` (None: no bound) to below `high`; or of one class."""

    low: float | None
    high: float | None
    objects: int
    """Objects that count in the protocol."""
    found: int
    """Those that it matches with anything."""
    recall: float | None
    """The protocol's recall with all other objects made don't-care; None without objects."""
    matches: dict[str, int]
    """Match type -> objects."""
    means: dict[str, float | None]
    """The protocol's own values -> mean over the objects that have them; None where none has."""


def slices(edges: Edges) -> list[Slice]:
    """Return the slices that are bins."""
    return [
        Slice(name, low, high)
        for name in QUANTITIES
        for low, high in pairwise((None, *getattr(edges, name), None))
    ]


def members(objects: Objects, wanted: Iterable[Slice]) -> dict[Slice, Bools]:
    """Return, for each slice, (n,) whether an object is in it and counts."""
    width, height = (objects.boxes[:, 2:] - objects.boxes[:, :2]).T
    ratio = np.divide(width, height, out=np.full(objects.count, np.inf), where=height > 0)
    values = {"height": height, "aspect_ratio": ratio, "length": objects.texts.lengths}
    result = {}
    for key in wanted:
        column = values[key.quantity]
        inside = ~objects.dont_care & (column >= (-np.inf if key.low is None else key.low))
        result[key] = inside if key.high is None else inside & (column < key.high)
    return result


class BinPart(NamedTuple):
    """What one bin holds of a batch."""

    types: Types
    """Of each of the objects, an index into `MATCH_TYPES`."""
    values: dict[str, Floats]
    """The protocol's own values of the objects; NaN where one has none."""
    evidence: Tally
    """Of the images that have some of the objects, all others don't care."""


def part_of(images: BatchImages, inside: Bools) -> BinPart:
    """Return what the bin of some objects of a batch, (G,) bool, holds."""
    gt, batch = images.evidence.matches.gt, images.batch
    only = replace(batch, gt=replace(batch.gt, dont_care=~inside))
    measured = replace(images.measured, batch=only).some(
        np.unique(batch.gt.image[inside]), np.ones(batch.det.count, dtype=bool)
    )
    values = {name: column[inside].astype(np.float64) for name, column in gt.values.items()}
    return BinPart(gt.types[inside], values, measured.evidence(*images.run).tally)


def bin_of(
    parts: Sequence[BinPart],
    evaluation: Evaluation,
    low: float | None = None,
    high: float | None = None,
) -> Bin:
    """Return a bin from its parts in all batches."""
    types = np.concatenate([part.types for part in parts])
    matches = dict(zip(OF_GT, np.bincount(types, minlength=len(OF_GT)).tolist(), strict=False))
    objects, means = sum(matches.values()), {}
    scores = evaluation.score(Tally.concatenate([part.evidence for part in parts]).sum())
    recall = float(scores["recall"] or 0.0) if objects else None
    for name in parts[0].values:
        column = np.concatenate([part.values[name] for part in parts])
        known = column[~np.isnan(column)].tolist()
        means[name] = math.fsum(known) / len(known) if known else None
    return Bin(low, high, objects, objects - matches["missed"], recall, matches, means)


class SliceRecalls:
    """Gathers slices, given by name for each protocol (`slices.parse`), while inputs are evaluated;
    its `sink` is for `evaluate_inputs`. Raises `ConfigError`.
    """

    def __init__(self, wanted: Mapping[str, Iterable[str]]) -> None:
        by_protocol = {name: dict.fromkeys(map(parse, texts)) for name, texts in wanted.items()}
        self._parts: dict[str, list[dict[Slice, BinPart]]] = defaultdict(list)
        self.sink = Sink(
            partial(_parts_of, by_protocol),
            lambda run, parts: self._parts[run.protocol.name].append(parts),
        )

    def recalls(self, evaluation: Evaluation) -> dict[str, float | None]:
        """Return name of a slice -> its recall, None without objects, of an evaluation."""
        parts = self._parts[evaluation.protocol.name]
        return {
            key.name: bin_of([one[key] for one in parts], evaluation).recall for key in parts[0]
        }


def _parts_of(wanted: Mapping[str, Iterable[Slice]], images: BatchImages) -> dict[Slice, BinPart]:
    inside = members(images.batch.gt, wanted.get(images.run.protocol.name, ()))
    return {key: part_of(images, own) for key, own in inside.items()}
