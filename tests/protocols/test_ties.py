"""Shares of polygons that are exactly at a threshold, in TedEval, PopEval and CLEval by the paper.

A word is a parallelogram, and a cover a parallelogram over one end of it. The covers' edges cross
the word's sides at points that are no integers, in any direction, so that the area of an overlap is
rounded; but a cover's share of the word is exactly a number of tenths.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from evaltex_cli import image_objects
from evaltex_cli.geometry import overlaps
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.matches import (
    FALSE_POSITIVE,
    IGNORED,
    MANY_TO_ONE,
    MISSED,
    ONE_TO_MANY,
    ONE_TO_ONE,
    Matches,
)
from evaltex_cli.records import Floats, ImageBatch, Objects
from evaltex_cli.records.rows import concatenate

PAPER = {"reference": "paper", "annotation": "polygon"}
ORIGINS = [(0, 0), (700, 650), (-3001, 5003), (40_007, 30_011)]
TENTHS = [2, 3, 4, 5, 6, 7, 8]
STEP = 1e-5
"""Larger than any rounding, smaller than any share."""


class Word:
    """A word of integer vertices, ten times `along` long and twice `across` high, and covers of
    tenths of it.

    The edge of a cover leans, by less than `along` on either long side of the word; so a triangle
    is added at one side of the middle, and an equal one is lost at the other.
    """

    def __init__(self, rng: random.Random) -> None:
        self.origin = np.array(rng.choice(ORIGINS))
        while True:
            self.along, self.across = np.array(
                [[rng.randint(-60, 60) for _ in range(2)] for _ in range(2)]
            )
            area = abs(self.along[0] * self.across[1] - self.along[1] * self.across[0])
            if area > 8 * max(np.linalg.norm(self.along), np.linalg.norm(self.across)):
                break
        slope = rng.randint(2, 12)
        self.edge = 3 * (slope * self.across + rng.randint(1 - slope, slope - 1) * self.along)

    def outline(self) -> Floats:
        return self._parallelogram(0, 10, self.across)

    def start(self, tenths: int) -> Floats:
        """A cover of so many tenths, two or more, from where the word begins;
        its centre is in the word.
        """
        return self._parallelogram(-1, tenths, self.edge)

    def end(self, tenths: int) -> Floats:
        return self._parallelogram(10 - tenths, 11, self.edge)

    def _parallelogram(self, left: int, right: int, half: Any) -> Floats:
        corners = [(left, -1), (right, -1), (right, 1), (left, 1)]
        return np.array([self.origin + a * self.along + b * half for a, b in corners], np.float64)


WORDS = [Word(random.Random(seed)) for seed in range(150)]


def sides(
    *covers: Callable[[Word], Floats], text: str = "a", dont_care: bool = False
) -> tuple[Objects, Objects]:
    """All words, one in each image, and these covers of each."""
    words = [image_objects(polygons=[word.outline()], texts=["a"]) for word in WORDS]
    marks = {"texts": [text] * len(covers), "dont_care": [dont_care] * len(covers)}
    covering = [
        image_objects(polygons=[cover(word) for cover in covers], **marks) for word in WORDS
    ]
    return concatenate(words), concatenate(covering)


def matched(protocol: str, gt: Objects, det: Objects, **parameters: Any) -> Matches:
    kind = load(protocol)
    chosen = kind.parameters(**parameters)
    batch = ImageBatch([str(k) for k in range(len(WORDS))], np.zeros((len(WORDS), 2)), gt, det)
    found = kind.evidence(
        batch, overlaps.measure(batch, kind.convention(chosen)), chosen, True
    ).matches
    assert found is not None
    return found


def assert_all(found: Any, kinds: Sequence[int]) -> None:
    """In every image the objects are of these kinds."""
    assert found.types.reshape(len(WORDS), -1).tolist() == [list(kinds)] * len(WORDS)


def pairs_of(tenths: int) -> list[tuple[Callable[[Word], Floats], Callable[[Word], Floats]]]:
    """All pairs of covers that are so many tenths together."""
    return [
        (lambda word, a=a: word.start(a), lambda word, a=a: word.end(tenths - a))
        for a in range(2, tenths - 1)
    ]


def test_many_of_these_ratios_are_off_the_threshold() -> None:
    """Otherwise the tests below would show nothing."""
    word, cover = sides(lambda one: one.start(8))
    found = overlaps.measure(ImageBatch([""] * len(WORDS), np.zeros((len(WORDS), 2)), word, cover))
    ratio = found.area / found.gt_area
    assert np.abs(ratio - 0.8).max() < 1e-12
    assert (ratio < 0.8).sum() > 20 < (ratio > 0.8).sum()


@pytest.mark.few_fast(2)
@pytest.mark.parametrize("tenths", TENTHS)
def test_tedeval_matches_at_the_threshold(tenths: int) -> None:
    word, cover = sides(lambda one: one.start(tenths))
    for more, kind in ((0.0, ONE_TO_ONE), (STEP, MISSED)):
        threshold = tenths / 10 + more
        assert_all(matched("tedeval", word, cover, t_r=threshold, t_p=0.0, center=1e9).gt, [kind])
        assert_all(matched("tedeval", cover, word, t_r=0.0, t_p=threshold, center=1e9).gt, [kind])


@pytest.mark.few_fast(2)
@pytest.mark.parametrize("tenths", TENTHS[2:])
def test_tedeval_sums_to_the_threshold(tenths: int) -> None:
    for pair in pairs_of(tenths):
        word, covers = sides(*pair)
        for more, split, merged in ((0.0, ONE_TO_MANY, MANY_TO_ONE), (STEP, MISSED, MISSED)):
            threshold = tenths / 10 + more
            assert_all(
                matched("tedeval", word, covers, t_r=threshold, t_p=0.0, center=0.0).gt, [split]
            )
            assert_all(
                matched("tedeval", covers, word, t_r=0.0, t_p=threshold, center=0.0).gt,
                [merged] * 2,
            )


@pytest.mark.few_fast(2)
@pytest.mark.parametrize("tenths", TENTHS)
def test_tedeval_and_popeval_ignore_what_is_above_the_threshold_of_dont_care(tenths: int) -> None:
    word, cover = sides(lambda one: one.start(tenths), dont_care=True)
    for less, kind in ((0.0, FALSE_POSITIVE), (STEP, IGNORED)):
        threshold = tenths / 10 - less
        assert_all(matched("tedeval", cover, word, t_r=1.0, t_p=threshold).det, [kind])
        assert_all(matched("popeval", cover, word, dont_care_overlap=threshold).det, [kind])


@pytest.mark.few_fast(2)
@pytest.mark.parametrize("tenths", TENTHS[2:])
def test_tedeval_ignores_by_a_sum_at_the_threshold(tenths: int) -> None:
    for pair in pairs_of(tenths):
        word, covers = sides(*pair, dont_care=True)
        assert_all(matched("tedeval", covers, word, t_r=0.0, t_p=tenths / 10).det, [IGNORED])
        assert_all(
            matched("tedeval", covers, word, t_r=0.0, t_p=tenths / 10 + STEP).det, [FALSE_POSITIVE]
        )


@pytest.mark.few_fast(2)
@pytest.mark.parametrize("tenths", TENTHS)
def test_cleval_by_the_paper_matches_at_the_threshold(tenths: int) -> None:
    word, cover = sides(lambda one: one.start(tenths), text="abcde")
    for more, kind in ((0.0, ONE_TO_ONE), (STEP, MISSED)):
        assert_all(
            matched("cleval", cover, word, area_precision=tenths / 10 + more, **PAPER).gt, [kind]
        )
    for pair in pairs_of(tenths):
        word, covers = sides(*pair)
        for more, kind in ((0.0, MANY_TO_ONE), (STEP, MISSED)):
            assert_all(
                matched("cleval", covers, word, area_precision=tenths / 10 + more, **PAPER).gt,
                [kind] * 2,
            )


@pytest.mark.few_fast(2)
@pytest.mark.parametrize("tenths", TENTHS)
def test_cleval_by_the_paper_ignores_what_is_above_the_threshold_of_dont_care(tenths: int) -> None:
    for covers in ((lambda one: one.start(tenths),), *pairs_of(tenths)):
        word, dont_care = sides(*covers, dont_care=True)
        for less, kind in ((0.0, FALSE_POSITIVE), (STEP, IGNORED)):
            assert_all(
                matched("cleval", dont_care, word, area_precision=tenths / 10 - less, **PAPER).det,
                [kind],
            )


def test_popeval_takes_the_first_of_equal_shares() -> None:
    word, covers = sides(lambda one: one.end(2), lambda one: one.start(4), lambda one: one.end(4))
    removed = matched("popeval", word, covers).det.values["removed_characters"]
    assert removed.reshape(-1, 3).tolist() == [[0, 1, 0]] * len(WORDS)
