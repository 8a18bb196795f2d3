"""EvaLTex .txt files: many images in one file, each a name line, a size line
(ground truth) and object lines.
"""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.old_formats.base import Format, ImageText, Place, ReadImages, Side, Source
from evaltex_cli.old_formats.evaltex.bulk import read_plain
from evaltex_cli.old_formats.evaltex.index import Images, Index
from evaltex_cli.old_formats.evaltex.lines import parse_object_line
from evaltex_cli.old_formats.files.packed import beginning, unpacked
from evaltex_cli.old_formats.lines import LineFormat, read_lines
from evaltex_cli.progress import tracked
from evaltex_cli.records import Floats, Ints, Objects, distinct

BLOCK_BYTES = 1 << 20
_ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b")
_LINES: dict[Side, LineFormat] = {
    side: LineFormat(
        plain=partial(read_plain, side=side),
        exact=partial(parse_object_line, side=side),
        bare=str.strip,
        has_boxes=True,
        has_ids=True,
        has_confidences=False,
    )
    for side in ("gt", "det")
}


class Reader(NamedTuple):
    """Reads images of indexed files, of which everything but the objects is known; a
    `base.Content`.
    """

    names: list[str]
    """Of the files, as messages have them."""
    files: list[Path]
    """Where they can be read, absolute."""
    side: Side
    sizes: Floats
    """(images, 2). Height and width."""
    start: Ints
    weights: Ints
    line: Ints
    head: Ints
    """`start`, `weights`, `line` and `head`: (images,). First byte, bytes and first line of the
    objects, and how many lines before it the name is."""
    file: NDArray[np.int32]
    """(images,). Index of the file."""
    """(images,). CRC-32 of the objects' bytes."""

    def part(self, positions: Ints) -> Reader:
        """See `base.Content`."""
        of_each = self.file[positions]
        used = distinct(of_each.astype(np.int64))
        return Reader(
            [self.names[k] for k in used.tolist()],
            [self.files[k] for k in used.tolist()],
            self.side,
            self.sizes[positions],
            self.start[positions],
            self.weights[positions],
            self.line[positions],
            self.head[positions],
            np.searchsorted(used, of_each).astype(np.int32),
        )

    def read(self) -> ReadImages:
        """See `base.Content`."""
        images = read_lines(self.texts(), _LINES[self.side], self.sizes.astype(np.float64))
        self._refuse_repeated_ids(images.objects, images.faults)
        return images

    def places(self) -> Iterator[Place]:
        """See `base.Content`."""
        for file, line in zip(
            self.file.tolist(), (self.line - self.head.astype(np.int64)).tolist(), strict=True
        ):
            yield Place(self.names[file], line, [])

    def texts(self) -> Iterator[ImageText]:
        """Yield the text of each image."""
        columns = (self.file, self.start, self.weights, self.line)
        name = ""
        try:
            for k, images in groupby(
                zip(*(column.tolist() for column in columns), strict=True), lambda one: one[0]
            ):
                name = self.names[k]
                with self.files[k].open("rb") as file:
                    for _, start, weight, line in images:
                        file.seek(start)
                        text = file.read(weight)
                        if len(text) < weight:
                            raise InputError(f"{name}: changed while it was read; run again")
                        yield ImageText(name, line, text)
        except OSError as error:
            raise InputError(f"{name}: cannot be read ({error.strerror or error})") from error

    def _refuse_repeated_ids(self, objects: Objects, faults: FaultLog) -> None:
        image, ids, line = objects.image, objects.ids, objects.line
        if line is None or ((np.diff(ids) > 0) | (np.diff(image) > 0)).all():
            return
        order = np.lexsort((line, ids, image))
        again = (np.diff(ids[order]) == 0) & (np.diff(image[order]) == 0)
        for k in np.flatnonzero(again).tolist():
            here, there = order[k + 1], order[k]
            expected = f"IDs used once in an image (it stands in line {line[there]} too)"
            faults.add(
                self.names[self.file[image[here]]],
                int(line[here]),
                f"ID {ids[here]} again",
                expected,
            )


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

    A packed file counts as its content, the SHA-256 too. That of several files is of lines
    ``<sha256>  <file name>``.

    Raises
    ------
    InputError
        When one cannot be read, or is damaged.
    """
    try:
        readable = [unpacked(file).absolute() for file in files]
        log = FaultLog()
        images, hashes = _index_files(files, readable, Index(side, log))
        if len(set(images.names)) < len(images.names):  # rare, so only then each is looked up
            del images  # lest two indices are in memory
            log = FaultLog()
            images, hashes = _index_files(files, readable, Index(side, log, {}))
    except OSError as error:
        raise InputError(
            f"{error.filename or path}: cannot be read ({error.strerror or error})"
        ) from error
    faults.extend(log)
    names = images.names
    if side == "gt" and not names and not faults.count:
        faults.add(
            str(path), None, "no image", "at least one image name with its height,width and objects"
        )
    names_of_files = [str(file) for file in files]
    columns = (
        images.sizes,
        images.start,
        images.weights,
        images.line,
        images.head,
        images.file,
    )
    listing = "".join(
        f"{digest}  {file.name}\n" for digest, file in zip(hashes, files, strict=True)
    )
    return Source(
        path=str(path),
        format="evaltex",
        sha256=hashes[0] if len(hashes) == 1 else hashlib.sha256(os.fsencode(listing)).hexdigest(),
        names=names,
        weights=images.weights,
        content=Reader(names_of_files, readable, side, *columns),
        polygons=images.polygons,
    )


def _index_files(
    files: Sequence[Path], readable: Sequence[Path], index: Index
) -> tuple[Images, list[str]]:
    """Pass over files; return their images, and the SHA-256 of each."""
    hashes = []
    for path, place in zip(files, readable, strict=True):
        digest = hashlib.sha256()
        position, line = 0, 1
        index.begin_file(path)
        blocks = tracked(
            _blocks(place), f"reading {path.name}", "parts", -(-place.stat().st_size // BLOCK_BYTES)
        )
        for block in blocks:
            digest.update(block)
            line += index.take_block(block, position, line)
            position += len(block)
        index.end_file(position, line)
        hashes.append(digest.hexdigest())
    return index.images(), hashes


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield the file in blocks of whole lines."""
    with path.open("rb") as file:
        start = 0
        while True:
            file.seek(start + BLOCK_BYTES)
            file.readline()
            length = file.tell() - start
            file.seek(start)
            block = file.read(length)
            if not block:
                return
            yield block
            start += length


def recognises(path: Path) -> bool:
    """Whether a path is a plain file that is not an archive or otherwise
    binary; UTF-16 passes, to be explained.
    """
    if not path.is_file():
        return False
    head = beginning(path, 4096)
    if head.startswith(_ARCHIVES):
        return False
    return (
        b"\0" not in head
        or head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        or _is_utf8(head)
    )


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


FORMAT = Format(
    "evaltex",
    "EvaLTex .txt: many images in one file",
    recognises,
    index,
    recognised_by="being one text file of no other format",
    layout='ID,region,"text",t|f,x,y,w,h; detections ID,"text",x,y,w,h; or vertices instead of the'
    " four numbers",
    why=lambda path: "one text file of many images",
    sample='img_1\n480,640\n1,1,"word",f,10,10,50,20\n',
)
