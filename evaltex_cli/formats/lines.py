r"""Text files of numbers, one file an image, one line an object: a table of layouts.

The layout is chosen once for a whole input: the one of `LAYOUTS` that reads most lines, and of
those that read nearly as many the most special one. Lines of MLT are quads with a text
``Latin,word`` too, so a layout with a mark of its own needs half of the lines. Each line that the
layout does not read is a fault.

A line begins with numbers, between commas or between blanks. After the coordinates it may have

- a confidence, in detections. 95 % of the lines have a number in [0, 1] there, or any number if it
  is the last; and all of these go on, or some have a decimal point;
- a transcription, which is all that follows the comma. Double quotes around it are taken off;
  ``\\``, ``\"`` in them mean ``\``, ``"``. Exactly ``###`` is don't care.

A polygon's coordinates are the longest even run of numbers that leaves one for a confidence or for
a transcription such as ``1996``.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from evaltex_cli.errors import FormatError, InputError, counted
from evaltex_cli.formats import base
from evaltex_cli.formats import line_readers as readers
from evaltex_cli.formats.base import DONT_CARE, File, Format, Image, Side, TextObject
from evaltex_cli.formats.files import Listing
from evaltex_cli.formats.line_readers import (
    DOTA_HEADERS,
    ClassRow,
    Survey,
    class_row,
    split,
    vertices_end,
)
from evaltex_cli.formats.parsing import polygon

FEW = 0.05
"""Share of the lines that may differ from what the others say."""
WRAPPED = 0.1
"""Share of the lines that begin a record of Total-Text, whose long records are wrapped."""
OUTSIDE = 0.02
"""How far, in fractions of the picture, a box of YOLO may lie outside of it."""
SCRIPTS = (
    *("Arabic", "Bangla", "Bengali", "Chinese", "Devanagari", "Hindi", "Japanese", "Kannada"),
    *("Korean", "Latin", "Mixed", "None", "Symbols"),
)
"""Script names of the MLT sets."""
ANY_NUMBERS = ("ltrb", "quad", "polygon", "box-polygon")
"""Layouts that differ only in how many numbers they have."""
MARKED = ("totaltext", "popeval", "ctw1500", "mlt", "rctw", "dota")
"""Layouts that have what no other has, so that half of the lines show them."""
_TO_ZERO = bytes.maketrans(b"123456789", b"0" * 9)
_BEGINNING = re.compile(
    rb"^(?:\xef\xbb\xbf)*+([-+.0eE, \t]*+)"
    rb"(####|##::|(?:None|###)[ \t,]*$|(?:%s)[ \t]*,|x:[ \t]*\[\[|imagesource:|gsd:|[^\n]?)"
    % "|".join(SCRIPTS).encode(),
    re.MULTILINE,
)
"""The numbers that a line begins with, and what shows its layout after these."""


# Lines --------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Alike:
    """Lines of an input that are alike but for their digits and texts."""

    mark: str
    """What shows their layout after the numbers, else one character of the text."""
    encoded: list[bytes]

    def __post_init__(self) -> None:
        self.count, self.first = len(self.encoded), _decoded(self.encoded[0])
        self.first_fields, self.rest = split(self.first)
        self.numbers, self.goes_on = len(self.first_fields), self.rest is not None

    @property
    def lines(self) -> Iterator[str]:
        return map(_decoded, self.encoded)

    @cached_property
    def fields(self) -> list[list[str]]:
        """The numbers that each line begins with."""
        count = self.numbers
        if self.first.split(",", count)[:count] == self.first_fields:
            return [line.split(",", count)[:count] for line in self.lines]
        return [split(line)[0] for line in self.lines]


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace").lstrip("\ufeff")


class Lines:
    """All lines of an input that are not blank, those together that are alike."""

    def __init__(self, texts: Iterable[bytes], side: Side) -> None:
        self.side = side
        joined = b"\n".join(texts)
        if b"\r" in joined:
            joined = joined.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        digits = joined.translate(_TO_ZERO)
        while b"00" in digits:
            digits = digits.replace(b"00", b"0")
        digits = digits.replace(b"0.0", b"0").replace(b"0e-0", b"0").replace(b"-0", b"0")
        alike: dict[tuple[bytes, bytes], list[bytes]] = defaultdict(list)
        for beginning, line in zip(_BEGINNING.findall(digits), joined.split(b"\n"), strict=True):
            alike[beginning].append(line)
        groups = (
            _Alike(mark.decode("utf-8", "replace").rstrip(", \t"), lines)
            for (_, mark), lines in alike.items()
        )
        self.groups = [group for group in groups if group.first.strip()]
        self.total = self.count(lambda group: True)
        self.most = (1 - FEW) * self.total
        self.going_on = self.count(lambda group: group.goes_on)
        self.have_texts = 0 < self.total - self.most <= self.going_on

    def count(self, holds: Callable[[_Alike], bool]) -> int:
        """Return how many lines are in groups of which this holds."""
        return sum(group.count for group in self.groups if holds(group))

    def fields(self, holds: Callable[[_Alike], bool]) -> Iterator[list[str]]:
        """Yield the numbers of each line of the groups of which this holds."""
        return (fields for group in self.groups if holds(group) for fields in group.fields)

    def votes(self, holds: Callable[[_Alike], bool]) -> int:
        """Count lines whose numbers are coordinates: where lines have texts, those without may end
        in a text of digits.
        """
        return self.count(lambda g: (g.goes_on or not self.have_texts) and holds(g))

    @cached_property
    def rows(self) -> list[ClassRow]:
        """The lines that have a class."""
        some = (group for group in self.groups if _may_have_class(group))
        rows = (class_row(line) for group in some for line in group.lines)
        return [row for row in rows if row]


def _may_have_class(group: _Alike) -> bool:
    row = class_row(group.first)
    return group.numbers == 0 or (
        row is not None and (row.flag is not None or len(row.numbers) <= 5 or _is_in_page(row))
    )


def _is_in_page(row: ClassRow) -> bool:
    return all(-OUTSIDE <= value <= 1 + OUTSIDE for value in row.numbers)


# How many lines a layout reads --------------------------------------------------------------------


def _total_text(lines: Lines) -> int:
    records = lines.count(lambda g: g.mark.startswith("x:") and not g.numbers)
    return lines.total if records >= WRAPPED * lines.total else 0


def _popeval(lines: Lines) -> int:
    return lines.count(lambda g: g.mark == "##::" and g.numbers > 0)


def _ctw1500(lines: Lines) -> int:
    return lines.count(lambda g: g.numbers >= 6 and (g.rest or "").startswith("####"))


def _mlt(lines: Lines) -> int:
    return lines.count(lambda g: g.numbers == 8 and g.mark in SCRIPTS)


def _offsets(lines: Lines) -> int:
    def are_in_box(fields: list[str]) -> bool:
        x0, y0, x1, y1, *offsets = map(float, fields)
        return all(0 <= x <= x1 - x0 for x in offsets[::2]) and all(
            0 <= y <= y1 - y0 for y in offsets[1::2]
        )

    return sum(map(are_in_box, lines.fields(lambda g: g.numbers == 32 and not g.goes_on)))


def _before_quotes(group: _Alike) -> bool:
    return group.numbers == 9 and group.mark == '"'


def _rctw(lines: Lines) -> int:
    flags = Counter(fields[8].strip() for fields in lines.fields(_before_quotes))
    return flags["0"] and flags["0"] + flags["1"]  # always 1 is a confidence


def _segmentation(lines: Lines) -> int:
    """A colour, a centre, and a box around it."""

    def is_coloured(fields: list[str]) -> bool:
        *colour, x, y, x0, y0, x1, y1 = map(float, fields)
        return all(value in range(256) for value in colour) and x0 <= x <= x1 and y0 <= y <= y1

    return sum(map(is_coloured, lines.fields(_before_quotes)))


def _td500(lines: Lines) -> int:
    """Five numbers may end in a confidence; in angles, if one is decimal and not in [0, 1]."""

    def is_turned(fields: list[str]) -> bool:
        width, height, angle = map(float, fields[4:])
        is_flagged = fields[0].strip().isdigit() and fields[1].strip() in ("0", "1")
        return is_flagged and width > 0 and height > 0 and abs(angle) <= math.pi

    sevens = sum(map(is_turned, lines.fields(lambda g: g.numbers == 7)))
    texts = ("None", DONT_CARE)
    fives = lines.fields(lambda g: g.numbers == 5 and (not g.goes_on or g.mark in texts))
    ends = [fields[4] for fields in fives]
    decimals = [float(end) for end in ends if not end.strip().isdigit()]
    are_angles = all(abs(float(end)) <= math.pi for end in ends) and (
        lines.count(lambda g: g.numbers == 5 and g.mark in texts) >= lines.most
        or (any(not 0 <= end <= 1 for end in decimals) and 2 * len(decimals) >= len(ends))
    )
    return sevens + len(ends) * are_angles


def _dota(lines: Lines) -> int:
    flagged = sum((row.flag or "").isdecimal() for row in lines.rows)
    return flagged and flagged + lines.count(lambda g: g.mark in DOTA_HEADERS and not g.numbers)


def _yolo(lines: Lines) -> int:
    all_rows = [row for row in lines.rows if row.flag is None]
    rows = [row for row in all_rows if _is_in_page(row)]
    five = sum(len(row.numbers) == 5 for row in all_rows)
    are_inside = 2 * max(_yolo_confidences(rows)) >= five
    are_fractions = any(value != int(value) for row in rows for value in row.numbers)
    return len(rows) if are_inside and are_fractions else 0


def _yolo_confidences(rows: Sequence[ClassRow]) -> tuple[int, int]:
    """Return how many lines may have a confidence after their box, and before it."""

    def is_inside(x: float, y: float, width: float, height: float) -> bool:
        return all(
            at - size / 2 >= -OUTSIDE and at + size / 2 <= 1 + OUTSIDE
            for at, size in ((x, width), (y, height))
        )

    five = [row.numbers for row in rows if len(row.numbers) == 5]
    return sum(is_inside(*row[:4]) for row in five), sum(is_inside(*row[1:]) for row in five)


def _class_boxes(lines: Lines) -> int:
    """A class, perhaps a confidence, and a box in pixels. If the class is a number and nothing is
    between, the lines may be boxes with a confidence or text.
    """
    boxes = [r for r in lines.rows if len(r.numbers) in (4, 5) and max(r.numbers) > 1 + OUTSIDE]
    sure = sum(
        not row.label.isdecimal() or (len(row.numbers) == 5 and 0 <= row.numbers[0] <= 1)
        for row in boxes
    )
    four = [
        (float(r.label), *r.numbers) for r in boxes if r.label.isdecimal() and len(r.numbers) == 4
    ]
    confidences = sum(0 <= last <= 1 for *_, last in four)
    first = sum(x1 >= x0 and y1 >= y0 for x0, y0, x1, y1, _ in four)
    last = sum(x1 >= x0 and y1 >= y0 for _, x0, y0, x1, y1 in four)
    have_class = confidences < (1 - FEW) * len(four) and (
        first < 0.9 * len(four) or last >= max(5, (1 - FEW) * len(four))
    )
    return sure + len(four) * have_class


def _ltrb(lines: Lines) -> int:
    return lines.votes(lambda g: g.numbers in (4, 5))


def _quad(lines: Lines) -> int:
    return lines.votes(lambda g: g.numbers in (8, 9))


def _polygon(lines: Lines) -> int:
    """Of lines that are numbers alone, either those with a number too many have a text or
    confidence, or the others have none.
    """
    going_on = lines.votes(lambda g: g.numbers >= 6 and g.goes_on)
    even = lines.votes(lambda g: g.numbers >= 6 and g.numbers % 2 == 0 and not g.goes_on)
    odd = lines.votes(lambda g: g.numbers >= 7 and g.numbers % 2 == 1 and not g.goes_on)
    return going_on + max(even, odd)


def _box_polygon(lines: Lines) -> int:
    """``###`` after four numbers may be of a polygon of two vertices."""
    return _polygon(lines) + lines.votes(lambda g: g.numbers == 4 and g.mark != DONT_CARE)


