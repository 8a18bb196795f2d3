"""The CSV of the VGG Image Annotator (VIA), versions 1 and 2: one region a row, shapes and attributes as JSON.

The columns are found by the header: ``filename``, ``region_shape_attributes``, ``region_attributes``. A file without
regions has one row whose shape is empty.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from evaltex_cli.errors import FaultLog, FormatError, InputError, Position, not_utf8, quote
from evaltex_cli.formats.base import Format, Side, Source
from evaltex_cli.formats.documents import document_files, safe_json, via
from evaltex_cli.formats.documents.annotation_tools import Others
from evaltex_cli.formats.parsed import CollectedImage, refuse_bad_names, source

_COLUMNS = ("filename", "region_shape_attributes", "region_attributes")
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
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    places: list[int] = []
    try:
        for fields in reader:
            if not places:
                header = [name.strip().removeprefix("#") for name in fields]
                missing = [name for name in _COLUMNS if name not in header]
                if missing:
                    raise FormatError(f"no column {quote(missing[0])}", ", ".join(_COLUMNS), at=Position(1))
                places = [header.index(name) for name in _COLUMNS]
            elif fields:
                if len(fields) <= max(places):
                    raise FormatError(
                        f"{len(fields)} fields", "as many as the header has", at=Position(reader.line_num)
                    )
                yield _Row(reader.line_num, *(fields[place] for place in places))
            if reader.line_num > MOST_ROWS:
                raise FormatError(f"more than {MOST_ROWS} rows", "the annotations of images")
    except csv.Error as error:
        raise FormatError(str(error), "well-formed CSV", at=Position(reader.line_num)) from error


def _collect(data: bytes, place: str, side: Side, faults: FaultLog) -> tuple[list[CollectedImage], tuple[str, ...]]:
    images: dict[str, CollectedImage] = {}
    others = Others()
    for row in _rows(data):
        at = Position(row.line)
        image = images.setdefault(row.file, CollectedImage(row.file, place, at))
        try:
            shape, attributes = _json(row.shape), _json(row.attributes)
            if shape:
                via.add(image, safe_json.take(shape, via.Shape), attributes, (side, others, at))
        except FormatError as error:
            error.at = at
            error.where = ()
            error.log(faults, place)
    listed = list(images.values())
    via.name_by_file(listed)
    return listed, others.warnings(place)


def _json(text: str) -> dict[str, Any]:
    value = safe_json.plain(safe_json.parse(text.encode())) if text.strip() else {}
    if not isinstance(value, dict):
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
    refuse_bad_names(images, faults)
    return source(str(path), "via-csv", digest, images, warnings)


def recognises(path: Path) -> bool:
    """Whether a path holds CSV whose header has VIA's columns."""
    header = document_files.first_bytes(path, ".csv").partition(b"\n")[0]
    return all(name.encode() in header for name in _COLUMNS)


FORMAT = Format(
    "via-csv",
    "VGG Image Annotator (VIA) 1 and 2: CSV",
    recognises,
    _index,
    recognised_by="a header with filename, region_shape_attributes and region_attributes",
    layout="filename,file_size,file_attributes,region_count,region_id,region_shape_attributes,region_attributes",
    sample="filename,file_size,file_attributes,region_count,region_id,region_shape_attributes,region_attributes\n"
    'img_1.jpg,1234,"{}",1,0,"{""name"":""rect"",""x"":10,""y"":10,""width"":50,""height"":20}","{""text"":""word""}"\n',
    ending=".csv",
)
