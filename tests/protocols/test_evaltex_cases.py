"""EvaLTex against cases worked out by hand. Each docstring draws the case and does the sum."""

import math
from typing import Any

import numpy as np
import pytest
from evaltex_cases import PLAIN, det, det_matches, evaluate, gt, local, objects_of

from evaltex_cli.protocols.evaltex import bin_of

SPLIT_IN_TWO = 0.6 / (1 + math.log(2) ** 2) + 0.4  # 0.805281...

# Margin -------------------------------------------------------------------------------------------


def test_one_to_one_with_margin():
    """A box 100 wide, 20 high, and a detection of its left half that sticks out.

    me = 0.1 · 2000 / 100 = 2, so Gr = [2, 98] × [2, 18], Ge = [-2, 102] × [-2, 22]; D = [-4, 50] ×
    [-2, 22]. Coverage = 48 · 16 / (96 · 16) = 1/2; accuracy = 52 · 24 / (54 · 24) = 52/54.
    """
    result = evaluate(gt("0,0,100,20"), det("-4,-2,54,24"), {"det_border": 0.1})
    assert local(result, 1) == ("one-to-one", 1 / 2, 52 / 54)


# Splits -------------------------------------------------------------------------------------------


def test_split_in_two():
    """[ D1 40 ]..10..[ D2 50 |10 over ] on a word of 100 × 20.

    Covered 40 + 50 of 100: 0.9; of the detections' 40 + 60, 90 are on the word: accuracy 0.9.
    Coverage · split = 0.9 · 0.805281; recall likewise, F-score with precision 0.9.
    """
    result = evaluate(gt("0,0,100,20"), det("0,0,40,20", "50,0,60,20"), PLAIN)
    assert local(result, 1) == ("one-to-many", 0.9, 0.9)
    assert objects_of(result)[1]["detections"] == [1, 2]
    assert objects_of(result)[1]["coverage"] == pytest.approx(0.9 * SPLIT_IN_TWO)
    assert det_matches(result) == {1: ("one-to-many", [1]), 2: ("one-to-many", [1])}
    scores = result["scores"]
    assert scores["recall"] == pytest.approx(0.9 * SPLIT_IN_TWO)
    assert scores["split"] == pytest.approx(SPLIT_IN_TWO)
    assert scores["fscore"] == pytest.approx(2 * 0.9 * SPLIT_IN_TWO / (1 + SPLIT_IN_TWO))
    plain = ("recall_no_split", "quality_recall_no_split", "precision", "fscore_no_split")
    assert [scores[key] for key in plain] == pytest.approx([0.9] * 4)


def test_split_parameter_and_function():
    """split=false leaves coverage unpenalised but still reports Split;
    `paper` is 1 / (1 + ln 2).
    """
    texts = gt("0,0,100,20"), det("0,0,50,20", "50,0,50,20")
    off = evaluate(*texts, {**PLAIN, "split": False})["scores"]
    assert (off["recall"], off["recall_no_split"], off["split"]) == (
        1,
        1,
        pytest.approx(SPLIT_IN_TWO),
    )
    paper = evaluate(*texts, {**PLAIN, "split_function": "paper"})["scores"]
    assert paper["recall"] == pytest.approx(1 / (1 + math.log(2)))


# Merges -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "regions", "accuracy"),
    [
        ({"region": True, "det_border": 0}, "11", 1.0),
        ({"region": True, "det_border": 0}, "12", 0.8),
        ({"region": False, "det_border": 0}, "11", 0.8),
        ({"region": False, "det_border": 0.1}, "11", 0.82),
    ],
)
def test_merge_of_two_words(parameters: dict[str, Any], regions: str, accuracy: float):
    """[ word 40 ]..20..[ word 40 ], 10 high, under one detection of 100 × 10.

    One region: the box around both, all of D, is text: 1. Two regions or none: 80 of 100. With
    border 0.1, me = 1 and the words reach 1 into the gap: 41 + 41 of 100.
    """
    result = evaluate(
        gt(f"{regions[0]}:0,0,40,10", f"{regions[1]}:60,0,40,10"), det("0,0,100,10"), parameters
    )
    assert [local(result, i) for i in (1, 2)] == [("many-to-one", 1, accuracy)] * 2
    assert det_matches(result) == {1: ("many-to-one", [1, 2])}
    assert result["scores"]["precision"] == pytest.approx(accuracy)
    assert result["scores"]["quantity_precision"] == 1


