"""ICDAR 2013: where it differs from DetEval; the matcher itself is tested with DetEval."""

from __future__ import annotations

from typing import Any

import pytest
from deteval_scenes import WORD, accumulated

from evaltex_cli import Accumulator


def test_a_match_with_centres_apart_comes_back_as_a_split() -> None:
    """Found whole in a detection 2.4 times as wide: centres 70 pixels apart,
    0.41 mean diagonals.
    """
    scene: Any = [([WORD], [False], [(0, 0, 239, 19)])]
    assert accumulated(scene, "icdar2013").scores["recall"] == 1
    result = accumulated(scene, "icdar2013", center=0.4)
    assert result.scores["recall"] == result.scores["precision"] == 0.8
    assert result.totals["one_to_many"] == 1
    assert accumulated(scene, "deteval", center=0.4).scores["recall"] == 0


def test_dont_care_rivals_prevent_a_one_to_one_match() -> None:
    """A don't-care copy of the word would make its detection don't care; with
    a share of 1 it only is a rival.
    """
    scene: Any = [([WORD, WORD], [False, True], [WORD])]
    assert accumulated(scene, "icdar2013").totals["counted_detections"] == 0
    assert accumulated(scene, "icdar2013", dont_care_overlap=1.0).scores["recall"] == 0.8


def test_a_merge_costs_nothing() -> None:
    scene: Any = [([WORD, (110, 0, 199, 19)], [False] * 2, [(0, 0, 199, 44)])]
    scores = accumulated(scene, "icdar2013").scores
    assert (scores["recall"], scores["precision"], scores["hmean"]) == (1, 1, 1)
    scores = accumulated(scene, "icdar2013", merge_weight=0.5).scores
    assert (scores["recall"], scores["precision"]) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("protocol", "options", "splits"),
    [
        ("icdar2013", {}, 0),
        ("icdar2013", {"shape": "polygon"}, 1),
        ("deteval", {"variant": "wolf"}, 1),
        ("deteval", {"variant": "rrc"}, 1),
    ],
)
def test_sums_are_added_as_the_programs_add_them(
    protocol: str, options: dict[str, Any], splits: int
) -> None:
    """0.1 + 0.7 is 0.7999999999999999 in 64 bits, and 0.8 in 32 bits or to 4 decimals."""
    one_more = 0 if options.get("shape") == "polygon" else 1
    parts = [(0, 0, 10 - one_more, 20 - one_more), (10, 0, 80 - one_more, 20 - one_more)]
    scene: Any = [([(0, 0, 100 - one_more, 20 - one_more)], [False], parts)]
    assert accumulated(scene, protocol, **options).totals["one_to_many"] == splits


@pytest.mark.parametrize("threshold", [1 / 3, 0.3])
def test_a_sum_of_shares_of_polygons_reaches_its_threshold(threshold: float) -> None:
    """Also one of more decimals than a sum is rounded to."""
    accumulator = Accumulator("icdar2013", shape="polygon", t_r=threshold)
    parts = [[0, 0, 10 * threshold, 10], [20 - 10 * threshold, 0, 20, 10]]
    accumulator.update([[0, 0, 20, 10]], parts)
    assert accumulator.compute().totals["one_to_many"] == 1
