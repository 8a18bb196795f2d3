"""TIoU: discounts worked out by hand; official figures, of lines too, are in tests/golden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from evaltex_cli import Accumulator, InputError, evaluate, image_objects
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.config import checked
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.records import ImageBatch, concatenate

WORD = [0, 0, 100, 20]


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


def sums_with_lines(gt: Any, lines: Any, det: Any) -> dict[str, Any]:
    words, found, of_lines = (concatenate([image_objects(side)]) for side in (gt, det, lines))
    batch = ImageBatch(["a"], np.zeros((1, 2)), words, found, gt_lines=of_lines)
    parameters = checked("tiou", {"lines": "file"})
    return Measured(batch).evidence(load("tiou"), parameters).tally.sum().as_dict()


def test_a_line_finds_the_words_of_which_its_detection_covers_more_than_half() -> None:
    """The detection covers all of one word, and 50 or 51 of 100 columns of the other."""
    words, line = [WORD, [110, 0, 210, 20]], [[0, 0, 210, 20]]
    for right, found in ((160, 1), (161, 2)):
        sums = sums_with_lines(words, line, [[0, 0, right, 20]])
        assert (sums["lines"], sums["line_words"], sums["one_to_one"]) == (1, found, 0)
        assert sums["siou_recall_credit"] == pytest.approx(1 + 0.51 * (found - 1))
        assert sums["tiou_recall_credit"] == pytest.approx(1 + 0.51 * 0.51 * (found - 1))


def test_half_of_a_word_belongs_to_a_line() -> None:
    """The detection covers 60 of 100 columns of a word, of which the line has 50 or 49."""
    words = [WORD, [200, 0, 300, 20]]
    for right, found in ((250, 2), (249, 1)):
        sums = sums_with_lines(words, [[0, 0, right, 20]], [[0, 0, 260, 20]])
        assert sums["line_words"] == found


def test_the_word_of_the_line_s_number_is_not_foreign() -> None:
    """A slip of the program: the neighbour's 20 of 120 columns count, but as the first word."""
    neighbour = [100, 0, 140, 20]
    for words, kept in (([neighbour, WORD], 1.0), ([WORD, neighbour], 1 - 20 / 120)):
        sums = sums_with_lines(words, [WORD], [[0, 0, 120, 20]])
        assert sums["tiou_precision_credit"] == pytest.approx(100 / 120 * kept)


def test_lines_of_masks_are_refused(tmp_path: Path) -> None:
    (tmp_path / "gt.txt").write_text('a\n9,9\n1,1,"x",f,0,0,4,4\n')
    (tmp_path / "det.txt").write_text('a\n1,"",0,0,4,4\n')
    picture = np.zeros((9, 9), np.uint8)
    picture[:4, :4] = 1
    Image.fromarray(picture).save(tmp_path / "a.png")
    paths = tmp_path / "gt.txt", tmp_path / "det.txt"
    assert evaluate(*paths, "tiou", gt_images=tmp_path, det_images=tmp_path).scores["hmean"] == 1.0
    with pytest.raises(InputError, match="lines=file does not work on label pictures"):
        evaluate(*paths, "tiou", gt_images=tmp_path, det_images=tmp_path, lines=paths[0])
