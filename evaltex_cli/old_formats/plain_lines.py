"""Plain lines of a text: numbers between commas, and a rest. They are found by array operations
over all bytes.

A plain line begins with numbers without plus sign or exponent between commas, at most blanks before
each. All other lines are left to the exact parser of their format, which accepts the same language
and more, and explains what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.old_formats.files.numbers import COORDINATE_LIMIT, parse_numbers
from evaltex_cli.records import Bools, Floats, Ints, distinct

Bytes = NDArray[np.uint8]

STRETCH_BYTES = 1 << 18
"""Bytes that are worked on at once, few enough for the processor's cache."""
_IS_NEWLINE, _IS_COMMA, _IS_DIGIT, _IS_MINUS, _IS_DOT, _IS_BLANK, _IS_OTHER = range(7)
_KIND = np.full(256, _IS_OTHER, np.uint8)
for _characters, _kind in (
    *((b"\n", _IS_NEWLINE), (b",", _IS_COMMA), (b"0123456789", _IS_DIGIT)),
    *((b"-", _IS_MINUS), (b".", _IS_DOT), (b" \t", _IS_BLANK)),
):
    _KIND[np.frombuffer(_characters, np.uint8)] = _kind
_KINDS = _KIND.tobytes()
_NO_MARK, _FIELD_END, _NUMBERS_END, _COMMA_END, _LINE_END, _OTHER, _FOREIGN = range(7)
"""What a byte marks: that a field ends, all being well; that the line ends after a number, after a
comma, or after anything else; that something begins that is in no number; or that no plain line has
it after what stands before it."""


def _marks_of_pairs() -> bytes:
    """What a byte marks, by the kind of the one before it and its own, as `_pairs` joins them."""
    marks = np.full((32, 8), _FOREIGN, np.uint8)
    for before in (_IS_NEWLINE, _IS_COMMA, _IS_BLANK):
        marks[before, [_IS_DIGIT, _IS_MINUS, _IS_BLANK]] = _NO_MARK
    marks[_IS_DIGIT, [_IS_DIGIT, _IS_DOT]] = _NO_MARK
    marks[[_IS_MINUS, _IS_DOT], _IS_DIGIT] = _NO_MARK
    marks[_IS_DIGIT, _IS_COMMA] = _FIELD_END
    marks[:, _IS_OTHER] = _OTHER
    marks[_IS_OTHER] = _NO_MARK
    marks[:, _IS_NEWLINE] = _LINE_END
    marks[_IS_DIGIT, _IS_NEWLINE] = _NUMBERS_END
    marks[_IS_COMMA, _IS_NEWLINE] = _COMMA_END
    return marks.tobytes()


_MARKS = _marks_of_pairs()
_MAY_BEGIN_NUMBER = np.isin(np.arange(256), np.frombuffer(b"+nNiI", np.uint8))
_NAN, _INF = (int.from_bytes(word, "big") for word in (b"nan", b"inf"))


class PlainLines(NamedTuple):
    """The plain lines of a buffer, each some numbers between commas, then a comma and a rest, or
    nothing.
    """

    line: Ints
    """(n,) int64. Index of each line in the buffer."""
    start: Ints
    stop: Ints
    """`start` and `stop`: (n,) int64. Its bytes, without the newline."""
    numbers: Ints
    """(n,) int64. How many numbers it begins with."""
    goes_on: Bools
    """(n,) bool. Whether a comma follows the last of them."""
    rest: Ints
    """(n,) int64. Where what follows that comma begins; the line's end where nothing does."""
    first: Ints
    """(n,) int64. Index in `marks` of where the first number ends; the others end at those that
    follow."""
    marks: Ints
    """(m,) int64. Bytes where numbers end, among others."""

    def fields(self, lines: Ints) -> tuple[Ints, Ints]:
        """Where all numbers of some of these lines begin and end."""
        numbers = self.numbers[lines]
        first = np.cumsum(numbers) - numbers
        # The marks of a line follow each other, so they are found by counting on from the first of
        # each line.
        stop = self.marks[np.arange(numbers.sum()) + np.repeat(self.first[lines] - first, numbers)]
        start = np.empty_like(stop)
        start[1:] = stop[:-1] + 1
        start[first] = self.start[lines]
        return start, stop

    def field(self, lines: Ints, place: Ints) -> tuple[Ints, Ints]:
        """Where one number of each of some of these lines begins and ends."""
        mark = self.first[lines] + place
        return np.where(place > 0, self.marks[mark - 1] + 1, self.start[lines]), self.marks[mark]

    def values(self, data: Bytes, lines: Ints) -> tuple[Floats, Bools]:
        """All numbers of some of these lines, and whether those of a line are
        all at most `COORDINATE_LIMIT`.
        """
        values = parse_numbers(data, *self.fields(lines))
        last = np.cumsum(self.numbers[lines])
        in_range = np.ones(len(lines), dtype=bool)
        # Not <= rather than >, so that NaN is out of range; the search finds the line that a number
        # belongs to.
        in_range[
            np.searchsorted(
                last, np.flatnonzero(~(np.abs(values) <= COORDINATE_LIMIT)), side="right"
            )
        ] = False
        return values, in_range


