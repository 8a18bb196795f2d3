"""How input files are opened: several in the place of one, gzip unpacked to temporary files, and
regular files only.

Parameter files and results are regular files, so that no pipe blocks and no device is endless.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import io
import os
import re
import stat
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from evaltex_cli.errors import InputError, quote

GZIP_MAGIC = b"\x1f\x8b"
MOST_UNPACKED = 200
"""Annotations pack to a fifth or a tenth; what unpacks to more than this many
times its size is made to fill disks.
"""
_BLOCK_BYTES = 1 << 20
_MOST_OPEN = 256
"""Unpacked files beyond this descriptor have names: processes have about
1,000 descriptors.
"""
_NO_MEMORY = "Error -4 "
"""How zlib's errors begin if it gets no memory."""
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


def is_packed(path: Path) -> bool:
    """Whether a file begins as gzip does."""
    if not path.is_file():
        return False
    return read_regular(path, "a file", 2) == GZIP_MAGIC


def unpacks(path: Path) -> bool:
    """Whether a file, or one of a pattern's, is unpacked to a temporary file when it is opened."""
    return any(map(is_packed, files_of(path)))


def refuse_packed(paths: Sequence[Path]) -> None:
    """Refuse what would be unpacked on this machine alone."""
    for path in filter(unpacks, paths):
        raise InputError(
            f"{path}: packed by gzip, and workers of a cluster would not see it unpacked; unpack it"
        )


def beginning(path: Path, size: int) -> bytes:
    """Return the first bytes of a file, of its content where gzip packed it;
    fewer where it is damaged.
    """
    with path.open("rb") as file:
        data = file.read(size)
    if data.startswith(GZIP_MAGIC):
        try:
            return zlib.decompressobj(wbits=31).decompress(data, size)
        except zlib.error as error:
            refuse_short_memory(error)
            return b""
    return data


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
            found = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(path, error) from error
    if len(found) > most:
        raise InputError(f"{path}: larger than {most} bytes when unpacked; at most these are read")
    return found


def refuse_short_memory(error: Exception) -> None:
    """Raise MemoryError for a failure to unpack that is no fault of the data."""
    if isinstance(error, zlib.error) and str(error).startswith(_NO_MEMORY):
        raise MemoryError from error


def _damaged(path: str | Path, error: Exception) -> InputError:
    refuse_short_memory(error)
    return InputError(f"{path}: damaged gzip data ({error}); pack or download it again")


def unpacked(path: Path) -> Path:
    """Return a file to read at random: the path itself, or a temporary file with its content.

    The temporary file is removed when nothing refers to the returned path any more, at the latest
    with this process. Where the system allows it, it has no name in its folder, so nothing is left
    of a process that is killed.

    Raises
    ------
    InputError
        When it is damaged, or larger than `MOST_UNPACKED` times the packed file.
    """
    if not is_packed(path):
        return path
    import gzip
    import tempfile

    descriptor, name = tempfile.mkstemp(prefix="evaltex-", suffix=".txt")
    temporary = _Temporary(f"/proc/{os.getpid()}/fd/{descriptor}")
    is_nameless = descriptor < _MOST_OPEN and temporary.exists()
    if is_nameless:
        _remove(name, os.getpid())
        weakref.finalize(temporary, _close, descriptor, os.getpid())
    else:
        temporary = _Temporary(name)
        weakref.finalize(temporary, _remove, name, os.getpid())
    left = max(path.stat().st_size, _BLOCK_BYTES) * MOST_UNPACKED
    with (
        no_room(),
        gzip.open(path) as packed,
        open(descriptor, "wb", closefd=not is_nameless) as target,
    ):
        try:
            while block := packed.read(_BLOCK_BYTES):
                target.write(block)
                left -= len(block)
                if left < 0:
                    raise InputError(
                        f"{path}: unpacks to more than {MOST_UNPACKED} times its size; unpack it"
                        " yourself"
                    )
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise _damaged(path, error) from error
    return temporary


@contextlib.contextmanager
def no_room() -> Iterator[None]:
    """Say where there is no room for a temporary file that is written."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        import tempfile

        raise InputError(
            f"{tempfile.gettempdir()}: has no room for a temporary file ({error.strerror}); make"
            " some, or name another folder by TMPDIR"
        ) from error


class _Temporary(type(Path())):  # type: ignore[misc]
    """The path of a temporary file; in contrast to `Path`, weak references to it are possible."""


def _remove(name: str, process: int) -> None:
    if os.getpid() == process:
        with contextlib.suppress(OSError):
            Path(name).unlink()


def _close(descriptor: int, process: int) -> None:
    if os.getpid() == process:
        os.close(descriptor)


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
    """Open a regular file for reading.

    Parameters
    ----------
    expected : str
        What the user should give instead of a pipe or device.

    Raises
    ------
    InputError
        When it is a pipe, a socket or a device, or no path can be of that name.
    OSError
        When it cannot be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError as error:  # a null character, or half of a surrogate pair
        raise InputError(f"{quote(str(path))}: is no path ({error}); give {expected}") from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _no_file(path, expected)
        yield file


def _no_file(path: Path, expected: str) -> InputError:
    return InputError(f"{path}: is a device or pipe; give {expected}")


def read_regular(path: Path, expected: str, size: int = -1) -> bytes:
    """Return the content of a regular file, or its first bytes; `size` is how many at most, -1 for
    all.

    Raises
    ------
    InputError, OSError
        As `open_regular`.
    """
    with open_regular(path, expected) as file:
        content: bytes | None = file.read(size)
    if content is None:  # nothing yet, as of /proc/kmsg, which is said to be a file
        raise _no_file(path, expected)
    return content


def version(status: os.stat_result) -> tuple[int, int, int, int]:
    """Return what changes with any change of a file, also if its times are restored then."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def stamps(paths: Iterable[Path]) -> dict[Path, tuple[int, int, int]]:
    """Return what distinguishes a file from a later one in its place; folders
    and what is not there are left out.
    """
    return {
        path: (status.st_size, status.st_mtime_ns, status.st_ino)
        for path in paths
        if path.is_file() and (status := path.stat())
    }


def refuse_changed(before: Mapping[Path, tuple[int, int, int]]) -> None:
    """Refuse files that have been written to since their `stamps` were taken."""
    for path, stamp in stamps(before).items():
        if stamp != before[path]:
            raise changed(path)


def changed(path: Path | str) -> InputError:
    """Return the error of an input that was written to between two readings of it."""
    return InputError(f"{path}: changed while it was read; run again when nothing writes to it")
