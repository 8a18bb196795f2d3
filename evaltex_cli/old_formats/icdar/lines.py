"""The exact parser of one line of an ICDAR-style .txt file: slow, and the only one that explains
faults.

`icdar.format` says what the lines mean, and of what `Syntax` those of an archive are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from evaltex_cli.errors import FormatError, counted, quote
from evaltex_cli.old_formats.base import DONT_CARE, Side
from evaltex_cli.old_formats.confidences import UNIT, Scale
from evaltex_cli.old_formats.files.numbers import COORDINATE_LIMIT
from evaltex_cli.old_formats.lines import ParsedLine

SCRIPTS = (
    *("Arabic", "Bangla", "Bengali", "Chinese", "Devanagari", "Hindi", "Japanese", "Kannada"),
    *("Korean", "Latin", "Mixed", "None", "Symbols"),
)
"""Script names of the MLT sets."""
CURVED_PREFIX = "####"
"""What CTW1500 writes before each transcription."""
POPEVAL_MARK = "##::"
"""What PopEval writes before each transcription."""

COORDINATES = {
    "ltrb": 4,
    "quad": 8,
    "polygon": None,
    "mlt": 8,
    "rctw": 8,
    "ctw1500": None,
    "ctw1500-offsets": 32,
    "popeval": None,
    "box-polygon": None,
}
"""Format -> how many numbers a line's coordinates are, None for any even count."""
_QUAD = "x1,y1,x2,y2,x3,y3,x4,y4"
_LAYOUT = {
    "ltrb": "x0,y0,x1,y1",
    "quad": _QUAD,
    "polygon": "x1,y1,x2,y2,x3,y3,...",
    "mlt": f"{_QUAD},script,transcription",
    "rctw": f'{_QUAD},difficult,"transcription"',
    "ctw1500": f"x1,y1,...,xn,yn,{CURVED_PREFIX}transcription",
    "ctw1500-offsets": "x0,y0,x1,y1 and 14 vertices as offsets from x0,y0",
    "popeval": f"x1 y1 x2 y2 x3 y3 x4 y4{POPEVAL_MARK}transcription",
    "box-polygon": "x0,y0,x1,y1 or x1,y1,x2,y2,x3,y3,...,transcription",
}
HAS_BOXES = ("ltrb", "box-polygon")
"""Formats in which four numbers are a box, and not two vertices."""
_HAS_OWN_TAIL = ("mlt", "rctw", "ctw1500", "ctw1500-offsets", "popeval", "box-polygon")
"""Formats whose lines end as their layout says, whatever `Syntax` says of transcriptions."""

