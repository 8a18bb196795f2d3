"""Recall of slices of the objects, as the bins of a breakdown have it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evaltex_cli.diagnosis.breakdown import BinPart, bin_of, members, part_of
from evaltex_cli.evaluation.evaluate import BatchImages, Run, Sink
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.results.slices import Slice, parse


@dataclass(frozen=True, slots=True)
class _OfBatch:
    """Measures the slices of a batch, also in another process."""

    wanted: Mapping[str, tuple[Slice, ...]]

    def __call__(self, images: BatchImages) -> list[BinPart]:
        wanted = self.wanted.get(images.run.protocol.name, ())
        return [part_of(images, inside) for inside in members(images.batch.gt, wanted)]


class SliceRecalls:
    """Gathers slices, given by name for each protocol (`slices.parse`), while inputs are evaluated;
    its `sink` is for `evaluate_inputs`. Raises `ConfigError`.
    """

    def __init__(self, wanted: Mapping[str, Iterable[str]]) -> None:
        self._wanted = {
            name: tuple(dict.fromkeys(map(parse, texts))) for name, texts in wanted.items()
        }
        self._batches: dict[str, list[list[BinPart]]] = defaultdict(list)
        self.sink = Sink(_OfBatch(self._wanted), self._add)

    def _add(self, run: Run, parts: list[BinPart]) -> None:
        self._batches[run.protocol.name].append(parts)

    def of(self, evaluation: Evaluation) -> dict[str, float | None]:
        """Return name of a slice -> its recall, None without objects, of an evaluation."""
        name = evaluation.protocol.name
        by_slice = zip(*self._batches[name], strict=True)
        pairs = zip(self._wanted.get(name, ()), by_slice, strict=True)
        return {one.name: bin_of(parts, evaluation).recall for one, parts in pairs}
