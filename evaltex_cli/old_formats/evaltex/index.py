"""Where the images of EvaLTex files stand: those in the plain form are found
in bulk, other lines taken one by one.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import FaultLog, FormatError, not_utf8, quote
from evaltex_cli.old_formats.base import Side
from evaltex_cli.old_formats.evaltex.bulk import BOX_COMMAS, PlainImages, plain_images
from evaltex_cli.old_formats.evaltex.lines import LAYOUT, is_object_line, parse_size_line
from evaltex_cli.old_formats.files.image_names import (
    MAX_NAME_BYTES,
    is_too_long,
    leaves_result_folder,
)
from evaltex_cli.old_formats.files.text_lines import line_ends
from evaltex_cli.old_formats.narrow import Column, extended
from evaltex_cli.records import Bools, Ints, distinct

_SIZE_ATTEMPT = r"[\s\d.+-]+[,;xX\s][\s\d.+,;xX-]*|\d[^,]*,[^,]*|[^,]*,\s*\d[^,]*"
PART_BYTES = 1 << 20
_SIZES = "Hfd"

Values: TypeAlias = NDArray[Any]


@dataclass(slots=True, eq=False, repr=False)
class _Head:
    """An image whose first lines were taken one by one."""

    name: bytes
    begin: int
    start: int
    name_line: int
    line: int
    size: tuple[float, float] = (0.0, 0.0)


class Images(NamedTuple):
    """Where images stand."""

    names: list[str]
    sizes: Values
    """(n, 2) numbers. Height and width; 0 where the file does not say."""
    start: Values
    weights: Values
    line: Values
    """`start`, `weights` and `line`: (n,) integers. First byte, bytes and first line of the
    objects."""
    head: Values
    """(n,) integers. Lines from the name to the objects."""
    file: Values
    """(n,) integers. Index of the image's file."""
    polygons: Bools
    """(n,) bool. Whether objects may be other than boxes: their lines have commas enough."""