# What all lines say about each --------------------------------------------------------------------


def survey(name: str, lines: Lines) -> Survey:
    """Return what all lines say about each, read by a layout."""
    layout = BY_NAME[name]
    others = tuple(
        one
        for one in ("popeval", "ctw1500", "mlt", "class boxes")
        if one != name and 0 < 2 * BY_NAME[one].fits(lines) < lines.total
    )
    note = _COMMAS if lines.going_on == _ending_in_commas(lines) >= 2 else ""
    if layout.coordinates is None:
        after, before = _yolo_confidences(lines.rows) if name == "yolo" else (0, 0)
        first = before > after
        return Survey(name, layout.line, confidence_first=first, others=others, note=note)
    at = layout.coordinates
    confidences, in_unit = _confidences(at, lines) if lines.side == "det" else (False, False)
    beyond = lines.count(
        lambda g: (
            g.goes_on or g.numbers > (at or vertices_end(g.numbers, confidences)) + confidences
        )
    )
    half = 2 * beyond >= lines.total > 0 and (lines.going_on > 0 or 2 * beyond > lines.total)
    texts = half or (lines.side == "gt" and at > 0)
    if lines.side == "det" and not confidences and not lines.going_on and lines.total:
        one_more = lines.count(lambda g: g.numbers == (at or vertices_end(g.numbers, False)) + 1)
        note = _WHOLE_NUMBERS if one_more == lines.total else note
    return Survey(name, layout.line, at, confidences, in_unit, texts, False, others, note)


