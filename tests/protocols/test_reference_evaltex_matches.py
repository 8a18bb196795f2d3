"""The reference of EvaLTex against cases worked out by hand: margin, splits, merges, rejected
objects, filter. Each docstring draws the case and does the sum.
"""

import math
from typing import Any

import pytest
from evaltex_cases import PLAIN, det, det_matches, gt, local, objects_of
from reference_evaltex import evaluate, split_value

SPLIT_IN_TWO = 0.6 / (1 + math.log(2) ** 2) + 0.4  # 0.805281...


# Margin -------------------------------------------------------------------------------------------


def test_one_to_one_with_margin():
    """A box 100 wide, 20 high, and a detection of its left half that sticks out.

    me = 0.1 · 2000 / 100 = 2, so Gr = [2, 98] × [2, 18], Ge = [-2, 102] × [-2, 22]; D = [-4, 50] ×
    [-2, 22]. Coverage = 48 · 16 / (96 · 16) = 1/2; accuracy = 52 · 24 / (54 · 24) = 52/54.
    """
    result = evaluate(gt("0,0,100,20"), det("-4,-2,54,24"), {"det_border": 0.1})
    assert local(result, 1) == ("one-to-one", 1 / 2, 52 / 54)


def test_margin_follows_the_shorter_side():
    """The same picture turned: height 100, width 20; Eq. 6 divides by the larger, me = 2 again."""
    result = evaluate(gt("0,0,20,100"), det("-2,-4,24,54"), {"det_border": 0.1})
    assert local(result, 1) == ("one-to-one", 1 / 2, 52 / 54)


def test_example_of_the_tool_page():
    """Three of the page's nine words; default border 0.01.

    2 "kills": G = 275,264,390,186, D = 272,264,392,186, me = 1.86: Gr is inside D; Ge starts at
    273.14, D at 272: accuracy (664 - 273.14) / 392. 1 "Tiredness": G = 38,43,882,172, D =
    34,40,886,175, me = 1.72: Gr inside; Ge starts at (36.28, 41.28): accuracy (920 - 36.28)(215 -
    41.28) / (886 · 175). 8 "your": G = 166,1095,302,136, D = 168,1082,300,148, me = 1.36: Gr =
    [167.36, 466.64] × [1096.36, 1229.64] and D starts at x = 168: coverage (466.64 - 168) / 299.28;
    Ge starts at y = 1093.64: accuracy (1230 - 1093.64) / 148.
    """
    result = evaluate(
        gt("38,43,882,172", "2:275,264,390,186", "5:166,1095,302,136"),
        det("272,264,392,186", "34,40,886,175", "168,1082,300,148"),
    )
    assert local(result, 1) == ("one-to-one", 1, (920 - 36.28) * (215 - 41.28) / (886 * 175))
    assert local(result, 2) == ("one-to-one", 1, (664 - 273.14) / 392)
    assert local(result, 3) == ("one-to-one", (466.64 - 168) / 299.28, (1230 - 1093.64) / 148)
    assert det_matches(result) == {
        j: ("one-to-one", [i]) for j, i in (("1", "2"), ("2", "1"), ("3", "3"))
    }


# Splits -------------------------------------------------------------------------------------------


def test_split_in_two():
    """[ D1 40 ]..10..[ D2 50 |10 over ] on a word of 100 × 20.

    Covered 40 + 50 of 100: 0.9; of the detections' 40 + 60, 90 are on the word: accuracy 0.9.
    Coverage · split = 0.9 · 0.805281; recall likewise, F-score with precision 0.9.
    """
    result = evaluate(gt("0,0,100,20"), det("0,0,40,20", "50,0,60,20"), PLAIN)
    assert local(result, 1) == ("one-to-many", 0.9, 0.9)
    assert objects_of(result)["1"]["detections"] == ["1", "2"]
    assert objects_of(result)["1"]["coverage"] == pytest.approx(0.9 * SPLIT_IN_TWO)
    assert det_matches(result) == {"1": ("one-to-many", ["1"]), "2": ("one-to-many", ["1"])}
    scores = result["scores"]
    assert scores["recall"] == pytest.approx(0.9 * SPLIT_IN_TWO)
    assert scores["split"] == pytest.approx(SPLIT_IN_TWO)
    assert scores["fscore"] == pytest.approx(2 * 0.9 * SPLIT_IN_TWO / (1 + SPLIT_IN_TWO))
    plain = ("recall_no_split", "quality_recall_no_split", "precision", "fscore_no_split")
    assert [scores[key] for key in plain] == pytest.approx([0.9] * 4)


