"""What hangs together by overlaps."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evaltex_cli.diagnosis.components import spread

PAIRS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20)


@given(PAIRS)
def test_the_lowest_label_spreads_to_all_that_hang_together(pairs: list[tuple[int, int]]) -> None:
    expected, reached = list(range(9)), [9] * 9
    for _ in range(20):  # one pair after the other, more often than any chain is long
        for i, j in pairs:
            expected[i] = reached[j] = min(expected[i], reached[j])
    gt, det = np.array(pairs, np.int64).reshape(-1, 2).T
    labels, of_detections = spread(np.arange(9), gt, det, 9)
    assert (labels.tolist(), of_detections.tolist()) == (expected, reached)


def test_a_long_chain() -> None:
    k = np.arange(20_000)
    gt, det = np.concatenate([k, k[1:]]), np.concatenate([k, k[:-1]])
    labels, of_detections = spread(k, gt, det, len(k))
    assert not labels.any() and not of_detections.any()
