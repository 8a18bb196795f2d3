"""Numbers in bulk against `float`, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.old_formats.files.numbers import parse_numbers

digits = st.text("0123456789", min_size=1, max_size=9) | st.text(
    "0123456789", min_size=1, max_size=25
)
numbers = st.builds(
    lambda blanks, sign, whole, fraction: (
        blanks + sign + whole + ("." + fraction if fraction else "")
    ),
    *(
        st.sampled_from(["", "", " ", "\t  "]),
        st.sampled_from(["", "", "-"]),
        digits,
        st.just("") | digits,
    ),
)


def parsed(text: str) -> np.ndarray:
    data = np.frombuffer(text.encode(), np.uint8)
    stop = np.flatnonzero(data == ord(","))
    return parse_numbers(data, np.concatenate([[0], stop[:-1] + 1])[: len(stop)], stop)


def floats(text: str) -> np.ndarray:
    return np.array([float(number) for number in text.split(",")[:-1]])


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.lists(numbers, max_size=12), st.sampled_from(["", "word 1.5 12345678", "."]))
def test_values_are_those_of_float(found: list[str], rest: str) -> None:
    text = "".join(number + "," for number in found)
    assert parsed(text + rest).tobytes() == floats(text).tobytes()


@pytest.mark.parametrize("whole", [1, 3, 4, 5, 8, 9])
@pytest.mark.parametrize("fraction", [0, 1, 7, 8, 16])
def test_numbers_of_one_length_only(whole: int, fraction: int) -> None:
    tail = "." + "7" * fraction if fraction else ""
    text = "".join(f"{sign}{digit * whole}{tail}," for sign in ("", "-", " ") for digit in "0189")
    assert parsed(text).tobytes() == floats(text).tobytes()
