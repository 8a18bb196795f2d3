"""ICDAR 2003: single cases."""

from __future__ import annotations

from typing import Any

import pytest
from deteval_scenes import WORD, accumulated, evidence_of

from evaltex_cli.protocols import icdar2003


def test_a_half_found_twice_is_half_found() -> None:
    """Two halves of a word: each shares 2 · ½ / 1½ = ⅔ with it, and none is
    lost; the smallest box is the word, ½.
    """
    scene: Any = [([WORD], [False], [(0, 0, 49, 19), (50, 0, 99, 19)])]
    for match, value in (("dice", 2 / 3), ("minbox", 1 / 2)):
        scores = accumulated(scene, "icdar2003", match=match).scores
        assert scores == pytest.approx({"recall": value, "precision": value, "hmean": value})


@pytest.mark.parametrize(("alpha", "hmean"), [(0.0, 1.0), (0.5, 2 / 3), (1.0, 0.5)])
def test_alpha_is_the_share_of_precision(alpha: float, hmean: float) -> None:
    scene: Any = [([WORD], [False], [WORD, (500, 500, 520, 520)])]
    assert accumulated(scene, "icdar2003", alpha=alpha).scores["hmean"] == pytest.approx(hmean)


def test_partners_are_the_best_of_either_side() -> None:
    """Both halves have the word as their best, the word the larger one: a split."""
    found = evidence_of(
        [([WORD, (300, 0, 399, 19)], [False] * 2, [(0, 0, 69, 19), (70, 0, 99, 19)])],
        "icdar2003",
    )
    assert found.matches.gt.partners.tolist() == [0, 1]
    assert found.matches.gt.types.tolist() == [1, 4]
    assert found.matches.det.types.tolist() == [1, 1]
    assert found.matches.gt.values["best_match"].tolist() == pytest.approx([1.4 / 1.7, 0])


def test_an_image_with_nothing_is_right() -> None:
    found = evidence_of([([], [], []), ([WORD], [False], []), ([], [], [WORD])], "icdar2003")
    scores = [
        icdar2003.PROTOCOL.image_scores(row, icdar2003.Parameters()) for row in found.tally.rows()
    ]
    assert [(score["recall"], score["precision"]) for score in scores] == [(1, 1), (0, 0), (0, 0)]
    assert accumulated([([], [], [])], "icdar2003").scores == {
        "recall": 0,
        "precision": 0,
        "hmean": 0,
    }
