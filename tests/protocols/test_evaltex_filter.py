"""The filter of EvaLTex's candidates (Eq. 5) where detections have many."""

from __future__ import annotations

from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import pytest
import reference_evaltex
from hypothesis import given
from hypothesis import strategies as st

from evaltex_cli import image_objects
from evaltex_cli.geometry import overlaps, shapes
from evaltex_cli.protocols.evaltex_matching import Parameters, scene_of, select_candidates
from evaltex_cli.records import ImageBatch, Overlaps

SIDE = st.integers(1, 12)
BOXES = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), SIDE, SIDE), max_size=40)


def selected(gt: Any, det: Any) -> tuple[Overlaps, list[tuple[int, int]]]:
    """The overlaps of boxes x0, y0, x1, y1, and the pairs that are selected."""
    sides = (image_objects(boxes=side) for side in (gt, det))
    batch = ImageBatch(["img"], np.zeros((1, 2)), *sides)
    measured = overlaps.of(batch)
    which = select_candidates(measured, scene_of(batch, measured, Parameters()), 0.1)
    return measured, list(
        zip(measured.gt[which].tolist(), measured.det[which].tolist(), strict=True)
    )


@pytest.mark.parametrize("dense", [0, 1 << 20])
@given(BOXES, BOXES)
def test_what_is_kept_is_what_is_kept_one_after_the_other(
    dense: int, gt: list[Any], det: list[Any]
) -> None:
    """Whether boxes that touch are looked for with a tree or without."""
    both = [[(x, y, x + width, y + height) for x, y, width, height in side] for side in (gt, det)]
    both[1] = [(0, 0, 32, 32), *both[1][:3]]
    parameters = {"min_area": Fraction(0), "overlap_filter": Fraction(1, 10)}
    expected = [
        (i, j)
        for j, one in enumerate(both[1])
        for i in reference_evaltex.kept_objects(
            reference_evaltex.Rectangles(), [[box] for box in both[0]], [one], parameters
        )
    ]
    with mock.patch.multiple(overlaps, DENSE_PAIRS=dense, WORTH_A_TREE=0):
        assert selected(*both)[1] == sorted(expected)


@pytest.mark.parametrize("apart", [10, 5], ids=["side by side", "a chain"])
def test_a_detection_of_many_objects_compares_those_that_touch(
    apart: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 3,000 objects in one detection each touches at most two others: no 4,498,500 pairs."""
    compared, measure = [], shapes.pair_area
    monkeypatch.setattr(
        shapes, "pair_area", lambda *pairs: compared.append(len(pairs[1])) or measure(*pairs)
    )
    x = apart * np.arange(3000)
    gt = np.stack([x, 0 * x, x + 10, 0 * x + 10], axis=1)
    measured, kept = selected(gt, [[0, 0, x[-1] + 10, 10]])
    assert len(kept) == len(measured.gt) == 3000
    assert sum(compared) <= 2 * 3000
