"""Reads formats of one object in each line: plain lines in bulk, all others
by the format's exact parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.errors import MOST_FAULTS, FaultLog, FormatError, InputError, VerticesError
from evaltex_cli.geometry import outlines
from evaltex_cli.old_formats.base import ImageText, ReadImages
from evaltex_cli.old_formats.files.text_lines import (
    line_ends,
)
from evaltex_cli.old_formats.plain_lines import STRETCH_BYTES, Bytes, stretches
from evaltex_cli.records import (
    Bools,
    Floats,
    GeometryCounts,
    Ints,
    Objects,
    Texts,
    blocks,
    expanded,
    offsets_of,
)
from evaltex_cli.records import stretches as indices_of

EXACT_LINES = 1 << 12
"""Lines that the exact parser reads before columns are made of them; a parsed line takes 1.3 kB."""
_LINE_END = rb"(?<!\r)\r++\n"


class ParsedLine(NamedTuple):
    """One object's line; four coordinates are x0, y0, x1, y1 of a box where
    the format has boxes.
    """

    coordinates: Sequence[float]
    text: str
    dont_care: bool
    confidence: float = float("nan")
    id: int = 0
    region: int = 0


class LineColumns(NamedTuple):
    """The objects of some lines of a buffer."""

    line: Ints
    """(n,) int64. Index of each line in the buffer."""
    coordinates: Floats
    """(c,) float64. As in `ParsedLine`, one object after the other."""
    counts: Ints
    """(n,) int64. How many coordinates each object has."""
    text_start: Ints
    text_stop: Ints
    """`text_start` and `text_stop`: (n,) int64. Bytes of the transcription in the buffer."""
    dont_care: Bools
    """(n,) bool."""
    confidences: Floats
    """(n,) float64."""
    ids: Ints
    regions: Ints
    """`ids` and `regions`: (n,) int64."""


class LineFormat(NamedTuple):
    """How the lines of a format are read."""

    plain: Callable[[Bytes], LineColumns]
    """``plain(data)`` reads those lines of (b,) uint8, which end with a newline, that it knows for
    sure."""
    exact: Callable[[str], ParsedLine]
    """``exact(line)`` parses any line, or raises `FormatError`."""
    bare: Callable[[str], str]
    """``bare(line)`` is what of a line `exact` gets; empty for a blank line."""
    has_boxes: bool
    """Whether four coordinates are a box, and not two vertices."""
    has_ids: bool
    has_confidences: bool
    """`has_ids` and `has_confidences`: whether lines state them; without IDs the objects of an
    image are numbered, and are their own regions."""


class _Buffer(NamedTuple):
    """The texts of some images, one after the other, each line ended by a bare newline."""

    text: bytes
    ends: Ints
    """(l,) int64. Where the newlines are."""
    files: list[str]
    """The file of each image."""
    stops: Ints
    """(images,) int64. The index of the line after the image's last."""
    number: Ints
    """(l,) int64. Number of each line in its file."""
    faults: dict[int, tuple[int, str, str]]
    """Index of the last line of a text that cannot be read -> line in the file, what is there, what
    is expected."""

    def file(self, line: int) -> str:
        """Return the file of a line."""
        return self.files[int(np.searchsorted(self.stops, line, side="right"))]


def read_lines(images: Iterable[ImageText], form: LineFormat, sizes: Floats) -> ReadImages:
    """Read the objects of some images of known sizes, (images, 2) heights and widths; 0 if not
    known.

    Raises
    ------
    InputError
        For a polygon of too many vertices, with file and line.
    """
    buffer = _joined(images)
    plain = _plain(np.frombuffer(buffer.text, np.uint8), buffer.ends, form)
    texts = [buffer.text]
    faults = FaultLog(MOST_FAULTS)
    exact = list(_exact(buffer, plain.line, form, texts, faults))
    columns = _merged([plain, *exact]) if exact else plain
    try:
        objects, repairs = _objects(columns, buffer, b"".join(texts), form)
    except VerticesError as error:
        line = int(columns.line[error.ring])
        raise InputError(f"{buffer.file(line)}:{buffer.number[line]}: {error}") from error
    return ReadImages(sizes, objects, repairs, faults=faults)


def whole_lines(text: bytes) -> bytes:
    """Return a text with each line ended by a bare newline."""
    lines = text + b"\n"
    return re.sub(_LINE_END, b"\n", lines) if b"\r\n" in lines else lines


def _joined(images: Iterable[ImageText]) -> _Buffer:
    parts: list[bytes] = []
    files: list[str] = []
    firsts: list[int] = []
    counts: list[int] = []
    faults: dict[int, tuple[int, str, str]] = {}
    lines = 0
    for file, first, text, fault in images:
        part = whole_lines(b"" if fault else text)
        count = part.count(b"\n")
        lines += count
        if fault:
            faults[lines - 1] = (first + fault[0], *fault[1:])
        parts.append(part)
        files.append(file)
        firsts.append(first)
        counts.append(count)
    text = b"".join(parts)
    of_each = np.array(counts, np.int64)
    stops = np.cumsum(of_each)
    number = np.arange(lines)
    number += np.repeat(np.array(firsts, np.int64) - (stops - of_each), of_each)
    return _Buffer(text, line_ends(np.frombuffer(text, np.uint8)), files, stops, number, faults)


