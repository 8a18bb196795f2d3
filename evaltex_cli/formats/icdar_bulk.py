"""Bulk tokeniser of ICDAR-style lines: array operations over the bytes of thousands of lines at once.

It takes only lines of the plain form (numbers without exponent between commas, at most blanks before each) and says
which those are; all others are left to `icdar_lines`, which accepts the same language and more, and explains what is
wrong.
"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.formats.evaltex_lines import COORDINATE_LIMIT
from evaltex_cli.formats.icdar_lines import CURVED_PREFIX, DONT_CARE, SCRIPTS, LineShape, Syntax
from evaltex_cli.records import Bools, Floats, Ints

Bytes = NDArray[np.uint8]

_NEWLINE, _QUOTE, _HASH, _COMMA, _BACKSLASH = 10, 34, 35, 44, 92
_OTHER, _SEPARATOR, _DIGIT, _MINUS, _DOT, _BLANK = range(6)
_KINDS = 6
_KIND = np.full(256, _OTHER, np.uint8)
_KIND[[_NEWLINE, _COMMA]] = _SEPARATOR
_KIND[np.frombuffer(b"0123456789", np.uint8)] = _DIGIT
_KIND[np.frombuffer(b" \t", np.uint8)] = _BLANK
_KIND[ord("-")], _KIND[ord(".")] = _MINUS, _DOT
_FOLLOWS = (
    *((_SEPARATOR, kind) for kind in (_DIGIT, _MINUS, _BLANK)),
    *((_BLANK, kind) for kind in (_DIGIT, _MINUS, _BLANK)),
    *((_DIGIT, kind) for kind in (_DIGIT, _DOT, _SEPARATOR)),
    *((_MINUS, _DIGIT), (_DOT, _DIGIT)),
)
_IS_FOREIGN_PAIR = np.ones(_KINDS * _KINDS, dtype=bool)
_IS_FOREIGN_PAIR[[first * _KINDS + second for first, second in _FOLLOWS]] = False
_NAN, _INF = (int.from_bytes(word, "big") for word in (b"nan", b"inf"))
_SCRIPTS = frozenset(script.encode() for script in SCRIPTS)
_LONGEST_SCRIPT = max(map(len, SCRIPTS))


@dataclass(frozen=True, slots=True, eq=False)
class PlainLines:
    """The plain lines of a buffer, each some numbers between commas, then a comma and a rest, or nothing.

    Attributes
    ----------
    line : (n,) int64
        Index of each line in the buffer.
    numbers : (n,) int64
        How many numbers it begins with.
    goes_on : (n,) bool
        Whether a comma follows the last of them.
    rest, stop : (n,) int64
        Bytes of what follows that comma; both the line's end where nothing does.
    fields : (b,) uint8
        The numbers of all lines, a comma after each.
    """

    line: Ints
    numbers: Ints
    goes_on: Bools
    rest: Ints
    stop: Ints
    fields: Bytes


class ReadLines(NamedTuple):
    """The plain lines of a buffer, read; columns as in `Objects`, bytes of the transcriptions in the buffer."""

    line: Ints
    coordinates: Floats
    counts: Ints
    confidences: Floats
    text_start: Ints
    text_stop: Ints
    dont_care: Bools


def line_ends(data: Bytes) -> Ints:
    """Positions of the newlines of a buffer that ends with one."""
    return np.flatnonzero(data == _NEWLINE)


def plain_lines(data: Bytes, ends: Ints) -> PlainLines:
    """Find the plain lines of a buffer that ends with a newline, `ends` being where its newlines are."""
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
    kind = _KIND[data]
    others = np.append(np.flatnonzero(kind == _OTHER), len(data))
    first_other = np.minimum(others[np.searchsorted(others, starts)], ends)
    commas = np.flatnonzero(data == _COMMA)
    before = np.searchsorted(commas, starts)
    count = np.searchsorted(commas, first_other) - before
    line = np.flatnonzero(count)
    start, stop, other, count = starts[line], ends[line], first_other[line], count[line]
    rest = commas[before[line] + count - 1] + 1
    all_numbers = (other == stop) & (rest < stop)
    blanks = other - rest
    plain = all_numbers | (blanks == 0) | ((blanks == 1) & (kind[rest] == _BLANK))
    plain &= all_numbers | ~_begins_number(data, other)
    goes_on = ~all_numbers
    rest = np.where(all_numbers, stop, rest)
    fields, foreign = _number_fields(data, kind, start, np.where(all_numbers, stop + 1, rest), plain)
    if len(foreign):
        plain[np.flatnonzero(plain)[foreign]] = False
        fields, _ = _number_fields(data, kind, start, np.where(all_numbers, stop + 1, rest), plain)
    return PlainLines(line[plain], (count + all_numbers)[plain], goes_on[plain], rest[plain], stop[plain], fields)


def _begins_number(data: Bytes, position: Ints) -> Bools:
    """Whether a field that begins here may be a number after all: a plus sign, NaN or infinity."""
    last = len(data) - 1
    first, second, third = (data[np.minimum(position + k, last)].astype(np.int64) | 32 for k in range(3))
    word = (first << 16) | (second << 8) | third
    return np.asarray((word == _NAN) | (word == _INF) | (data[position] == ord("+")))


def _number_fields(data: Bytes, kind: Bytes, start: Ints, stop: Ints, chosen: Bools) -> tuple[Bytes, Ints]:
    """Cut out the chosen lines' numbers, a comma after each; tell which of these lines hold other than plain ones."""
    start, stop = start[chosen], stop[chosen]
    edges = np.zeros(len(data) + 1, np.int8)
    edges[start] = 1
    edges[stop] -= 1
    keep = np.cumsum(edges[:-1], dtype=np.int8).view(bool)
    fields = data[keep]
    kinds = kind[keep]
    previous = np.concatenate([np.full(1, _SEPARATOR, np.uint8), kinds[:-1]])
    foreign = np.flatnonzero(_IS_FOREIGN_PAIR[previous * np.uint8(_KINDS) + kinds])
    dots = np.flatnonzero(kinds == _DOT)
    if len(dots):
        separators = np.searchsorted(np.flatnonzero(kinds == _SEPARATOR), dots)
        foreign = np.concatenate([foreign, dots[1:][np.diff(separators) == 0]])
    fields[fields == _NEWLINE] = _COMMA
    return fields, np.searchsorted(np.cumsum(stop - start), foreign, side="right")


