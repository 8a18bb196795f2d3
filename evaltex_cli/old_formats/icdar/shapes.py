"""The shape of one line of an ICDAR-style .txt file: what the survey of all lines counts."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from evaltex_cli.old_formats.base import DONT_CARE
from evaltex_cli.old_formats.files.numbers import COORDINATE_LIMIT
from evaltex_cli.old_formats.icdar.lines import (
    BEFORE_POPEVAL_MARK,
    CURVED_PREFIX,
    SCRIPTS,
    polygon_end,
    split_numbers,
    with_commas,
)
from evaltex_cli.old_formats.icdar.row_lines import is_header, row_of

NO_CONFIDENCE, WHOLE, DECIMAL, DECIMAL_BEYOND, WHOLE_BEYOND = range(5)
"""What the field is that may be a confidence: none, a number in [0, 1] or, at
the end of the numbers, beyond it.
"""
PLACES = (4, 8, None)
"""How many coordinates come before a confidence: of a box, a quadrilateral, a polygon."""
ANGLE_TEXTS = ("None", DONT_CARE)
"""What MSRA-TD500's lines of five numbers may end in."""
_TOTAL_TEXT = re.compile(r"[ \t]*+x:[ \t]*+\[\[")


class LineShape(NamedTuple):
    """What the survey keeps of a line.

    Its leading `numbers` fields are numbers; `goes_on` says whether anything follows them. The next
    three are about the field where a box's, a quadrilateral's and a polygon's confidence would be,
    see `confidence_kind`. `mark` names the one format, if any, that only such lines fit; or
    ``rows`` for lines whose format `icdar.row_evidence` decides. `is_hidden` says that the
    transcription ``###`` follows four numbers, which may be two vertices of a polygon.
    """

    numbers: int
    goes_on: bool
    after_box: int
    after_quad: int
    after_polygon: int
    mark: str = ""
    is_hidden: bool = False

    def confidence(self, coordinates: int | None) -> int:
        """What is where the confidence would be."""
        return {4: self.after_box, 8: self.after_quad}.get(coordinates or 0, self.after_polygon)

    def goes_beyond(self, coordinates: int | None, confidence: bool) -> bool:
        """Whether anything comes after coordinates and confidence."""
        count = polygon_end(self.numbers, confidence) if coordinates is None else coordinates
        return self.goes_on or self.numbers > count + confidence


class SurveyedLine(NamedTuple):
    """A line's shape, whether its transcription is ``###`` with blanks or commas around, and its
    last number.

    `comma` says that the transcription ends in a comma.

    `last` is at its place among `PLACES` where a confidence would be the last number, and NaN at
    the others.
    """

    shape: LineShape
    spaced: bool = False
    comma: bool = False
    last: tuple[float, float, float] = (math.nan, math.nan, math.nan)


def survey_line(line: str) -> SurveyedLine:
    """Return what the survey counts of a line."""
    if _TOTAL_TEXT.match(line):
        return _marked("totaltext")
    before = BEFORE_POPEVAL_MARK.match(line)
    if before:
        return _marked("popeval", line[before.end() :])
    if line.startswith("#") and _mark(*split_numbers(with_commas(line[1:]))) == "segmentation":
        return _marked("segmentation")
    if is_header(line):
        return _marked("rows")
    fields, rest = split_numbers(with_commas(line))
    count = len(fields)
    places = (4, 8, polygon_end(count, rest is None))
    kinds = [
        confidence_kind(fields[at], at + 1 == count) if at < count else NO_CONFIDENCE
        for at in places
    ]
    mark = _mark(fields, rest) or ("rows" if row_of(line) else "")
    shape = LineShape(
        count,
        rest is not None,
        kinds[0],
        kinds[1],
        kinds[2],
        mark,
        count == 4 and rest == DONT_CARE,
    )
    text = _transcription(rest or "", mark)
    box, quad, other = (
        float(fields[at]) if at + 1 == count and kind else math.nan
        for at, kind in zip(places, kinds, strict=True)
    )
    return SurveyedLine(shape, is_spaced_dont_care(text), text.endswith(","), (box, quad, other))


def _marked(mark: str, text: str = "") -> SurveyedLine:
    shape = LineShape(0, True, NO_CONFIDENCE, NO_CONFIDENCE, NO_CONFIDENCE, mark)
    return SurveyedLine(shape, is_spaced_dont_care(text), text.endswith(","))


def _transcription(rest: str, mark: str) -> str:
    """Return the transcription in what follows the numbers of a line."""
    if mark == "mlt":
        return rest.partition(",")[2]
    return rest.removeprefix(CURVED_PREFIX) if mark == "ctw1500" else rest


def is_spaced_dont_care(text: str) -> bool:
    """Whether a transcription is ``###`` but for blanks or commas around, and
    so is not don't care.
    """
    return text != DONT_CARE and text.strip().strip(" \t,") == DONT_CARE


def _mark(fields: list[str], rest: str | None) -> str:
    count = len(fields)
    if rest is None:
        if count == 32 and _are_offsets([float(field) for field in fields]):
            return "ctw1500-offsets"
        return "msra-td500" if count == 7 and _is_rotated_box(fields) else ""
    if count == 5 and rest.strip(" \t,") in ANGLE_TEXTS:
        return "angle"
    if count == 7 and _is_rotated_box(fields):
        return "msra-td500"
    if count == 8 and "," in rest and rest[: rest.index(",")].strip(" \t") in SCRIPTS:
        return "mlt"
    is_flagged = count == 9 and rest.lstrip(" \t").startswith('"')
    if is_flagged and _is_coloured([float(field) for field in fields]):
        return "segmentation"
    if is_flagged and confidence_kind(fields[8]) == WHOLE:
        return "rctw" if float(fields[8]) else "rctw easy"
    return "ctw1500" if count >= 6 and rest.startswith(CURVED_PREFIX) else ""


def _is_rotated_box(fields: list[str]) -> bool:
    """Whether these are index, difficult flag, x, y, width, height and an angle in radians."""
    width, height, angle = (float(field) for field in fields[4:])
    flagged = fields[0].strip().isdigit() and fields[1].strip() in ("0", "1")
    return flagged and width > 0 and height > 0 and abs(angle) <= math.pi


def _is_coloured(values: list[float]) -> bool:
    """Whether these are a colour, a centre, and a box that holds it: ICDAR 2013's segmentation,
    which no format reads, and others would take for quadrilaterals.
    """
    x, y, x0, y0, x1, y1 = values[3:]
    is_colour = all(value in range(256) for value in values[:3])
    return is_colour and x0 <= x <= x1 and y0 <= y <= y1


def _are_offsets(values: list[float]) -> bool:
    """Whether the vertices after a box stay in it when they are taken from its corner."""
    x0, y0, x1, y1 = values[:4]
    return all(0 <= x <= x1 - x0 for x in values[4::2]) and all(
        0 <= y <= y1 - y0 for y in values[5::2]
    )


def confidence_kind(number: str, is_last: bool = False) -> int:
    """Return what a number is where a confidence would be; beyond [0, 1] only
    the last one of a line may be one.
    """
    whole, value = number.strip().isdigit(), float(number)
    if 0 <= value <= 1:
        return WHOLE if whole else DECIMAL
    if not is_last or not abs(value) <= COORDINATE_LIMIT:
        return NO_CONFIDENCE
    return WHOLE_BEYOND if whole else DECIMAL_BEYOND
