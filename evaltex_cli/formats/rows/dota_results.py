"""DOTA's results: ``image confidence x1 y1 ... x4 y4``, one object in each line, one file for each
class.

A file is called ``Task1_class.txt``; ``Task2_class.txt`` has two corners in the place of the
vertices. So have Pascal VOC's results, ``comp3_det_test_class.txt``. The images of all files are
joined, and named by the first word of a line. The classes are not used.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from evaltex_cli.errors import FaultLog, FormatError, Position, quote
from evaltex_cli.formats.base import Format, Side, Source
from evaltex_cli.formats.collected import Images, source
from evaltex_cli.formats.documents import recognition
from evaltex_cli.formats.documents.document_files import text_of
from evaltex_cli.formats.files import archive
from evaltex_cli.formats.files.fingerprint import Fingerprint
from evaltex_cli.formats.files.numbers import NUMBER, parse_number
from evaltex_cli.formats.icdar.lines import lines_of
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject

_LAYOUT = "image confidence x1 y1 x2 y2 x3 y3 x4 y4"
_FILE = re.compile(r"(?:task[12]_|comp[1-9]_det_).+\.txt", re.IGNORECASE)
_LINE = re.compile(
    rb"[^\s,]++(?:[ \t]++[+-]?+[0-9.]++(?:[eE][+-]?+[0-9]++)?+){9}+[ \t\r]*+(?:\n|\Z)"
)
_FIRST_LINES = 20


def _object(fields: list[str], number: int) -> CollectedObject:
    if len(fields) not in (6, 10):
        raise FormatError(
            f"{len(fields)} words",
            f"{_LAYOUT}, or x0 y0 x1 y1 after the confidence (format dota-results)",
        )
    confidence, *numbers = map(parse_number, fields[1:])
    if len(numbers) == 4 and (numbers[2] < numbers[0] or numbers[3] < numbers[1]):
        raise FormatError(quote(" ".join(fields)), "x0 <= x1 and y0 <= y1")
    return CollectedObject(numbers, confidence=confidence, at=Position(number, 1))


def _index(path: Path, side: Side, faults: FaultLog) -> Source:
    entries = archive.open_entries(path)
    fingerprint = Fingerprint(entries)
    images = Images()
    for entry, data in zip(entries.entries, entries.read_many(entries.entries), strict=True):
        fingerprint.add(entry, data)
        place = entries.place(entry)
        with faults.catching(place):
            for number, line in lines_of(text_of(data)):
                fields = line.split()
                try:
                    image = CollectedImage(fields[0], place, Position(number, 1))
                    image.add(_object(fields, number))
                    images.append(image)
                except FormatError as error:
                    faults.add(place, number, error.found, error.expected)
    images.merge()
    images.refuse_bad_names(faults)
    warnings = (*entries.warnings, *images.settle_confidences(path))
    if not all(_FILE.fullmatch(PurePosixPath(entry.name).name) for entry in entries.entries):
        warnings += (f"{path.name}: the first word of each line is taken for the name of an image",)
    return source(str(path), "dota-results", fingerprint.hexdigest(), images, warnings)


def recognises(path: Path) -> bool:
    """Whether all files are called as DOTA's results are, or the first lines
    are of a name and nine numbers.
    """
    if archive.is_archive(path):
        names = [name for name in archive.names(path) if name.lower().endswith(".txt")]
        return bool(names) and all(_FILE.fullmatch(PurePosixPath(name).name) for name in names)
    lines = recognition.head(path).lstrip().splitlines(keepends=True)[:_FIRST_LINES]
    if _FILE.fullmatch(path.name):
        return bool(lines) and len(lines[0].split()) in (6, 10)
    images = [line.split()[0] for line in lines if line.strip()]
    return (
        bool(images)
        and all(map(_LINE.fullmatch, lines[:-1] or lines))
        and not all(map(_is_class, images))
    )


def _is_class(name: bytes) -> bool:
    """Whether a word may be the number of a class, and so not of an image."""
    return NUMBER.fullmatch(name.decode("utf-8", "replace")) is not None


FORMAT = Format(
    "dota-results",
    "DOTA's results: Task1_class.txt, Task2_class.txt",
    recognises,
    _index,
    four_corners=True,
    recognised_by="files called Task1_..., Task2_... or comp3_det_..., or lines of a name and nine"
    " numbers",
    layout=_LAYOUT,
    sample={"Task1_word.txt": "img_1 0.9 10 10 60 10 60 30 10 30\n"},
)
