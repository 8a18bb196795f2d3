"""Where images and objects stand in their files; the text is looked at again, since readers keep no lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import Fault, FaultLog, FormatError, Position, Steps, quote
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.documents import document_files, safe_json
from evaltex_cli.formats.evaltex.lines import is_object_line
from evaltex_cli.formats.files import archive
from evaltex_cli.formats.files.text_lines import MAX_LINE_BYTES, numbered_lines
from evaltex_cli.formats.parsed import CollectedImage
from evaltex_cli.records import Objects
from evaltex_cli.runtime import input_files

_QUOTED = re.compile(r"'(.+?)(?:\.\.\.)?'")
_FIELD = re.compile(r"[^\s,]+")
_BEFORE_COORDINATES = {"ctw1500-offsets": 4}
"""Format -> how many other numbers a line begins with."""
_NOT_UTF8 = "\ufffd"


class ObjectText(NamedTuple):
    """Where an object stands, and its line where it has one."""

    at: Position
    line: str = ""


class ImagePlace(NamedTuple):
    """An image's file as messages name it, where its name stands, and its objects; none where not known."""

    file: str
    at: Position | None
    objects: list[ObjectText]


class ObjectPlace(NamedTuple):
    """An object's file as messages name it, where it stands in it, its image's name and its ID."""

    file: str
    at: Position | None
    image: str
    id: int


def of_images(source: Source, side: Side, positions: Sequence[int], with_objects: bool = True) -> dict[int, ImagePlace]:
    """Return where each of some images stands, by position; without lines in what is no text (.mat)."""
    wanted = np.array(positions, np.int64)
    found = {k: ImagePlace(source.path, None, []) for k in positions}
    if not positions:
        return found
    if source.collect is not None:
        return dict(zip(positions, _of_collected(source, source.collect(wanted), with_objects), strict=True))
    if source.texts is not None:
        of_image = _of_evaltex if source.format == "evaltex" else _of_file
        for k, (file, first, text) in zip(positions, source.texts(wanted), strict=True):
            lines = ((first + number, line) for number, line in numbered_lines(text))
            found[k] = of_image(file, lines, source.names[k], side if with_objects else None)
    return found


def log_names(source: Source, side: Side, unfit: Mapping[str, tuple[str, str]], faults: FaultLog) -> None:
    """Record the images with these names, each with its line; `unfit` has what is wrong and what is expected."""
    positions = [k for k, name in enumerate(source.names) if name in unfit]
    for k, place in of_images(source, side, positions, with_objects=False).items():
        wrong, expected = unfit[source.names[k]]
        line = None if place.at is None else place.at.line
        faults.add(place.file, line, f"image name {quote(source.names[k])} {wrong}", expected)


def _of_file(file: str, lines: Iterator[tuple[int, str]], name: str, side: Side | None) -> ImagePlace:
    if side is None:
        return ImagePlace(file, None, [])
    return ImagePlace(file, None, [ObjectText(Position(number), line) for number, line in lines if line.strip()])


def _of_evaltex(file: str, lines: Iterator[tuple[int, str]], name: str, side: Side | None) -> ImagePlace:
    head = next(number for number, line in lines if line.strip().startswith(name))  # a name too long is kept in part
    if side is None:
        return ImagePlace(file, Position(head, 1), [])
    texts = [ObjectText(Position(number), line) for number, line in lines if is_object_line(line.strip(), side)]
    return ImagePlace(file, Position(head, 1), texts)


def _of_collected(source: Source, images: Sequence[CollectedImage], with_objects: bool) -> Iterator[ImagePlace]:
    objects_of = [image.objects if with_objects else [] for image in images]
    ways = [
        (image.place, at)
        for image, objects in zip(images, objects_of, strict=True)
        for at in [image.at, *(one.at for one in objects)]
        if at
    ]
    in_json = _in_json(source.path, ways)

    def position(file: str, at: Position | Steps) -> Position | None:
        return at if isinstance(at, Position) else in_json.get((file, at))

    for image, objects in zip(images, objects_of, strict=True):
        found = [position(image.place, one.at) for one in objects]
        texts = [ObjectText(at) for at in found if at is not None]
        yield ImagePlace(image.place, position(image.place, image.at), texts)


def _in_json(path: str, wanted: Iterable[tuple[str, Position | Steps]]) -> dict[tuple[str, Steps], Position]:
    """Return where values of JSON documents begin, by file and the way there; nothing of other files."""
    by_file: dict[str, set[Steps]] = {}
    for file, at in wanted:
        if not isinstance(at, Position):
            by_file.setdefault(file, set()).add(at)
    found = {}
    for file, ways in by_file.items():
        data = document_files.json_text(Path(path), file)
        if data is not None:
            found.update({(file, way): at for way, at in safe_json.positions(data, ways).items()})
    return found


