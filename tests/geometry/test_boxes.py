"""Unions of boxes, against a grid of unit cells; boxes around groups, against plain ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.geometry import boxes

SIDE = st.integers(0, 9)
GROUPED = st.lists(st.tuples(st.integers(0, 3), SIDE, SIDE, SIDE, SIDE), max_size=25)


def union_by_cells(grouped, group):
    cells = np.zeros((10, 10), dtype=bool)
    for owner, x0, y0, x1, y1 in grouped:
        if owner == group:
            cells[y0:y1, x0:x1] = True
    return cells.sum()


@settings(deadline=None, derandomize=True, max_examples=50)
@given(st.lists(st.lists(st.tuples(SIDE, SIDE, SIDE, SIDE), min_size=1, max_size=4), max_size=5))
def test_boxes_around_groups(groups):
    corners = np.array([box for group in groups for box in group], np.float64).reshape(-1, 4)
    starts = np.array([sum(map(len, groups[:k])) for k in range(len(groups))], np.int64)
    found = boxes.around(corners[:, :2], corners[:, 2:], starts)
    expected = [
        [
            pick(box[side] for box in group)
            for pick, side in ((min, 0), (min, 1), (max, 2), (max, 3))
        ]
        for group in groups
    ]
    assert found.shape == (len(groups), 4) and found.tolist() == expected


@settings(deadline=None, derandomize=True, max_examples=200)
@given(GROUPED, st.sampled_from([1, 3, 1 << 21]))
def test_union_area_is_that_of_the_cells(grouped, block):
    group = np.array([one[0] for one in grouped], np.int64)
    pieces = np.array([one[1:] for one in grouped], np.float64).reshape(-1, 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boxes, "BLOCK_PIECES", block)
        found = boxes.union_area(group, pieces, 5)
    assert found.tolist() == [union_by_cells(grouped, k) for k in range(5)]


@settings(deadline=None, derandomize=True, max_examples=50)
@given(GROUPED, st.randoms())
def test_order_does_not_matter_to_the_last_bit(grouped, random):
    shuffled = random.sample(grouped, len(grouped))
    first, second = (
        boxes.union_area(
            np.array([one[0] for one in some], np.int64),
            np.array([one[1:] for one in some], np.float64).reshape(-1, 4) * 0.1,
            4,
        )
        for some in (grouped, shuffled)
    )
    assert first.tolist() == second.tolist()


def test_thousands_of_coincident_boxes():
    pieces = np.tile([[0.0, 0.0, 3.0, 2.0], [1.0, 1.0, 4.0, 3.0]], (5000, 1))
    assert boxes.union_area(np.zeros(len(pieces), np.int64), pieces, 1).tolist() == [10.0]
