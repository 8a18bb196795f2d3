"""Words grouped into lines: what the paper asks of a region, and that the
order of the words does not matter.
"""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.conversion.text_lines import HEIGHT_RATIO, group_lines
from evaltex_cli.records import Floats


def lines(*boxes: tuple[float, float, float, float]) -> list[int]:
    return group_lines(np.array(boxes, np.float64).reshape(-1, 4)).tolist()


@pytest.mark.parametrize(
    ("boxes", "regions"),
    [
        ([(0, 0, 50, 10), (55, 0, 90, 10), (95, 1, 140, 11)], [1, 1, 1]),
        # Numbered from the top, then from the left.
        (
            [(0, 40, 50, 50), (200, 20, 250, 30), (0, 0, 50, 10), (0, 20, 50, 30)],
            [4, 3, 1, 2],
        ),
        # Each word is like the next, but the first and the last are not; the narrower gap decides.
        ([(0, 0, 50, 16), (52, 2, 90, 14), (93, 4, 130, 11)], [1, 1, 2]),
        ([(0, 0, 50, 16), (53, 2, 90, 14), (92, 4, 130, 11)], [1, 2, 2]),
        # Words that are taller than wide, above each other.
        ([(0, 0, 10, 30), (0, 33, 10, 60), (1, 65, 11, 90)], [1, 1, 1]),
        ([(0, 0, 30, 10), (0, 13, 30, 23), (0, 26, 30, 36)], [1, 2, 3]),
        # No words, one word, and words without area.
        ([], []),
        ([(5, 5, 9, 9)], [1]),
        ([(0, 0, 50, 0), (51, 0, 90, 0), (0, 0, 0, 0)], [2, 3, 1]),
    ],
)
def test_regions(boxes: list[tuple[float, float, float, float]], regions: list[int]) -> None:
    assert lines(*boxes) == regions


TOGETHER = "55,4,100,14 55,2,100,7 55,7,100,13 59,2,100,8 60,0,100,10 -45,0,-5,10 10,1,40,9"
APART = "55,6,100,16 55,2,100,6 55,-5,100,16 61,0,100,10 0,11,50,21"


@pytest.mark.parametrize("second", [*TOGETHER.split(), *APART.split()])
def test_aligned_of_similar_height_and_close(second: str) -> None:
    """The first word is 50 wide and 10 high."""
    x0, y0, x1, y1 = map(float, second.split(","))
    first, other = lines((0, 0, 50, 10), (x0, y0, x1, y1))
    assert (first == other) == (second in TOGETHER.split())


def check(boxes: Floats, regions: Floats) -> None:
    """What must hold of any grouping: IDs from 1, similar heights (or
    widths), more text than background.
    """
    assert sorted(set(regions.tolist())) == list(range(1, len(set(regions.tolist())) + 1))
    corners = []
    for region in range(1, int(regions.max(initial=0)) + 1):
        words = boxes[regions == region]
        around = [*words[:, :2].min(axis=0), *words[:, 2:].max(axis=0)]
        corners.append(min((y, x) for x, y in words[:, :2].tolist()))
        if len(words) > 1:
            width, height = (words[:, 2:] - words[:, :2]).T
            assert any(side.min() >= HEIGHT_RATIO * side.max() for side in (width, height))
            text = shapely.union_all(shapely.box(*words.T)).area
            assert 2 * text > shapely.box(*around).area
    assert corners == sorted(corners)


SIDES = (st.integers(0, 120), st.integers(0, 60), st.integers(0, 40), st.integers(0, 30))
BOXES = st.lists(st.tuples(*SIDES), max_size=14, unique=True).map(
    lambda words: np.reshape([(x, y, x + w, y + h) for x, y, w, h in words], (-1, 4)).astype(float)
)


@settings(deadline=None, derandomize=True, max_examples=50)
@given(BOXES, st.randoms(use_true_random=False))
def test_any_words(boxes: Floats, random: object) -> None:
    regions = group_lines(boxes)
    check(boxes, regions)
    order = np.arange(len(boxes))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert group_lines(boxes[order]).tolist() == regions[order].tolist()
    for moved in (boxes * 0.25, boxes * 3, boxes - 1000):  # scale and place do not matter
        assert group_lines(moved).tolist() == regions.tolist()
