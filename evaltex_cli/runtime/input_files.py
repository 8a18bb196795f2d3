"""How input files are opened: several in the place of one, gzip unpacked, regular files only."""

from __future__ import annotations

import contextlib
import glob
import io
import os
import re
import stat
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path

from evaltex_cli.errors import InputError, quote

GZIP_MAGIC = b"\x1f\x8b"
MOST_UNPACKED = 200
"""Annotations pack to a fifth or a tenth; what unpacks to more than this many times its size is
made to fill disks.
"""
_BLOCK_BYTES = 1 << 20
_DIGITS = re.compile(r"[0-9]+")


def files_of(path: Path) -> list[Path]:
    """Return the path itself, or the files that match where it is a pattern (``gt-*.txt``), numbers
    by their value.

    Raises
    ------
    InputError
        When a pattern matches no file.
    """
    if not glob.has_magic(str(path)) or os.path.lexists(path):
        return [path]
    names = sorted(filter(os.path.isfile, glob.glob(str(path), recursive=True)), key=natural_key)  # noqa: PTH207
    if not names:
        raise InputError(
            f"{path}: matches no file; give an existing file or folder, or a pattern in quotes"
        )
    return [Path(name) for name in names]


def natural_key(name: str) -> str:
    """Return what sorts a name by its text and numbers in turn; numbers
    compare by value, however long.
    """
    return _DIGITS.sub(_by_value, name)


def _by_value(number: re.Match[str]) -> str:
    """What sorts before all text, and by how many digits a number has before it does by them."""
    digits = number[0].lstrip("0")
    return f"\0{chr(len(digits))}{digits}"


@contextlib.contextmanager
def open_regular(path: Path, expected: str) -> Iterator[io.BufferedReader]:
    """Open a regular file for reading, so that no pipe blocks and no device is endless.

    Parameters
    ----------
    expected : str
        What the user should give instead of a pipe or device.

    Raises
    ------
    InputError
        When it is a pipe, a socket or a device, or no path can have that name.
    OSError
        When it cannot be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError as error:  # a null character, or half of a surrogate pair
        raise InputError(f"{quote(str(path))}: is no path ({error}); give {expected}") from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InputError(f"{path}: is a device or pipe; give {expected}")
        yield file


def read_regular(path: Path, expected: str, size: int = -1) -> bytes:
    """Return the content of a regular file, or at most `size` bytes; raises as `open_regular`."""
    with open_regular(path, expected) as file:
        return file.read(size)


def version(status: os.stat_result) -> tuple[int, int, int, int]:
    """Return what changes with any change of a file, also if its times are restored then."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def changed(path: Path | str) -> InputError:
    """Return the error of an input that was written to between two readings of it."""
    return InputError(f"{path}: changed while it was read; run again when nothing writes to it")


# gzip ---------------------------------------------------------------------------------------------


def is_packed(path: Path) -> bool:
    """Whether a file begins as gzip does."""
    return path.is_file() and read_regular(path, "a file", 2) == GZIP_MAGIC


def beginning(path: Path, size: int) -> bytes:
    """Return the first bytes of a file, of its content where gzip packed it; none where that is
    damaged.
    """
    data = read_regular(path, "a file", size)
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
