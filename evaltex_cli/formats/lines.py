r"""Text files of numbers, one file an image, one line an object: a table of layouts.

The layout is chosen once for a whole input: the first of `LAYOUTS`, from special to general, that
reads nearly as many lines as the one that reads most. Each line that it does not read is a fault.

A line begins with numbers, between commas or between blanks. After the coordinates it may have

- a confidence, in detections. 95 % of the lines have a number in [0, 1] there, or any number if it
  is the last; and all of these go on, or some have a decimal point;
- a transcription, which is all that follows the comma. Double quotes around it are taken off;
  ``\\``, ``\"`` in them mean ``\``, ``"``. Exactly ``###`` is don't care.

A polygon's coordinates are the longest even run of numbers that leaves one for a confidence or for
a transcription such as ``1996``.
"""

from __future__ import annotations

import ast
import itertools
import math
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from evaltex_cli.errors import FormatError, InputError, counted, quote
from evaltex_cli.formats.base import DONT_CARE, File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.files import Listing
from evaltex_cli.formats.parsing import NUMBER, box, flat, polygon, turned
from evaltex_cli.formats.parsing import numbers as numbers_of

MOST = 0.95
"""Share of the lines that decide, so that a few odd ones do not."""
SOME = 100
"""Lines that layouts are tried on, drawn from `SOME_FILES` of an input."""
SOME_FILES = 100
_WHOLE_NUMBERS = (
    "all {count} lines end in a whole number after the coordinates, which is read as transcription;"
    " if it is a confidence, write it with a decimal point"
)
_SPACED = (
    f"{{count}} transcription[s] [is|are] {DONT_CARE} with blanks or commas around, which is not"
    " don't care; delete these where it should be"
)
OUTSIDE = 0.02
"""How far, in fractions of the picture, what YOLO writes may lie outside of it."""
DOTA_HEADERS = ("imagesource:", "gsd:")
_ENDS = r"(?=##)|\Z"
_COMMAS = re.compile(rf"(?:[ \t]*+{NUMBER}[ \t]*+(?:,|{_ENDS}))++", re.ASCII)
_BLANKS = re.compile(rf"(?:[ \t]*+{NUMBER}(?:,|[ \t]++|{_ENDS}))++", re.ASCII)
_QUOTED = re.compile(r'[ \t]*"(.*)"[ \t]*', re.DOTALL)
_WORD = rf'(?!{NUMBER}(?:\s|\Z))[^\s,"]++'
_CLASS_ROW = re.compile(
    rf"\s*+(\d++|{_WORD}(?:\s++{_WORD}){{0,3}}+)((?:\s++{NUMBER}){{4,}}+)[\s,]*+", re.ASCII
)
_POINTS = rf"(?P<points>(?:[ \t]*+{NUMBER}(?:[ \t]*+,|[ \t]++|(?=##))){{1,}}+)"
_QUAD = _POINTS.replace("{1,}", "{8}")
_SCRIPTS = "Arabic|Bangla|Bengali|Chinese|Devanagari|Hindi|Japanese|Kannada|Korean|Latin|Mixed|None"
PATTERNS = {
    "popeval": rf"{_POINTS}##::(?P<text>.*)",
    "ctw1500": rf"{_POINTS}####(?P<text>.*)",
    "mlt": rf"{_QUAD}(?:\s*(?P<sure>{_SCRIPTS}|Symbols)\s*|(?!\s*{NUMBER},)[^,]*),(?P<text>.*)",
    "rctw": rf'{_QUAD}[ \t]*(?:(?P<sure>0)|(?P<difficult>1))[ \t]*[, \t](?P<quoted>[ \t]*".*)',
    "segmentation": r'(?P<points>)#?(?:\d+[ \t]+){9}".*',
    "dota": rf'(?!.*,.*\w){_QUAD}(?P<label>{_WORD}[^,"]*?)\s+(?:0+|(?P<difficult>\d+))[\s,]*',
}
"""Layouts of polygons and quads with something after them; what is `sure` is of no other layout."""


@dataclass(frozen=True)
class Layout:
    """One layout of lines."""

    name: str
    title: str
    line: str
    """A line, as messages and the documentation show it; what to do where no format reads it."""
    read: Callable[[Line, Survey], TextObject | None]
    share: float = MOST
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
        return unquoted(text) if '"' in text else text


