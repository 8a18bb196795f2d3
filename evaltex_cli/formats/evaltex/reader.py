"""Reads the objects of any images of an indexed EvaLTex file: plain lines in bulk, the others one by one."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import ChangedError, FaultLog, FormatError, InputError, TangledError
from evaltex_cli.formats.base import Side
from evaltex_cli.formats.evaltex import lines_bulk as evaltex_bulk
from evaltex_cli.formats.evaltex.lines import ObjectLine, parse_object_line
from evaltex_cli.formats.files import text_lines
from evaltex_cli.formats.files.text_lines import refuse_excess, without_blank_lines
from evaltex_cli.geometry import outlines
from evaltex_cli.records import (
    Floats,
    GeometryCounts,
    Ints,
    Objects,
    ReadImages,
    Texts,
    distinct,
    offsets_of,
    stretches,
)


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """Reads the objects of any images of indexed files, of which everything else is known.

    Attributes
    ----------
    names : list of str
        Of the files, as messages have them.
    files : list of Path
        Where they can be read, absolute.
    sizes, start, weights, line, file, checksum : (images, 2) and (images,)
        Height and width, first byte, bytes and first line of the objects, the file's index, and CRC-32 of the bytes.
    """

    names: list[str]
    files: list[Path]
    side: Side
    sizes: Floats
    start: Ints
    weights: Ints
    line: Ints
    file: NDArray[np.int32]
    checksum: NDArray[np.uint32]

    def part(self, positions: Ints) -> Callable[[FaultLog], ReadImages]:
        """See `Source.part`."""
        start, weights, line = (column[positions] for column in (self.start, self.weights, self.line))
        of_each = self.file[positions]
        used = distinct(of_each.astype(np.int64))
        part = Reader(
            [self.names[k] for k in used.tolist()],
            [self.files[k] for k in used.tolist()],
            self.side,
            self.sizes[positions],
            start,
            weights,
            line,
            np.searchsorted(used, of_each).astype(np.int32),
            self.checksum[positions],
        )
        return partial(part.read, np.arange(len(positions)))

    def read(self, positions: Ints, faults: FaultLog) -> ReadImages:
        """Read the images at these positions; see `Source.read`."""
        parts, left = self._texts(positions, faults)
        buffer = b"".join(parts)
        data = np.frombuffer(buffer, np.uint8)
        ends = text_lines.line_ends(data)
        stops = np.searchsorted(ends, np.cumsum([len(part) for part in parts], dtype=np.int64))
        lines = np.diff(stops, prepend=0)
        image = np.repeat(np.arange(len(positions)), lines)
        number = np.arange(len(ends)) + (self.line[positions] - (stops - lines))[image]
        for k, numbers in left.items():
            number[stops[k] - lines[k] : stops[k]] = self.line[positions[k]] + numbers
        plain = evaltex_bulk.tokenise(data, ends, self.side)
        file = self.file[positions][image].astype(np.int64)
        odd = self._odd_lines(buffer, ends, plain.line, file, number, faults)
        try:
            objects, line, mended = _columns(buffer, plain, odd, image, len(positions), self.side)
        except TangledError as tangled:
            k = text_lines.line_of_object(plain.line, odd, tangled.ring)
            raise InputError(f"{self.names[file[k]]}:{number[k]}: {tangled}") from tangled
        self._refuse_repeated_ids(objects, file[line], number[line], faults)
        return ReadImages(self.sizes[positions].astype(np.float64), objects, mended)

    def texts(self, positions: Ints) -> Iterator[tuple[str, int, bytes]]:
        """See `Source.texts`; an image's lines begin after the objects of the image before."""
        for k in positions.tolist():
            follows = k > 0 and self.file[k - 1] == self.file[k]
            begin = int(self.start[k - 1]) + int(self.weights[k - 1]) if follows else 0
            before = int(self.start[k]) - begin
            with self.files[self.file[k]].open("rb") as file:
                file.seek(begin)
                text = file.read(before + int(self.weights[k]))
            if zlib.crc32(text[before:]) != self.checksum[k]:
                raise ChangedError(self.names[self.file[k]])
            lines_before = text.count(b"\n", 0, before) + (len(text) < before)  # the last may lack its newline
            yield self.names[self.file[k]], int(self.line[k]) - lines_before, text

    def _texts(self, positions: Ints, faults: FaultLog) -> tuple[list[bytes], dict[int, Ints]]:
        """Each image's lines, all ended by a bare newline, and by image the numbers of the lines of dense ones."""
        parts: list[bytes] = []
        left: dict[int, Ints] = {}
        columns = (self.file, self.start, self.weights, self.checksum)
        places = zip(*(column[positions].tolist() for column in columns), strict=True)
        name = ""
        try:
            for k, images in groupby(places, lambda place: place[0]):
                name = self.names[k]
                with self.files[k].open("rb") as file:
                    for _, start, weight, checksum in images:
                        file.seek(start)
                        text = file.read(weight)
                        if len(text) < weight or zlib.crc32(text) != checksum:
                            raise ChangedError(name)
                        text, numbers = self._bounded(text, positions[len(parts)], faults)
                        if numbers is not None:
                            left[len(parts)] = numbers
                        parts.append(text)
        except OSError as error:
            raise InputError(f"{name}: cannot be read ({error.strerror or error})") from error
        return parts, left

    def _bounded(self, text: bytes, position: int, faults: FaultLog) -> tuple[bytes, Ints | None]:
        """Return what `without_blank_lines` does, with bare newlines; nothing of a text out of bounds."""
        try:
            refuse_excess(text)
        except FormatError as error:
            line = int(self.line[position]) + error.line - 1
            faults.add(self.names[self.file[position]], line, error.found, error.expected)
            return b"\n", None
        text, numbers = without_blank_lines(text)
        text = text.replace(b"\r\n", b"\n")
        return (text + b"\n", None) if numbers is None else (text, numbers)

    def _odd_lines(
        self, buffer: bytes, ends: Ints, plain: Ints, file: Ints, number: Ints, faults: FaultLog
    ) -> dict[int, ObjectLine]:
        """Parse, one by one, the lines that are neither plain nor blank."""
        is_odd = np.ones(len(ends), dtype=bool)
        is_odd[plain] = False
        odd: dict[int, ObjectLine] = {}
        for k in np.flatnonzero(is_odd).tolist():
            line = buffer[ends[k - 1] + 1 if k else 0 : ends[k]].decode("utf-8", "replace").strip()
            if line:
                try:
                    odd[k] = parse_object_line(line, self.side)
                except FormatError as error:
                    faults.add(self.names[file[k]], int(number[k]), error.found, error.expected)
        return odd

    def _refuse_repeated_ids(self, objects: Objects, file: Ints, number: Ints, faults: FaultLog) -> None:
        image, ids = objects.image, objects.ids
        if ((np.diff(ids) > 0) | (np.diff(image) > 0)).all():
            return
        order = np.lexsort((number, ids, image))
        again = (np.diff(ids[order]) == 0) & (np.diff(image[order]) == 0)
        for k in np.flatnonzero(again).tolist():
            here, there = order[k + 1], order[k]
            expected = f"IDs used once in an image (it stands in line {number[there]} too)"
            faults.add(self.names[file[here]], int(number[here]), f"ID {ids[here]} again", expected)


