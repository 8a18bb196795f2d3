"""Intervals and p-values: the paired permutation test over images, by stored evidence."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.evaluation.extras import Bootstrap
from evaltex_cli.protocols.base import EvidenceRows
from evaltex_cli.protocols.scores import quotient
from evaltex_cli.protocols.tally import Count, Sum, Tally
from evaltex_cli.results import significance


@dataclass(frozen=True, eq=False)
class Answers(Tally):
    gt_objects: Count
    detections: Count
    hits: Sum
    asked: Count
    bins: Count


def rows_of(hits, asked, names=None):
    tally = Answers(
        gt_objects=np.array(asked, np.int64),
        detections=np.zeros(len(asked), np.int64),
        hits=np.array(hits, np.float64),
        asked=np.array(asked, np.int64),
        bins=np.array([[a, 0] for a in asked], np.int64).reshape(len(asked), 2),
    )
    return EvidenceRows(names or [f"img_{k:03d}" for k in range(len(hits))], tally)


def scores(tally):
    assert tally.asked.dtype.kind == "i"
    first, last = tally.bins
    assert (first == tally.asked).all()
    assert not last.any()
    recall = quotient(tally.hits, tally.asked)
    return {"recall": recall, "bins": tally.bins, "asked": tally.asked, "never": None}


def drawn(hits, asked, resamples=significance.RESAMPLES, seed=0, names=None):
    bootstrap = Bootstrap(0.95, resamples, seed)
    return significance.replicates(rows_of(hits, asked, names), scores, bootstrap)


def difference_of(first, second, asked, resamples=significance.RESAMPLES, seed=0, level=0.95):
    """Test two detectors on the same images."""
    one, other = drawn(first, asked, resamples, seed), drawn(second, asked, resamples, seed)
    return significance.of_difference("recall", one, other, len(asked), level)


def flips_as_far(first, second, asked):
    """Reference: the share of all assignments of signs whose sum is as far to
    either side as the observed one.
    """
    parts = [b - a for a, b in zip(first, second, strict=True)]
    observed = math.fsum(parts)
    sums = [
        math.fsum(s * x for s, x in zip(signs, parts, strict=True))
        for signs in itertools.product((1, -1), repeat=len(parts))
    ]
    sides = [sum(s >= observed - 1e-9 for s in sums), sum(s <= observed + 1e-9 for s in sums)]
    return min(1.0, 2 * min(sides) / len(sums))


def images(most):
    """Hits of two detectors, and objects, of 6 images or more."""
    columns = ((0, 4), (0, 4), (4, 6))
    return st.integers(6, most).flatmap(
        lambda n: st.tuples(
            *(st.lists(st.integers(*span), min_size=n, max_size=n) for span in columns)
        )
    )


class TestDifference:
    @settings(deadline=None, derandomize=True, max_examples=30)
    @given(images(9))
    def test_p_of_few_images_is_that_of_all_assignments_of_signs(self, images):
        first, second, asked = images
        assert difference_of(first, second, asked).p == pytest.approx(
            flips_as_far(first, second, asked), abs=1e-12
        )

    @settings(deadline=None, derandomize=True, max_examples=60)
    @given(images(40), st.sampled_from([0.5, 0.8, 0.9, 0.95]), st.integers(40, 300))
    def test_p_is_significant_exactly_if_the_interval_excludes_0(self, images, level, resamples):
        found = difference_of(*images, resamples=resamples, level=level)
        assert found.reason is None
        low, high = found.interval
        assert (found.p < round(1 - level, 9)) == (low > 0 or high < 0)
        assert low <= high

    @settings(deadline=None, derandomize=True, max_examples=30)
    @given(images(40), st.randoms())
    def test_the_order_of_images_changes_nothing(self, images, random):
        names = [f"img_{k}" for k in range(len(images[0]))]
        order = list(range(len(names)))
        random.shuffle(order)
        found = []
        for rows in (range(len(names)), order):
            first, second, asked = ([column[k] / 3 for k in rows] for column in images)
            asked = [round(3 * value) for value in asked]
            one, other = (
                drawn(hits, asked, 99, names=[names[k] for k in rows]) for hits in (first, second)
            )
            found.append(significance.of_difference("recall", one, other, len(names), 0.95))
        assert found[0] == found[1]

    @pytest.mark.parametrize(
        ("images", "level"), [(5, 0.95), (1, 0.95), (0, 0.95), (7, 0.99), (4, 0.9)]
    )
    def test_too_few_images_give_no_p_and_no_interval(self, images, level):
        """2 / 2^n is no less than 1 - level."""
        found = difference_of([0] * images, [1] * images, [1] * images, level=level)
        assert (found.interval, found.p) == (None, None)
        assert (
            f"; at least {math.floor(2 - math.log2(1 - level)) if images else 6} are needed"
            in found.reason
        )

    @pytest.mark.parametrize(
        ("images", "p"), [(6, 2 / 64), (10, 2 / 1024), (30, 2 / 2001), (500, 2 / 2001)]
    )
    def test_the_smallest_p(self, images, p):
        found = difference_of([0] * images, [1] * images, [1] * images)
        assert found.p == p
        assert found.interval == (1, 1)


class TestScore:
    def test_the_interval_is_of_subsets(self):
        hits, asked = [1.0, 0.25, 3.5, 0.5, 2.0, 1.5], [2, 2, 4, 3, 3, 2]
        subsets = [chosen for chosen in itertools.product((0, 1), repeat=6) if any(chosen)]
        ratios = sorted(np.dot(chosen, hits) / np.dot(chosen, asked) for chosen in subsets)
        for level, cut in ((0.95, 0), (0.9, 2)):
            found = significance.of_score("recall", drawn(hits, asked), 6, level)
            assert found.interval == pytest.approx((ratios[cut], ratios[-1 - cut]))

    def test_images_without_anything_to_score_do_not_count(self):
        """Three of nine images have words; a subset without these has no
        recall, rather than a recall of 0.
        """
        found = significance.of_score(
            "recall", drawn([1, 2, 3] + [0] * 6, [4, 4, 4] + [0] * 6), 9, 0.95
        )
        assert found == (None, None, significance.TOO_FEW_COUNT)

    def test_images_that_are_all_alike_show_no_interval(self):
        found = significance.of_score("recall", drawn([1] * 9, [2] * 9), 9, 0.95)
        assert found == (None, None, significance.ALL_ALIKE)

    @pytest.mark.parametrize(("images", "edge"), [(6, 0.607), (20, 0.861), (500, 0.994)])
    def test_the_best_and_the_worst_score_have_one_sided_intervals(self, images, edge):
        asked = [2] * images
        best = significance.of_score("recall", drawn(asked, asked), images, 0.95).interval
        worst = significance.of_score("recall", drawn([0] * images, asked), images, 0.95).interval
        assert best == (pytest.approx(edge, abs=5e-4), 1.0)
        assert worst == (0.0, pytest.approx(1 - edge, abs=5e-4))

    def test_images_without_objects_are_not_counted(self):
        intervals, warnings = significance.intervals(
            rows_of([1] * 5 + [0] * 5, [2] * 5 + [0] * 5), scores, Bootstrap(0.95, 2000, 0)
        )
        assert set(intervals.values()) == {None}
        assert warnings == [
            "only 5 images: intervals and p-values are rough with fewer than 20",
            "no interval: 5 images cannot show a difference with p < 0.05; at least 6 are needed",
        ]


def test_a_difference_that_is_detectable_is_found_8_times_in_10():
    """At the difference that a first sample names, of detectors that differ by chance in images."""
    rng, images, asked = np.random.default_rng(3), 60, [10] * 60

    def recalls(rise):
        one, other = rng.normal(6, 1.5, images), rng.normal(6 + 10 * rise, 1.5, images)
        return drawn(one, asked, 300), drawn(other, asked, 300)

    rise = np.mean([significance.detectable("recall", *recalls(0)) for _ in range(20)])
    found = [
        significance.of_difference("recall", *recalls(rise), images, 0.95).p for _ in range(400)
    ]
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.8, abs=0.04)
    assert significance.shown_power(0.009, 500) == (
        "With these 500 images a true difference of 0.9 points is found 8 times in 10; for 0.45"
        " points take 4 times as many."
    )


def test_chunks_draw_the_same_images(monkeypatch):
    hits, asked = list(range(70)), [80] * 70
    whole = drawn(hits, asked, 50, 3).values["recall"].tolist()
    monkeypatch.setattr(significance, "_CHUNK_CELLS", 150)
    assert drawn(hits, asked, 50, 3).values["recall"].tolist() == whole
    assert drawn(hits[:5], asked[:5]).is_exact
    assert len(drawn(hits[:10], asked[:10]).values["recall"]) == 2**10 - 1


def test_holm_corrects_in_order():
    assert significance.holm([0.01, None, 0.04, 0.03]) == pytest.approx([0.03, None, 0.06, 0.06])
    assert significance.holm([0.5, 0.9]) == [1.0, 1.0]
    assert significance.holm([]) == []
