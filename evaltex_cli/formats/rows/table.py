"""Tables with a header, CSV or TSV: one object in each row, its columns found by their usual names or by a mapping.

A table of all images has a column of image names; without one it is of one image, and has its name. The coordinates
are the corners of a box, its upper left corner with width and height, or the vertices of a polygon (`table_columns`); a
column of polygons has the numbers x, y in turn, with anything between them. Don't care is 1, t, true or yes in its
column, or the transcription ``###``. A row without coordinates is of an image without objects. Coordinates are
fractions of the page if all are in [0, 1] and one has decimals. The scale of confidences is that of the whole table
(`confidences`).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from evaltex_cli.errors import FaultLog, FormatError, InputError, Position, counted, not_utf8, quote
from evaltex_cli.formats.base import DONT_CARE, Format, Indexer, Side, Source
from evaltex_cli.formats.confidences import scale_of
from evaltex_cli.formats.documents import document_files
from evaltex_cli.formats.files import archive
from evaltex_cli.formats.files.fingerprint import Fingerprint
from evaltex_cli.formats.files.numbers import parse_number
from evaltex_cli.formats.options import column_mapping
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject, box, polygon, refuse_bad_names, source
from evaltex_cli.formats.rows.table_columns import Columns, columns_of

ENDINGS = (".csv", ".tsv")
MOST_ROWS = 5_000_000
"""Of a file: a row takes several hundred bytes when it is read."""
_DELIMITERS = ("\t", ";", ",", "|")
_YES, _NO = ("1", "t", "true", "yes", "y", "1.0"), ("", "0", "f", "false", "no", "n", "0.0")
_BETWEEN = re.compile(r"[\s,;:|()\[\]{}\"']+")


class _Row(NamedTuple):
    line: int
    cells: list[str]


class _Table(NamedTuple):
    """A file's rows, and what is decided over all of them."""

    place: str
    image: str
    columns: Columns
    rows: list[_Row]


def _tables(path: Path, mapping: dict[str, str]) -> tuple[list[_Table], str, tuple[str, ...]]:
    """Return the tables of an input, its SHA-256 and what was left out."""
    if not archive.is_archive(path):
        entries = archive.open_entries(path, largest=document_files.MAX_BYTES)
    else:
        entries = archive.open_entries(path, document_files.main_ending(path, ENDINGS))
    fingerprint, tables = Fingerprint(entries), []
    for entry, data in zip(entries.entries, entries.read_many(entries.entries), strict=True):
        fingerprint.add(entry, data)
        try:
            tables.append(_table(data, entries.place(entry), entry.image, mapping))
        except FormatError as error:
            raise InputError(str(error.fault(entries.place(entry)))) from error
    return tables, fingerprint.hexdigest(), entries.warnings


def _table(data: bytes, place: str, image: str, mapping: dict[str, str]) -> _Table:
    lines = _text(data).splitlines(keepends=True)
    header = next((line for line in lines if line.strip()), "")
    reader = csv.reader(lines, delimiter=_delimiter(header))
    columns: Columns | None = None
    rows: list[_Row] = []
    try:
        for cells in reader:
            if not any(cells):
                continue
            if columns is None:
                columns = columns_of([name.strip() for name in cells], mapping)
            else:
                rows.append(_Row(reader.line_num, cells))
            if len(rows) > MOST_ROWS:
                raise FormatError(f"more than {MOST_ROWS} rows", "the annotations of images; divide it")
    except csv.Error as error:
        raise FormatError(str(error), "well-formed CSV", at=Position(reader.line_num)) from error
    if columns is None:
        raise FormatError("no header", "a first line with the names of the columns", at=Position(1))
    return _Table(place, image, columns, rows)


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, found, expected = not_utf8(error)
        raise FormatError(found, expected, at=Position(line)) from error


def _delimiter(header: str) -> str:
    return max(_DELIMITERS, key=header.count)


def _cell(table: _Table, row: _Row, what: str) -> str:
    place = table.columns.places.get(what)
    return "" if place is None or place >= len(row.cells) else row.cells[place].strip()


def _coordinates(table: _Table, row: _Row, dont_care: bool) -> list[float]:
    """The coordinates of a row's object; empty without any."""
    columns = table.columns
    cells = [row.cells[place].strip() if place < len(row.cells) else "" for place in columns.corners]
    if not cells and "polygon" in columns.places:
        cells = [number for number in _BETWEEN.split(_cell(table, row, "polygon")) if number]
        return list(polygon([parse_number(number) for number in cells], dont_care)) if cells else []
    if not cells:
        cells = [_cell(table, row, what) for what in ("x0", "y0", "width", "height")]
        return list(box(*map(parse_number, cells))) if any(cells) else []
    if not any(cells):
        return []
    numbers = [parse_number(cell) for cell in cells]
    if len(numbers) == 4 and (numbers[2] < numbers[0] or numbers[3] < numbers[1]):
        raise FormatError(f"a box from ({cells[0]}, {cells[1]}) to ({cells[2]}, {cells[3]})", "x0 <= x1 and y0 <= y1")
    return numbers


