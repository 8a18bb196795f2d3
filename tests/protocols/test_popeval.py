"""PopEval: its rules, and what must hold of any page; official figures are in tests/golden."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.api.arrays import image_objects
from evaltex_cli.protocols import popeval
from evaltex_cli.protocols.base import Evidence
from evaltex_cli.protocols.matching import MATCH_TYPES
from evaltex_cli.records import ImageBatch, concatenate

quick = settings(deadline=None, derandomize=True, max_examples=80)
seeds = st.integers(0, 2**32)


class Word(NamedTuple):
    points: tuple[tuple[float, float], ...]
    text: str
    dont_care: bool = False


Scene = tuple[list[Word], list[Word]]


# Scenes -------------------------------------------------------------------------------------------


def word(rng: random.Random, text: str, dont_care: bool = False) -> Word:
    """A word on a coarse grid, so that words touch, coincide and tie; some
    are slanted, some have no area.
    """
    x, y = 5 * rng.randint(0, 6), 5 * rng.randint(0, 6)
    width, height, slant = rng.choice([0, 5, 10, 20]), rng.choice([5, 5, 10]), rng.choice([0, 0, 5])
    points = ((x, y), (x + width, y + slant), (x + width, y + height + slant), (x, y + height))
    return Word(points, text, dont_care)


def scene(seed: int) -> Scene:
    rng = random.Random(seed)

    def text() -> str:
        return "".join(rng.choice("aabcD") for _ in range(rng.randint(0, 6)))

    gt = [word(rng, text(), rng.random() < 0.15) for _ in range(rng.randint(0, 8))]
    det = [word(rng, text()) for _ in range(rng.randint(0, 8))]
    det += [Word(found.points, text()) for found in gt if rng.random() < 0.4]
    return gt, det


def batch_of(scenes: list[Scene], **more: Any) -> ImageBatch:
    gt, det = (
        concatenate(
            [
                image_objects(
                    polygons=[found.points for found in words],
                    texts=[found.text for found in words],
                    dont_care=[found.dont_care for found in words],
                )
                for words in side
            ]
        )
        for side in zip(*scenes, strict=True)
    )
    return ImageBatch(
        [f"img_{k}" for k in range(len(scenes))], np.zeros((len(scenes), 2)), gt, det, **more
    )


def evidence_of(batch: ImageBatch) -> Evidence:
    return popeval.evidence(batch, None, popeval.Parameters())


def score(gt: list[Word], det: list[Word]) -> dict[str, Any]:
    found = evidence_of(batch_of([(gt, det)]))
    return popeval.image_scores(next(found.tally.rows()), popeval.Parameters())


@given(seeds)
@quick
def test_no_character_is_removed_twice(seed: int) -> None:
    gt, det = scene(seed)
    found = evidence_of(batch_of([(gt, det)]))
    for side in (found.matches.gt, found.matches.det):
        removed, characters = (
            np.nan_to_num(side.values[n]) for n in ("removed_characters", "characters")
        )
        assert (removed <= characters).all()
        assert removed.sum() == found.tally.removed_characters[0]


def test_scenes_have_all_kinds_of_matches() -> None:
    found = evidence_of(batch_of([scene(seed) for seed in range(60)])).matches
    assert {*found.gt.types.tolist(), *found.det.types.tolist()} == {*range(len(MATCH_TYPES))}


# Single rules -------------------------------------------------------------------------------------


def box(
    x0: float, y0: float, x1: float, y1: float, text: str = "", dont_care: bool = False
) -> Word:
    return Word(((x0, y0), (x1, y0), (x1, y1), (x0, y1)), text, dont_care)


def test_the_example_of_the_paper() -> None:
    found = [box(0, 0, 20, 20, "OP"), box(30, 0, 70, 20, "EVAL")]
    scores = score([box(0, 0, 70, 20, "POPEVAL")], found)
    assert (scores["precision"], scores["removed_characters"]) == (1, 6)
    assert scores["recall"] == pytest.approx(6 / 7)


def test_touching_is_enough() -> None:
    assert score([box(0, 0, 10, 10, "a")], [box(10, 10, 20, 20, "a")])["recall"] == 1
    assert score([box(0, 0, 10, 10, "a")], [box(11, 10, 20, 20, "a")])["recall"] == 0


def test_coordinates_are_cut() -> None:
    assert score([box(0, 0, 10.9, 10, "a")], [box(11, 0, 20, 10, "a")])["recall"] == 0
    assert score([box(0, 0, 10, 10, "a")], [box(10.9, 0, 20, 10, "a")])["recall"] == 1


def test_case_counts() -> None:
    scores = score([box(0, 0, 10, 10, "Word")], [box(0, 0, 10, 10, "wORD")])
    assert scores["removed_characters"] == 0


def test_a_word_with_one_candidate_comes_first() -> None:
    near, far = box(0, 0, 10, 10, "a"), box(10, 0, 20, 10, "a")
    scores = score([near, far], [box(8, 0, 20, 10, "a"), box(0, 0, 5, 10, "a")])
    assert scores["recall"] == 1


def test_equal_candidates_are_taken_one_after_another() -> None:
    halves = [box(0, 0, 10, 10, "abc"), box(10, 0, 20, 10, "abcd")]
    found = evidence_of(batch_of([([box(0, 0, 20, 10, "abcd")], halves)]))
    assert found.matches.det.values["removed_characters"].tolist() == [3, 1]


def test_detections_in_dont_care_are_ignored() -> None:
    hidden = box(0, 0, 100, 20, "secret", True)
    half, more = box(90, 0, 110, 20, "half"), box(89, 0, 110, 20, "more")
    found = evidence_of(batch_of([([hidden], [half, more])]))
    assert found.tally.det_characters.tolist() == [4]
    assert found.tally.gt_characters.tolist() == [0]


def test_only_images_of_both_sides_are_compared() -> None:
    words = [box(0, 0, 10, 10, "a")]
    batch = batch_of([(words, words), (words, [])], in_detections=np.array([True, False]))
    found = evidence_of(batch)
    assert found.tally.gt_characters.tolist() == [1, 0]
    assert found.tally.compared_images.tolist() == [1, 0]
    assert popeval.image_scores(list(found.tally.rows())[1], popeval.Parameters())["recall"] == 0


@pytest.mark.parametrize(
    ("gt", "det", "expected"),
    [
        ([], [], (1, 1)),
        ([], ["a"], (1, 0)),
        ([""], [], (1, 1)),
        (["a"], [], (0, 0)),
        (["a"], [""], (0, 0)),
    ],
)
def test_images_without_text(gt: list[str], det: list[str], expected: tuple[float, float]) -> None:
    scores = score(*([box(0, 0, 10, 10, text) for text in side] for side in (gt, det)))
    assert (scores["recall"], scores["precision"]) == expected
