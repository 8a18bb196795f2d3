"""Boxes in columns between tabs, one file for each image: left, top, right, bottom, confidence,
text.

An example of a new format, which `docs/architecture.md` explains and
`tests/registry/test_adding.py` adds to a copy of the repository.
"""

from __future__ import annotations

from collections.abc import Iterator

from evaltex_cli.errors import FormatError
from evaltex_cli.formats.base import File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.parsing import number

_HEAD = "left\ttop\tright\tbottom\tconf\ttext\n"


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def word(line: str) -> TextObject:
        cells = line.split("\t")
        if len(cells) != 6:
            raise FormatError(f"{len(cells)} cells", "6 cells, with tabs between them")
        *points, confidence = map(number, cells[:5])
        return TextObject(points, cells[5], confidence=confidence)

    lines = list(file.lines())[1:]  # the first names the columns
    yield Image(file.stem, file.each(lines, word))


FORMAT = Format(
    "tab-boxes",
    "Boxes between tabs, one file for each image",
    _read,
    lambda head: "a line of the names of its columns" if head.text.startswith(_HEAD) else "",
    (".tsv",),
    layout="left top right bottom conf text",
)
