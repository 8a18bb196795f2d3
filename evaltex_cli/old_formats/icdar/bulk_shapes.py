"""The shapes of very many ICDAR-style lines at once: plain lines by array
operations, all others one by one.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from evaltex_cli.old_formats.base import DONT_CARE
from evaltex_cli.old_formats.files.numbers import COORDINATE_LIMIT, parse_numbers
from evaltex_cli.old_formats.files.text_lines import line_ends
from evaltex_cli.old_formats.icdar.lines import SCRIPTS, bare_line
from evaltex_cli.old_formats.icdar.shapes import (
    ANGLE_TEXTS,
    DECIMAL,
    DECIMAL_BEYOND,
    NO_CONFIDENCE,
    PLACES,
    WHOLE,
    WHOLE_BEYOND,
    LineShape,
    is_spaced_dont_care,
    survey_line,
)
from evaltex_cli.old_formats.plain_lines import (
    Bytes,
    PlainLines,
    are_blanks,
    plain_lines,
    stretches,
)
from evaltex_cli.records import Bools, Floats, Ints, distinct

_QUOTE, _HASH, _COMMA, _ZERO, _ONE = b'"#,01'
_SCRIPTS = frozenset(script.encode() for script in SCRIPTS)
_MAY_BEGIN_SCRIPT = np.isin(np.arange(256), [*(script[0] for script in _SCRIPTS), *b" \t"])
_LONGEST_SCRIPT = max(map(len, SCRIPTS))
_LONGEST_ANGLE_TEXT = max(map(len, ANGLE_TEXTS)) + 2
_KINDS = 5


@dataclass(slots=True, repr=False)
class Shapes:
    """How many lines are of each shape."""

    counts: Counter[LineShape] = field(default_factory=Counter)
    spaced_dont_care: int = 0
    """How many transcriptions are ``###`` with blanks or commas around."""
    commas: int = 0
    """How many transcriptions end in a comma."""
    lowest: list[float] = field(default_factory=lambda: [math.inf] * len(PLACES))
    highest: list[float] = field(default_factory=lambda: [-math.inf] * len(PLACES))
    """`lowest` and `highest`: of the last numbers of lines, for each of `PLACES`
    (`shapes.SurveyedLine.last`)."""

    def add(self, other: Shapes) -> None:
        """Add other lines."""
        self.counts += other.counts
        self.spaced_dont_care += other.spaced_dont_care
        self.commas += other.commas
        self.lowest = list(map(min, self.lowest, other.lowest))
        self.highest = list(map(max, self.highest, other.highest))

    def add_line(self, line: str) -> None:
        """Add one line."""
        shape, spaced, comma, last = survey_line(line)
        self.counts[shape] += 1
        self.spaced_dont_care += spaced
        self.commas += comma
        for k, value in enumerate(last):
            if not math.isnan(value):
                self.lowest[k], self.highest[k] = (
                    min(self.lowest[k], value),
                    max(self.highest[k], value),
                )


def survey_block(buffer: bytes) -> Shapes:
    """Return the shapes of some lines."""
    data = np.frombuffer(buffer, np.uint8)
    ends = line_ends(data)
    shapes = Shapes()
    for first, last in stretches(data, ends):
        start, stop = int(ends[first - 1]) + 1 if first else 0, int(ends[last - 1]) + 1
        shapes.add(_survey_stretch(buffer[start:stop], data[start:stop], ends[first:last] - start))
    return shapes


def _survey_stretch(buffer: bytes, data: Bytes, ends: Ints) -> Shapes:
    plain = plain_lines(data)
    shapes, special = _survey_plain(buffer, data, plain)
    # A line is blank if its newline follows the one before; all others that are not plain are
    # parsed one by one.
    is_odd = np.diff(ends, prepend=-1) > 1
    is_odd[plain.line] = False
    is_odd[plain.line[special]] = True
    for k in np.flatnonzero(is_odd).tolist():
        line = bare_line(
            buffer[int(ends[k - 1]) + 1 if k else 0 : int(ends[k])].decode("utf-8", "replace")
        )
        if line:
            shapes.add_line(line)
    return shapes


