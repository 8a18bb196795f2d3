r"""Total-Text's own .txt files: ``x: [[...]], y: [[...]], ornt: [u'c'], transcriptions:
[u'word']``.

Blanks, or commas, stand between the numbers; records go over several lines where they are long.
Transcriptions are Python literals, ``\u2019`` and the like mean characters. Don't care is ``#`` (or
``###``) as orientation or transcription.
"""

from __future__ import annotations

import re

from evaltex_cli.errors import FaultLog, FormatError, quote
from evaltex_cli.old_formats.base import DONT_CARE, Format, Side
from evaltex_cli.old_formats.coordinates import polygon
from evaltex_cli.old_formats.documents.document_files import index_texts, text_of
from evaltex_cli.old_formats.files.numbers import parse_number
from evaltex_cli.old_formats.icdar import survey as icdar_survey
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

_LAYOUT = "x: [[...]], y: [[...]], ornt: [u'c'], transcriptions: [u'word']"
_DONT_CARE = ("#", DONT_CARE)
_START = re.compile(r"^[^\S\n]*x:\s*+(?=\[\[)", re.MULTILINE)
_RECORD = re.compile(
    r"""\[\[(?P<x>[^\]]*+)\]\]\s*,\s*y:\s*\[\[(?P<y>[^\]]*+)\]\]\s*,
    \s*ornt:\s*\[(?:u?(['"])(?P<ornt>[^\]'"]*+)\3)?\s*\]\s*,
    \s*transcriptions:\s*\[(?:u?(['"])(?P<text>.*)\5)?\s*\]\s*""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)


def _parse(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    text = text_of(data)
    head, *records = _START.split(text)
    line = 1 + head.count("\n")
    if head.strip():
        faults.add(image.place, 1, quote(head.strip()), _LAYOUT)
    starts = list(_START.finditer(text))
    for start, record in zip(starts, records, strict=True):
        line += start[0].count("\n")
        try:
            image.add(_object(record, line, side))
        except FormatError as error:
            faults.add(image.place, line, error.found, error.expected)
        line += record.count("\n")


def _object(record: str, line: int, side: Side) -> CollectedObject:
    match = _RECORD.fullmatch(record)
    if not match:
        raise FormatError(quote(" ".join(record.split())), _LAYOUT)
    xs, ys = (
        [parse_number(number) for number in match[axis].replace(",", " ").split()] for axis in "xy"
    )
    if len(xs) != len(ys):
        raise FormatError(f"{len(xs)} x and {len(ys)} y", "as many of the one as of the other")
    text = _ESCAPE.sub(_character, match["text"] or "")
    dont_care = side == "gt" and (text in _DONT_CARE or match["ornt"] in _DONT_CARE)
    vertices = polygon([value for point in zip(xs, ys, strict=True) for value in point], dont_care)
    return CollectedObject(vertices, text, dont_care, at=line)


def _character(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2] or escape[3]
    if not digits:
        return escape[4] if escape[4] in "'\"\\" else escape[0]
    code = int(digits, 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else escape[0]


FORMAT = Format(
    "totaltext",
    "Total-Text's own .txt files: x: [[...]], y: [[...]], ...",
    icdar_survey.recognises("totaltext"),
    index_texts("totaltext", ".txt", _parse),
    recognised_by="lines that begin with x: [[",
    layout="x: [[...]], y: [[...]], ornt: [u'c'], transcriptions: [u'word']",
    sample={
        "poly_gt_img1.txt": (
            "x: [[10 60 60 10]], y: [[10 10 30 30]], ornt: [u'h'], transcriptions: [u'word']\n"
        )
    },
)
