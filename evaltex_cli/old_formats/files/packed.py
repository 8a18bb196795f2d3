"""Files that gzip packed."""

from __future__ import annotations

import io
import os
import weakref
import zlib
from pathlib import Path

from evaltex_cli.errors import InputError
from evaltex_cli.runtime.input_files import first_bytes

GZIP_MAGIC = b"\x1f\x8b"
MOST_UNPACKED = 200
"""Annotations pack to a fifth or a tenth; what unpacks to more than this many times its size is
made to fill disks.
"""
_BLOCK_BYTES = 1 << 20


def is_packed(path: Path) -> bool:
    """Whether a file begins as gzip does."""
    return path.is_file() and first_bytes(path, 2) == GZIP_MAGIC


def beginning(path: Path, size: int) -> bytes:
    """Return the first bytes of a file, of its content where gzip packed it; none where that is
    damaged.
    """
    data = first_bytes(path, size)
    try:
        is_gzip = data.startswith(GZIP_MAGIC)
        return zlib.decompressobj(wbits=31).decompress(data, size) if is_gzip else data
    except zlib.error:
        return b""


def without_gzip(path: str | Path, data: bytes, most: int) -> bytes:
    """Return what gzip packed into the bytes of a file, else the bytes themselves.

    Raises
    ------
    InputError
        When they are damaged, or unpack to more than `most` bytes.
    """
    if not data.startswith(GZIP_MAGIC):
        return data
    import gzip

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            content = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(path, error) from error
    if len(content) > most:
        raise InputError(f"{path}: larger than {most} bytes when unpacked; at most these are read")
    return content


def unpacked(path: Path) -> Path:
    """Return a file to read at random: the path itself, or a temporary file with its content, which
    is removed when nothing refers to the returned path any more.

    Raises
    ------
    InputError
        When it is damaged, larger than `MOST_UNPACKED` times the packed file, or there is no room.
    """
    if not is_packed(path):
        return path
    import gzip
    import tempfile

    descriptor, name = tempfile.mkstemp(prefix="evaltex-", suffix=".txt")
    temporary = _Temporary(name)
    weakref.finalize(temporary, _remove, name, os.getpid())
    left = max(path.stat().st_size, _BLOCK_BYTES) * MOST_UNPACKED
    try:
        with gzip.open(path) as packed, os.fdopen(descriptor, "wb") as target:
            while left >= 0 and (block := packed.read(_BLOCK_BYTES)):
                target.write(block)
                left -= len(block)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise _damaged(path, error) from error
    except OSError as error:
        raise InputError(
            f"{path}: cannot be unpacked to {tempfile.gettempdir()} ({error.strerror}); make room,"
            " or name another folder by TMPDIR"
        ) from error
    if left < 0:
        raise InputError(
            f"{path}: unpacks to more than {MOST_UNPACKED} times its size; unpack it yourself"
        )
    return temporary


def _damaged(path: str | Path, error: Exception) -> InputError:
    return InputError(f"{path}: damaged gzip data ({error}); pack or download it again")


class _Temporary(type(Path())):  # type: ignore[misc]
    """The path of a temporary file; unlike `Path`, it can have weak references."""


def _remove(name: str, process: int) -> None:
    if os.getpid() == process:  # else a worker ends
        Path(name).unlink(missing_ok=True)
