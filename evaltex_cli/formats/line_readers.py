"""One line of numbers: its parts, and a reader for each layout (`formats.lines`).

A reader takes a line and what all lines say about each, and returns an object, or None for a line
that has none, or raises `FormatError`.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from evaltex_cli.errors import FormatError, counted, quote
from evaltex_cli.formats.base import DONT_CARE, TextObject
from evaltex_cli.formats.parsing import NUMBER, box, flat, turned
from evaltex_cli.formats.parsing import numbers as numbers_of

VERTICES = 4
"""This many numbers after the coordinates are vertices, and not the beginning of a text."""
OUTSIDE = 0.02
"""How far, in fractions of the picture, what YOLO writes may lie outside of it."""
DOTA_HEADERS = ("imagesource:", "gsd:")
_SCRIPT = re.compile(
    "Arabic|Bangla|Bengali|Chinese|Devanagari|Hindi|Japanese|Kannada|Korean|Latin|Mixed|None|Symbols"
)
_ENDS = r"(?=##)|\Z"
_COMMAS = re.compile(rf"(?:[ \t]*+{NUMBER}[ \t]*+(?:,|{_ENDS}))++", re.ASCII)
_BLANKS = re.compile(rf"(?:[ \t]*+{NUMBER}(?:,|[ \t]++|{_ENDS}))++", re.ASCII)
_QUOTED = re.compile(r'[ \t]*"(.*)"[ \t]*', re.DOTALL)
_WORD = rf'(?!{NUMBER}(?:\s|\Z))[^\s,"]++'
_CLASS_ROW = re.compile(
    rf"\s*+(\d++|{_WORD}(?:\s++{_WORD}){{0,3}}+)((?:\s++{NUMBER}){{4,}}+)[\s,]*+", re.ASCII
)
_DOTA = re.compile(rf'\s*+((?:{NUMBER}\s++){{8}})({_WORD}[^,"]*?)\s+(\d+)[\s,]*', re.ASCII)


@dataclass(frozen=True)
class Layout:
    """One layout of lines."""

    name: str
    title: str
    line: str
    """A line, as messages and the documentation show it; what to do where no format reads it."""
    read: Callable[[Line, Survey], TextObject | None]
    share: float = 0.95
    """Share of the lines that the best layout reads, from which on this one is chosen."""
    coordinates: int | None = None
    """How many numbers come before a confidence, 0 for those of a polygon; None if none may."""


class Survey(NamedTuple):
    """What all lines of an input say about each of them, read by one layout."""

    layout: Layout
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


class Line(NamedTuple):
    """A line, and the numbers that it begins with, between commas or between blanks."""

    whole: str
    fields: list[str]
    rest: str
    """All that follows the numbers."""
    goes_on: bool
    """Whether a text follows, perhaps an empty one."""

    def numbers(self, count: int | None = None) -> list[float]:
        """Return the first numbers."""
        return [*map(float, self.fields[:count])]

    def text(self, count: int) -> str:
        """Return all that follows so many numbers, without quotes around it."""
        text = self.rest
        if count < len(self.fields):
            text = re.split(r"[ \t]*,|(?<=[^ \t,])[ \t]+", self.whole.lstrip(), maxsplit=count)[-1]
        quoted = _QUOTED.fullmatch(text) if '"' in text else None
        return re.sub(r"\\([\"\\])", r"\1", quoted[1]) if quoted else text


def split(line: str) -> Line:
    """Return a line in parts."""
    run = _COMMAS.match(line) or _BLANKS.match(line)
    if run is None:
        return Line(line, [], line, line != "")
    rest = line[run.end() :]
    return Line(line, run[0].replace(",", " ").split(), rest, rest != "" or line.endswith(","))


def vertices_end(numbers: int, leaves_one: bool) -> int:
    """Return how many of so many numbers are of vertices."""
    return (numbers - leaves_one) // 2 * 2


def _class_row(line: Line) -> tuple[str, list[float]]:
    """Return a class and the numbers after it, with blanks between; nothing if they are not so."""
    match = _CLASS_ROW.fullmatch(line.whole)
    return (match[1], [*map(float, match[2].split())]) if match else ("", [])


def _wrong(line: Line, survey: Survey) -> FormatError:
    if survey.strict:
        return FormatError("", "")  # which nobody reads
    layout = survey.layout
    more = ",confidence" * survey.confidences + ",transcription" * survey.texts
    expected = f"{layout.line}{more * (layout.read is numbers)} (format {layout.name})"
    count = counted(len(line.fields), "{count} number[s]")
    return FormatError(f"{count} at the start of {quote(' '.join(line.whole.split()))}", expected)


def _confidence(value: float, survey: Survey) -> float:
    if survey.in_unit and not 0 <= value <= 1:
        raise FormatError(f"{value:g} as the confidence", "a number in [0, 1]")
    return value


def _is_difficult(flag: str) -> bool:
    if flag not in ("0", "1"):
        raise FormatError(f"{quote(flag)} as the difficult flag", "0 or 1")
    return flag == "1"


# Coordinates, a confidence and a text -------------------------------------------------------------


def numbers(line: Line, survey: Survey) -> TextObject:
    """Read coordinates, perhaps a confidence, perhaps a transcription."""
    leaves_one = not line.goes_on and (survey.confidences or survey.texts)
    coordinates = survey.coordinates or vertices_end(len(line.fields), leaves_one)
    stop = coordinates + survey.confidences
    is_quoted = line.rest.lstrip().startswith('"') and not survey.strict
    may_be_text = (line.goes_on or survey.texts) and not is_quoted
    most = (1 if survey.strict else VERTICES - 1) * may_be_text
    if not coordinates or not 0 <= len(line.fields) - stop <= most:
        raise _wrong(line, survey)
    values = line.numbers(stop)
    confidence = _confidence(values.pop(), survey) if survey.confidences else None
    return TextObject(values, line.text(stop), confidence=confidence)


def either(line: Line, survey: Survey) -> TextObject:
    """Read a box or a polygon, perhaps a transcription."""
    count = len(line.fields)
    coordinates = 4 if count < 6 else vertices_end(count, leaves_one=False)
    one = numbers(line, survey._replace(coordinates=coordinates, texts=not survey.strict))
    if survey.strict and coordinates == 4 and one.text == DONT_CARE:  # of a polygon, perhaps
        raise _wrong(line, survey)
    return one


# Layouts of their own -----------------------------------------------------------------------------


def marked(line: Line, survey: Survey) -> TextObject:
    """Read what has a mark between numbers and transcription."""
    before, mark, text = line.rest.partition("##::" if survey.layout.name == "popeval" else "####")
    is_odd = len(line.fields) % 2 == 1
    has_confidence = is_odd if survey.strict else survey.confidences
    if not line.fields or before or not mark or is_odd != has_confidence:
        raise _wrong(line, survey)
    values = line.numbers()
    confidence = _confidence(values.pop(), survey) if has_confidence else None
    return TextObject(values, text, confidence=confidence)


def offsets(line: Line, survey: Survey) -> TextObject:
    """Read fourteen vertices from the upper left corner of a box."""
    if len(line.fields) != 32 or line.goes_on:
        raise _wrong(line, survey)
    x0, y0, x1, y1, *points = line.numbers()
    size = x1 - x0, y1 - y0
    if survey.strict and not all(0 <= value <= size[k % 2] for k, value in enumerate(points)):
        raise _wrong(line, survey)
    return TextObject([(x0, y0)[k % 2] + value for k, value in enumerate(points)])


def mlt(line: Line, survey: Survey) -> TextObject:
    """Read a quad, a script and a text."""
    script, comma, text = line.rest.partition(",")
    is_known = not survey.strict or _SCRIPT.fullmatch(script.strip())
    if len(line.fields) != 8 or not comma or not is_known:
        raise _wrong(line, survey)
    return TextObject(line.numbers(), text)


def rctw(line: Line, survey: Survey) -> TextObject:
    """Read a quad, a flag and a text in quotes; a flag that is always 1 may be a confidence."""
    is_sure = not survey.strict or line.fields[8:] == ["0"]
    if len(line.fields) != 9 or not line.rest.lstrip().startswith('"') or not is_sure:
        raise _wrong(line, survey)
    return TextObject(line.numbers(8), line.text(9), _is_difficult(line.fields[8]))


def td500(line: Line, survey: Survey) -> TextObject:
    """Read a box that is turned about its centre, by radians from the x axis to the y axis."""
    count = 7 if len(line.fields) >= 7 else 5
    values = line.numbers(count)
    more = len(line.fields) - count
    if more < 0 or abs(values[-1]) > 2 * math.pi or (survey.strict and more):
        raise _wrong(line, survey)
    x, y, width, height, angle = values[-5:]
    text = line.text(count).strip()
    if count == 7:
        turned_box = turned(box(x, y, width, height), angle)
        return TextObject(turned_box, text, _is_difficult(line.fields[1]))
    is_marked = text.rstrip(" \t,") == "None"
    if survey.strict and not is_marked and (text or angle >= 0):  # a confidence, perhaps
        raise _wrong(line, survey)
    return TextObject(turned(box(x, y, width - x, height - y), angle), "" if is_marked else text)


def dota(line: Line, survey: Survey) -> TextObject | None:
    """Read a quad, a class and a flag."""
    if line.whole.startswith(DOTA_HEADERS):
        return None
    match = _DOTA.fullmatch(line.whole)
    if not match:
        raise _wrong(line, survey)
    points = [*map(float, match[1].split())]
    return TextObject(points, dont_care=int(match[3]) > 0, label=match[2])


def yolo(line: Line, survey: Survey) -> TextObject:
    """Read a class and fractions: centre and size of a box, or vertices; perhaps a confidence."""
    label, values = _class_row(line)
    if not label or (survey.strict and all(map(float.is_integer, values))):
        raise _wrong(line, survey)
    confidence = None
    if len(values) % 2:
        is_first = len(values) == 5 and survey.confidence_first
        confidence = _confidence(values.pop(0 if is_first else -1), survey)
    if len(values) == 4:
        x, y, width, height = values
        values = [*box(x - width / 2, y - height / 2, width, height)]
    if survey.strict and not all(-OUTSIDE <= value <= 1 + OUTSIDE for value in values):
        raise _wrong(line, survey)
    return TextObject(values, confidence=confidence, label=label)


RECORD_BEGINS = r"[^\S\n]*x:\s*+\[\["
_RECORD = re.compile(
    r"""[^\S\n]*x:\s*+\[\[(?P<x>[^\]]*+)\]\]\s*,\s*y:\s*\[\[(?P<y>[^\]]*+)\]\]\s*,
    \s*ornt:\s*\[(?:u?(['"])(?P<ornt>[^\]'"]*+)\3)?\s*\]\s*,
    \s*transcriptions:\s*\[(?:u?(['"])(?P<text>.*)\5)?\s*\]\s*""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"""\\(?:x[\da-f]{2}|u(?!d[89a-f])[\da-f]{4}|U000[\da-f]{5}|['"\\])""", re.I)


def total_text(line: Line, survey: Survey) -> TextObject:
    """Read a record, which goes over several lines if it is long."""
    if survey.strict and re.match(RECORD_BEGINS, line.whole):
        return TextObject((0.0,) * 6)
    match = _RECORD.fullmatch(line.whole)
    if not match:
        raise _wrong(line, survey)
    xs, ys = numbers_of(match["x"]), numbers_of(match["y"])
    if len(xs) != len(ys):
        raise FormatError(f"{len(xs)} x and {len(ys)} y", "as many of the one as of the other")
    text = _ESCAPE.sub(lambda escape: ast.literal_eval(f"'{escape[0]}'"), match["text"] or "")
    is_hidden = "#" in (text, match["ornt"])
    return TextObject(flat(zip(xs, ys, strict=True)), text, is_hidden)


# Layouts that no format reads, which are recognised only ------------------------------------------


def segmentation(line: Line, survey: Survey) -> TextObject:
    """Recognise a colour, a centre, a box and a text in quotes, between blanks."""
    if not re.match(r'#?(?:\d+[ \t]+){9}"', line.whole):
        raise _wrong(line, survey)
    return TextObject((0.0,) * 4)


def class_box(line: Line, survey: Survey) -> TextObject:
    """Recognise a class, perhaps a confidence, and a box in pixels. Where the class is a number and
    nothing is between, the lines may be boxes with a confidence or text.
    """
    label, values = _class_row(line)
    x0, y0, x1, y1 = points = values[-4:] or (0.0,) * 4
    is_class = not label.isdecimal() or (len(label) == 1 and x0 <= x1 and y0 <= y1)
    is_box = is_class if len(values) == 4 else len(values) == 5 and 0 <= values[0] <= 1
    if not is_box or max(values) <= 1 + OUTSIDE:
        raise _wrong(line, survey)
    return TextObject(points)
