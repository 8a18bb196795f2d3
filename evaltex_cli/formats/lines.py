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

import itertools
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from evaltex_cli.errors import FormatError, InputError, counted
from evaltex_cli.formats import line_readers as readers
from evaltex_cli.formats.base import DONT_CARE, File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.files import Listing
from evaltex_cli.formats.line_readers import Survey, class_row, split, vertices_end
from evaltex_cli.formats.parsing import polygon

MOST = 0.95
"""Share of the lines that decide, so that a few odd ones do not."""
HANDFUL = 100
"""Lines of those that are alike that layouts are tried on."""
_TO_ZERO = bytes.maketrans(b"123456789", b"0" * 9)
_BEGINNING = re.compile(
    rb"^([-+.0eE, \t]*+)(#+:*|(?:%s)[ \t]*,|[^\n]?)" % "|".join(readers.SCRIPTS).encode(),
    re.MULTILINE,
)
"""The numbers that a line begins with, and the beginning of what follows."""
_COMMAS = "all {count} transcriptions end in a comma; delete it where it is no part of them"
_WHOLE_NUMBERS = (
    "all {count} lines end in a whole number after the coordinates, which is read as transcription;"
    " if it is a confidence, write it with a decimal point"
)
_SPACED = (
    f"{{count}} transcription[s] [is|are] {DONT_CARE} with blanks or commas around, which is not"
    " don't care; delete these where it should be"
)


# All lines of an input ----------------------------------------------------------------------------


class _Alike:
    """Lines of an input that begin alike but for their digits."""

    def __init__(self, mark: bytes, lines: list[bytes]) -> None:
        self.lines, self.count, self.has_text = lines, len(lines), bool(mark)
        some = random.Random(0).sample(lines, HANDFUL) if len(lines) > HANDFUL else lines
        self.some = [line.decode("utf-8", "replace") for line in some]
        first = split(self.some[0])
        self.numbers, self.goes_on = len(first.fields), first.goes_on

    def field(self, k: int) -> list[bytes]:
        """Return the number at a position of each line."""
        return [line.replace(b",", b" ").split(None, k + 1)[k] for line in self.lines]


class Lines:
    """All lines of an input that are not blank, those together that are alike."""

    def __init__(self, texts: Iterable[bytes]) -> None:
        joined = b"\n".join(texts).replace(b"\xef\xbb\xbf", b"")
        if b"\r" in joined:
            joined = joined.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        digits = joined.translate(_TO_ZERO)
        while b"00" in digits:
            digits = digits.replace(b"00", b"0")
        digits = digits.replace(b"0.0", b"0").replace(b"0e-0", b"0").replace(b"-0", b"0")
        alike: dict[tuple[bytes, bytes], list[bytes]] = defaultdict(list)
        for beginning, line in zip(_BEGINNING.findall(digits), joined.split(b"\n"), strict=True):
            alike[beginning].append(line)
        self.groups = [
            _Alike(mark, lines) for (start, mark), lines in alike.items() if (start + mark).strip()
        ]
        self.total = self.count(lambda group: True)
        self.going_on = self.count(lambda group: group.goes_on)

    def count(self, holds: Callable[[_Alike], bool]) -> int:
        """Return how many lines are in groups of which this holds."""
        return sum(group.count for group in self.groups if holds(group))

    def reads(self, surveyed: Survey) -> int:
        """Return how many lines a layout reads, going by some of those that are alike."""
        count = 0.0
        is_plain = surveyed.layout in ("ltrb", "quad", "polygon", "box-polygon")
        needs_text = is_plain and surveyed.strict and 2 * self.going_on >= self.total
        for group in self.groups:
            if needs_text and not group.goes_on:
                continue  # of a text of digits, perhaps
            for line in group.some:
                with suppress(FormatError):
                    count += (_object(line, surveyed) is not None) * group.count / len(group.some)
        return round(count)

    @cached_property
    def fits(self) -> dict[str, int]:
        """How many lines each layout reads that other layouts hardly have."""
        return {
            name: self.reads(_survey(name, self, "gt")._replace(strict=True)) for name in BY_NAME
        }


