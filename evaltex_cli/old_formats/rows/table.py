"""Tables with a header, CSV or TSV: one object in each row, its columns found by their usual names
or by a mapping.

A table of all images has a column of image names; without one it is of one image, and has its name.
The coordinates are the corners of a box, its upper left corner with width and height, or the
vertices of a polygon (`table_columns`); a column of polygons has the numbers x, y in turn, with
anything between them. Don't care is 1, t, true or yes in its column, or the transcription ``###``.
A row without coordinates is of an image without objects. Coordinates are fractions of the page if
all are in [0, 1] and one has decimals. The scale of confidences is that of the whole table
(`confidences`). Between semicolons or tabs a number may have a decimal comma.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evaltex_cli.errors import FaultLog, FormatError, InputError, not_utf8, quote
from evaltex_cli.old_formats.base import DONT_CARE, Format, Indexer, Side, Source
from evaltex_cli.old_formats.collected import Images, source
from evaltex_cli.old_formats.confidences import scale_of
from evaltex_cli.old_formats.coordinates import box, polygon
from evaltex_cli.old_formats.documents import recognition
from evaltex_cli.old_formats.files import archive
from evaltex_cli.old_formats.files.fingerprint import Fingerprint
from evaltex_cli.old_formats.files.numbers import parse_number
from evaltex_cli.old_formats.files.text_lines import lines
from evaltex_cli.old_formats.options import column_mapping
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject
from evaltex_cli.old_formats.rows.table_columns import Columns, columns_of

ENDINGS = (".csv", ".tsv")
_FEW_ROWS = 1 << 16
"""Rows, and as many as there are images, after which those of one image are joined."""
_DELIMITERS = ("\t", ";", ",", "|")
_YES, _NO = ("1", "t", "true", "yes", "y", "1.0"), ("", "0", "f", "false", "no", "n", "0.0")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_BETWEEN = re.compile(r"[\s,;:|()\[\]{}\"']+")


class _Row(NamedTuple):
    line: int
    cells: list[str]


class _Table(NamedTuple):
    """A file's text in UTF-8, and the columns that its rows have."""

    place: str
    image: str
    text: bytes
    columns: Columns

    def rows(self) -> Iterator[_Row]:
        """Yield the rows after the header that are not blank; raises `FormatError`."""
        rows = _rows_of(self.text)
        next(rows)
        return rows


def _rows_of(text: bytes) -> Iterator[_Row]:
    header = next((line for line in lines(text) if line.strip()), "").lstrip()
    reader = csv.reader(lines(text), delimiter=_delimiter(header))
    try:
        for cells in reader:
            if "".join(cells).strip():
                yield _Row(reader.line_num, cells)
    except csv.Error as error:
        raise FormatError(str(error), "well-formed CSV", at=reader.line_num) from error


def _tables(path: Path, mapping: dict[str, str]) -> tuple[list[_Table], str, tuple[str, ...]]:
    """Return the tables of an input, its SHA-256 and what was left out."""
    if not archive.is_archive(path):
        entries = archive.open_entries(path)
    else:
        entries = archive.open_entries(path, recognition.main_ending(path, ENDINGS))
    fingerprint, tables = Fingerprint(entries), []
    for entry, data in zip(entries.entries, entries.read_many(entries.entries), strict=True):
        fingerprint.add(entry, data)
        try:
            _refuse_not_utf8(data)
            header = next(_rows_of(data), None)
            if header is None:
                raise FormatError("no header", "a first line with the names of the columns", at=1)
            columns = columns_of([name.strip() for name in header.cells], mapping)
            tables.append(_Table(entries.place(entry), entry.image, data, columns))
        except FormatError as error:
            raise InputError(str(error.fault(entries.place(entry)))) from error
    return tables, fingerprint.hexdigest(), entries.warnings


def _refuse_not_utf8(data: bytes) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line, found, expected = not_utf8(error)
        raise FormatError(found, expected, at=line) from error


def _delimiter(header: str) -> str:
    return max(_DELIMITERS, key=header.count)


def _cell(table: _Table, row: _Row, what: str) -> str:
    place = table.columns.places.get(what)
    return "" if place is None or place >= len(row.cells) else row.cells[place].strip()


def _with_point(cell: str) -> str:
    """Return a number with a decimal point in the place of a decimal comma."""
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell


def _coordinates(table: _Table, row: _Row, dont_care: bool) -> list[float]:
    """The coordinates of a row's object; empty without any."""
    columns = table.columns
    cells = [
        _with_point(row.cells[place].strip()) if place < len(row.cells) else ""
        for place in columns.corners
    ]
    if not cells and "polygon" in columns.places:
        cells = [number for number in _BETWEEN.split(_cell(table, row, "polygon")) if number]
        return list(polygon([parse_number(number) for number in cells], dont_care)) if cells else []
    if not cells:
        cells = [_with_point(_cell(table, row, what)) for what in ("x0", "y0", "width", "height")]
        return list(box(*map(parse_number, cells))) if any(cells) else []
    if not any(cells):
        return []
    numbers = [parse_number(cell) for cell in cells]
    if len(numbers) == 4 and (numbers[2] < numbers[0] or numbers[3] < numbers[1]):
        raise FormatError(
            f"a box from ({cells[0]}, {cells[1]}) to ({cells[2]}, {cells[3]})",
            "x0 <= x1 and y0 <= y1",
        )
    return numbers


