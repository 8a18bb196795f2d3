"""Statistics of a ranking against plain definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltex_cli.ranking import statistics


def plain_max_t(scores: np.ndarray, replicates: np.ndarray) -> list[float]:
    """Step-down max-T as Romano and Wolf state it: reject the largest statistic, take its pair
    away, and begin again.
    """
    pairs = list(combinations(range(len(scores)), 2))
    observed, away = {}, {}
    for i, j in pairs:
        difference = scores[i] - scores[j]
        drawn = replicates[i] - replicates[j]
        observed[i, j] = abs(difference) / drawn.std(ddof=1)
        away[i, j] = np.abs(drawn - difference) / drawn.std(ddof=1)
    left, highest, found = list(pairs), 0.0, {}
    while left:
        largest = max(left, key=observed.__getitem__)
        most = np.max([away[pair] for pair in left], axis=0)
        p = (1 + (most >= observed[largest] * (1 - 1e-9)).sum()) / (1 + len(most))
        highest = max(highest, p)
        found[largest] = highest
        left.remove(largest)
    return [found[pair] for pair in pairs]


@given(st.integers(2, 6), st.integers(0, 1000))
def test_max_t_is_the_step_down_procedure(detectors: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 1, detectors)
    replicates = scores[:, None] + rng.normal(0, 0.5, (detectors, 50))
    assert statistics.max_t(scores, replicates).tolist() == plain_max_t(scores, replicates)


def test_an_undefined_score_differs_from_nothing() -> None:
    scores = np.array([0.9, np.nan, 0.1])
    drawn = scores[:, None] + np.random.default_rng(0).normal(0, 0.01, (3, 99))
    assert statistics.max_t(scores, drawn).tolist() == [1.0, 0.01, 1.0]
    assert statistics.ranks(scores).tolist() == [1, 3, 2]


def test_equal_detectors_have_one_p_value() -> None:
    drawn = np.random.default_rng(0).normal(0.5, 0.1, 99)
    p = statistics.max_t(np.array([0.5, 0.5]), np.array([drawn, drawn]))
    assert p.tolist() == [1.0]


def test_replicates_that_do_not_vary_are_as_far_as_can_be() -> None:
    scores = np.array([0.7, 0.5])
    p = statistics.max_t(scores, np.repeat(scores[:, None], 99, axis=1))
    assert p.tolist() == [0.01]


@st.composite
def which_differ(draw: st.DrawFn) -> np.ndarray:
    count = draw(st.integers(1, 8))
    differs = np.zeros((count, count), bool)
    for i, j in combinations(range(count), 2):
        differs[i, j] = differs[j, i] = draw(st.booleans())
    return differs


@given(which_differ())
def test_two_share_a_letter_exactly_if_they_do_not_differ(differs: np.ndarray) -> None:
    count = len(differs)
    groups = statistics.tie_groups(range(count), differs)
    assert all(groups), "each has a letter"
    for i, j in combinations(range(count), 2):
        assert bool(set(groups[i]) & set(groups[j])) != differs[i, j]
    assert "a" in groups[0], "letters begin at the best"


def test_letters_beyond_the_alphabet_are_numbers() -> None:
    groups = statistics.tie_groups(range(53), ~np.eye(53, dtype=bool))
    assert [groups[k] for k in (0, 25, 26, 51, 52)] == ["a", "z", "A", "Z", "(53)"]


def test_rank_intervals_count_who_is_better_and_who_is_worse() -> None:
    scores = np.array([0.9, 0.8, 0.7, 0.1])
    differs = np.zeros((4, 4), bool)
    for i, j in ((0, 2), (0, 3), (1, 3), (2, 3)):
        differs[i, j] = differs[j, i] = True
    assert statistics.rank_intervals(scores, differs).tolist() == [[1, 2], [1, 3], [2, 3], [4, 4]]


def test_equal_scores_share_a_rank() -> None:
    scores = np.array([0.5, 0.9, 0.5, 0.1])
    assert statistics.ranks(scores).tolist() == [2, 1, 2, 4]
    assert statistics.mean_ranks(scores).tolist() == [2.5, 1.0, 2.5, 4.0]


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=7),
)
def test_kendall_counts_pairs(scores: list[tuple[int, int]]) -> None:
    one, other = np.array(scores, float).T
    concordant = discordant = 0
    ties = [0, 0]
    for i, j in combinations(range(len(one)), 2):
        product = (one[i] - one[j]) * (other[i] - other[j])
        concordant += product > 0
        discordant += product < 0
        ties[0] += one[i] == one[j]
        ties[1] += other[i] == other[j]
    pairs = len(one) * (len(one) - 1) / 2
    untied = (pairs - ties[0]) * (pairs - ties[1])
    found = float(statistics.kendall(one, other))
    if untied == 0:
        assert np.isnan(found)
    else:
        assert found == pytest.approx((concordant - discordant) / untied**0.5, abs=1e-12)
