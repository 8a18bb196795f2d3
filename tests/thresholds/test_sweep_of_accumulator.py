"""A sweep of what an `Accumulator` was given."""

from __future__ import annotations

import numpy as np
import pytest
from sweep_images import scene

from evaltex_cli import Accumulator, ConfigError, InputError, image_objects, sweep


@pytest.mark.parametrize("named", [True, False])
def test_an_accumulator_sweeps_as_the_function_does(named: bool) -> None:
    gt, det = scene(21)
    det = {name: det.get(name, image_objects()) for name in gt}
    accumulator = Accumulator(["evaltex", "cleval"])
    for name in gt:
        accumulator.update(gt[name], det[name], name=name if named else None)
    found = accumulator.compute_sweep(points=4, folds=3, seed=2)
    sides = (gt, det) if named else (list(gt.values()), list(det.values()))
    expected = sweep(*sides, ["evaltex", "cleval"], points=4, folds=3, seed=2)
    for name, one in expected.items():
        assert found[name].to_dict() == one.to_dict()


def test_an_accumulator_without_confidences_has_no_sweep() -> None:
    accumulator = Accumulator("iou")
    accumulator.update([[0, 0, 9, 9]], [[0, 0, 9, 9]])
    with pytest.raises(InputError, match="no detection has a confidence"):
        accumulator.compute_sweep()
    with pytest.raises(ConfigError, match="unknown option"):
        accumulator.compute_sweep(point=3)


def test_masks_are_swept_if_they_have_confidences() -> None:
    accumulator = Accumulator("iou")
    gt, det = np.zeros((2, 3, 9, 9), bool)
    gt[0, :5] = det[0, :4] = gt[1, 6:] = det[1, 6:8] = det[2, 8:] = True
    accumulator.update(gt[:2], image_objects(masks=det, confidences=[0.9, 0.5, 0.2]))
    found = accumulator.compute_sweep()
    assert found.scores["precision"] == [2 / 3, 1, 1]
    assert found.scores["recall"] == [1, 1, 0.5]
