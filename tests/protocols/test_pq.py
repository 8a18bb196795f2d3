"""PQ: the definition written out, unions of words, and single cases."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import Accumulator, image_objects
from evaltex_cli.errors import InputError
from evaltex_cli.protocols.base import Evidence
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.protocols.pq import PROTOCOL, Parameters
from evaltex_cli.records import ImageBatch, Objects, concatenate

Ring = Sequence[tuple[float, float]]
Object = tuple[list[Ring], str, bool]
"""The polygons of a word, line or paragraph, its text, and whether it is don't care."""


def plain_totals(gt: list[Object], det: list[Object], text: bool = False) -> dict[str, float]:
    """The counts and the sum of IoUs of an image."""
    cared = [(union(rings), read) for rings, read, dont_care in gt if not dont_care]
    others = [union(rings) for rings, _, dont_care in gt if dont_care]
    found = [(union(rings), read) for rings, read, _ in det]
    counted = [
        (shape, read)
        for shape, read in found
        if all(shape.intersection(g).area <= 0.5 * shape.area for g in others)
    ]
    table = [[iou(g, d) for d, _ in counted] for g, _ in cared]
    pairs = []
    for i, row in enumerate(table):
        for j, value in enumerate(row):
            column = [other[j] for other in table]
            if value > 0.5 and row.index(max(row)) == j and column.index(max(column)) == i:
                pairs.append((i, j))
    if text:
        pairs = [(i, j) for i, j in pairs if cared[i][1] == counted[j][1]]
    return {
        "counted_gt_objects": len(cared),
        "counted_detections": len(counted),
        "pairs": len(pairs),
        "iou_sum": sum(table[i][j] for i, j in pairs),
    }


def union(rings: list[Ring]) -> Any:
    return shapely.union_all([shapely.Polygon(ring) for ring in rings])


def iou(one: Any, other: Any) -> float:
    value: float = one.intersection(other).area / one.union(other).area
    return round(value, 9)


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


def evidence_of(scenes: list[tuple[list[Object], list[Object]]], **given: Any) -> Evidence:
    gt, det = (concatenate([in_columns(scene[side]) for scene in scenes]) for side in (0, 1))
    batch = ImageBatch([f"{k}" for k in range(len(scenes))], np.zeros((len(scenes), 2)), gt, det)
    return Measured(batch).evidence(PROTOCOL, Parameters(**given))


@settings(deadline=None, derandomize=True, max_examples=20)
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
    found = evidence_of([(gt, det)], objects="regions")
    gt_side, det_side = found.matches
    assert gt_side.types.tolist() == [0, 0, 4, 6, 6]
    assert gt_side.offsets.tolist() == [0, 3, 6, 6, 6, 6]
    assert gt_side.partners.tolist() == [1, 2, 3] * 2
    assert det_side.types.tolist() == [6, 0, 0, 0, 5]
    assert det_side.partners.tolist() == [0, 1] * 3
    assert det_side.values["iou"].tolist()[1:] == [1, 1, 1, 0]
    nothing = evidence_of([(gt, [])], objects="regions")
    assert nothing.matches.gt.offsets.tolist() == [0] * 6


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


# Pixels -------------------------------------------------------------------------------------------


def pixel_totals(gt: Any, det: Any, size: Any = (60, 60), **given: Any) -> dict[str, Any]:
    accumulator = Accumulator("pq", areas="pixels", **given)
    accumulator.update(gt, det, size=size)
    return accumulator.compute().totals


def test_pixels_on_the_outline_count() -> None:
    """Corners are pixels: 11 x 6 of the object, 11 x 9 of the detection, which has all of it."""
    totals = pixel_totals([[10, 10, 20, 15]], [[10, 8, 20, 16]])
    assert totals["iou_sum"] == pytest.approx(66 / 99, abs=1e-12)


def test_pixels_beyond_the_image_do_not_count() -> None:
    """Of the detection 11 x 11 pixels are in the image, and 11 x 6 of the object."""
    totals = pixel_totals([[50, 10, 60, 15]], [[50, 10, 90, 20]], size=(60, 61))
    assert totals["iou_sum"] == pytest.approx(66 / 121, abs=1e-12)


@pytest.mark.parametrize(("bottom", "pairs"), [(19, 1), (20, 0)])
def test_half_is_enough_on_pixels(bottom: int, pairs: int) -> None:
    """5 rows of 10 are a pair, 5 of 11 are not."""
    assert pixel_totals([[10, 10, 20, 14]], [[10, 10, 20, bottom]])["pairs"] == pairs


@pytest.mark.parametrize(("right", "ignored"), [(19, 0), (35, 1)])
def test_half_in_dont_care_is_ignored_from_256_pixels_on(right: int, ignored: int) -> None:
    """Half of 10 x 10 or of 26 x 10 pixels; the program adds 0.00001 in single precision."""
    hidden = image_objects([[0, 0, 50, 14]], dont_care=[True])
    totals = pixel_totals(hidden, [[10, 10, right, 19]])
    assert totals["counted_detections"] == 1 - ignored


def test_what_pixels_need() -> None:
    one = [[0, 0, 9, 9]]
    with pytest.raises(InputError, match=r"no height and width.*--images"):
        pixel_totals(one, one, size=None)
    for missing, message in (
        ({"cv2": None}, r"pip install opencv-python-headless"),
        ({"cv2": SimpleNamespace(__version__="4.10.0")}, "OpenCV 4.11 or later.*this is 4.10.0"),
    ):
        with (
            mock.patch.dict(sys.modules, missing),
            pytest.raises(InputError, match=f"areas=pixels needs.*{message}"),
        ):
            pixel_totals(one, one)


@pytest.mark.parametrize("more", [{}, {"objects": "regions"}, {"areas": "pixels"}])
def test_label_pictures_have_no_regions(more: dict[str, str]) -> None:
    objects = image_objects(masks=np.ones((1, 9, 9), dtype=bool))
    accumulator = Accumulator("pq", **more)
    accumulator.update(objects, objects)
    if not more:
        assert accumulator.compute().scores == PERFECT
        return
    with pytest.raises(InputError, match="leave out the label pictures"):
        accumulator.compute()
