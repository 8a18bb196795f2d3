"""The directory of a .zip archive: read here if it is of the usual form, else by `zipfile`, which
takes five times as long for each entry.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from evaltex_cli.errors import InputError

STORED, DEFLATED = 0, 8
"""Methods of packing, as the format numbers them."""
_END = struct.Struct("<4s8x2LH")
_END_64 = struct.Struct("<4s36x2Q")
_ENTRY = struct.Struct("<4s2xBx2H4x3L3H8xL")
_LOCATOR_BYTES = 20
_LATEST_VERSION = 63
"""Of the format, times ten: the latest that `zipfile` knows."""
_ELSEWHERE = 0xFFFFFFFF
"""In the place of a number of more than 32 bits, which is in an extra field."""
_UTF8_FLAG = 0x800


class Stored(NamedTuple):
    """A file as the archive's directory has it; sizes in bytes, the offset
    that of its local header.
    """

    name: str
    flags: int
    method: int
    crc: int
    packed_size: int
    size: int
    offset: int


def directory_of(path: Path) -> Iterator[Stored]:
    """Yield what an archive has, files and folders, in the directory's order.

    Raises
    ------
    InputError
        When the archive is damaged.
    OSError
        When it cannot be read.
    """
    found = _usual(path)
    yield from _any(path) if found is None else found


def _usual(path: Path) -> list[Stored] | None:
    """Return the entries of an archive without a comment, bytes before it or an entry of more than
    4 GB; None for any other, sound or not.
    """
    found: list[Stored] = []
    try:
        directory, at = _bytes(path), 0
        while at < len(directory):
            mark, version, flags, method, crc, packed, size, name, extra, comment, offset = (
                _ENTRY.unpack_from(directory, at)
            )
            at += _ENTRY.size
            beyond = _ELSEWHERE in (packed, size, offset)
            if mark != b"PK\x01\x02" or version > _LATEST_VERSION or beyond:
                return None
            shown = _name(directory[at : at + name], flags)
            found.append(Stored(shown, flags, method, crc, packed, size, offset))
            at += name + extra + comment
    except (struct.error, UnicodeDecodeError):
        return None
    return found if at == len(directory) else None


def _bytes(path: Path) -> bytes:
    """Return the directory of an archive that ends in it and the records of where it is;
    `struct.error` if it does not.
    """
    with path.open("rb") as file:
        stop = file.seek(0, os.SEEK_END) - _END.size
        file.seek(max(stop - _LOCATOR_BYTES - _END_64.size, 0))
        tail = file.read()
        mark, size, begin, comment = _END.unpack(tail[-_END.size :])
        usual = b"PK\x05\x06", 0
        if tail[-_END.size - _LOCATOR_BYTES :].startswith(b"PK\x06\x07"):
            mark, size, begin = _END_64.unpack(tail[: _END_64.size])
            stop -= _LOCATOR_BYTES + _END_64.size
            usual = b"PK\x06\x06", 0
        if (mark, comment) != usual or begin + size != stop:
            raise struct.error
        file.seek(begin)
        return file.read(size)


def _name(name: bytes, flags: int) -> str:
    """The whole name; UTF-8 if its bytes are, flagged as such or not (macOS does not flag it)."""
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        if flags & _UTF8_FLAG:
            raise
        return name.decode("cp437")


def _any(path: Path) -> Iterator[Stored]:
    import zipfile  # most archives are of the usual form

    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.filelist
            archive.NameToInfo.clear()  # each entry is freed once it has been looked at
    # zipfile also raises NotImplementedError for a later version of the format, and ValueError for
    # names that are not UTF-8 and offsets before the file (tests/formats/test_archive.py).
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise InputError(
            f"{path}: the archive is damaged ({error}); pack or download it again"
        ) from error
    infos.reverse()
    while infos:
        info = infos.pop()
        flags = info.flag_bits
        name: str = info.orig_filename
        if not flags & _UTF8_FLAG:
            name = _name(name.encode("cp437"), flags)
        sizes = info.compress_size, info.file_size, info.header_offset
        yield Stored(name, flags, info.compress_type, info.CRC, *sizes)
