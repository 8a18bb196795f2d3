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
    st.sampled_from(["none", "regions", "file"]),
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
    for lines in ("none", "regions"):
        accumulator = Accumulator("tiou", lines=lines, iou=iou, dont_care_overlap=dont_care_overlap)
        for seed in seeds:
            accumulator.update(*map(reference.objects, reference.scene(seed, polygons)))
        found = accumulator.compute()
        totals = found.totals
        assert totals["one_to_one"] + totals["lines"] <= totals["counted_gt_objects"]
        assert totals["one_to_one"] + totals["lines"] <= totals["counted_detections"]
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


# Lines --------------------------------------------------------------------------------------------

TWO_WORDS = image_objects([[0, 0, 40, 20], [60, 0, 100, 20]], regions=[1, 1])


def test_a_detected_line_finds_its_words() -> None:
    assert run(TWO_WORDS, [WORD]).scores["recall"] == 0.0
    found = run(TWO_WORDS, [WORD], lines="regions")
    assert (found.totals["lines"], found.totals["one_to_one"]) == (1, 0)
    scores = found.scores
    assert (scores["recall"], scores["precision"], scores["siou_recall"]) == (1.0, 1.0, 1.0)
    assert (scores["iou_recall"], scores["iou_precision"]) == (0.5, 1.0)


def test_words_of_a_line_are_discounted_for_cut() -> None:
    """Of the second word, 30 of 40 columns are found: 3/4 with 1/4 cut. The line has IoU .9."""
    scores = run(TWO_WORDS, [[0, 0, 90, 20]], lines="regions").scores
    assert scores["recall"] == pytest.approx((1 + 0.75 * 0.75) / 2)
    assert (scores["siou_recall"], scores["precision"]) == pytest.approx((1.75 / 2, 0.9))


def test_a_word_of_a_line_that_is_hardly_covered_is_still_to_be_found() -> None:
    """The first detection, of the line, has 20 of the second word's 40
    columns, the other one all of it.
    """
    found = run(TWO_WORDS, [[0, 0, 80, 20], [60, 0, 100, 20]], lines="regions")
    assert (found.totals["lines"], found.totals["one_to_one"]) == (1, 1)
    assert found.scores["recall"] == 1.0


def test_text_beside_the_line_is_foreign_its_own_is_not() -> None:
    gt = image_objects([[0, 0, 40, 20], [60, 0, 100, 20], [100, 0, 200, 20]], regions=[1, 1, 2])
    scores = run(gt, [[0, 0, 120, 20]], lines="regions").scores
    assert scores["precision"] == pytest.approx(100 / 120 * (1 - 20 / 120))


def test_one_more_detection_of_each_found_word_is_ignored() -> None:
    word = [0, 0, 40, 20]
    found = run(TWO_WORDS, [WORD, word, word], lines="regions")
    assert (found.totals["counted_detections"], found.scores["precision"]) == (2, 0.5)


def test_lines_go_in_the_order_of_their_first_words() -> None:
    """Both lines fit the detection; that of region 9 comes first, and is the
    same as the detection.
    """
    boxes = [[0, 0, 40, 20], [60, 0, 100, 20], [0, 2, 40, 22], [60, 2, 100, 22]]
    found = run(image_objects(boxes, regions=[9, 9, 1, 1]), [WORD], lines="regions")
    assert (found.totals["lines"], found.scores["siou_precision"]) == (1, 1.0)


def test_surplus_detections_are_ignored_line_by_line() -> None:
    """The last word, of the first line, takes the detection inside both;
    nothing remains for the other line's word.
    """
    boxes = [[0, 0, 40, 20], [0, 30, 40, 50], [60, 10, 100, 50], [60, 0, 100, 20]]
    of_lines, inside_both, inside_last = (
        [WORD, [0, 10, 100, 50]],
        [60, 10, 100, 20],
        [60, 0, 100, 8],
    )
    found = run(
        image_objects(boxes, regions=[1, 2, 2, 1]),
        [*of_lines, inside_both, inside_last],
        lines="regions",
    )
    assert (found.totals["lines"], found.totals["counted_detections"]) == (2, 3)


