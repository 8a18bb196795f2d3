"""The exact parser of one line of an ICDAR-style .txt file: slow, and the only one that explains faults.

`icdar.format` says what the lines mean, and of what `Syntax` those of an archive are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from evaltex_cli.errors import FormatError, counted, quote
from evaltex_cli.formats.base import DONT_CARE, Side
from evaltex_cli.formats.files.numbers import COORDINATE_LIMIT
from evaltex_cli.formats.lines import ParsedLine

SCRIPTS = (
    *("Arabic", "Bangla", "Bengali", "Chinese", "Devanagari", "Hindi", "Japanese", "Kannada", "Korean", "Latin"),
    *("Mixed", "None", "Symbols"),
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
}
"""Format -> how many numbers a line's coordinates are, None for any even count."""
_QUAD = "x1,y1,x2,y2,x3,y3,x4,y4"
_LAYOUT = {
    "ltrb": "x0,y0,x1,y1",
    "quad": _QUAD,
    "polygon": "x1,y1,x2,y2,x3,y3,...",
    "mlt": f"{_QUAD},script,transcription",
    "rctw": f'{_QUAD},difficult,"transcription"',
    "ctw1500": f"x1,y1,...,x14,y14,{CURVED_PREFIX}transcription",
    "ctw1500-offsets": "x0,y0,x1,y1 and 14 vertices as offsets from x0,y0",
    "popeval": f"x1 y1 x2 y2 x3 y3 x4 y4{POPEVAL_MARK}transcription",
}
_HAS_OWN_TAIL = ("mlt", "rctw", "ctw1500", "ctw1500-offsets", "popeval")
"""Formats whose lines end as their layout says, whatever `Syntax` says of transcriptions."""

