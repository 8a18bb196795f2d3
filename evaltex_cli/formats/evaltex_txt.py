"""EvaLTex .txt files: many images in one file, each a name line, a size line (ground truth) and object lines."""

from __future__ import annotations

import codecs
import hashlib
import os
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import FaultLog, InputError, quote
from evaltex_cli.formats import evaltex_bulk as bulk
from evaltex_cli.formats.base import Format, Names, Side, Source
from evaltex_cli.formats.evaltex_lines import LineFault, ObjectLine, is_object_line, parse_object_line, parse_size_line
from evaltex_cli.formats.names import leaves_result_folder
from evaltex_cli.formats.shards import beginning, unpacked
from evaltex_cli.records import Floats, Geometries, GeometryCounts, Ints, Objects, ReadImages, Texts

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
    reader = _Reader(
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


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """Reads the objects of any images of indexed files, of which everything else is known.

    Attributes
    ----------
    names : list of str
        Of the files, as messages have them.
    files : list of Path
        Where they can be read.
    sizes, start, weights, line, file : (images, 2) and (images,)
        Height and width, first byte, bytes and first line of the objects, and the file's index.
    """

    names: list[str]
    files: list[Path]
    side: Side
    sizes: Floats
    start: Ints
    weights: Ints
    line: Ints
    file: NDArray[np.int32]

    def part(self, positions: Ints) -> Callable[[FaultLog], ReadImages]:
        """See `Source.part`."""
        start, weights, line = (column[positions] for column in (self.start, self.weights, self.line))
        used, file = np.unique(self.file[positions], return_inverse=True)
        part = _Reader(
            [self.names[k] for k in used.tolist()],
            [self.files[k] for k in used.tolist()],
            self.side,
            self.sizes[positions],
            start,
            weights,
            line,
            file.astype(np.int32),
        )
        return partial(part.read, np.arange(len(positions)))

    def read(self, positions: Ints, faults: FaultLog) -> ReadImages:
        """Read the images at these positions; see `Source.read`."""
        parts = self._texts(positions)
        buffer = b"".join(parts)
        data = np.frombuffer(buffer, np.uint8)
        ends = bulk.line_ends(data)
        stops = np.searchsorted(ends, np.cumsum([len(part) for part in parts], dtype=np.int64))
        lines = np.diff(stops, prepend=0)
        image = np.repeat(np.arange(len(positions)), lines)
        number = np.arange(len(ends)) + (self.line[positions] - (stops - lines))[image]
        plain = bulk.tokenise(data, ends, self.side)
        file = self.file[positions][image].astype(np.int64)
        odd = self._odd_lines(buffer, ends, plain.line, file, number, faults)
        objects, line, mended = _columns(buffer, plain, odd, image, len(positions), self.side)
        self._refuse_repeated_ids(objects, file[line], number[line], faults)
        return ReadImages(self.sizes[positions].astype(np.float64), objects, mended)

    def _texts(self, positions: Ints) -> list[bytes]:
        """Each image's lines, all ended by a bare newline."""
        parts: list[bytes] = []
        places = zip(*(c[positions].tolist() for c in (self.file, self.start, self.weights)), strict=True)
        try:
            for k, images in groupby(places, lambda place: place[0]):
                with self.files[k].open("rb") as file:
                    for _, start, weight in images:
                        file.seek(start)
                        text = file.read(max(weight, 0))
                        if len(text) < weight:
                            raise InputError(f"{self.names[k]}: the file changed while it was read; run again")
                        parts.append(text.replace(b"\r\n", b"\n") + b"\n")
        except OSError as error:
            raise InputError(f"{error.filename}: cannot be read ({error.strerror or error})") from error
        return parts

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
                except LineFault as fault:
                    faults.add(self.names[file[k]], int(number[k]), fault.found, fault.expected)
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
    buffer: bytes, plain: bulk.BulkLines, odd: dict[int, ObjectLine], image: Ints, images: int, side: Side
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
    boxes, polygons, vertices, vertex_offsets, mended = shapes_of(coordinates, offsets)
    objects = Objects(
        offsets=np.searchsorted(image[line[order]], np.arange(images + 1)),
        ids=ids,
        boxes=boxes,
        regions=merged(plain.regions, [parsed.region for parsed in extra]) if side == "gt" else ids,
        dont_care=merged(plain.dont_care, [parsed.dont_care for parsed in extra]),
        texts=Texts(
            b"".join([buffer, *texts]), merged(plain.text_start, text_start), merged(plain.text_stop, text_stop)
        ),
        polygons=polygons,
        vertices=vertices,
        vertex_offsets=vertex_offsets,
    )
    return objects, line[order], mended


def _merged_coordinates(plain: bulk.BulkLines, odd: list[tuple[float, ...]], order: Ints) -> tuple[Floats, Ints]:
    if not odd:
        return plain.coordinates, plain.coordinate_offsets
    counts = np.concatenate([np.diff(plain.coordinate_offsets), np.array([len(values) for values in odd], np.int64)])
    starts = np.cumsum(counts) - counts
    values = np.concatenate([plain.coordinates, np.array([v for values in odd for v in values], np.float64)])
    sorted_counts = counts[order]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sorted_counts)])
    take = np.arange(len(values)) + np.repeat(starts[order] - offsets[:-1], sorted_counts)
    return values[take], offsets


def shapes_of(
    coordinates: Floats, offsets: Ints
) -> tuple[Floats, Geometries | None, Floats | None, Ints | None, GeometryCounts]:
    """Turn each object's numbers into a box (four of them: x, y, width, height) or a polygon.

    Returns
    -------
    boxes, polygons, vertices, vertex_offsets, mended
        As in `Objects`; the three in the middle None where every object is a box.
    """
    counts = np.diff(offsets)
    is_box = counts == 4
    if is_box.all():
        boxes = coordinates.reshape(-1, 4).copy()
        boxes[:, 2:] += boxes[:, :2]
        return boxes, None, None, None, GeometryCounts()
    from evaltex_cli.geometry import polygons

    in_box = np.repeat(is_box, counts)
    boxes = np.zeros((len(counts), 4))
    boxes[is_box] = coordinates[in_box].reshape(-1, 4)
    boxes[is_box, 2:] += boxes[is_box, :2]
    vertices = coordinates[~in_box].reshape(-1, 2)
    vertex_offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.where(is_box, 0, counts // 2))])
    geometries, mended = polygons.from_vertices(vertices, vertex_offsets)
    first = vertex_offsets[:-1][~is_box]
    boxes[~is_box, :2] = np.minimum.reduceat(vertices, first)
    boxes[~is_box, 2:] = np.maximum.reduceat(vertices, first)
    return boxes, geometries, vertices, vertex_offsets, mended


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
