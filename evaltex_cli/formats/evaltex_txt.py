"""EvaLTex .txt files: many images in one file, each a name line, a size line (ground truth) and object lines."""

from __future__ import annotations

import codecs
import hashlib
import os
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from evaltex_cli.errors import FaultLog, InputError, quote
from evaltex_cli.formats import evaltex_bulk as bulk
from evaltex_cli.formats.base import Format, Names, Side, Source
from evaltex_cli.formats.evaltex_lines import LineFault, is_object_line, parse_size_line
from evaltex_cli.formats.evaltex_reader import Reader
from evaltex_cli.formats.names import leaves_result_folder
from evaltex_cli.formats.shards import beginning, unpacked
from evaltex_cli.records import Floats, Ints

BLOCK_BYTES = 1 << 22
_ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b")
_SIZE_ATTEMPT = re.compile(r"[\s\d.+-]+[,;xX\s][\s\d.+,;xX-]*|\d[^,]*,[^,]*|[^,]*,\s*\d[^,]*")


@dataclass(slots=True)
class _Index:
    """Where the images of files stand; grows while they are passed over."""

    side: Side
    faults: FaultLog
    name_line: dict[str, tuple[str, int]] | None
    path: str = ""
    last_name: str = ""
    names: bytearray = field(default_factory=bytearray)
    name_stop: array[int] = field(default_factory=partial(array, "q"))
    sizes: array[float] = field(default_factory=lambda: array("d"))
    start: array[int] = field(default_factory=partial(array, "q"))
    stop: array[int] = field(default_factory=partial(array, "q"))
    line: array[int] = field(default_factory=partial(array, "q"))
    before_file: list[int] = field(default_factory=list)
    in_image: bool = False
    awaits_size: bool = False

    def begin_file(self, path: Path) -> None:
        """What follows stands in this file."""
        self.path, self.in_image, self.awaits_size = str(path), False, False
        self.before_file.append(len(self.start))

    def take(self, line: str, number: int, start: int, stop: int) -> None:
        """Take one line that is not an object's in the usual form; `start`, `stop` are its bytes in the file."""
        stripped = line.strip()
        if not stripped:
            return
        if self.awaits_size and _SIZE_ATTEMPT.fullmatch(stripped) and not is_object_line(stripped, self.side):
            self._size(stripped, number, stop)
        elif "," in stripped and is_object_line(stripped, self.side):
            self._object(stripped, number)
        else:
            self._name(stripped, number, start, stop)

    def _object(self, line: str, number: int) -> None:
        if not self.in_image:
            self.faults.add(self.path, number, f"object line {quote(line)} before any image name", "an image name")
        elif self.awaits_size:
            self._missing_size(number, line)

    def _missing_size(self, number: int, line: str) -> None:
        self.awaits_size = False
        self.faults.add(
            self.path,
            number,
            quote(line),
            f"the size line height,width of image {quote(self.last_name)} (960,1280, say)",
        )

    def _size(self, line: str, number: int, stop: int) -> None:
        self.awaits_size = False
        self.start[-1], self.line[-1] = stop, number + 1
        try:
            self.sizes[-2], self.sizes[-1] = parse_size_line(line)
        except LineFault as fault:
            self.faults.add(self.path, number, fault.found, fault.expected)

    def _name(self, name: str, number: int, start: int, stop: int) -> None:
        if self.awaits_size:
            self._missing_size(number, name)
        if leaves_result_folder(name):
            self.faults.add(
                self.path,
                number,
                f"image name {quote(name)}",
                "a name that stays in the result folder: no absolute path, drive letter, '..' or control character",
            )
        if self.name_line is not None:
            file, line = self.name_line.setdefault(name, (self.path, number))
            if (file, line) != (self.path, number):
                where = f"line {line}" if file == self.path else f"{file}:{line}"
                expected = f"image names used once (it stands in {where} too)"
                self.faults.add(self.path, number, f"image name {quote(name)} again", expected)
        self.end_image(start)
        self.last_name, self.in_image = name, True
        self.names += name.encode("utf-8", "replace")
        self.name_stop.append(len(self.names))
        self.names += b"\n"
        self.sizes.extend((0.0, 0.0))
        self.start.append(stop)
        self.line.append(number + 1)
        self.awaits_size = self.side == "gt"

    def end_image(self, position: int) -> None:
        """The current image's lines end before this byte of the file."""
        if self.in_image:
            self.stop.append(position)


def index(path: Path, side: Side, faults: FaultLog) -> Source:
    """Find the images of an EvaLTex file.

    Raises
    ------
    InputError
        When the file cannot be read.
    """
    return index_files(path, [path], side, faults)


