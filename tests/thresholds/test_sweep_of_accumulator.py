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


def test_accumulators_are_merged_with_what_a_sweep_needs() -> None:
    gt, det = scene(22)
    parts = [Accumulator("iou"), Accumulator("iou")]
    for k, name in enumerate(gt):
        parts[k >= len(gt) // 2].update(gt[name], det.get(name, image_objects()), name=name)
    parts[0].merge(parts[1])
    assert parts[0].compute_sweep().to_dict() == sweep(gt, det, "iou").to_dict()


def test_an_accumulator_without_confidences_has_no_sweep() -> None:
    accumulator = Accumulator("iou")
    accumulator.update([[0, 0, 9, 9]], [[0, 0, 9, 9]])
    with pytest.raises(InputError, match="no detection has a confidence"):
        accumulator.compute_sweep()
    with pytest.raises(ConfigError, match="unknown option"):
        accumulator.compute_sweep(point=3)


def test_an_accumulator_of_masks_has_no_sweep() -> None:
    accumulator = Accumulator("iou")
    accumulator.update(np.ones((1, 9, 9), bool), np.ones((1, 9, 9), bool))
    with pytest.raises(InputError, match="boxes and polygons"):
        accumulator.compute_sweep()