def _parse(fields: Bytes, count: int) -> Floats:
    """The values of so many numbers, a comma after each."""
    if not count:
        return np.zeros(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        values = np.fromstring(fields[:-1].tobytes(), dtype=np.float64, sep=",")
    if len(values) != count:
        raise AssertionError(f"{len(values)} numbers parsed, {count} tokenised")
    return values


# The survey -----------------------------------------------------------------------------------------------------------


def survey(buffer: bytes, data: Bytes, plain: PlainLines) -> tuple[Counter[LineShape], Ints, list[int]]:
    """Count the shapes of plain lines.

    Returns
    -------
    shapes : Counter
        Of all plain lines but those in `special`.
    special : (s,) int64
        Positions in `plain` of lines that may be of a format of its own, for `icdar_lines.survey_line` to tell.
    spaced : list of int
        Positions in `plain` of lines whose transcription is ``###`` with blanks around.
    """
    numbers, goes_on = plain.numbers, plain.goes_on
    first = data[plain.rest]
    second = data[np.minimum(plain.rest + 1, len(data) - 1)]
    quoted = (first == _QUOTE) | ((_KIND[first] == _BLANK) & (second == _QUOTE))
    is_special = (numbers == 9) & goes_on & quoted
    is_special |= (numbers == 28) & goes_on & (first == ord(CURVED_PREFIX[0]))
    is_special |= ((numbers == 32) | (numbers == 7)) & ~goes_on
    is_special |= _has_script(buffer, data, plain)
    separators = np.flatnonzero(plain.fields == _COMMA)
    first_field = np.cumsum(numbers) - numbers
    end = (numbers - ~goes_on) // 2 * 2
    code = numbers * 2 + goes_on
    for place in (np.full(len(numbers), 4), np.full(len(numbers), 8), end):
        code = code * 3 + _confidence_kinds(plain.fields, separators, first_field, numbers, place)
    codes, counts = np.unique(code[~is_special], return_counts=True)
    shapes: Counter[LineShape] = Counter()
    for value, number in zip(codes.tolist(), counts.tolist(), strict=True):
        start, box, quad, polygon = value // 27, value // 9 % 3, value // 3 % 3, value % 3
        shapes[LineShape(start // 2, bool(start % 2), box, quad, polygon)] += number
    return shapes, np.flatnonzero(is_special), _spaced_dont_care(buffer, data, plain, is_special)


def _has_script(buffer: bytes, data: Bytes, plain: PlainLines) -> Bools:
    """Whether the field after eight numbers is a script's name, and a comma follows."""
    found = np.zeros(len(plain.line), dtype=bool)
    quads = np.flatnonzero((plain.numbers == 8) & plain.goes_on)
    commas = np.flatnonzero(data == _COMMA)
    following = np.append(commas, len(data))[np.searchsorted(commas, plain.rest[quads])]
    near = following < np.minimum(plain.stop[quads], plain.rest[quads] + _LONGEST_SCRIPT + 3)
    for k, start, stop in zip(
        quads[near].tolist(), plain.rest[quads[near]].tolist(), following[near].tolist(), strict=True
    ):
        found[k] = buffer[start:stop].strip(b" \t") in _SCRIPTS
    return found


def _spaced_dont_care(buffer: bytes, data: Bytes, plain: PlainLines, is_special: Bools) -> list[int]:
    hashes = np.flatnonzero(data == _HASH)
    holds = np.searchsorted(hashes, plain.stop) > np.searchsorted(hashes, plain.rest)
    suspects = np.flatnonzero(holds & ~is_special & ~_is_dont_care(data, plain.rest, plain.stop))
    return [
        k
        for k in suspects.tolist()
        if buffer[plain.rest[k] : plain.stop[k]].decode("utf-8", "replace").strip() == DONT_CARE
    ]


def _confidence_kinds(fields: Bytes, separators: Ints, first_field: Ints, numbers: Ints, place: Ints) -> Ints:
    """`icdar_lines.confidence_kind` of each line's field at a place; 0 where it has none."""
    kinds = np.zeros(len(numbers), np.int64)
    has = np.flatnonzero(place < numbers)
    index = first_field[has] + place[has]
    start = np.where(index > 0, separators[np.maximum(index - 1, 0)] + 1, 0)
    stop = separators[index]
    start = start + (_KIND[fields[start]] == _BLANK)
    near = fields[start] <= ord("1")  # a minus sign or a further blank too
    has, start, stop = has[near], start[near], stop[near]
    single = stop == start + 1
    kinds[has[single]] = 1
    has, start, stop = has[~single], start[~single], stop[~single]
    if len(has):
        edges = np.zeros(len(fields) + 1, np.int8)
        edges[start] = 1
        edges[stop + 1] -= 1
        values = _parse(fields[np.cumsum(edges[:-1], dtype=np.int8).view(bool)], len(has))
        signs = np.flatnonzero((fields == ord(".")) | (fields == ord("-")))
        whole = np.searchsorted(signs, start) == np.searchsorted(signs, stop)
        kinds[has] = np.where((values >= 0) & (values <= 1), np.where(whole, 1, 2), 0)
    return kinds


# Reading --------------------------------------------------------------------------------------------------------------


def read(data: Bytes, ends: Ints, syntax: Syntax) -> ReadLines:
    """Read the plain lines of a buffer that have exactly what the syntax says, and no fault."""
    plain = plain_lines(data, ends)
    fits = _fits(plain, syntax)
    values = _parse(plain.fields, int(plain.numbers.sum()))
    first = np.cumsum(plain.numbers) - plain.numbers
    wild = np.flatnonzero(~(np.abs(values) <= COORDINATE_LIMIT))
    fits[np.searchsorted(first, wild, side="right") - 1] = False
    if syntax.confidences:
        given = values[np.maximum(first + plain.numbers - 1, 0)]
        fits &= (given >= 0) & (given <= 1)
    if syntax.format == "ltrb":
        corner = np.minimum(first, max(len(values) - 4, 0))
        fits[fits] &= (values[corner[fits] + 2] >= values[corner[fits]]) & (
            values[corner[fits] + 3] >= values[corner[fits] + 1]
        )
    text_start, text_stop, unusual = _transcriptions(data, plain, syntax)
    fits &= ~unusual
    counts = (plain.numbers - syntax.confidences)[fits]
    is_coordinate = np.repeat(fits, plain.numbers)
    confidences = np.full(len(counts), np.nan)
    if syntax.confidences:
        last = first[fits] + counts
        confidences = values[last]
        is_coordinate[last] = False
    start, stop = text_start[fits], text_stop[fits]
    dont_care = _is_dont_care(data, start, stop) if syntax.side == "gt" else np.zeros(len(start), dtype=bool)
    return ReadLines(plain.line[fits], values[is_coordinate], counts, confidences, start, stop, dont_care)


def _fits(plain: PlainLines, syntax: Syntax) -> Bools:
    """Whether a line has coordinates, a confidence where there must be one, and no number more."""
    if syntax.own_tail and syntax.format != "mlt":
        return np.zeros(len(plain.line), dtype=bool)
    count = plain.numbers - syntax.confidences
    if syntax.coordinates is not None:
        return np.asarray(count == syntax.coordinates)
    might_end_in_text = not syntax.confidences and syntax.transcriptions
    return np.asarray((count >= 6) & (count % 2 == 0) & (plain.goes_on | (not might_end_in_text)))


def _transcriptions(data: Bytes, plain: PlainLines, syntax: Syntax) -> tuple[Ints, Ints, Bools]:
    """Where the transcriptions are, without quotes around them, and which need the exact parser."""
    start, stop = plain.rest, plain.stop
    unusual = data[stop - 1] == ord("\r")
    if syntax.format == "mlt":
        commas = np.append(np.flatnonzero(data == _COMMA), len(data))
        script_end = commas[np.searchsorted(commas, start)]
        return np.minimum(script_end + 1, stop), stop, unusual | (script_end >= stop)
    opening = start + (_KIND[data[start]] == _BLANK)
    quoted = (data[np.minimum(opening, len(data) - 1)] == _QUOTE) & (opening < stop)
    if not quoted.any():
        return start, stop, unusual
    backslashes = np.flatnonzero(data == _BACKSLASH)
    escaped = np.searchsorted(backslashes, stop) > np.searchsorted(backslashes, start)
    closed = (data[stop - 1] == _QUOTE) & (stop - 1 > opening)
    unusual |= quoted & (escaped | ~closed)
    return np.where(quoted, opening + 1, start), np.where(quoted, stop - 1, stop), unusual


def _is_dont_care(data: Bytes, start: Ints, stop: Ints) -> Bools:
    found: Bools = stop - start == len(DONT_CARE)
    for k in range(len(DONT_CARE)):
        found &= data[np.minimum(start + k, len(data) - 1)] == _HASH
    return found
