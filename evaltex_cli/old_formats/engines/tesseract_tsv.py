"""Tesseract's TSV, one file per document: words or lines.

A row has a level: 1 is a page, whose width and height are the size of the image, 4 a line, 5 a
word. ``left``, ``top``, ``width``, ``height`` are pixels, ``conf`` is a word's confidence in
percent, -1 without one. Words without text, which Tesseract has for pictures and rules, are left
out with a warning, and so are lines of such words; the transcription of a line is that of its
words. A word's region is its line.

A file of several pages has one image for each, named after the file and the place of the page in
it.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from evaltex_cli.errors import FaultLog, FormatError, counted, quote
from evaltex_cli.old_formats.base import Format, Indexer, Side
from evaltex_cli.old_formats.coordinates import box
from evaltex_cli.old_formats.documents import document_files, recognition
from evaltex_cli.old_formats.documents.document_files import index_each
from evaltex_cli.old_formats.documents.each_file import Pages, Reading, Survey
from evaltex_cli.old_formats.files.numbers import parse_number
from evaltex_cli.old_formats.files.text_lines import numbered_lines
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

ENDINGS = (".tsv", ".txt")
_BOX = ("left", "top", "width", "height")
_LINE_OF = ("block_num", "par_num", "line_num")
_COLUMNS = ("level", "page_num", *_LINE_OF, "word_num", *_BOX, "conf", "text")
_PLACES = {column: k for k, column in enumerate(_COLUMNS)}
_PAGE, _LINE, _WORD = "1", "4", "5"
_PAGE_OF_ROW = re.compile(rb"^[1-5]\t([^\t\n]*)\t", re.MULTILINE)
_BLANK_WORD = re.compile(rb"^5\t[^\n]*\t *\r?$", re.MULTILINE)


class _Row(NamedTuple):
    """A row of the file: the number of its line, and its cells."""

    line_number: int
    cells: list[str]

    @property
    def at(self) -> int:
        return self.line_number

    def cell(self, column: str) -> str:
        """Return the cell of a column."""
        return self.cells[_PLACES[column]]

    def number(self, column: str) -> float:
        try:
            return parse_number(self.cell(column))
        except FormatError as error:
            raise FormatError(f"{column} {error.found}", error.expected, at=self.at) from error

    @property
    def line(self) -> str:
        """The line that it is of, or is."""
        return "\t".join(self.cell(column) for column in _LINE_OF)

    @property
    def is_word(self) -> bool:
        """Whether it is a word with text."""
        return self.cell("level") == _WORD and bool(self.cell("text").strip())


@dataclass(slots=True)
class _Page:
    """The lines of a page, with their numbers, and what is wrong with some of them.

    Rows are made one at a time: those of thousands of lines take many times their text.
    """

    text: bytearray = field(default_factory=bytearray)
    numbers: array[int] = field(default_factory=lambda: array("i"))
    faults: list[FormatError] = field(default_factory=list)

    def rows(self) -> Iterator[_Row]:
        """Yield the rows."""
        for number, line in zip(self.numbers, BytesIO(self.text), strict=True):
            yield _Row(number, line[:-1].decode().split("\t"))


def open_pages(data: bytes) -> list[_Page]:
    """Return the pages of a file; raises `FormatError` if its first line has
    not the names of the columns.
    """
    text = document_files.text_of(data).encode()
    lines = numbered_lines(text)
    number, head = next(lines, (0, ""))
    if tuple(head.rstrip("\t ").split("\t")) != _COLUMNS:
        expected = f"the names of the columns, with tabs between them: {' '.join(_COLUMNS)}"
        raise FormatError(f"the first line {quote(head)}", expected, at=number + 1)
    pages = {number: _Page() for number in _page_numbers(text)}
    page = next(iter(pages.values()), _Page())
    for number, line in lines:
        cells = line.split("\t")
        if len(cells) == len(_COLUMNS) - 1:  # an editor took the last tab off
            cells.append("")
        if len(cells) != len(_COLUMNS):
            found, at = f"{len(cells)} cells", number + 1
            page.faults.append(
                FormatError(found, f"{len(_COLUMNS)}, with tabs between them", at=at)
            )
            continue
        page = pages.get(cells[_PLACES["page_num"]], page)
        page.text += ("\t".join(cells) + "\n").encode()
        page.numbers.append(number + 1)
    return list(pages.values()) or [page]


def _page_numbers(data: bytes) -> list[str]:
    numbers = dict.fromkeys(match[1] for match in _PAGE_OF_ROW.finditer(data))
    return [number.decode("utf-8", "replace") for number in numbers]


def _parse(page: _Page, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    for error in page.faults:
        error.log(faults, image.place)
    of_words = image.variant == "words"
    numbers: dict[str, int] = {}
    texts: dict[str, list[str]] = {}
    for row in page.rows():
        if row.cell("level") == _PAGE:
            image.width, image.height = _coordinates(row)[2:]
        elif row.is_word and of_words:
            numbers.setdefault(row.line, len(numbers) + 1)
        elif row.is_word:
            texts.setdefault(row.line, []).append(row.cell("text").strip())
    for row in page.rows():
        is_line = row.cell("level") == _LINE and row.line in texts
        if not (row.is_word if of_words else is_line):
            continue
        with faults.catching(image.place):
            collected = _object(row, row.cell("text") if of_words else " ".join(texts[row.line]))
            collected.region = numbers[row.line] if of_words and side == "gt" else None
            image.add(collected)


def _coordinates(row: _Row) -> tuple[float, float, float, float]:
    try:
        return box(*map(row.number, _BOX))
    except FormatError as error:
        raise FormatError(error.found, error.expected, at=row.at) from error


def _object(row: _Row, text: str) -> CollectedObject:
    percent = row.number("conf")
    if not (0 <= percent <= 100 or percent == -1):
        raise FormatError(
            f"conf {row.cell('conf')}", "a confidence from 0 to 100, or -1", at=row.at
        )
    confidence = None if percent == -1 else percent / 100
    return CollectedObject(_coordinates(row), text, confidence=confidence, at=row.at)


def _look(data: bytes) -> int:
    """Count the words that are left out."""
    return sum(1 for _ in _BLANK_WORD.finditer(data))


def recognises(path: Path) -> bool:
    """Whether the first line of a file, or of the first of a folder or
    archive, has Tesseract's columns.
    """
    start = recognition.first_bytes(path, recognition.main_ending(path, ENDINGS))
    return start.lstrip().partition(b"\n")[0].rstrip(b"\r\t ,") == "\t".join(_COLUMNS).encode()


_SAMPLE = "\n".join(
    "\t".join(row)
    for row in (
        _COLUMNS,
        (*"110000", "0", "0", "640", "480", "-1", ""),
        (*"411110", "10", "10", "50", "20", "-1", ""),
        (*"511111", "10", "10", "50", "20", "96.5", "word\n"),
    )
)


def _count(data: bytes) -> int:
    return max(len(_page_numbers(data)), 1)


def _index(name: str, level: str) -> Indexer:
    def settle(blank: Sequence[int]) -> Reading:
        left_out = counted(sum(blank), "{count} word[s] without text [was|were] left out")
        return Reading((left_out,) if sum(blank) else (), level)

    return index_each(
        name, ENDINGS, _parse, survey=Survey(_look, settle), pages=Pages(_count, open_pages)
    )


WORDS = Format(
    "tesseract-tsv",
    "Tesseract's TSV, words",
    recognises,
    _index("tesseract-tsv", "words"),
    four_corners=True,
    recognised_by="a first line with the names of its columns",
    layout=" ".join(_COLUMNS),
    sample=_SAMPLE,
    ending=ENDINGS[0],
    more_endings=ENDINGS[1:],
)
LINES = WORDS.variant(
    "tesseract-tsv-line", "Tesseract's TSV, lines", _index("tesseract-tsv-line", "lines")
)
