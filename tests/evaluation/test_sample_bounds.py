"""The guesses at mistakes look at a sample of bounded size, however large the inputs are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evaltex_cli import old_formats as formats
from evaltex_cli.errors import FaultLog
from evaltex_cli.evaluation import coordinate_mixups, swapped_inputs
from evaltex_cli.old_formats.base import Source


def sources(folder: Path, images: int, gt_objects: int, detections: int) -> tuple[Source, Source]:
    box = "{0},{0},20,10"
    gt = "".join(
        f"{k}\n9000,9000\n"
        + "".join(f'{i},{i},"a",f,{box.format(30 * i)}\n' for i in range(1, gt_objects + 1))
        for k in range(images)
    )
    det = "".join(
        f"{k}\n" + "".join(f'{i},"a",{box.format(30 * i)}\n' for i in range(1, detections + 1))
        for k in range(images)
    )
    (folder / "gt.txt").write_text(gt)
    (folder / "det.txt").write_text(det)
    opened = [
        formats.open_source(folder / f"{side}.txt", side, FaultLog()) for side in ("gt", "det")
    ]  # type: ignore[arg-type]
    return opened[0], opened[1]


def test_a_sample_has_a_bounded_number_of_images_objects_and_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gt, det = sources(tmp_path, coordinate_mixups.SAMPLE_IMAGES + 5, 2, 3)
    paired = np.arange(len(gt.names))
    assert len(coordinate_mixups.sample(gt, det, paired).names) == coordinate_mixups.SAMPLE_IMAGES
    gt, det = sources(
        tmp_path, 3, coordinate_mixups.SAMPLE_OBJECTS + 50, coordinate_mixups.SAMPLE_DETECTIONS + 50
    )
    batch = coordinate_mixups.sample(gt, det, np.arange(3))
    assert np.diff(batch.gt.offsets).tolist() == [coordinate_mixups.SAMPLE_OBJECTS] * 3
    assert np.diff(batch.det.offsets).tolist() == [coordinate_mixups.SAMPLE_DETECTIONS] * 3
    monkeypatch.setattr(
        coordinate_mixups, "SAMPLE_PAIRS", 2 * batch.gt.count // 3 * batch.det.count // 3
    )
    batch = coordinate_mixups.sample(gt, det, np.arange(3))
    assert len(batch.names) == len(batch.gt.offsets) - 1 == len(batch.det.offsets) - 1 == 2
    monkeypatch.setattr(coordinate_mixups, "SAMPLE_PAIRS", 1)
    assert len(coordinate_mixups.sample(gt, det, np.arange(3)).names) == 1


def test_a_sample_has_a_bounded_number_of_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gt, det = sources(tmp_path, 40, 20, 20)
    monkeypatch.setattr(
        swapped_inputs, "SAMPLE_BYTES", int(gt.weights[:7].sum() + det.weights[:7].sum())
    )
    batch = coordinate_mixups.sample(gt, det, np.arange(40))
    assert len(batch.names) == 7
    monkeypatch.setattr(swapped_inputs, "SAMPLE_BYTES", int(gt.weights[:7].sum()))
    assert len(swapped_inputs._sample(gt, swapped_inputs.SAMPLE_IMAGES).offsets) == 8
    monkeypatch.setattr(swapped_inputs, "SAMPLE_BYTES", 1)
    assert len(swapped_inputs._sample(gt, swapped_inputs.SAMPLE_IMAGES).offsets) == 2