_COMMAS = "all {count} transcriptions end in a comma; delete it where it is no part of them"
_WHOLE_NUMBERS = (
    "all {count} lines end in a whole number after the coordinates, which is read as transcription;"
    " if it is a confidence, write it with a decimal point"
)
_SPACED = (
    f"{{count}} transcription[s] [is|are] {DONT_CARE} with blanks or commas around, which is not"
    " don't care; delete these where it should be"
)


def _ending_in_commas(lines: Lines) -> int:
    texts = (group for group in lines.groups if group.goes_on and group.mark)
    return sum(line.endswith(b",") for group in texts for line in group.encoded)


def _confidences(at: int, lines: Lines) -> tuple[bool, bool]:
    """Return whether detections have confidences after their coordinates, and in [0, 1]."""
    inside = decimal_beyond = decimal = count = going_on = 0
    for group in lines.groups:
        end = at or vertices_end(group.numbers, not group.goes_on)
        for fields in group.fields if group.numbers > end else ():
            value, is_whole = float(fields[end]), fields[end].strip().isdigit()
            is_inside = 0 <= value <= 1
            if is_inside or group.numbers == end + 1:
                count += 1
                inside += is_inside
                decimal += not is_whole
                decimal_beyond += not is_whole and not is_inside
                going_on += group.goes_on or group.numbers > end + 1
    has = count >= lines.most and count > 0 and (decimal > 0 or going_on == count)
    return has, inside >= lines.most and not decimal_beyond


