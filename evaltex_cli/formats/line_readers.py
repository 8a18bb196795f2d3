"""One line of numbers: its parts, and the reader of each layout (`formats.lines`)."""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evaltex_cli.errors import FormatError, counted, quote
from evaltex_cli.formats.base import DONT_CARE, File, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.parsing import NUMBER, box, number, polygon, turned

VERTICES = 4
"""This many numbers after the coordinates are vertices, and not the beginning of a text."""
DOTA_HEADERS = ("imagesource:", "gsd:")
TOTAL_TEXT = "x: [[...]], y: [[...]], ornt: [u'c'], transcriptions: [u'word']"
"""A record of Total-Text, as messages show it."""
_A_NUMBER = re.compile(NUMBER, re.ASCII)
_NUMBERS = re.compile(rf"(?:[ \t]*+{NUMBER}[ \t]*+(?:,|\Z))*+", re.ASCII)
_APART_BY_BLANKS = re.compile(rf"[ \t]*+{NUMBER}[ \t]++(?:(?:{NUMBER}[ \t]++)++|(?!,))", re.ASCII)
_BEFORE_POPEVAL = re.compile(rf"[ \t]*+({NUMBER}(?:[ \t,]++{NUMBER})*+)[ \t]*+##::", re.ASCII)
_QUOTED = re.compile(r'[ \t]*"(.*)"[ \t]*', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')


# Parts --------------------------------------------------------------------------------------------


def split(line: str, most: int | None = None) -> tuple[list[str], str | None]:
    """Return the numbers that a line begins with, and all that follows the last one's comma; None
    if nothing does. At most so many numbers are split that have blanks between them.
    """
    apart = _APART_BY_BLANKS.match(line)
    if apart:
        line = ",".join(line.split(None, len(apart[0].split()) if most is None else most))
    end = _NUMBERS.match(line).end()  # type: ignore[union-attr]
    if end == 0:
        return [], line
    if line[end - 1] == ",":
        return line[: end - 1].split(","), line[end:]
    return line.split(","), None


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
    words = next((k for k, is_number in enumerate(are_numbers[:5]) if is_number), 5)
    if words == 0 and len(fields) >= 10 and not are_numbers[8]:
        numbers = [*map(float, fields[:8])] if all(are_numbers[:8]) else []
        return ClassRow(" ".join(fields[8:-1]), numbers, fields[-1]) if numbers else None
    first = max(words, 1)
    if len(fields) < first + 4 or not all(are_numbers[first:]):
        return None
    if words == 0 and not fields[0].isdecimal():
        return None
    return ClassRow(" ".join(fields[:first]), [*map(float, fields[first:])])


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
    """Layouts of their own that less than half of the lines have: of some files, perhaps."""
    note: str = ""
    """What is unusual about all objects, for `errors.counted`."""


def vertices_end(numbers: int, leaves_one: bool) -> int:
    """Return how many of so many numbers are of vertices."""
    return (numbers - leaves_one) // 2 * 2


# Readers ------------------------------------------------------------------------------------------


def _wrong(line: str, count: int, survey: Survey) -> FormatError:
    more = ",confidence" * survey.confidences + ",transcription" * survey.texts
    expected = survey.line + more * (survey.layout in ("ltrb", "quad", "polygon"))
    found = f"{counted(count, '{count} number[s]')} at the start of {quote(line)}"
    return FormatError(found, f"{expected} (format {survey.layout})")


def _unquoted(text: str) -> str:
    quoted = _QUOTED.fullmatch(text)
    return _ESCAPED.sub(r"\1", quoted[1]) if quoted else text


def _confidence(value: float, survey: Survey) -> float:
    if survey.in_unit and not 0 <= value <= 1:
        found = f"{value:g} where the other lines have a confidence"
        raise FormatError(found, "a number in [0, 1]")
    return value


def _flag(field: str) -> bool:
    if field.strip() not in ("0", "1"):
        raise FormatError(f"{quote(field.strip())} as the difficult flag", "0 or 1")
    return field.strip() == "1"


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
    fields, rest = split(line)
    stop = survey.coordinates + survey.confidences
    if survey.coordinates and stop < len(fields) < stop + VERTICES:
        fields, rest = split(line, stop)
    if not survey.coordinates:
        leaves_one = rest is None and (survey.confidences or survey.texts)
        stop = vertices_end(len(fields), leaves_one) + survey.confidences
    more = len(fields) - stop
    is_quoted = rest is not None and rest.lstrip(" \t").startswith('"')
    if (
        not fields
        or not 0 <= more < VERTICES
        or (more and (is_quoted or (rest is None and not survey.texts)))
    ):
        raise _wrong(line, len(fields), survey)
    return [*map(float, fields[:stop])], _unquoted(_joined(fields[stop:], rest))


def _joined(fields: Sequence[str], rest: str | None) -> str:
    return ",".join(fields if rest is None else [*fields, rest])


def numbers(line: str, survey: Survey) -> TextObject:
    """Read coordinates, perhaps a confidence, perhaps a transcription."""
    usual = survey.coordinates and _usual(line, survey.coordinates + survey.confidences)
    numbers, text = usual or _closely(line, survey)
    confidence = _confidence(numbers.pop(), survey) if survey.confidences else None
    return TextObject(numbers, text, confidence=confidence)


def either(line: str, survey: Survey) -> TextObject:
    fields, rest = split(line)
    end = 4 if len(fields) == 5 else vertices_end(len(fields), False)
    if end < 4:
        raise _wrong(line, len(fields), survey)
    return TextObject([*map(float, fields[:end])], _unquoted(_joined(fields[end:], rest)))


def mlt(line: str, survey: Survey) -> TextObject:
    fields, rest = split(line)
    _, comma, text = (rest or "").partition(",")
    if len(fields) != 8 or not comma:
        raise _wrong(line, len(fields), survey)
    return TextObject([*map(float, fields)], text)


def rctw(line: str, survey: Survey) -> TextObject:
    fields, rest = split(line)
    if len(fields) != 9:
        raise _wrong(line, len(fields), survey)
    return TextObject([*map(float, fields[:8])], _unquoted(rest or ""), _flag(fields[8]))


def ctw1500(line: str, survey: Survey) -> TextObject:
    fields, rest = split(line)
    if rest is None or len(fields) % 2 != survey.confidences:
        raise _wrong(line, len(fields), survey)
    numbers = [*map(float, fields)]
    confidence = _confidence(numbers.pop(), survey) if survey.confidences else None
    return TextObject(numbers, rest.removeprefix("####"), confidence=confidence)


def offsets(line: str, survey: Survey) -> TextObject:
    fields, rest = split(line)
    if rest is not None or len(fields) != 32:
        raise _wrong(line, len(fields), survey)
    x0, y0, _, _, *offsets = map(number, fields)
    return TextObject([(x0, y0)[k % 2] + value for k, value in enumerate(offsets)])


def popeval(line: str, survey: Survey) -> TextObject:
    head = _BEFORE_POPEVAL.match(line)
    if head is None:
        raise _wrong(line, len(split(line)[0]), survey)
    return TextObject([*map(float, head[1].replace(",", " ").split())], line[head.end() :])


def td500(line: str, survey: Survey) -> TextObject:
    """Read a box that is turned about its centre, by radians from the x axis to the y axis."""
    count = 7 if len(split(line)[0]) >= 7 else 5
    fields, rest = split(line, count)
    if len(fields) < count:
        raise _wrong(line, len(fields), survey)
    text = _joined(fields[count:], rest).strip()
    *values, angle = map(number, fields[:count])
    if abs(angle) > 2 * math.pi:
        raise FormatError(f"an angle of {angle:g}", "radians, at most 2 pi in magnitude")
    if count == 7:
        return TextObject(turned(box(*values[2:]), angle), text, _flag(fields[1]))
    x0, y0, x1, y1 = values
    text = "" if text.rstrip(" \t,") == "None" else text
    return TextObject(turned(box(x0, y0, x1 - x0, y1 - y0), angle), text)


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
    if row is None or row.flag is not None:
        raise FormatError(quote(line), f"{survey.line} (format yolo)")
    numbers, confidence = row.numbers, None
    if len(numbers) % 2:
        confidence = numbers.pop(0 if len(numbers) == 5 and survey.confidence_first else -1)
        if not 0 <= confidence <= 1:
            raise FormatError(f"{confidence:g} as the confidence", "a number in [0, 1]")
    if len(numbers) == 4:
        x, y, width, height = numbers
        numbers = [*box(x - width / 2, y - height / 2, width, height)]
    return TextObject(numbers, confidence=confidence, label=row.label)


_RECORD = re.compile(
    r"""^[^\S\n]*x:\s*+\[\[(?P<x>[^\]]*+)\]\]\s*,\s*y:\s*\[\[(?P<y>[^\]]*+)\]\]\s*,
    \s*ornt:\s*\[(?:u?(['"])(?P<ornt>[^\]'"]*+)\3)?\s*\]\s*,
    \s*transcriptions:\s*\[(?:u?(['"])(?P<text>.*)\5)?\s*\]\s*""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"""\\(?:x[\da-f]{2}|u(?!d[89a-f])[\da-f]{4}|U000[\da-f]{5}|['"\\])""", re.I)


def total_text(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """Read records, which go over several lines where they are long."""
    pieces = re.split(r"^(?=[^\S\n]*x:\s*+\[\[)", file.text, flags=re.MULTILINE)
    starts = itertools.accumulate((piece.count("\n") for piece in pieces), initial=1)

    def read(record: str) -> TextObject:
        match = _RECORD.fullmatch(record)
        if not match:
            raise FormatError(quote(" ".join(record.split())), TOTAL_TEXT)
        xs, ys = ([*map(number, match[axis].replace(",", " ").split())] for axis in "xy")
        if len(xs) != len(ys):
            raise FormatError(f"{len(xs)} x and {len(ys)} y", "as many of the one as of the other")
        text = _ESCAPE.sub(lambda escape: ast.literal_eval(f"'{escape[0]}'"), match["text"] or "")
        dont_care = side == "gt" and not {text, match["ornt"]}.isdisjoint(("#", DONT_CARE))
        vertices = [value for point in zip(xs, ys, strict=True) for value in point]
        return TextObject(polygon(vertices, dont_care=dont_care), text, dont_care)

    records = ((line, piece) for line, piece in zip(starts, pieces, strict=False) if piece.strip())
    yield Image(file.stem, file.each(records, read))
