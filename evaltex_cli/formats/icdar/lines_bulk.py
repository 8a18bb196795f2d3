"""Bulk tokeniser of ICDAR-style lines: array operations over the bytes of thousands of lines at once.

It takes only lines of the plain form (numbers without exponent between commas, at most blanks before each) and says
which those are; all others are left to `icdar.lines`, which accepts the same language and more, and explains what is
wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.formats.base import DONT_CARE
from evaltex_cli.formats.files.numbers import COORDINATE_LIMIT, parse_numbers
from evaltex_cli.formats.icdar.lines import CURVED_PREFIX, SCRIPTS, LineShape, Syntax
from evaltex_cli.records import Bools, Floats, Ints

Bytes = NDArray[np.uint8]

STRETCH_BYTES = 1 << 18
"""Bytes that are worked on at once, few enough for the processor's cache."""
_QUOTE, _HASH, _COMMA, _ZERO, _ONE, _BACKSLASH = b'"#,01\\'
_IS_NEWLINE, _IS_COMMA, _IS_DIGIT, _IS_MINUS, _IS_DOT, _IS_BLANK, _IS_OTHER = range(7)
_KIND = np.full(256, _IS_OTHER, np.uint8)
for _characters, _kind in (
    *((b"\n", _IS_NEWLINE), (b",", _IS_COMMA), (b"0123456789", _IS_DIGIT)),
    *((b"-", _IS_MINUS), (b".", _IS_DOT), (b" \t", _IS_BLANK)),
):
    _KIND[np.frombuffer(_characters, np.uint8)] = _kind
_KINDS = _KIND.tobytes()
_NO_MARK, _FIELD_END, _NUMBERS_END, _COMMA_END, _LINE_END, _OTHER, _FOREIGN = range(7)
"""What a byte marks: that a field ends, all being well; that the line ends after a number, after a comma, or after
anything else; that something begins that is in no number; or that no plain line has it after what stands before it."""


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
_SCRIPTS = frozenset(script.encode() for script in SCRIPTS)
_MAY_BEGIN_SCRIPT = np.isin(np.arange(256), [*(script[0] for script in _SCRIPTS), *b" \t"])
_LONGEST_SCRIPT = max(map(len, SCRIPTS))


@dataclass(frozen=True, slots=True, eq=False)
class PlainLines:
    """The plain lines of a buffer, each some numbers between commas, then a comma and a rest, or nothing.

    Attributes
    ----------
    line : (n,) int64
        Index of each line in the buffer.
    start, stop : (n,) int64
        Its bytes, without the newline.
    numbers : (n,) int64
        How many numbers it begins with.
    goes_on : (n,) bool
        Whether a comma follows the last of them.
    rest : (n,) int64
        Where what follows that comma begins; the line's end where nothing does.
    first : (n,) int64
        Index in `marks` of where the first number ends; the others end at those that follow.
    marks : (m,) int64
        Bytes where numbers end, among others.
    """

    line: Ints
    start: Ints
    stop: Ints
    numbers: Ints
    goes_on: Bools
    rest: Ints
    first: Ints
    marks: Ints

    def fields(self, lines: Ints) -> tuple[Ints, Ints]:
        """Where all numbers of some of these lines begin and end."""
        numbers = self.numbers[lines]
        first = np.cumsum(numbers) - numbers
        stop = self.marks[np.arange(numbers.sum()) + np.repeat(self.first[lines] - first, numbers)]
        start = np.empty_like(stop)
        start[1:] = stop[:-1] + 1
        start[first] = self.start[lines]
        return start, stop

    def field(self, lines: Ints, place: Ints) -> tuple[Ints, Ints]:
        """Where one number of each of some of these lines begins and ends."""
        mark = self.first[lines] + place
        return np.where(place > 0, self.marks[mark - 1] + 1, self.start[lines]), self.marks[mark]


class ReadLines(NamedTuple):
    """The plain lines of a buffer, read; columns as in `Objects`, bytes of the transcriptions in the buffer."""

    line: Ints
    coordinates: Floats
    counts: Ints
    confidences: Floats
    text_start: Ints
    text_stop: Ints
    dont_care: Bools


def stretches(data: Bytes, ends: Ints) -> Iterator[tuple[int, int]]:
    """Cut the lines of a buffer, whose newlines are at `ends`, into stretches: first line, and the one after."""
    cuts = np.searchsorted(ends, np.arange(STRETCH_BYTES, len(data), STRETCH_BYTES)) + 1
    bounds = np.unique(np.concatenate([[0], np.minimum(cuts, len(ends)), [len(ends)]])).tolist()
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
    found = _MAY_BEGIN_NUMBER[data[position]]
    suspect = np.flatnonzero(found)
    last = len(data) - 1
    first, second, third = (data[np.minimum(position[suspect] + k, last)].astype(np.int64) | 32 for k in range(3))
    word = (first << 16) | (second << 8) | third
    found[suspect] = (word == _NAN) | (word == _INF) | (data[position[suspect]] == ord("+"))
    return found


# The survey -----------------------------------------------------------------------------------------------------------


