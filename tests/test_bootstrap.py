"""The bootstrap resamples stored evidence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import bootstrap
from evaltex_cli.protocols.base import EvidenceRows


def rows_of(hits, asked):
    columns = {
        "hits": np.array(hits, np.float64),
        "asked": np.array(asked, np.int64),
        "bins": np.array([[a, 0] for a in asked], np.int64),
    }
    return EvidenceRows([f"img_{k}" for k in range(len(hits))], columns)


def recall(totals):
    assert isinstance(totals["asked"], int)
    assert totals["bins"] == [totals["asked"], 0]
    return {"recall": totals["hits"] / totals["asked"] if totals["asked"] else None, "list": totals["bins"]}


def by_hand(hits, asked, resamples, seed):
    drawn = np.random.default_rng(seed).integers(0, len(hits), size=(resamples, len(hits)))
    return [sum(hits[k] for k in row) / sum(asked[k] for k in row) for row in drawn.tolist()]


HITS, ASKED = [1.0, 0.25, 3.5, 0.0, 2.0], [1, 2, 4, 3, 2]


def test_replicates_are_those_of_resampling_by_hand():
    found = bootstrap.replicates(rows_of(HITS, ASKED), recall, 200, seed=7)
    assert list(found) == ["recall"]
    np.testing.assert_allclose(found["recall"], by_hand(HITS, ASKED, 200, 7), atol=1e-12)


def test_chunks_draw_the_same_images(monkeypatch):
    whole = bootstrap.replicates(rows_of(HITS, ASKED), recall, 50, seed=3)["recall"]
    monkeypatch.setattr(bootstrap, "_CHUNK_CELLS", 15)
    assert bootstrap.replicates(rows_of(HITS, ASKED), recall, 50, seed=3)["recall"].tolist() == whole.tolist()


def test_interval_is_the_percentile_interval():
    values = np.array(by_hand(HITS, ASKED, 500, 1))
    assert bootstrap.interval(values, 0.9) == pytest.approx(tuple(np.percentile(values, [5, 95])))


def test_interval_passes_over_undefined_replicates():
    assert bootstrap.interval(np.array([np.nan, 0.5, 0.5])) == (0.5, 0.5)
    assert bootstrap.interval(np.array([np.nan, np.nan])) is None


def test_undefined_scores_are_nan():
    found = bootstrap.replicates(rows_of([0.0, 1.0], [0, 1]), recall, 64, seed=0)["recall"]
    assert set(np.isnan(found).tolist()) == {True, False}


def test_p_value_of_no_difference_is_1():
    assert bootstrap.p_value(0.0, np.zeros(100)) == 1


def test_p_value_counts_strays():
    replicated = np.array([0.1, 0.2, 0.3, 0.4, 0.9])
    strays = sum(abs(value - replicated.mean()) >= 0.25 for value in replicated)
    assert strays == 2
    assert bootstrap.p_value(-0.25, replicated) == (1 + strays) / 6


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(0, 2**32))
def test_replicates_and_interval_stay_in_range(asked, seed):
    found = bootstrap.replicates(rows_of([a / 2 for a in asked], asked), recall, 20, seed)["recall"]
    assert found.tolist() == [0.5] * 20
    assert bootstrap.interval(found) == (0.5, 0.5)
