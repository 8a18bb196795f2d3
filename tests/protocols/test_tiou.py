"""TIoU: a plain reference, discounts and lines worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference_iou as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from evaltex_cli import Accumulator, InputError, evaluate, image_objects

quick = settings(deadline=None, derandomize=True, max_examples=40)
images = st.lists(st.integers(0, 2**32), min_size=1, max_size=4)
WORD = [0, 0, 100, 20]


@quick
@given(
    images,
    st.booleans(),
    st.fixed_dictionaries(
        {},
        optional={
            "iou": st.sampled_from([0.0, 0.3, 1.0]),
            "dont_care_overlap": st.sampled_from([0.0, 0.2, 1.0]),
            "tolerance": st.sampled_from([0.0, 0.2, 1.0]),
            "truncate": st.booleans(),
            "self_crossing": st.sampled_from(["ignored", "counted"]),
        },
    ),
    st.sampled_from(["none", "file"]),
)
def test_agrees_with_the_reference(
    seeds: list[int], polygons: bool, parameters: dict[str, Any], lines: str
) -> None:
    reference.assert_agrees("tiou", seeds, polygons, lines=lines, **parameters)


@quick
@given(images, st.booleans(), st.sampled_from([0.0, 0.2, 0.5]), st.sampled_from([0.0, 1.0]))
def test_no_score_exceeds_one_and_discounts_only_lower(
    seeds: list[int], polygons: bool, iou: float, dont_care_overlap: float
) -> None:
    accumulator = Accumulator("tiou", iou=iou, dont_care_overlap=dont_care_overlap)
    for seed in seeds:
        accumulator.update(*map(reference.objects, reference.scene(seed, polygons)))
    found = accumulator.compute()
    totals = found.totals
    assert totals["one_to_one"] <= totals["counted_gt_objects"]
    assert totals["one_to_one"] <= totals["counted_detections"]
    for side, count in (("recall", "counted_gt_objects"), ("precision", "counted_detections")):
        tiou, siou = totals[f"tiou_{side}_credit"], totals[f"siou_{side}_credit"]
        assert 0 <= tiou <= siou + 1e-9 <= totals[count] + 2e-9
    assert all(0 <= score <= 1 for score in found.scores.values())


def run(gt: Any, det: Any, **parameters: Any) -> Any:
    accumulator = Accumulator("tiou", **parameters)
    accumulator.update(gt, det)
    return accumulator.compute()


# Discounts ----------------------------------------------------------------------------------------


def test_cut_lowers_recall_foreign_text_lowers_precision() -> None:
    """A detection of 80 of 100 columns: IoU .8, cut .2. One of 120, the last
    10 on another word: IoU 1/1.2, 1/12.
    """
    cut = run([WORD], [[0, 0, 80, 20]]).scores
    assert (cut["recall"], cut["precision"], cut["siou_recall"]) == pytest.approx((0.64, 0.8, 0.8))
    foreign = run([WORD, [110, 0, 300, 20]], [[0, 0, 120, 20]]).scores
    assert (foreign["recall"], foreign["precision"]) == pytest.approx(
        (1 / 1.2 / 2, 1 / 1.2 * 11 / 12)
    )
    assert (foreign["siou_precision"], foreign["iou_precision"]) == pytest.approx((1 / 1.2, 1.0))


def test_text_that_the_object_shares_is_not_foreign() -> None:
    inner = image_objects([WORD, [10, 5, 50, 15]])
    assert run(inner, [WORD]).scores["precision"] == 1.0


def test_foreign_objects_that_overlap_count_once() -> None:
    gt = [WORD, [100, 0, 120, 20], [110, 0, 130, 20]]
    assert run(gt, [[0, 0, 120, 20]]).scores["precision"] == pytest.approx(1 / 1.2 * (1 - 20 / 120))


def test_dont_care_text_is_foreign_too() -> None:
    gt = image_objects([WORD, [100, 0, 120, 20]], dont_care=[False, True])
    assert run(gt, [[0, 0, 120, 20]]).scores["precision"] == pytest.approx(1 / 1.2 * (1 - 20 / 120))


def test_up_to_the_tolerance_nothing_is_lost() -> None:
    assert run([WORD], [[0, 0, 99, 20]]).scores["recall"] == pytest.approx(0.99)
    assert run([WORD], [[0, 0, 98, 20]]).scores["recall"] == pytest.approx(0.98 * 0.98)
    assert run([WORD], [[0, 0, 99, 20]], tolerance=0).scores["recall"] == pytest.approx(0.99 * 0.99)


def test_lines_of_masks_are_refused(tmp_path: Path) -> None:
    (tmp_path / "gt.txt").write_text('a\n9,9\n1,1,"x",f,0,0,4,4\n')
    (tmp_path / "det.txt").write_text('a\n1,"",0,0,4,4\n')
    picture = np.zeros((9, 9), np.uint8)
    picture[:4, :4] = 1
    Image.fromarray(picture).save(tmp_path / "a.png")
    paths = tmp_path / "gt.txt", tmp_path / "det.txt"
    assert evaluate(*paths, "tiou", gt_images=tmp_path, det_images=tmp_path).scores["hmean"] == 1.0
    with pytest.raises(InputError, match="lines=file does not work on label pictures"):
        evaluate(*paths, "tiou", gt_images=tmp_path, det_images=tmp_path, gt_lines=paths[0])
