"""Sizes and confidences of objects in memory are as in files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference_iou
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from in_memory import assert_close

from evaltex_cli import Accumulator, InputError, evaluate, image_objects
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.records import Objects

SIZE = (240, 320)
WANTED: dict[str, dict[str, Any]] = {
    "cleval": {"scale_bins": "0,0.02,0.05,1"},
    **{name: {"order": "confidence"} for name in ("iou", "iou-crw", "tiou", "tedeval")},
}


def as_coco(sides: list[Objects]) -> dict[str, Any]:
    """One side as a COCO file, which has sizes, confidences, and images without objects."""
    annotations = []
    for image, objects in enumerate(sides, 1):
        for k, (x0, y0, x1, y1) in enumerate(objects.boxes.tolist()):
            one = {"id": len(annotations), "image_id": image, "bbox": [x0, y0, x1 - x0, y1 - y0]}
            one |= {"text": objects.texts[k], "iscrowd": int(objects.dont_care[k])}
            ring = objects.outlines.ring(k)
            one |= {"segmentation": [ring.ravel().tolist()]} if len(ring) else {}
            if objects.confidences is not None:
                one |= {"score": objects.confidences[k]}
            annotations.append(one)
    names = [{"id": k, "height": SIZE[0], "width": SIZE[1]} for k in range(1, len(sides) + 1)]
    return {"images": names, "annotations": annotations}


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(
    deadline=None,
    derandomize=True,
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(seeds=st.lists(st.integers(0, 2**32), min_size=1, max_size=4), polygons=st.booleans())
def test_sizes_and_confidences_are_as_in_files(
    tmp_path: Path, protocol: str, seeds: list[int], polygons: bool
) -> None:
    images = []
    for seed in seeds:
        gt, det = map(reference_iou.boxes_first, reference_iou.scene(seed, polygons))
        sure = np.random.default_rng(seed).choice([0.1, 0.25, 0.5, 0.9], len(det))
        words = reference_iou.objects(gt)
        images.append(
            (
                replace(words, regions=words.ids),
                replace(reference_iou.objects(det), confidences=sure),
            )
        )
    for name, side in zip(("gt", "det"), zip(*images, strict=True), strict=True):
        (tmp_path / f"{name}.json").write_text(json.dumps(as_coco(list(side))), encoding="utf-8")
    parameters = WANTED.get(protocol, {})
    expected = evaluate(tmp_path / "gt.json", tmp_path / "det.json", protocol, **parameters)
    accumulator = Accumulator(protocol, **parameters)
    for gt, det in images:
        accumulator.update(gt, det, size=SIZE)
    found = accumulator.compute()
    assert_close(found.scores, expected.scores, "scores")
    assert_close(found.totals, expected.totals, "totals")
    for name in ("images", "objects", "dont_care", "transcriptions", "confidences"):
        assert getattr(found.gt, name) == getattr(expected.gt, name)
        assert getattr(found.det, name) == getattr(expected.det, name)


def test_sizes_are_height_and_width() -> None:
    """A word 10 high is a tenth of the longer side, 100, whichever that is."""
    for size in ((100, 50), (50.0, 100.0), np.array([100, 20])):
        accumulator = Accumulator("cleval", scale_bins="0.05,0.15,1")
        accumulator.update(
            image_objects([[0, 0, 60, 10]], texts=["abcdef"]), [[0, 0, 60, 10]], size=size
        )
        assert [row["recall"] for row in accumulator.compute().scores["scale_wise"]] == [1.0, 0.0]


@pytest.mark.parametrize(
    "size",
    [(0, 5), (5, -1), (5,), 7, (1, 2, 3), (float("nan"), 1), ("a", 1), (1e13, 1), ((1, 2), 3)],
)
def test_sizes_that_are_none(size: Any) -> None:
    with pytest.raises(
        InputError, match=r"size: .*; expected \(height, width\) in pixels, both above 0"
    ):
        Accumulator().update([], [], size=size)


@pytest.mark.parametrize(
    ("protocol", "parameters", "message"),
    [
        (
            "cleval",
            {"scale_bins": "0,1"},
            r"an image in memory has no height and width, .* in Python size=\(height, width\)",
        ),
        (
            "iou",
            {"order": "confidence"},
            "an image in memory: detection 1 has no confidence, which order=confidence needs",
        ),
    ],
)
def test_what_is_needed_is_refused_at_once(
    protocol: str, parameters: dict[str, str], message: str
) -> None:
    """And the images before stay."""
    word = image_objects([[0, 0, 60, 10]], texts=["abcdef"], confidences=[0.5])
    accumulator = Accumulator(protocol, **parameters)
    accumulator.update(word, word, size=(20, 100))
    with pytest.raises(InputError, match=message):
        accumulator.update(word, [[0, 0, 60, 10]])
    accumulator.update(image_objects(), image_objects())
    assert (accumulator.compute().gt.images, accumulator.compute().scores["recall"]) == (2, 1.0)


def test_none_is_no_confidence() -> None:
    found = image_objects([[0, 0, 1, 1]] * 3, confidences=[None, 1, float("nan")])
    accumulator = Accumulator("cleval")
    accumulator.update(found, found)
    assert accumulator.compute().det.confidences == 1


def test_a_polygon_that_comes_late_counts_for_all_images():
    """Under CLEval, which takes four vertices for a polygon where any object
    has others; in parts and merged too.
    """
    tall = [[[0, 0], [10, 0], [10, 60], [0, 60]]]
    late = [[[0, 0], [10, 0], [20, 5], [10, 60], [0, 60]]]
    nothing = image_objects()
    parts = [Accumulator("cleval") for _ in range(2)]
    parts[0].update(nothing, image_objects(polygons=tall))
    assert parts[0].compute().scores["false_positive_characters"] == 6
    parts[1].update(nothing, image_objects(polygons=late))
    parts[0].merge(parts[1])
    assert parts[0].compute().scores["false_positive_characters"] == 2
    parts[0].update(nothing, image_objects(polygons=tall))
    assert parts[0].compute().scores["false_positive_characters"] == 3
