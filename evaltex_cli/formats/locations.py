"""Where images and objects are in their files; columns are found by reading the one line again."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import Fault, FaultLog, FormatError, Position, Steps, quote
from evaltex_cli.formats.base import Content, Place, Source
from evaltex_cli.formats.documents import document_files, json_scan
from evaltex_cli.formats.files import archive
from evaltex_cli.formats.files.text_lines import MAX_LINE_BYTES
from evaltex_cli.records import Objects
from evaltex_cli.runtime import input_files

_QUOTED = re.compile(r"'(.+?)(?:\.\.\.)?'")
_FIELD = re.compile(r"[^\s,]+")
_BEFORE_COORDINATES = {"ctw1500-offsets": 4}
"""Format -> how many other numbers a line begins with."""
_NOT_UTF8 = "\ufffd"


class ImagePlace(NamedTuple):
    """An image's file as messages name it, and where its name is; None where that is not known."""

    file: str
    at: Position | None


class ObjectPlace(NamedTuple):
    """An object's file as messages name it, where it is in it, its image's name and its ID."""

    file: str
    at: Position | None
    image: str
    id: int


def of_images(source: Source, positions: Sequence[int]) -> dict[int, ImagePlace]:
    """Return where each of some images is, by position; without lines in what is no text (.mat)."""
    places = list(source.content.part(np.array(positions, np.int64)).places()) if positions else []
    in_json = _in_json(source.path, ((place.file, place.at) for place in places if place.at))
    return {
        k: ImagePlace(place.file, _position(place.file, place.at, in_json))
        for k, place in zip(positions, places, strict=True)
    }


def log_names(source: Source, unfit: Mapping[str, tuple[str, str]], faults: FaultLog) -> None:
    """Record the images with these names, each with its line; `unfit` has
    what is wrong and what is expected.
    """
    positions = [k for k, name in enumerate(source.names) if name in unfit]
    for k, place in of_images(source, positions).items():
        wrong, expected = unfit[source.names[k]]
        line = None if place.at is None else place.at.line
        faults.add(place.file, line, f"image name {quote(source.names[k])} {wrong}", expected)


def _position(
    file: str, at: Position | Steps, in_json: Mapping[tuple[str, Steps], Position]
) -> Position | None:
    return at if isinstance(at, Position) else in_json.get((file, at))


def _in_json(
    path: str, wanted: Iterable[tuple[str, Position | Steps]]
) -> dict[tuple[str, Steps], Position]:
    """Return where values of JSON documents begin, by file and the way there;
    nothing of other files.
    """
    by_file: dict[str, set[Steps]] = {}
    for file, at in wanted:
        if not isinstance(at, Position) and at:
            by_file.setdefault(file, set()).add(at)
    places = {}
    for file, ways in by_file.items():
        data = document_files.json_text(Path(path), file)
        if data is not None:
            places.update({(file, way): at for way, at in json_scan.positions(data, ways).items()})
    return places


def of_objects(
    source: Source, positions: Sequence[int], objects: Objects, found: Iterable[tuple[int, int]]
) -> Iterator[ObjectPlace]:
    """Yield where each of some objects is.

    Parameters
    ----------
    positions : sequence of int
        Of the images that `objects` holds, in `source`.
    found : iterable of (int, int)
        Row of `objects`, and which of its coordinates x0, y0, x1, y1 or x1, y1, x2, y2, ... is
        meant.
    """
    wanted = list(found)
    images = (
        np.searchsorted(objects.offsets, [row for row, _ in wanted], side="right") - 1
    ).tolist()
    chosen = {k: position for position, k in enumerate(dict.fromkeys(images))}
    content = source.content.part(np.array([positions[k] for k in chosen], np.int64))
    places = list(content.places())
    where = [
        (places[chosen[k]].file, _object_at(places[chosen[k]], objects, k, row))
        for (row, _), k in zip(wanted, images, strict=True)
    ]
    in_json = _in_json(source.path, where)
    lines = _object_lines(
        content, [(chosen[k], at) for k, (_, at) in zip(images, where, strict=True)]
    )
    for (row, coordinate), k, (file, at) in zip(wanted, images, where, strict=True):
        position = _position(file, at, in_json)
        line = position and lines.get((chosen[k], position.line))
        if position and line:
            count = objects.outlines.ring(row).size or 4
            position = Position(
                position.line, _coordinate_column(line, source.format, count, coordinate)
            )
        yield ObjectPlace(file, position, source.names[positions[k]], int(objects.ids[row]))


def _object_at(place: Place, objects: Objects, image: int, row: int) -> Position | Steps:
    """Where an object is, as far as its line or the places of all objects of its image show."""
    if objects.line is not None:
        return Position(int(objects.line[row]))
    start, stop = objects.offsets[image : image + 2].tolist()
    return place.objects[row - start] if len(place.objects) == stop - start else ()


