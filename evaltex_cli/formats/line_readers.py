"""One line of numbers: its parts, and a reader for each layout (`formats.lines`).

A reader takes a line and what all lines say about each, and returns an object or raises
`FormatError`.
"""

from __future__ import annotations

import ast
import math
import re
from typing import NamedTuple

from evaltex_cli.errors import FormatError, counted, quote
from evaltex_cli.formats.base import DONT_CARE, TextObject
from evaltex_cli.formats.parsing import NUMBER, box, number, turned

VERTICES = 4
"""This many numbers after the coordinates are vertices, and not the beginning of a text."""
OUTSIDE = 0.02
"""How far, in fractions of the picture, what YOLO writes may lie outside of it."""
DOTA_HEADERS = ("imagesource:", "gsd:")
SCRIPTS = (
    *("Arabic", "Bangla", "Bengali", "Chinese", "Devanagari", "Hindi", "Japanese", "Kannada"),
    *("Korean", "Latin", "Mixed", "None", "Symbols"),
)
"""Script names of the MLT sets."""
_A_NUMBER = re.compile(NUMBER, re.ASCII)
_BEFORE_COMMA = re.compile(rf"[ \t]*+({NUMBER})[ \t]*+(?:,|\Z)", re.ASCII)
_BEFORE_BLANK = re.compile(rf"[ \t]*+({NUMBER})(?:,|[ \t]++|\Z)", re.ASCII)
_QUOTED = re.compile(r'[ \t]*"(.*)"[ \t]*', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')


class Survey(NamedTuple):
    """What all lines of an input say about each of them, read by one layout."""

    layout: str
    line: str = ""
    """A line, as messages show it."""
    coordinates: int = 0
    """How many numbers the coordinates are; 0 for any even count."""
    confidences: bool = False
    in_unit: bool = False
    """Whether confidences are in [0, 1], so that another one is a fault."""
    texts: bool = True
    """Whether a number too many may be a transcription."""
    confidence_first: bool = False
    """Whether YOLO's confidences are before the boxes."""
    others: tuple[str, ...] = ()
    """Layouts that less than half of the lines have: of some files, perhaps."""
    note: str = ""
    """What is unusual about all objects, for `errors.counted`."""
    strict: bool = False
    """Whether to read only what other layouts hardly have, as while the layout is chosen."""


# Parts --------------------------------------------------------------------------------------------


class Beginning(NamedTuple):
    """The numbers that a line begins with, between commas or between blanks, and the rest."""

    line: str
    fields: list[str]
    ends: list[int]
    """Where each ends, with the comma or blanks after it."""
    rest: str
    """All that follows the numbers."""
    goes_on: bool
    """Whether a text follows, perhaps an empty one."""

    def numbers(self, count: int | None = None) -> list[float]:
        """Return the first numbers."""
        return [*map(float, self.fields[:count])]

    def text(self, count: int) -> str:
        """Return all that follows so many numbers, without quotes around it."""
        text = self.line[self.ends[count] :]
        quoted = _QUOTED.fullmatch(text)
        return _ESCAPED.sub(r"\1", quoted[1]) if quoted else text


def split(line: str) -> Beginning:
    """Return the numbers that a line begins with, and the rest."""
    pattern = _BEFORE_COMMA if _BEFORE_COMMA.match(line) else _BEFORE_BLANK
    fields, ends = [], [0]
    while match := pattern.match(line, ends[-1]):
        fields.append(match[1])
        ends.append(match.end())
    rest = line[ends[-1] :]
    return Beginning(line, fields, ends, rest, rest != "" or line.endswith(","))


class ClassRow(NamedTuple):
    """A line that has a class: before its numbers, or after eight numbers and before a flag."""

    label: str
    numbers: list[float]
    flag: str | None = None


def class_row(line: str) -> ClassRow | None:
    """Return the parts of a line that has a class, and blanks between its parts; else None."""
    line = line.rstrip(", \t")
    if "," in line or '"' in line:
        return None
    fields = line.split()
    are_numbers = [_A_NUMBER.fullmatch(field) is not None for field in fields]
    if len(fields) >= 10 and all(are_numbers[:8]) and not are_numbers[8]:
        return ClassRow(" ".join(fields[8:-1]), [*map(float, fields[:8])], fields[-1])
    words = next((k for k, is_number in enumerate(are_numbers[:5]) if is_number), 5)
    first = words or int(fields[:1] != [] and fields[0].isdecimal())
    if first == 0 or len(fields) < first + 4 or not all(are_numbers[first:]):
        return None
    return ClassRow(" ".join(fields[:first]), [*map(float, fields[first:])])


def vertices_end(numbers: int, leaves_one: bool = False) -> int:
    """Return how many of so many numbers are of vertices."""
    return (numbers - leaves_one) // 2 * 2


def _wrong(line: str, survey: Survey) -> FormatError:
    more = ",confidence" * survey.confidences + ",transcription" * survey.texts
    expected = survey.line + more * (survey.layout in ("ltrb", "quad", "polygon"))
    count = counted(len(split(line).fields), "{count} number[s]")
    return FormatError(
        f"{count} at the start of {quote(line)}", f"{expected} (format {survey.layout})"
    )


def _confidence(value: float, survey: Survey) -> float:
    if survey.in_unit and not 0 <= value <= 1:
        found = f"{value:g} where the other lines have a confidence"
        raise FormatError(found, "a number in [0, 1]")
    return value


def _flag(field: str) -> bool:
    if field not in ("0", "1"):
        raise FormatError(f"{quote(field)} as the difficult flag", "0 or 1")
    return field == "1"


# Coordinates, a confidence and a text -------------------------------------------------------------


def numbers(line: str, survey: Survey) -> TextObject:
    """Read coordinates, perhaps a confidence, perhaps a transcription."""
    usual = survey.coordinates and _usual(line, survey.coordinates + survey.confidences)
    numbers, text = usual or _closely(line, survey)
    confidence = _confidence(numbers.pop(), survey) if survey.confidences else None
    return TextObject(numbers, text, confidence=confidence)


def _usual(line: str, stop: int) -> tuple[list[float], str] | None:
    """Return the numbers and the text of a line that needs no closer look; else None."""
    fields = line.split("," if "," in line else None, stop)
    text = fields.pop() if len(fields) > stop else ""
    if len(fields) < stop or not (text[:1].isalpha() or text[:1] in ("", "#")) or "_" in line:
        return None
    try:
        return [*map(float, fields)], text
    except ValueError:
        return None


def _closely(line: str, survey: Survey) -> tuple[list[float], str]:
    """Return the numbers and the text of any line; raises `FormatError`."""
    begin = split(line)
    leaves_one = not begin.goes_on and (survey.confidences or survey.texts)
    coordinates = survey.coordinates or vertices_end(len(begin.fields), leaves_one)
    stop = coordinates + survey.confidences
    more = len(begin.fields) - stop
    is_quoted = begin.rest.lstrip().startswith('"') and not survey.strict
    may_be_text = (begin.goes_on or survey.texts) and not is_quoted
    most = 1 if survey.strict else VERTICES - 1
    if not coordinates or not 0 <= more <= most or (more and not may_be_text):
        raise _wrong(line, survey)
    return begin.numbers(stop), begin.text(stop)


def either(line: str, survey: Survey) -> TextObject:
    """Read a box or a polygon, perhaps a transcription."""
    count = len(split(line).fields)
    coordinates = 4 if count < 6 else vertices_end(count)
    one = numbers(line, survey._replace(coordinates=coordinates, texts=not survey.strict))
    if survey.strict and coordinates == 4 and one.text == DONT_CARE:  # of a polygon, perhaps
        raise _wrong(line, survey)
    return one


# Layouts of their own -----------------------------------------------------------------------------


def marked(line: str, survey: Survey) -> TextObject:
    """Read what has a mark between numbers and transcription."""
    head, mark, text = line.partition("##::" if survey.layout == "popeval" else "####")
    begin = split(head)
    is_odd = len(begin.fields) % 2 == 1
    has_confidence = is_odd if survey.strict else survey.confidences
    if not mark or not begin.fields or begin.rest or is_odd != has_confidence:
        raise _wrong(line, survey)
    numbers = begin.numbers()
    confidence = _confidence(numbers.pop(), survey) if has_confidence else None
    return TextObject(numbers, text, confidence=confidence)


def offsets(line: str, survey: Survey) -> TextObject:
    begin = split(line)
    if len(begin.fields) != 32 or begin.goes_on:
        raise _wrong(line, survey)
    x0, y0, x1, y1, *offsets = begin.numbers()
    width, height = x1 - x0, y1 - y0
    are_inside = all(0 <= v <= (width, height)[k % 2] for k, v in enumerate(offsets))
    if survey.strict and not are_inside:
        raise _wrong(line, survey)
    return TextObject([(x0, y0)[k % 2] + value for k, value in enumerate(offsets)])


def mlt(line: str, survey: Survey) -> TextObject:
    begin = split(line)
    script, comma, text = begin.rest.partition(",")
    is_known = script.strip() in SCRIPTS or not survey.strict
    if len(begin.fields) != 8 or not comma or not is_known:
        raise _wrong(line, survey)
    return TextObject(begin.numbers(), text)


def rctw(line: str, survey: Survey) -> TextObject:
    """Read a quad, a flag and a text in quotes; a flag that is always 1 may be a confidence."""
    begin = split(line)
    if len(begin.fields) != 9 or not begin.rest.lstrip().startswith('"'):
        raise _wrong(line, survey)
    if survey.strict and begin.fields[8] != "0":
        raise _wrong(line, survey)
    return TextObject(begin.numbers(8), begin.text(9), _flag(begin.fields[8]))


def td500(line: str, survey: Survey) -> TextObject:
    """Read a box that is turned about its centre, by radians from the x axis to the y axis."""
    begin = split(line)
    count = 7 if len(begin.fields) >= 7 else 5
    if len(begin.fields) < count or (survey.strict and len(begin.fields) > count):
        raise _wrong(line, survey)
    *values, angle = map(number, begin.fields[:count])
    text = begin.text(count).strip()
    if abs(angle) > 2 * math.pi:
        raise FormatError(f"an angle of {angle:g}", "radians, at most 2 pi in magnitude")
    if count == 7:
        return TextObject(turned(box(*values[2:]), angle), text, _flag(begin.fields[1]))
    is_marked = text.rstrip(" \t,") == "None"
    if survey.strict and not is_marked and (text or angle >= 0):  # a confidence, perhaps
        raise _wrong(line, survey)
    x0, y0, x1, y1 = values
    return TextObject(turned(box(x0, y0, x1 - x0, y1 - y0), angle), "" if is_marked else text)


def dota(line: str, survey: Survey) -> TextObject | None:
    if line.startswith(DOTA_HEADERS):
        return None
    row = class_row(line)
    if row is None or row.flag is None:
        raise FormatError(quote(line), f"{survey.line} (format dota)")
    if not row.flag.isdecimal():
        raise FormatError(f"{quote(row.flag)} as the difficult flag", "a whole number")
    return TextObject(row.numbers, dont_care=bool(row.flag.strip("0")), label=row.label)


def yolo(line: str, survey: Survey) -> TextObject:
    row = class_row(line)
    is_whole = row is not None and all(map(float.is_integer, row.numbers))
    if row is None or row.flag is not None or (survey.strict and is_whole):
        raise FormatError(quote(line), f"{survey.line} (format yolo)")
    numbers, confidence = row.numbers, None
    if len(numbers) % 2:
        confidence = numbers.pop(0 if len(numbers) == 5 and survey.confidence_first else -1)
        if not 0 <= confidence <= 1:
            raise FormatError(f"{confidence:g} as the confidence", "a number in [0, 1]")
    if survey.strict and not all(-OUTSIDE <= value <= 1 + OUTSIDE for value in numbers):
        raise FormatError(quote(line), "coordinates in fractions of the picture, in [0, 1]")
    if len(numbers) == 4:
        x, y, width, height = numbers
        numbers = [*box(x - width / 2, y - height / 2, width, height)]
    return TextObject(numbers, confidence=confidence, label=row.label)


def segment(line: str, survey: Survey) -> TextObject:
    """Recognise a colour, a centre, a box and a text in quotes, between blanks."""
    if not re.match(r'#?(?:\d+[ \t]+){9}"', line):
        raise _wrong(line, survey)
    return TextObject((0.0,) * 4)


def class_box(line: str, survey: Survey) -> TextObject:
    """Recognise a class, perhaps a confidence, and a box in pixels. Where the class is a number and
    nothing is between, the lines may be boxes with a confidence or text.
    """
    row = class_row(line)
    if row and len(row.numbers) in (4, 5) and max(row.numbers) > 1 + OUTSIDE:
        *first, x0, y0, x1, y1 = row.numbers
        is_class = not row.label.isdecimal() or (len(row.label) == 1 and x0 <= x1 and y0 <= y1)
        if 0 <= first[0] <= 1 if first else is_class:
            return TextObject((x0, y0, x1, y1))
    raise FormatError(quote(line), "a class and a box")


RECORD_BEGINS = r"[^\S\n]*x:\s*+\[\["
_RECORD = re.compile(
    r"""[^\S\n]*x:\s*+\[\[(?P<x>[^\]]*+)\]\]\s*,\s*y:\s*\[\[(?P<y>[^\]]*+)\]\]\s*,
    \s*ornt:\s*\[(?:u?(['"])(?P<ornt>[^\]'"]*+)\3)?\s*\]\s*,
    \s*transcriptions:\s*\[(?:u?(['"])(?P<text>.*)\5)?\s*\]\s*""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"""\\(?:x[\da-f]{2}|u(?!d[89a-f])[\da-f]{4}|U000[\da-f]{5}|['"\\])""", re.I)


def total_text(record: str, survey: Survey) -> TextObject:
    """Read a record, which goes over several lines if it is long."""
    if survey.strict and re.match(RECORD_BEGINS, record):
        return TextObject((0.0,) * 6)
    match = _RECORD.fullmatch(record)
    if not match:
        raise FormatError(quote(" ".join(record.split())), survey.line)
    xs, ys = ([*map(number, match[axis].replace(",", " ").split())] for axis in "xy")
    if len(xs) != len(ys):
        raise FormatError(f"{len(xs)} x and {len(ys)} y", "as many of the one as of the other")
    text = _ESCAPE.sub(lambda escape: ast.literal_eval(f"'{escape[0]}'"), match["text"] or "")
    is_hidden = not {text, match["ornt"]}.isdisjoint(("#", DONT_CARE))
    return TextObject([v for point in zip(xs, ys, strict=True) for v in point], text, is_hidden)
