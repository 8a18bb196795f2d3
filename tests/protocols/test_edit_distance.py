"""Edit distances of many texts at once against the plain table of two."""

from __future__ import annotations

import pytest
import reference_texts as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.protocols import edit_distance
from evaltex_cli.protocols.edit_distance import edit_distances

texts = st.text("abß\U0001f600 ", max_size=9)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.lists(st.tuples(texts, texts), max_size=8), st.sampled_from([1, 20, 1 << 20]))
def test_is_the_plain_distance(pairs: list[tuple[str, str]], cells: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edit_distance, "CELLS_AT_ONCE", cells)
        one, other = [a for a, _ in pairs], [b for _, b in pairs]
        assert edit_distances(one, other).tolist() == [reference.distance(*pair) for pair in pairs]
        words = [a.split() for a in one], [b.split() for b in other]
        assert edit_distances(*words).tolist() == [
            reference.distance(*pair) for pair in zip(*words, strict=True)
        ]


def test_long_texts() -> None:
    assert edit_distances(["a" * 9_999 + "b"], ["a" * 10_000]).tolist() == [1]
    assert edit_distances(["a"], ["b" * 1_000_000]).tolist() == [1_000_000]