# Reading a file -----------------------------------------------------------------------------------


def _read(file: File, side: Side, options: base.ReadOptions) -> Iterator[Image]:
    all_lines: Survey = options.surveyed
    if all_lines.others:
        _refuse_other(file, side, all_lines)
    read_line = BY_NAME[all_lines.layout].read or readers.numbers
    has_boxes = all_lines.layout in ("ltrb", "yolo", "box-polygon")

    def read(line: str) -> TextObject | None:
        one = read_line(line, all_lines)
        if one is None:
            return None
        is_hidden = one.text == DONT_CARE
        if not has_boxes and (len(one.points) < 6 or len(one.points) % 2):
            one.points = polygon(one.points, dont_care=is_hidden)
        one.dont_care = side == "gt" and (one.dont_care or is_hidden)
        if side == "gt" and not is_hidden and DONT_CARE in line:
            file.notes[_SPACED] += one.text.strip(" \t,") == DONT_CARE
        return one

    lines = file.lines()
    if "\ufeff" in file.text:
        bare = ((k, line.lstrip("\ufeff")) for k, line in lines)
        lines = ((k, line) for k, line in bare if line.strip())
    objects = file.each(lines, read)
    if all_lines.note:
        file.notes[all_lines.note] += len(objects)
    yield Image(file.stem, objects, fractions=all_lines.layout == "yolo")


