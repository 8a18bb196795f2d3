"""IoU as other data sets' programs have it: rectangles turned back
(MSRA-TD500), and the best object (CTW1500).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import Accumulator, evaluate, image_objects
from evaltex_cli.errors import ConfigError, InputError
from evaltex_cli.protocols.iou import pair
from evaltex_cli.protocols.matching import are_best

quick = settings(deadline=None, derandomize=True, max_examples=60)


def turned(left: float, top: float, right: float, bottom: float, degrees: float) -> np.ndarray:
    """The corners of a rectangle turned about its centre."""
    centre, angle = np.array([(left + right) / 2, (top + bottom) / 2]), math.radians(degrees)
    back = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
    return np.asarray((corners - centre) @ back + centre)


def pairs(gt: Any, det: Any, **parameters: Any) -> int:
    """How many pairs some objects and detections make; each is a polygon."""
    accumulator = Accumulator("iou", **{"unrotated": True, **parameters})
    accumulator.update(image_objects(polygons=gt), image_objects(polygons=det))
    return int(accumulator.compute().totals["one_to_one"])


# Rectangles turned back ---------------------------------------------------------------------------

WORD = (100, 100, 200, 120)


@pytest.mark.parametrize("degrees", [0, 17, -40, 90, 133])
@pytest.mark.parametrize(
    ("by", "expected"),
    [(0, 1), (20, 1), (-22.4, 1), (22.5, 0), (-22.5, 0), (22.6, 0), (45, 0), (90, 0), (160, 1)],
)
def test_angles_differ_by_less_than_an_eighth_of_pi(
    degrees: float, by: float, expected: int
) -> None:
    """Turned back, both are one rectangle, whatever the area that they share as they are drawn."""
    assert pairs([turned(*WORD, degrees)], [turned(*WORD, degrees + by)]) == expected


@pytest.mark.parametrize("degrees", [0, 30, 80])
@pytest.mark.parametrize(("down", "expected"), [(0, 1), (6, 1), (7, 0), (10, 0)])
def test_the_overlap_is_that_of_rectangles_turned_back(
    degrees: float, down: float, expected: int
) -> None:
    """Shifted down by 6 of 20: 14/26 = .54; by 7: 13/27 = .48. In the
    direction of the axes, however it is turned.
    """
    left, top, right, bottom = WORD
    assert (
        pairs([turned(*WORD, degrees)], [turned(left, top + down, right, bottom + down, degrees)])
        == expected
    )


def test_an_iou_of_one_half_is_no_pair() -> None:
    left, top, right, _ = WORD
    for degrees in (0, 33):
        half = turned(left, top, right, 110, degrees)
        whole = turned(left, 105 - 10, right, 105 + 10, degrees)
        assert pairs([whole], [half]) == 0
        assert pairs([whole], [half], iou=0.49) == 1


@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("degrees", [0, 10, 50, 85, -60])
def test_a_rectangle_is_itself_from_whichever_vertex_it_is_drawn(
    degrees: float, first: int
) -> None:
    drawn = turned(*WORD, degrees)
    assert pairs([drawn], [np.roll(drawn, first, axis=0)]) == 1
    assert pairs([drawn], [np.roll(drawn, first, axis=0)[::-1]]) == 1


def test_a_polygon_is_the_smallest_rectangle_around_it_and_a_box_itself() -> None:
    hexagon = np.insert(
        np.insert(turned(*WORD, 30), 1, turned(100, 100, 150, 120, 30)[1], axis=0), 0, 0, axis=0
    )[1:]
    assert pairs([turned(*WORD, 30)], [hexagon]) == 1
    accumulator = Accumulator("iou", unrotated=True)
    accumulator.update([WORD], image_objects(polygons=[turned(*WORD, 15)]))
    assert accumulator.compute().scores["hmean"] == 1
    flat = np.array([[0, 0], [5, 5], [10, 10], [15, 15], [2, 2]], float)
    assert pairs([turned(*WORD, 30)], [flat]) == 0


def test_dont_care_is_turned_back_too() -> None:
    """Turned back the detection is in the don't-care object; as they are drawn it is not."""
    accumulator = Accumulator("iou", unrotated=True)
    words = image_objects(
        polygons=[turned(*WORD, 0), turned(100, 200, 200, 220, 0)], dont_care=[True, False]
    )
    accumulator.update(
        words, image_objects(polygons=[turned(*WORD, 80), turned(100, 200, 200, 220, 0)])
    )
    totals = accumulator.compute().totals
    assert (totals["counted_detections"], totals["one_to_one"]) == (2, 1)
    accumulator.update(words, image_objects(polygons=[turned(*WORD, 40)]))
    assert accumulator.compute().totals["counted_detections"] == 2


def test_label_pictures_are_refused(tmp_path: Path) -> None:
    (tmp_path / "gt.txt").write_text('a\n4,4\n1,1,"w",f,0,0,2,2\n')
    (tmp_path / "det.txt").write_text('a\n1,"w",0,0,2,2\n')
    from PIL import Image

    Image.fromarray(np.ones((4, 4), np.uint8)).save(tmp_path / "a.png")
    masks = {"gt_images": tmp_path, "det_images": tmp_path}
    assert evaluate(tmp_path / "gt.txt", tmp_path / "det.txt", "iou", **masks).scores["hmean"] == 1  # type: ignore[arg-type]
    with pytest.raises(InputError, match="leave out the label pictures"):
        evaluate(tmp_path / "gt.txt", tmp_path / "det.txt", "iou", unrotated=True, **masks)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"max_angle is '46\.0'; expected a number from 0 to 45"):
        Accumulator("iou", max_angle=46.0)


# The best object ----------------------------------------------------------------------------------


def test_a_detection_takes_its_best_object_and_no_other() -> None:
    """Both fit both objects; the best object of both is the first. First-fit pairs them all."""
    words = [[0, 0, 100, 20], [0, 3, 100, 23]]
    detections = [[0, 0, 100, 20], [0, 1, 100, 21]]
    for pairing, expected in (("first", 2), ("best", 1)):
        accumulator = Accumulator("iou", pairing=pairing)
        accumulator.update(words, detections)
        assert accumulator.compute().totals["one_to_one"] == expected


@quick
@given(
    st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 5)), st.integers(1, 9), max_size=20)
)
def test_best_fit_is_the_loop_over_all_detections(similarity: dict[tuple[int, int], int]) -> None:
    gt, det = np.array(sorted(similarity), np.int64).reshape(-1, 2).T
    iou = np.array([similarity[pair] / 10 for pair in sorted(similarity)])
    expected = set()
    for j in range(6):
        of_det = [(-similarity[i, j], i) for i in range(5) if (i, j) in similarity]
        if of_det and -min(of_det)[0] > 5 and all(a != min(of_det)[1] for a, _ in expected):
            expected.add((min(of_det)[1], j))
    rows = pair(gt, det, iou, are_best(det, gt, iou), 0.5)
    assert set(zip(gt[rows].tolist(), det[rows].tolist(), strict=True)) == expected
