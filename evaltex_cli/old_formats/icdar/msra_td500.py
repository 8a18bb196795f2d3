"""MSRA-TD500: rectangles turned about their centres, one a line.

Ground truth, .gt files: ``index difficult x y width height angle``, x and y the upper left corner
before the turn, the angle in radians, from the x axis towards the y axis. Difficult ones are don't
care. HUST-TR400 has a transcription after the angle. Results, and copies of the ground truth, .txt
files: ``left,top,right,bottom,angle``, optionally followed by a transcription, ``###`` for don't
care, ``None`` for none. Commas or blanks are between the numbers. Files of five numbers look like
boxes with confidences; `icdar.survey` decides over all lines.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from evaltex_cli.errors import FaultLog, FormatError, counted, quote
from evaltex_cli.old_formats.base import DONT_CARE, Format, Side, Source
from evaltex_cli.old_formats.documents.document_files import index_texts, text_of
from evaltex_cli.old_formats.files import archive
from evaltex_cli.old_formats.files.numbers import parse_number
from evaltex_cli.old_formats.files.row_files import is_file_of_rows
from evaltex_cli.old_formats.icdar import survey as icdar_survey
from evaltex_cli.old_formats.icdar.lines import lines_of, split_numbers, with_commas
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

_LAYOUT = "index difficult x y width height angle [text], or left,top,right,bottom,angle[,text]"
_NO_TEXT = "None"


def _parse(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    for number, line in lines_of(text_of(data)):
        try:
            image.add(_object(line, number, side))
        except FormatError as error:
            faults.add(image.place, number, error.found, error.expected)


def _object(line: str, number: int, side: Side) -> CollectedObject:
    numbers, text = _parts(line)
    if len(numbers) == 7:
        if numbers[1] not in ("0", "1"):
            raise FormatError(f"{quote(numbers[1])} as the difficult flag", f"0 or 1: {_LAYOUT}")
        x, y, width, height, angle = map(parse_number, numbers[2:])
        dont_care = numbers[1] == "1"
    elif len(numbers) == 5:
        x, y, right, bottom, angle = map(parse_number, numbers)
        width, height = right - x, bottom - y
        text = "" if text.rstrip(" \t,") == _NO_TEXT else text
        dont_care = text == DONT_CARE
    else:
        raise FormatError(
            f"{counted(len(numbers), '{count} number[s]')} at the start of {quote(line)}", _LAYOUT
        )
    if abs(angle) > 2 * math.pi:
        raise FormatError(
            f"an angle of {angle:g}", f"radians, at most 2 pi in magnitude: {_LAYOUT}"
        )
    if width < 0 or height < 0:
        raise FormatError(f"width {width:g}, height {height:g}", "both at least 0")
    return CollectedObject(
        _turned(x, y, width, height, angle),
        text,
        side == "gt" and dont_care,
        at=number,
    )


def _parts(line: str) -> tuple[list[str], str]:
    """Return the numbers that a line begins with, five of five or six, seven
    of more, and the text after them.
    """
    fields, rest = split_numbers(with_commas(line))
    count = 7 if len(fields) >= 7 else 5 if len(fields) >= 5 else len(fields)
    if len(fields) > count:
        fields, rest = split_numbers(with_commas(line, count))
    text = ",".join([*fields[count:], *([] if rest is None else [rest])])
    return [field.strip() for field in fields[:count]], text.strip()


def _turned(x: float, y: float, width: float, height: float, angle: float) -> list[float]:
    """The corners of a rectangle turned about its centre, from the upper left on."""
    centre_x, centre_y = x + width / 2, y + height / 2
    cosine, sine = math.cos(angle), math.sin(angle)
    corners = []
    for across, down in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        along_x, along_y = across * width / 2, down * height / 2
        corners += [
            centre_x + along_x * cosine - along_y * sine,
            centre_y + along_x * sine + along_y * cosine,
        ]
    return corners


def _has_gt_files(path: Path) -> bool:
    return any(name.lower().endswith(".gt") for name in archive.names(path))


def _recognises(path: Path) -> bool:
    if not archive.is_archive(path):
        return _is_gt_file(path) or icdar_survey.recognises("msra-td500")(path)
    return icdar_survey.recognises("msra-td500")(path) or (
        icdar_survey.is_empty(path) and _has_gt_files(path)
    )


def _is_gt_file(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(".gt") and is_file_of_rows(path)


def _index(path: Path, side: Side, faults: FaultLog) -> Source:
    suffix = ".gt" if archive.is_archive(path) and _has_gt_files(path) else ".txt"
    source = index_texts("msra-td500", suffix, _parse)(path, side, faults)
    unusual = icdar_survey.survey(path).text_warnings(side) if suffix == ".txt" else ()
    return replace(
        source, warnings=(*source.warnings, *(f"{path.name}: {text}" for text in unusual))
    )


FORMAT = Format(
    "msra-td500",
    "MSRA-TD500: .gt files of turned rectangles",
    _recognises,
    _index,
    four_corners=True,
    recognised_by=".gt files, or lines of that layout; or of left, top, right, bottom and an angle",
    layout="index difficult x y w h angle [text]; left,top,right,bottom,angle[,text]",
    sample={"img_1.gt": "0 0 10 10 50 20 0\n"},
)
