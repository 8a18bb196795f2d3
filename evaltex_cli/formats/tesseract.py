"""Tesseract's table of a document: its own TSV, and what pytesseract's `image_to_data` is saved as.

A row has a level: 1 is a page, whose width and height are the size of the image, 4 a line, 5 a
word. `conf` is a word's confidence in percent, -1 without one.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Any

from evaltex_cli.errors import FormatError
from evaltex_cli.formats.base import File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.names import names_of_pictures
from evaltex_cli.formats.parsing import box, converted, number, plain_json, within
from evaltex_cli.formats.table import USUAL
from evaltex_cli.formats.word_records import has

_LINE = ("block_num", "par_num", "line_num")
_NUMBERS = ("left", "top", "width", "height", "conf")
_COLUMNS = ("level", "page_num", *_LINE, *_NUMBERS, "text")
_line_of, _numbers_of = itemgetter(*_LINE), itemgetter(*_NUMBERS)
_LEVELS = {"word": "5", "line": "4"}
_Rows = Iterable[tuple[int | str, dict[Any, Any]]]
"""Where each row is, and its cells."""


def _header(text: str) -> tuple[str, list[str]]:
    """Return what divides the columns of a table, and their names; empty if some are not there."""
    first = text.lstrip("\n ").partition("\n")[0]
    for delimiter in "\t,;":
        names = [name.strip('" ') for name in first.split(delimiter)]
        if set(_COLUMNS) <= set(names):
            return delimiter, names
    return "", []


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    delimiter, names = _header(file.text)
    if not delimiter:
        raise FormatError("another header", f"the columns {' '.join(_COLUMNS)}", at=1)
    is_of_tesseract = delimiter == "\t" and names[0] == "level"  # else of pandas, which quotes
    quoting = csv.QUOTE_NONE if is_of_tesseract else csv.QUOTE_MINIMAL
    # Users add a column of images, to have the tables of several in one.
    column = next((name for name in names if name.lower() in USUAL["image"]), "")
    quoted: dict[str, Any] = {"delimiter": delimiter, "quoting": quoting}
    lines = list(file.lines())[1:]
    rows = [
        (line, next(csv.DictReader([text], names, "more", "", **quoted))) for line, text in lines
    ]
    yield from _images(file, side, options.level, rows, column)


def _images(file: File, side: Side, level: str, rows: _Rows, column: str = "") -> Iterator[Image]:
    """Yield an image of each page, or of each page of each picture that a column names."""
    pages = defaultdict(list)
    for place, row in rows:
        pages[row[column] if column else "", row["page_num"]].append((place, row))
    pictures = [picture for picture, _ in pages]
    names = names_of_pictures(pictures) if column else file.page_names(len(pages))
    for name, page in zip(names, pages.values(), strict=True):
        yield _image(file, side, level, name, page)
    if not (pages or column):
        yield Image(file.stem)


def _image(file: File, side: Side, level: str, name: str, rows: list[Any]) -> Image:
    image = Image(name)
    lines: dict[Any, tuple[int, list[str]]] = {}
    for _, row in rows:
        if row["level"] == _LEVELS["word"] and row["text"].strip():
            _, words = lines.setdefault(_line_of(row), (len(lines) + 1, []))
            words.append(row["text"].strip())

    def read(row: Any) -> TextObject | None:
        left, top, width, height, percent = map(number, _numbers_of(row))
        if "more" in row:
            raise FormatError("more cells than columns", "as many")
        if row["level"] == "1":
            image.width, image.height = width, height
        if row["level"] != _LEVELS[level]:
            return None
        line, words = lines.get(_line_of(row), (None, []))
        text = row["text"] if level == "word" else " ".join(words)
        if not text.strip():  # Tesseract has such for pictures and rules
            file.notes[f"{{count}} {level}[s] without text [was|were] left out"] += 1
            return None
        certain = None if percent == -1 else percent / 100
        region = line if side == "gt" else None
        return TextObject(box(left, top, width, height), text, False, certain, region=region)

    image.objects = file.each(rows, read)
    return image


def _rows(value: Any) -> Any:
    """Return columns or records, whatever `orient` pandas wrote them in."""
    first = next(iter(value.values()), None) if isinstance(value, dict) else None
    if within(value, "columns") and within(value, "data"):
        return [dict(zip(value["columns"], row, strict=False)) for row in value["data"]]
    if within(value, "schema"):
        return within(value, "data")
    return list(value.values()) if isinstance(within(first, "block_num"), int) else value


def _read_dictionary(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """Read columns, as pytesseract's dictionary and pandas write them, or pandas' records."""
    if file.text.startswith("{") and len(lines := list(file.lines())) > 1 and "}" in lines[0][1]:
        value: Any = [plain_json(line.encode()) for _, line in lines]
    else:
        value = file.json(Any)
    document = converted(_rows(value), dict[str, Any] | list[dict[str, Any]])
    if isinstance(document, dict):
        columns = {name: document.get(name) for name in _COLUMNS}
        lists = [list(c.values()) if isinstance(c, dict) else c for c in columns.values()]
        if not all(isinstance(one, list) and len(one) == len(lists[0] or []) for one in lists):
            expected = f"lists {' '.join(_COLUMNS)}, all alike"
            raise FormatError("columns of several lengths", expected)
        document = [dict(zip(columns, cells, strict=True)) for cells in zip(*lists, strict=True)]
    rows = []
    for k, record in enumerate(document):
        cells = {name: record.get(name) for name in _COLUMNS}
        rows.append((f"[{k}]", {name: "" if c is None else str(c) for name, c in cells.items()}))
    yield from _images(file, side, options.level, rows)


PYTESSERACT = Format(
    "pytesseract",
    "pytesseract: image_to_data as JSON",
    _read_dictionary,
    has(
        *(f"{at}level {at}page_num {at}block_num" for at in ("", "0.", "*.", "data.0.")),
        "columns.11 index data",
    ),
    (".json", ".jsonl"),
    levels=("word", "line"),
    layout='{"level": [...], "page_num", ..., "left", "top", "width", "height", "conf", "text"}',
)
TESSERACT_TSV = Format(
    "tesseract-tsv",
    "Tesseract's TSV, or pytesseract's image_to_data as CSV",
    _read,
    lambda head: "a first line with the names of its columns" if _header(head.text)[0] else "",
    (".tsv", ".txt", ".csv"),
    levels=("word", "line"),
    layout="level page_num ... left top width height conf text",
)
