"""A metric for torchmetrics and Lightning, which synchronises the ranks itself."""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from typing import Any

import torch
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat

from evaltex_cli import Accumulator
from evaltex_cli.api.arrays import OneImage, objects_of
from evaltex_cli.api.inputs import TRAINING
from evaltex_cli.integrations.loggers import named_scores


class EvaltexMetric(Metric):  # type: ignore[misc]
    """Headline scores, ``{"iou/recall": tensor}``; NaN if undefined.

    `protocol`, `params`, `preset`, `min_confidence`, `invalid` and `dont_care` are those of
    `evaltex_cli.evaluate`, other keywords those of ``torchmetrics.Metric``.
    """

    full_state_update, higher_is_better, is_differentiable = False, True, False
    stream: list[torch.Tensor]  # pickled images as bytes, one after the other

    def __init__(self, protocol: Any = None, params: Any = None, **kwargs: Any) -> None:
        options = {name: kwargs.pop(name) for name in TRAINING if name in kwargs}
        super().__init__(**kwargs)
        self._images: Accumulator[Any] = Accumulator(protocol, params=params, **options)
        self.add_state("stream", default=[], dist_reduce_fx="cat")

    def update(self, preds: Sequence[OneImage], target: Sequence[OneImage]) -> None:
        """Add detections and ground truth of images, as `Accumulator.update` takes them."""
        batch = [(objects_of(gt), objects_of(det)) for det, gt in zip(preds, target, strict=True)]
        state = torch.frombuffer(bytearray(pickle.dumps(batch)), dtype=torch.uint8)
        self.stream.append(state.to(self.device))

    def compute(self) -> dict[str, torch.Tensor]:
        """Return the headline scores of all images of all ranks."""
        return {name: torch.tensor(value) for name, value in named_scores(self.result()).items()}

    def result(self) -> Any:
        """Return the evaluation of this rank's images, or of all ranks' while synchronised."""
        stream = bytes(dim_zero_cat(self.stream).cpu().numpy()) if len(self.stream) else b""
        batches = io.BytesIO(stream)
        self._images.reset()
        while batches.tell() < len(stream):
            for gt, det in pickle.load(batches):
                self._images.update(gt, det)
        return self._images.compute()

    def sync(self, *args: Any, **kwargs: Any) -> None:
        """Synchronise the ranks; a rank without images also needs a tensor, of no bytes."""
        if isinstance(self.stream, list) and not self.stream:
            self.stream.append(torch.zeros(0, dtype=torch.uint8, device=self.device))
        super().sync(*args, **kwargs)
