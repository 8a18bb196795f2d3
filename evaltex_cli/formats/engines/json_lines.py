"""Text files with one image in each line and its objects as JSON: PaddleOCR's
label files and MMOCR 0.x.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import Raw

from evaltex_cli.errors import FaultLog, FormatError, Position, Steps, counted
from evaltex_cli.formats.base import Indexer, Side, Source
from evaltex_cli.formats.collected import Images, source
from evaltex_cli.formats.documents import document_files, json_scan, recognition
from evaltex_cli.formats.documents.safe_json import Item
from evaltex_cli.formats.files import archive
from evaltex_cli.formats.files.fingerprint import Fingerprint
from evaltex_cli.formats.files.image_names import names_of_pictures
from evaltex_cli.formats.files.row_files import FEW_FILES
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject

ENDINGS = (".txt", ".jsonl")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class LineFormat:
    """What differs between the formats."""

    begins: Callable[[bytes], bool]
    """``begins(data)`` says by its first bytes whether a file is of the format."""
    open: Callable[[bytes, CollectedImage], tuple[Sequence[Item], Steps]]
    """``open(line, image)`` gives an image its name and size; returns the list of its objects, and
    what leads to it in the line. Raises `FormatError`."""
    collect: Callable[[Item, Side, Position], CollectedObject]
    """``collect(item, side, at)`` returns an object; raises `FormatError`."""


def recognises(path: Path, form: LineFormat) -> bool:
    """Whether a file is of the format, or one of those of a folder or archive of few text files."""
    if not archive.is_archive(path):
        return form.begins(recognition.head(path))
    ending = _ending(path)
    if ending is None or recognition.endings(path)[ending] > FEW_FILES:
        return False
    entries = archive.open_entries(path, ending)
    return any(form.begins(data.removeprefix(_BOM)) for data in entries.read_many(entries.entries))


def index_lines(name: str, form: LineFormat) -> Indexer:
    """Return what indexes such files: one file, bare or packed by gzip, or those of a folder or
    archive.

    Files of a folder or archive that do not begin as the format does are left out with a warning.
    `InputError` is raised when the input cannot be read.
    """

    def index(path: Path, side: Side, faults: FaultLog) -> Source:
        texts, sha256, warnings = _texts(path, form)
        images = Images(
            image for place, data in texts for image in _images(data, place, form, side, faults)
        )
        if side == "gt" and not images and not faults.count:
            faults.add(str(path), None, "no image", "at least one in ground truth")
        images.rename(names_of_pictures(images.names))
        images.refuse_bad_names(faults)
        return source(str(path), name, sha256, images, warnings)

    return index


def _images(
    data: bytes, place: str, form: LineFormat, side: Side, faults: FaultLog
) -> Iterator[CollectedImage]:
    for number, line in enumerate(io.BytesIO(data.removeprefix(_BOM)), 1):
        if not line.strip():
            continue
        image = CollectedImage("", place, Position(number, 1))
        try:
            items, where = form.open(line.rstrip(), image)
        except FormatError as error:
            column = error.at and error.at.column
            faults.add(place, number, error.found, error.expected, column or 1, error.where)
            continue
        for k, (item, column) in enumerate(_with_columns(line, items)):
            try:
                image.add(form.collect(item, side, Position(number, column)))
            except FormatError as error:
                at = column and column + _column_inside(item, error.where)
                faults.add(
                    place, number, error.found, error.expected, at, (*where, k, *error.where)
                )
        yield image


def _with_columns(line: bytes, items: Sequence[Item]) -> Iterator[tuple[Item, int | None]]:
    """Yield the items of a line with their columns, from 1; None for what
    only Python's parser reads.
    """
    start, column = 0, 1
    for item in items:
        if not isinstance(item, Raw):
            yield item, None
            continue
        begin = line.find(bytes(item), start)
        column += len(line[start:begin].decode("utf-8", "replace"))
        yield item, column
        start = begin


def _column_inside(item: Item, where: Steps) -> int:
    """Return how many characters of an item are before the value that these steps lead to."""
    return (json_scan.positions(bytes(item), [where])[where].column or 1) - 1


def _texts(path: Path, form: LineFormat) -> tuple[list[tuple[str, bytes]], str, tuple[str, ...]]:
    """Return the places and contents of an input's files, its SHA-256, and warnings."""
    if not archive.is_archive(path):
        packed = document_files.read_file(path)
        return (
            [(str(path), document_files.unpacked(path, packed))],
            hashlib.sha256(packed).hexdigest(),
            (),
        )
    ending = _ending(path) or ENDINGS[0]
    entries = archive.open_entries(path, ending)
    fingerprint = Fingerprint(entries)
    texts, others = [], 0
    for entry, data in zip(entries.entries, entries.read_many(entries.entries), strict=True):
        fingerprint.add(entry, data)
        if form.begins(data.removeprefix(_BOM)):
            texts.append((entries.place(entry), data))
        else:
            others += 1
    left_out = counted(
        others, f"{path}: {{count}} {ending} file[s] of another format [was|were] left out"
    )
    return texts, fingerprint.hexdigest(), (*entries.warnings, *([left_out] if others else []))


def _ending(path: Path) -> str | None:
    return next((ending for ending in ENDINGS if recognition.endings(path)[ending]), None)
