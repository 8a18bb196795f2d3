"""Tesseract's table of a document: its own TSV, and what pytesseract's `image_to_data` is saved as.

A row has a level: 1 is a page, whose width and height are the size of the image, 4 a line, 5 a
word. `conf` is a word's confidence in percent, -1 without one.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats.base import File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.names import names_of_pictures
from evaltex_cli.formats.parsing import box, number, under
from evaltex_cli.formats.table import USUAL

_LINE_OF = ("block_num", "par_num", "line_num")
_NUMBERS = ("left", "top", "width", "height", "conf")
_COLUMNS = ("level", "page_num", *_LINE_OF, *_NUMBERS, "text")
_PAGE, _LINE, _WORD = "1", "4", "5"
_LINE_KEY = "block par line"
_Row = dict[str, str]


def _header(text: str) -> tuple[str, list[str]]:
    """Return what divides the columns of a table, and their names; empty if some are not there."""
    first = text.lstrip("\n ").partition("\n")[0]
    for delimiter in "\t,;":
        names = [name.strip('" ') for name in first.split(delimiter)]
        if set(_COLUMNS) <= set(names):
            return delimiter, names
    return "", []


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    rows = list(_rows(file))
    names = rows[0][1] if rows else {}
    # Users add a column of images, to have the tables of several in one.
    column = next((name for name in names if name.lower() in USUAL["image"]), None)
    images: dict[str, dict[str, list[tuple[int, _Row]]]] = {} if rows else {"": {"1": []}}
    for line, row in rows:
        pages = images.setdefault(row[column] if column else "", {})
        pages.setdefault(row["page_num"], []).append((line, row))
    stems = names_of_pictures(list(images)) if column else [file.stem]
    for stem, pages in zip(stems, images.values(), strict=True):
        page_names = replace(file, stem=stem).page_names(len(pages))
        for name, page in zip(page_names, pages.values(), strict=True):
            yield _image(file, side, options.level, name, page)


def _rows(file: File) -> Iterator[tuple[int, _Row]]:
    """Yield each row with its line; a row of too few or too many cells is a fault."""
    delimiter, names = _header(file.text)
    if not delimiter:
        found = f"the first line {quote(file.text.partition(chr(10))[0])}"
        raise FormatError(found, f"the names of the columns: {' '.join(_COLUMNS)}", at=1)
    is_of_tesseract = delimiter == "\t" and names[0] == "level"  # else of pandas, which quotes
    quotes = None if is_of_tesseract else '"'
    lines = csv.reader(io.StringIO(file.text), delimiter=delimiter, quotechar=quotes, strict=True)
    try:
        next(filter(any, lines))  # the header
        for cells in filter(any, lines):
            cells.extend([""] * (len(cells) == len(names) - 1))  # an editor took the last tab off
            if len(cells) == len(names):
                row = dict(zip(names, cells, strict=True))
                yield lines.line_num, row | {_LINE_KEY: " ".join(row[name] for name in _LINE_OF)}
            else:
                file.log(FormatError(f"{len(cells)} cells", f"{len(names)}"), lines.line_num)
    except csv.Error as error:
        raise FormatError(str(error), "a table as CSV has it", at=lines.line_num) from error


def _image(file: File, side: Side, level: str, name: str, rows: list[tuple[int, _Row]]) -> Image:
    texts: dict[str, list[str]] = {}
    for _, row in rows:
        if row["level"] == _WORD and row["text"].strip():
            texts.setdefault(row[_LINE_KEY], []).append(row["text"].strip())
        elif row["level"] == _WORD:  # Tesseract has such for pictures and rules
            file.notes["{count} word[s] without text [was|were] left out"] += 1
    numbers = {line: k for k, line in enumerate(texts, 1)}
    image = Image(name)

    def read(row: _Row) -> TextObject | None:
        words = texts.get(row[_LINE_KEY], [])
        values = []
        for column in _NUMBERS:
            with under(column):
                values.append(number(row[column]))
        left, top, width, height, percent = values
        if row["level"] == _PAGE:
            image.width, image.height = width, height
        if level == "line" and row["level"] == _LINE and words:
            return TextObject(box(left, top, width, height), " ".join(words))
        if level == "line" or row["level"] != _WORD or not row["text"].strip():
            return None
        certain = None if percent == -1 else percent / 100
        region = numbers[row[_LINE_KEY]] if side == "gt" else None
        return TextObject(
            box(left, top, width, height), row["text"], confidence=certain, region=region
        )

    image.objects = file.each(rows, read)
    return image


TESSERACT_TSV = Format(
    "tesseract-tsv",
    "Tesseract's TSV, or pytesseract's image_to_data as CSV",
    _read,
    lambda head: "a first line with the names of its columns" if _header(head.text)[0] else "",
    (".tsv", ".txt", ".csv"),
    levels=("word", "line"),
    layout="level page_num ... left top width height conf text",
)
