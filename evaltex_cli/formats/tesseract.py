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
from evaltex_cli.formats.base import (
    HEAD_BYTES,
    File,
    Format,
    Head,
    Image,
    ReadOptions,
    Side,
    TextObject,
)
from evaltex_cli.formats.names import names_of_pictures
from evaltex_cli.formats.parsing import box, number
from evaltex_cli.formats.table import USUAL

_BOX = ("left", "top", "width", "height")
_LINE_OF = ("block_num", "par_num", "line_num")
_COLUMNS = ("level", "page_num", *_LINE_OF, "word_num", *_BOX, "conf", "text")
_PAGE, _LINE, _WORD = "1", "4", "5"
_IMAGE = USUAL["image"]
"""Names of a column that users add, to have the tables of several images in one."""
_Row = dict[str, str]


def _header(text: str) -> tuple[str, list[str]]:
    """Return what divides the columns of a table, and their names; empty if some are not there."""
    first = text.lstrip("\n ").partition("\n")[0][:HEAD_BYTES]
    for delimiter in "\t,;":
        names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
        if set(_COLUMNS) <= set(names):
            return delimiter, names
    return "", []


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    rows = list(_rows(file))
    column = next((name for name in (rows[0][1] if rows else ()) if name.lower() in _IMAGE), None)
    images: dict[str, dict[str, list[tuple[int, _Row]]]] = {} if rows else {"": {"1": []}}
    for line_number, row in rows:
        pages = images.setdefault(row[column] if column else "", {})
        pages.setdefault(row["page_num"], []).append((line_number, row))
    stems = names_of_pictures(list(images)) if column else [file.stem]
    for stem, pages in zip(stems, images.values(), strict=True):
        names = replace(file, stem=stem).page_names(len(pages))
        for name, page in zip(names, pages.values(), strict=True):
            yield _image(file, side, options.level, name, page)


def _rows(file: File) -> Iterator[tuple[int, _Row]]:
    """Yield each row with its line; a row of too few or too many cells is a fault."""
    delimiter, names = _header(file.text)
    if not delimiter:
        first, _, _ = file.text.partition("\n")
        expected = f"the names of the columns, with tabs between them: {' '.join(_COLUMNS)}"
        raise FormatError(f"the first line {quote(first)}", expected, at=1)
    is_of_tesseract = delimiter == "\t" and names[0] == "level"  # else of pandas, which quotes
    lines = csv.reader(
        io.StringIO(file.text),
        delimiter=delimiter,
        quoting=csv.QUOTE_NONE if is_of_tesseract else csv.QUOTE_MINIMAL,
        strict=True,
    )
    try:
        next(filter(any, lines))  # the header
        for cells in filter(any, lines):
            if len(cells) == len(names) - 1:  # an editor took the last tab off
                cells.append("")
            if len(cells) == len(names):
                yield lines.line_num, dict(zip(names, cells, strict=True))
            else:
                file.log(FormatError(f"{len(cells)} cells", f"{len(names)}"), lines.line_num)
    except csv.Error as error:
        raise FormatError(str(error), "a table as CSV has it", at=lines.line_num) from error


def _image(file: File, side: Side, level: str, name: str, rows: list[tuple[int, _Row]]) -> Image:
    texts: dict[tuple[str, ...], list[str]] = {}
    for _, row in rows:
        if row["level"] == _WORD and row["text"].strip():
            texts.setdefault(_line_of(row), []).append(row["text"].strip())
        elif row["level"] == _WORD:  # Tesseract has such for pictures and rules
            file.notes["{count} word[s] without text [was|were] left out"] += 1
    numbers = {line: k for k, line in enumerate(texts, 1)}
    image = Image(name)

    def read(row: _Row) -> TextObject | None:
        is_word = row["level"] == _WORD and bool(row["text"].strip())
        is_line = row["level"] == _LINE and _line_of(row) in texts
        if row["level"] == _PAGE:
            _, _, image.width, image.height = _box(row)
        if not (is_word if level == "word" else is_line):
            return None
        percent = _number(row, "conf")
        return TextObject(
            _box(row),
            row["text"] if is_word else " ".join(texts[_line_of(row)]),
            confidence=None if percent == -1 else percent / 100,
            region=numbers[_line_of(row)] if is_word and side == "gt" else None,
        )

    image.objects = file.each(rows, read)
    return image


def _line_of(row: _Row) -> tuple[str, ...]:
    return tuple(row[name] for name in _LINE_OF)


def _box(row: _Row) -> tuple[float, float, float, float]:
    return box(*(_number(row, name) for name in _BOX))


def _number(row: _Row, name: str) -> float:
    try:
        return number(row[name])
    except FormatError as error:
        raise FormatError(f"{name} {error.found}", error.expected) from error


def _recognised_by(head: Head) -> str:
    first = head.text.lstrip("\n ").partition("\n")[0].rstrip(",")  # refused when it is read
    return "a first line with the names of its columns" if _header(first)[0] else ""


TESSERACT_TSV = Format(
    "tesseract-tsv",
    "Tesseract's TSV, or pytesseract's image_to_data as CSV",
    _read,
    _recognised_by,
    (".tsv", ".txt", ".csv"),
    levels=("word", "line"),
    layout="level page_num ... left top width height conf text",
)
