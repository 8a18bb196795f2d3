"""EvaLTex on labelled masks: the same objects as boxes, polygons and masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from evaltex_cases import Labels, evaluate
from hypothesis import given, settings
from hypothesis import strategies as st

Rectangle = tuple[int, int, int, int]
CELL = 40


@st.composite
def rectangles(draw: st.DrawFn, thicknesses: list[int]) -> list[Rectangle]:
    """x, y, width, height of disjoint rectangles, one a cell of a 3 x 3 grid at most."""
    found = []
    dx, dy = draw(st.integers(0, 20)), draw(st.integers(0, 20))
    for cell in draw(st.lists(st.integers(0, 8), unique=True, max_size=6)):
        short = draw(st.sampled_from(thicknesses))
        long = draw(st.integers(short, CELL))
        width, height = draw(st.sampled_from([(short, long), (long, short)]))
        x, y = draw(st.integers(0, CELL - width)), draw(st.integers(0, CELL - height))
        found.append((dx + CELL * (cell % 3) + x, dy + CELL * (cell // 3) + y, width, height))
    return found


def corners(x: int, y: int, w: int, h: int) -> tuple[float, ...]:
    """With a vertex more, as four corners of a box are a box."""
    return (x, y, x + w / 2, y, x + w, y, x + w, y + h, x, y + h)


def texts(gt: list[Rectangle], det: list[Rectangle], numbers: Any) -> tuple[str, str]:
    size = 3 * CELL + 20
    gt_lines = [f'{k},{k},"",f,{joined(numbers(*r))}' for k, r in enumerate(gt, 1)]
    det_lines = [f'{k},"",{joined(numbers(*r))}' for k, r in enumerate(det, 1)]
    return "\n".join(["img", f"{size},{size}", *gt_lines]), "\n".join(["img", *det_lines])


def joined(numbers: tuple[float, ...]) -> str:
    return ",".join(map(str, numbers))


def drawn(side: list[Rectangle]) -> Labels:
    labels = np.zeros((3 * CELL + 20, 3 * CELL + 20), np.uint8)
    for k, (x, y, w, h) in enumerate(side, 1):
        labels[y : y + h, x : x + w] = k
    return {"img": labels}


@settings(deadline=None, derandomize=True, max_examples=20)
@given(rectangles([10, 20]), rectangles([1, 5, 15, 30]), st.sampled_from([0.0, 0.1, 0.2]))
def test_a_rectangle_is_the_same_as_box_polygon_and_mask(
    gt: list[Rectangle], det: list[Rectangle], det_border: float
) -> None:
    """Where margins are whole pixels: thicknesses 10 and 20, borders of
    tenths. Without regions, as masks have none.
    """
    parameters = {"region": False, "det_border": det_border}
    as_boxes = texts(gt, det, lambda *rectangle: rectangle)
    expected = evaluate(*as_boxes, parameters)
    for other in (
        evaluate(*texts(gt, det, corners), parameters),
        evaluate(*as_boxes, parameters, drawn(gt), drawn(det)),
    ):
        assert_same(other, expected)


def assert_same(found: Any, expected: Any) -> None:
    """Equal, numbers to 1e-9."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            assert_same(found[key], value)
    elif isinstance(expected, list):
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, abs=1e-9)
    else:
        assert found == expected