def test_region_is_made_of_all_its_words():
    """Words at [0, 40], [60, 100] and, not detected, [150, 190]; D = [0,
    130]: the region [0, 190] holds all of D.
    """
    texts = gt("0,0,40,10", "60,0,40,10", "150,0,40,10"), det("0,0,130,10")
    assert local(evaluate(*texts, {"det_border": 0}), 1) == ("many-to-one", 1, 1)
    assert local(evaluate(*texts, PLAIN), 1) == ("many-to-one", 1, 80 / 130)
    assert objects_of(evaluate(*texts))[3]["match"] == "missed"


def test_region_does_not_help_a_single_word():
    """Words at [0, 40] and [60, 100] of one region; D = [0, 60] keeps only
    the first: Eq. 9, 40 of 60.
    """
    result = evaluate(gt("0,0,40,10", "60,0,40,10"), det("0,0,60,10"), {"det_border": 0})
    assert local(result, 1) == ("one-to-one", 1, 40 / 60)


def test_many_to_many():
    """HEALTHY = [0, 40], COLCHESTER = [50, 110], 10 high; D1 = [0, 70], D2 = [80, 110] (the paper's
    Fig. 9).

    HEALTHY: s = 1, m = 2: coverage 1, accuracy (40 + 20) / 70.
    COLCHESTER: s = 2: coverage (20 + 30) / 60, accuracy 50 / (70 + 30).
    """
    result = evaluate(gt("0,0,40,10", "50,0,60,10"), det("0,0,70,10", "80,0,30,10"), PLAIN)
    assert local(result, 1) == ("many-to-one", 1, 60 / 70)
    assert local(result, 2) == ("many-to-many", 50 / 60, 0.5)
    assert det_matches(result) == {1: ("many-to-many", [1, 2]), 2: ("one-to-many", [2])}
    assert result["scores"]["recall"] == pytest.approx((1 + 50 / 60 * SPLIT_IN_TWO) / 2)
    assert result["scores"]["precision"] == pytest.approx((60 / 70 + 0.5) / 2)


# Rejected objects ---------------------------------------------------------------------------------


def test_rejected_object_is_text_but_not_counted():
    """[ word 40 ]..20..[ rejected 40 ] under D = [0, 100]: N_G = tp = 1,
    accuracy (40 + 40) / 100 without regions.
    """
    result = evaluate(gt("0,0,40,10", "!60,0,40,10"), det("0,0,100,10"), PLAIN)
    assert local(result, 1) == ("many-to-one", 1, 0.8)
    assert objects_of(result)[2] == {
        "id": 2, "match": "ignored", "detections": [1],
        "coverage": None, "coverage_no_split": None, "accuracy": None, "split": None,
    }  # fmt: skip
    assert (result["scores"]["recall"], result["scores"]["precision"]) == (1, pytest.approx(0.8))


def test_detection_of_rejected_objects_only_is_ignored():
    """D1 on the word, D2 on the rejected one, D3 on nothing: precision = 1 / (1 + 1)."""
    result = evaluate(
        gt("0,0,40,10", "!60,0,40,10"), det("0,0,40,10", "60,0,40,10", "0,90,9,9"), PLAIN
    )
    matches = det_matches(result)
    assert matches == {
        1: ("one-to-one", [1]),
        2: ("ignored", [2]),
        3: ("false-positive", []),
    }
    assert (result["scores"]["recall"], result["scores"]["precision"]) == (1, 0.5)


# Filter -------------------------------------------------------------------------------------------