def survey(buffer: bytes, data: Bytes, plain: PlainLines) -> tuple[Counter[LineShape], Ints, list[int]]:
    """Count the shapes of plain lines.

    Returns
    -------
    shapes : Counter
        Of all plain lines but those in `special`.
    special : (s,) int64
        Positions in `plain` of lines that may be of a format of its own, for `icdar.lines.survey_line` to tell.
    spaced : list of int
        Positions in `plain` of lines whose transcription is ``###`` with blanks around.
    """
    numbers, goes_on = plain.numbers, plain.goes_on
    first = data[plain.rest]
    second = data[np.minimum(plain.rest + 1, len(data) - 1)]
    quoted = (first == _QUOTE) | ((_KIND[first] == _IS_BLANK) & (second == _QUOTE))
    is_special = (numbers == 9) & goes_on & quoted
    is_special |= (numbers == 28) & goes_on & (first == ord(CURVED_PREFIX[0]))
    is_special |= ((numbers == 32) | (numbers == 7)) & ~goes_on
    is_special |= _has_script(buffer, data, plain)
    code = numbers * 2 + goes_on
    for place in (np.full_like(numbers, 4), np.full_like(numbers, 8), (numbers - ~goes_on) // 2 * 2):
        code = code * 3 + _confidence_kinds(data, plain, place)
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
    quads = quads[_MAY_BEGIN_SCRIPT[data[plain.rest[quads]]]]
    if not len(quads):
        return found
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
    owner = np.searchsorted(plain.stop, hashes, side="right")
    hashes, owner = hashes[owner < len(plain.stop)], owner[owner < len(plain.stop)]
    suspects = np.unique(owner[hashes >= plain.rest[owner]])
    rest, stop = plain.rest[suspects], plain.stop[suspects]
    suspects = suspects[~is_special[suspects] & ~_is_dont_care(data, rest, stop)]
    return [
        k
        for k in suspects.tolist()
        if buffer[plain.rest[k] : plain.stop[k]].decode("utf-8", "replace").strip() == DONT_CARE
    ]


def _confidence_kinds(data: Bytes, plain: PlainLines, place: Ints) -> Ints:
    """`icdar.lines.confidence_kind` of each line's field at a place; 0 where it has none."""
    kinds = np.zeros(len(place), np.int64)
    has = np.flatnonzero(place < plain.numbers)
    start, stop = plain.field(has, place[has])
    start = start + (_KIND[data[start]] == _IS_BLANK)
    first = data[start]
    single = (stop == start + 1) & (first <= _ONE)
    kinds[has[single]] = 1
    # What begins otherwise is no number in [0, 1]: with a minus sign or a further blank, anything may follow.
    may_be = (stop > start + 1) & ((first <= _ZERO) | ((first == _ONE) & (data[start + 1] == ord("."))))
    has, start, stop = has[may_be], start[may_be], stop[may_be]
    if len(has):
        values = parse_numbers(data, start, stop)
        signs = np.flatnonzero((data == ord(".")) | (data == ord("-")))
        whole = np.searchsorted(signs, start) == np.searchsorted(signs, stop)
        kinds[has] = np.where((values >= 0) & (values <= 1), np.where(whole, 1, 2), 0)
    return kinds


# Reading --------------------------------------------------------------------------------------------------------------


def read(data: Bytes, ends: Ints, syntax: Syntax) -> ReadLines:
    """Read the plain lines of a buffer that have exactly what the syntax says, and no fault.

    Parameters
    ----------
    data : (b,) uint8
        Text that ends with a newline.
    ends : (l,) int64
        Where its newlines are.
    """
    parts = []
    for first, last in stretches(data, ends):
        begin = int(ends[first - 1]) + 1 if first else 0
        part = _read_stretch(data[begin : int(ends[last - 1]) + 1], syntax)
        parts.append(
            part._replace(line=part.line + first, text_start=part.text_start + begin, text_stop=part.text_stop + begin)
        )
    return ReadLines(*map(np.concatenate, zip(*parts, strict=True))) if parts else _read_stretch(data, syntax)


def _read_stretch(data: Bytes, syntax: Syntax) -> ReadLines:
    plain = plain_lines(data)
    text_start, text_stop, unusual = _transcriptions(data, plain, syntax)
    fitting = np.flatnonzero(_fits(plain, syntax) & ~unusual)
    numbers = plain.numbers[fitting]
    values = parse_numbers(data, *plain.fields(fitting))
    first = np.cumsum(numbers) - numbers
    sound = np.ones(len(fitting), dtype=bool)
    wild = np.flatnonzero(~(np.abs(values) <= COORDINATE_LIMIT))
    sound[np.searchsorted(first, wild, side="right") - 1] = False
    last = first + numbers - 1
    if syntax.confidences:
        sound &= (values[last] >= 0) & (values[last] <= 1)
    if syntax.format == "ltrb":
        x0, y0, x1, y1 = values.reshape(len(fitting), -1).T[:4] if len(fitting) else np.zeros((4, 0))
        sound &= (x1 >= x0) & (y1 >= y0)
    is_coordinate = np.repeat(sound, numbers)
    confidences = np.full(int(sound.sum()), np.nan)
    if syntax.confidences:
        confidences = values[last[sound]]
        is_coordinate[last] = False
    chosen = fitting[sound]
    start, stop = text_start[chosen], text_stop[chosen]
    dont_care = _is_dont_care(data, start, stop) if syntax.side == "gt" else np.zeros(len(start), dtype=bool)
    counts = numbers[sound] - syntax.confidences
    return ReadLines(plain.line[chosen], values[is_coordinate], counts, confidences, start, stop, dont_care)


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
    opening = start + (_KIND[data[start]] == _IS_BLANK)
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