def _object(table: _Table, row: _Row, side: Side) -> CollectedObject | None:
    if len(row.cells) > table.columns.cells:
        found = f"{len(row.cells)} cells"
        raise FormatError(found, f"at most {table.columns.cells}, as the header has; put quotes around text")
    text, flag = _cell(table, row, "text"), _cell(table, row, "dont_care").lower()
    if flag not in (*_YES, *_NO):
        raise FormatError(f"{quote(flag)} as don't care", "0 or 1, or true or false")
    dont_care = side == "gt" and (text == DONT_CARE or flag in _YES)
    coordinates = _coordinates(table, row, dont_care)
    confidence = _cell(table, row, "confidence")
    if not coordinates:
        return None
    return CollectedObject(
        coordinates, text, dont_care, confidence=parse_number(confidence) if confidence else None, at=Position(row.line)
    )


class _Collected(NamedTuple):
    """Objects by image, before their scale is known, and images without a size or with one."""

    images: dict[str, CollectedImage]
    objects: list[tuple[str, CollectedObject]]


def _collect(tables: list[_Table], side: Side, faults: FaultLog) -> _Collected:
    found = _Collected({}, [])
    for table in tables:
        if "image" not in table.columns.places:
            found.images.setdefault(table.image, CollectedImage(table.image, table.place))
        for row in table.rows:
            try:
                name = _cell(table, row, "image") if "image" in table.columns.places else table.image
                image = found.images.setdefault(name, CollectedImage(name, table.place, Position(row.line)))
                for what in ("width", "height"):
                    size = _cell(table, row, f"image_{what}")
                    if size:
                        setattr(image, what, parse_number(size))
                one = _object(table, row, side)
            except FormatError as error:
                faults.add(table.place, row.line, error.found, error.expected)
                continue
            if one is not None:
                found.objects.append((name, one))
    return found


def _add(found: _Collected) -> Iterator[str]:
    """Give the images their objects; yield what the user should know about confidences and coordinates."""
    confidences = [one.confidence for _, one in found.objects if one.confidence is not None]
    scale = scale_of(min(confidences, default=0.0), max(confidences, default=1.0))
    numbers = [number for _, one in found.objects for number in one.coordinates]
    fractions = all(0 <= number <= 1 for number in numbers) and any(number != int(number) for number in numbers)
    for name, one in found.objects:
        if one.confidence is not None:
            one.confidence /= scale.divisor
        image = found.images[name]
        if fractions and image.width and image.height:
            one.coordinates = [
                number * (image.height if k % 2 else image.width) for k, number in enumerate(one.coordinates)
            ]
        image.in_fractions = fractions and not (image.width and image.height)
        image.add(one)
    if scale.warning() is not None:
        yield str(scale.warning())
    if fractions:
        yield f"{counted(len(found.objects), '{count} object[s]')} in [0, 1]: coordinates are fractions of the page"


def index_by(columns: str | None) -> Indexer:
    """Return what indexes tables by a mapping of columns, or None."""

    def index(path: Path, side: Side, faults: FaultLog) -> Source:
        tables, sha256, left_out = _tables(path, {} if columns is None else column_mapping(columns))
        found = _collect(tables, side, faults)
        warnings = [f"{path.name}: {warning}" for warning in _add(found)]
        images = list(found.images.values())
        if side == "gt" and not images and not faults.count:
            faults.add(str(path), None, "no image", "at least one in ground truth")
        refuse_bad_names(images, faults)
        return source(str(path), "table", sha256, images, (*left_out, *warnings))

    return index


def _header(path: Path) -> list[str]:
    """The names of columns of a file, or of the first of a folder or archive; none if it begins otherwise."""
    start = document_files.first_bytes(path, document_files.main_ending(path, ENDINGS))
    try:
        header = start.lstrip().partition(b"\n")[0].decode("utf-8")
        return [name.strip() for name in next(csv.reader([header], delimiter=_delimiter(header)), [])]
    except (UnicodeDecodeError, csv.Error):
        return []


def recognises(path: Path) -> bool:
    """Whether an input has a header with columns of coordinates."""
    try:
        return bool(columns_of(_header(path), {}))
    except FormatError:
        return False


def has_columns(path: Path, columns: str) -> bool:
    """Whether an input has a header with one of the columns that are mapped."""
    return not set(column_mapping(columns).values()).isdisjoint(_header(path))


FORMAT = Format(
    "table",
    "tables with a header, CSV or TSV, one object per row",
    recognises,
    index_by(None),
    recognised_by="a header with usual names of columns of coordinates",
    layout="image,x0,y0,x1,y1,text; or x,y,width,height; or polygon; or x1,y1,...,xn,yn; names mapped by --columns",
    sample='image,xmin,ymin,xmax,ymax,text\nimg_1,10,10,60,30,"word"\n',
    ending=ENDINGS[0],
    more_endings=ENDINGS[1:],
    fractions=True,
    option="columns",
    index_by=index_by,
)
