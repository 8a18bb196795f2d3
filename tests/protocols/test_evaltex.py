"""EvaLTex: the sample of the tool's page, and the properties that must hold of any input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_sample import DET, GT, run

from evaltex_cli import Accumulator, evaluate, image_objects

GOLDEN = Path(__file__).parents[1] / "golden"

CONFIGURATIONS: list[dict[str, Any]] = [
    {},
    {"region": False, "det_border": 0.0, "split": False},
    {"det_border": 0.1, "split_function": "paper", "hist_bin_nb": 7, "min_area": 30.0},
]


def test_sample_of_the_tool_page(tmp_path: Path) -> None:
    """The page's img_1: three of nine objects found, each by one detection.

    Object 1 (882 x 172, margin 1.72) lies inside detection 2 (34,40,886,175): coverage 1; the
    detection reaches x 34..920 and y 40..215, the grown object 36.28..921.72 and 41.28..216.72:
    accuracy (883.72 * 173.72) / (886 * 175).
    """
    result = run(tmp_path, GT, DET)
    objects = {one.id: one for one in result.images[0].objects}
    assert [i for i, one in objects.items() if one.match == "one-to-one"] == [1, 2, 8]
    assert objects[1].values["coverage"] == 1
    assert objects[1].values["accuracy"] == pytest.approx(883.72 * 173.72 / (886 * 175), abs=1e-12)
    assert result.scores["quantity_recall"] == pytest.approx(3 / 9)
    assert result.scores["quantity_precision"] == 1


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


@given(boxes(), boxes(), st.sampled_from(CONFIGURATIONS))
def test_scores_lie_within_0_and_1(
    gt: list[Any], det: list[Any], parameters: dict[str, Any]
) -> None:
    """Whatever the scene: every score, and every bin of a histogram."""
    for value in scores_of([(gt, det)], **parameters).values():
        assert all(0 <= v <= 1 for v in (value if isinstance(value, list) else [value]))


@given(st.lists(st.tuples(boxes(4), boxes(4)), max_size=4), st.randoms(use_true_random=False))
def test_image_order_changes_no_bit(pairs: list[tuple[Any, Any]], random: Any) -> None:
    """Sums are exact, so the order of images cannot be seen at all."""
    shuffled = list(pairs)
    random.shuffle(shuffled)
    assert scores_of(pairs) == scores_of(shuffled)


@given(boxes(), boxes(), st.randoms(use_true_random=False))
def test_detection_order_does_not_matter(gt: list[Any], det: list[Any], random: Any) -> None:
    """Detections are matched all at once; only ties among ground-truth
    objects look at the file's order.
    """
    shuffled = list(det)
    random.shuffle(shuffled)
    assert_close(scores_of([(gt, det)]), scores_of([(gt, shuffled)]))


@given(boxes(), boxes(), st.integers(-500, 500), st.integers(-500, 500))
def test_translation_does_not_matter(gt: list[Any], det: list[Any], dx: int, dy: int) -> None:
    moved = [
        [[x0 + dx, y0 + dy, x1 + dx, y1 + dy] for x0, y0, x1, y1 in side] for side in (gt, det)
    ]
    assert_close(scores_of([(gt, det)]), scores_of([(moved[0], moved[1])]))


@given(boxes(), boxes(), st.integers(2, 50))
def test_integer_scaling_does_not_matter(gt: list[Any], det: list[Any], factor: int) -> None:
    scaled = [[[factor * v for v in box] for box in side] for side in (gt, det)]
    assert_close(scores_of([(gt, det)]), scores_of([(scaled[0], scaled[1])]))


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


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=6))
def test_disjoint_objects_against_themselves_are_perfect(sizes: list[tuple[int, int]]) -> None:
    """Without overlapping ground truth nothing but one-to-one matches can
    arise, and all scores are 1.
    """
    gt = [[50 * k, 0, 50 * k + width, height] for k, (width, height) in enumerate(sizes)]
    scores = scores_of([(gt, gt)])
    assert all(value == 1 for name, value in scores.items() if "histogram" not in name)


@given(rectangles(5), rectangles(5), st.sampled_from([0.0, 0.1, 0.3]))
@settings(max_examples=50)
def test_a_rectangle_is_the_same_as_box_and_as_polygon(
    gt: list[Rectangle], det: list[Rectangle], det_border: float
) -> None:
    """Corners in drawing order, and a vertex more, as four corners of a box are a box; without
    regions, which polygons do not have.
    """

    def polygons(side: list[Rectangle]) -> Any:
        corners = [
            [(x, y), (x + w / 2, y), (x + w, y), (x + w, y + h), (x, y + h)] for x, y, w, h in side
        ]
        return image_objects(polygons=corners)

    as_boxes = [image_objects([[x, y, x + w, y + h] for x, y, w, h in side]) for side in (gt, det)]
    parameters = {"region": False, "det_border": det_border}
    assert_close(
        scores_of([(as_boxes[0], as_boxes[1])], **parameters),
        scores_of([(polygons(gt), polygons(det))], **parameters),
    )
