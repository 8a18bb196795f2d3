"""Boxes with a class and a confidence, as Object-Detection-Metrics reads them: one box in each
line, in pixels.

``class confidence x y width height`` or ``class confidence x0 y0 x1 y1``; ground truth has no
confidence. A class is a whole number or words. `icdar.row_evidence` decides which of the two it is.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from evaltex_cli.errors import FormatError, counted, quote
from evaltex_cli.formats.base import Format
from evaltex_cli.formats.confidences import scale_of
from evaltex_cli.formats.coordinates import box
from evaltex_cli.formats.icdar import survey as icdar_survey
from evaltex_cli.formats.icdar.row_evidence import FEW_LINES, Evidence
from evaltex_cli.formats.icdar.row_lines import row_of
from evaltex_cli.formats.parsed import CollectedObject
from evaltex_cli.formats.rows.row_files import index_rows

_LAYOUTS = {
    "class-xywh": "class [confidence] x y width height",
    "class-ltrb": "class [confidence] x0 y0 x1 y1",
}


def _read_line(line: str, evidence: Evidence, name: str) -> CollectedObject:
    row = row_of(line)
    if row is None or row.flag is not None or len(row.numbers) not in (4, 5):
        raise FormatError(quote(line), f"{_LAYOUTS[name]} (format {name})")
    a, b, c, d = row.numbers[-4:]
    if name == "class-ltrb" and (c < a or d < b):
        found = f"a box from ({a:g}, {b:g}) to ({c:g}, {d:g})"
        raise FormatError(found, f"x0 <= x1 and y0 <= y1: {_LAYOUTS[name]}")
    confidence = None
    if len(row.numbers) == 5:
        confidence = row.numbers[0] / scale_of(evidence.lowest, evidence.highest).divisor
    return CollectedObject(
        (a, b, c, d) if name == "class-ltrb" else box(a, b, c, d), confidence=confidence
    )


def _warnings(evidence: Evidence, name: str) -> list[str]:
    hints = []
    if 0 < evidence.lines < FEW_LINES and name == evidence.format() == "class-ltrb":
        hints.append(
            f"boxes are read as x0, y0, x1, y1, which fits all {evidence.lines} of them; if they"
            " are x, y, width, height, name the format class-xywh"
        )
    warning = (
        scale_of(evidence.lowest, evidence.highest).warning()
        if evidence.fitting["5 numbers"]
        else None
    )
    return [*hints, warning] if warning else hints


def _why(path: Path) -> str:
    evidence = icdar_survey.survey(path).rows
    corners, lines = evidence.fitting["corners"], evidence.lines
    confidence = "a class, a confidence" if evidence.fitting["5 numbers"] else "a class"
    return (
        f"recognised by {counted(lines, '{count} line[s]')} of {confidence} and four numbers, of"
        f" which {corners} may be x0, y0, x1, y1"
    )


def _format(name: str, title: str, recognised_by: str, numbers: str) -> Format:
    return Format(
        name,
        f"Object-Detection-Metrics, {title}: .txt files",
        icdar_survey.recognises(name),
        index_rows(name, partial(_read_line, name=name), partial(_warnings, name=name)),
        four_corners=True,
        recognised_by=recognised_by,
        layout=_LAYOUTS[name],
        sample={"img_1.txt": f"word {numbers}\n"},
        why=_why,
    )


XYWH = _format(
    *(
        "class-xywh",
        "x, y, width, height",
        "a class before the numbers; not all may be two corners",
    ),
    "10 10 50 20\nword 80 10 50 20",
)
LTRB = _format(
    *("class-ltrb", "two corners", "a class before the numbers; all may be two corners"),
    "10 10 60 30",
)
