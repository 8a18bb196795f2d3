"""How input files are found and opened: several in the place of one, and regular files only."""

from __future__ import annotations

import contextlib
import glob
import io
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from evaltex_cli.errors import InputError, quote

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


def changed(path: Path | str) -> InputError:
    """Return the error of an input that was written to between two readings of it."""
    return InputError(f"{path}: changed while it was read; run again when nothing writes to it")
