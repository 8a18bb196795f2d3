"""EvaLTex on labelled masks: against the slow reference, and against the same
objects as boxes and polygons.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import reference_evaltex
import scenes
import tifffile
from agreement import assert_agrees, assert_same
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from evaltex_cli import evaluate
from evaltex_cli.evaluation.evaluate import evaluate_inputs
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.evaluation.tally import Run
from evaltex_cli.formats.options import InputOptions, MaskFolders
from evaltex_cli.geometry import overlaps
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.base import load
from evaltex_cli.records import Convention, ImageBatch, Overlaps

CONFIGURATIONS: list[dict[str, Any]] = [
    {},
    {"det_border": 0.0, "split": False},
    {"det_border": 0.12, "split_function": "paper", "hist_bin_nb": 7, "min_area": 30.0},
    {"det_border": 0.3, "overlap_filter": 0.4, "region": False},
]

Labels = dict[str, np.ndarray]


def save(folder: Path, labels: Labels, suffix: str) -> Path:
    """Label pictures as PNG of 8 bits (16 where the labels need them) or as TIFF of 16."""
    folder.mkdir()
    for name, picture in labels.items():
        if suffix == ".png":
            Image.fromarray(picture).save(folder / f"{name}.png")
        else:
            tifffile.imwrite(
                folder / f"{name}.tif", picture.astype(np.uint16), photometric="minisblack"
            )
    return folder


def run(
    folder: Path, gt: str, det: str, masks: tuple[Path, Path] | None = None, **parameters: Any
) -> Evaluation:
    (folder / "gt.txt").write_text(gt, encoding="utf-8", newline="")
    (folder / "det.txt").write_text(det, encoding="utf-8", newline="")
    images = {"gt_images": masks[0], "det_images": masks[1]} if masks else {}
    return evaluate(
        folder / "gt.txt",
        folder / "det.txt",
        per_image=True,
        gt_format="evaltex",
        det_format="evaltex",
        **images,
        **parameters,
    )


@pytest.mark.few_fast(3)
@pytest.mark.parametrize("suffix", [".png", ".tif"])
@pytest.mark.parametrize("parameters", CONFIGURATIONS, ids=str)
def test_agrees_with_the_reference_on_random_masks(
    tmp_path: Path, parameters: dict[str, Any], suffix: str
) -> None:
    """Every value of every object, image and data set."""
    for seed in range(10):
        gt, det, gt_labels, det_labels = scenes.random_masks(seed)
        masks = (
            save(tmp_path / f"gt{seed}", gt_labels, suffix),
            save(tmp_path / f"det{seed}", det_labels, suffix),
        )
        result = run(tmp_path, gt, det, masks, **parameters)
        expected = reference_evaltex.evaluate(gt, det, parameters, gt_labels, det_labels)
        assert_agrees(result, expected)


def test_masks_hold_every_kind_of_match(tmp_path: Path) -> None:
    """The comparison above would mean little if the masks lacked a case."""
    totals: dict[str, int] = {}
    for seed in range(10):
        gt, det, gt_labels, det_labels = scenes.random_masks(seed)
        masks = (
            save(tmp_path / f"gt{seed}", gt_labels, ".png"),
            save(tmp_path / f"det{seed}", det_labels, ".png"),
        )
        for name, value in run(tmp_path, gt, det, masks).totals.items():
            if isinstance(value, int):
                totals[name] = totals.get(name, 0) + value
    kinds = ("one_to_one", "one_to_many", "many_to_one", "missed", "ignored", "false_positives")
    assert all(totals[kind] > 2 for kind in kinds), totals


def test_a_batch_boundary_changes_nothing(tmp_path: Path) -> None:
    """40 images are several batches; an image's scores depend on none of the others."""
    gt, det, gt_labels, det_labels = scenes.random_masks(1, images=40)
    masks = (save(tmp_path / "gt", gt_labels, ".png"), save(tmp_path / "det", det_labels, ".png"))
    result = run(tmp_path, gt, det, masks)
    expected = reference_evaltex.evaluate(gt, det, {}, gt_labels, det_labels)
    assert_same(result.scores, expected["scores"], "scores")


Rectangle = tuple[int, int, int, int]
CELL = 40