def test_overlapping_pieces_count_once():
    """D1 = [0, 60], D2 = [40, 110] on a word of 100 × 20: union 110, of which 100 on the word:
    coverage 1, accuracy 100/110.
    """
    result = evaluate(gt("0,0,100,20"), det("0,0,60,20", "40,0,70,20"), PLAIN)
    assert local(result, 1) == ("one-to-many", 1, 100 / 110)


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
    assert (
        [split_value(s, "tool") for s in (0, 1)]
        == [split_value(s, "paper") for s in (0, 1)]
        == [0, 1]
    )
    with pytest.raises(KeyError):
        split_value(2, "other")


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
    assert det_matches(result) == {"1": ("many-to-one", ["1", "2"])}
    assert result["scores"]["precision"] == pytest.approx(accuracy)
    assert result["scores"]["quantity_precision"] == 1


def test_region_is_made_of_all_its_words():
    """Words at [0, 40], [60, 100] and, not detected, [150, 190]; D = [0,
    130]: the region [0, 190] holds all of D.
    """
    texts = gt("0,0,40,10", "60,0,40,10", "150,0,40,10"), det("0,0,130,10")
    assert local(evaluate(*texts, {"det_border": 0}), 1) == ("many-to-one", 1, 1)
    assert local(evaluate(*texts, PLAIN), 1) == ("many-to-one", 1, 80 / 130)
    assert objects_of(evaluate(*texts))["3"]["match"] == "missed"


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
    assert det_matches(result) == {"1": ("many-to-many", ["1", "2"]), "2": ("one-to-many", ["2"])}
    assert result["scores"]["recall"] == pytest.approx((1 + 50 / 60 * SPLIT_IN_TWO) / 2)
    assert result["scores"]["precision"] == pytest.approx((60 / 70 + 0.5) / 2)


# Rejected objects ---------------------------------------------------------------------------------


def test_rejected_object_is_text_but_not_counted():
    """[ word 40 ]..20..[ rejected 40 ] under D = [0, 100]: N_G = tp = 1,
    accuracy (40 + 40) / 100 without regions.
    """
    result = evaluate(gt("0,0,40,10", "!60,0,40,10"), det("0,0,100,10"), PLAIN)
    assert local(result, 1) == ("many-to-one", 1, 0.8)
    assert objects_of(result)["2"] == {
        "id": "2", "match": "ignored", "detections": ["1"],
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
        "1": ("one-to-one", ["1"]),
        "2": ("ignored", ["2"]),
        "3": ("false-positive", []),
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
    assert det_matches(alone) == {"1": ("many-to-one", ["1", "3"])}
    assert objects_of(alone)["2"]["match"] == "missed"
    both = evaluate(words, det("0,0,120,60", "10,10,30,10"), PLAIN)
    assert det_matches(both)["2"] == ("one-to-one", ["2"])
    assert local(both, 1) == ("many-to-one", 1, (5000 + 800 - 200) / 7200)


def test_any_kept_object_stands_in():
    """A = [0, 100], B = [100, 180], 50 high, C = 30 × 10 in B, D over all: C
    is dropped for B, the second kept.
    """
    result = evaluate(gt("110,10,30,10", "0,0,100,50", "100,0,80,50"), det("0,0,180,50"), PLAIN)
    assert det_matches(result) == {"1": ("many-to-one", ["2", "3"])}


@pytest.mark.parametrize(("width", "kept"), [(110, ["1"]), (110.01, ["1", "2"])])
def test_neighbour_touched_by_a_tenth_or_less_is_dropped(width: float, kept: list[str]):
    """Words [0, 100] and [100, 200]; D = [0, width] holds 10 of 100 of the
    second (≤ t, exactly) or a bit more.
    """
    result = evaluate(gt("0,0,100,20", "100,0,100,20"), det(f"0,0,{width},20"), PLAIN)
    assert det_matches(result)["1"][1] == kept


def test_filter_applies_to_several_candidates_only():
    """A sole candidate is kept however little D holds of it: 1 of 100 wide."""
    result = evaluate(gt("0,0,100,20"), det("99,0,50,20"), PLAIN)
    assert local(result, 1) == ("one-to-one", 0.01, 0.02)


def test_equal_iou_keeps_the_first_object():
    """Two equal objects under their detection: 2 is dropped for 1, as 2000 - 2000 = 0 ≤ 200."""
    result = evaluate(gt("0,0,100,20", "0,0,100,20"), det("0,0,100,20"), PLAIN)
    assert [o["match"] for o in objects_of(result).values()] == ["one-to-one", "missed"]
