"""Evidence adds up in any order, and its columns are read back from results."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.protocols.tally import Count, Sum, Tally

quick = settings(deadline=None, derandomize=True, max_examples=100)
numbers = st.floats(-1e9, 1e9, allow_subnormal=False)


@dataclass(frozen=True, eq=False)
class Words(Tally):
    words: Count
    credit: Sum
    bins: Sum | None = None


def words(credits: list[float]) -> Words:
    column = np.array(credits, np.float64)
    return Words(np.arange(len(column)), column, np.stack([column, 2 * column], axis=1))


@quick
@given(st.lists(st.lists(numbers, min_size=1, max_size=5), min_size=1, max_size=5))
def test_sums_of_batches_are_those_of_their_rows(batches) -> None:
    tallies = [words(batch) for batch in batches]
    everything = Words.concatenate(tallies)
    assert next(everything.rows()).as_dict() == next(tallies[0].rows()).as_dict()
    totals = everything.sum().as_dict()
    values = [value for batch in batches for value in batch]
    assert totals["credit"] == math.fsum(values)
    assert totals["bins"] == [math.fsum(values), math.fsum(2 * value for value in values)]


def test_columns_of_results_are_checked() -> None:
    whole = Words.from_columns({"words": [1, 2], "credit": [1, 2]})
    assert (whole.words.dtype, whole.credit.dtype) == (np.int64, np.float64)
    for columns in ({"words": [1]}, {"words": [1], "credit": [1.0], "letters": [1]}):
        with pytest.raises(TypeError):
            Words.from_columns(columns)
    with pytest.raises(ValueError, match="words is not a whole number"):
        Words.from_columns({"words": [1.5], "credit": [1.0]})
