"""YOLO's labels and predictions: a class and fractions of the picture, one object in each line.

``class x y width height``, x and y of the centre; or ``class x1 y1 x2 y2 ...`` of a polygon's
vertices, four of a turned box. Predictions may have a confidence after them, or, of a box, before
(`icdar.row_evidence` decides). The list of classes, ``classes.txt``, is left out.
"""

from __future__ import annotations

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.old_formats.base import Format
from evaltex_cli.old_formats.coordinates import box
from evaltex_cli.old_formats.icdar import survey as icdar_survey
from evaltex_cli.old_formats.icdar.row_evidence import Evidence
from evaltex_cli.old_formats.icdar.row_lines import row_of
from evaltex_cli.old_formats.parsed import CollectedObject
from evaltex_cli.old_formats.rows.row_files import index_rows

_LAYOUT = (
    "class x y width height, or class x1 y1 x2 y2 x3 y3 ..., in fractions, and perhaps a confidence"
)


def _read_line(line: str, evidence: Evidence) -> CollectedObject:
    row = row_of(line)
    if row is None or row.flag is not None:
        raise FormatError(quote(line), f"{_LAYOUT} (format yolo)")
    numbers, confidence = row.numbers, None
    if len(numbers) == 5 and evidence.confidence_first():
        confidence, *numbers = numbers
    elif len(numbers) % 2:
        *numbers, confidence = numbers
    if confidence is not None and not 0 <= confidence <= 1:
        raise FormatError(f"{confidence:g} as the confidence", f"a number in [0, 1]: {_LAYOUT}")
    if len(numbers) > 4:
        return CollectedObject(numbers, confidence=confidence)
    x, y, width, height = numbers
    return CollectedObject(box(x - width / 2, y - height / 2, width, height), confidence=confidence)


FORMAT = Format(
    "yolo",
    "YOLO, boxes, segments and turned boxes: .txt files",
    icdar_survey.recognises("yolo"),
    index_rows("yolo", _read_line, lambda _: [], fractions=True),
    recognised_by="a class before four numbers or more, all in [0, 1]",
    layout=_LAYOUT,
    sample={"img_1.txt": "0 0.0125 0.0625 0.075 0.0625 0.075 0.1875 0.0125 0.1875\n"},
    fractions=True,
)