@dataclass(slots=True, eq=False, repr=False)
class Index:
    """Finds the images of files, block by block."""

    side: Side
    faults: FaultLog
    name_line: dict[str, tuple[str, int]] | None = None
    """Where each name stands, to report names that are there again; it takes every line one by one.
    """
    _path: str = ""
    _in_image: bool = False
    _awaits_size: bool = False
    _after_usual: bool = False
    _heads: list[_Head] = field(default_factory=list)
    _images: list[int] = field(default_factory=list)
    _names: bytearray = field(default_factory=bytearray)
    _sizes: Column = field(default_factory=lambda: Column(_SIZES, 2))
    _start: array[Any] = field(default_factory=lambda: array("i"))
    _weights: array[Any] = field(default_factory=lambda: array("H"))
    _line: array[Any] = field(default_factory=lambda: array("i"))
    _head: Column = field(default_factory=Column)
    _polygons: bytearray = field(default_factory=bytearray)

    def begin_file(self, path: Path) -> None:
        """What follows stands in this file."""
        self._path, self._in_image, self._awaits_size = str(path), False, False
        self._images.append(0)

    def take_block(self, block: bytes, position: int, line: int) -> int:
        """Take whole lines that begin at this byte and line of the file; return how many newlines
        end them.

        Only the file's last line may be without a newline.
        """
        first, has_no_newline = line, not block.endswith(b"\n")
        if has_no_newline:
            block += b"\n"
        if not block.isascii():
            self._check_utf8(block, line)
        self._after_usual = False
        start = 0
        while start < len(block):
            stop = block.find(b"\n", start + PART_BYTES) + 1 or len(block)
            line += self._take_part(
                np.frombuffer(block, np.uint8, stop - start, start), position + start, line
            )
            start = stop
        return line - first - has_no_newline

    def _take_part(self, data: NDArray[np.uint8], position: int, line: int) -> int:
        """Take some lines; return how many."""
        ends = line_ends(data)
        starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
        plain = plain_images(
            data,
            starts,
            ends,
            self.side,
            in_bulk=self.name_line is None,
            after_usual=self._after_usual,
        )
        self._after_usual = plain.ends_usual
        first = int(plain.name_line[0]) if len(plain.name_line) else len(ends)
        wide = starts[plain.wide].tolist()
        places = (plain.left, starts[plain.left], ends[plain.left], plain.left_usual)
        for k, start, stop, is_usual in zip(*(column.tolist() for column in places), strict=True):
            self._in_image |= k > first
            if is_usual and self._in_image and not self._awaits_size:
                continue
            text = data[start:stop].tobytes().decode("utf-8", "replace")
            if position == 0 and k == 0:
                text = text.removeprefix("\ufeff")
            self._take(text, line + k, position + start, position + stop + 1)
            if text.count(",") > BOX_COMMAS[self.side] + 1:
                wide.append(start)
        self._in_image |= first < len(ends)
        complete = len(self._heads) - self._awaits_size
        heads, self._heads = self._heads[:complete], self._heads[complete:]
        begin, start = self._add(
            heads,
            plain,
            position + starts[plain.name_line],
            position + ends[plain.last_line] + 1,
            line,
        )
        self._polygons += bytes(len(begin))
        before = len(self._polygons) - len(begin)
        for k in distinct(
            np.searchsorted(begin, np.array(wide, np.int64) + position, side="right") + before
        ).tolist():
            if k:  # a line before the first image is a fault
                self._polygons[k - 1] = True
        return len(ends)

    def end_file(self, position: int, line: int) -> None:
        """The file ends before this byte, in this line."""
        if self._awaits_size:
            expected = f"the size line height,width of image {quote(self._heads[-1].name.decode())}"
            self.faults.add(self._path, line, "the end of the file", expected)
            self._awaits_size, self._heads[-1].start, self._heads[-1].line = False, position, line
            self.take_block(b"", position, line)  # so that the image is added
        if self._images[-1]:
            self._weights = extended(self._weights, np.array([max(position - self._start[-1], 0)]))

    def images(self) -> Images:
        """Return what was found."""
        count = len(self._start)
        return Images(
            self._names.decode("utf-8", "replace").split("\n")[:-1],
            self._sizes.values()
            if self.side == "gt"
            else np.broadcast_to(np.uint16(0), (count, 2)),
            np.asarray(self._start),
            np.asarray(self._weights),
            np.asarray(self._line),
            self._head.values()[:, 0],
            np.repeat(np.arange(len(self._images), dtype=np.int32), self._images)
            if len(self._images) > 1
            else np.broadcast_to(np.int32(0), count),
            np.frombuffer(self._polygons, np.bool_),
        )

    def _add(
        self, heads: Sequence[_Head], plain: PlainImages, begin: Ints, start: Ints, line: int
    ) -> tuple[Ints, Ints]:
        """Add the images of a part, in the order of the file; return where
        they and their objects begin.
        """
        names, objects_line, sizes = plain.names, line + plain.last_line + 1, plain.sizes
        head_lines = plain.last_line + 1 - plain.name_line
        if heads:
            begin = np.concatenate([begin, [head.begin for head in heads]])
            order = np.argsort(begin, kind="stable")
            every = [*names.split(b"\n")[:-1], *(head.name for head in heads)]
            names = b"".join(every[k] + b"\n" for k in order.tolist())
            begin = begin[order]
            start = np.concatenate([start, [head.start for head in heads]])[order]
            objects_line = np.concatenate([objects_line, [head.line for head in heads]])[order]
            head_lines = np.concatenate(
                [head_lines, [head.line - head.name_line for head in heads]]
            )[order]
            sizes = np.concatenate([sizes, [head.size for head in heads]])[order]
        if not len(begin):
            return begin, start
        self._names += names
        stop = begin if self._images[-1] else begin[1:]
        before = np.concatenate([self._start[-1:] if self._images[-1] else start[:0], start[:-1]])
        self._weights = extended(self._weights, stop - before)
        self._start = extended(self._start, start)
        self._line = extended(self._line, objects_line)
        self._head.extend(head_lines)
        if self.side == "gt":
            self._sizes.extend(sizes)
        self._images[-1] += len(begin)
        return begin, start

    def _check_utf8(self, block: bytes, line: int) -> None:
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as error:
            line_of_block, found, expected = not_utf8(error)
            self.faults.add(self._path, line + line_of_block - 1, found, expected)

    def _take(self, line: str, number: int, start: int, stop: int) -> None:
        """Take one line; `start`, `stop` are its bytes in the file."""
        stripped = line.strip()
        if not stripped:
            return
        if (
            self._awaits_size
            and re.fullmatch(_SIZE_ATTEMPT, stripped)
            and not is_object_line(stripped, self.side)
        ):
            self._size(stripped, number, stop)
        elif "," in stripped and is_object_line(stripped, self.side):
            self._object(stripped, number, start)
        else:
            self._name(stripped, number, start, stop)

    def _object(self, line: str, number: int, start: int) -> None:
        if not self._in_image:
            self.faults.add(
                self._path,
                number,
                f"object line {quote(line)} before any image name",
                "an image name",
            )
        elif self._awaits_size:
            self._missing_size(number, line, start)

    def _missing_size(self, number: int, line: str, start: int) -> None:
        self._awaits_size = False
        self._heads[-1].start, self._heads[-1].line = start, number
        self.faults.add(
            self._path,
            number,
            quote(line),
            f"the size line height,width of image {quote(self._heads[-1].name.decode())} (960,1280,"
            " say)",
        )

    def _size(self, line: str, number: int, stop: int) -> None:
        self._awaits_size = False
        head = self._heads[-1]
        head.start, head.line = stop, number + 1
        try:
            head.size = parse_size_line(line)
        except FormatError as error:
            self.faults.add(self._path, number, error.found, error.expected)

    def _name(self, name: str, number: int, start: int, stop: int) -> None:
        if self._awaits_size:
            self._missing_size(number, name, start)
        if is_too_long(name):
            found, expected = f"an image name of more than {MAX_NAME_BYTES} bytes", "a shorter one"
            self.faults.add(
                self._path, number, found, f"{expected}, or an object line, {LAYOUT[self.side]}"
            )
            name = name[:MAX_NAME_BYTES]
        if leaves_result_folder(name):
            self.faults.add(
                self._path,
                number,
                f"image name {quote(name)}",
                "a name that stays in the result folder: no absolute path, drive letter, '..' or"
                " control character",
            )
        if self.name_line is not None:
            file, line = self.name_line.setdefault(name, (self._path, number))
            if (file, line) != (self._path, number):
                where = f"line {line}" if file == self._path else f"{file}:{line}"
                expected = f"image names used once (it stands in {where} too)"
                self.faults.add(self._path, number, f"image name {quote(name)} again", expected)
        self._heads.append(_Head(name.encode("utf-8", "replace"), start, stop, number, number + 1))
        self._in_image, self._awaits_size = True, self.side == "gt"
