"""How images are cut into batches."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from evaltex_cli.cli import main
from evaltex_cli.evaluation import batches
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.geometry import overlaps
from evaltex_cli.records import ImageBatch


def test_the_last_batches_are_small_and_no_image_is_left_out() -> None:
    rng = np.random.default_rng(1)
    gt, det = (rng.integers(1, 2000, 6000).astype(np.uint16) for _ in range(2))
    paired = rng.permutation(6000)
    paired[:100] = NO_DETECTIONS
    weights = gt.astype(np.int64)
    weights[100:] += det[paired[100:]]
    inputs = SimpleNamespace(
        gt=SimpleNamespace(names=range(6000), weights=gt),
        det=SimpleNamespace(weights=det),
        paired=paired,
        options=SimpleNamespace(masks=None),
    )

    cuts = list(batches.cut(inputs))  # type: ignore[arg-type]

    assert cuts[0][0] == 0
    assert cuts[-1][1] == 6000
    assert all(before[1] == after[0] for before, after in pairwise(cuts))
    sizes = [int(weights[start:stop].sum()) for start, stop in cuts]
    assert batches.BATCH_BYTES - 4000 < sizes[0] <= batches.BATCH_BYTES
    assert all(batches.LEAST_BYTES / 2 < size < batches.LEAST_BYTES * 3 / 2 for size in sizes[-3:])
    assert len(cuts) < 30
    alone = list(batches.cut(inputs, are_shared=False))  # type: ignore[arg-type]
    assert len(alone) == -(-weights.sum() // (batches.BATCH_BYTES - 4000))
    assert alone[-1][1] == 6000


def write_crowded(folder: Path) -> None:
    """Images of 1 to 30 boxes and as many detections, most of them in one place; some images
    without, and one that only the ground truth has.
    """
    gt, det = [], []
    for k in range(24):
        gt += [f"img_{k}", "100,100"]
        det += [f"img_{k}"] * (k != 3)
        for i in range(k if k % 5 else 0):
            box = f"{i % 7},1,{20 + i % 4},9"
            gt.append(f'{i},{i},"word",{"t" if i == 4 else "f"},{box}')
            det += [f'{i},"word",{box}'] * (k != 3)
    (folder / "gt.txt").write_text("\n".join(gt) + "\n")
    (folder / "det.txt").write_text("\n".join(det) + "\n")


@pytest.mark.parametrize("most", [1, 150])
def test_batches_of_many_pairs_are_divided_and_nothing_depends_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.chdir(tmp_path)
    write_crowded(tmp_path)
    counts: list[int] = []

    def run(name: str) -> dict[str, bytes]:
        arguments = ["gt.txt", "det.txt", "res", "-a", "--report", "--protocol", "evaltex,iou-crw"]
        assert CliRunner().invoke(main, arguments).exit_code == 0
        Path("res").rename(name)
        return {str(file.relative_to(name)): file.read_bytes() for file in Path(name).rglob("*.*")}

    def counted(one: Any, batch: ImageBatch, work: Any) -> Any:
        counts.append(len(batch.names))
        return added(one, batch, work)

    added = batches.add_batch
    monkeypatch.setattr(batches, "add_batch", counted)
    whole, at_once = run("whole"), len(counts)
    monkeypatch.setattr(overlaps, "MAX_PAIRS", most)
    assert run("divided") == whole
    assert len(counts) > (20 if most == 1 else 10) * at_once
    assert sum(counts) == 2 * sum(counts[:at_once])


@pytest.mark.parametrize("most", [1, 40])
def test_batches_of_label_pictures_are_divided_and_nothing_depends_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Pictures of several sizes; one is empty."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(6)
    texts = {"gt": "", "det": ""}
    for name in texts:
        Path(name).mkdir()
    for k in range(12):
        height, width = 20 + k, 60 - 3 * k
        for name, flag in (("gt", "f,"), ("det", "")):
            labels = np.repeat(rng.integers(0, 7 * (k != 4) + 1, (height, 6)), 8, axis=1)[:, :width]
            labels = np.pad(labels, ((0, 0), (0, max(width - 48, 0)))).astype(np.uint8)
            Image.fromarray(labels).save(f"{name}/{k}.png")
            texts[name] += f"{k}\n" + f"{height},{width}\n" * (name == "gt")
            for i in filter(None, np.unique(labels).tolist()):
                own = f"{i}," * (1 + (name == "gt"))
                texts[name] += f'{own}"w",{flag}0,0,9,9\n'
    for name, text in texts.items():
        Path(f"{name}.txt").write_text(text)

    def run(name: str) -> dict[str, bytes]:
        arguments = ["gt.txt", "det.txt", "res", "gt", "det", "-a", "--protocol", "all"]
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, result.output
        Path("res").rename(name)
        return {str(file.relative_to(name)): file.read_bytes() for file in Path(name).rglob("*.*")}

    whole = run("whole")
    parts: list[int] = []
    added = batches.add_batch

    def counted(one: Any, batch: ImageBatch, work: Any) -> Any:
        parts.append(len(batch.names))
        return added(one, batch, work)

    monkeypatch.setattr(batches, "add_batch", counted)
    monkeypatch.setattr(overlaps, "MAX_PAIRS", most)
    assert run("divided") == whole
    assert max(parts) < 12


def test_no_fewer_pairs_are_expected_than_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    """If all pairs are too many, those that meet along x, or along y."""
    rng = np.random.default_rng(0)
    offsets = np.array([0, 200, 200, 260])
    corners = rng.integers(0, 1000, (260, 2)).astype(float)
    boxes = np.concatenate([corners, corners + rng.integers(1, 90, (260, 2))], axis=1)
    batch: Any = SimpleNamespace(
        **dict.fromkeys(("gt", "det"), SimpleNamespace(boxes=boxes, offsets=offsets)),
        gt_runs=None,
    )
    assert overlaps.most_pairs(batch).tolist() == [200 * 200, 0, 60 * 60]
    monkeypatch.setattr(overlaps, "MAX_PAIRS", 40_000)
    most = overlaps.most_pairs(batch)
    gt, _ = overlaps.touching_boxes(boxes, offsets, boxes, offsets, "abc")
    pairs = np.histogram(gt, offsets)[0]
    assert (pairs <= most).all()
    assert (most <= [6_000, 0, 600]).all()
