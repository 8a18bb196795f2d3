"""EvaLTex .txt files: many images in one file, each a name line, a size line (ground truth) and object lines."""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from evaltex_cli.errors import FaultLog, FormatError, InputError
from evaltex_cli.formats.base import Format, Side, Source
from evaltex_cli.formats.evaltex.index import Images, Index
from evaltex_cli.formats.evaltex.reader import Reader
from evaltex_cli.formats.files.image_names import MAX_NAME_BYTES
from evaltex_cli.formats.files.text_lines import MAX_LINE_BYTES, refuse_long_line
from evaltex_cli.runtime.input_files import beginning, unpacked

BLOCK_BYTES = 1 << 22
_ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b")


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
        readable = [unpacked(file).absolute() for file in files]
        log = FaultLog()
        found, hashes = _index_files(files, readable, Index(side, log))
        if found.names.repeat():  # rare, so only then is it told where
            log = FaultLog()
            found, hashes = _index_files(files, readable, Index(side, log, {}))
    except OSError as error:
        raise InputError(f"{error.filename or path}: cannot be read ({error.strerror or error})") from error
    faults.extend(log)
    names = found.names
    if side == "gt" and not names and not faults.count:
        faults.add(str(path), None, "no image", "at least one image name with its height,width and objects")
    names_of_files = [str(file) for file in files]
    columns = (found.sizes, found.start, found.weights, found.line, found.file, found.checksum)
    reader = Reader(names_of_files, readable, side, *columns)
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
        texts=reader.texts,
    )


def _index_files(files: Sequence[Path], readable: Sequence[Path], found: Index) -> tuple[Images, list[str]]:
    """Pass over files; return their images, and the SHA-256 of each."""
    hashes = []
    for path, place in zip(files, readable, strict=True):
        digest = hashlib.sha256()
        position, line = 0, 1
        found.begin_file(path)
        for block in _blocks(place):
            digest.update(block)
            try:
                refuse_long_line(block)
            except FormatError as error:
                expected = f"{error.expected}, and image names of at most {MAX_NAME_BYTES} bytes"
                raise InputError(f"{path}:{line + error.line - 1}: {error.found}; expected {expected}") from error
            line += found.take_block(block, position, line)
            position += len(block)
        found.end_file(position, line)
        hashes.append(digest.hexdigest())
    return found.images(), hashes


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield the file in blocks of whole lines, or up to where a line is too long."""
    with path.open("rb") as file:
        start = 0
        while True:
            file.seek(start + BLOCK_BYTES)
            file.readline(MAX_LINE_BYTES + 1)
            length = file.tell() - start
            file.seek(start)
            block = file.read(length)
            if not block:
                return
            yield block
            start += length


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


FORMAT = Format(
    "evaltex",
    "EvaLTex .txt: many images in one file",
    recognises,
    index,
    recognised_by="being one text file of no other format",
    layout='ID,region,"text",t|f,x,y,w,h; detections ID,"text",x,y,w,h; or vertices instead of the four numbers',
    why=lambda path: "one text file of many images",
    sample='img_1\n480,640\n1,1,"word",f,10,10,50,20\n',
)