def test_nested_words():
    """JAVA = [0, 100] × [0, 50] holds "graphic" = [10, 40] × [10, 20] and part of "2" = [80, 120] ×
    [40, 60].

    D1 = [0, 120] × [0, 60], IoU 5000, 800, 300 of 7200. JAVA is kept; "2": 800 - 200 = 600 > 80,
    kept; "graphic": 300 - 300 = 0 ≤ 30, JAVA stands in for it. D2 = "graphic": IoU 1, kept; JAVA:
    300 - 300 = 0 ≤ 500, dropped.
    """
    words = gt("0,0,100,50", "10,10,30,10", "80,40,40,20")
    alone = evaluate(words, det("0,0,120,60"), PLAIN)
    assert det_matches(alone) == {1: ("many-to-one", [1, 3])}
    assert objects_of(alone)[2]["match"] == "missed"
    both = evaluate(words, det("0,0,120,60", "10,10,30,10"), PLAIN)
    assert det_matches(both)[2] == ("one-to-one", [2])
    assert local(both, 1) == ("many-to-one", 1, (5000 + 800 - 200) / 7200)


@pytest.mark.parametrize(("width", "kept"), [(110, [1]), (110.01, [1, 2])])
def test_neighbour_touched_by_a_tenth_or_less_is_dropped(width: float, kept: list[int]):
    """Words [0, 100] and [100, 200]; D = [0, width] holds 10 of 100 of the
    second (≤ t, exactly) or a bit more.
    """
    result = evaluate(gt("0,0,100,20", "100,0,100,20"), det(f"0,0,{width},20"), PLAIN)
    assert det_matches(result)[1][1] == kept


def test_filter_applies_to_several_candidates_only():
    """A sole candidate is kept however little D holds of it: 1 of 100 wide."""
    result = evaluate(gt("0,0,100,20"), det("99,0,50,20"), PLAIN)
    assert local(result, 1) == ("one-to-one", 0.01, 0.02)


def test_equal_iou_keeps_the_first_object():
    """Two equal objects under their detection: 2 is dropped for 1, as 2000 - 2000 = 0 ≤ 200."""
    result = evaluate(gt("0,0,100,20", "0,0,100,20"), det("0,0,100,20"), PLAIN)
    assert [o["match"] for o in objects_of(result).values()] == ["one-to-one", "missed"]


# Counts, histograms, EMD --------------------------------------------------------------------------


def test_false_positive_and_missed():
    """One word found exactly, one missed, one detection on nothing: all of
    recall and precision 1/2, quality 1.
    """
    result = evaluate(gt("0,0,40,10", "60,0,40,10"), det("0,0,40,10", "0,90,9,9"))
    scores = result["scores"]
    names = ("recall", "precision", "fscore", "split", "quantity_recall", "quantity_precision")
    assert [scores[name] for name in names] == [0.5] * 6
    assert [
        scores[name] for name in ("quality_recall", "quality_precision", "quality_recall_no_split")
    ] == [1] * 3
    assert scores["coverage_histogram"] == scores["accuracy_histogram"] == [0.5, *[0] * 8, 0.5]
    assert objects_of(result)[2]["accuracy"] is None


def test_min_area_is_exceeded_not_reached():
    """The two share 5 · 10 = 50: no candidate at min_area 50, one at 49.5."""
    texts = gt("0,0,40,10"), det("35,0,40,10")
    assert evaluate(*texts, {"min_area": 50})["scores"]["quantity_precision"] == 0
    assert evaluate(*texts, {"min_area": 49.5})["scores"]["quantity_precision"] == 1


