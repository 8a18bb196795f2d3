"""PQ: the definition written out, unions of words, and single cases."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_pq import Object, Ring, plain_totals

from evaltex_cli import Accumulator, image_objects
from evaltex_cli.errors import InputError
from evaltex_cli.geometry.overlaps import measure
from evaltex_cli.protocols.base import Evidence
from evaltex_cli.protocols.pq import PROTOCOL, Parameters, evidence, scores
from evaltex_cli.records import ImageBatch, LabelRuns, Objects
from evaltex_cli.records.rows import concatenate

PERFECT = {"recall": 1.0, "precision": 1.0, "rq": 1.0, "sq": 1.0, "pq": 1.0}


def ring(x: int, y: int, width: int, height: int, lean: int = 0) -> Ring:
    return [(x + lean, y), (x + lean + width, y), (x + width, y + height), (x, y + height)]


def random_side(
    rng: random.Random, words: list[tuple[int, int, int, int]], is_gt: bool
) -> list[Object]:
    """Lines of words, moved a little, some twice; half of all words lean."""
    lines: list[Object] = []
    for start in range(0, len(words), 3):
        rings = [
            ring(x + rng.randint(-4, 4), y + rng.randint(-3, 3), w, h, rng.choice([0, 0, 3, 6]))
            for x, y, w, h in words[start : start + 3]
            for _ in range(rng.choice([0, 1, 1, 1, 2]))
        ]
        if rings:
            lines.append((rings, rng.choice(["one", "two"]), is_gt and rng.random() < 0.2))
    return lines


def random_scene(rng: random.Random) -> tuple[list[Object], list[Object]]:
    words = [
        (40 * (k % 3) + rng.randint(0, 8), 14 * (k // 3), rng.randint(15, 40), rng.randint(8, 16))
        for k in range(9)
    ]
    return random_side(rng, words, True), random_side(rng, words, False)


def in_columns(side: list[Object]) -> Objects:
    """All words of the lines; the first of each has its text, and the line is its region."""
    members = [
        (k, one, "" if n else text, dont_care)
        for k, (rings, text, dont_care) in enumerate(side, 1)
        for n, one in enumerate(rings)
    ]
    return image_objects(
        polygons=[one for _, one, _, _ in members],
        regions=np.array([k for k, _, _, _ in members], np.int64),
        texts=[text for _, _, text, _ in members],
        dont_care=np.array([dont_care for *_, dont_care in members], bool),
    )


def evidence_of(
    scenes: list[tuple[list[Object], list[Object]]], with_matches: bool = False, **given: Any
) -> Evidence:
    gt, det = (concatenate([in_columns(scene[side]) for scene in scenes]) for side in (0, 1))
    batch = ImageBatch([f"{k}" for k in range(len(scenes))], np.zeros((len(scenes), 2)), gt, det)
    return evidence(batch, measure(batch), Parameters(**given), with_matches)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 10**9), st.booleans(), st.booleans())
def test_agrees_with_the_definition(seed: int, united: bool, text: bool) -> None:
    rng = random.Random(seed)
    scenes = [random_scene(rng) for _ in range(4)]
    if not united:
        scenes = [
            tuple([([one], t, dont) for rings, t, dont in side for one in rings] for side in s)
            for s in scenes
        ]  # type: ignore[misc]
    found = evidence_of(scenes, objects="regions" if united else "each", text=text)
    for row, scene in zip(found.tally.rows(), scenes, strict=True):
        expected = plain_totals(*scene, text)
        ours = row.as_dict()
        assert {name: ours[name] for name in expected} == pytest.approx(expected, abs=1e-6)


def test_words_of_a_region_are_one_object() -> None:
    """Two words of a line, found as one piece: each alone is missed, the line
    is found with an IoU of 200 / 220.
    """
    gt = image_objects([[0, 0, 10, 10], [12, 0, 22, 10]], regions=[1, 1])
    det = image_objects([[0, 0, 22, 10]])
    for how, pq in (("each", 0.0), ("regions", 200 / 220)):
        accumulator = Accumulator("pq", objects=how)
        accumulator.update(gt, det)
        assert accumulator.compute().scores["pq"] == pytest.approx(pq)


def test_matches_of_members_are_those_of_their_regions() -> None:
    """A line of two words found by a line of three; a missed line; a line in
    don't care; a false one.
    """
    gt: list[Object] = [
        ([ring(0, 0, 10, 10), ring(12, 0, 10, 10)], "", False),
        ([ring(0, 50, 10, 10)], "", False),
        ([ring(100, 0, 10, 10), ring(112, 0, 10, 10)], "", True),
    ]
    det: list[Object] = [
        ([ring(100, 0, 10, 10)], "", False),
        ([ring(0, 0, 6, 10), ring(6, 0, 4, 10), ring(12, 0, 10, 10)], "", False),
        ([ring(300, 0, 10, 10)], "", False),
    ]
    found = evidence_of([(gt, det)], True, objects="regions")
    assert found.matches is not None
    gt_side, det_side = found.matches
    assert gt_side.types.tolist() == [0, 0, 4, 6, 6]
    assert gt_side.offsets.tolist() == [0, 3, 6, 6, 6, 6]
    assert gt_side.partners.tolist() == [1, 2, 3] * 2
    assert det_side.types.tolist() == [6, 0, 0, 0, 5]
    assert det_side.partners.tolist() == [0, 1] * 3
    assert det_side.values["iou"].tolist()[1:] == [1, 1, 1, 0]
    nothing = evidence_of([(gt, [])], True, objects="regions")
    assert nothing.matches is not None
    assert nothing.matches.gt.offsets.tolist() == [0] * 6


def test_a_region_of_two_images_is_two_regions() -> None:
    line: list[Object] = [([ring(0, 0, 10, 10)], "", False)]
    found = evidence_of([(line, line), (line, line)], objects="regions")
    assert found.tally.pairs.tolist() == [1, 1]  # type: ignore[attr-defined]


def test_a_region_with_a_member_that_is_dont_care_is_dont_care() -> None:
    gt = image_objects([[0, 0, 10, 10], [12, 0, 22, 10]], regions=[1, 1], dont_care=[False, True])
    accumulator = Accumulator("pq", objects="regions")
    accumulator.update(gt, image_objects([[0, 0, 22, 10]]))
    assert accumulator.compute().totals["counted_gt_objects"] == 0


def test_each_side_must_be_the_best_of_the_other() -> None:
    """Of two detections that fit a word only the better one is its pair, whatever their order."""
    for boxes in ([[0, 0, 90, 20], [0, 0, 100, 20]], [[0, 0, 100, 20], [0, 0, 90, 20]]):
        accumulator = Accumulator("pq")
        accumulator.update(image_objects([[0, 0, 100, 20]]), image_objects(boxes))
        assert accumulator.compute().scores == pytest.approx(
            PERFECT | {"precision": 0.5, "rq": 2 / 3, "pq": 2 / 3}
        )


@pytest.mark.parametrize(
    ("gt", "det", "expected"),
    [
        ([], [], PERFECT),
        ([[0, 0, 9, 9]], [], PERFECT | {"recall": 0, "rq": 0, "pq": 0}),
        ([], [[0, 0, 9, 9]], PERFECT | {"precision": 0, "rq": 0, "pq": 0}),
    ],
)
@pytest.mark.parametrize("how", ["each", "regions"])
def test_empty_cases(
    gt: list[list[int]], det: list[list[int]], expected: dict[str, float], how: str
) -> None:
    accumulator = Accumulator("pq", objects=how)
    accumulator.update(image_objects(gt or None), image_objects(det or None))
    assert accumulator.compute().scores == expected


def test_texts_of_a_line_are_its_words_with_blanks_between() -> None:
    boxes = [[0, 0, 10, 10], [12, 0, 22, 10]]
    gt = image_objects(boxes, regions=[1, 1], texts=["two", "words"])
    for text, pairs in (("two words", 1), ("twowords", 0), ("Two words", 0)):
        accumulator = Accumulator("pq", objects="regions", text=True)
        accumulator.update(gt, image_objects([[0, 0, 22, 10]], texts=[text]))
        assert accumulator.compute().totals["pairs"] == pairs


def test_regions_of_label_pictures_are_refused() -> None:
    none = np.zeros(0, np.int64)
    runs = LabelRuns(none, none, none, 1, 1)
    one = image_objects([[0, 0, 9, 9]])
    batch = ImageBatch(["i"], np.ones((1, 2)), one, one, runs, runs)
    with pytest.raises(InputError, match="objects=regions does not work on label pictures"):
        evidence(batch, measure(batch), Parameters(objects="regions"), False)
    assert (
        scores(evidence(batch, measure(batch), Parameters(), False).tally, Parameters())["recall"]
        == 0
    )
    assert PROTOCOL.takes_masks