def _refuse_other(file: File, side: Side, all_lines: Survey) -> None:
    """Refuse a file that is of another layout than the input."""
    lines = Lines([file.data], side)
    for name in all_lines.others:
        if lines.total and 2 * BY_NAME[name].fits(lines) >= lines.total:
            expected = f"{all_lines.layout}, as in most files: give it as an input of its own"
            raise FormatError(f"lines of the format {name}", expected, at=1)


# The table ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """One layout of lines."""

    name: str
    title: str
    line: str
    """A line, as messages and the documentation show it."""
    fits: Callable[[Lines], int]
    """Returns how many of the lines are of it, going by their numbers and marks."""
    read: Callable[[str, Survey], TextObject | None] | None = None
    """None of Total-Text, whose records go over lines, and of lines that no format reads."""
    coordinates: int | None = None
    """How many numbers come before a confidence, 0 for an even count; None if none may follow."""

    def format(self) -> Format:
        """Return the format of files of these lines."""

        def survey_files(files: Iterable[File], side: Side) -> Survey:
            return survey(self.name, Lines((file.data for file in files), side))

        endings = (".gt", ".txt") if self.name == "msra-td500" else (".txt",)
        return Format(
            self.name,
            f"{self.title}: {' or '.join(endings)} files",
            _read if self.read else readers.total_text,
            lambda head: "",  # `recognise` looks at all lines of an input
            endings,
            layout=self.line + "[,confidence][,text]" * (self.name in ("ltrb", "quad", "polygon")),
            survey=survey_files,
        )


