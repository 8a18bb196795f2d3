"""Boxes in columns between tabs, one file for each image: left, top, right, bottom, confidence,
text.

An example of a new format, which `docs/architecture.md` explains and
`tests/registry/test_adding.py` adds to a copy of the repository.
"""

from __future__ import annotations

from pathlib import Path

from evaltex_cli.errors import FaultLog, FormatError
from evaltex_cli.old_formats.base import Format, Side
from evaltex_cli.old_formats.documents import document_files, recognition
from evaltex_cli.old_formats.files.numbers import parse_number
from evaltex_cli.old_formats.files.text_lines import numbered_lines
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

_HEAD = b"left\ttop\tright\tbottom\tconf\ttext"


def _parse(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    for number, line in numbered_lines(data):
        if number:  # line 0 names the columns
            try:
                image.add(_word(line.split("\t"), number + 1))
            except FormatError as error:
                faults.add(image.place, number + 1, error.found, error.expected)


def _word(cells: list[str], at: int) -> CollectedObject:
    if len(cells) != 6:
        raise FormatError(f"{len(cells)} cells", "6 cells, with tabs between them")
    left, top, right, bottom, confidence = map(parse_number, cells[:5])
    if right < left or bottom < top:
        raise FormatError(
            f"({left:g}, {top:g}) to ({right:g}, {bottom:g})", "the upper left corner first"
        )
    if not 0 <= confidence <= 1:
        raise FormatError(f"confidence {confidence:g}", "a number from 0 to 1")
    return CollectedObject((left, top, right, bottom), cells[5], confidence=confidence, at=at)


def _recognises(path: Path) -> bool:
    return recognition.first_bytes(path, ".tsv").startswith(_HEAD)


FORMAT = Format(
    "tab-boxes",
    "Boxes between tabs, one file for each image",
    _recognises,
    document_files.index_each("tab-boxes", ".tsv", _parse),
    four_corners=True,
    recognised_by="a line of the names of its columns",
    layout="left top right bottom conf text",
    sample=_HEAD + b"\n10\t10\t60\t30\t0.965\tword\n",
    ending=".tsv",
)