def unquoted(text: str) -> str:
    """Return a text without quotes around it."""
    quoted = _QUOTED.fullmatch(text)
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


# Readers: of one line, by what all lines say ------------------------------------------------------


def numbers(line: Line, survey: Survey) -> TextObject:
    """Read coordinates, perhaps a confidence, perhaps a transcription."""
    leaves_one = not line.goes_on and (survey.confidences or survey.texts)
    coordinates = survey.coordinates or vertices_end(len(line.fields), leaves_one)
    stop = coordinates + survey.confidences
    is_quoted = line.rest.lstrip().startswith('"') and not survey.strict
    may_be_text = (line.goes_on or survey.texts) and not is_quoted
    most = (1 if survey.strict else 3) * may_be_text  # more are vertices, and no text
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


def patterned(line: Line, survey: Survey) -> TextObject | None:
    """Read what a pattern names; an odd number at the end of the coordinates is a confidence."""
    if line.whole.startswith(DOTA_HEADERS):
        return None
    match = re.fullmatch(PATTERNS[survey.layout.name], line.whole, re.ASCII)
    groups: dict[str, Any] = match.groupdict() if match else {"sure": None}
    values = [*map(float, groups.get("points", "").replace(",", " ").split())]
    has_confidence = bool(len(values) % 2) if survey.strict else survey.confidences
    is_sure = not survey.strict or groups.get("sure", "") is not None
    if not match or len(values) % 2 != has_confidence or not is_sure:
        raise _wrong(line, survey)
    confidence = _confidence(values.pop(), survey) if has_confidence else None
    text = groups.get("text", "") or unquoted(groups.get("quoted", ""))
    difficult = groups.get("difficult") is not None
    return TextObject(values, text, difficult, confidence, label=groups.get("label", ""))


def offsets(line: Line, survey: Survey) -> TextObject:
    """Read fourteen vertices from the upper left corner of a box."""
    if len(line.fields) != 32 or line.goes_on:
        raise _wrong(line, survey)
    x0, y0, x1, y1, *points = line.numbers()
    size = x1 - x0, y1 - y0
    if survey.strict and not all(0 <= value <= size[k % 2] for k, value in enumerate(points)):
        raise _wrong(line, survey)
    return TextObject([(x0, y0)[k % 2] + value for k, value in enumerate(points)])


def td500(line: Line, survey: Survey) -> TextObject:
    """Read a box that is turned about its centre, by radians from the x axis to the y axis."""
    count = 7 if len(line.fields) >= 7 else 5
    values = line.numbers(count)
    more = len(line.fields) - count
    is_flag = count == 5 or line.fields[1] in ("0", "1")
    if more < 0 or abs(values[-1]) > 2 * math.pi or not is_flag or (survey.strict and more):
        raise _wrong(line, survey)
    x, y, width, height, angle = values[-5:]
    text = line.text(count).strip()
    if count == 7:
        return TextObject(turned(box(x, y, width, height), angle), text, values[1] == 1)
    is_marked = text.rstrip(" \t,") == "None"
    if survey.strict and not is_marked and (text or angle >= 0):  # a confidence, perhaps
        raise _wrong(line, survey)
    return TextObject(turned(box(x, y, width - x, height - y), angle), "" if is_marked else text)


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


def class_box(line: Line, survey: Survey) -> TextObject:
    """Recognise a class, perhaps a confidence, and a box in pixels."""
    label, values = _class_row(line)
    x0, y0, x1, y1 = points = values[-4:] or (0.0,) * 4
    # a class that is a number may be the beginning of a box
    is_class = not label.isdecimal() or (len(label) == 1 and x0 <= x1 and y0 <= y1)
    is_box = is_class if len(values) == 4 else len(values) == 5 and 0 <= values[0] <= 1
    if not is_box or max(values) <= 1 + OUTSIDE:
        raise _wrong(line, survey)
    return TextObject(points)


# The table ----------------------------------------------------------------------------------------

