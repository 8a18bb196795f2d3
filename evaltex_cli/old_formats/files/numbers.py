"""Numbers as text files of every format have them."""

from __future__ import annotations

import contextlib
import math
import re

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.records import Floats, Ints

NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
COORDINATE_LIMIT = 1e12
"""Largest magnitude of a coordinate, in pixels: beyond it areas lose the pixel."""
_ZERO, _BLANK = np.frombuffer(b"0 ", np.uint8)
_MOST_DIGITS = 15
"""Of a whole number that is the sum of its digits' values: below 2**53 each sum is exact."""


def parse_number(field: str) -> float:
    """Parse a finite number of at most `COORDINATE_LIMIT` in magnitude.

    Raises
    ------
    FormatError
        For anything else, NaN and infinities among it.
    """
    value = float(field) if NUMBER.fullmatch(field) else math.nan
    if not abs(value) <= COORDINATE_LIMIT:
        raise FormatError(
            f"{quote(field.strip())}",
            "a finite number (integer or decimal, at most 1e12 in magnitude)",
        )
    return value


def parse_numbers(data: NDArray[np.uint8], start: Ints, stop: Ints) -> Floats:
    """Return the values of very many numbers at once.

    Parameters
    ----------
    data : (b,) uint8
    start, stop : (n,) int64
        Where the numbers are, none of them empty: perhaps a blank, then digits, signs, dots and
        exponents.

    Returns
    -------
    (n,) float64
        Correctly rounded, so the same as `float` returns. If one is no number, all that are not of
        digits alone are NaN.
    """
    start = start + ((data[start] == _BLANK) & (stop - start > 1))
    length = stop - start
    digits_only = length <= _MOST_DIGITS
    values = np.zeros(len(start))
    for k in range(
        min(int(length.max(initial=0)), _MOST_DIGITS)
    ):  # from the last digit to the first
        inside = length > k
        digit = (data[stop - 1 - np.minimum(k, length - 1)] - _ZERO) * inside
        digits_only &= digit < 10  # any other byte is larger: the subtraction wraps around
        values += digit * 10.0**k
    others = np.flatnonzero(~digits_only)
    values[others] = _each(data, start[others], stop[others])
    return values


def _each(data: NDArray[np.uint8], start: Ints, stop: Ints) -> Floats:
    """Return what `parse_numbers` does, slower."""
    ends = np.cumsum(stop - start + 1)  # in a text of these numbers alone, a comma after each
    places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(stop + 1 - ends, stop - start + 1)
    text = data.take(places, mode="clip")  # the last comma may be behind the data
    text[ends - 1] = ord(",")
    # What is no number ends the list. NumPy warns of it too, but warnings are the whole process's,
    # not a thread's.
    with contextlib.suppress(DeprecationWarning, ValueError):
        values = np.fromstring(text.tobytes() + b"0", np.float64, sep=",")
        if len(values) == len(start) + 1:
            return values[:-1]
    return np.full(len(start), np.nan)