def test_dont_care_words_of_a_line_shape_it_but_are_not_found() -> None:
    gt = image_objects([[0, 0, 40, 20], [60, 0, 100, 20]], regions=[1, 1], dont_care=[False, True])
    found = run(gt, [WORD], lines="regions")
    assert (found.totals["counted_gt_objects"], found.totals["lines"]) == (1, 1)
    assert found.scores["recall"] == found.scores["precision"] == 1.0


def test_a_line_of_dont_care_words_is_not_found() -> None:
    gt = image_objects([[0, 0, 40, 20], [60, 0, 100, 20]], regions=[1, 1], dont_care=[True, True])
    found = run(gt, [[0, 0, 100, 20]], lines="regions", dont_care_overlap=0.9)
    assert (found.totals["lines"], found.totals["counted_detections"]) == (0, 1)


def test_lines_of_polygons_are_convex_hulls() -> None:
    """Two triangles whose hull is a rectangle's half and more; a detection of
    the hull has IoU 1 with the line.
    """
    triangles = [[[0, 0], [20, 0], [0, 20]], [[80, 0], [100, 0], [100, 20]]]
    hull = [[0, 0], [100, 0], [100, 20], [0, 20]]
    gt = image_objects(polygons=triangles, regions=[4, 4])
    scores = run(gt, image_objects(polygons=[hull]), lines="regions").scores
    assert (scores["recall"], scores["precision"]) == pytest.approx((1.0, 1.0))


def test_regions_of_one_object_change_nothing() -> None:
    gt = image_objects([WORD, [110, 0, 300, 20]], regions=[1, 2])
    det = [[0, 0, 120, 20], [110, 0, 200, 20], [110, 0, 300, 20]]
    assert run(gt, det, lines="regions").totals == run(gt, det).totals


def test_regions_of_different_images_are_different_lines() -> None:
    accumulator = Accumulator("tiou", lines="regions")
    for box in ([0, 0, 40, 20], [60, 0, 100, 20]):
        accumulator.update(image_objects([box], regions=[1]), [WORD])
    assert accumulator.compute().totals["lines"] == 0


def test_every_word_has_its_line_match(tmp_path: Path) -> None:
    (tmp_path / "gt.txt").write_text('a\n99,999\n1,1,"x",f,0,0,40,20\n2,1,"y",f,60,0,40,20\n')
    (tmp_path / "det.txt").write_text('a\n5,"",0,0,90,20\n')
    paths = tmp_path / "gt.txt", tmp_path / "det.txt"
    (image,) = evaluate(*paths, "tiou", per_image=True, lines="regions").images
    second = image.objects[1]
    assert (second.match, second.partners) == ("many-to-one", [5])
    assert (second.values["siou_recall"], second.values["tiou_recall"]) == pytest.approx(
        (0.75, 0.75 * 0.75)
    )
    assert image.detections[0].partners == [1, 2]
    assert image.detections[0].values["tiou_precision"] == pytest.approx(0.9)


def test_lines_of_masks_are_refused(tmp_path: Path) -> None:
    (tmp_path / "gt.txt").write_text('a\n9,9\n1,1,"x",f,0,0,4,4\n')
    (tmp_path / "det.txt").write_text('a\n1,"",0,0,4,4\n')
    picture = np.zeros((9, 9), np.uint8)
    picture[:4, :4] = 1
    Image.fromarray(picture).save(tmp_path / "a.png")
    paths = tmp_path / "gt.txt", tmp_path / "det.txt"
    assert evaluate(*paths, "tiou", gt_images=tmp_path, det_images=tmp_path).scores["hmean"] == 1.0
    with pytest.raises(InputError, match="lines=regions does not work on label pictures"):
        evaluate(*paths, "tiou", gt_images=tmp_path, det_images=tmp_path, lines="regions")