_TD500 = "index difficult x y width height angle [text], or left,top,right,bottom,angle[,text]"
_OFFSET = "x0,y0,x1,y1,dx1,dy1,...,dx14,dy14"
_QUAD = "x1,y1,x2,y2,x3,y3,x4,y4"
_DOTA = "x1 y1 x2 y2 x3 y3 x4 y4 class difficult"
_YOLO = "class x y width height, or class x1 y1 x2 y2 x3 y3 ..., in fractions[ confidence]"
_CURVE = "x1,y1,...,xn,yn[,confidence],####transcription"
_BOTH = "x0,y0,x1,y1 or x1,y1,x2,y2,x3,y3,..."
_SEGMENTS = "ICDAR 2013's ground truth of segmentation"
LAYOUTS = (
    Layout("totaltext", "Total-Text", readers.TOTAL_TEXT, _total_text),
    Layout("popeval", "PopEval", "x1 y1 x2 y2 ...##::transcription", _popeval, readers.popeval),
    Layout("ctw1500", "CTW1500 (test), AdelaiDet", _CURVE, _ctw1500, readers.ctw1500, 0),
    Layout("ctw1500-offsets", "CTW1500 (training)", _OFFSET, _offsets, readers.offsets),
    Layout("mlt", "ICDAR MLT 2017, 2019", f"{_QUAD},script,transcription", _mlt, readers.mlt),
    Layout("rctw", "RCTW-17", f'{_QUAD},difficult,"transcription"', _rctw, readers.rctw),
    Layout("segmentation", _SEGMENTS, "", _segmentation),
    Layout("msra-td500", "MSRA-TD500, turned boxes", _TD500, _td500, readers.td500),
    Layout("dota", "DOTA's labelTxt", _DOTA, _dota, readers.dota),
    Layout("yolo", "YOLO, boxes, segments and turned boxes", _YOLO, _yolo, readers.yolo),
    Layout("class boxes", "lines of a class and a box in pixels", "", _class_boxes),
    Layout("ltrb", "ICDAR 2003 to 2013", "x0,y0,x1,y1", _ltrb, readers.numbers, 4),
    Layout("quad", "ICDAR 2015", _QUAD, _quad, readers.numbers, 8),
    Layout(
        "polygon",
        "Total-Text as ICDAR has it",
        "x1,y1,...,xn,yn",
        _polygon,
        readers.numbers,
        0,
    ),
    Layout("box-polygon", "CVAT's boxes and polygons", _BOTH, _box_polygon, readers.either),
)
"""From special to general."""
NOT_READ = {
    "segmentation": "give that of localisation (gt_img_1.txt)",
    "class boxes": "write the boxes as CSV with a header, as COCO JSON, or as YOLO's fractions",
}
"""Layouts that are not read, and what to do."""
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
    files, _ = listing.chosen((ending,))
    lines = Lines(files.read(), side)
    name = "msra-td500" if ending == ".gt" else _best(lines)
    if name in NOT_READ:
        what = f"{BY_NAME[name].title}, which no format reads"
        raise InputError(f"{listing.path}: {what}; {NOT_READ[name]}")
    note, surveyed = "", survey(name, lines)
    if name in ANY_NUMBERS and name not in preferred:
        special = (one for one in preferred if one in BY_NAME and one not in ANY_NUMBERS)
        for other in (survey(one, lines) for one in special):
            if _reads(other, lines) >= _reads(surveyed, lines):
                surveyed = other
                note = (
                    f"is read as {other.layout}, a format of the preset, though its content could"
                    f" be {name}; --{side}-format names another"
                )
                break
    form = replace(BY_NAME[surveyed.layout].format(), survey=lambda files, side: surveyed)
    form = form if listing.kind == "file" else replace(form, endings=(ending,))
    fits = BY_NAME[surveyed.layout].fits(lines)
    reason = f"{fits} of {counted(lines.total, '{count} line[s]')} of {form.layout}"
    return form, f"recognised by {reason}", note


def _best(lines: Lines) -> str:
    """Return the layout that reads most lines."""
    fits = {layout.name: layout.fits(lines) for layout in LAYOUTS}
    most = max(fits[name] for name in ANY_NUMBERS)
    if not lines.going_on and fits["polygon"] == most > fits["quad"]:
        fits["quad"] = 0  # without texts, more numbers are vertices for sure
    plain = next(name for name in ANY_NUMBERS if fits[name] >= (1 - FEW) * most)
    if not most and lines.count(lambda group: group.numbers >= 6):
        plain = "polygon"
    special = max((name for name in fits if name not in ANY_NUMBERS), key=lambda name: fits[name])
    if 2 * fits[special] <= lines.total:
        return plain
    is_sure = special in MARKED or fits[special] >= lines.most
    return special if is_sure or fits[special] > _reads(survey(plain, lines), lines) else plain


def _reads(surveyed: Survey, lines: Lines) -> int:
    """Return how many lines a layout reads without a fault."""
    layout = BY_NAME[surveyed.layout]
    if layout.read is None:
        return layout.fits(lines)
    count = 0
    for line in (line for group in lines.groups for line in group.lines):
        with suppress(FormatError):
            layout.read(line, surveyed)
            count += 1
    return count


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
        first.startswith(DOTA_HEADERS)
        or re.match(r"[ \t]*x:[ \t]*\[\[", first) is not None
        or len(split(first)[0]) >= 4
        or class_row(first) is not None
    )