_NUMBER = r"[+-]?+(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+"
_NOT_FINITE = r"[+-]?+(?i:nan|inf(?:inity)?+)(?=[ \t]*+,)"
_LEADING = re.compile(rf"(?:[ \t]*+(?:{_NUMBER}|{_NOT_FINITE})[ \t]*+(?:,|\Z))*+")
_APART_BY_BLANKS = re.compile(rf"[ \t]*+(?:{_NUMBER}[ \t]++)++(?!,)")
_TOTAL_TEXT = re.compile(r"[ \t]*+x:[ \t]*+\[\[")
_BEFORE_POPEVAL_MARK = re.compile(rf"[ \t]*+({_NUMBER}(?:[ \t,]++{_NUMBER})*+)[ \t]*+{POPEVAL_MARK}")
_QUOTED = re.compile(r'[ \t]*"(.*)"[ \t]*', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')


class LineShape(NamedTuple):
    """What the survey keeps of a line.

    Its leading `numbers` fields are numbers; `goes_on` says whether anything follows them. The next three are about the
    field where a box's, a quadrilateral's and a polygon's confidence would stand: 0 no number in [0, 1], 1 a whole
    one, 2 one with decimals. `mark` names the one format, if any, that only such lines fit.
    """

    numbers: int
    goes_on: bool
    after_box: int
    after_quad: int
    after_polygon: int
    mark: str = ""

    def confidence(self, coordinates: int | None) -> int:
        """What stands where the confidence would."""
        return {4: self.after_box, 8: self.after_quad}.get(coordinates or 0, self.after_polygon)

    def goes_beyond(self, coordinates: int | None, confidence: bool) -> bool:
        """Whether anything stands after coordinates and confidence."""
        count = polygon_end(self.numbers, confidence) if coordinates is None else coordinates
        return self.goes_on or self.numbers > count + confidence


@dataclass(frozen=True, slots=True)
class Syntax:
    """What the lines of an archive hold."""

    format: str
    side: Side
    confidences: bool = False
    transcriptions: bool = True

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
    for number, line in enumerate(text.split("\n"), 1):
        bare = bare_line(line)
        if bare:
            yield number, bare


def bare_line(line: str) -> str:
    """A line without byte order marks before and carriage returns after it; empty for a blank one."""
    bare = line.lstrip("\ufeff").rstrip("\r")
    return "" if bare.isspace() else bare


def survey_line(line: str) -> tuple[LineShape, bool]:
    """Return a line's shape, and whether its transcription is ``###`` with blanks around."""
    if _TOTAL_TEXT.match(line):
        return LineShape(0, True, 0, 0, 0, "totaltext"), False
    if _BEFORE_POPEVAL_MARK.match(line):
        return LineShape(0, True, 0, 0, 0, "popeval"), False
    if line.startswith("#"):
        fields, rest = _split(_with_commas(line.lstrip("# ")))
        if _mark(fields, rest) == "icdar2013-seg":
            return LineShape(0, True, 0, 0, 0, "icdar2013-seg"), False
    fields, rest = _split(_with_commas(line))
    count = len(fields)
    end = polygon_end(count, rest is None)
    shape = LineShape(
        count,
        rest is not None,
        confidence_kind(fields[4]) if count > 4 else 0,
        confidence_kind(fields[8]) if count > 8 else 0,
        confidence_kind(fields[end]) if end < count else 0,
        _mark(fields, rest),
    )
    return shape, rest is not None and rest != DONT_CARE and rest.strip() == DONT_CARE


def _mark(fields: list[str], rest: str | None) -> str:
    count = len(fields)
    if rest is None:
        if count == 32 and _are_offsets([float(field) for field in fields]):
            return "ctw1500-offsets"
        return "msra-td500" if count == 7 and _is_rotated_box(fields) else ""
    if count == 8 and "," in rest and rest[: rest.index(",")].strip(" \t") in SCRIPTS:
        return "mlt"
    if count == 9 and rest.lstrip(" \t").startswith('"'):
        if _is_coloured([float(field) for field in fields]):
            return "icdar2013-seg"
        if confidence_kind(fields[8]) == 1:
            return "rctw" if float(fields[8]) else "rctw easy"
    return "ctw1500" if count == 28 and rest.startswith(CURVED_PREFIX) else ""


def _is_rotated_box(fields: list[str]) -> bool:
    """Whether these are index, difficult flag, x, y, width, height and an angle in radians."""
    width, height, angle = (float(field) for field in fields[4:])
    flagged = fields[0].strip().isdigit() and fields[1].strip() in ("0", "1")
    return flagged and width > 0 and height > 0 and abs(angle) <= math.pi


def _is_coloured(values: list[float]) -> bool:
    """Whether these are a colour, a centre, and a box that holds it."""
    x, y, x0, y0, x1, y1 = values[3:]
    is_colour = all(value == int(value) for value in values[:3] if 0 <= value <= 255) and max(values[:3]) <= 255
    return is_colour and min(values[:3]) >= 0 and x0 <= x <= x1 and y0 <= y <= y1


def _are_offsets(values: list[float]) -> bool:
    """Whether the vertices after a box stay in it when they are taken from its corner."""
    x0, y0, x1, y1 = values[:4]
    return all(0 <= x <= x1 - x0 for x in values[4::2]) and all(0 <= y <= y1 - y0 for y in values[5::2])


def polygon_end(numbers: int, leaves_one: bool) -> int:
    """Length of the longest even run of these numbers, or of all but the last."""
    return (numbers - leaves_one) // 2 * 2


def confidence_kind(number: str) -> int:
    """0 for a number outside of [0, 1], 1 for a whole one in it, 2 for one with decimals."""
    if not 0 <= float(number) <= 1:
        return 0
    return 1 if number.strip().isdigit() else 2


def parse_line(line: str, syntax: Syntax) -> ParsedLine:
    """Parse one line that is not blank.

    Raises
    ------
    FormatError
        With what stands there and what was expected.
    """
    if syntax.own_tail:
        coordinates, fields, text, dont_care = _PARSERS[syntax.format](line, syntax)
        confidence = math.nan
    else:
        coordinates, fields, text, confidence = _usual(line, syntax)
        dont_care = False
    _check(coordinates, fields, syntax, text)
    is_dont_care = syntax.side == "gt" and (dont_care or text == DONT_CARE)
    return ParsedLine(coordinates, text, is_dont_care, confidence)


def _usual(line: str, syntax: Syntax) -> tuple[list[float], list[str], str, float]:
    count = syntax.coordinates
    fields, rest = _split(_with_commas(line, count and count + syntax.confidences))
    if count is None:
        count = polygon_end(len(fields), rest is None and (syntax.confidences or syntax.transcriptions))
    beyond = len(fields) - count - syntax.confidences
    quoted = rest is not None and rest.lstrip(" \t").startswith('"')
    if beyond < 0 or (beyond > 0 and (quoted or (rest is None and not syntax.transcriptions))):
        raise _wrong_count(fields, line, syntax)
    text = unquoted(",".join([*fields[count + syntax.confidences :], *([] if rest is None else [rest])]))
    confidence = math.nan
    if syntax.confidences:
        confidence = float(fields[count])
        if not 0 <= confidence <= 1:
            found = f"{quote(fields[count].strip())} where the other lines have a confidence"
            raise FormatError(found, f"a number in [0, 1] after the coordinates: {syntax.layout()}")
    return [float(number) for number in fields[:count]], fields, text, confidence


def _mlt(line: str, syntax: Syntax) -> tuple[list[float], list[str], str, bool]:
    fields, rest = _split(line)
    if len(fields) < 8:
        raise _wrong_count(fields, line, syntax)
    script, comma, text = ",".join([*fields[8:], *([] if rest is None else [rest])]).partition(",")
    if not comma:
        raise FormatError(f"{quote(script.strip())} and no transcription after the coordinates", syntax.layout())
    return [float(number) for number in fields[:8]], fields, text, False


def _rctw(line: str, syntax: Syntax) -> tuple[list[float], list[str], str, bool]:
    fields, rest = _split(line)
    if len(fields) != 9:
        raise _wrong_count(fields, line, syntax)
    difficult = fields[8].strip()
    if difficult not in ("0", "1"):
        raise FormatError(f"{quote(difficult)} as the difficult flag", f"0 or 1: {syntax.layout()}")
    return [float(number) for number in fields[:8]], fields, unquoted(rest or ""), difficult == "1"


def _ctw1500(line: str, syntax: Syntax) -> tuple[list[float], list[str], str, bool]:
    fields, rest = _split(line)
    if rest is None or len(fields) % 2:
        raise _wrong_count(fields, line, syntax)
    return [float(number) for number in fields], fields, rest.removeprefix(CURVED_PREFIX), False


def _ctw1500_offsets(line: str, syntax: Syntax) -> tuple[list[float], list[str], str, bool]:
    fields, rest = _split(_with_commas(line))
    if rest is not None or len(fields) != 32:
        raise _wrong_count(fields, line, syntax)
    values = [float(number) for number in fields]
    _refuse_wild(values, fields)
    vertices = [value + values[k % 2] for k, value in enumerate(values[4:])]
    return vertices, fields, "", False


def _popeval(line: str, syntax: Syntax) -> tuple[list[float], list[str], str, bool]:
    head = _BEFORE_POPEVAL_MARK.match(line)
    fields = head[1].replace(",", " ").split() if head else []
    if head is None or len(fields) % 2:
        fields = fields or _split(_with_commas(line))[0]
        found = f"{_numbers(len(fields))} before {POPEVAL_MARK} in {quote(line)}" if head else quote(line)
        raise FormatError(found, syntax.layout())
    return [float(number) for number in fields], fields, line[head.end() :], False


_PARSERS = {
    "mlt": _mlt,
    "rctw": _rctw,
    "ctw1500": _ctw1500,
    "ctw1500-offsets": _ctw1500_offsets,
    "popeval": _popeval,
}


def _wrong_count(fields: list[str], line: str, syntax: Syntax) -> FormatError:
    return FormatError(f"{_numbers(len(fields))} at the start of {quote(line)}", syntax.layout())


def _with_commas(line: str, fields: int | None = None) -> str:
    """Put commas for the blanks after `fields` (None: all) leading numbers of a line that has blanks between them."""
    numbers = _APART_BY_BLANKS.match(line)
    if not numbers:
        return line
    return ",".join(line.split(None, len(numbers[0].split()) if fields is None else fields))


def _split(line: str) -> tuple[list[str], str | None]:
    """Return the leading fields that are numbers, and all that follows their last comma; None where there is none."""
    leading = _LEADING.match(line)
    stop = leading.end() if leading else 0
    if stop == 0:
        return [], line
    return (line[: stop - 1].split(","), line[stop:]) if line[stop - 1] == "," else (line.split(","), None)


def _check(coordinates: list[float], fields: list[str], syntax: Syntax, text: str) -> None:
    _refuse_wild(coordinates, fields)
    if syntax.format == "ltrb":
        x0, y0, x1, y1 = coordinates
        if x1 < x0 or y1 < y0:
            raise FormatError(
                f"a box from ({x0:g}, {y0:g}) to ({x1:g}, {y1:g})", f"x0 <= x1 and y0 <= y1: {syntax.layout()}"
            )
    elif len(coordinates) < 6 and not (coordinates and text == DONT_CARE):
        raise FormatError(f"{_numbers(len(coordinates))} as coordinates", f"three vertices or more: {syntax.layout()}")


def _refuse_wild(coordinates: list[float], fields: list[str]) -> None:
    if not sum(map(abs, coordinates)) <= COORDINATE_LIMIT:
        for value, number in zip(coordinates, fields, strict=False):
            if not abs(value) <= COORDINATE_LIMIT:
                raise FormatError(quote(number.strip()), "a finite number (at most 1e12 in magnitude)")


def _numbers(count: int) -> str:
    return counted(count, "{count} number[s]")


def unquoted(text: str) -> str:
    """A transcription without the double quotes around it, and what they escape."""
    quoted = _QUOTED.fullmatch(text)
    return _ESCAPED.sub(r"\1", quoted[1]) if quoted else text