def _plain(data: Bytes, ends: Ints, form: LineFormat) -> LineColumns:
    """Read the plain lines, a stretch of some at a time."""
    parts: list[LineColumns] = []
    for first, last in stretches(data, ends):
        begin = int(ends[first - 1]) + 1 if first else 0
        part = form.plain(data[begin : int(ends[last - 1]) + 1])
        parts.append(
            part._replace(
                line=part.line + first,
                text_start=part.text_start + begin,
                text_stop=part.text_stop + begin,
            )
        )
    if not parts:
        return form.plain(data)
    columns = [list(column) for column in zip(*parts, strict=True)]
    parts.clear()
    return LineColumns(*map(_whole, columns))


def _whole(parts: list[Any]) -> Any:
    """Join the parts of a column, and let go of them."""
    joined = np.concatenate(parts)
    parts.clear()
    return joined


def _exact(
    buffer: _Buffer, plain: Ints, form: LineFormat, texts: list[bytes], faults: FaultLog
) -> Iterator[LineColumns]:
    """Parse the lines that are neither plain nor blank; their transcriptions
    are added to `texts`.
    """
    is_left = np.diff(buffer.ends, prepend=-1) > 1
    is_left[plain] = False
    is_left[list(buffer.faults)] = True
    text_stop = len(buffer.text)
    left = np.flatnonzero(is_left)
    for start in range(0, len(left), EXACT_LINES):
        parsed = {}
        for line in left[start : start + EXACT_LINES].tolist():
            if line in buffer.faults:
                faults.add(buffer.file(line), *buffer.faults[line])
                continue
            begin = int(buffer.ends[line - 1]) + 1 if line else 0
            bare = form.bare(buffer.text[begin : int(buffer.ends[line])].decode("utf-8", "replace"))
            try:
                if bare:
                    parsed[line] = form.exact(bare)
            except FormatError as error:
                faults.add(buffer.file(line), int(buffer.number[line]), error.found, error.expected)
        encoded = [one.text.encode("utf-8", "replace") for one in parsed.values()]
        ends = text_stop + offsets_of([len(text) for text in encoded])
        text_stop = int(ends[-1])
        texts.append(b"".join(encoded))
        yield _columns_of(parsed, ends)


def _columns_of(parsed: dict[int, ParsedLine], text_ends: Ints) -> LineColumns:
    objects = parsed.values()
    return LineColumns(
        line=np.array(list(parsed), np.int64),
        coordinates=np.array([value for one in objects for value in one.coordinates], np.float64),
        counts=np.array([len(one.coordinates) for one in objects], np.int64),
        text_start=text_ends[:-1],
        text_stop=text_ends[1:],
        dont_care=np.array([one.dont_care for one in objects], dtype=bool),
        confidences=np.array([one.confidence for one in objects], np.float64),
        ids=np.array([one.id for one in objects], np.int64),
        regions=np.array([one.region for one in objects], np.int64),
    )


def _merged(parts: Sequence[LineColumns]) -> LineColumns:
    """Bring the objects of several columns into the order of their lines."""
    line, coordinates, counts, *others = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(line, kind="stable")
    starts = np.cumsum(counts) - counts
    # Objects have different numbers of coordinates, so these are moved stretch by stretch.
    coordinates = coordinates[indices_of(starts[order], counts[order])]
    return LineColumns(
        line[order], coordinates, counts[order], *(column[order] for column in others)
    )


def _without_the_rest(texts: Texts) -> Texts:
    """Return transcriptions without the lines around them, which take more than most."""
    data, lengths = np.frombuffer(texts.buffer, np.uint8), texts.stop - texts.start
    ends = offsets_of(lengths)
    parts = (
        data[indices_of(texts.start[first:last], lengths[first:last])].tobytes()
        for first, last in blocks(lengths, STRETCH_BYTES)
    )
    return Texts(b"".join(parts), ends[:-1], ends[1:])


def _objects(
    columns: LineColumns, buffer: _Buffer, text: bytes, form: LineFormat
) -> tuple[Objects, GeometryCounts]:
    offsets = np.concatenate([np.zeros(1, np.int64), np.searchsorted(columns.line, buffer.stops)])
    # Without IDs of their own, objects are numbered in each image from 1.
    ids = columns.ids if form.has_ids else expanded(np.diff(offsets))[1] + 1
    is_box = columns.counts == 4 if form.has_boxes else np.zeros(len(ids), dtype=bool)
    drawn, counts = outlines.from_numbers(columns.coordinates, columns.counts, is_box)
    objects = Objects(
        offsets=offsets,
        ids=ids,
        outlines=drawn,
        regions=columns.regions if form.has_ids else ids,
        dont_care=columns.dont_care,
        texts=_without_the_rest(Texts(text, columns.text_start, columns.text_stop)),
        confidences=columns.confidences if form.has_confidences else None,
        line=buffer.number[columns.line],
    )
    return objects, counts
