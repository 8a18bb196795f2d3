"""What is grown and shrunk once is not moved again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rings import regular

from evaltex_cli.geometry import offsets, overlaps, shapes
from evaltex_cli.geometry.offsets import of_ground_truth, offset
from evaltex_cli.records import Convention, Floats, ImageBatch, Objects, Outlines, offsets_of
from evaltex_cli.records.rows import NOTHING

CONVENTION = Convention()


def batch_of(rings: list[Floats]) -> ImageBatch:
    """Two images: that of the last ring, and that of those before."""
    count = len(rings)
    boxes = np.array([[*ring.min(axis=0), *ring.max(axis=0)] for ring in rings])
    gt = Objects(
        offsets=np.array([0, count - 1, count]),
        ids=np.arange(1, count + 1),
        outlines=Outlines(boxes, np.concatenate(rings), offsets_of([len(ring) for ring in rings])),
        regions=np.arange(count),
        dont_care=np.zeros(count, dtype=bool),
        texts=[""] * count,
    )
    det = replace(NOTHING, offsets=np.zeros(3, np.int64))
    return ImageBatch(["one", "two"], np.zeros((2, 2)), gt, det)


def columns(some: shapes.Shapes) -> list[Any]:
    polygons = shapes.polygons_of(some)
    arrays = some.boxes, polygons.area, polygons.edges.offsets, polygons.edges.ends
    return [array.tolist() for array in arrays]


def test_margins_that_change_move_their_objects_only(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    rings = [regular(int(count), 30, 50.0 * count) for count in rng.integers(3, 9, 12)]
    moved: list[int] = []

    def counted(some: shapes.Shapes, margin: Floats) -> shapes.Shapes:
        moved.append(len(margin))
        return offset(some, margin)

    monkeypatch.setattr(offsets, "offset", counted)
    batch = batch_of(rings)
    gt, _ = overlaps.shapes_of(batch, CONVENTION)
    before = np.where(rng.random(12) < 0.5, 0.0, rng.random(12))
    for margin in (before, np.where(rng.random(12) < 0.5, before, rng.random(12)), np.zeros(12)):
        found = of_ground_truth(batch, CONVENTION, margin)
        still = np.flatnonzero(margin == 0)
        for one, sign in zip(found, (1, -1), strict=True):
            whole = offset(gt, sign * margin)
            expected = shapes.with_others(whole, still, shapes.taken(gt, still))
            assert columns(one) == columns(expected)
    count = len(moved)
    of_ground_truth(batch, CONVENTION, np.zeros(12))
    assert 0 < sum(moved[:2]) < 24
    assert sum(moved[count:]) == 0
