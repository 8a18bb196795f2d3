"""Coordinates that look like a misreading: which is guessed, and where none is."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.evaluation import coordinate_mixups
from evaltex_cli.evaluation.arrays import image_objects
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.old_formats.options import InputOptions
from evaltex_cli.records import ImageBatch, Outlines
from evaltex_cli.validation.validation import validate

GOLDEN = Path(__file__).parents[1] / "golden"
SIZE = np.array([480.0, 640.0])


def scene(seed, images=20, jitter=2.0):
    """Words of some images, and detections near them: some missed, some false."""
    rng = np.random.default_rng(seed)
    sides = []
    corners = [
        rng.uniform((20, 20), (400, 440), (int(rng.integers(2, 9)), 2)) for _ in range(images)
    ]
    words = [np.column_stack([c, c + rng.uniform((60, 15), (200, 35), c.shape)]) for c in corners]
    for noise, share in ((0.0, 1.0), (jitter, 0.8)):
        parts = [w[: max(1, round(share * len(w)))] + rng.normal(0, noise, (1, 4)) for w in words]
        joined = image_objects(
            np.sort(np.concatenate(parts).reshape(-1, 2, 2), axis=1).reshape(-1, 4)
        )
        sides.append(replace(joined, offsets=np.cumsum([0, *(len(part) for part in parts)])))
    return ImageBatch([f"img_{k}" for k in range(images)], np.tile(SIZE, (images, 1)), *sides)


def changed(batch, change):
    """The batch with other boxes of the detections."""
    return replace(batch, det=with_boxes(batch.det, change(batch.det.boxes)))


def guess(batch):
    """The words of the best misreading; None without any."""
    found = coordinate_mixups.best_misreading(batch)
    return found and str(found)


def with_boxes(objects, boxes):
    return replace(objects, outlines=Outlines.of_boxes(boxes))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda b: b[:, [1, 0, 3, 2]], "x and y are swapped in the detections"),
        (
            lambda b: np.hstack([b[:, :2], b[:, :2] + b[:, 2:]]),
            "in the detections are x1,y1 rather than width,height",
        ),
        (lambda b: b + np.tile((b[:, 2:] - b[:, :2]) / 2, 2), "in the detections are its centre"),
        (
            lambda b: np.column_stack([b[:, 0], 480 - b[:, 3], b[:, 2], 480 - b[:, 1]]),
            "from the bottom",
        ),
        (lambda b: b / 2, "another scale: they fit when multiplied by about 2 "),
        (lambda b: b * [3, 1.5, 3, 1.5], "multiplied by about 0.3"),
        (lambda b: b / [640, 480, 640, 480], "multiplied by about 6"),
    ],
)
def test_misread_coordinates_are_guessed(seed, change, words):
    batch = changed(scene(seed), change)
    assert words in guess(batch)
    assert "mean best IoU" in guess(batch)


@pytest.mark.parametrize("side", ["gt", "det"])
@pytest.mark.parametrize("least", [5e-324, 1e-310, 1e-300])
def test_the_smallest_numbers_overflow_nothing(side, least):
    """NumPy warns of an overflow, which is an error here; most boxes have the number as a side."""
    batch = scene(0)
    boxes = getattr(batch, side).boxes.copy()
    boxes[: len(boxes) * 3 // 4, :2] = least
    batch = replace(batch, **{side: with_boxes(getattr(batch, side), boxes)})
    guess(changed(batch, lambda boxes: boxes / 2))


def test_fractions_and_resized_pictures_of_many_sizes():
    rng = np.random.default_rng(4)
    batch = scene(4, images=40)
    factors = rng.uniform(0.5, 3, (40, 2))
    own = np.tile(factors, 2)
    sizes = SIZE * factors[:, ::-1]
    gt = with_boxes(batch.gt, batch.gt.boxes * own[batch.gt.image])
    grown = replace(batch, sizes=sizes, gt=gt)
    fractions = changed(grown, lambda b: b / [640, 480, 640, 480])
    assert "fractions of the picture's width and height" in guess(fractions)
    assert re.search(r"pictures resized to about 6(39|4[01]) x 4(79|8[01]) ", guess(grown))


@pytest.mark.parametrize(
    ("step", "words"), [(1, "those of the image before"), (-1, "those of the image after")]
)
def test_shifted_images_are_guessed(step, words):
    batch = scene(5)
    bounds = batch.det.offsets
    parts = [batch.det.boxes[bounds[k] : bounds[k + 1]] for k in range(20)]
    moved = [np.zeros((0, 4)), *parts[:-1]] if step == 1 else [*parts[1:], np.zeros((0, 4))]
    det = image_objects(np.concatenate(moved))
    det = replace(det, offsets=np.cumsum([0, *(len(part) for part in moved)]))
    assert words in guess(replace(batch, det=det))


@pytest.mark.parametrize("seed", range(5))
def test_no_guess_where_the_sides_agree_or_have_nothing_in_common(seed):
    batch = scene(seed)
    assert guess(batch) is None
    assert guess(replace(batch, det=scene(seed + 100).det)) is None


@settings(deadline=None, derandomize=True, max_examples=20)
@given(st.integers(0, 1000), st.floats(0.01, 100))
def test_agreement_is_a_share_and_does_not_depend_on_scale(seed, factor):
    batch = scene(seed, images=3)
    value = coordinate_mixups.agreement(batch)
    assert 0 <= value <= 1
    scaled = replace(
        changed(batch, lambda b: b * factor), gt=with_boxes(batch.gt, batch.gt.boxes * factor)
    )
    assert coordinate_mixups.agreement(scaled) == pytest.approx(value)


@pytest.mark.parametrize("name", ["scenes/quads-{}.zip", "totaltext/{}.zip"])
def test_no_false_alarm_on_whole_sets(name):
    gt, det = (GOLDEN / name.format(side) for side in ("gt", "det"))
    found = validate(gt, det)
    assert found.passed
    assert {pair.by for pair in found.pairs} == {"name"}
    assert "coordinates" not in {problem.kind for problem in found.problems}
    inputs = open_inputs(gt, det, InputOptions())
    batch = coordinate_mixups.sample(inputs.gt, inputs.det, inputs.paired)
    assert guess(batch) is None
    swapped = changed(batch, lambda b: b[:, [1, 0, 3, 2]])
    assert "x and y are swapped" in guess(swapped)
