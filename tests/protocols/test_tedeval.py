"""TedEval: cases worked out by hand."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from evaltex_cli import Accumulator, image_objects
from evaltex_cli.geometry.overlaps import measure
from evaltex_cli.protocols import tedeval
from evaltex_cli.protocols.base import Evidence
from evaltex_cli.records import ImageBatch, Objects, concatenate


class Word(NamedTuple):
    box: tuple[float, float, float, float]
    text: str = ""
    dont_care: bool = False


def as_objects(words: list[Word]) -> Objects:
    boxes, texts, dont_care = zip(*words, strict=True) if words else ([], [], [])
    return image_objects(
        np.array(boxes, float).reshape(-1, 4), texts=list(texts), dont_care=list(dont_care)
    )


def evidence_of(*scenes: tuple[list[Word], list[Word]]) -> Evidence:
    gt, det = (concatenate([as_objects(scene[side]) for scene in scenes]) for side in (0, 1))
    batch = ImageBatch(
        [f"img_{k}" for k in range(len(scenes))], np.zeros((len(scenes), 2)), gt, det
    )
    parameters = tedeval.Parameters()
    return tedeval.evidence(
        batch, measure(batch, tedeval.PROTOCOL.convention(parameters)), parameters
    )


def score(gt: list[Word], det: list[Word]) -> dict[str, Any]:
    accumulator = Accumulator("tedeval")
    accumulator.update(as_objects(gt), as_objects(det))
    return accumulator.compute().scores


def box(
    x0: float, y0: float, x1: float, y1: float, text: str = "", dont_care: bool = False
) -> Word:
    return Word((x0, y0, x1, y1), text, dont_care)


WORD = box(0, 0, 100, 20, "word")


@pytest.mark.parametrize(
    ("det", "recall", "precision"),
    [
        ([box(0, 0, 100, 20)], 1, 1),
        ([box(0, 0, 50, 20), box(50, 0, 100, 20)], 1, 1 / 2),
        ([box(0, 0, 60, 20), box(40, 0, 100, 20)], 1, 1 / 2),
        ([box(0, 0, 70, 20), box(30, 0, 100, 20)], 1 / 2, 3 / 4),
        ([box(0, 0, 100, 20)] * 2, 0, 1),
        ([box(0, 0, 40, 20)], 1 / 2, 1 / 2),
        ([box(0, 0, 39, 20)], 0, 0),
        ([box(0, 0, 250, 20)], 1, 1),
        ([box(0, 0, 251, 20)], 0, 0),
        ([box(0, 0, 50, 20), box(50, 0, 100, 20), box(0, 100, 9, 109)], 1, 1 / 3),
    ],
)
def test_one_word(det: list[Word], recall: float, precision: float) -> None:
    found = score([WORD], det)
    assert (found["recall"], found["precision"]) == pytest.approx((recall, precision))


def test_left_and_top_edges_contain_a_character() -> None:
    right_half, left_half = box(50, 0, 100, 20), box(0, 0, 50, 20)
    odd = box(0, 0, 100, 20, "abc")
    assert score([odd], [right_half])["recall"] == pytest.approx(2 / 3)
    assert score([odd], [left_half])["recall"] == pytest.approx(1 / 3)


def test_a_merge_over_two_lines_is_dropped() -> None:
    below, right = box(0, 20, 100, 40, "line"), box(110, 0, 210, 20, "next")
    assert score([WORD, below], [box(0, 0, 100, 40)])["recall"] == 0
    assert score([WORD, right], [box(0, 0, 210, 20)])["recall"] == 1


def test_a_high_word_is_read_downwards() -> None:
    upper = [box(0, 0, 20, 50)]
    assert score([box(0, 0, 20, 100, "word")], upper)["recall"] == pytest.approx(1 / 2)
    assert score([box(0, 0, 80, 100, "word")], [box(0, 0, 80, 50)])["recall"] == 0


def test_dont_care_is_cut_off_a_detection() -> None:
    rest = box(100, 0, 400, 20, dont_care=True)
    assert score([WORD], [box(0, 0, 260, 20)])["recall"] == 0
    assert score([WORD, rest], [box(0, 0, 160, 20)]) == {"recall": 1, "precision": 1, "hmean": 1}
    assert score([WORD, rest], [box(0, 0, 260, 20)]) == {"recall": 0, "precision": 0, "hmean": 0}


def test_an_empty_transcription_counts_and_is_reported() -> None:
    both = [WORD, box(0, 50, 90, 70)]
    found = evidence_of((both, both), ([WORD], [WORD]))
    assert found.tally.recall_credit.tolist() == [1, 1]
    assert found.tally.counted_gt_objects.tolist() == [2, 1]
    (warning,) = found.warnings
    assert "img_0" in str(warning) and "img_1" not in str(warning)


@pytest.mark.parametrize(
    ("gt", "det", "expected"),
    [
        ([], [], (1, 1)),
        ([], [WORD], (1, 0)),
        ([box(0, 0, 100, 20, "x", True)], [WORD], (1, 1)),
        ([WORD], [], (0, 0)),
    ],
)
def test_images_without_objects(
    gt: list[Word], det: list[Word], expected: tuple[float, float]
) -> None:
    found = evidence_of((gt, det))
    scores = tedeval.PROTOCOL.image_scores(next(found.tally.rows()), tedeval.Parameters())
    assert (scores["recall"], scores["precision"]) == expected


def test_characters_of_a_curved_word_follow_it() -> None:
    angles = np.linspace(np.pi, 0, 9)
    outer = np.stack([100 + 100 * np.cos(angles), 120 - 100 * np.sin(angles)], axis=1)
    inner = np.stack([100 + 80 * np.cos(angles), 120 - 80 * np.sin(angles)], axis=1)
    ring = np.round(np.concatenate([outer, inner[::-1]]))
    accumulator = Accumulator("tedeval")
    accumulator.update(
        image_objects(polygons=[ring], texts=["curved words"]), image_objects(polygons=[ring])
    )
    assert accumulator.compute().scores["recall"] == 1


def test_a_triangle_is_found() -> None:
    """Its upper side is a point; the middle line begins there."""
    triangle = np.array([[0, 0], [60, 0], [0, 30]])
    assert scored([triangle], [triangle])["recall"] == 1


def scored(gt: list[np.ndarray], det: list[np.ndarray]) -> dict[str, Any]:
    accumulator = Accumulator("tedeval")
    accumulator.update(image_objects(polygons=gt, texts=["word"] * len(gt)), det)
    return accumulator.compute().scores
