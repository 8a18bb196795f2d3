"""The adapter to MMEngine: run by its own evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evaltex_cli import evaluate, image_objects

pytest.importorskip("mmengine", reason="mmengine is not installed")
torch = pytest.importorskip("torch", reason="torch is not installed")

BOXES = np.array([[0, 0, 100, 20], [0, 40, 60, 60]], float)
RINGS = [np.array([0, 0, 100, 0, 100, 20, 0, 20]), np.array([[0, 40], [60, 40], [60, 60], [0, 60]])]


def samples() -> list[Any]:
    from mmengine.structures import BaseDataElement, InstanceData

    gt = InstanceData(polygons=RINGS, ignored=torch.tensor([False, True]), texts=["one", "###"])
    found = [
        InstanceData(polygons=RINGS[:1], scores=torch.tensor([0.9])),
        InstanceData(bboxes=torch.tensor(BOXES), scores=torch.tensor([0.9, 0.1])),
    ]
    return [
        BaseDataElement(
            gt_instances=gt, pred_instances=one, metainfo={"img_shape": (80, 120)}
        ).to_dict()
        for one in found
    ]


def test_the_evaluator_gets_the_scores() -> None:
    from mmengine.evaluator import Evaluator

    import evaltex_cli.integrations.mmengine  # noqa: F401

    config = {
        "type": "EvaltexMetric",
        "protocol": ["iou", "evaltex"],
        "params": {"iou": {"iou": 0.6}},
    }
    evaluator = Evaluator({**config, "min_confidence": 0.5})
    evaluator.process(samples()[:1], {})
    evaluator.process(samples()[1:], {})
    found = evaluator.evaluate(2)
    gt = image_objects(polygons=[ring.reshape(-1, 2) for ring in RINGS], dont_care=[False, True])
    expected = evaluate(
        [gt] * 2, [RINGS[:1], BOXES[:1]], ["iou", "evaltex"], params={"iou": {"iou": 0.6}}
    )
    assert found == {
        f"evaltex/{protocol}/{name}": value
        for protocol, one in expected.items()
        for name, value in one.headline.items()
    }
