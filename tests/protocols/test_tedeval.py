"""TedEval: a plain reference, and what must hold of any scene."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
import reference_tedeval as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_tedeval import Word

from evaltex_cli import Accumulator, image_objects
from evaltex_cli.geometry.overlaps import measure
from evaltex_cli.protocols import tedeval
from evaltex_cli.protocols.base import Evidence
from evaltex_cli.protocols.matches import MATCH_TYPES
from evaltex_cli.records import ImageBatch, Objects
from evaltex_cli.records.rows import concatenate

quick = settings(deadline=None, derandomize=True, max_examples=60)
seeds = st.integers(0, 2**32)


# Scenes -------------------------------------------------------------------------------------------


def quad(
    rng: random.Random, s0: float, s1: float, v0: float, v1: float, angle: float
) -> tuple[Any, ...]:
    cos, sin = math.cos(angle), math.sin(angle)
    corners = ((s0, v0), (s1, v0), (s1, v1), (s0, v1))
    return tuple((round(60 + s * cos - v * sin), round(60 + s * sin + v * cos)) for s, v in corners)


def scene(seed: int) -> tuple[list[Word], list[Word]]:
    """Lines of words, some don't care, with detections that repeat, crop,
    cut, join or miss them.
    """
    rng = random.Random(seed)
    angle = rng.choice([0.0, 0.0, math.pi / 2, 0.3, 2.0])
    gt, det = [], []
    for line in range(rng.randint(1, 3)):
        s, v = rng.randint(0, 20), line * rng.randint(8, 25)
        stretches = []
        for _ in range(rng.randint(0, 4)):
            length = rng.randint(4, 50)
            height = rng.choice([10, 20, 80])
            stretches.append((s, s + length, v, v + height))
            text = "".join(
                rng.choice("abc ") for _ in range(rng.randint(0 if rng.random() < 0.1 else 1, 7))
            )
            gt.append(Word(quad(rng, *stretches[-1], angle), text, rng.random() < 0.25))
            s += length + rng.randint(-3, 8)
        for s0, s1, v0, v1 in stretches:
            for _ in range(rng.choice([0, 1, 1, 1, 2])):
                cuts = sorted(rng.uniform(s0, s1) for _ in range(rng.choice([0, 0, 1, 2])))
                for a, b in zip([s0, *cuts], [*cuts, s1], strict=True):
                    jitter = [rng.choice([0, 0, -3, 2]) for _ in range(4)]
                    if b + jitter[1] > a + jitter[0]:
                        det.append((a + jitter[0], b + jitter[1], v0 + jitter[2], v1 + jitter[3]))
        if len(stretches) > 1 and rng.random() < 0.5:
            det.append((stretches[0][0], stretches[-1][1], stretches[0][2], stretches[0][3]))
    if rng.random() < 0.3:
        det.append((0, 150, 0, 60))
    rng.shuffle(det)
    return gt, [Word(quad(rng, *place, angle)) for place in det]


def valid(words: list[Word]) -> list[Word]:
    return [word for word in words if reference.Polygon(word.points).is_valid]


def as_objects(words: list[Word]) -> Objects:
    """Words as polygons, or as boxes where all are."""
    texts, dont_care = [word.text for word in words], [word.dont_care for word in words]
    boxes = [(*word.points[0], *word.points[2]) for word in words]
    upright = [((x0, y0), (x1, y0), (x1, y1), (x0, y1)) for x0, y0, x1, y1 in boxes]
    if upright == [word.points for word in words]:
        return image_objects(
            np.array(boxes, float).reshape(-1, 4), texts=texts, dont_care=dont_care
        )
    return image_objects(polygons=[word.points for word in words], texts=texts, dont_care=dont_care)


def batch_of(scenes: list[tuple[list[Word], list[Word]]]) -> ImageBatch:
    gt, det = (
        concatenate([as_objects(side) for side in sides]) for sides in zip(*scenes, strict=True)
    )
    return ImageBatch([f"img_{k}" for k in range(len(scenes))], np.zeros((len(scenes), 2)), gt, det)


def evidence_of(batch: ImageBatch, **parameters: float) -> Evidence:
    found = tedeval.Parameters(**parameters)
    return tedeval.evidence(batch, measure(batch, tedeval.convention(found)), found, True)


def score(gt: list[Word], det: list[Word]) -> dict[str, Any]:
    accumulator = Accumulator("tedeval")
    accumulator.update(as_objects(gt), as_objects(det))
    return accumulator.compute().scores


@given(
    st.lists(seeds, min_size=1, max_size=6),
    st.sampled_from([0.4, 0.4, 0.0, 0.7]),
    st.sampled_from([1.0, 0.3]),
)
@quick
def test_agrees_with_the_reference(numbers: list[int], threshold: float, center: float) -> None:
    scenes = [tuple(valid(side) for side in scene(seed)) for seed in numbers]
    batch = batch_of(scenes)
    found = evidence_of(batch, t_r=threshold, t_p=threshold, center=center)
    expected = [reference.evaluate(gt, det, threshold, threshold, center) for gt, det in scenes]
    assert found.matches is not None
    side = found.matches.det
    gt_start, det_start = batch.gt.offsets, batch.det.offsets
    for k, image in enumerate(expected):
        objects, detections = (
            slice(gt_start[k], gt_start[k + 1]),
            slice(det_start[k], det_start[k + 1]),
        )
        ignored = [MATCH_TYPES[code] == "ignored" for code in side.types[detections]]
        assert ignored == image.ignored
        pairs = {
            (int(i - gt_start[k]), j)
            for j in range(det_start[k + 1] - det_start[k])
            for i in side.partners[
                side.offsets[det_start[k] + j] : side.offsets[det_start[k] + j + 1]
            ]
        }
        assert pairs == image.pairs
        assert np.nan_to_num(found.matches.gt.values["recall"][objects]) == pytest.approx(
            image.recall, abs=1e-12
        )
        assert np.nan_to_num(side.values["precision"][detections]) == pytest.approx(
            image.precision, abs=1e-12
        )
        assert found.tally.recall_credit[k] == pytest.approx(sum(image.recall), abs=1e-9)
        assert found.tally.precision_credit[k] == pytest.approx(sum(image.precision), abs=1e-9)
        assert found.tally.counted_detections[k] == image.ignored.count(False)


def test_scenes_have_all_kinds_of_matches() -> None:
    types: set[str] = set()
    for seed in range(60):
        found = evidence_of(batch_of([tuple(valid(side) for side in scene(seed))]))
        assert found.matches is not None
        types |= {
            MATCH_TYPES[code]
            for side in (found.matches.gt, found.matches.det)
            for code in side.types
        }
    assert types == set(MATCH_TYPES)


@given(st.lists(seeds, min_size=2, max_size=5))
@quick
def test_an_image_counts_the_same_in_any_batch(numbers: list[int]) -> None:
    scenes = [tuple(valid(side) for side in scene(seed)) for seed in numbers]
    together = evidence_of(batch_of(scenes)).tally.as_dict()
    for k, alone in enumerate(scenes):
        assert {n: c[k] for n, c in together.items()} == {
            n: c[0] for n, c in evidence_of(batch_of([alone])).tally.as_dict().items()
        }


# Single rules -------------------------------------------------------------------------------------


def box(
    x0: float, y0: float, x1: float, y1: float, text: str = "", dont_care: bool = False
) -> Word:
    return Word(((x0, y0), (x1, y0), (x1, y1), (x0, y1)), text, dont_care)


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
    found = evidence_of(
        batch_of([([WORD, box(0, 50, 90, 70)], [WORD, box(0, 50, 90, 70)]), ([WORD], [WORD])])
    )
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
    found = evidence_of(batch_of([(gt, det)]))
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


def test_many_members_of_a_merge() -> None:
    words = [box(10 * k, 0, 10 * k + 8, 10, "ab") for k in range(1500)]
    assert score(words, [box(0, 0, 15000, 10)])["recall"] == 1


def test_an_outline_without_diagonals_is_near_nothing() -> None:
    """Its opposite corners are the same; the distance of centres is a share of the diagonals."""
    ring = [(0, 0), (30, 0), (0, 20), (0, 0), (10, 30), (0, 20)]
    twisted = image_objects(None, [ring], texts=["word"])
    accumulator = Accumulator("tedeval")
    accumulator.update(twisted, twisted)
    assert accumulator.compute().scores["recall"] == 0


@pytest.mark.parametrize("far", [1e7, 1e9, -1e11])
def test_places_far_from_the_origin_are_as_near_it(far: float) -> None:
    """Of a word that is found, and of words next to each other that are merged."""
    word = np.array([[0, 0], [60, 4], [60, 24], [0, 20]])
    words = [word + place for place in ([0, 0], [0, 100], [70, 105])]
    both = np.array([[-2, 98], [134, 105], [134, 132], [-2, 122]])
    here, there = (
        scored([ring + origin for ring in words], [ring + origin for ring in (word + 1, both)])
        for origin in (0.0, far)
    )
    assert there == here
    assert here["recall"] == 1.0


def scored(gt: list[np.ndarray], det: list[np.ndarray]) -> dict[str, Any]:
    accumulator = Accumulator("tedeval")
    accumulator.update(image_objects(polygons=gt, texts=["word"] * len(gt)), det)
    return accumulator.compute().scores
