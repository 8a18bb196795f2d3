"""The reference of EvaLTex against cases worked out by hand: counts, histograms, EMD, and the sample
results of the tool's page. Each docstring draws the case and does the sum.
"""

import numpy as np
import pytest
import reference_evaltex
from evaltex_cases import PLAIN, det, det_matches, gt, objects_of
from reference_evaltex import emd_score, evaluate, histogram

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
    assert objects_of(result)["2"]["accuracy"] is None


def test_min_area_is_exceeded_not_reached():
    """The two share 5 · 10 = 50: no candidate at min_area 50, one at 49.5."""
    texts = gt("0,0,40,10"), det("35,0,40,10")
    assert evaluate(*texts, {"min_area": 50})["scores"]["quantity_precision"] == 0
    assert evaluate(*texts, {"min_area": 49.5})["scores"]["quantity_precision"] == 1


def test_touching_boxes_share_nothing():
    result = evaluate(gt("0,0,40,10"), det("40,0,40,10"))
    assert det_matches(result) == {"1": ("false-positive", [])}


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


def test_emd_recall_with_and_without_split():
    """A word in two exact halves: 0.805281 falls in bin 80, 19 from the last;
    unpenalised 1 in the last.
    """
    scores = evaluate(gt("0,0,100,20"), det("0,0,50,20", "50,0,50,20"), PLAIN)["scores"]
    assert (scores["emd_recall"], scores["emd_recall_no_split"]) == (pytest.approx(0.81), 1)
    assert (scores["emd_fscore"], scores["emd_fscore_no_split"]) == (
        pytest.approx(2 * 0.81 / 1.81),
        1,
    )


def test_bins_hold_their_lower_edge():
    """k/n falls in bin k although k/n · n may round below k in floating
    point; 1 falls in the last bin.
    """
    for n in (4, 10, 100):
        for k in range(n + 1):
            assert histogram([k / n], n).index(1) == min(k, n - 1)


def test_images_are_pooled():
    """Image 1: one word of one found; image 2: none of three, and one false
    positive. Recall 1/4, precision 1/2.
    """
    words = gt("0,0,40,10") + gt("0,0,9,9", "20,0,9,9", "40,0,9,9", name="b")
    result = evaluate(words, det("99,99,9,9", name="b") + det("0,0,40,10"))
    assert (result["scores"]["recall"], result["scores"]["precision"]) == (0.25, 0.5)
    assert [image["scores"]["recall"] for image in result["images"].values()] == [1, 0]


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


def test_global_sample_of_the_tool_page():
    """What the page's dataset sample fixes: tp = 4678, fp = 1890, so 6568 entries and N_G =
    4678/0.792747 = 5901.

    Of the 6410 objects 509 are then rejected. Recall = quantity · quality; the F-scores are
    harmonic means; the EMD score is at least the mean and at most 1/n more: for the precision
    0.696302 - 0.692591 = 0.0037 of at most 0.01; for the recall only with 6410 in place of 5901:
    0.702796 - 0.759731 · 5901/6410 = 0.0034.
    """
    tp, fp, n = 4678, 1890, 5901
    assert (f"{tp / n:.6g}", f"{tp / (tp + fp):.6g}") == ("0.792747", "0.712241")
    recall, precision = 0.792747 * 0.958352, 0.712241 * 0.972411
    assert (recall, precision) == (
        pytest.approx(0.759731, abs=1e-6),
        pytest.approx(0.692591, abs=1e-6),
    )
    assert reference_evaltex.harmonic_mean(0.759731, 0.692591) == pytest.approx(0.724609, abs=1e-6)
    assert reference_evaltex.harmonic_mean(0.702796, 0.696302) == pytest.approx(0.699534, abs=1e-6)
    assert 0 <= 0.696302 - 0.692591 <= 0.01
    assert 0.702796 - 0.759731 < 0 <= 0.702796 - 0.759731 * n / 6410 <= 0.01


@pytest.mark.parametrize("bins", [1, 7, 10, 100])
def test_emd_score_is_the_mean_rounded_up_to_bins(bins: int):
    """Each value v < 1 counts (floor(nv) + 1) / n, which is more than v and
    at most 1/n more; 1 counts 1.
    """
    values = np.random.default_rng(bins).random(50).tolist()
    assert 0 <= emd_score(values, bins) - sum(values) / 50 <= 1 / bins
    assert emd_score([1.0], bins) == 1
    assert emd_score([0.0], bins) == pytest.approx(1 / bins)