def _object(table: _Table, row: _Row, side: Side) -> CollectedObject | None:
    if len(row.cells) > table.columns.cells:
        found = f"{len(row.cells)} cells"
        raise FormatError(
            found, f"at most {table.columns.cells}, as the header has; put quotes around text"
        )
    text, flag = _cell(table, row, "text"), _cell(table, row, "dont_care").lower()
    if flag not in (*_YES, *_NO):
        raise FormatError(f"{quote(flag)} as don't care", "0 or 1, or true or false")
    dont_care = side == "gt" and (text == DONT_CARE or flag in _YES)
    coordinates = _coordinates(table, row, dont_care)
    confidence = _with_point(_cell(table, row, "confidence"))
    if not coordinates:
        return None
    return CollectedObject(
        coordinates,
        text,
        dont_care,
        confidence=parse_number(confidence) if confidence else None,
        at=row.line,
    )


@dataclass(slots=True)
class _Ranges:
    """The ranges of all coordinates and confidences; coordinates are whole
    until one has decimals.
    """

    coordinates: tuple[float, float] = (0.0, 0.0)
    confidences: tuple[float, float] = (0.0, 1.0)
    whole: bool = True

    def add(self, one: CollectedObject) -> None:
        """Widen the ranges by an object's."""
        low, high = self.coordinates
        self.coordinates = min(low, *one.coordinates), max(high, *one.coordinates)
        self.whole &= all(number == int(number) for number in one.coordinates)
        if one.confidence is not None:
            low, high = self.confidences
            self.confidences = min(low, one.confidence), max(high, one.confidence)

    @property
    def are_fractions(self) -> bool:
        """Whether all coordinates are in [0, 1], and one has decimals."""
        return not self.whole and self.coordinates[0] == 0 and self.coordinates[1] <= 1


class _RowImage(NamedTuple):
    """The image that a row names, what the row says of its size, and the row's object, if any."""

    image: CollectedImage
    size: dict[str, float]
    one: CollectedObject | None = None


def _images_of_rows(tables: list[_Table], side: Side, faults: FaultLog) -> Iterator[_RowImage]:
    for table in tables:
        named = "image" in table.columns.places
        of_size = [one for one in ("width", "height") if f"image_{one}" in table.columns.places]
        if not named:
            yield _RowImage(CollectedImage(table.image, table.place), {})
        for row in table.rows():
            name = _cell(table, row, "image") if named else table.image
            size: dict[str, float] = {}
            one = None
            try:
                for what in of_size:
                    cell = _cell(table, row, f"image_{what}")
                    if cell:
                        size[what] = parse_number(cell)
                one = _object(table, row, side)
            except FormatError as error:
                faults.add(table.place, row.line, error.found, error.expected)
            yield _RowImage(CollectedImage(name, table.place, row.line), size, one)


def _collect(tables: list[_Table], side: Side, faults: FaultLog) -> tuple[Images, list[str]]:
    """Return the images, and what the user should know about confidences and coordinates."""
    ranges, sizes = _Ranges(), dict[tuple[str, str], float]()
    for image, size, one in _images_of_rows(tables, side, FaultLog()):
        sizes |= {(image.name, what): value for what, value in size.items()}
        if one is not None:
            ranges.add(one)
    scale = scale_of(*ranges.confidences)
    images, most = Images(), _FEW_ROWS
    for image, _, one in _images_of_rows(tables, side, faults):
        known = [sizes.get((image.name, what), 0.0) for what in ("width", "height")]
        image.width, image.height = known
        image.in_fractions = ranges.are_fractions and not all(known)
        if one is not None:
            if one.confidence is not None:
                one.confidence /= scale.divisor
            if ranges.are_fractions and all(known):
                one.coordinates = [
                    number * known[k % 2] for k, number in enumerate(one.coordinates)
                ]
            image.add(one)
        images.append(image)
        if len(images) >= most:
            images.merge()
            most = 2 * len(images) + _FEW_ROWS
    images.merge()
    notes = [scale.warning()]
    if ranges.are_fractions:
        notes.append("all coordinates are in [0, 1]: they are read as fractions of the page")
    return images, [note for note in notes if note]


def index_by(columns: str | None) -> Indexer:
    """Return what indexes tables by a mapping of columns, or None."""

    def index(path: Path, side: Side, faults: FaultLog) -> Source:
        tables, sha256, left_out = _tables(path, {} if columns is None else column_mapping(columns))
        try:
            images, notes = _collect(tables, side, faults)
        except FormatError as error:
            raise InputError(str(error.fault(str(path)))) from error
        alone = next((table for table in tables if "image" not in table.columns.places), None)
        if alone is not None and len(tables) == 1:
            notes.append(
                "no column has a usual name of images, so all rows are of one image,"
                f" {quote(alone.image)}"
            )
        warnings = [f"{path.name}: {note}" for note in notes]
        if side == "gt" and not images and not faults.count:
            faults.add(str(path), None, "no image", "at least one in ground truth")
        images.refuse_bad_names(faults)
        return source(str(path), "table", sha256, images, (*left_out, *warnings))

    return index


def _header(path: Path) -> list[str]:
    """The names of columns of a file, or of the first of a folder or archive;
    none if it begins otherwise.
    """
    start = recognition.first_bytes(path, recognition.main_ending(path, ENDINGS))
    try:
        header = start.lstrip().partition(b"\n")[0].decode("utf-8")
        if header.startswith(("{", "[", "<")):  # JSON or XML in one line
            return []
        return [
            name.strip() for name in next(csv.reader([header], delimiter=_delimiter(header)), [])
        ]
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
    layout="image,x0,y0,x1,y1,text; or x,y,width,height; or polygon; or x1,y1,...,xn,yn; names"
    " mapped by --columns",
    sample='image,xmin,ymin,xmax,ymax,text\nimg_1,10,10,60,30,"word"\n',
    ending=ENDINGS[0],
    more_endings=ENDINGS[1:],
    fractions=True,
    option="columns",
    index_by=index_by,
)