def _object_lines(
    content: Content, wanted: Iterable[tuple[int, Position | Steps]]
) -> dict[tuple[int, int], str]:
    """Return some lines of the texts of images, by image and number."""
    numbers: dict[int, set[int]] = {}
    for image, at in wanted:
        if isinstance(at, Position):
            numbers.setdefault(image, set()).add(at.line)
    lines = {}
    for image, (_, first, text, _) in enumerate(content.texts()):
        for number, line in enumerate(BytesIO(text), first):
            if number in numbers.get(image, ()):
                lines[image, number] = (
                    line.decode("utf-8", "replace").lstrip("\ufeff").rstrip("\r\n")
                )
    return lines


def _coordinate_column(line: str, format_name: str, count: int, coordinate: int) -> int:
    """Return the column of one of the `count` coordinates in an object's
    line: the last fields of EvaLTex's lines.
    """
    if format_name == "evaltex":
        before, field, *_ = line.rsplit(",", count - coordinate)
        return len(before) + 2 + len(field) - len(field.lstrip())
    starts = [field.start() for field in _FIELD.finditer(line)]
    return starts[min(_BEFORE_COORDINATES.get(format_name, 0) + coordinate, len(starts) - 1)] + 1


def refused(
    source: Source, positions: Sequence[int], objects: Objects, found: Mapping[int, str]
) -> Iterator[Fault]:
    """Yield a fault for each object that is refused; `found` says why, by row."""
    places = of_objects(source, positions, objects, ((row, 0) for row in found))
    for place, what in zip(places, found.values(), strict=True):
        text = f"image {quote(place.image)}, object {place.id}: {what}"
        expected = "a valid polygon; correct it, or have it repaired or dropped"
        line, column = place.at or (None, None)
        yield Fault(place.file, line, text, expected, column)


def of_faults(source: Source, faults: Sequence[Fault]) -> list[Position | None]:
    """Return where each fault is: the value in JSON, the element in XML, the
    field in a line where it is plain.
    """
    in_json = _in_json(source.path, ((fault.file, fault.where) for fault in faults if fault.where))
    unplaced: dict[str, set[int]] = {}
    for fault in faults:
        if fault.line is not None and fault.column is None:
            unplaced.setdefault(fault.file, set()).add(fault.line)
    lines = _lines(source, unplaced)
    places = []
    for fault in faults:
        at = (
            in_json.get((fault.file, fault.where))
            if fault.line is None
            else Position(fault.line, fault.column)
        )
        if at is not None and at.column is None:
            line = lines.get((fault.file, at.line))
            at = Position(at.line, None if line is None else _column(fault.found, line))
        places.append(at)
    return places


def of_format_error(path: str, file: str, cause: BaseException | None) -> Position | None:
    """Return where the fault is that made a document impossible to read; None
    where it is of no place.
    """
    if not isinstance(cause, FormatError):
        return None
    return cause.at or _in_json(path, [(file, cause.where)] if cause.where else []).get(
        (file, cause.where)
    )


def _lines(source: Source, wanted: Mapping[str, Collection[int]]) -> dict[tuple[str, int], str]:
    """Return some lines, by file and number, each cut at `MAX_LINE_BYTES`."""
    if not wanted:
        return {}
    path = Path(source.path)
    found: dict[tuple[str, int], str] = {}
    for file, data in _texts(path, wanted):
        lines = enumerate(BytesIO(data), 1)
        texts = (
            (k, line[:MAX_LINE_BYTES].decode("utf-8", "replace"))
            for k, line in lines
            if k in wanted[file]
        )
        found |= {(file, k): text.lstrip("\ufeff").rstrip("\r\n") for k, text in texts}
    return found


def _texts(path: Path, files: Collection[str]) -> Iterator[tuple[str, bytes]]:
    if archive.is_archive(path):
        entries = archive.open_entries(path, Path(next(iter(files))).suffix.lower())
        chosen = [entry for entry in entries.entries if entries.place(entry) in files]
        yield from zip(map(entries.place, chosen), entries.read_many(chosen), strict=True)
        return
    for file in input_files.files_of(path):
        if str(file) in files:
            yield str(file), input_files.unpacked(file).read_bytes()


def _column(found: str, line: str) -> int:
    """Return the column of the field that a fault quotes, where there is one
    such field; else of the line's text.
    """
    start = len(line) - len(line.lstrip()) + 1
    if _NOT_UTF8 in line:
        return line.index(_NOT_UTF8) + 1
    quoted = _QUOTED.search(found)
    if quoted is None or not quoted[1].strip():
        return start
    field = re.compile(rf"(?<![^,\s]){re.escape(quoted[1].strip())}(?![^,\s])")
    starts = [match.start() for match in field.finditer(line)]
    return starts[0] + 1 if len(starts) == 1 else start