def of_objects(
    source: Source,
    side: Side,
    positions: Sequence[int],
    objects: Objects,
    found: Iterable[tuple[int, int]],
    faulty: Collection[tuple[str, int | None]] = (),
) -> Iterator[ObjectPlace]:
    """Yield where each of some objects stands.

    Parameters
    ----------
    positions : sequence of int
        Of the images that `objects` holds, in `source`.
    found : iterable of (int, int)
        Row of `objects`, and which of its coordinates x0, y0, x1, y1 or x1, y1, x2, y2, ... is meant.
    faulty : collection of (str, int)
        Files and lines that are of no object.
    """
    wanted = list(found)
    images = (np.searchsorted(objects.offsets, [row for row, _ in wanted], side="right") - 1).tolist()
    places = of_images(source, side, [positions[k] for k in dict.fromkeys(images)])
    for k in dict.fromkeys(images):
        file, at, texts = places[positions[k]]
        if len(texts) != objects.offsets[k + 1] - objects.offsets[k]:
            texts = [text for text in texts if (file, text.at.line) not in faulty]
        places[positions[k]] = ImagePlace(file, at, texts)
    for (row, coordinate), k in zip(wanted, images, strict=True):
        start, stop = objects.offsets[k : k + 2].tolist()
        file, _, texts = places[positions[k]]
        at = None
        if len(texts) == stop - start:
            at, line = texts[row - start]
            if line:
                at = Position(at.line, _coordinate_column(line, source.format, _coordinates(objects, row), coordinate))
        yield ObjectPlace(file, at, source.names[positions[k]], int(objects.ids[row]))


def _coordinates(objects: Objects, row: int) -> int:
    """Return how many numbers an object's coordinates are."""
    return objects.outlines.ring(row).size or 4


def _coordinate_column(line: str, format_name: str, count: int, coordinate: int) -> int:
    """Return the column of one of the `count` coordinates in an object's line: the last fields of EvaLTex's lines."""
    if format_name == "evaltex":
        before, field, *_ = line.rsplit(",", count - coordinate)
        return len(before) + 2 + len(field) - len(field.lstrip())
    starts = [field.start() for field in _FIELD.finditer(line)]
    return starts[min(_BEFORE_COORDINATES.get(format_name, 0) + coordinate, len(starts) - 1)] + 1


def refused(
    source: Source, side: Side, positions: Sequence[int], objects: Objects, found: Mapping[int, str]
) -> Iterator[Fault]:
    """Yield a fault for each object that is refused; `found` says why, by row."""
    places = of_objects(source, side, positions, objects, ((row, 0) for row in found))
    for place, what in zip(places, found.values(), strict=True):
        told = f"image {quote(place.image)}, object {place.id}: {what}"
        expected = "a valid polygon; mend it, or have it repaired or dropped"
        line, column = place.at or (None, None)
        yield Fault(place.file, line, told, expected, column)


def of_faults(source: Source, faults: Sequence[Fault]) -> list[Position | None]:
    """Return where each fault is: the value in JSON, the element in XML, the field in a line where it is plain."""
    in_json = _in_json(source.path, ((fault.file, fault.where) for fault in faults if fault.where))
    unplaced: dict[str, set[int]] = {}
    for fault in faults:
        if fault.line is not None and fault.column is None:
            unplaced.setdefault(fault.file, set()).add(fault.line)
    lines = _lines(source, unplaced)
    found = []
    for fault in faults:
        at = in_json.get((fault.file, fault.where)) if fault.line is None else Position(fault.line, fault.column)
        if at is not None and at.column is None:
            line = lines.get((fault.file, at.line))
            at = Position(at.line, None if line is None else _column(fault.found, line))
        found.append(at)
    return found


def of_format_error(path: str, file: str, cause: BaseException | None) -> Position | None:
    """Return where the fault is that made a document impossible to read; None where it is of no place."""
    if not isinstance(cause, FormatError):
        return None
    return cause.at or _in_json(path, [(file, cause.where)] if cause.where else []).get((file, cause.where))


def _lines(source: Source, wanted: Mapping[str, Collection[int]]) -> dict[tuple[str, int], str]:
    """Return some lines, by file and number, each cut at `MAX_LINE_BYTES`."""
    if not wanted:
        return {}
    path = Path(source.path)
    found: dict[tuple[str, int], str] = {}
    for file, data in _texts(path, wanted):
        lines = enumerate(BytesIO(data), 1)
        texts = ((k, line[:MAX_LINE_BYTES].decode("utf-8", "replace")) for k, line in lines if k in wanted[file])
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
    """Return the column of the field that a fault quotes, where there is one such field; else of the line's text."""
    start = len(line) - len(line.lstrip()) + 1
    if _NOT_UTF8 in line:
        return line.index(_NOT_UTF8) + 1
    quoted = _QUOTED.search(found)
    if quoted is None or not quoted[1].strip():
        return start
    field = re.compile(rf"(?<![^,\s]){re.escape(quoted[1].strip())}(?![^,\s])")
    starts = [match.start() for match in field.finditer(line)]
    return starts[0] + 1 if len(starts) == 1 else start