def are_blanks(characters: Bytes) -> Bools:
    """Which bytes are a blank or a tab."""
    return np.asarray(_KIND[characters] == _IS_BLANK)


def stretches(data: Bytes, ends: Ints) -> Iterator[tuple[int, int]]:
    """Cut the lines of a buffer, whose newlines are at `ends`, into
    stretches: first line, and the one after.
    """
    cuts = np.searchsorted(ends, np.arange(STRETCH_BYTES, len(data), STRETCH_BYTES)) + 1
    bounds = distinct(np.concatenate([[0], np.minimum(cuts, len(ends)), [len(ends)]])).tolist()
    return pairwise(bounds)


def plain_lines(data: Bytes) -> PlainLines:
    """Find the plain lines of a buffer that ends with a newline."""
    mark_of = np.frombuffer(_pairs(data).tobytes().translate(_MARKS), np.uint8)
    marks = np.flatnonzero(mark_of != _NO_MARK)
    mark_of = mark_of[marks]
    is_end = (mark_of >= _NUMBERS_END) & (mark_of <= _LINE_END)
    line_mark = np.flatnonzero(is_end)
    ends = marks[line_mark]
    starts, first = np.empty_like(ends), np.empty_like(ends)
    starts[:1], first[:1] = 0, 0
    starts[1:], first[1:] = ends[:-1] + 1, line_mark[:-1] + 1
    # A line's numbers end at its first mark that does not end a field; the marks before that are
    # one for each number.
    halts = np.flatnonzero(mark_of >= _NUMBERS_END)
    is_first = np.ones(len(halts), dtype=bool)
    is_first[1:] = is_end[halts[:-1]]
    halt = halts[is_first]
    commas = halt - first
    halted_by, halted_at = mark_of[halt], marks[halt]
    all_numbers = halted_by == _NUMBERS_END
    rest = np.where(all_numbers, ends, marks[halt - 1] + 1)
    plain = (commas > 0) & (all_numbers | (halted_by == _COMMA_END))
    other = np.flatnonzero((commas > 0) & (halted_by == _OTHER))
    before = halted_at[other] - rest[other]
    fits = (before == 0) | ((before == 1) & (_KIND[data[rest[other]]] == _IS_BLANK))
    plain[other] = fits & ~_begins_number(data, halted_at[other])
    dots = np.flatnonzero(data == ord("."))
    if len(dots):
        # Two dots between the same marks are in one number, as in 1.2.3.
        again = dots[1:][np.diff(np.searchsorted(marks, dots)) == 0]
        line = np.searchsorted(ends, again)
        plain[line[again < halted_at[line]]] = False
    line = np.flatnonzero(plain)
    return PlainLines(
        *(line, starts[line], ends[line], (commas + all_numbers)[line]),
        *(~all_numbers[line], rest[line], first[line], marks),
    )


def _pairs(data: Bytes) -> Bytes:
    """The kinds of each byte and the one before it, a newline before the first."""
    kind = np.frombuffer(data.tobytes().translate(_KINDS), np.uint8)
    pairs = np.empty_like(kind)
    pairs[:1] = _IS_NEWLINE << 3
    np.left_shift(kind[:-1], 3, out=pairs[1:])
    pairs |= kind
    return pairs


def _begins_number(data: Bytes, position: Ints) -> Bools:
    """Whether a field that begins here may be a number after all: a plus sign, NaN or infinity."""
    begins = _MAY_BEGIN_NUMBER[data[position]]
    suspect = np.flatnonzero(begins)
    last = len(data) - 1
    # Bit 32 makes ASCII letters lower case, so that three bytes can be compared as one number.
    first, second, third = (
        data[np.minimum(position[suspect] + k, last)].astype(np.int64) | 32 for k in range(3)
    )
    word = (first << 16) | (second << 8) | third
    begins[suspect] = (word == _NAN) | (word == _INF) | (data[position[suspect]] == ord("+"))
    return begins
