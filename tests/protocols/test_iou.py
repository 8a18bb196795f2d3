"""IoU of ICDAR 2015: what first-fit means, thresholds, polygons that cross themselves, and empty
images; official figures are in tests/golden.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import Accumulator, evaluate, image_objects
from evaltex_cli.evaluation.evaluation import ObjectResult
from evaltex_cli.protocols.matching import first_fit

quick = settings(deadline=None, derandomize=True, max_examples=40)
WORD = [0, 0, 100, 20]
BOW_TIE = [[0, 0], [40, 20], [40, 0], [0, 20]]
QUAD = [[0, 0], [40, 0], [40, 20], [0, 20]]


# Pairing ------------------------------------------------------------------------------------------


@quick
@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=25))
def test_first_fit_is_the_loop_over_all_candidates(candidates: set[tuple[int, int]]) -> None:
    gt, det = np.array(sorted(candidates), np.int64).reshape(-1, 2).T
    expected: list[tuple[int, int]] = []
    for i, j in sorted(candidates):
        if all(i != a and j != b for a, b in expected):
            expected.append((i, j))
    chosen = first_fit(gt, det)
    assert list(zip(gt[chosen].tolist(), det[chosen].tolist(), strict=True)) == expected


def score(gt: Any, det: Any, **parameters: Any) -> dict[str, float]:
    accumulator = Accumulator("iou", **parameters)
    accumulator.update(gt, det)
    return accumulator.compute().scores


def test_the_order_of_detections_may_change_the_score() -> None:
    """The second word lies above the first, by 5; either fits the detection
    in the middle, only the first the lower.
    """
    gt = [[0, 5, 100, 25], [0, 0, 100, 20]]
    middle, lower = [0, 2, 100, 22], [0, 10, 100, 30]
    assert score(gt, [lower, middle])["recall"] == 1.0
    assert score(gt, [middle, lower])["recall"] == 0.5


# Thresholds ---------------------------------------------------------------------------------------


def test_half_is_no_match() -> None:
    assert score([WORD], [[0, 0, 50, 20]]) == {"recall": 0.0, "precision": 0.0, "hmean": 0.0}
    assert score([WORD], [[0, 0, 51, 20]]) == {"recall": 1.0, "precision": 1.0, "hmean": 1.0}


def test_half_in_dont_care_still_counts() -> None:
    gt = image_objects([WORD, [200, 0, 300, 20]], dont_care=[True, False])
    assert score(gt, [[50, 0, 150, 20], [200, 0, 300, 20]])["precision"] == 0.5
    assert score(gt, [[49, 0, 149, 20], [200, 0, 300, 20]])["precision"] == 1.0


def test_shares_of_several_dont_care_objects_are_not_added() -> None:
    gt = image_objects([[0, 0, 40, 20], [40, 0, 80, 20]], dont_care=[True, True])
    accumulator = Accumulator("iou")
    accumulator.update(gt, [[0, 0, 80, 20]])
    assert accumulator.compute().totals["counted_detections"] == 1


def test_coordinates_are_cut_to_integers_unless_set_otherwise() -> None:
    assert score([WORD], [[0, 0, 50.9, 20]])["recall"] == 0.0
    assert score([WORD], [[0, 0, 50.9, 20]], truncate=False)["recall"] == 1.0


# Polygons that cross themselves -------------------------------------------------------------------


def test_an_object_that_crosses_itself_is_left_out_with_a_warning() -> None:
    accumulator = Accumulator("iou")
    accumulator.update(image_objects(polygons=[BOW_TIE]), image_objects(polygons=[BOW_TIE]))
    found = accumulator.compute()
    assert (found.totals["counted_gt_objects"], found.totals["counted_detections"]) == (0, 1)
    repaired = [
        f"{side}: 1 invalid polygon was repaired (--invalid changes this)"
        for side in ("ground truth", "detections")
    ]
    assert found.warnings[:-1] == repaired
    assert "1 object left out because its polygon crosses itself" in found.warnings[-1]


def test_it_counts_if_asked_to() -> None:
    bow_tie = image_objects(polygons=[BOW_TIE])
    assert score(bow_tie, bow_tie, self_crossing="counted")["hmean"] == 1.0


@pytest.mark.parametrize(
    "flat", [[(0, 0), (9, 9), (9, 9), (0, 0)], [(5, 5)] * 4, [(0, 0), (4, 0), (9, 0), (2, 0)]]
)
def test_an_object_without_area_crosses_nothing_and_is_missed(
    flat: list[tuple[float, float]],
) -> None:
    """As the competition's program counts it, and as a box without area is counted."""
    accumulator = Accumulator("iou")
    accumulator.update(image_objects(polygons=[flat, QUAD]), image_objects(polygons=[QUAD]))
    found = accumulator.compute()
    assert (found.scores["recall"], found.scores["precision"]) == (0.5, 1.0)
    assert not any("cross" in warning for warning in found.warnings)