@st.composite
def rectangles(draw: st.DrawFn, thicknesses: list[int]) -> list[Rectangle]:
    """x, y, width, height of disjoint rectangles, one a cell of a 3 x 3 grid at most."""
    found = []
    dx, dy = draw(st.integers(0, 20)), draw(st.integers(0, 20))
    for cell in draw(st.lists(st.integers(0, 8), unique=True, max_size=6)):
        short = draw(st.sampled_from(thicknesses))
        long = draw(st.integers(short, CELL))
        width, height = draw(st.sampled_from([(short, long), (long, short)]))
        x, y = draw(st.integers(0, CELL - width)), draw(st.integers(0, CELL - height))
        found.append((dx + CELL * (cell % 3) + x, dy + CELL * (cell // 3) + y, width, height))
    return found


def corners(x: int, y: int, w: int, h: int) -> tuple[int, ...]:
    return (x, y, x + w, y, x + w, y + h, x, y + h)


def texts(gt: list[Rectangle], det: list[Rectangle], numbers: Any) -> tuple[str, str]:
    size = 3 * CELL + 20
    gt_lines = [f'{k},{k},"",f,{scenes.join(numbers(*r))}' for k, r in enumerate(gt, 1)]
    det_lines = [f'{k},"",{scenes.join(numbers(*r))}' for k, r in enumerate(det, 1)]
    return scenes.as_text([["img", f"{size},{size}", *gt_lines]], "\n"), scenes.as_text(
        [["img", *det_lines]], "\n"
    )


def drawn(side: list[Rectangle]) -> Labels:
    labels = np.zeros((3 * CELL + 20, 3 * CELL + 20), np.uint8)
    for k, (x, y, w, h) in enumerate(side, 1):
        labels[y : y + h, x : x + w] = k
    return {"img": labels}


@settings(deadline=None, derandomize=True, max_examples=40)
@given(rectangles([10, 20]), rectangles([1, 5, 15, 30]), st.sampled_from([0.0, 0.1, 0.2]))
def test_a_rectangle_is_the_same_as_box_polygon_and_mask(
    gt: list[Rectangle], det: list[Rectangle], det_border: float
) -> None:
    """Where margins are whole pixels: thicknesses 10 and 20, borders of
    tenths. Without regions, as masks have none.
    """
    parameters: dict[str, Any] = {"region": False, "det_border": det_border}
    with TemporaryDirectory() as place:
        folder = Path(place)
        masks = (save(folder / "gt", drawn(gt), ".png"), save(folder / "det", drawn(det), ".tif"))
        as_boxes = texts(gt, det, lambda *rectangle: rectangle)
        results = [
            run(folder, *as_boxes, **parameters),
            run(folder, *texts(gt, det, corners), **parameters),
            run(folder, *as_boxes, masks, **parameters),
        ]
    for other in results[1:]:
        assert_same(other.scores, results[0].scores, "scores")
        assert_same(other.images[0].objects, results[0].images[0].objects, "objects")
        assert_same(other.images[0].detections, results[0].images[0].detections, "detections")


def test_all_protocols_share_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Conventions differ in how they take boxes and polygons; masks are what
    they are, and are swept once.
    """
    gt, det, gt_labels, det_labels = scenes.random_masks(1)
    (tmp_path / "gt.txt").write_text(gt, encoding="utf-8", newline="")
    (tmp_path / "det.txt").write_text(det, encoding="utf-8", newline="")
    folders = save(tmp_path / "gt", gt_labels, ".png"), save(tmp_path / "det", det_labels, ".png")
    calls: list[Convention] = []

    def counted(batch: ImageBatch, convention: Convention) -> Overlaps:
        calls.append(convention)
        return measure(batch, convention)

    measure = overlaps.measure
    monkeypatch.setattr(overlaps, "measure", counted)
    options = InputOptions("evaltex", "evaltex", masks=MaskFolders(*folders))
    inputs = open_inputs(tmp_path / "gt.txt", tmp_path / "det.txt", options)
    runs = [
        Run(protocol, protocol.parameters())
        for protocol in map(load, PROTOCOLS)
        if protocol.takes_masks
    ]
    assert len({run.protocol.convention(run.parameters) for run in runs}) > 1
    evaluate_inputs(inputs, runs)
    assert len(calls) == 1
