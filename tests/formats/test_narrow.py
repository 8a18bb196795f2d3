"""Columns that grow part by part have the values that were added, in the narrowest type, and take
no memory where all are the same.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltex_cli.old_formats.narrow import DECIMAL, WHOLE, Column

WHOLES = st.lists(st.sampled_from([0, 2, 255, 256, -1, 1 << 31, 1 << 40]), max_size=4)
FLOATS = st.lists(st.sampled_from([0.0, 720.0, 0.1, -3.5, 1e300]), max_size=4)


@given(
    st.sampled_from([1, 2]),
    st.one_of(
        st.tuples(st.just(WHOLE), st.lists(WHOLES)), st.tuples(st.just(DECIMAL), st.lists(FLOATS))
    ),
)
def test_what_is_added_is_there(width, added):
    kinds, parts = added
    column = Column(kinds, width)
    rows = [np.array(part * width).reshape(-1, width) for part in parts]
    for one in rows:
        column.extend(one)
    expected = np.concatenate([np.zeros((0, width)), *rows])
    found = column.values()
    assert found.shape == expected.shape
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("width", [1, 2])
def test_values_that_are_the_same_are_one(width):
    column = Column("Hfd", width)
    for _ in range(3):
        column.extend(np.full((1000, width), 720.5))
    assert column.values().strides[0] == 0
    column.extend(np.full((1, width), 720))
    assert column.values().dtype == np.float32
    assert column.values()[[0, 2999, 3000], 0].tolist() == [720.5, 720.5, 720]