def test_it_may_be_dont_care() -> None:
    accumulator = Accumulator("iou")
    bow_tie = image_objects(polygons=[BOW_TIE], dont_care=[True])
    accumulator.update(bow_tie, image_objects(polygons=[BOW_TIE]))
    found = accumulator.compute()
    assert found.totals["counted_detections"] == 0
    assert len([text for text in found.warnings if "1 invalid polygon was repaired" in text]) == 2


# Empty cases --------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["iou", "iou-crw", "tiou"])
@pytest.mark.parametrize(
    ("gt", "det", "of_image"),
    [
        ("", "", (1.0, 1.0, 1.0)),
        ("", '1,"word",0,0,9,9\n', (1.0, 0.0, 0.0)),
        ('1,1,"",t,0,0,9,9\n', "", (1.0, 1.0, 1.0)),
        ('1,1,"",t,0,0,9,9\n', '1,"word",0,0,9,9\n', (1.0, 1.0, 1.0)),
        ('1,1,"word",f,0,0,9,9\n', "", (0.0, 0.0, 0.0)),
    ],
    ids=["nothing", "false alarm", "don't care", "don't care detected", "missed"],
)
def test_images_without_objects_that_count(
    tmp_path: Path, protocol: str, gt: str, det: str, of_image: tuple[float, float, float]
) -> None:
    (tmp_path / "gt.txt").write_text(f"a\n9,9\n{gt}")
    (tmp_path / "det.txt").write_text(f"a\n{det}")
    found = evaluate(tmp_path / "gt.txt", tmp_path / "det.txt", protocol, per_image=True)
    (image,) = found.images
    assert tuple(image.scores[name] for name in ("recall", "precision", "hmean")) == of_image
    assert set(found.scores.values()) == {0.0}


# Objects and masks --------------------------------------------------------------------------------


def test_every_object_has_its_match(tmp_path: Path) -> None:
    (tmp_path / "gt.txt").write_text(
        'a\n99,999\n1,1,"x",f,0,0,100,20\n2,2,"y",f,200,0,100,20\n3,3,"z",t,400,0,100,20\n'
    )
    (tmp_path / "det.txt").write_text('a\n7,"",0,0,80,20\n8,"",400,0,50,20\n9,"",600,0,5,5\n')
    (image,) = evaluate(tmp_path / "gt.txt", tmp_path / "det.txt", "iou", per_image=True).images
    assert image.objects == [
        ObjectResult(1, "one-to-one", [7], {"iou": pytest.approx(0.8)}, (0, 0, 100, 20), "x"),
        ObjectResult(2, "missed", [], {"iou": 0.0}, (200, 0, 300, 20), "y"),
        ObjectResult(3, "ignored", [], {"iou": None}, (400, 0, 500, 20), "z"),
    ]
    assert [(one.id, one.match, one.partners) for one in image.detections] == [
        (7, "one-to-one", [1]),
        (8, "ignored", []),
        (9, "false-positive", []),
    ]
