"""Plain decimal numbers, very many at once, to the very floats that `float` makes of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.records import Floats, Ints

Bytes = NDArray[np.uint8]

_MINUS, _DOT, _ZERO = ord("-"), ord("."), ord("0")
_MOST_DIGITS = 8
"""Digits before the dot, or after it, that are converted in bulk: all of them together stay below 2**53."""
_POWERS = 10.0 ** np.arange(_MOST_DIGITS)


def parse(data: Bytes, start: Ints, stop: Ints) -> Floats:
    """Return the values of decimal numbers.

    Parameters
    ----------
    data : (b,) uint8
    start, stop : (n,) int64
        Where the numbers are, in ascending order: blanks, a minus sign or none, digits, and perhaps a dot with digits
        after it. Nothing checks that.

    Returns
    -------
    (n,) float64
        Correctly rounded, so the same as `float` returns.
    """
    if not len(start):
        return np.zeros(0)
    signed = np.flatnonzero(data[start] < _ZERO)
    digits_start = start
    is_negative = signed
    if len(signed):
        digits_start, is_negative = _without_signs(data, start, signed)
    dots = np.flatnonzero(data == _DOT)
    owner = np.searchsorted(stop, dots)
    inside = owner < len(stop)
    inside[inside] = start[owner[inside]] < dots[inside]
    dots, owner = dots[inside], owner[inside]
    whole_stop = stop
    if len(dots):
        whole_stop = stop.copy()
        whole_stop[owner] = dots
    longest = int((whole_stop - digits_start).max())
    fractions = stop[owner] - dots - 1
    ending = _values_ending(data, max(longest, int(fractions.max(initial=0))))
    values = ending[whole_stop - 1].astype(np.float64)
    if len(dots):
        scale = _POWERS[np.minimum(fractions, _MOST_DIGITS - 1)]
        values[owner] = (values[owner] * scale + ending[stop[owner] - 1]) / scale
    values[is_negative] *= -1
    long = whole_stop - digits_start > _MOST_DIGITS if longest > _MOST_DIGITS else np.zeros(len(values), dtype=bool)
    long[owner[fractions >= _MOST_DIGITS]] = True
    if long.any():
        values[long] = parse_each(data, start[long], stop[long])
    return values


def _without_signs(data: Bytes, start: Ints, signed: Ints) -> tuple[Ints, Ints]:
    """Where the digits begin of numbers of which some have blanks or a sign before; which of these are negative."""
    start = start.copy()
    blank = signed
    while len(blank := blank[(data[start[blank]] < _ZERO) & (data[start[blank]] != _MINUS)]):
        start[blank] += 1
    negative = signed[data[start[signed]] == _MINUS]
    start[negative] += 1
    return start, negative


def _values_ending(data: Bytes, digits: int) -> NDArray[np.unsignedinteger]:
    """The value of the digits that end at each byte, of the last eight if there are more, 0 where none does.

    Two digits are made of one and one, four of two and two, eight of four and four; `digits` is how many are needed.
    """
    one = data - np.uint8(_ZERO)
    is_digit = one <= 9
    one *= is_digit
    two = one.copy()
    two[1:] += one[:-1] * np.uint8(10)
    two *= is_digit
    are_two = is_digit.copy()
    are_two[1:] &= is_digit[:-1]
    four = two.astype(np.uint16)
    four[2:] += two[:-2] * (are_two[2:] * np.uint16(100))
    if digits <= 4:
        return four
    are_four = are_two.copy()
    are_four[2:] &= are_two[:-2]
    eight = four.astype(np.uint32)
    eight[4:] += four[:-4] * (are_four[4:] * np.uint32(10_000))
    return eight


def parse_each(data: Bytes, start: Ints, stop: Ints) -> Floats:
    """Return what `parse` does, one number at a time."""
    text = data.tobytes()
    return np.array([float(text[a:b]) for a, b in zip(start.tolist(), stop.tolist(), strict=True)], np.float64)