def _columns(
    buffer: bytes, plain: evaltex_bulk.BulkLines, odd: dict[int, ObjectLine], image: Ints, images: int, side: Side
) -> tuple[Objects, Ints, GeometryCounts]:
    """Bring plain and odd lines together in file order; return the objects, their lines, and what was mended."""
    extra = odd.values()
    texts = [parsed.text.encode("utf-8", "replace") for parsed in extra]
    text_stop = len(buffer) + np.cumsum([len(text) for text in texts], dtype=np.int64)
    text_start = np.concatenate([np.full(1, len(buffer), np.int64), text_stop])[:-1]
    line = np.concatenate([plain.line, np.fromiter(odd, np.int64, len(odd))])
    order = np.argsort(line, kind="stable") if odd else np.arange(len(line))

    def merged(bulk_values: np.ndarray, odd_values: list[int] | list[bool] | Ints) -> np.ndarray:
        return np.concatenate([bulk_values, np.array(odd_values, dtype=bulk_values.dtype)])[order]

    ids = merged(plain.ids, [parsed.id for parsed in extra])
    coordinates, offsets = _merged_coordinates(plain, [parsed.coordinates for parsed in extra], order)
    counts = np.diff(offsets)
    numbers = _with_corners(coordinates, offsets[:-1][counts == 4])
    drawn, mended = outlines.from_numbers(numbers, counts, counts == 4)
    objects = Objects(
        offsets=np.searchsorted(image[line[order]], np.arange(images + 1)),
        ids=ids,
        outlines=drawn,
        regions=merged(plain.regions, [parsed.region for parsed in extra]) if side == "gt" else ids,
        dont_care=merged(plain.dont_care, [parsed.dont_care for parsed in extra]),
        texts=Texts(
            b"".join([buffer, *texts]), merged(plain.text_start, text_start), merged(plain.text_stop, text_stop)
        ),
    )
    return objects, line[order], mended


def _merged_coordinates(
    plain: evaltex_bulk.BulkLines, odd: list[tuple[float, ...]], order: Ints
) -> tuple[Floats, Ints]:
    if not odd:
        return plain.coordinates, plain.coordinate_offsets
    counts = np.concatenate([np.diff(plain.coordinate_offsets), np.array([len(values) for values in odd], np.int64)])
    starts = np.cumsum(counts) - counts
    values = np.concatenate([plain.coordinates, np.array([v for values in odd for v in values], np.float64)])
    sorted_counts = counts[order]
    offsets = offsets_of(sorted_counts)
    return values[stretches(starts[order], sorted_counts)], offsets


def _with_corners(coordinates: Floats, boxes: Ints) -> Floats:
    """Put x1, y1 in the place of width, height of boxes x, y, width, height that begin at these indices."""
    numbers = coordinates.copy()
    numbers[boxes + 2] += numbers[boxes]
    numbers[boxes + 3] += numbers[boxes + 1]
    return numbers