def survey(name: str, lines: Lines, side: Side) -> Survey:
    """Return what all lines say about each, read by a layout."""
    boxes = [CLASS_BOXES] if name != "yolo" else []  # which may reach beyond the picture
    others = (one for one in ("popeval", "ctw1500", "mlt", *boxes) if one != name)
    some = tuple(one for one in others if 0 < 2 * lines.fits[one] < lines.total)
    surveyed = _survey(name, lines, side)._replace(others=some)
    texts = [line for group in lines.groups if group.has_text for line in group.lines]
    if lines.going_on == sum(text.endswith(b",") for text in texts) >= 2:
        surveyed = surveyed._replace(note=_COMMAS)
    return surveyed


def _survey(name: str, lines: Lines, side: Side) -> Survey:
    surveyed, at = Survey(name, BY_NAME[name].line), BY_NAME[name].coordinates
    if name == "yolo":
        return surveyed._replace(confidence_first=_are_confidences_first(lines))
    if at is None:
        return surveyed
    if side == "det":
        surveyed = _with_confidences(surveyed._replace(coordinates=at), lines)
    has = surveyed.confidences
    beyond = lines.count(
        lambda g: g.goes_on or g.numbers > (at or vertices_end(g.numbers, has)) + has
    )
    may_have_texts = 2 * beyond > lines.total or (side == "gt" and at > 0)
    return surveyed._replace(coordinates=at, texts=may_have_texts)


def _with_confidences(surveyed: Survey, lines: Lines) -> Survey:
    """Return whether detections have confidences after their coordinates, and in [0, 1]."""
    fields, with_text = [], 0
    for group in lines.groups:
        end = surveyed.coordinates or vertices_end(group.numbers, not group.goes_on)
        some = group.field(end) if group.numbers > end else []
        if group.numbers > end + 1:  # of texts of digits
            some = [field for field in some if 0 <= float(field) <= 1]
        fields += some
        with_text += len(some) * (group.goes_on or group.numbers > end + 1)
    decimals = [float(field) for field in fields if not field.isdigit()]
    inside = sum(0 <= float(field) <= 1 for field in fields)
    has = len(fields) >= MOST * lines.total and (decimals != [] or 0 < len(fields) == with_text)
    if len(fields) == lines.total > 0 == with_text and not decimals:
        surveyed = surveyed._replace(note=_WHOLE_NUMBERS)
    in_unit = inside >= MOST * lines.total and all(0 <= value <= 1 for value in decimals)
    return surveyed._replace(confidences=has, in_unit=in_unit)


def _are_confidences_first(lines: Lines) -> bool:
    """Return whether YOLO's boxes are more often in the page if their confidence is before them."""
    rows = (class_row(line) for group in lines.groups for line in group.some)

    def is_inside(x: float, y: float, width: float, height: float) -> bool:
        sides = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
        return all(-readers.OUTSIDE <= value <= 1 + readers.OUTSIDE for value in sides)

    five = [row.numbers for row in rows if row and len(row.numbers) == 5]
    return sum(is_inside(*row[1:]) for row in five) > sum(is_inside(*row[:4]) for row in five)


# Reading a file -----------------------------------------------------------------------------------


def _object(line: str, surveyed: Survey) -> TextObject | None:
    one = BY_NAME[surveyed.layout].read(line, surveyed)
    if one is None:
        return None
    one.dont_care = one.dont_care or one.text == DONT_CARE
    if (len(one.points) < 6 or len(one.points) % 2) and surveyed.layout not in HAVE_BOXES:
        one.points = polygon(one.points, dont_care=one.dont_care and not surveyed.strict)
    return one


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    surveyed: Survey = options.surveyed
    if surveyed.others:
        _refuse_other(file, surveyed)

    def read(line: str) -> TextObject | None:
        one = _object(line, surveyed)
        if one is not None and side == "gt" and DONT_CARE in line and not one.dont_care:
            file.notes[_SPACED] += one.text.strip(" \t,") == DONT_CARE
        if one is not None and side == "det":
            one.dont_care = False
        return one

    items = _records(file) if surveyed.layout == "totaltext" else file.lines()
    objects = file.each(items, read)
    if surveyed.note:
        file.notes[surveyed.note] += len(objects)
    yield Image(file.stem, objects, fractions=surveyed.layout == "yolo")


