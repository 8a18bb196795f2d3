"""The CSV of the VGG Image Annotator (VIA), versions 1 to 3: one region a row, shapes and
attributes as JSON.

The columns are found by the header: ``filename``, ``region_shape_attributes``,
``region_attributes``. A file without regions has one row whose shape is empty. Version 3 has the
header and the names of attributes in lines that begin with ``#``, and ``file_list``,
``spatial_coordinates`` and ``metadata`` in the place of these columns.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from evaltex_cli.errors import FaultLog, FormatError, InputError, Position, not_utf8, quote
from evaltex_cli.formats.base import Format, Side, Source
from evaltex_cli.formats.collected import Images, source
from evaltex_cli.formats.documents import document_files, recognition, safe_json, via
from evaltex_cli.formats.documents.annotation_tools import Others
from evaltex_cli.formats.documents.document_files import Collected
from evaltex_cli.formats.documents.safe_json import Number
from evaltex_cli.formats.files.image_names import names_of_pictures
from evaltex_cli.formats.files.text_lines import lines
from evaltex_cli.formats.parsed import CollectedImage

_COLUMNS = ("filename", "region_shape_attributes", "region_attributes")
_COLUMNS_3 = ("file_list", "spatial_coordinates", "metadata")
_HEADER_3 = b"# CSV_HEADER = metadata_id,"
_COMMENT_3 = re.compile(r"^#.*$", re.MULTILINE)
_ATTRIBUTES_3 = re.compile(r"#[ \t]*ATTRIBUTES?[ \t]*=[ \t]*(\{.*\})[ \t\r]*", re.MULTILINE)
MOST_ROWS = 5_000_000
"""Of a file: a row takes several hundred bytes when it is read."""


class _Row(NamedTuple):
    line: int
    file: str
    shape: str
    attributes: str


def _rows(data: bytes) -> Iterator[_Row]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, found, expected = not_utf8(error)
        raise FormatError(found, expected, at=Position(line)) from error
    wanted = _COLUMNS_3 if _HEADER_3 in data else _COLUMNS
    if wanted is _COLUMNS_3:
        text = _COMMENT_3.sub("", text.replace("# CSV_HEADER = ", "", 1))
    reader = csv.reader(lines(text.encode()), strict=True)
    places: list[int] = []
    try:
        for fields in reader:
            if not places and fields:
                header = [name.strip().removeprefix("#") for name in fields]
                missing = [name for name in wanted if name not in header]
                if missing:
                    raise FormatError(
                        f"no column {quote(missing[0])}", ", ".join(wanted), at=Position(1)
                    )
                places = [header.index(name) for name in wanted]
            elif fields:
                if len(fields) <= max(places):
                    raise FormatError(
                        f"{len(fields)} fields",
                        "as many as the header has",
                        at=Position(reader.line_num),
                    )
                yield _Row(reader.line_num, *(fields[place] for place in places))
            if reader.line_num > MOST_ROWS:
                raise FormatError(f"more than {MOST_ROWS} rows", "the annotations of images")
    except csv.Error as error:
        raise FormatError(str(error), "well-formed CSV", at=Position(reader.line_num)) from error


def _collect(data: bytes, place: str, side: Side, faults: FaultLog) -> Collected:
    images = Images()
    others = Others()
    names = _attributes_3(data) if _HEADER_3 in data else None
    for row in _rows(data):
        try:
            file = row.file if names is None else next(iter(_list(row.file, str)), "")
        except FormatError as error:
            _log(error, row, place, faults)
            continue
        image = CollectedImage(file, place, Position(row.line))
        try:
            region = _region(row, names)
            if region:
                via.add(image, *region, (side, others, image.at))
        except FormatError as error:
            _log(error, row, place, faults)
        images.append(image)
    images.merge()
    images.rename(names_of_pictures(images.names))
    return images, others.warnings(place)


def _attributes_3(data: bytes) -> dict[str, str]:
    """Return the names of attributes by their IDs, of version 3."""
    found = _ATTRIBUTES_3.search(data.decode("utf-8-sig", "replace"))
    with suppress(FormatError):
        listed = _json(found[1]) if found else {}
        return {
            key: str(one.get("aname", "") if safe_json.is_object(one) else one)
            for key, one in listed.items()
        }
    return {}


def _region(row: _Row, names: dict[str, str] | None) -> tuple[via.Shape, dict[str, Any]] | None:
    """Return a row's shape and attributes; None if it has no shape. `names` are those of attributes
    by their IDs, of version 3.
    """
    if names is None:
        shape, attributes = _json(row.shape), _json(row.attributes)
        return (safe_json.take(shape, via.Shape), attributes) if shape else None
    values = _list(row.shape, Number)
    if not values:
        return None
    attributes = {names.get(key, key): value for key, value in _json(row.attributes).items()}
    return via.shape_3(values), attributes


def _log(error: FormatError, row: _Row, place: str, faults: FaultLog) -> None:
    error.at, error.where = Position(row.line), ()
    error.log(faults, place)


def _list(text: str, kind: Any) -> list[Any]:
    value = safe_json.parse(text.encode()) if text.strip() else []
    if not safe_json.is_list(value):
        raise FormatError(safe_json.shown(value), "a list [...]")
    return [safe_json.take(item, kind) for item in value]


def _json(text: str) -> dict[str, Any]:
    value = safe_json.plain(safe_json.parse(text.encode())) if text.strip() else {}
    if not safe_json.is_object(value):
        raise FormatError(safe_json.shown(value), "an object {...}")
    return {key: safe_json.plain(item) for key, item in value.items()}


def _index(path: Path, side: Side, faults: FaultLog) -> Source:
    place, data, digest = document_files.only_document(path, ".csv")
    try:
        images, warnings = _collect(data, place, side, faults)
    except FormatError as error:
        raise InputError(str(error.fault(place))) from error
    if side == "gt" and not images:
        faults.add(place, None, "no image", "at least one in ground truth")
    images.refuse_bad_names(faults)
    return source(str(path), "via-csv", digest, images, warnings)


def recognises(path: Path) -> bool:
    """Whether a path holds CSV whose header has VIA's columns."""
    start = recognition.first_bytes(path, ".csv").lstrip()
    header = start.partition(b"\n")[0]
    if start.startswith(b"#") and _HEADER_3 in start:
        return True
    return all(name.encode() in header for name in _COLUMNS)


FORMAT = Format(
    "via-csv",
    "VGG Image Annotator (VIA) 1 to 3: CSV",
    recognises,
    _index,
    recognised_by="a header with filename, region_shape_attributes and region_attributes, or a line"
    " # CSV_HEADER",
    layout="filename,file_size,file_attributes,region_count,region_id,region_shape_attributes,region_attributes",
    sample="filename,file_size,file_attributes,region_count,region_id,region_shape_attributes,region_attributes\n"
    'img_1.jpg,1234,"{}",1,0,"{""name"":""rect"",""x"":10,""y"":10,""width"":50,""height"":20}","{""text"":""word""}"\n',
    ending=".csv",
)
