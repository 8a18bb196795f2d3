"""A metric for MMEngine's evaluators (MMOCR, MMDetection)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from mmengine.evaluator import BaseMetric
from mmengine.registry import METRICS

from evaltex_cli import Accumulator, image_objects
from evaltex_cli.formats.memory import ImageObjects
from evaltex_cli.integrations.loggers import named_scores


@METRICS.register_module()
class EvaltexMetric(BaseMetric):  # type: ignore[misc]
    """Headline scores; configs import ``evaltex_cli.integrations.mmengine`` by ``custom_imports``.

    Instances have ``polygons`` or ``bboxes``, and optionally ``ignored``, ``texts`` and ``scores``.
    Parameters are those of `evaltex_cli.Accumulator` and of ``BaseMetric``.
    """

    default_prefix = "evaltex"

    def __init__(
        self,
        protocol: Any = None,
        params: Any = None,
        preset: str | None = None,
        min_confidence: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        options = {"params": params, "preset": preset, "min_confidence": min_confidence}
        self._images: Accumulator[Any] = Accumulator(protocol, **options)

    def process(self, data_batch: Any, data_samples: Sequence[Any]) -> None:
        """Store the objects of a batch."""
        for one in data_samples:
            sides = (_objects(one[side]) for side in ("gt_instances", "pred_instances"))
            size = tuple(one.get("ori_shape") or one.get("img_shape") or ())[:2]
            self.results.append((*sides, size or None))

    def compute_metrics(self, results: list[Any]) -> dict[str, float]:
        """Return the scores of all images of all ranks; called by the evaluator."""
        self._images.reset()
        for gt, det, size in results:
            self._images.update(gt, det, size=size)
        return named_scores(self._images.compute())


def _objects(instances: Any) -> ImageObjects:
    names = ("ignored", "texts", "scores", "polygons", "bboxes")
    ignored, texts, scores, rings, boxes = (_on_cpu(instances.get(name)) for name in names)
    more = {"dont_care": ignored, "texts": texts, "confidences": scores}
    if rings is None:
        return image_objects(boxes, **more)
    return image_objects(polygons=[np.asarray(_on_cpu(r)).reshape(-1, 2) for r in rings], **more)


def _on_cpu(column: Any) -> Any:
    return column.cpu() if hasattr(column, "cpu") else column