def _refuse_other(file: File, surveyed: Survey) -> None:
    """Refuse a file that is of another layout than the input."""
    lines = Lines([file.data])
    for name in surveyed.others:
        if 2 * lines.fits[name] >= lines.total > 0:
            expected = f"{surveyed.layout}, as in most files: give it as an input of its own"
            raise FormatError(f"lines of the format {name}", expected, at=1)


def _records(file: File) -> Iterator[tuple[int, str]]:
    """Yield the records of Total-Text with their lines, over several of which long ones go."""
    pieces = re.split(rf"^(?={readers.RECORD_BEGINS})", file.text, flags=re.MULTILINE)
    starts = itertools.accumulate((piece.count("\n") for piece in pieces), initial=1)
    return ((line, piece) for line, piece in zip(starts, pieces, strict=False) if piece.strip())


# The table ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """One layout of lines."""

    name: str
    title: str
    line: str
    """A line, as messages and the documentation show it."""
    read: Callable[[str, Survey], TextObject | None]
    """Returns None for a line that has no object; raises `FormatError`."""
    share: float = MOST
    """Share of the lines that the best layout reads, from which on this one is chosen."""
    coordinates: int | None = None
    """How many numbers come before a confidence, 0 for an even count; None if none may follow."""

    def format(self) -> Format:
        """Return the format of files of these lines."""
        endings = (".gt", ".txt") if self.name == "msra-td500" else (".txt",)
        return Format(
            self.name,
            f"{self.title}: {' or '.join(endings)} files",
            _read,
            lambda head: "",  # `recognise` looks at all lines of an input
            endings,
            layout=self.line + "[,confidence][,text]" * (self.name in ("ltrb", "quad", "polygon")),
            survey=lambda files, side: survey(self.name, Lines(file.data for file in files), side),
        )


CLASS_BOXES = "class boxes"
HAVE_BOXES = ("ltrb", "yolo", "box-polygon", CLASS_BOXES, "segmentation")
NOT_READ = {
    "segmentation": "give that of localisation (gt_img_1.txt)",
    CLASS_BOXES: "write the boxes as CSV with a header, as COCO JSON, or as YOLO's fractions",
}
"""Layouts that are known, and not read, and what to do."""
_TD500 = "index difficult x y width height angle [text], or left,top,right,bottom,angle[,text]"
_QUAD = "x1,y1,x2,y2,x3,y3,x4,y4"
_CURVE = "x1,y1,...,xn,yn[,confidence],####transcription"
_YOLO = "class x y width height, or class x1 y1 x2 y2 x3 y3 ..., in fractions[ confidence]"
_TOTAL_TEXT = "x: [[...]], y: [[...]], ornt: [u'c'], transcriptions: [u'word']"
_OFFSETS = "x0,y0,x1,y1,dx1,dy1,...,dx14,dy14"
_DOTA = "x1 y1 x2 y2 x3 y3 x4 y4 class difficult"
_BOTH = "x0,y0,x1,y1 or x1,y1,x2,y2,x3,y3,..."
_MANY = "x1,y1,...,xn,yn"
LAYOUTS = (
    Layout("totaltext", "Total-Text", _TOTAL_TEXT, readers.total_text, 0.1),
    Layout("popeval", "PopEval", "x1 y1 x2 y2 ...##::transcription", readers.marked, 0.5),
    Layout("ctw1500", "CTW1500 (test), AdelaiDet", _CURVE, readers.marked, 0.5, 0),
    Layout("ctw1500-offsets", "CTW1500 (training)", _OFFSETS, readers.offsets),
    Layout("mlt", "ICDAR MLT 2017, 2019", f"{_QUAD},script,transcription", readers.mlt, 0.5),
    Layout("rctw", "RCTW-17", f'{_QUAD},difficult,"transcription"', readers.rctw, 0.1),
    Layout("dota", "DOTA's labelTxt", _DOTA, readers.dota, 0.5),
    Layout("yolo", "YOLO, boxes, segments and turned boxes", _YOLO, readers.yolo, 0.5),
    Layout("msra-td500", "MSRA-TD500, turned boxes", _TD500, readers.td500, 0.1),
    Layout("segmentation", "ICDAR 2013's ground truth of segmentation", "", readers.segment),
    Layout(CLASS_BOXES, "lines of a class and a box in pixels", "", readers.class_box),
    Layout("ltrb", "ICDAR 2003 to 2013", "x0,y0,x1,y1", readers.numbers, coordinates=4),
    Layout("quad", "ICDAR 2015", _QUAD, readers.numbers, coordinates=8),
    Layout("polygon", "Total-Text as ICDAR has it", _MANY, readers.numbers, coordinates=0),
    Layout("box-polygon", "CVAT's boxes and polygons", _BOTH, readers.either),
)
"""From special to general."""
BY_NAME = {layout.name: layout for layout in LAYOUTS}
TOTALTEXT, POPEVAL = BY_NAME["totaltext"].format(), BY_NAME["popeval"].format()
CTW1500, CTW1500_OFFSETS = BY_NAME["ctw1500"].format(), BY_NAME["ctw1500-offsets"].format()
MLT, RCTW, MSRA_TD500 = (BY_NAME[name].format() for name in ("mlt", "rctw", "msra-td500"))
DOTA, YOLO, LTRB = (BY_NAME[name].format() for name in ("dota", "yolo", "ltrb"))
QUAD, POLYGON, BOX_POLYGON = (BY_NAME[name].format() for name in ("quad", "polygon", "box-polygon"))


