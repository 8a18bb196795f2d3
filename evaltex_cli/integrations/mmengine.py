"""A metric for MMEngine's evaluators (MMOCR, MMDetection)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mmengine.evaluator import BaseMetric
from mmengine.registry import METRICS

from evaltex_cli import Accumulator, image_objects
from evaltex_cli.api.inputs import TRAINING
from evaltex_cli.formats.memory import ImageObjects
from evaltex_cli.integrations.loggers import named_scores


@METRICS.register_module()
class EvaltexMetric(BaseMetric):  # type: ignore[misc]
    """Headline scores; configs import ``evaltex_cli.integrations.mmengine`` by ``custom_imports``.

    Instances have ``polygons`` or ``bboxes``, and optionally ``ignored``, ``texts`` and ``scores``.
    `protocol`, `params`, `preset`, `min_confidence`, `invalid` and `dont_care` are those of
    `evaltex_cli.evaluate`, other keywords those of ``BaseMetric``.
    """

    default_prefix = "evaltex"

    def __init__(self, protocol: Any = None, params: Any = None, **kwargs: Any) -> None:
        options = {name: kwargs.pop(name) for name in TRAINING if name in kwargs}
        super().__init__(**kwargs)
        self._images: Accumulator[Any] = Accumulator(protocol, params=params, **options)

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
    names = ("bboxes", "polygons", "ignored", "texts", "scores")
    columns = [instances.get(name) for name in names]
    boxes, rings, ignored, texts, scores = (
        column.cpu() if hasattr(column, "cpu") else column for column in columns
    )
    boxes = boxes if rings is None else None
    return image_objects(boxes, rings, dont_care=ignored, texts=texts, confidences=scores)