def _survey_plain(buffer: bytes, data: Bytes, plain: PlainLines) -> tuple[Shapes, Ints]:
    """Return the shapes of plain lines.

    Returns
    -------
    shapes : Shapes
        Of all plain lines but those in `special`.
    special : (s,) int64
        Positions in `plain` of lines that may be of a format of its own, for
        `icdar.shapes.survey_line` to decide.
    """
    numbers, goes_on = plain.numbers, plain.goes_on
    is_special = _are_special(buffer, data, plain)
    is_hidden = (numbers == 4) & goes_on & is_dont_care(data, plain.rest, plain.stop)
    # A shape is one number, digits of different bases, so that `np.unique` counts all shapes in one
    # pass.
    code = numbers * 4 + goes_on * 2 + is_hidden
    shapes = Shapes()
    for k, place in enumerate(
        (np.full_like(numbers, 4), np.full_like(numbers, 8), (numbers - ~goes_on) // 2 * 2)
    ):
        kinds, last = _confidence_kinds(data, plain, place)
        code = code * _KINDS + kinds
        last = last[~is_special & ~np.isnan(last)]
        shapes.lowest[k], shapes.highest[k] = (
            float(last.min(initial=math.inf)),
            float(last.max(initial=-math.inf)),
        )
    codes, counts = np.unique(code[~is_special], return_counts=True)
    for value, number in zip(codes.tolist(), counts.tolist(), strict=True):
        rest, polygon = divmod(value, _KINDS)
        rest, quad = divmod(rest, _KINDS)
        start, box = divmod(rest, _KINDS)
        shapes.counts[
            LineShape(start // 4, bool(start & 2), box, quad, polygon, "", bool(start & 1))
        ] += number
    shapes.commas = int(
        (goes_on & (plain.stop > plain.rest) & (data[plain.stop - 1] == _COMMA) & ~is_special).sum()
    )
    shapes.spaced_dont_care = _spaced_dont_care(buffer, data, plain, is_special)
    return shapes, np.flatnonzero(is_special)


def _are_special(buffer: bytes, data: Bytes, plain: PlainLines) -> Bools:
    """Whether lines may be of a format of its own."""
    numbers, goes_on = plain.numbers, plain.goes_on
    first, second, third, fourth = (
        data[np.minimum(plain.rest + k, len(data) - 1)] for k in range(4)
    )
    quoted = (first == _QUOTE) | (are_blanks(first) & (second == _QUOTE))
    special = (numbers == 9) & goes_on & quoted
    special |= (
        (numbers >= 6)
        & goes_on
        & np.all([k == _HASH for k in (first, second, third, fourth)], axis=0)
    )
    special |= (numbers == 7) | ((numbers == 32) & ~goes_on)
    special |= (numbers == 5) & goes_on & (plain.stop - plain.rest <= _LONGEST_ANGLE_TEXT)
    special |= _has_script(buffer, data, plain)
    return np.asarray(special)


def _has_script(buffer: bytes, data: Bytes, plain: PlainLines) -> Bools:
    """Whether the field after eight numbers is a script's name, and a comma follows."""
    has_script = np.zeros(len(plain.line), dtype=bool)
    quads = np.flatnonzero((plain.numbers == 8) & plain.goes_on)
    quads = quads[_MAY_BEGIN_SCRIPT[data[plain.rest[quads]]]]
    if not len(quads):
        return has_script
    commas = np.flatnonzero(data == _COMMA)
    following = np.append(commas, len(data))[np.searchsorted(commas, plain.rest[quads])]
    near = following < np.minimum(plain.stop[quads], plain.rest[quads] + _LONGEST_SCRIPT + 3)
    for k, start, stop in zip(
        quads[near].tolist(),
        plain.rest[quads[near]].tolist(),
        following[near].tolist(),
        strict=True,
    ):
        has_script[k] = buffer[start:stop].strip(b" \t") in _SCRIPTS
    return has_script


def _spaced_dont_care(buffer: bytes, data: Bytes, plain: PlainLines, is_special: Bools) -> int:
    """How many plain lines have the transcription ``###`` with blanks or commas around."""
    hashes = np.flatnonzero(data == _HASH)
    owner = np.searchsorted(plain.stop, hashes, side="right")
    # Hashes after the last plain line have no owner.
    hashes, owner = hashes[owner < len(plain.stop)], owner[owner < len(plain.stop)]
    suspects = distinct(owner[hashes >= plain.rest[owner]])
    rest, stop = plain.rest[suspects], plain.stop[suspects]
    suspects = suspects[~is_special[suspects] & ~is_dont_care(data, rest, stop)]
    texts = (
        buffer[plain.rest[k] : plain.stop[k]].decode("utf-8", "replace") for k in suspects.tolist()
    )
    return sum(map(is_spaced_dont_care, texts))


def _confidence_kinds(data: Bytes, plain: PlainLines, place: Ints) -> tuple[Ints, Floats]:
    """`icdar.shapes.confidence_kind` of each line's field at a place, and its
    value if it is the last number.
    """
    kinds = np.full(len(place), NO_CONFIDENCE, np.int64)
    last = np.full(len(place), np.nan)
    is_last = place + 1 == plain.numbers
    has = np.flatnonzero(place < plain.numbers)
    start, stop = plain.field(has, place[has])
    start = start + are_blanks(data[start])
    first = data[start]
    # What begins otherwise is no number in [0, 1]: with a minus sign or a further blank, anything
    # may follow.
    may_be = (first <= _ZERO) | (
        (first == _ONE) & ((stop == start + 1) | (data[start + 1] == ord(".")))
    )
    may_be |= is_last[has]
    has, start, stop = has[may_be], start[may_be], stop[may_be]
    if len(has):
        values = parse_numbers(data, start, stop)
        signs = np.flatnonzero((data == ord(".")) | (data == ord("-")))
        # A number without dot or minus sign between its ends is whole.
        whole = np.searchsorted(signs, start) == np.searchsorted(signs, stop)
        within = (values >= 0) & (values <= 1)
        beyond = ~within & is_last[has] & (np.abs(values) <= COORDINATE_LIMIT)
        kinds[has] = np.select(
            [within & whole, within, beyond & whole, beyond],
            [WHOLE, DECIMAL, WHOLE_BEYOND, DECIMAL_BEYOND],
        )
        known = is_last[has] & (within | beyond)
        last[has[known]] = values[known]
    return kinds, last


def is_dont_care(data: Bytes, start: Ints, stop: Ints) -> Bools:
    is_mark: Bools = stop - start == len(DONT_CARE)
    for k in range(len(DONT_CARE)):
        is_mark &= data[np.minimum(start + k, len(data) - 1)] == _HASH
    return is_mark