@pytest.mark.parametrize(
    ("bins", "recall", "precision"), [(0, 0.26, 1.0), (100, 0.26, 1.0), (4, 0.5, 1.0)]
)
def test_emd(bins: int, recall: float, precision: float):
    """Coverages 1/2 and 0 (missed), one accuracy of 1.

    100 bins: bin 50 is 49 bins from the last, bin 0 is 99: 1 - (0.49 + 0.99) / 2 = 0.26.
    4 bins: bin 2 is 1/4 away, bin 0 is 3/4: 1 - (1/4 + 3/4) / 2 = 1/2.
    """
    texts = gt("0,0,40,10", "60,0,40,10"), det("0,0,20,10")
    scores = evaluate(*texts, {**PLAIN, "hist_bin_nb": bins})["scores"]
    assert (scores["emd_recall"], scores["emd_precision"]) == (
        pytest.approx(recall),
        pytest.approx(precision),
    )
    assert scores["emd_fscore"] == pytest.approx(2 * recall * precision / (recall + precision))
    assert len(scores["coverage_histogram"]) == (bins or 10)


def test_bins_hold_their_lower_edge():
    """k/n falls in bin k although k/n · n may round below k in floating
    point; 1 falls in the last bin.
    """
    for n in (4, 10, 100):
        found = bin_of(np.arange(n + 1) / n, n)
        assert found.tolist() == [*range(n), n - 1]


@pytest.mark.parametrize(
    "texts",
    [
        (gt(), det()),
        (gt(), ""),
        (gt("0,0,9,9"), ""),
        (gt(), det("0,0,9,9")),
        (gt("!0,0,9,9"), det("0,0,9,9")),
    ],
)
def test_empty_sets_score_zero(texts: tuple[str, str]):
    scores = evaluate(*texts)["scores"]
    assert [value for value in scores.values() if not isinstance(value, list)][:11] == [0] * 11
    rejected_or_none = texts[0] != gt("0,0,9,9")
    assert sum(scores["coverage_histogram"]) == (0 if rejected_or_none else 1)
    assert scores["emd_recall"] == pytest.approx(0 if rejected_or_none else 0.01)


# The sample results of the tool's page ------------------------------------------------------------


def test_local_sample_of_the_tool_page():
    """A picture with the sample's counts: 43 objects, one of them rejected, 19 detections, one
    false; 18 found.

    Coverages: 16 times 1, one of 0.8, one of 0.625, 24 missed. In 100 bins (b + 1) / 100 each: 16 +
    0.81 + 0.63 + 24 · 0.01 = 17.68, and 17.68 / 42 = 0.420952. Accuracies: bins 99, 99, 95, 96, 99,
    96 (the six printed), 5 × 97, 7 × 96, and 0 for the false one: (100 + 100 + 96 + 97 + 100 + 97 +
    5 · 98 + 7 · 97 + 1) / 100 = 17.6, and 17.6 / 19 = 0.926316. A detection is 1000 wide and 10
    high; of accuracy a and coverage c, the word ends 1000a into it, and starts so far before it
    that 1000a is c of it. The sample's swapped pair is right here: quantity recall 18/42.
    """
    accuracies = [0.995, 0.995, 0.955, 0.965, 0.995, 0.965] + [0.975] * 5 + [0.965] * 7
    coverages = [0.8] + [1.0] * 5 + [0.625] + [1.0] * 11
    words, found = [], []
    for k, (a, c) in enumerate(zip(accuracies, coverages, strict=True)):
        width = 1000 * a / c
        words.append(f"{1000 * a - width},{20 * k},{width},10")
        found.append(f"0,{20 * k},1000,10")
    words += [f"5000,{20 * k},10,10" for k in range(24)] + ["!6000,0,10,10"]
    result = evaluate(gt(*words), det(*found, "9000,0,9,9"), {"det_border": 0})
    scores = result["scores"]
    assert (len(words), len(found) + 1, result["images"]["img_1"]["scores"]) == (43, 19, scores)
    assert f"{scores['emd_recall']:.6g}" == f"{scores['emd_recall_no_split']:.6g}" == "0.420952"
    assert f"{scores['emd_precision']:.6g}" == "0.926316"
    assert f"{scores['emd_fscore']:.6g}" == "0.578853"
    assert f"{scores['split']:.6g}" == f"{scores['quantity_recall']:.6g}" == "0.428571"
    assert f"{scores['quantity_precision']:.6g}" == "0.947368"
    printed = ["0.571429", "0", "0", "0", "0", "0", "0.0238095", "0", "0.0238095", "0.380952"]
    assert [f"{h:.6g}" for h in scores["coverage_histogram"]] == printed


