"""EvaLTex: the properties that must hold of any input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import Accumulator, evaluate

GOLDEN = Path(__file__).parents[1] / "golden"


Rectangle = tuple[int, int, int, int]


def rectangles(most: int) -> st.SearchStrategy[list[Rectangle]]:
    side = st.integers(1, 25)
    return st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), side, side), max_size=most)


@st.composite
def boxes(draw: st.DrawFn, most: int = 6) -> list[list[int]]:
    return [[x, y, x + width, y + height] for x, y, width, height in draw(rectangles(most))]


def scores_of(pairs: list[tuple[Any, Any]], **parameters: Any) -> dict[str, Any]:
    accumulator = Accumulator("evaltex", **parameters)
    for gt, det in pairs:
        accumulator.update(gt, det)
    return accumulator.compute().scores


def assert_close(a: dict[str, Any], b: dict[str, Any]) -> None:
    for name, value in a.items():
        assert b[name] == pytest.approx(value, abs=1e-9), name


@given(boxes(), boxes(), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_detection_order_does_not_matter(gt: list[Any], det: list[Any], random: Any) -> None:
    """Detections are matched all at once; only ties among ground-truth
    objects look at the file's order.
    """
    shuffled = list(det)
    random.shuffle(shuffled)
    assert_close(scores_of([(gt, det)]), scores_of([(gt, shuffled)]))


@pytest.mark.parametrize("shape", ["polygon", "box"])
@pytest.mark.parametrize("gt", ["scenes/boxes-gt.zip", "scenes/curves-gt.zip", "totaltext/gt.zip"])
def test_ground_truth_finds_itself(gt: str, shape: str) -> None:
    """Even where words overlap: a word and its own detection are the pair of the highest IoU."""
    result = evaluate(GOLDEN / gt, GOLDEN / gt, shape=shape, per_image=True)
    objects = [one for image in result.images for one in image.objects if one.match != "ignored"]
    assert [(one.match, one.partners) for one in objects] == [
        ("one-to-one", [one.id]) for one in objects
    ]
    for name in ("recall", "precision", "split", "emd_fscore"):
        assert result.scores[name] == pytest.approx(1, abs=1e-12)
