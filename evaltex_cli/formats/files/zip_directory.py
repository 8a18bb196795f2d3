"""The central directory of a .zip archive: what it says of each file.

Directories of the usual form (names in ASCII, no file beyond 4 GiB, nothing before the archive or after it) are read by
array operations; all others by `zipfile`, which reads the same and more, and explains what is wrong.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from evaltex_cli.errors import InputError
from evaltex_cli.records import Ints

STORED, DEFLATED = 0, 8
"""Methods of packing."""
_UTF8_FLAG = 0x800
_LATEST_VERSION = 63
_LARGEST_32_BIT = 0xFFFF_FFFF
_END = struct.Struct("<4s8xLLH")
_END_MAGIC = b"PK\x05\x06"
_ZIP64_END = struct.Struct("<4s36xQQ")
_ZIP64_END_MAGIC = b"PK\x06\x06"
_ZIP64_LOCATOR = struct.Struct("<4sL8xL")
_ZIP64_LOCATOR_MAGIC = b"PK\x06\x07"
"""What ends an archive, and one of more than 65,535 files."""
_HEADER_MAGIC = b"PK\x01\x02"
_HEADER = np.dtype(
    {
        "names": [
            *("version", "flags", "method", "crc", "packed_size", "size"),
            *("name_length", "extra_length", "comment_length", "offset"),
        ],
        "formats": ["u1", "<u2", "<u2", "<u4", "<u4", "<u4", "<u2", "<u2", "<u2", "<u4"],
        "offsets": [6, 8, 10, 16, 20, 24, 28, 30, 32, 42],
        "itemsize": 46,
    }
)
"""A file's header in the directory (APPNOTE 4.3.12)."""
_HARMLESS_EXTRAS = (0x5455, 0x7875, 0x5855, 0x000A, 0xCAFE)
"""Extra fields of times and owners, and that of .jar."""
_MOST_EXTRAS = 4


class Stored(NamedTuple):
    """A file as the archive's directory has it; sizes in bytes, the offset that of its local header."""

    name: str
    flags: int
    method: int
    crc: int
    packed_size: int
    size: int
    offset: int


def read(path: Path) -> list[Stored]:
    """Return all files of an archive, and its folders, in the directory's order.

    Raises
    ------
    InputError
        When the archive is damaged.
    OSError
        When it cannot be read.
    """
    found = _usual(path)
    return _any(path) if found is None else found


def _usual(path: Path) -> list[Stored] | None:
    """What `_any` returns, or None where the directory is not of the usual form."""
    data = _directory_bytes(path)
    if not data:
        return None
    buffer = np.frombuffer(data, np.uint8)
    start = np.flatnonzero(_matches(buffer, _HEADER_MAGIC))
    if len(start) == 0 or start[0] != 0 or start[-1] + _HEADER.itemsize > len(data):
        return None
    header = sliding_window_view(buffer, _HEADER.itemsize)[start].view(_HEADER)[:, 0]
    name_stop, extra_stop, stop = (
        start
        + _HEADER.itemsize
        + np.cumsum([header["name_length"], header["extra_length"], header["comment_length"]], axis=0, dtype=np.int64)
    )
    if (stop != np.append(start[1:], len(data))).any() or (header["version"] > _LATEST_VERSION).any():
        return None
    if any((header[field] == _LARGEST_32_BIT).any() for field in ("packed_size", "size", "offset")):
        return None
    if not _are_harmless(buffer, name_stop, extra_stop):
        return None
    text = data.decode("latin-1")
    names = [text[a:b] for a, b in zip((start + _HEADER.itemsize).tolist(), name_stop.tolist(), strict=True)]
    if not "".join(names).isascii():
        return None
    columns = (header[field].tolist() for field in ("flags", "method", "crc", "packed_size", "size", "offset"))
    return list(map(Stored._make, zip(names, *columns, strict=True)))


def _directory_bytes(path: Path) -> bytes:
    """The directory of an archive that ends with it, and begins where it says; else nothing."""
    with path.open("rb") as file:
        stop = file.seek(0, os.SEEK_END) - _END.size
        file.seek(max(stop - _ZIP64_LOCATOR.size - _ZIP64_END.size, 0))
        tail = file.read()
        if len(tail) < _END.size:
            return b""
        magic, length, offset, comment_length = _END.unpack(tail[-_END.size :])
        if magic != _END_MAGIC or comment_length:
            return b""
        before = tail[: -_END.size]
        if before[-_ZIP64_LOCATOR.size :].startswith(_ZIP64_LOCATOR_MAGIC):
            if len(before) < _ZIP64_END.size + _ZIP64_LOCATOR.size:
                return b""
            magic, length, offset = _ZIP64_END.unpack(before[: _ZIP64_END.size])
            if magic != _ZIP64_END_MAGIC or _ZIP64_LOCATOR.unpack(before[-_ZIP64_LOCATOR.size :])[1:] != (0, 1):
                return b""
            stop -= len(before)
        if offset + length != stop:
            return b""
        file.seek(offset)
        return file.read(length)


def _matches(buffer: NDArray[np.uint8], word: bytes) -> NDArray[np.bool_]:
    """Whether a word stands at each place of a buffer where there is room for it."""
    places = max(len(buffer) - len(word) + 1, 0)
    found = np.ones(places, dtype=bool)
    for k, byte in enumerate(word):
        found &= buffer[k : k + places] == byte
    return found


def _are_harmless(buffer: NDArray[np.uint8], start: Ints, stop: Ints) -> bool:
    """Whether these stretches hold nothing but whole extra fields that do not change how a file is read."""
    for _ in range(_MOST_EXTRAS):
        start, stop = start[start != stop], stop[start != stop]
        if (start + 4 > stop).any():
            return False
        kind, length = (buffer[start + k] + 256 * buffer[start + k + 1].astype(np.int64) for k in (0, 2))
        if not np.isin(kind, _HARMLESS_EXTRAS).all():
            return False
        start = start + 4 + length
    return bool((start == stop).all())


def _any(path: Path) -> list[Stored]:
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    # Besides the documented one: a higher version of the format; names that are not UTF-8, and offsets before the file.
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise InputError(f"{path}: the archive is damaged ({error}); pack or download it again") from error
    return [
        Stored(
            *(_name(info), info.flag_bits, info.compress_type, info.CRC),
            *(info.compress_size, info.file_size, info.header_offset),
        )
        for info in infos
    ]


def _name(info: Any) -> str:
    """The whole name, not cut at a NUL; UTF-8 where its bytes are, flagged as such or not (macOS does not flag it)."""
    name: str = info.orig_filename
    if not info.flag_bits & _UTF8_FLAG and not name.isascii():
        try:
            return name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return name