_TOTAL_TEXT = "x: [[...]], y: [[...]], ornt: [u'c'], transcriptions: [u'word']"
_CORNERS = "x1,y1,x2,y2,x3,y3,x4,y4"
_YOLO = "class x y width height, or class x1 y1 x2 y2 x3 y3 ..., in fractions[ confidence]"
_TD500 = "index difficult x y width height angle [text], or left,top,right,bottom,angle[,text]"
_CURVE = "x1,y1,...,xn,yn[,confidence],####transcription"
_OFFSETS = "x0,y0,x1,y1,dx1,dy1,...,dx14,dy14"
_DOTA, _BOTH = "x1 y1 x2 y2 x3 y3 x4 y4 class difficult", "x0,y0,x1,y1 or x1,y1,x2,y2,x3,y3,..."
_SEGMENTATION = "give that of localisation (gt_img_1.txt)"
_CLASS_BOX = "write the boxes as CSV with a header, as COCO JSON, or as YOLO's fractions"
LAYOUTS = (
    Layout("totaltext", "Total-Text", _TOTAL_TEXT, total_text, 0.1, 0),
    Layout("popeval", "PopEval", "x1 y1 x2 y2 ...##::transcription", patterned, 0.5, 0),
    Layout("ctw1500", "CTW1500 (test), AdelaiDet", _CURVE, patterned, 0.5, 0),
    Layout("ctw1500-offsets", "CTW1500 (training)", _OFFSETS, offsets),
    Layout("mlt", "ICDAR MLT 2017, 2019", f"{_CORNERS},script,transcription", patterned, 0.5),
    Layout("rctw", "RCTW-17", f'{_CORNERS},difficult,"transcription"', patterned, 0.1),
    Layout("dota", "DOTA's labelTxt", _DOTA, patterned, 0.5),
    Layout("yolo", "YOLO, boxes, segments and turned boxes", _YOLO, yolo, 0.5),
    Layout("msra-td500", "MSRA-TD500, turned boxes", _TD500, td500, 0.1),
    Layout("segmentation", "ICDAR 2013's ground truth of segmentation", _SEGMENTATION, patterned),
    Layout("class boxes", "lines of a class and a box in pixels", _CLASS_BOX, class_box),
    Layout("ltrb", "ICDAR 2003 to 2013", "x0,y0,x1,y1", numbers, coordinates=4),
    Layout("quad", "ICDAR 2015", _CORNERS, numbers, coordinates=8),
    Layout("polygon", "Total-Text as ICDAR has it", "x1,y1,...,xn,yn", numbers, coordinates=0),
    Layout("box-polygon", "CVAT's boxes and polygons", _BOTH, either),
)
"""From special to general."""
BY_NAME = {layout.name: layout for layout in LAYOUTS}
NOT_READ = ("segmentation", "class boxes")


# Lines of an input --------------------------------------------------------------------------------


class Lines:
    """Lines of an input that are not blank: how many there are, and some of them."""

    def __init__(self, texts: Iterable[bytes]) -> None:
        joined = b"\n".join(texts).replace(b"\xef\xbb\xbf", b"").replace(b"\r", b"\n")
        lines = [line for line in joined.split(b"\n") if line.strip()]
        self.total = len(lines)
        some = random.Random(0).sample(lines, SOME) if self.total > SOME else lines
        self.some = [split(line.decode("utf-8", "replace")) for line in some]
        self.going_on = sum(line.goes_on for line in self.some)

    def reads(self, survey: Survey) -> int:
        """Return how many of some lines a layout reads."""
        count = 0
        is_plain = survey.layout.read in (numbers, either)
        needs_text = is_plain and survey.strict and 2 * self.going_on >= len(self.some)
        for line in self.some:
            if line.goes_on or not needs_text:  # else of a text of digits, perhaps
                try:
                    count += _object(line, survey) is not None
                except FormatError:
                    continue
        return count

    @cached_property
    def fits(self) -> dict[str, int]:
        """How many of some lines each layout reads that other layouts hardly have."""
        return {
            layout.name: self.reads(_survey(layout, self, "gt")._replace(strict=True))
            for layout in LAYOUTS
        }


def survey(layout: Layout, lines: Lines, side: Side) -> Survey:
    """Return what all lines say about each, read by a layout."""
    names = {"popeval", "ctw1500", "mlt", "class boxes"} - {layout.name}
    some = (name for name in sorted(names) if 0 < 2 * lines.fits[name] < len(lines.some))
    return _survey(layout, lines, side)._replace(others=tuple(some))