_NUMBER = r"[+-]?+(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+"
_NOT_FINITE = r"[+-]?+(?i:nan|inf(?:inity)?+)(?=[ \t]*+,)"
_LEADING = re.compile(rf"(?:[ \t]*+(?:{_NUMBER}|{_NOT_FINITE})[ \t]*+(?:,|\Z))*+")
_APART_BY_BLANKS = re.compile(rf"[ \t]*+{_NUMBER}[ \t]++(?:(?:{_NUMBER}[ \t]++)++|(?!,))")
BEFORE_POPEVAL_MARK = re.compile(rf"[ \t]*+({_NUMBER}(?:[ \t,]++{_NUMBER})*+)[ \t]*+{POPEVAL_MARK}")
_QUOTED = re.compile(r'[ \t]*"(.*)"[ \t]*', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')


class Syntax(NamedTuple):
    """What the lines of an archive hold."""

    format: str
    side: Side
    confidences: bool = False
    transcriptions: bool = True
    scale: Scale = UNIT

    @property
    def coordinates(self) -> int | None:
        """How many numbers the coordinates are; None for any even count."""
        return COORDINATES[self.format]

    @property
    def own_tail(self) -> bool:
        """Whether lines end as only this format's do."""
        return self.format in _HAS_OWN_TAIL

    def layout(self) -> str:
        """A line, as messages show it."""
        if self.own_tail:
            return f"{_LAYOUT[self.format]} (format {self.format})"
        layout = _LAYOUT[self.format] + (",confidence" if self.confidences else "")
        return f"{layout}{',transcription' if self.transcriptions else ''} (format {self.format})"


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of every line that is not blank."""
    start, number = 0, 1
    while start <= len(text):  # a list of all lines would take several times the memory of the text
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        bare = bare_line(text[start:end])
        if bare:
            yield number, bare
        start, number = end + 1, number + 1


def bare_line(line: str) -> str:
    """A line without byte order marks before and carriage returns after it;
    empty for a blank one.
    """
    bare = line.lstrip("\ufeff").rstrip("\r")
    return "" if bare.isspace() else bare


def polygon_end(numbers: int, leaves_one: bool) -> int:
    """Length of the longest even run of these numbers, or of all but the last."""
    return (numbers - leaves_one) // 2 * 2


def parse_line(line: str, syntax: Syntax) -> ParsedLine:
    """Parse one line that is not blank.

    Raises
    ------
    FormatError
        With what stands there and what was expected.
    """
    confidence = math.nan
    if syntax.format == "ctw1500":
        coordinates, fields, text, confidence = _ctw1500(line, syntax)
        dont_care = False
    elif syntax.own_tail:
        coordinates, fields, text, dont_care = _PARSERS[syntax.format](line, syntax)
    else:
        coordinates, fields, text, confidence = _usual(line, syntax)
        dont_care = False
    _check(coordinates, fields, syntax, text)
    is_dont_care = syntax.side == "gt" and (dont_care or text == DONT_CARE)
    return ParsedLine(coordinates, text, is_dont_care, confidence)


def _usual(line: str, syntax: Syntax) -> tuple[list[float], list[str], str, float]:
    count = syntax.coordinates
    fields, rest = split_numbers(with_commas(line, count and count + syntax.confidences))
    if count is None:
        count = polygon_end(
            len(fields), rest is None and (syntax.confidences or syntax.transcriptions)
        )
    beyond = len(fields) - count - syntax.confidences
    quoted = rest is not None and rest.lstrip(" \t").startswith('"')
    if beyond < 0 or (beyond > 0 and (quoted or (rest is None and not syntax.transcriptions))):
        raise _wrong_count(fields, line, syntax)
    text = unquoted(
        ",".join([*fields[count + syntax.confidences :], *([] if rest is None else [rest])])
    )
    confidence = math.nan
    if syntax.confidences:
        confidence = _confidence(fields[count], syntax)
    return [float(number) for number in fields[:count]], fields, text, confidence


def _confidence(field: str, syntax: Syntax) -> float:
    confidence, scale = float(field), syntax.scale
    if not scale.has(confidence):
        found = f"{quote(field.strip())} where the other lines have a confidence"
        expected = (
            f"a number in [{scale.lowest:g}, {scale.highest:g}] after the coordinates:"
            f" {syntax.layout()}"
        )
        raise FormatError(found, expected)
    return confidence / scale.divisor


def _mlt(line: str, syntax: Syntax) -> tuple[list[float], list[str], str, bool]:
    fields, rest = split_numbers(line)
    if len(fields) < 8:
        raise _wrong_count(fields, line, syntax)
    script, comma, text = ",".join([*fields[8:], *([] if rest is None else [rest])]).partition(",")
    if not comma:
        raise FormatError(
            f"{quote(script.strip())} and no transcription after the coordinates", syntax.layout()
        )
    return [float(number) for number in fields[:8]], fields, text, False


def _rctw(line: str, syntax: Syntax) -> tuple[list[float], list[str], str, bool]:
    fields, rest = split_numbers(line)
    if len(fields) != 9:
        raise _wrong_count(fields, line, syntax)
    difficult = fields[8].strip()
    if difficult not in ("0", "1"):
        raise FormatError(f"{quote(difficult)} as the difficult flag", f"0 or 1: {syntax.layout()}")
    return [float(number) for number in fields[:8]], fields, unquoted(rest or ""), difficult == "1"


def _ctw1500(line: str, syntax: Syntax) -> tuple[list[float], list[str], str, float]:
    fields, rest = split_numbers(line)
    if rest is None or len(fields) % 2 != syntax.confidences:
        raise _wrong_count(fields, line, syntax)
    confidence = math.nan
    if syntax.confidences:
        confidence = _confidence(fields[-1], syntax)
    coordinates = [float(number) for number in (fields[:-1] if syntax.confidences else fields)]
    return coordinates, fields, rest.removeprefix(CURVED_PREFIX), confidence


def _ctw1500_offsets(line: str, syntax: Syntax) -> tuple[list[float], list[str], str, bool]:
    fields, rest = split_numbers(with_commas(line))
    if rest is not None or len(fields) != 32:
        raise _wrong_count(fields, line, syntax)
    values = [float(number) for number in fields]
    _refuse_wild(values, fields)
    vertices = [value + values[k % 2] for k, value in enumerate(values[4:])]
    return vertices, fields, "", False


def _popeval(line: str, syntax: Syntax) -> tuple[list[float], list[str], str, bool]:
    head = BEFORE_POPEVAL_MARK.match(line)
    fields = head[1].replace(",", " ").split() if head else []
    if head is None or len(fields) % 2:
        fields = fields or split_numbers(with_commas(line))[0]
        found = (
            f"{_numbers(len(fields))} before {POPEVAL_MARK} in {quote(line)}"
            if head
            else quote(line)
        )
        raise FormatError(found, syntax.layout())
    return [float(number) for number in fields], fields, line[head.end() :], False


def _box_or_polygon(line: str, syntax: Syntax) -> tuple[list[float], list[str], str, bool]:
    fields, rest = split_numbers(with_commas(line))
    count = 4 if len(fields) == 5 else polygon_end(len(fields), False)
    if count < 4:
        raise _wrong_count(fields, line, syntax)
    text = ",".join([*fields[count:], *([] if rest is None else [rest])])
    return [float(number) for number in fields[:count]], fields, unquoted(text), False


_PARSERS = {
    "mlt": _mlt,
    "rctw": _rctw,
    "box-polygon": _box_or_polygon,
    "ctw1500-offsets": _ctw1500_offsets,
    "popeval": _popeval,
}


def _wrong_count(fields: list[str], line: str, syntax: Syntax) -> FormatError:
    return FormatError(f"{_numbers(len(fields))} at the start of {quote(line)}", syntax.layout())


def with_commas(line: str, fields: int | None = None) -> str:
    """Put commas for the blanks after `fields` (None: all) leading numbers of
    a line that has blanks between them.
    """
    numbers = _APART_BY_BLANKS.match(line)
    if not numbers:
        return line
    return ",".join(line.split(None, len(numbers[0].split()) if fields is None else fields))


def split_numbers(line: str) -> tuple[list[str], str | None]:
    """Return the leading fields that are numbers, and all that follows their
    last comma; None where there is none.
    """
    leading = _LEADING.match(line)
    stop = leading.end() if leading else 0
    if stop == 0:
        return [], line
    return (
        (line[: stop - 1].split(","), line[stop:])
        if line[stop - 1] == ","
        else (line.split(","), None)
    )


def _check(coordinates: list[float], fields: list[str], syntax: Syntax, text: str) -> None:
    _refuse_wild(coordinates, fields)
    if syntax.format in HAS_BOXES and len(coordinates) == 4:
        x0, y0, x1, y1 = coordinates
        if x1 < x0 or y1 < y0:
            raise FormatError(
                f"a box from ({x0:g}, {y0:g}) to ({x1:g}, {y1:g})",
                f"x0 <= x1 and y0 <= y1: {syntax.layout()}",
            )
    elif len(coordinates) < 6 and not (coordinates and text == DONT_CARE):
        raise FormatError(
            f"{_numbers(len(coordinates))} as coordinates",
            f"three vertices or more: {syntax.layout()}",
        )


def _refuse_wild(coordinates: list[float], fields: list[str]) -> None:
    if not sum(map(abs, coordinates)) <= COORDINATE_LIMIT:
        for value, number in zip(coordinates, fields, strict=False):
            if not abs(value) <= COORDINATE_LIMIT:
                raise FormatError(
                    quote(number.strip()), "a finite number (at most 1e12 in magnitude)"
                )


def _numbers(count: int) -> str:
    return counted(count, "{count} number[s]")


def unquoted(text: str) -> str:
    """A transcription without the double quotes around it, and what they escape."""
    quoted = _QUOTED.fullmatch(text)
    return _ESCAPED.sub(r"\1", quoted[1]) if quoted else text
