"""Bulk reader of EvaLTex object lines of the plain form: two double quotes, numbers without plus sign or exponent."""

from __future__ import annotations

import numpy as np

from evaltex_cli.formats.base import Side
from evaltex_cli.formats.files.text_lines import line_ends
from evaltex_cli.formats.lines import LineColumns
from evaltex_cli.formats.plain_lines import Bytes, PlainLines, plain_lines
from evaltex_cli.records import Bools, Floats, Ints

_QUOTE, _COMMA, _DOT, _ZERO = b'",.0'
_MOST_DIGITS = 18


def usual_object_lines(data: Bytes, starts: Ints, side: Side) -> Bools:
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


def _are_usual(data: Bytes, position: Ints, side: Side) -> Bools:
    usual = np.ones(len(position), dtype=bool)
    last = len(data) - 1
    for _ in range(2 if side == "gt" else 1):
        begin = position
        for _ in range(_MOST_DIGITS):
            digit = data[position] - np.uint8(_ZERO) < 10
            if not digit.any():
                break
            position = position + digit
        usual &= (position > begin) & (data[position] == _COMMA)
        position = np.minimum(position + 1, last)
    usual &= data[position] == _QUOTE
    return usual


def read_plain(data: Bytes, side: Side) -> LineColumns:
    """Read the plain object lines of a text that ends with a newline.

    Transcription and reject flag are cut out; what is left of a line must be numbers between commas and nothing else.
    """
    ends = line_ends(data)
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])[: len(ends)]
    line, opening, closing = _quoted_lines(data, starts, ends, side)
    numbers = _without_transcriptions(data, starts[line], opening, closing + (4 if side == "gt" else 2), ends[line])
    found = plain_lines(numbers)
    leading = 2 if side == "gt" else 1
    fits = _fits(numbers, found, opening[found.line] - starts[line[found.line]], leading)
    values, in_range = found.values(numbers, fits)
    counts = found.numbers[fits] - leading
    first = np.cumsum(counts + leading) - counts
    sound = in_range & _with_corners(values, first[counts == 4], counts == 4)
    is_coordinate = np.repeat(sound, counts + leading)
    is_coordinate[first - leading] = False
    is_coordinate[first - 1] = False
    chosen = found.line[fits[sound]]
    return LineColumns(
        line=line[chosen],
        coordinates=values[is_coordinate],
        counts=counts[sound],
        text_start=opening[chosen] + 1,
        text_stop=closing[chosen],
        dont_care=data[closing[chosen] + 2] == ord("t") if side == "gt" else np.zeros(len(chosen), dtype=bool),
        confidences=np.broadcast_to(np.nan, len(chosen)),
        ids=values[first[sound] - leading].astype(np.int64),
        regions=values[first[sound] - 1].astype(np.int64),
    )


def _quoted_lines(data: Bytes, starts: Ints, ends: Ints, side: Side) -> tuple[Ints, Ints, Ints]:
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


def _without_transcriptions(data: Bytes, starts: Ints, opening: Ints, resume: Ints, ends: Ints) -> Bytes:
    keep = np.zeros(len(data) + 1, np.int8)
    keep[starts] = 1
    keep[opening] = -1
    keep[resume] = 1
    keep[ends + 1] -= 1
    kept: Bytes = data[np.cumsum(keep[:-1], dtype=np.int8).view(bool)]
    return kept


def _fits(numbers: Bytes, found: PlainLines, opening: Ints, leading: int) -> Ints:
    """Return the lines with numbers for an object, of which the leading ones end before `opening` and have no dot."""
    counts = found.numbers - leading
    fits = ~found.goes_on & ((counts == 4) | ((counts >= 6) & (counts % 2 == 0)))
    leading_stop = found.marks[np.minimum(found.first + leading - 1, len(found.marks) - 1)]
    fits &= leading_stop - found.start == opening - 1
    dots = np.flatnonzero(numbers == _DOT)
    owner = np.searchsorted(found.stop, dots)
    dots, owner = dots[owner < len(fits)], owner[owner < len(fits)]
    fits[owner[(dots >= found.start[owner]) & (dots < leading_stop[owner])]] = False
    return np.flatnonzero(fits)


def _with_corners(values: Floats, first: Ints, is_box: Bools) -> Bools:
    """Put x1, y1 in the place of the width and height of boxes that begin at `first`; return which have an area."""
    sound = np.ones(len(is_box), dtype=bool)
    has_area = np.ones(len(first), dtype=bool)
    for k in range(2):
        start, size = values[first + k], values[first + k + 2]
        with np.errstate(all="ignore"):  # values out of range are refused later
            values[first + k + 2] += start
        has_area &= (size > 0) & (values[first + k + 2] > start)
    sound[is_box] = has_area
    return sound
