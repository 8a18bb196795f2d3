"""The adapter to torchmetrics: one process and two ranks score as an `Accumulator` does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from limits import HANG_SECONDS

from evaltex_cli import Accumulator, InputError, image_objects

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchmetrics", reason="torchmetrics is not installed")

GT = [[[0, 0, 100, 20], [0, 40, 60, 60]]] * 5
DET = [[[0, 0, 100, 10 + k]] for k in range(5)]


def expected() -> Any:
    accumulator = Accumulator(["iou", "evaltex"])
    for gt, det in zip(GT, DET, strict=True):
        accumulator.update(gt, det)
    return accumulator.compute()


def test_batches_score_as_an_accumulator_does() -> None:
    from evaltex_cli.integrations.torchmetrics import EvaltexMetric

    metric = EvaltexMetric(["iou", "evaltex"])
    of_batch = metric(
        preds=[torch.tensor(one) for one in DET[:2]], target=[torch.tensor(one) for one in GT[:2]]
    )
    assert of_batch["iou/recall"] == 0.25
    metric.update(DET[2:], GT[2:])
    found = metric.compute()
    for protocol, one in expected().items():
        for name, value in one.headline.items():
            assert float(found[f"{protocol}/{name}"]) == pytest.approx(value)
    assert metric.result()["iou"].totals == expected()["iou"].totals
    metric.reset()
    assert metric.result()["iou"].gt.images == 0


def test_options_reach_the_protocol() -> None:
    from evaltex_cli.integrations.torchmetrics import EvaltexMetric

    sure = [image_objects(one, confidences=[0.4 + k / 10]) for k, one in enumerate(DET)]
    metric = EvaltexMetric("iou", {"iou": 0.1}, min_confidence=0.55)
    metric.update(sure, GT)
    assert float(metric.compute()["iou/recall"]) == pytest.approx(0.3)
    with pytest.raises(InputError, match="expected"):
        metric.update([[[0, 0, 1]]], [[]])
    metric = EvaltexMetric(preset="icdar2015")
    metric.update(DET, GT)
    assert "|preset:icdar2015|" in metric.result().signature


RANKS = """
import sys
from torch import distributed
from evaltex_cli.integrations.torchmetrics import EvaltexMetric
rank, folder = int(sys.argv[1]), sys.argv[2]
distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=3)
metric = EvaltexMetric(["iou", "evaltex"])
gt, det = [[[0, 0, 100, 20], [0, 40, 60, 60]]] * 5, [[[0, 0, 100, 10 + k]] for k in range(5)]
if rank < 2:
    metric.update(det[rank::2], gt[rank::2])
print({name: round(float(value), 5) for name, value in metric.compute().items()})
distributed.destroy_process_group()
"""


@pytest.mark.slow
def test_ranks_are_synchronised_by_torchmetrics(tmp_path: Path) -> None:
    """The third rank has no images."""
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", RANKS, str(rank), str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(3)
    ]
    printed = [rank.communicate(timeout=HANG_SECONDS)[0] for rank in ranks]
    scores = {
        f"{protocol}/{name}": round(value, 5)
        for protocol, one in expected().items()
        for name, value in one.headline.items()
    }
    assert printed == [f"{scores}\n"] * 3
