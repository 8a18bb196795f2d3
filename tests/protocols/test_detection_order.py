"""The parameter `order`: detections of the order of the file, or by falling
confidence as the programs sort them.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference_iou as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import InputError, diagnose, evaluate
from evaltex_cli.evaluation.evaluation import ImageResult
from evaltex_cli.evaluation.tally import Run, add_batch, image_results
from evaltex_cli.geometry import overlaps, picture_runs
from evaltex_cli.protocols import detection_order
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.config import checked
from evaltex_cli.records import Convention, Floats, ImageBatch, LabelRuns, Objects
from evaltex_cli.records.rows import concatenate, take

ORDERED = ("iou", "iou-crw", "tiou", "tedeval", "cleval")
REFUSING = ORDERED[:-1]
quick = settings(deadline=None, derandomize=True, max_examples=30)
seeds = st.lists(st.integers(0, 2**32), min_size=1, max_size=3)
FEW, MANY = (0.1, 0.5, 0.9), tuple(k / 1000 for k in range(1001))


def batch_of(numbers: list[int], polygons: bool) -> ImageBatch:
    images = [reference.scene(number, polygons) for number in numbers]
    gt, det = (concatenate([reference.objects(image[side]) for image in images]) for side in (0, 1))
    return ImageBatch(
        [f"img_{k}" for k in range(len(images))], np.full((len(images), 2), 100.0), gt, det
    )


def rearranged(batch: ImageBatch, rows: Any) -> ImageBatch:
    return replace(batch, det=take(batch.det, rows, batch.det.offsets))


def with_confidences(batch: ImageBatch, confidences: Floats) -> ImageBatch:
    return replace(batch, det=replace(batch.det, confidences=confidences))


def confidences_of(det: Objects, numbers: list[int], values: tuple[float, ...]) -> Floats:
    return np.random.default_rng(numbers).choice(values, det.count)


def found(protocol: str, batch: ImageBatch, **parameters: Any) -> tuple[Any, list[ImageResult]]:
    run = Run(load(protocol), checked(protocol, parameters))
    images: list[ImageResult] = []
    add_batch(run, batch, lambda measured: images.extend(image_results(measured)))
    return run.rows().tally.sum().as_dict(), images


def by_id(images: list[ImageResult]) -> Any:
    """Results of which neither detections nor partners are in any order."""
    return [
        (
            image.totals,
            image.scores,
            [(one.id, one.match, set(one.partners), one.values) for one in image.objects],
            {one.id: one for one in image.detections},
        )
        for image in images
    ]


def stably_sorted(batch: ImageBatch) -> Any:
    """Rows by image and falling confidence, one by one and plainly."""
    confidences = [] if batch.det.confidences is None else batch.det.confidences.tolist()
    images = pairwise(batch.det.offsets.tolist())
    rows = [
        row
        for start, stop in images
        for row in sorted(range(start, stop), key=lambda k: -confidences[k])
    ]
    return np.array(rows, np.int64)


@pytest.mark.parametrize("protocol", ORDERED)
@quick
@given(seeds, st.booleans(), st.sampled_from([FEW, MANY]))
def test_is_the_file_sorted(
    protocol: str, numbers: list[int], polygons: bool, values: tuple[float, ...]
) -> None:
    """What the scripts do: sort, then evaluate; the results of every object
    and detection are the same.
    """
    batch = batch_of(numbers, polygons)
    batch = with_confidences(batch, confidences_of(batch.det, numbers, values))
    batch = replace(batch, gt_lines=batch.gt)
    sorted_batch = rearranged(batch, stably_sorted(batch))
    extra: dict[str, Any] = {"lines": "file"} if protocol == "tiou" else {}
    totals, images = found(protocol, batch, order="confidence", **extra)
    expected, of_sorted = found(protocol, sorted_batch, order="file", **extra)
    assert totals == expected
    assert by_id(images) == by_id(of_sorted)
    file_order = batch.det.ids.tolist()
    assert [one.id for image in images for one in image.detections] == file_order


def assert_sorted_as(batch: ImageBatch, sorted_batch: ImageBatch) -> None:
    """The overlaps are those that measuring the sorted batch gives, in its
    order, with the same areas and boxes.
    """
    order = detection_order.by_confidence(batch)
    rank = np.argsort(order)
    sides = detection_order._sorted(batch, overlaps.measure(batch, Convention()), order, rank)
    assert sides[0].det.ids.tolist() == sorted_batch.det.ids.tolist()
    if batch.det_runs is not None:
        assert sides[0].det_runs.owner.tolist() == sorted_batch.det_runs.owner.tolist()
    for ours, expected in zip(sides[1], overlaps.measure(sorted_batch, Convention()), strict=True):
        assert (ours is None) == (expected is None)
        np.testing.assert_array_equal(ours, expected)


@quick
@given(seeds, st.booleans())
def test_overlaps_are_those_of_the_sorted_file(numbers: list[int], polygons: bool) -> None:
    batch = batch_of(numbers, polygons)
    batch = with_confidences(batch, confidences_of(batch.det, numbers, FEW))
    assert_sorted_as(batch, rearranged(batch, stably_sorted(batch)))


def test_masks_are_sorted_with_their_detections() -> None:
    """Three objects, and detections equal to the second, the third and the
    first; the last in the file is surest.
    """

    def masks(*rows: int) -> LabelRuns:
        """Three bars in one row of pixels, from the left, with the row of the
        object that each is of.
        """
        labels = np.repeat(np.array(rows) + 1, 5)[None]
        labels[0, ::5] = 0
        runs = picture_runs.find_runs(labels)
        return picture_runs.join(
            [(runs, runs.label.astype(np.int64) - 1)], np.array([labels.shape]), 3
        )

    words = reference.objects([reference.Thing((x, 0, x + 4, 1)) for x in (1, 6, 11)])
    in_file = take(words, np.array([1, 2, 0]), words.offsets)
    size = np.array([[1.0, 15.0]])
    batch = ImageBatch(
        ["img"], size, words, sure_of(in_file, [0.6, 0.3, 0.9]), masks(0, 1, 2), masks(2, 0, 1)
    )
    expected = ImageBatch(
        ["img"], size, words, sure_of(words, [0.9, 0.6, 0.3]), masks(0, 1, 2), masks(0, 1, 2)
    )
    assert_sorted_as(batch, expected)
    totals, images = found("tiou", batch, order="confidence")
    of_sorted = found("tiou", expected, order="file")
    assert totals == of_sorted[0]
    assert totals["one_to_one"] == 3
    assert by_id(images) == by_id(of_sorted[1])


def sure_of(objects: Objects, confidences: list[float]) -> Objects:
    return replace(objects, confidences=np.array(confidences))


@pytest.mark.parametrize("protocol", ORDERED)
@quick
@given(seeds, st.booleans())
def test_equal_confidences_are_the_order_of_the_file(
    protocol: str, numbers: list[int], polygons: bool
) -> None:
    batch = batch_of(numbers, polygons)
    batch = with_confidences(batch, np.full(batch.det.count, 0.5))
    totals, images = found(protocol, batch, order="confidence")
    in_file, of_file = found(protocol, batch, order="file")
    assert totals == in_file
    assert images == of_file


@pytest.mark.parametrize("protocol", ORDERED)
@quick
@given(seeds, st.booleans(), st.integers(0, 2**32))
def test_the_order_of_the_file_is_nothing_to_confidences(
    protocol: str, numbers: list[int], polygons: bool, seed: int
) -> None:
    """Confidences that differ: no permutation of an image's detections changes a score by a bit."""
    batch = batch_of(numbers, polygons)
    rng = np.random.default_rng(seed)
    batch = with_confidences(batch, rng.permutation(batch.det.count) / 1000)
    keys = np.lexsort((rng.random(batch.det.count), batch.det.image))
    totals, _ = found(protocol, batch, order="confidence")
    assert found(protocol, rearranged(batch, keys), order="confidence")[0] == totals


