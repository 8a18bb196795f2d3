"""Edit distances against the plain table."""

from __future__ import annotations

import reference_texts as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.protocols.texts import edit_distance

texts = st.text("abß\U0001f600 ", max_size=9)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(texts, texts)
def test_is_the_plain_distance(one: str, other: str) -> None:
    assert edit_distance(one, other) == reference.distance(one, other)
    words = one.split(), other.split()
    assert edit_distance(*words) == reference.distance(*words)


def test_long_texts() -> None:
    assert edit_distance("a" * 9_999 + "b", "a" * 10_000) == 1
    assert edit_distance("a", "b" * 100_000) == 100_000