def index_files(path: Path, files: Sequence[Path], side: Side, faults: FaultLog) -> Source:
    """Find the images of EvaLTex files, one after the other; `path` stands for all of them.

    A packed file counts as its content, the SHA-256 too. That of several files is of lines ``<sha256>  <file name>``.

    Raises
    ------
    InputError
        When one cannot be read, or is damaged.
    """
    try:
        readable = [unpacked(file) for file in files]
        log = FaultLog()
        found = _Index(side, log, None)
        hashes = [_index_file(*pair, found) for pair in zip(files, readable, strict=True)]
        names = Names(bytes(found.names), _narrow(np.frombuffer(found.name_stop, np.int64)))
        found.names, found.name_stop = bytearray(), array("q")
        if names.repeat():  # rare, so only then is it told where
            log = FaultLog()
            found = _Index(side, log, {})
            for pair in zip(files, readable, strict=True):
                _index_file(*pair, found)
    except OSError as error:
        raise InputError(f"{error.filename or path}: cannot be read ({error.strerror or error})") from error
    faults.extend(log)
    if side == "gt" and not names and not faults.count:
        faults.add(str(path), None, "no image", "at least one image name with its height,width and objects")
    start, stop, line = (np.frombuffer(column, np.int64) for column in (found.start, found.stop, found.line))
    reader = Reader(
        [str(file) for file in files],
        readable,
        side,
        _narrow_sizes(np.frombuffer(found.sizes).reshape(-1, 2)),
        _narrow(start),
        _narrow(stop - start),
        _narrow(line),
        np.searchsorted(found.before_file, np.arange(len(names)), side="right").astype(np.int32) - 1
        if len(files) > 1
        else np.broadcast_to(np.int32(0), len(names)),
    )
    empty = (f"{path.name}: no image in the detection file; every object counts as missed",)
    listing = "".join(f"{digest}  {file.name}\n" for digest, file in zip(hashes, files, strict=True))
    return Source(
        path=str(path),
        format="evaltex",
        sha256=hashes[0] if len(hashes) == 1 else hashlib.sha256(os.fsencode(listing)).hexdigest(),
        names=names,
        weights=reader.weights,
        read=reader.read,
        warnings=() if names or side == "gt" else empty,
        part=reader.part,
    )


def _narrow(values: Ints) -> Ints:
    """The same integers in half the bytes, if they fit: millions of images are kept."""
    fits = not len(values) or values.max() <= np.iinfo(np.int32).max
    return values.astype(np.int32 if fits else np.int64)


def _narrow_sizes(sizes: Floats) -> Floats:
    if not sizes.any():
        return np.broadcast_to(np.float64(0), sizes.shape)
    with np.errstate(over="ignore"):
        short = sizes.astype(np.float32)
    return short if (short == sizes).all() else sizes.copy()  # type: ignore[return-value]


def _index_file(path: Path, readable: Path, found: _Index) -> str:
    """Pass over one file; return its SHA-256."""
    digest = hashlib.sha256()
    position, line = 0, 1
    found.begin_file(path)
    for block in _blocks(readable):
        digest.update(block)
        _index_block(block if block.endswith(b"\n") else block + b"\n", position, line, found)
        position += len(block)
        line += block.count(b"\n")
    if found.awaits_size:
        expected = f"the size line height,width of image {quote(found.last_name)}"
        found.faults.add(str(path), line, "the end of the file", expected)
    found.end_image(position)
    return digest.hexdigest()


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield the file in blocks of whole lines."""
    with path.open("rb") as file:
        rest: list[bytes] = []
        while block := file.read(BLOCK_BYTES):
            cut = block.rfind(b"\n") + 1
            if cut:
                yield b"".join([*rest, block[:cut]])
                rest = []
            rest.append(block[cut:])
        if last := b"".join(rest):
            yield last


def _index_block(block: bytes, position: int, first_line: int, found: _Index) -> None:
    data = np.frombuffer(block, np.uint8)
    ends = bulk.line_ends(data)
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
    if not block.isascii():
        _check_utf8(block, ends, first_line, found)
    usual = bulk.usual_object_lines(data, starts, found.side)
    follows_usual = np.concatenate([np.zeros(1, dtype=bool), usual[:-1]])
    others = np.flatnonzero(~(usual & follows_usual))
    places = zip(others.tolist(), starts[others].tolist(), ends[others].tolist(), usual[others].tolist(), strict=True)
    for k, start, stop, is_usual in places:
        if is_usual and found.in_image and not found.awaits_size:
            continue
        line = block[start:stop].decode("utf-8", "replace")
        if position == 0 and k == 0:
            line = line.removeprefix("\ufeff")
        found.take(line, first_line + k, position + start, position + stop + 1)


def _check_utf8(block: bytes, ends: Ints, first_line: int, found: _Index) -> None:
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + int(np.searchsorted(ends, error.start))
        what = f"byte 0x{block[error.start]:02x}, which is not UTF-8"
        found.faults.add(found.path, line, what, "text in UTF-8 (save the file in that encoding)")


def recognises(path: Path) -> bool:
    """Whether a path is a plain file that is not an archive or otherwise binary; UTF-16 passes, to be explained."""
    if not path.is_file():
        return False
    head = beginning(path, 4096)
    if head.startswith(_ARCHIVES):
        return False
    return b"\0" not in head or head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or _is_utf8(head)


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


FORMAT = Format("evaltex", "EvaLTex .txt: many images in one file", recognises, index)