def _survey(layout: Layout, lines: Lines, side: Side) -> Survey:
    found, at = Survey(layout), layout.coordinates
    if layout.read is yolo:
        either_way = [found._replace(in_unit=True, confidence_first=one) for one in (False, True)]
        # the one that has more boxes inside of the pictures
        return max(either_way, key=lambda one: lines.reads(one._replace(strict=True)))
    if at is None:
        return found
    if side == "det":
        found = _with_confidences(found._replace(coordinates=at), lines)
    has = found.confidences
    beyond = sum(
        line.goes_on or len(line.fields) > (at or vertices_end(len(line.fields), has)) + has
        for line in lines.some
    )
    may_have_texts = 2 * beyond > len(lines.some) or (side == "gt" and at > 0)
    return found._replace(coordinates=at, texts=may_have_texts)


def _with_confidences(survey: Survey, lines: Lines) -> Survey:
    """Return whether detections have confidences after their coordinates, and in [0, 1]."""
    fields, with_text, count = [], 0, len(lines.some)
    for line in lines.some:
        end = survey.coordinates or vertices_end(len(line.fields), not line.goes_on)
        more = len(line.fields) - end
        # what is before a text of digits is in [0, 1]
        if more == 1 or (more > 1 and 0 <= float(line.fields[end]) <= 1):
            fields.append(line.fields[end])
            with_text += line.goes_on or more > 1
    decimals = [float(field) for field in fields if not field.isdigit()]
    inside = sum(0 <= float(field) <= 1 for field in fields)
    has = len(fields) >= MOST * count and (decimals != [] or 0 < len(fields) == with_text)
    if len(fields) == count > 0 == with_text and not decimals:
        survey = survey._replace(note=_WHOLE_NUMBERS)
    in_unit = inside >= MOST * count and all(0 <= value <= 1 for value in decimals)
    return survey._replace(confidences=has, in_unit=in_unit)


# Reading a file -----------------------------------------------------------------------------------


def _object(line: Line, survey: Survey) -> TextObject | None:
    one = survey.layout.read(line, survey)
    if one is not None:
        one.dont_care = one.dont_care or one.text == DONT_CARE
        if survey.layout.coordinates == 0:
            one.points = polygon(one.points, dont_care=one.dont_care and not survey.strict)
    return one


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    found: Survey = options.surveyed
    layout = found.layout
    for name in found.others:
        lines = Lines([file.data])
        if 2 * lines.fits[name] >= len(lines.some) > 0:
            expected = f"{layout.name}, as in most files: give it as an input of its own"
            raise FormatError(f"lines of the format {name}", expected, at=1)

    usual = _usual(found)

    def read(line: str) -> TextObject | None:
        if usual is not None and (match := usual.fullmatch(line)):
            text = match[2] or ""
            is_dont_care = text == DONT_CARE and side == "gt"
            return TextObject([*map(float, match[1].split(","))], text, is_dont_care)
        one = _object(split(line), found)
        if one is not None and DONT_CARE in line:
            is_spaced = one.text != DONT_CARE == one.text.strip(" \t,")
            file.notes[_SPACED] += side == "gt" and is_spaced
        if one is not None and side == "det":
            one.dont_care = False
        return one

    items = _records(file) if layout.read is total_text else file.lines()
    objects = file.each(items, read)
    file.notes[found.note] += len(objects)
    yield Image(file.stem, objects, fractions=layout.read is yolo)


def _usual(survey: Survey) -> re.Pattern[str] | None:
    """Return a pattern of most lines of most inputs, which need no closer look: whole numbers, and
    nothing, a word or ``###`` after them.
    """
    if survey.layout.read is not numbers or not survey.coordinates or survey.confidences:
        return None
    more = survey.coordinates - 1
    return re.compile(rf"([0-9]+(?:,[0-9]+){{{more}}})(?:,({DONT_CARE}|[^\W\d_][^,\"]*))?")


def _records(file: File) -> Iterator[tuple[int, str]]:
    """Yield the records of Total-Text with their lines, over several of which long ones go."""
    pieces = re.split(rf"^(?={RECORD_BEGINS})", file.text, flags=re.MULTILINE)
    starts = itertools.accumulate((piece.count("\n") for piece in pieces), initial=1)
    return ((line, piece) for line, piece in zip(starts, pieces, strict=False) if piece.strip())