# Polygons -----------------------------------------------------------------------------------------


def test_diamond_with_margin():
    """|x - 10| + |y - 10| ≤ 10 and D = [0, 20] × [0, 10], its upper half.

    Area 200, extent 20, me = 0.1 · 200 / 20 = 1. Gr is a smaller diamond, half of it in D: 1/2. Ge
    is
    |x - 10| + |y - 10| ≤ r = 10 + √2 (mitred corners); its upper half, r², loses 2 above D and 1 on each side of it:
    accuracy (r² - 4) / 200.
    """
    result = evaluate(gt("10,0,20,10,10,20,0,10"), det("0,0,20,10"), {"det_border": 0.1})
    assert local(result, 1) == ("one-to-one", 0.5, ((10 + math.sqrt(2)) ** 2 - 4) / 200)


def test_empty_inner_offset_leaves_the_object():
    """A T of a bar [0, 100] × [0, 1] and a stem [59, 60] × [1, 60]: area 159, extent 100, me = 0.49
    · 1.59 = 0.78.

    Nothing is 0.78 from the outline of strokes 1 wide: Gr = G, of which D, half the bar, holds 50
    of 159.
    """
    result = evaluate(
        gt("0,0,100,0,100,1,60,1,60,60,59,60,59,1,0,1"), det("0,0,50,1"), {"det_border": 0.49}
    )
    assert local(result, 1) == ("one-to-one", 50 / 159, 1)


def test_polygons_turn_regions_off():
    """The merge of two words of one region, the second word written as five
    vertices: 80 of 100, not 1.
    """
    words = gt("0,0,40,10", "60,0,80,0,100,0,100,10,60,10")
    assert local(evaluate(words, det("0,0,100,10"), {"det_border": 0}), 1) == (
        "many-to-one",
        1,
        0.8,
    )
    boxes = gt("0,0,40,10", "60,0,40,10")
    polygon = det("0,0,100,0,100,10,0,10")
    assert local(evaluate(boxes, polygon, {"det_border": 0}), 1) == ("many-to-one", 1, 1)


# Masks --------------------------------------------------------------------------------------------


def picture(
    *boxes: tuple[int, int, int, int, int], size: tuple[int, int] = (20, 30)
) -> dict[str, np.ndarray]:
    """A label picture of boxes (id, x, y, width, height)."""
    labels = np.zeros(size, np.uint8)
    for i, x, y, width, height in boxes:
        labels[y : y + height, x : x + width] = i
    return {"img_1": labels}


def mask_texts(gt_ids: str, det_ids: str) -> tuple[str, str]:
    """Texts with objects of the given one-digit IDs; their boxes do not matter."""
    objects = [f'{i},{i},"",f,0,0,1,1' for i in gt_ids]
    return "\n".join(["img_1", "20,30", *objects]), "\n".join(
        ["img_1", *(f'{i},"",0,0,1,1' for i in det_ids)]
    )


def test_mask_with_margin():
    """G = 10 × 6 pixels at (10, 8), D its left 5 columns and 4 more to the left.

    me = 0.25 · 60 / 10 = 1.5, r = floor(2.0) = 2: Gr = 6 × 2 from x = 12, of which D (to x = 14)
    has 3 columns: 1/2. Ge starts at x = 8, D at 6: 7 of D's 9 columns.
    """
    result = evaluate(
        *mask_texts("7", "9"),
        {"det_border": 0.25},
        picture((7, 10, 8, 10, 6)),
        picture((9, 6, 8, 9, 6)),
    )
    assert objects_of(result)[7] == {
        "id": 7, "match": "one-to-one", "detections": [9], "coverage": pytest.approx(1 / 2),
        "coverage_no_split": pytest.approx(1 / 2), "accuracy": pytest.approx(7 / 9), "split": 1,
    }  # fmt: skip
