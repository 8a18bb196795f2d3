"""A metric for torchmetrics and Lightning, which synchronises the ranks itself."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat

from evaltex_cli import Accumulator
from evaltex_cli.evaluation.arrays import OneImage
from evaltex_cli.integrations.scores import named_scores


class EvaltexMetric(Metric):  # type: ignore[misc]
    """Headline scores, ``{"iou/recall": tensor}``; parameters: see `evaltex_cli.Accumulator`."""

    full_state_update, higher_is_better, is_differentiable = False, True, False
    stream: list[torch.Tensor]  # pickles as bytes, one after the other

    def __init__(
        self,
        protocol: str | Sequence[str] = "evaltex",
        params: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._protocol, self._params = protocol, params
        self.add_state("stream", default=[], dist_reduce_fx="cat")

    def update(self, preds: Sequence[OneImage], target: Sequence[OneImage]) -> None:
        """Add detections and ground truth of images, as `Accumulator.update` takes them."""
        accumulator = Accumulator(self._protocol, params=self._params)
        for det, gt in zip(preds, target, strict=True):
            accumulator.update(gt, det)
        state = torch.frombuffer(bytearray(pickle.dumps(accumulator)), dtype=torch.uint8)
        self.stream.append(state.to(self.device))

    def compute(self) -> dict[str, torch.Tensor]:
        """Return the headline scores of all images of all ranks; NaN if undefined."""
        return {name: torch.tensor(value) for name, value in named_scores(self.result()).items()}

    def result(self) -> Any:
        """Return the evaluation of this rank's images, or of all ranks' while synchronised."""
        whole = Accumulator(self._protocol, params=self._params)
        stream = bytes(dim_zero_cat(self.stream).cpu().numpy()) if len(self.stream) else b""
        data = io.BytesIO(stream)
        while data.tell() < len(data.getbuffer()):
            whole.merge(pickle.load(data))
        return whole.compute()

    def sync(self, *args: Any, **kwargs: Any) -> None:
        """Synchronise the ranks; one without images has bytes too, none of them."""
        if isinstance(self.stream, list) and not self.stream:
            self.stream.append(torch.zeros(0, dtype=torch.uint8, device=self.device))
        super().sync(*args, **kwargs)