def _format(layout: Layout) -> Format:
    endings = (".gt", ".txt") if layout.name == "msra-td500" else (".txt",)
    return Format(
        layout.name,
        f"{layout.title}: {' or '.join(endings)} files",
        _read,
        lambda head: "",  # `recognise` looks at all lines of an input
        endings,
        layout=layout.line + "[,confidence][,text]" * (layout.read is numbers),
        survey=lambda files, side: survey(layout, Lines(file.data for file in files), side),
    )


TOTALTEXT, POPEVAL = _format(BY_NAME["totaltext"]), _format(BY_NAME["popeval"])
CTW1500, CTW1500_OFFSETS = _format(BY_NAME["ctw1500"]), _format(BY_NAME["ctw1500-offsets"])
MLT, RCTW, MSRA_TD500 = (_format(BY_NAME[name]) for name in ("mlt", "rctw", "msra-td500"))
DOTA, YOLO, LTRB = (_format(BY_NAME[name]) for name in ("dota", "yolo", "ltrb"))
QUAD, POLYGON, BOX_POLYGON = (_format(BY_NAME[name]) for name in ("quad", "polygon", "box-polygon"))


# Which layout -------------------------------------------------------------------------------------


def recognise(
    listing: Listing, side: Side, preferred: Sequence[str] = ()
) -> tuple[Format, str, str] | None:
    """Return the format that reads most lines of an input, by what it was recognised, and what the
    user should know of that; None if it has no lines of numbers.

    `preferred` are formats that decide where the lines fit several: the first that reads as many.
    Raises `InputError` when the lines are known, and not read.
    """
    endings = listing.endings()
    ending = next((one for one in (".gt", ".txt", ".csv") if endings[one]), "")
    if not (ending or listing.kind == "file"):
        return None
    chosen = listing.chosen((ending,))[0]
    step = len(chosen.entries) // SOME_FILES + 1
    lines = Lines(chosen.read(chosen.entries[::step]))
    layout = BY_NAME["msra-td500"] if ending == ".gt" else _best(lines)
    if layout.name in NOT_READ:
        raise InputError(f"{listing.path}: {layout.title}, which no format reads; {layout.line}")
    note, found = "", survey(layout, lines, side)
    count = lines.reads(found)
    if layout.name not in preferred and found.coordinates:
        for other in (survey(BY_NAME[one], lines, side) for one in preferred if one in BY_NAME):
            if lines.reads(other) >= count and other.layout.coordinates is None:
                found = other
                note = (
                    f"is read as {other.layout.name}, a format of the preset, though its content"
                    f" could be {layout.name}; --{side}-format names another"
                )
                break
    form = replace(_format(found.layout), survey=lambda files, side: found, endings=(ending,))
    share = round(count * lines.total / max(len(lines.some), 1))
    read = counted(lines.total, "{count} line[s]" if step == 1 else "{count} sampled line[s]")
    reason = f"{share} of {read} of {form.layout}"
    return form, f"recognised by {reason}", note


def _best(lines: Lines) -> Layout:
    """Return the layout that reads most lines."""
    fits, most = lines.fits, max(lines.fits.values())
    for layout in LAYOUTS:
        if layout.name == "quad" and not lines.going_on and fits["quad"] < fits["polygon"]:
            continue  # without texts, more numbers are vertices for sure
        if fits[layout.name] >= layout.share * most > 0:
            return layout
    return BY_NAME["ltrb"]


_EVALTEX_OBJECT = re.compile(
    rb'[ \t]*+[0-9]++[ \t]*+,[ \t]*+(?:[0-9.]++[ \t\r]*+\Z|(?:[0-9]++[ \t]*+,[ \t]*+)?+")'
)
"""The size of an image, or the beginning of an object, in EvaLTex .txt."""


def begins_with_numbers(beginning: bytes) -> bool:
    """Return whether text begins with a line of some layout, and not with the name of an image."""
    lines = [line for line in beginning.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    if not lines or any(map(_EVALTEX_OBJECT.match, lines[1:2])):
        return False
    is_dota = lines[0].decode("utf-8", "replace").startswith(DOTA_HEADERS)
    return is_dota or any(Lines(lines[:1]).fits.values())
