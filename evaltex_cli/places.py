"""Where images and objects stand in their files; the text is looked at again, since readers keep no lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import Fault, quote
from evaltex_cli.formats import archive
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.evaltex_lines import is_object_line
from evaltex_cli.records import Objects

_QUOTED = re.compile(r"'(.+?)(?:\.\.\.)?'")


class ImagePlace(NamedTuple):
    """An image's file as messages name it, the line of its name, and those of its objects; none where not known."""

    file: str
    line: int | None
    object_lines: list[int]


class ObjectPlace(NamedTuple):
    """An object's file as messages name it, its line, its image's name and its ID."""

    file: str
    line: int | None
    image: str
    id: int


def of_images(source: Source, side: Side, names: Iterable[str]) -> dict[str, ImagePlace]:
    """Return where each of some images stands; no lines in formats without one line an object."""
    wanted = set(names)
    path = Path(source.path)
    found = {name: ImagePlace(source.path, None, []) for name in wanted}
    if not wanted:
        return found
    if archive.is_archive(path):
        entries = archive.open_entries(path)
        chosen = [entry for entry in entries.entries if entry.image in wanted]
        for entry, data in zip(chosen, entries.read_many(chosen), strict=True):
            lines = [number for number, line in enumerate(_lines(data), 1) if line.strip()]
            found[entry.image] = ImagePlace(entries.place(entry), None, lines)
    elif source.format == "evaltex" and path.is_file():
        _find_in_text(source, side, found)
    return found


def _find_in_text(source: Source, side: Side, found: dict[str, ImagePlace]) -> None:
    every = set(source.names)
    lines: list[int] = []
    with Path(source.path).open("rb") as file:
        for number, data in enumerate(file, 1):
            line = data.decode("utf-8", "replace").removeprefix("\ufeff").strip()
            if line in every:
                lines = []
                if line in found:
                    found[line] = ImagePlace(source.path, number, lines)
            elif is_object_line(line, side):
                lines.append(number)


def of_objects(
    source: Source, side: Side, names: Sequence[str], objects: Objects, indices: Iterable[int]
) -> Iterator[ObjectPlace]:
    """Yield where each of some objects stands.

    Parameters
    ----------
    names : sequence of str
        The images that `objects` holds.
    indices : iterable of int
        Rows of `objects`.
    """
    rows = list(indices)
    images = (np.searchsorted(objects.offsets, rows, side="right") - 1).tolist()
    places = of_images(source, side, {names[k] for k in images})
    for row, k in zip(rows, images, strict=True):
        start, stop = objects.offsets[k : k + 2].tolist()
        file, _, lines = places[names[k]]
        line = lines[row - start] if len(lines) == stop - start else None
        yield ObjectPlace(file, line, names[k], int(objects.ids[row]))


def refused(
    source: Source, side: Side, names: Sequence[str], objects: Objects, found: Mapping[int, str]
) -> Iterator[Fault]:
    """Yield a fault for each object that is refused; `found` says why, by row."""
    for place, what in zip(of_objects(source, side, names, objects, found), found.values(), strict=True):
        told = f"image {quote(place.image)}, object {place.id}: {what}"
        yield Fault(place.file, place.line, told, "a valid polygon; mend it, or have it repaired or dropped")


def columns(source: Source, faults: Sequence[Fault]) -> list[int | None]:
    """Return for each fault the column, from 1, of the field that it quotes; None where that is not plain."""
    texts = _texts(source, {fault.file for fault in faults if fault.line is not None})
    return [_column(fault, texts.get(fault.file, [])) for fault in faults]


def _texts(source: Source, files: set[str]) -> dict[str, list[str]]:
    path = Path(source.path)
    if archive.is_archive(path):
        entries = archive.open_entries(path)
        chosen = [entry for entry in entries.entries if entries.place(entry) in files]
        return {
            entries.place(entry): _lines(data) for entry, data in zip(chosen, entries.read_many(chosen), strict=True)
        }
    return {source.path: _lines(path.read_bytes())} if source.path in files else {}


def _lines(data: bytes) -> list[str]:
    return [line.lstrip("\ufeff") for line in data.decode("utf-8", "replace").split("\n")]


def _column(fault: Fault, lines: Sequence[str]) -> int | None:
    quoted = _QUOTED.search(fault.found)
    if fault.line is None or quoted is None or not fault.line <= len(lines):
        return None
    line, text = lines[fault.line - 1], quoted[1]
    field = re.compile(rf"(?<![^,\s]){re.escape(text)}(?![^,\s])")
    places = [match.start() for match in field.finditer(line)]
    return places[0] + 1 if len(places) == 1 and text != line.strip() else None
