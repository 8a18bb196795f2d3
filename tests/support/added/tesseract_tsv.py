"""Tesseract's TSV, one file an image: level, ..., left, top, width, height, conf, text; words are of level 5.

An example of a new format, which `docs/architecture.md` explains and `tests/registry/test_adding.py` adds to a copy of
the repository.
"""

from __future__ import annotations

from pathlib import Path

from evaltex_cli.errors import FaultLog, FormatError, Position
from evaltex_cli.formats.base import Format, Side
from evaltex_cli.formats.documents import document_files
from evaltex_cli.formats.files.numbers import parse_number
from evaltex_cli.formats.files.text_lines import numbered_lines, refuse_excess
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject

_HEAD = b"level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
_WORD = "5"


def _parse(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    refuse_excess(data)
    for number, line in numbered_lines(data):
        cells = line.split("\t")
        if number and cells[0] == _WORD:
            try:
                image.objects.append(_word(cells, Position(number + 1, 1)))
            except FormatError as error:
                faults.add(image.place, number + 1, error.found, error.expected)


def _word(cells: list[str], at: Position) -> CollectedObject:
    if len(cells) != 12:
        raise FormatError(f"{len(cells)} cells", "12 cells, with tabs between them")
    left, top, width, height, confidence = map(parse_number, cells[6:11])
    if width < 0 or height < 0:
        raise FormatError(f"width, height {width:g}, {height:g}", "no negative ones")
    box = (left, top, left + width, top + height)
    return CollectedObject(box, cells[11], confidence=min(max(confidence / 100, 0.0), 1.0), at=at)


def _recognises(path: Path) -> bool:
    return document_files.first_bytes(path, ".tsv").startswith(_HEAD)


FORMAT = Format(
    "tesseract-tsv",
    "Tesseract: TSV, one an image",
    _recognises,
    document_files.index_each("tesseract-tsv", ".tsv", _parse),
    four_corners=True,
    recognised_by="a line of the names of its columns",
    layout="level page_num block_num par_num line_num word_num left top width height conf text",
    sample=_HEAD + b"\n5\t1\t1\t1\t1\t1\t10\t10\t50\t20\t96.5\tword\n",
    ending=".tsv",
)
