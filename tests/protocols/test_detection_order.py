"""The parameter `order`: detections in the order of the file, or by falling confidence as the
programs sort them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaltex_cli import InputError, evaluate, image_objects
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.config import checked
from evaltex_cli.protocols.matching import SideMatches
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.records import ImageBatch, Objects, concatenate, take

ORDERED = ("iou", "iou-crw", "tiou", "tedeval", "cleval")
REFUSING = ORDERED[:-1]


def random_batch(seed: int, confidences: int) -> ImageBatch:
    """Three images of crowded words and detections, with one of so many confidences."""
    rng = np.random.default_rng(seed)
    sides = []
    for most, is_det in ((5, False), (9, True)):
        images = []
        for _ in range(3):
            count = int(rng.integers(0, most))
            corner, size = rng.integers(0, 9, (count, 2)), rng.integers(4, 14, (count, 2))
            marks: dict[str, Any] = (
                {"confidences": rng.integers(0, confidences, count) / confidences}
                if is_det
                else {"dont_care": rng.random(count) < 0.2}
            )
            texts = rng.choice(["a", "b"], count).tolist()
            boxes = np.concatenate([corner, corner + size], axis=1)
            images.append(image_objects(boxes, texts=texts, **marks))
        sides.append(concatenate(images))
    gt, det = sides
    return ImageBatch(["a", "b", "c"], np.full((3, 2), 100.0), gt, det, gt_lines=gt)


def rearranged(batch: ImageBatch, rows: Any) -> ImageBatch:
    return replace(batch, det=take(batch.det, rows, batch.det.offsets))


def found(protocol: str, batch: ImageBatch, **parameters: Any) -> tuple[Any, Any]:
    """Return the sums, and each object's type, partners by ID and values, by image and ID."""
    extra = {"lines": "file"} if protocol == "tiou" and batch.masks is None else {}
    evidence = Measured(batch).evidence(load(protocol), checked(protocol, extra | parameters))
    gt, det = evidence.matches
    sides = (gt, batch.gt, batch.det), (det, batch.det, batch.gt)
    return evidence.tally.sum().as_dict(), [by_id(*side) for side in sides]


def by_id(side: SideMatches, own: Objects, others: Objects) -> dict[tuple[int, int], Any]:
    return {
        (int(own.image[k]), int(own.ids[k])): (
            int(side.types[k]),
            set(others.ids[side.partners[side.offsets[k] : side.offsets[k + 1]]].tolist()),
            {name: repr(float(column[k])) for name, column in side.values.items()},
        )
        for k in range(own.count)
    }


@pytest.mark.parametrize("protocol", ORDERED)
@pytest.mark.parametrize("confidences", [3, 1000])
def test_is_the_file_sorted(protocol: str, confidences: int) -> None:
    """What the scripts do: sort, then evaluate; equal confidences stay in the order of the file."""
    for seed in range(6):
        batch = random_batch(seed, confidences)
        rows = np.lexsort((-np.asarray(batch.det.confidences), batch.det.image))  # is stable
        expected = found(protocol, rearranged(batch, rows), order="file")
        assert found(protocol, batch, order="confidence") == expected


@pytest.mark.parametrize("protocol", ORDERED)
def test_the_order_of_the_file_is_nothing_to_confidences(protocol: str) -> None:
    """Confidences that differ: no permutation of an image's detections changes a sum by a bit."""
    for seed in range(6):
        batch, rng = random_batch(seed, 1), np.random.default_rng(seed)
        differing = rng.permutation(batch.det.count) / 1000
        batch = replace(batch, det=replace(batch.det, confidences=differing))
        shuffled = rearranged(batch, np.lexsort((rng.random(batch.det.count), batch.det.image)))
        expected = found(protocol, batch, order="confidence")
        assert found(protocol, shuffled, order="confidence") == expected


@pytest.mark.parametrize("protocol", REFUSING)
@pytest.mark.parametrize("confidences", [None, [0.5, float("nan")]])
def test_a_detection_without_confidence_is_refused(
    protocol: str, confidences: list[float] | None
) -> None:
    """As the scripts refuse such a line; CLEval's default takes those without one last."""
    words = concatenate([image_objects([[0, 0, 9, 9], [9, 0, 19, 9]], texts=["a", "b"])])
    det = replace(words, confidences=None if confidences is None else np.array(confidences))
    batch = ImageBatch(["img"], np.zeros((1, 2)), words, det, gt_lines=words)
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
