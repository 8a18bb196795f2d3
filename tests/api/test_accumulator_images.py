"""Accumulators of several protocols, of images with names, of masks, and of several ranks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_memory import accumulated, images_of
from limits import HANG_SECONDS

from evaltex_cli import (
    Accumulator,
    ConfigError,
    EvaltexWarning,
    InputError,
    evaluate,
    image_objects,
)
from evaltex_cli.protocols import PROTOCOLS

BOXES = [[0, 0, 100, 20], [0, 40, 60, 60]]


def test_several_protocols_at_once(tmp_path: Path) -> None:
    images = images_of(tmp_path, 8, polygons=True)
    every: Accumulator[Any] = Accumulator("all")
    parts: list[Accumulator[Any]] = [Accumulator("all") for _ in range(2)]
    for k, (gt, det) in enumerate(images):
        every.update(gt, det)
        parts[k % 2].update(gt, det)
    parts[0].merge(parts[1])
    assert list(every.compute()) == list(PROTOCOLS)
    for name, one in every.compute().items():
        alone = accumulated(images, name).compute()
        assert one.totals == alone.totals == parts[0].compute()[name].totals
        assert one.signature == alone.signature


def test_parameters_of_several_protocols() -> None:
    accumulator = Accumulator(["iou", "evaltex"], params={"iou": {"iou": 0.95}})
    accumulator.update(BOXES, [[0, 0, 90, 20], [0, 40, 60, 60]])
    found = accumulator.compute()
    assert (found["iou"].scores["recall"], found["iou"].parameters.iou) == (0.5, 0.95)
    with pytest.raises(ConfigError, match="accumulators differ"):
        accumulator.merge(Accumulator(["iou", "evaltex"]))
    with pytest.raises(ConfigError, match="accumulators differ"):
        Accumulator("iou").merge(Accumulator("iou", min_confidence=0.5))


def test_images_have_results_and_names_that_are_used_once() -> None:
    accumulator = Accumulator("iou", per_image=True)
    accumulator.update(BOXES, BOXES[:1], name="a")
    accumulator.update(image_objects(BOXES, texts=["x", "y"]), [], name="b")
    with pytest.raises(
        InputError, match=r"image 'a' was added before; reset\(\) begins a new data set"
    ):
        accumulator.update(BOXES, BOXES, name="a")
    found = accumulator.compute()
    assert [(image.name, image.scores["recall"]) for image in found.images] == [
        ("a", 0.5),
        ("b", 0.0),
    ]
    assert [(one.box, one.text) for one in found.images[1].objects] == [
        (tuple(BOXES[0]), "x"),
        (tuple(BOXES[1]), "y"),
    ]
    other = Accumulator("iou", per_image=True)
    other.update(BOXES, BOXES, name="a")
    with pytest.warns(
        EvaltexWarning, match="1 image was added to both accumulators, and counts twice: 'a'"
    ):
        accumulator.merge(other)
    assert [image.name for image in accumulator.compute().images] == ["a", "b", "a"]


def test_reset_forgets_everything() -> None:
    accumulator = Accumulator("cleval")
    accumulator.update(
        image_objects(polygons=[[(0, 0), (5, 0), (5, 5), (2, 7), (0, 5)]]), BOXES, name="a"
    )
    before = Accumulator("cleval")
    for one in (accumulator, before):
        one.reset()
        one.update(image_objects(BOXES, texts=["ab", "c"]), BOXES, name="a")
    assert accumulator.compute().to_dict() == before.compute().to_dict()
    assert repr(accumulator) == "Accumulator(cleval: 1 image)"


def test_confidences_below_the_minimum_are_left_out() -> None:
    accumulator = Accumulator("iou", min_confidence=0.5)
    accumulator.update(BOXES, image_objects(BOXES, confidences=[0.5, 0.4]))
    found = accumulator.compute()
    assert (found.scores["recall"], found.det.unconfident) == (0.5, 1)
    assert "|min_confidence:0.5|" in found.signature
    expected = evaluate(
        [BOXES], [image_objects(BOXES, confidences=[0.5, 0.4])], "iou", min_confidence=0.5
    )
    assert (found.scores, found.warnings, found.signature) == (
        expected.scores,
        expected.warnings,
        expected.signature,
    )


def test_masks_score_as_evaluate_scores_them() -> None:
    gt, det = np.zeros((2, 30, 90), bool), np.zeros((1, 30, 90), bool)
    gt[0, :10, :80], gt[1, 20:, :40], det[0, :10, :60] = True, True, True
    accumulator = Accumulator(["evaltex", "iou"])
    for _ in range(3):
        accumulator.update(gt, det)
        accumulator.update([], [])
    found = accumulator.compute()
    expected = evaluate([gt, []] * 3, [det, []] * 3, ["evaltex", "iou"])
    assert {name: one.totals for name, one in found.items()} == {
        name: one.totals for name, one in expected.items()
    }
    assert found["iou"].signature == expected["iou"].signature
    with pytest.raises(InputError, match="some images have masks, others boxes or polygons"):
        accumulator.update(BOXES, BOXES)
    with pytest.raises(InputError, match="protocol cleval does not work on masks"):
        Accumulator("cleval").update(gt, det)


def test_warnings_are_issued() -> None:
    accumulator = Accumulator("iou")
    accumulator.update([[[0, 0], [10, 10], [10, 0], [0, 10]]], BOXES)
    with pytest.warns(EvaltexWarning, match="ground truth: 1 invalid polygon repaired") as issued:
        found = accumulator.compute()
    assert [str(one.message) for one in issued] == found.warnings
    assert issued[0].filename == __file__


def test_gathered_without_a_process_group_is_a_copy() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    accumulator = Accumulator("iou")
    accumulator.update(BOXES, BOXES)
    copied = accumulator.gather()
    copied.update(BOXES, [])
    assert (copied.compute().gt.images, accumulator.compute().gt.images) == (2, 1)


GATHERING = """
import sys
from torch import distributed
from evaltex_cli import Accumulator
rank, folder = int(sys.argv[1]), sys.argv[2]
distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
accumulator = Accumulator(["iou", "evaltex"], per_image=True)
for k in range(rank, 5, 2):
    accumulator.update([[0, 0, 100, 20], [0, 40, 60, 60]], [[0, 0, 100, 10 + k]], name=f"image {k}")
found = accumulator.gather().compute()
assert accumulator.compute()["iou"].gt.images == 3 - rank
print(found["iou"].scores["recall"], found["evaltex"].totals, [image.name for image in found["iou"].images])
distributed.destroy_process_group()
"""


@pytest.mark.slow
def test_ranks_gather_what_one_process_has(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    command = [sys.executable, "-c", GATHERING]
    ranks = [
        subprocess.Popen([*command, str(rank), str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    printed = [rank.communicate(timeout=HANG_SECONDS)[0] for rank in ranks]
    accumulator = Accumulator(["iou", "evaltex"])
    for k in (0, 2, 4, 1, 3):
        accumulator.update(BOXES, [[0, 0, 100, 10 + k]])
    found = accumulator.compute()
    names = [f"image {k}" for k in (0, 2, 4, 1, 3)]
    expected = f"{found['iou'].scores['recall']} {found['evaltex'].totals} {names}\n"
    assert printed == [expected, expected]