@pytest.mark.parametrize("protocol", REFUSING)
@pytest.mark.parametrize("confidences", [None, [0.5, float("nan")]])
def test_a_detection_without_confidence_is_refused(
    protocol: str, confidences: list[float] | None
) -> None:
    """As the scripts refuse such a line; CLEval's default takes those without one last."""
    words = reference.objects(
        [reference.Thing((0, 0, 9, 9), text="a"), reference.Thing((9, 0, 19, 9), text="b")]
    )
    det = replace(words, confidences=None if confidences is None else np.array(confidences))
    batch = ImageBatch(["img"], np.zeros((1, 2)), words, det)
    with pytest.raises(
        InputError, match=r"image 'img': detection [12] has no confidence, which order=conf"
    ):
        found(protocol, batch, order="confidence")
    assert found(protocol, batch, order="file")[0]


def written(folder: Path, det: str) -> tuple[Path, Path]:
    for side, text in (("gt", "0,0,100,20,word\n"), ("det", det)):
        (folder / side).mkdir()
        (folder / side / "1.txt").write_text(text, encoding="utf-8")
    return folder / "gt", folder / "det"


def test_the_surer_of_two_is_taken(tmp_path: Path) -> None:
    """The first line fits less well and reads wrong; the second is surer."""
    gt, det = written(tmp_path, "0,0,60,20,0.5,ward\n0,0,100,20,0.9,word\n")
    assert evaluate(gt, det, "iou-crw").scores["recall"] == 0.0
    assert evaluate(gt, det, "iou-crw", order="confidence").scores["recall"] == 1.0
    assert evaluate(gt, det, "tiou").scores["siou_recall"] == 0.6
    assert evaluate(gt, det, "tiou", order="confidence").scores["siou_recall"] == 1.0


def test_defaults_are_the_programs() -> None:
    assert {name: checked(name, {}).order for name in ORDERED} == {
        **dict.fromkeys(REFUSING, "file"),
        "cleval": "confidence",
    }


def test_detections_added_by_a_diagnosis_have_confidences(tmp_path: Path) -> None:
    """An image without detections is repaired by adding some, which are then sorted too."""
    gt, det = written(tmp_path, "")
    assert diagnose(gt, det, "iou", order="confidence").losses["recall"] == 1.0
