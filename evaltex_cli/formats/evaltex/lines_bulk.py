"""Bulk tokeniser of EvaLTex object lines: array operations over the bytes of thousands of lines at once.

It takes only lines of the plain form (two double quotes, digits as ID and region, no blanks) and says which those are;
all others are left to `evaltex.lines`, which accepts the same language and more, and explains what is wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.formats.base import Side
from evaltex_cli.formats.files.numbers import COORDINATE_LIMIT, parse_numbers
from evaltex_cli.records import Bools, Floats, Ints, offsets_of

_NEWLINE, _QUOTE, _COMMA, _ZERO = 10, 34, 44, 48
_SEPARATOR, _DIGIT, _SIGN, _OTHER = 0, 1, 2, 3
_LARGEST_ID = 2.0**53
_MOST_DIGITS = 18

_KIND = np.full(256, _OTHER, np.uint8)
_KIND[[_NEWLINE, _COMMA]] = _SEPARATOR
_KIND[np.frombuffer(b"0123456789", np.uint8)] = _DIGIT
_KIND[np.frombuffer(b"+-.eE", np.uint8)] = _SIGN


class BulkLines(NamedTuple):
    """The plain lines of a buffer, in columns.

    Attributes
    ----------
    line : (n,) int64
        Index of each line in the buffer.
    ids, regions : (n,) int64
    dont_care : (n,) bool
    text_start, text_stop : (n,) int64
        Bytes of the transcription in the buffer.
    coordinates : (c,) float64
        All coordinates, one line after the other.
    coordinate_offsets : (n + 1,) int64
    """

    line: Ints
    ids: Ints
    regions: Ints
    dont_care: Bools
    text_start: Ints
    text_stop: Ints
    coordinates: Floats
    coordinate_offsets: Ints


def usual_object_lines(data: NDArray[np.uint8], starts: Ints, side: Side) -> Bools:
    """(lines,) whether a line begins ``digits,digits,"`` (ground truth) or ``digits,"``: an object line at a glance."""
    shortest = b'1,1,"' if side == "gt" else b'1,"'
    if len(data) < len(shortest):
        return np.zeros(len(starts), dtype=bool)
    usual = starts <= len(data) - len(shortest)
    begin = starts * usual
    for k, byte in enumerate(shortest):
        usual &= data[begin + k] - np.uint8(_ZERO) < 10 if byte == shortest[0] else data[begin + k] == byte
    others = np.flatnonzero(~usual)
    usual[others] = _are_usual(data, starts[others], side)
    return usual


def _are_usual(data: NDArray[np.uint8], position: Ints, side: Side) -> Bools:
    usual = np.ones(len(position), dtype=bool)
    last = len(data) - 1
    for _ in range(2 if side == "gt" else 1):
        begin = position
        for _ in range(_MOST_DIGITS):
            digit = _KIND[data[position]] == _DIGIT
            if not digit.any():
                break
            position = position + digit
        usual &= (position > begin) & (data[position] == _COMMA)
        position = np.minimum(position + 1, last)
    usual &= data[position] == _QUOTE
    return usual


def tokenise(data: NDArray[np.uint8], ends: Ints, side: Side) -> BulkLines:
    """Parse the plain object lines of a buffer.

    Parameters
    ----------
    data : (bytes,) uint8
        Text that ends with a newline.
    ends : (lines,) int64
        Positions of its newlines.
    side : {'gt', 'det'}
    """
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
    line, opening, closing = _quoted_lines(data, starts, ends, side)
    while True:
        clean, values, fields = _numbers(data, starts[line], opening, closing, ends[line], side)
        if clean.all():
            break
        line, opening, closing = line[clean], opening[clean], closing[clean]
    leading = 2 if side == "gt" else 1
    first = np.cumsum(fields) - fields
    is_coordinate = np.ones(len(values), dtype=bool)
    is_coordinate[first] = False
    is_coordinate[first + leading - 1] = False
    return BulkLines(
        line=line,
        ids=values[first].astype(np.int64),
        regions=values[first + leading - 1].astype(np.int64),
        dont_care=data[closing + 2] == ord("t") if side == "gt" else np.zeros(len(line), dtype=bool),
        text_start=opening + 1,
        text_stop=closing,
        coordinates=values[is_coordinate],
        coordinate_offsets=offsets_of(fields - leading),
    )


def _quoted_lines(data: NDArray[np.uint8], starts: Ints, ends: Ints, side: Side) -> tuple[Ints, Ints, Ints]:
    """Return the lines with two quotes between commas (and a reject flag), and where their quotes stand."""
    quotes = np.flatnonzero(data == _QUOTE)
    before = np.searchsorted(quotes, ends)
    line = np.flatnonzero(np.diff(before, prepend=0) == 2)
    opening, closing = quotes[before[line] - 2], quotes[before[line] - 1]
    after = 3 if side == "gt" else 1
    fits = (opening > starts[line]) & (closing + after < ends[line])
    line, opening, closing = line[fits], opening[fits], closing[fits]
    fits = (data[opening - 1] == _COMMA) & (data[closing + after] == _COMMA)
    if side == "gt":
        flag = data[closing + 2]
        fits &= (data[closing + 1] == _COMMA) & ((flag == ord("t")) | (flag == ord("f")))
    return line[fits], opening[fits], closing[fits]


def _numbers(
    data: NDArray[np.uint8], starts: Ints, opening: Ints, closing: Ints, ends: Ints, side: Side
) -> tuple[Bools, Floats, Ints]:
    """Return which lines are plain, and if all are, their numbers and how many fields each has.

    The transcription and the reject flag are cut out; what stays must be numbers between commas.
    """
    text = _without_transcriptions(data, starts, opening, closing + (4 if side == "gt" else 2), ends)
    kind = _KIND[text]
    separator = np.flatnonzero(kind == _SEPARATOR)
    newline = np.flatnonzero(text[separator] == _NEWLINE)
    fields = np.diff(newline, prepend=-1)
    leading = 2 if side == "gt" else 1
    coordinates = fields - leading
    plain = (coordinates == 4) | ((coordinates >= 6) & (coordinates % 2 == 0))
    empty_field = np.diff(separator, prepend=-1) == 1
    plain[np.searchsorted(newline, np.flatnonzero(empty_field))] = False
    last_id = separator[np.minimum(newline - fields + leading, len(separator) - 1)]
    begin = np.concatenate([np.zeros(1, np.int64), separator[newline[:-1]] + 1])
    plain &= last_id - begin == opening - starts - 1
    unusual = np.flatnonzero(kind >= _SIGN)
    if len(unusual):
        line = np.searchsorted(separator[newline], unusual)
        plain[line[(kind[unusual] == _OTHER) | (unusual < last_id[line])]] = False
    if not plain.all():
        return plain, np.zeros(0), fields
    values = parse_numbers(
        text, np.concatenate([np.zeros(1, np.int64), separator[:-1] + 1])[: len(separator)], separator
    )
    return _sound(values, fields, leading), values, fields


def _without_transcriptions(
    data: NDArray[np.uint8], starts: Ints, opening: Ints, resume: Ints, ends: Ints
) -> NDArray[np.uint8]:
    keep = np.zeros(len(data) + 1, np.int8)
    keep[starts] = 1
    keep[opening] = -1
    keep[resume] = 1
    keep[ends + 1] -= 1
    kept: NDArray[np.uint8] = data[np.cumsum(keep[:-1], dtype=np.int8).view(bool)]
    return kept


def _sound(values: Floats, fields: Ints, leading: int) -> Bools:
    """Which lines hold IDs that are exact and coordinates in range, boxes with an area."""
    first = np.cumsum(fields) - fields
    sound: Bools = (values[first] < _LARGEST_ID) & (values[first + leading - 1] < _LARGEST_ID)
    if not (np.abs(values) <= COORDINATE_LIMIT).all():
        wild = np.flatnonzero(~(np.abs(values) <= COORDINATE_LIMIT))
        sound[np.searchsorted(first, wild, side="right") - 1] = False
    box = np.flatnonzero(fields == leading + 4)
    x, y, width, height = (values[first[box] + leading + k] for k in range(4))
    sound[box] &= (width > 0) & (height > 0) & (x + width > x) & (y + height > y)
    return sound
