r"""Text files of numbers, one file an image, one line an object: a table of layouts.

The layout is chosen once for a whole input, by all of its lines: the first of `LAYOUTS` that reads
nearly as many lines as the one that reads most. They are in the order from special to general, so
that MLT's lines, which are quads with a text ``Latin,word`` too, are MLT's.

A line begins with numbers, between commas or blanks. What follows the coordinates:

- a confidence in detections, if 95 % of the lines have a number in [0, 1] there (or any number, if
  it is the last), and either something follows all of these, or one has a decimal point;
- a transcription: all that follows the comma, blanks and commas included; double quotes around it
  are taken off, and ``\\``, ``\"`` in them mean ``\``, ``"``. Exactly ``###`` is don't care.

A polygon's coordinates are the longest even run of numbers that leaves one for a confidence, and
one for a transcription that is a number, ``1996``.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

from evaltex_cli.errors import FormatError, InputError, counted, quote
from evaltex_cli.formats.base import (
    COORDINATE_LIMIT,
    DONT_CARE,
    File,
    Format,
    Image,
    ReadOptions,
    Side,
    TextObject,
)
from evaltex_cli.formats.files import Listing
from evaltex_cli.formats.parsing import NUMBER, box, number, polygon, turned

FEW = 0.05
"""Share of the lines that may differ from what the others say."""
WRAPPED = 0.1
"""Share of the lines that begin a record of Total-Text's, of which long ones are wrapped."""
BEYOND = 4
"""So many numbers after the coordinates are vertices, and not the beginning of a text."""
OUTSIDE = 0.02
"""How far, in fractions of the picture, YOLO's boxes may lie outside of it."""
SCRIPTS = (
    *("Arabic", "Bangla", "Bengali", "Chinese", "Devanagari", "Hindi", "Japanese", "Kannada"),
    *("Korean", "Latin", "Mixed", "None", "Symbols"),
)
"""Script names of the MLT sets."""
_NOT_FINITE = r"[+-]?+(?i:nan|inf(?:inity)?+)(?=[ \t]*+,)"
_LEADING = re.compile(rf"(?:[ \t]*+(?:{NUMBER}|{_NOT_FINITE})[ \t]*+(?:,|\Z))*+", re.ASCII)
_BLANKS_BETWEEN = re.compile(rf"[ \t]*+{NUMBER}[ \t]++(?:(?:{NUMBER}[ \t]++)++|(?!,))", re.ASCII)
_BEFORE_POPEVAL = re.compile(rf"[ \t]*+({NUMBER}(?:[ \t,]++{NUMBER})*+)[ \t]*+##::", re.ASCII)
_A_NUMBER = re.compile(NUMBER, re.ASCII)
_QUOTED = re.compile(r'[ \t]*"(.*)"[ \t]*', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')
_TO_ZERO = bytes.maketrans(b"123456789", b"0" * 9)
_BEGINNING = re.compile(
    rb"^(?:\xef\xbb\xbf)*+([-+.0eE, \t]*+)"
    rb"(####|##::|(?:None|###)[ \t,]*$|(?:%s)[ \t]*,|x:[ \t]*\[\[|imagesource:|gsd:|[^\n]?)"
    % "|".join(SCRIPTS).encode(),
    re.MULTILINE,
)
"""The numbers that a line begins with, and what shows its layout after these."""
_EVALTEX = re.compile(
    rb'[ \t]*+[0-9]++[ \t]*+,[ \t]*+(?:[0-9.]++[ \t\r]*+\Z|(?:[0-9]++[ \t]*+,[ \t]*+)?+")'
)
"""The size of an image, or the beginning of an object, in EvaLTex .txt."""
_HEADERS = ("imagesource:", "gsd:")
"""What the first lines of DOTA's files begin with."""


# Lines --------------------------------------------------------------------------------------------


def _split(line: str, most: int | None = None) -> tuple[list[str], str | None]:
    """Return the fields that a line begins with and that are numbers, and all that follows their
    last comma; None where nothing does. Of numbers between blanks at most so many are fields.
    """
    apart = _BLANKS_BETWEEN.match(line)
    if apart:
        line = ",".join(line.split(None, len(apart[0].split()) if most is None else most))
    leading = _LEADING.match(line)
    end = leading.end() if leading else 0
    if end == 0:
        return [], line
    if line[end - 1] == ",":
        return line[: end - 1].split(","), line[end:]
    return line.split(","), None


def _unquoted(text: str) -> str:
    quoted = _QUOTED.fullmatch(text)
    return _ESCAPED.sub(r"\1", quoted[1]) if quoted else text


class _Row(NamedTuple):
    """A class and numbers, or numbers, a class and a flag (DOTA), between blanks."""

    label: str
    is_word: bool
    numbers: list[float]
    flag: str | None = None


def _row(line: str) -> _Row | None:
    """Return the parts of a line that has a class; None for any other."""
    line = line.rstrip(", \t")
    if "," in line or '"' in line:
        return None
    fields = line.split()
    are_numbers = [_A_NUMBER.fullmatch(field) is not None for field in fields]
    words = next((k for k, is_number in enumerate(are_numbers[:5]) if is_number), 5)
    if words == 0 and len(fields) >= 10 and not are_numbers[8]:
        if not all(are_numbers[:8]):
            return None
        return _Row(" ".join(fields[8:-1]), True, [*map(float, fields[:8])], fields[-1])
    first = max(words, 1)
    is_class = words or (fields and fields[0].isdecimal())
    if not is_class or words > 4 or not all(are_numbers[first:]) or len(fields) < first + 4:
        return None
    numbers = [*map(float, fields[first:])]
    if not all(abs(value) <= COORDINATE_LIMIT for value in numbers):
        return None
    return _Row(" ".join(fields[:first]), words > 0, numbers)


@dataclass(eq=False)
class _Alike:
    """Lines of an input that are alike but for their digits and texts."""

    mark: str
    """What shows their layout after their numbers; one character if nothing does."""
    encoded: list[bytes]

    def __post_init__(self) -> None:
        fields, rest = _split(self.lines[0])
        self.count, self.numbers, self.goes_on = len(self.encoded), len(fields), rest is not None

    @cached_property
    def lines(self) -> list[str]:
        return [line.decode("utf-8", "replace").lstrip("\ufeff") for line in self.encoded]

    @cached_property
    def fields(self) -> list[list[str]]:
        """The numbers that each line begins with."""
        return [_split(line)[0] for line in self.lines]


class Lines:
    """All lines of an input, those together that are alike."""

    def __init__(self, texts: Iterable[bytes], side: Side) -> None:
        self.side = side
        joined = b"\n".join(texts)
        if b"\r" in joined:
            joined = joined.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        groups: dict[tuple[bytes, bytes], list[bytes]] = defaultdict(list)
        for beginning, line in zip(_beginnings(joined), joined.split(b"\n"), strict=True):
            groups[beginning].append(line)
        self.groups = [
            _Alike(mark.decode("utf-8", "replace"), lines)
            for (_, mark), lines in groups.items()
            if lines[0].removeprefix(b"\xef\xbb\xbf").strip()
        ]
        self.total = sum(group.count for group in self.groups)

    def count(self, holds: Callable[[_Alike], bool]) -> int:
        """Return how many lines are in groups of which this holds."""
        return sum(group.count for group in self.groups if holds(group))

    @cached_property
    def with_text(self) -> int:
        """How many lines go on with something that is no number."""
        return self.count(lambda group: group.goes_on)

    @cached_property
    def voters(self) -> list[_Alike]:
        """The groups whose numbers say what the coordinates are: where lines have texts, those
        without may end in a text of digits.
        """
        only_these = self.with_text >= FEW * self.total
        return [group for group in self.groups if group.goes_on or not only_these]

    @cached_property
    def rows(self) -> list[_Row]:
        """The lines that have a class."""
        return [
            row
            for group in self.groups
            if _may_be_rows(group)
            for row in map(_row, group.lines)
            if row
        ]


def _beginnings(joined: bytes) -> list[tuple[bytes, bytes]]:
    """Return the numbers of each line, which are alike but for their digits, and its mark."""
    digits = joined.translate(_TO_ZERO)
    while b"00" in digits:
        digits = digits.replace(b"00", b"0")
    digits = digits.replace(b"0.0", b"0").replace(b"0e-0", b"0").replace(b"-0", b"0")
    return _BEGINNING.findall(digits)


def _may_be_rows(group: _Alike) -> bool:
    line = group.lines[0].rstrip(", \t")
    if group.numbers == 0:
        return group.mark not in _HEADERS
    return "," not in line and (not group.goes_on or group.numbers == 8)


# Which layout -------------------------------------------------------------------------------------


def _fits_total_text(lines: Lines) -> int:
    return (
        lines.total
        if lines.count(lambda g: g.mark[:2] == "x:" and not g.numbers) > WRAPPED * lines.total
        else 0
    )


def _fits_popeval(lines: Lines) -> int:
    return lines.count(lambda g: g.mark == "##::" and _BEFORE_POPEVAL.match(g.lines[0]) is not None)


def _fits_ctw1500(lines: Lines) -> int:
    return lines.count(lambda g: g.mark == "####" and g.numbers >= 6)


def _fits_offsets(lines: Lines) -> int:
    def is_offsets(fields: list[str]) -> bool:
        x0, y0, x1, y1, *offsets = map(float, fields)
        return all(0 <= x <= x1 - x0 for x in offsets[::2]) and all(
            0 <= y <= y1 - y0 for y in offsets[1::2]
        )

    groups = [g for g in lines.groups if g.numbers == 32 and not g.goes_on]
    return sum(is_offsets(fields) for group in groups for fields in group.fields)


def _fits_mlt(lines: Lines) -> int:
    return lines.count(lambda g: g.numbers == 8 and g.mark.rstrip(", \t") in SCRIPTS)


def _before_quotes(lines: Lines) -> Iterator[list[str]]:
    for group in lines.groups:
        if group.numbers == 9 and group.mark == '"':
            yield from group.fields


def _fits_rctw(lines: Lines) -> int:
    """Flags that are always 1 are confidences."""
    flags = [fields[8].strip() for fields in _before_quotes(lines)]
    return sum(flag in ("0", "1") for flag in flags) if "0" in flags else 0


def _fits_segmentation(lines: Lines) -> int:
    """A colour, a centre, and a box that holds it; some lines are after ``#``."""

    def is_coloured(fields: list[str]) -> bool:
        *colour, x, y, x0, y0, x1, y1 = map(float, fields)
        return all(value in range(256) for value in colour) and x0 <= x <= x1 and y0 <= y <= y1

    after_hash = [
        fields
        for group in lines.groups
        if group.mark == "#" and not group.numbers
        for fields, rest in (_split(line.lstrip("# \t")) for line in group.lines)
        if len(fields) == 9 and (rest or "")[:1] == '"'
    ]
    return sum(map(is_coloured, [*_before_quotes(lines), *after_hash]))


def _fits_td500(lines: Lines) -> int:
    def is_turned(fields: list[str]) -> bool:
        width, height, angle = map(float, fields[4:])
        is_flagged = fields[0].strip().isdigit() and fields[1].strip() in ("0", "1")
        return is_flagged and width > 0 and height > 0 and abs(angle) <= math.pi

    seven = [fields for g in lines.groups if g.numbers == 7 for fields in g.fields]
    five = [g for g in lines.groups if g.numbers == 5 and not g.goes_on]
    texts = [
        g for g in lines.groups if g.numbers == 5 and g.mark.rstrip(", \t") in ("None", DONT_CARE)
    ]
    angles = [fields[4] for group in five for fields in group.fields]
    values = [*map(float, angles)]
    count = len(angles) + sum(group.count for group in texts)
    are_angles = all(abs(value) <= math.pi for value in values) and (
        sum(group.count for group in texts) >= (1 - FEW) * lines.total
        or (
            any(
                not 0 <= value <= 1 and not angle.strip().isdigit()
                for angle, value in zip(angles, values, strict=True)
            )
            and 2 * sum(not angle.strip().isdigit() for angle in angles) >= count
        )
    )
    return sum(map(is_turned, seven)) + count * are_angles


def _fits_dota(lines: Lines) -> int:
    flagged = sum(row.flag is not None and row.flag.isdecimal() for row in lines.rows)
    return flagged and flagged + lines.count(lambda g: g.mark in _HEADERS and not g.numbers)


def _fits_yolo(lines: Lines) -> int:
    rows = [row for row in lines.rows if row.flag is None]
    fractions = [r for r in rows if all(-OUTSIDE <= value <= 1 + OUTSIDE for value in r.numbers)]
    five = sum(len(row.numbers) == 5 for row in rows)
    are_boxes = 2 * max(_confidences_of_yolo(fractions)) >= five
    has_decimals = any(value != int(value) for row in fractions for value in row.numbers)
    return len(fractions) if are_boxes and has_decimals else 0


def _confidences_of_yolo(rows: Sequence[_Row]) -> tuple[int, int]:
    """Return how many lines may have their confidence after, and before their box."""

    def is_inside(x: float, y: float, width: float, height: float) -> bool:
        return all(
            at - size / 2 >= -OUTSIDE and at + size / 2 <= 1 + OUTSIDE
            for at, size in ((x, width), (y, height))
        )

    five = [row.numbers for row in rows if len(row.numbers) == 5]
    return sum(is_inside(*row[:4]) for row in five), sum(is_inside(*row[1:]) for row in five)


def _fits_class_boxes(lines: Lines) -> int:
    """Four numbers in pixels after a class, perhaps with a confidence between. If the class is a
    number, it may be a box and its confidence or text instead.
    """
    rows = [row for row in lines.rows if row.flag is None]
    with_words = sum(row.is_word and len(row.numbers) in (4, 5) for row in rows)
    with_confidence = sum(
        not row.is_word and len(row.numbers) == 5 and 0 <= row.numbers[0] <= 1 for row in rows
    )
    four = [(float(r.label), *r.numbers) for r in rows if not r.is_word and len(r.numbers) == 4]
    confidences = sum(0 <= last <= 1 for *_, last in four)
    boxes = sum(y1 >= y0 and x1 >= x0 for x0, y0, x1, y1, _ in four)
    corners = sum(y1 >= y0 and x1 >= x0 for _, x0, y0, x1, y1 in four)
    begin_with_class = confidences < (1 - FEW) * lines.total and (
        boxes < 0.9 * lines.total or (lines.total >= 5 and corners >= (1 - FEW) * lines.total)
    )
    return with_words + with_confidence + len(four) * begin_with_class


def _fits_ltrb(lines: Lines) -> int:
    return sum(group.count for group in lines.voters if group.numbers in (4, 5))


def _fits_quad(lines: Lines) -> int:
    return sum(group.count for group in lines.voters if group.numbers in (8, 9))


def _fits_polygon(lines: Lines) -> int:
    even = sum(g.count for g in lines.voters if g.numbers >= 6 and (g.goes_on or not g.numbers % 2))
    odd = [g for g in lines.voters if g.numbers >= 7 and g.numbers % 2 and not g.goes_on]
    confidences = sum(
        _kind(fields[-1], True) != _WHOLE_BEYOND for group in odd for fields in group.fields
    )
    return even + confidences * (lines.side == "det")


def _fits_box_polygon(lines: Lines) -> int:
    boxes = sum(
        g.count for g in lines.voters if g.numbers == 4 and g.mark.rstrip(", \t") != DONT_CARE
    )
    return boxes + sum(group.count for group in lines.voters if group.numbers >= 6)


_NOTHING, _WHOLE, _DECIMAL, _DECIMAL_BEYOND, _WHOLE_BEYOND = range(5)


def _kind(field: str, is_last: bool) -> int:
    """Return what a number is where a confidence would be: whole or not, in [0, 1] or beyond,
    which only the last number may be.
    """
    is_whole, value = field.strip().isdigit(), float(field)
    if 0 <= value <= 1:
        return _WHOLE if is_whole else _DECIMAL
    if not is_last or not abs(value) <= COORDINATE_LIMIT:
        return _NOTHING
    return _WHOLE_BEYOND if is_whole else _DECIMAL_BEYOND


# What lines hold ----------------------------------------------------------------------------------


class Survey(NamedTuple):
    """What all lines of an input say about each, read as one layout."""

    layout: str = ""
    confidences: bool = False
    in_unit: bool = True
    """Whether a confidence outside of [0, 1] is a fault."""
    texts: bool = True
    """Whether there are transcriptions, so that a number more may be one."""
    confidence_first: bool = False
    """Whether YOLO's confidences are before the boxes."""
    others: tuple[str, ...] = ()
    """Layouts of their own that less than half of the lines have: of some files, perhaps."""
    note: str = ""
    """What is unusual about all lines, to be counted."""


def _survey(layout: Layout, lines: Lines) -> Survey:
    count, own_end = layout.coordinates, layout.own_end
    others = tuple(
        other.name
        for other in LAYOUTS
        if other.is_special
        and other.name != layout.name
        and 0 < 2 * other.fits(lines) < lines.total
    )
    note = ""
    commas = sum(
        line.endswith(b",") and not line.endswith(group.mark.encode())
        for group in lines.groups
        if group.goes_on
        for line in group.encoded
    )
    if commas == lines.with_text >= 2:
        note = "{count} transcriptions, all, end in a comma; delete it if it is no part of them"
    survey = Survey(
        layout.name,
        confidence_first=max(_confidences_of_yolo(lines.rows)[1:])
        > _confidences_of_yolo(lines.rows)[0]
        if layout.name == "yolo"
        else False,
        others=others,
        note=note,
    )
    if own_end and layout.name != "ctw1500":
        return survey
    confidences = in_unit = False
    if lines.side == "det":
        kinds: dict[int, int] = defaultdict(int)
        followed = 0
        for group in lines.groups:
            at = _end(group.numbers, not group.goes_on) if count is None else count
            if group.numbers > at:
                goes_on = group.goes_on or group.numbers > at + 1
                for fields in group.fields:
                    kind = _kind(fields[at], at + 1 == group.numbers)
                    kinds[kind] += 1
                    followed += bool(kind) and goes_on
        having = sum(kinds.values()) - kinds[_NOTHING]
        decimals = kinds[_DECIMAL] + kinds[_DECIMAL_BEYOND]
        confidences = having >= (1 - FEW) * lines.total > 0 and (decimals > 0 or followed == having)
        in_unit = (
            kinds[_WHOLE] + kinds[_DECIMAL] >= (1 - FEW) * lines.total
            and not kinds[_DECIMAL_BEYOND]
        )

    def goes_beyond(group: _Alike) -> bool:
        end = _end(group.numbers, confidences) if count is None else count
        return group.goes_on or group.numbers > end + confidences

    beyond = lines.count(goes_beyond)
    texts = 2 * beyond >= lines.total > 0 and (lines.with_text > 0 or beyond == lines.total)
    if lines.side == "gt" and count is not None:
        texts = True
    if (
        texts
        and not confidences
        and not own_end
        and lines.side == "det"
        and lines.total
        == lines.count(
            lambda g: (
                not g.goes_on and g.numbers == (g.numbers // 2 * 2 if count is None else count) + 1
            )
        )
    ):
        note = (
            "{count} line[s], which are all, end in a whole number after the coordinates, which is"
            " read as transcription; if it is a confidence, write it with a decimal point"
        )
    return survey._replace(confidences=confidences, in_unit=in_unit, texts=texts, note=note)


def _end(numbers: int, leaves_one: bool) -> int:
    """Return how many of these numbers are of vertices."""
    return (numbers - leaves_one) // 2 * 2


# Reading ------------------------------------------------------------------------------------------


def _object(
    points: Sequence[float],
    text: str,
    side: Side,
    confidence: float | None = None,
    dont_care: bool = False,
) -> TextObject:
    if len(points) != 4 and len(points) < 6:
        points = polygon(points, dont_care=text == DONT_CARE)
    return TextObject(points, text, side == "gt" and (dont_care or text == DONT_CARE), confidence)


def _wrong(line: str, fields: Sequence[str], survey: Survey) -> FormatError:
    layout = BY_NAME[survey.layout]
    expected = layout.line
    if not layout.own_end:
        expected += ",confidence" * survey.confidences + ",transcription" * survey.texts
    found = f"{counted(len(fields), '{count} number[s]')} at the start of {quote(line)}"
    return FormatError(found, f"{expected} (format {layout.name})")


def _read_numbers(count: int | None, line: str, side: Side, survey: Survey) -> TextObject:
    """Coordinates, perhaps a confidence, perhaps a transcription."""
    fields, rest = _split(line)
    if (
        count is not None
        and count + survey.confidences < len(fields) < count + survey.confidences + BEYOND
    ):
        fields, rest = _split(line, count + survey.confidences)
    end = count or _end(len(fields), rest is None and (survey.confidences or survey.texts))
    more = len(fields) - end - survey.confidences
    is_quoted = rest is not None and rest.lstrip(" \t").startswith('"')
    if not 0 <= more < BEYOND or (more and (is_quoted or (rest is None and not survey.texts))):
        raise _wrong(line, fields, survey)
    text = _text(fields[end + survey.confidences :], rest)
    confidence = _confidence(fields[end], survey) if survey.confidences else None
    points = [*map(float, fields[:end])]
    if count is None and len(points) == 4:
        points = [*polygon(points, dont_care=text == DONT_CARE)]
    return _object(points, text, side, confidence)


def _text(fields: Sequence[str], rest: str | None) -> str:
    return _unquoted(",".join([*fields, *([] if rest is None else [rest])]))


def _confidence(field: str, survey: Survey) -> float:
    value = float(field)
    if survey.in_unit and not 0 <= value <= 1:
        raise FormatError(
            f"{quote(field.strip())} where the other lines have a confidence", "a number in [0, 1]"
        )
    return value


def _read_box_or_polygon(line: str, side: Side, survey: Survey) -> TextObject:
    fields, rest = _split(line)
    end = 4 if len(fields) == 5 else _end(len(fields), False)
    if end < 4:
        raise _wrong(line, fields, survey)
    return _object([*map(float, fields[:end])], _text(fields[end:], rest), side)


def _read_mlt(line: str, side: Side, survey: Survey) -> TextObject:
    fields, rest = _split(line)
    script, comma, text = ",".join([*fields[8:], *([] if rest is None else [rest])]).partition(",")
    if len(fields) < 8:
        raise _wrong(line, fields, survey)
    if not comma:
        found = f"{quote(script.strip())} and no transcription after the coordinates"
        raise FormatError(found, f"{BY_NAME['mlt'].line} (format mlt)")
    return _object([*map(float, fields[:8])], text, side)


def _read_rctw(line: str, side: Side, survey: Survey) -> TextObject:
    fields, rest = _split(line)
    if len(fields) != 9:
        raise _wrong(line, fields, survey)
    flag = fields[8].strip()
    if flag not in ("0", "1"):
        raise FormatError(f"{quote(flag)} as the difficult flag", "0 or 1")
    return _object([*map(float, fields[:8])], _unquoted(rest or ""), side, None, flag == "1")


def _read_ctw1500(line: str, side: Side, survey: Survey) -> TextObject:
    fields, rest = _split(line)
    if rest is None or len(fields) % 2 != survey.confidences:
        raise _wrong(line, fields, survey)
    confidence = _confidence(fields.pop(), survey) if survey.confidences else None
    text = rest.removeprefix("####")
    return _object(
        polygon([*map(float, fields)], dont_care=text == DONT_CARE), text, side, confidence
    )


def _read_offsets(line: str, side: Side, survey: Survey) -> TextObject:
    fields, rest = _split(line)
    if rest is not None or len(fields) != 32:
        raise _wrong(line, fields, survey)
    values = [*map(number, fields)]
    return _object([value + values[k % 2] for k, value in enumerate(values[4:])], "", side)


def _read_popeval(line: str, side: Side, survey: Survey) -> TextObject:
    head = _BEFORE_POPEVAL.match(line)
    fields = head[1].replace(",", " ").split() if head else _split(line)[0]
    if head is None or len(fields) % 2:
        raise _wrong(line, fields, survey)
    text = line[head.end() :]
    return _object(polygon([*map(float, fields)], dont_care=text == DONT_CARE), text, side)


def _read_td500(line: str, side: Side, survey: Survey) -> TextObject:
    fields, rest = _split(line)
    count = 7 if len(fields) >= 7 else 5
    if len(fields) < count:
        raise _wrong(line, fields, survey)
    if len(fields) > count:
        fields, rest = _split(line, count)
    text = ",".join([*fields[count:], *([] if rest is None else [rest])]).strip()
    flag = fields[1].strip()
    *values, angle = map(number, fields[:count])
    if count == 7:
        if flag not in ("0", "1"):
            raise FormatError(f"{quote(flag)} as the difficult flag", "0 or 1")
        shape, dont_care = box(*values[2:]), flag == "1"
    else:
        x0, y0, x1, y1 = values
        shape, dont_care = box(x0, y0, x1 - x0, y1 - y0), text == DONT_CARE
        text = "" if text.rstrip(" \t,") == "None" else text
    if abs(angle) > 2 * math.pi:
        raise FormatError(f"an angle of {angle:g}", "radians, at most 2 pi in magnitude")
    return TextObject(turned(shape, angle), text, side == "gt" and dont_care)


def _read_dota(line: str, side: Side, survey: Survey) -> TextObject | None:
    if line.startswith(_HEADERS):
        return None
    row = _row(line)
    if row is None or row.flag is None:
        raise FormatError(quote(line), f"{BY_NAME['dota'].line} (format dota)")
    if not row.flag.isdecimal():
        raise FormatError(f"{quote(row.flag)} as the difficult flag", "a whole number")
    return TextObject(row.numbers, dont_care=side == "gt" and int(row.flag) > 0, label=row.label)


def _read_yolo(line: str, side: Side, survey: Survey) -> TextObject:
    row = _row(line)
    if row is None or row.flag is not None:
        raise FormatError(quote(line), f"{BY_NAME['yolo'].line} (format yolo)")
    numbers, confidence = row.numbers, None
    if len(numbers) == 5 and survey.confidence_first:
        confidence, *numbers = numbers
    elif len(numbers) % 2:
        *numbers, confidence = numbers
    if confidence is not None and not 0 <= confidence <= 1:
        raise FormatError(f"{confidence:g} as the confidence", "a number in [0, 1]")
    if len(numbers) == 4:
        x, y, width, height = numbers
        numbers = [*box(x - width / 2, y - height / 2, width, height)]
    return TextObject(numbers, confidence=confidence, label=row.label)


def _read_lines(name: str, file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    survey, layout = options.surveyed, BY_NAME[name]
    if survey.others:
        _refuse_other(file, survey, side)
    assert layout.read is not None
    read_line = layout.read

    def read(line: str) -> TextObject | None:
        one = read_line(line, side, survey)
        if one is not None and one.text:
            if side == "gt" and one.text != DONT_CARE and one.text.strip(" \t,") == DONT_CARE:
                file.notes[_SPACED] += 1
            if survey.note and one.text.endswith(","):
                file.notes[survey.note] += 1
        return one

    yield Image(file.stem, file.each(_stripped(file), read), fractions=name == "yolo")


_SPACED = (
    f"{{count}} transcription[s] [is|are] {DONT_CARE} with blanks or commas around, which is not"
    " don't care; delete these where it should be"
)


def _stripped(file: File) -> Iterator[tuple[int, str]]:
    if "\ufeff" not in file.text:
        return file.lines()
    return ((k, line.lstrip("\ufeff")) for k, line in file.lines() if line.lstrip("\ufeff").strip())


def _refuse_other(file: File, survey: Survey, side: Side) -> None:
    """Refuse a file that is of another layout than the input."""
    lines = Lines([file.data], side)
    for name in survey.others:
        if lines.total and 2 * BY_NAME[name].fits(lines) >= lines.total:
            raise FormatError(
                f"lines of the format {name}",
                f"{survey.layout}, as in most files: give it as an input of its own",
                at=1,
            )


# Total-Text ---------------------------------------------------------------------------------------

_START = re.compile(r"^[^\S\n]*x:\s*+(?=\[\[)", re.MULTILINE)
_RECORD = re.compile(
    r"""\[\[(?P<x>[^\]]*+)\]\]\s*,\s*y:\s*\[\[(?P<y>[^\]]*+)\]\]\s*,
    \s*ornt:\s*\[(?:u?(['"])(?P<ornt>[^\]'"]*+)\3)?\s*\]\s*,
    \s*transcriptions:\s*\[(?:u?(['"])(?P<text>.*)\5)?\s*\]\s*""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)


def _read_total_text(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """Records go over several lines where they are long."""
    text = file.text
    starts = list(_START.finditer(text))
    head = text[: starts[0].start()] if starts else text
    if head.strip():
        file.log(FormatError(quote(head.strip()), BY_NAME["totaltext"].line), 1)
    ends = [*(start.start() for start in starts[1:]), len(text)]
    records = [
        (text.count("\n", 0, start.end()) + 1, text[start.end() : end])
        for start, end in zip(starts, ends, strict=True)
    ]

    def read(record: str) -> TextObject:
        match = _RECORD.fullmatch(record)
        if not match:
            raise FormatError(quote(" ".join(record.split())), BY_NAME["totaltext"].line)
        xs, ys = ([*map(number, match[axis].replace(",", " ").split())] for axis in "xy")
        if len(xs) != len(ys):
            raise FormatError(f"{len(xs)} x and {len(ys)} y", "as many of the one as of the other")
        text = _ESCAPE.sub(_character, match["text"] or "")
        dont_care = side == "gt" and not {text, match["ornt"]}.isdisjoint(("#", DONT_CARE))
        points = [value for point in zip(xs, ys, strict=True) for value in point]
        return TextObject(polygon(points, dont_care=dont_care), text, dont_care)

    yield Image(file.stem, file.each(records, read))


def _character(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2] or escape[3]
    if not digits:
        return escape[4] if escape[4] in "'\"\\" else escape[0]
    code = int(digits, 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else escape[0]


# The table ----------------------------------------------------------------------------------------

ReadLine = Callable[[str, Side, Survey], TextObject | None]


@dataclass(frozen=True)
class Layout:
    """One layout of lines."""

    name: str
    line: str
    """A line, as messages show it."""
    recognised_by: str
    fits: Callable[[Lines], int]
    """Returns how many of the lines are surely of it, going by their numbers and marks."""
    read: ReadLine | None = None
    """None of Total-Text, whose records go over lines, and of layouts that are not read."""
    coordinates: int | None = None
    """How many numbers the coordinates are; None for any even count."""
    own_end: bool = True
    """Whether lines end as only this layout's do, whatever other lines have."""
    instead: str = ""
    """What to do, if it is not read."""

    @property
    def is_special(self) -> bool:
        """Whether its lines differ from others by more than how many numbers they have."""
        return self.name not in ANY_NUMBERS


ANY_NUMBERS = ("ltrb", "quad", "polygon", "box-polygon")
"""Layouts by the number of coordinates alone."""
_QUAD = "x1,y1,x2,y2,x3,y3,x4,y4"
LAYOUTS = (
    Layout(
        "totaltext",
        "x: [[...]], y: [[...]], ornt: [u'c'], transcriptions: [u'word']",
        "lines that begin with x: [[",
        _fits_total_text,
    ),
    Layout(
        "popeval",
        "x1 y1 x2 y2 x3 y3 x4 y4##::transcription",
        "##:: after the numbers",
        _fits_popeval,
        _read_popeval,
    ),
    Layout(
        "ctw1500",
        "x1,y1,...,xn,yn,####transcription",
        "#### before the transcription",
        _fits_ctw1500,
        _read_ctw1500,
    ),
    Layout(
        "ctw1500-offsets",
        "x0,y0,x1,y1 and 14 vertices as offsets from x0,y0",
        "32 numbers, the offsets within the box",
        _fits_offsets,
        _read_offsets,
    ),
    Layout(
        "mlt",
        f"{_QUAD},script,transcription",
        "the name of a script",
        _fits_mlt,
        _read_mlt,
    ),
    Layout(
        "rctw",
        f'{_QUAD},difficult,"transcription"',
        "0 or 1 before a quote, not always 1",
        _fits_rctw,
        _read_rctw,
    ),
    Layout(
        "segmentation",
        "",
        "",
        _fits_segmentation,
        instead=(
            "ICDAR 2013's ground truth of segmentation, which is not read; give that of"
            " localisation (gt_img_1.txt)"
        ),
    ),
    Layout(
        "msra-td500",
        "index difficult x y width height angle [text], or left,top,right,bottom,angle[,text]",
        "lines of that layout",
        _fits_td500,
        _read_td500,
    ),
    Layout(
        "dota",
        "x1 y1 x2 y2 x3 y3 x4 y4 class difficult",
        "lines of eight numbers, a class and a flag",
        _fits_dota,
        _read_dota,
    ),
    Layout(
        "yolo",
        "class x y width height, or class x1 y1 x2 y2 x3 y3 ..., in fractions, and perhaps a"
        " confidence",
        "a class before four numbers or more, all in [0, 1]",
        _fits_yolo,
        _read_yolo,
    ),
    Layout(
        "class boxes",
        "",
        "",
        _fits_class_boxes,
        instead=(
            "lines of a class and a box in pixels, which is not read; write its boxes as CSV with"
            " a header, or as COCO JSON, or as YOLO's fractions"
        ),
    ),
    Layout(
        "ltrb",
        "x0,y0,x1,y1",
        "lines of 4 or 5 numbers",
        _fits_ltrb,
        partial(_read_numbers, 4),
        coordinates=4,
        own_end=False,
    ),
    Layout(
        "quad",
        _QUAD,
        "lines of 8 or 9 numbers",
        _fits_quad,
        partial(_read_numbers, 8),
        coordinates=8,
        own_end=False,
    ),
    Layout(
        "polygon",
        "x1,y1,x2,y2,x3,y3,...",
        "lines of other counts of numbers",
        _fits_polygon,
        partial(_read_numbers, None),
        own_end=False,
    ),
    Layout(
        "box-polygon",
        "x0,y0,x1,y1 or x1,y1,x2,y2,x3,y3,...,transcription",
        "lines of 4 and of more numbers",
        _fits_box_polygon,
        _read_box_or_polygon,
    ),
)
"""From special to general."""
BY_NAME = {layout.name: layout for layout in LAYOUTS}


def _chosen(lines: Lines) -> Layout:
    """Return the layout that reads most lines."""
    fits = {layout.name: layout.fits(lines) for layout in LAYOUTS}
    most = max(fits.values())
    if not most:
        return BY_NAME["polygon" if lines.count(lambda g: g.numbers >= 6) else "ltrb"]
    if not lines.with_text and fits["polygon"] == most > fits["quad"]:
        fits["quad"] = 0  # without texts a number more is of a vertex
    return next(layout for layout in LAYOUTS if fits[layout.name] >= (1 - FEW) * most)


class Recognised(NamedTuple):
    """The format of an input, and by what it was recognised."""

    format: Format
    reason: str
    note: str = ""
    """What the user should know of the choice."""


def recognise(listing: Listing, side: Side, preferred: Sequence[str] = ()) -> Recognised | None:
    """Return the layout that reads most of an input's lines; None if these are no such lines.

    Parameters
    ----------
    preferred : sequence of str
        Formats that decide where the lines fit several layouts: the first that reads as many.

    Raises
    ------
    InputError
        When the lines are known, and not read.
    """
    from evaltex_cli.formats import load

    ending = ".txt"
    if listing.kind == "file":
        if not begins_with_rows(listing.beginning(listing.entries[0], 1 << 12)):
            return None
    else:
        endings = listing.endings()
        ending = next((one for one in (".gt", ".txt") if endings[one]), "")
        if not ending:
            return None
    chosen, _ = listing.chosen((ending,))
    lines = Lines(chosen.read(), side)
    layout = BY_NAME["msra-td500"] if ending == ".gt" else _chosen(lines)
    if layout.instead:
        raise InputError(f"{listing.path}: {layout.instead}")
    note = ""
    survey = _survey(layout, lines)
    if layout.name in ANY_NUMBERS and layout.name not in preferred:
        for name in preferred:
            if name in BY_NAME and name not in ANY_NUMBERS:
                other = _survey(BY_NAME[name], lines)
                if _reads(other, lines) >= _reads(survey, lines):
                    note = (
                        f"is read as {name}, a format of the preset, though its content could be"
                        f" {layout.name}; --{side}-format names another"
                    )
                    layout, survey = BY_NAME[name], other
                    break
    form = replace(load(layout.name), survey=lambda files, side: survey, endings=(ending,))
    return Recognised(form, _reason(layout, lines), note)


def _reads(survey: Survey, lines: Lines) -> int:
    """Return how many lines a layout reads without a fault."""
    layout = BY_NAME[survey.layout]
    if layout.read is None:
        return layout.fits(lines)
    count = 0
    for group in lines.groups:
        for line in group.lines:
            try:
                layout.read(line, lines.side, survey)
                count += 1
            except FormatError:
                pass
    return count


def _reason(layout: Layout, lines: Lines) -> str:
    if layout.name not in ("ltrb", "quad", "polygon"):
        return f"recognised by {layout.recognised_by}"
    counts: dict[int, int] = defaultdict(int)
    for group in lines.groups:
        counts[group.numbers] += group.count
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    usual = ", ".join(f"{count} with {numbers}" for numbers, count in ranked[:3])
    rest = ", ..." if len(ranked) > 3 else ""
    if not ranked:
        return "no line"
    return counted(lines.total, f"numbers at the start of {{count}} line[s]: {usual}{rest}")


def begins_with_rows(beginning: bytes) -> bool:
    """Return whether a text file begins with lines of numbers, perhaps after a class, and not with
    the name of an image, as EvaLTex .txt does.

    Parameters
    ----------
    beginning : bytes
        At least its first two lines that are not blank.
    """
    first = [line for line in beginning.removeprefix(b"\xef\xbb\xbf").splitlines() if line.strip()][
        :2
    ]
    if not first or any(_EVALTEX.match(line) for line in first[1:]):
        return False
    line = first[0].decode("utf-8", "replace")
    return (
        line.startswith(_HEADERS)
        or re.match(r"[ \t]*+x:[ \t]*+\[\[", line) is not None
        or len(_split(line)[0]) >= 4
        or _row(line) is not None
    )


def _format(name: str, title: str, layout: str, endings: tuple[str, ...] = (".txt",)) -> Format:
    def survey(files: Iterable[File], side: Side) -> Survey:
        return _survey(BY_NAME[name], Lines((file.data for file in files), side))

    read = _read_total_text if name == "totaltext" else partial(_read_lines, name)
    return Format(name, title, read, lambda head: "", endings, layout=layout, survey=survey)


_REST = "[,confidence][,text]"
MSRA_TD500 = _format(
    "msra-td500",
    "MSRA-TD500: .gt files of turned rectangles",
    "index difficult x y w h angle [text]; left,top,right,bottom,angle[,text]",
    (".gt", ".txt"),
)
DOTA = _format("dota", "DOTA's labelTxt: .txt files of quadrilaterals", BY_NAME["dota"].line)
YOLO = _format("yolo", "YOLO, boxes, segments and turned boxes: .txt files", BY_NAME["yolo"].line)
LTRB = _format("ltrb", "ICDAR 2003 to 2013: .txt files", f"x0,y0,x1,y1{_REST}")
QUAD = _format("quad", "ICDAR 2015: .txt files", f"x1,y1,...,x4,y4{_REST}")
POLYGON = _format(
    "polygon",
    "Total-Text as ICDAR has it: .txt files",
    f"x1,y1,...,xn,yn{_REST}",
)
BOX_POLYGON = _format(
    "box-polygon",
    "CVAT's boxes and polygons: .txt files",
    "x0,y0,x1,y1[,text]; x1,y1,...,xn,yn[,text]",
)
MLT = _format(
    "mlt",
    "ICDAR MLT 2017 and 2019: .txt files",
    "x1,y1,...,x4,y4,script,text",
)
RCTW = _format("rctw", "RCTW-17: .txt files", 'x1,y1,...,x4,y4,difficult,"text"')
CTW1500 = _format(
    "ctw1500",
    "CTW1500 (test), AdelaiDet: .txt files",
    "x1,y1,...,xn,yn[,confidence],####text",
)
CTW1500_OFFSETS = _format(
    "ctw1500-offsets",
    "CTW1500: .txt files",
    "x0,y0,x1,y1,dx1,dy1,...,dx14,dy14",
)
POPEVAL = _format("popeval", "PopEval: .txt files", "x1 y1 x2 y2 ...##::text")
TOTALTEXT = _format(
    "totaltext",
    "Total-Text's own .txt files: x: [[...]], y: [[...]], ...",
    BY_NAME["totaltext"].line,
)
