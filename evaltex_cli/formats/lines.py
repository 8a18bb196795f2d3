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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

from evaltex_cli.errors import FormatError, InputError, counted
from evaltex_cli.formats import line_readers as readers
from evaltex_cli.formats.base import DONT_CARE, File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.files import Listing
from evaltex_cli.formats.line_readers import Layout, Line, Survey, split, vertices_end
from evaltex_cli.formats.parsing import polygon

MOST = 0.95
"""Share of the lines that decide, so that a few odd ones do not."""
SOME = 1000
"""Lines that layouts are tried on, drawn from all of an input."""
_COMMAS = "all {count} transcriptions end in a comma; delete it where it is no part of them"
_WHOLE_NUMBERS = (
    "all {count} lines end in a whole number after the coordinates, which is read as transcription;"
    " if it is a confidence, write it with a decimal point"
)
_SPACED = (
    f"{{count}} transcription[s] [is|are] {DONT_CARE} with blanks or commas around, which is not"
    " don't care; delete these where it should be"
)
_TOTAL_TEXT = "x: [[...]], y: [[...]], ornt: [u'c'], transcriptions: [u'word']"
_QUAD = "x1,y1,x2,y2,x3,y3,x4,y4"
_YOLO = "class x y width height, or class x1 y1 x2 y2 x3 y3 ..., in fractions[ confidence]"
_TD500 = "index difficult x y width height angle [text], or left,top,right,bottom,angle[,text]"
_CURVE, _OFFSETS = (
    "x1,y1,...,xn,yn[,confidence],####transcription",
    "x0,y0,x1,y1,dx1,dy1,...,dx14,dy14",
)
_DOTA, _BOTH = "x1 y1 x2 y2 x3 y3 x4 y4 class difficult", "x0,y0,x1,y1 or x1,y1,x2,y2,x3,y3,..."
_CLASS_BOX = "write the boxes as CSV with a header, as COCO JSON, or as YOLO's fractions"
LAYOUTS = (
    Layout("totaltext", "Total-Text", _TOTAL_TEXT, readers.total_text, 0.1, 0),
    Layout("popeval", "PopEval", "x1 y1 x2 y2 ...##::transcription", readers.marked, 0.5, 0),
    Layout("ctw1500", "CTW1500 (test), AdelaiDet", _CURVE, readers.marked, 0.5, 0),
    Layout("ctw1500-offsets", "CTW1500 (training)", _OFFSETS, readers.offsets),
    Layout("mlt", "ICDAR MLT 2017, 2019", f"{_QUAD},script,transcription", readers.mlt, 0.5),
    Layout("rctw", "RCTW-17", f'{_QUAD},difficult,"transcription"', readers.rctw, 0.1),
    Layout("dota", "DOTA's labelTxt", _DOTA, readers.dota, 0.5),
    Layout("yolo", "YOLO, boxes, segments and turned boxes", _YOLO, readers.yolo, 0.5),
    Layout("msra-td500", "MSRA-TD500, turned boxes", _TD500, readers.td500, 0.1),
    Layout(
        "segmentation",
        "ICDAR 2013's ground truth of segmentation",
        "give that of localisation (gt_img_1.txt)",
        readers.segmentation,
    ),
    Layout("class boxes", "lines of a class and a box in pixels", _CLASS_BOX, readers.class_box),
    Layout("ltrb", "ICDAR 2003 to 2013", "x0,y0,x1,y1", readers.numbers, coordinates=4),
    Layout("quad", "ICDAR 2015", _QUAD, readers.numbers, coordinates=8),
    Layout(
        "polygon", "Total-Text as ICDAR has it", "x1,y1,...,xn,yn", readers.numbers, coordinates=0
    ),
    Layout("box-polygon", "CVAT's boxes and polygons", _BOTH, readers.either),
)
"""From special to general."""
BY_NAME = {layout.name: layout for layout in LAYOUTS}
NOT_READ = (readers.segmentation, readers.class_box)


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
        is_plain = survey.layout.read in (readers.numbers, readers.either)
        needs_text = is_plain and survey.strict and 2 * self.going_on >= len(self.some)
        for line in self.some:
            if line.goes_on or not needs_text:  # else of a text of digits, perhaps
                with suppress(FormatError):
                    count += _object(line, survey) is not None
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
    others = [one for one in ("popeval", "ctw1500", "mlt", "class boxes") if one != layout.name]
    some = tuple(one for one in others if 0 < 2 * lines.fits[one] < len(lines.some))
    found = _survey(layout, lines, side)._replace(others=some)
    commas = sum(line.rest.endswith(",") for line in lines.some)
    return found._replace(note=_COMMAS) if lines.going_on == commas >= 2 else found


def _survey(layout: Layout, lines: Lines, side: Side) -> Survey:
    found, at = Survey(layout), layout.coordinates
    if layout.read is readers.yolo:
        last = found._replace(in_unit=True)
        first = last._replace(confidence_first=True)
        # the boxes are in the picture
        counts = [lines.reads(one._replace(strict=True)) for one in (last, first)]
        return first if counts[0] < counts[1] else last
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
    lines = Lines([file.data] if found.others else [])
    for name in found.others:
        if 2 * lines.fits[name] >= len(lines.some) > 0:
            expected = f"{layout.name}, as in most files: give it as an input of its own"
            raise FormatError(f"lines of the format {name}", expected, at=1)

    def read(line: str) -> TextObject | None:
        one = _object(split(line), found)
        if one is not None and DONT_CARE in line:
            is_spaced = one.text != DONT_CARE == one.text.strip(" \t,")
            file.notes[_SPACED] += side == "gt" and is_spaced
        if one is not None and side == "det":
            one.dont_care = False
        return one

    items = _records(file) if layout.read is readers.total_text else file.lines()
    objects = file.each(items, read)
    file.notes[found.note] += len(objects)
    yield Image(file.stem, objects, fractions=layout.read is readers.yolo)


def _records(file: File) -> Iterator[tuple[int, str]]:
    """Yield the records of Total-Text with their lines, over several of which long ones go."""
    pieces = re.split(rf"^(?={readers.RECORD_BEGINS})", file.text, flags=re.MULTILINE)
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
        layout=layout.line + "[,confidence][,text]" * (layout.read is readers.numbers),
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
    ending = next((one for one in (".gt", ".txt") if endings[one]), "")
    if listing.kind == "file":
        if not begins_with_numbers(listing.beginning(listing.entries[0], 1 << 12)):
            return None
    elif not ending:
        return None
    lines = Lines(listing.chosen((ending,))[0].read())
    layout = BY_NAME["msra-td500"] if ending == ".gt" else _best(lines)
    if layout.read in NOT_READ:
        what = f"{layout.title}, which no format reads; {layout.line}"
        raise InputError(f"{listing.path}: {what}")
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
    reason = f"{share} of {counted(lines.total, '{count} line[s]')} of {form.layout}"
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
    is_dota = lines[0].decode("utf-8", "replace").startswith(readers.DOTA_HEADERS)
    return is_dota or any(Lines(lines[:1]).fits.values())