# Which layout -------------------------------------------------------------------------------------


def recognise(
    listing: Listing, side: Side, preferred: Sequence[str] = ()
) -> tuple[Format, str, str] | None:
    """Return the format that reads most lines of an input, by what it was recognised, and what the
    user should know of that; None if it has no lines of numbers.

    Parameters
    ----------
    preferred : sequence of str
        Formats that decide where the lines fit several layouts: the first that reads as many.

    Raises
    ------
    InputError
        When the lines are known, and not read.
    """
    counts = listing.endings()
    ending = next((one for one in (".gt", ".txt") if counts[one]), "")
    if listing.kind == "file":
        if not begins_with_numbers(listing.beginning(listing.entries[0], 1 << 12)):
            return None
    elif not ending:
        return None
    lines = Lines(listing.chosen((ending,))[0].read())
    name = "msra-td500" if ending == ".gt" else _best(lines)
    if name in NOT_READ:
        what = f"{BY_NAME[name].title}, which no format reads"
        raise InputError(f"{listing.path}: {what}; {NOT_READ[name]}")
    note, surveyed = "", survey(name, lines, side)
    count = lines.reads(surveyed)
    if name not in preferred and surveyed.coordinates:
        for other in (survey(one, lines, side) for one in preferred if one in BY_NAME):
            if lines.reads(other) >= count and BY_NAME[other.layout].coordinates is None:
                note = (
                    f"is read as {other.layout}, a format of the preset, though its content could"
                    f" be {name}; --{side}-format names another"
                )
                surveyed = other
                break
    form = replace(BY_NAME[surveyed.layout].format(), survey=lambda files, side: surveyed)
    form = form if listing.kind == "file" else replace(form, endings=(ending,))
    reason = f"{count} of {counted(lines.total, '{count} line[s]')} of {form.layout}"
    return form, f"recognised by {reason}", note


def _best(lines: Lines) -> str:
    """Return the layout that reads most lines."""
    most = max(lines.fits.values())
    for layout in LAYOUTS:
        count = lines.fits[layout.name]
        if layout.name == "quad" and not lines.going_on and count < lines.fits["polygon"]:
            continue  # without texts, more numbers are vertices for sure
        if count >= layout.share * most > 0:
            return layout.name
    return "ltrb"


_EVALTEX_OBJECT = re.compile(
    rb'[ \t]*+[0-9]++[ \t]*+,[ \t]*+(?:[0-9.]++[ \t\r]*+\Z|(?:[0-9]++[ \t]*+,[ \t]*+)?+")'
)
"""The size of an image, or the beginning of an object, in EvaLTex .txt."""


def begins_with_numbers(beginning: bytes) -> bool:
    """Return whether text begins with a line of some layout, and not with the name of an image."""
    lines = [line for line in beginning.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    if not lines or any(map(_EVALTEX_OBJECT.match, lines[1:2])):
        return False
    first = lines[0].decode("utf-8", "replace").rstrip("\r")
    return (
        first.startswith(readers.DOTA_HEADERS)
        or re.match(readers.RECORD_BEGINS, first) is not None
        or len(split(first).fields) >= 4
        or class_row(first) is not None
    )
