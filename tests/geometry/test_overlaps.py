"""Boxes of one image that share area, in batches of several images, some of them crowded."""

from __future__ import annotations

import numpy as np
import pytest

from evaltex_cli.evaluation.arrays import image_objects
from evaltex_cli.geometry import overlaps, shapes
from evaltex_cli.records import Convention, ImageBatch


@pytest.mark.parametrize(
    ("dense", "few", "trees"), [(0, 0, 3), (9, 0, 2), (9, 41, 2), (9, 42, 0), (1 << 20, 0, 0)]
)
def test_boxes_that_touch_are_found_in_every_image(
    dense: int, few: int, trees: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever images are crowded, and go through trees of two boxes unless they have few pairs
    together; boxes that share an edge only do not touch.
    """
    monkeypatch.setattr(overlaps, "DENSE_PAIRS", dense)
    monkeypatch.setattr(overlaps, "WORTH_A_TREE", few)
    monkeypatch.setattr(overlaps, "BOXES_OF_TREE", 2)
    by_tree, images = overlaps._by_tree, []
    monkeypatch.setattr(
        overlaps, "_by_tree", lambda *sides: images.append(sides[4]) or by_tree(*sides)
    )
    rng = np.random.default_rng(5)
    counts = np.array([[4, 2], [0, 3], [5, 6], [2, 0], [3, 4]])
    offsets = [np.concatenate([[0], np.cumsum(side)]) for side in counts.T]
    corners = [rng.integers(0, 6, (side.sum(), 2)).astype(np.float64) for side in counts.T]
    a, b = (np.hstack([low, low + rng.integers(1, 4, low.shape)]) for low in corners)
    expected = [
        (i, j)
        for k in range(len(counts))
        for i in range(offsets[0][k], offsets[0][k + 1])
        for j in range(offsets[1][k], offsets[1][k + 1])
        if (np.maximum(a[i, :2], b[j, :2]) < np.minimum(a[i, 2:], b[j, 2:])).all()
    ]
    i, j = overlaps.touching_boxes(a, offsets[0], b, offsets[1])
    assert expected and list(zip(i.tolist(), j.tolist(), strict=True)) == expected
    assert len(images) == trees


@pytest.mark.parametrize("height", [2, 2.5])
def test_shapes_of_a_batch_are_made_once_for_each_convention(
    monkeypatch: pytest.MonkeyPatch, height: float
) -> None:
    """And once for both, if there is nothing to cut."""
    gt, det = (image_objects(boxes=[[0, 0, 4, side]]) for side in (4, height))
    batch = ImageBatch(["img"], np.zeros((1, 2)), gt, det)
    made: list[Convention] = []
    inner = shapes.from_objects
    monkeypatch.setattr(
        shapes, "from_objects", lambda side, taken: made.append(taken) or inner(side, taken)
    )
    truncated = Convention(truncated=True)
    assert overlaps.of(batch).area.tolist() == [4 * height]
    assert overlaps.of(batch, truncated).area.tolist() == [8]
    both = overlaps.shapes_of(batch, overlaps.CONTINUOUS)
    assert made == [overlaps.CONTINUOUS] * 2 + [truncated] * (0 if height == 2 else 2)
    assert [side.boxes.tolist() for side in both] == [[[0, 0, 4, 4]], [[0, 0, 4, height]]]
    overlaps.shapes_of(batch, truncated)
    assert len(made) == (2 if height == 2 else 4)
