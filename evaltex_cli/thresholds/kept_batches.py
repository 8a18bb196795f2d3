"""The objects of images that come one after another, kept for a sweep at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.records import ImageBatch, Objects
from evaltex_cli.thresholds.result import Sweep
from evaltex_cli.thresholds.sweep import SweepOptions, swept_batches

ENOUGH = 20_000
"""Detections without any confidence after which no more are kept."""


@dataclass(slots=True)
class KeptBatches:
    """Batches of boxes and polygons; None once many detections came without any confidence, or
    masks.
    """

    parts: list[ImageBatch] | None = field(default_factory=list)
    are_masks: bool = False

    def add(self, batch: ImageBatch) -> None:
        """Keep a batch, without the overlaps and polygons that were made of it."""
        self.are_masks |= batch.has_masks
        if self.parts is None or self.are_masks:
            self.parts = None
            return
        self.parts.append(replace(batch, gt=_bare(batch.gt), det=_bare(batch.det)))
        without = all(one.det.confidences is None for one in self.parts)
        if without and sum(one.det.count for one in self.parts) >= ENOUGH:
            self.parts = None

    def merge(self, other: KeptBatches) -> None:
        """Add what another one has."""
        self.are_masks |= other.are_masks
        both = self.parts is not None and other.parts is not None
        self.parts = [*(self.parts or ()), *(other.parts or ())] if both else None

    def sweeps(self, evaluations: Sequence[Evaluation], options: SweepOptions) -> list[Sweep]:
        """Return the sweeps of protocols whose evaluations, on all detections, are done.

        Images without a name have their number instead.

        Raises
        ------
        InputError
            For masks, and where detections have no confidences.
        """
        if self.are_masks:
            raise InputError("a sweep works on boxes and polygons; masks have no confidences")
        if self.parts is None:
            raise InputError(
                "the detections of the images that were added first have no confidences; give them"
                " by image_objects(..., confidences=...)"
            )
        before = accumulate((len(one.names) for one in self.parts), initial=0)
        parts = [
            replace(one, names=[name or str(first + k) for k, name in enumerate(one.names)])
            for first, one in zip(before, self.parts, strict=False)
        ]
        return swept_batches(parts, evaluations, options)


def _bare(objects: Objects) -> Objects:
    return replace(objects, outlines=replace(objects.outlines, made=[]))
