"""Images that come one by one: the scores of the same images in files, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scenes
from reading import read_or_raise

from evaltex_cli import (
    Accumulator,
    ConfigError,
    EvaltexWarning,
    InputError,
    evaluate,
    image_objects,
)
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.records import Objects

Image = tuple[Objects, Objects]


def in_memory(objects: Objects, k: int) -> Objects:
    """Image k of a batch by way of `image_objects`, boxes before polygons."""
    own = slice(int(objects.offsets[k]), int(objects.offsets[k + 1]))
    counts = objects.outlines.counts
    order = sorted(range(own.start, own.stop), key=lambda i: counts[i] > 0)
    rings = [objects.outlines.ring(i) for i in order if counts[i]]
    return image_objects(
        objects.boxes[[i for i in order if not counts[i]]],
        rings,
        ids=objects.ids[order],
        regions=objects.regions[order],
        dont_care=objects.dont_care[order],
        texts=[objects.texts[i] for i in order],
    )


def images_of(folder: Path, seed: int, polygons: bool = False) -> list[Image]:
    """A scene, written to gt.txt and det.txt in a folder; its images as they
    are read, then taken to memory.
    """
    gt, det = scenes.random_scene(seed, images=5, polygons=polygons)
    (folder / "gt.txt").write_text(gt, encoding="utf-8", newline="")
    (folder / "det.txt").write_text(det, encoding="utf-8", newline="")
    sides = read_or_raise(folder / "gt.txt", "gt"), read_or_raise(folder / "det.txt", "det")
    gt_read, det_read = (one.objects for one in sides)
    at = {name: k for k, name in enumerate(sides[1].names)}
    nothing = image_objects()
    return [
        (in_memory(gt_read, k), in_memory(det_read, at[name]) if name in at else nothing)
        for k, name in enumerate(sides[0].names)
    ]


def accumulated(images: list[Image], protocol: str = "evaltex", **parameters: Any) -> Accumulator:
    accumulator = Accumulator(protocol, **parameters)
    for gt, det in images:
        accumulator.update(gt, det)
    return accumulator


def numbers(value: Any) -> list[Any]:
    """All numbers of scores, curves and histograms."""
    parts = list(value.values()) if isinstance(value, dict) else value
    return [n for part in parts for n in numbers(part)] if isinstance(parts, list) else [value]


BOXES = [[0, 0, 100, 20], [0, 40, 60, 60]]


@pytest.mark.few_fast(8)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("polygons", [False, True], ids=["boxes", "polygons"])
def test_scores_are_those_of_the_same_objects_in_files(
    tmp_path: Path, protocol: str, polygons: bool
) -> None:
    images = images_of(tmp_path, 5, polygons)
    expected = evaluate(tmp_path / "gt.txt", tmp_path / "det.txt", protocol)
    found = accumulated(images, protocol).compute()
    assert numbers(found.scores) == pytest.approx(numbers(expected.scores), abs=1e-9)
    assert numbers(found.totals) == pytest.approx(numbers(expected.totals), abs=1e-9)
    for name in ("images", "objects", "dont_care", "transcriptions"):
        assert getattr(found.gt, name) == getattr(expected.gt, name)
    assert found.signature.split("|gt:")[1].startswith("memory|")


def test_buffers_may_be_used_again() -> None:
    """A training loop writes the next image into the same array; nothing is
    scored before `compute`.
    """
    boxes, ids, care = np.array([[0.0, 0, 10, 10]]), np.array([4]), np.array([False])
    ring = np.array([[20.0, 0], [30, 0], [30, 10]])
    accumulator = Accumulator()
    accumulator.update(boxes, boxes)
    accumulator.update(image_objects(polygons=[ring]), image_objects(polygons=[ring]))
    made = image_objects(boxes, ids=ids, regions=ids, dont_care=care)
    boxes[:], ids[:], care[:], ring[:] = 99, 99, True, 99
    assert accumulator.compute().scores["recall"] == 1
    assert [made.ids[0], made.regions[0], made.dont_care[0]] == [4, 4, False]
    assert made.boxes.tolist() == [[0, 0, 10, 10]]


def test_parameters_of_several_protocols() -> None:
    accumulator = Accumulator(["iou", "evaltex"], params={"iou": {"iou": 0.95}})
    accumulator.update(BOXES, [[0, 0, 90, 20], [0, 40, 60, 60]])
    found = accumulator.compute()
    assert (found["iou"].scores["recall"], found["iou"].parameters.iou) == (0.5, 0.95)
    with pytest.raises(ConfigError, match="accumulators differ"):
        accumulator.merge(Accumulator(["iou", "evaltex"]))
    for other in (Accumulator("iou", min_confidence=0.5), Accumulator("deteval")):
        with pytest.raises(ConfigError, match="accumulators differ"):
            Accumulator("iou").merge(other)


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
    assert [image.name for image in accumulator.compute().images] == ["a", "b", "a again"]


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


def test_a_preset_and_options_of_evaluate() -> None:
    accumulator = Accumulator(preset="icdar2015", per_image=True)
    accumulator.update(BOXES, BOXES[:1])
    found, expected = accumulator.compute(), evaluate([BOXES], [BOXES[:1]], preset="icdar2015")
    assert (found.scores, found.signature) == (expected.scores, expected.signature)
    crossing = [[[0, 0], [10, 10], [10, 0], [0, 10]]]
    strict = Accumulator("iou", invalid="error")
    strict.update(BOXES, BOXES)
    strict.update(crossing, BOXES)
    with pytest.raises(InputError, match=r"image '1', object 1: .*touches itself"):
        strict.compute()
    with pytest.raises(ConfigError, match="unknown option 'gt_format'"):
        Accumulator("iou", gt_format="icdar")
    with pytest.raises(ConfigError, match="the preset icdar2015 has protocol=iou"):
        Accumulator("evaltex", preset="icdar2015")


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
    accumulator.update(BOXES, BOXES)
    with pytest.raises(InputError, match="boxes or polygons, and other objects are masks"):
        accumulator.compute()


def test_warnings_are_issued() -> None:
    accumulator = Accumulator("iou")
    accumulator.update([[[0, 0], [10, 10], [10, 0], [0, 10]]], BOXES)
    with pytest.warns(EvaltexWarning, match="ground truth: 1 invalid polygon was") as issued:
        found = accumulator.compute()
    assert [str(one.message) for one in issued] == found.warnings
    assert issued[0].filename == __file__


def test_sizes_are_height_and_width() -> None:
    """A word 10 high is a tenth of the longer side, 100, whichever that is."""
    for size in ((100, 50), (50.0, 100.0), np.array([100, 20])):
        accumulator = Accumulator("cleval", scale_bins="0.05,0.15,1")
        accumulator.update(
            image_objects([[0, 0, 60, 10]], texts=["abcdef"]), [[0, 0, 60, 10]], size=size
        )
        assert [row["recall"] for row in accumulator.compute().scores["scale_wise"]] == [1.0, 0.0]


@pytest.mark.parametrize("size", [(0, 5), (5,), 7, (float("nan"), 1), ("a", 1)])
def test_sizes_that_are_none(size: Any) -> None:
    with pytest.raises(InputError, match=r"size: .*expected \(height, width\)|size: not an array"):
        Accumulator().update([], [], size=size)


@pytest.mark.parametrize(
    ("protocol", "parameters", "message"),
    [
        (
            "cleval",
            {"scale_bins": "0,1"},
            r"image '2' has no height and width, .* in Python size=\(height, width\)",
        ),
        (
            "iou",
            {"order": "confidence"},
            "image '2': detection 1 has no confidence, which order=confidence needs",
        ),
    ],
)
def test_what_is_needed_is_refused_with_the_image(
    protocol: str, parameters: dict[str, str], message: str
) -> None:
    word = image_objects([[0, 0, 60, 10]], texts=["abcdef"], confidences=[0.5])
    accumulator = Accumulator(protocol, **parameters)
    accumulator.update(word, word, size=(20, 100))
    accumulator.update(image_objects(), image_objects())
    assert (accumulator.compute().gt.images, accumulator.compute().scores["recall"]) == (2, 1.0)
    accumulator.update(word, [[0, 0, 60, 10]])
    with pytest.raises(InputError, match=message):
        accumulator.compute()


def test_training_that_has_just_begun_gets_no_advice(recwarn: pytest.WarningsRecorder) -> None:
    """Detections of a tenth of the size are taken for a wrong scale in a file, not in training."""
    accumulator = Accumulator("iou")
    for k in range(30):
        accumulator.update([[10 * k + 100, 100, 10 * k + 300, 200]], [[k + 10, 10, k + 30, 20]])
    assert accumulator.compute().scores["hmean"] == 0
    assert not recwarn.list
