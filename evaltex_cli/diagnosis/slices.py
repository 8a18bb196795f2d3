"""Recall of slices of the objects, as the bins of a breakdown have it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from evaltex_cli.diagnosis.breakdown import BinSums, add_bin, properties, recall_of
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.tally import BatchImages, Run, Sink
from evaltex_cli.records import Bools, Objects
from evaltex_cli.results.slices import Slice, parse


def inside(one: Slice, objects: Objects) -> Bools:
    """(n,) whether an object is in a slice and counts; the same objects as in
    a bin with its bounds.
    """
    values = properties(objects)[one.quantity]
    edges = [edge for edge in (one.low, one.high) if edge is not None]
    place = 0 if one.low is None else 1
    found: Bools = (
        np.searchsorted(np.array(edges), values, side="right") == place
    ) & ~objects.dont_care
    return found


@dataclass(frozen=True, slots=True)
class _OfBatch:
    """A function that adds up the slices in a batch, fit to be sent to another process."""

    wanted: Mapping[str, tuple[Slice, ...]]

    def __call__(self, images: BatchImages) -> list[BinSums]:
        run, batch = images.run, images.batch
        made = []
        for one in self.wanted.get(run.protocol.name, ()):
            sums = BinSums()
            add_bin(sums, run, batch, images.evidence, inside(one, batch.gt))
            made.append(sums)
        return made


class SliceRecalls:
    """Gathers slices while inputs are evaluated: its `sink` is for `evaluate.evaluate_inputs`.

    Parameters
    ----------
    wanted : mapping
        Protocol -> names of slices (`slices.parse`).

    Raises
    ------
    ConfigError
    """

    def __init__(self, wanted: Mapping[str, Iterable[str]]) -> None:
        self._wanted = {
            name: tuple(dict.fromkeys(map(parse, texts))) for name, texts in wanted.items()
        }
        self._sums = {name: [BinSums() for _ in slices] for name, slices in self._wanted.items()}
        self.sink = Sink(_OfBatch(self._wanted), self._take)

    def _take(self, run: Run, made: list[BinSums]) -> None:
        for ours, more in zip(self._sums.get(run.protocol.name, []), made, strict=True):
            ours.add(more)

    def of(self, evaluation: Evaluation) -> dict[str, float | None]:
        """Name of a slice -> its recall, None without objects; of a protocol
        whose evaluation is done.
        """
        name = evaluation.protocol.name
        pairs = zip(self._wanted.get(name, ()), self._sums.get(name, []), strict=True)
        return {one.name: recall_of(sums, evaluation) for one, sums in pairs}
