"""How parameter files and results are opened: regular files only, so that no pipe blocks and no device is endless."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from evaltex_cli.errors import InputError


@contextmanager
def open_regular(path: Path, expected: str) -> Iterator[IO[bytes]]:
    """Open a regular file for reading.

    Parameters
    ----------
    expected : str
        What the user should give instead of a pipe or device.

    Raises
    ------
    InputError
        When it is a pipe, a socket or a device.
    OSError
        When it cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InputError(f"{path}: is a device or pipe; give {expected}")
        yield file


def read_regular(path: Path, expected: str, size: int = -1) -> bytes:
    """Return the content of a regular file, or its first bytes; `size` is how many at most, -1 for all.

    Raises
    ------
    InputError, OSError
        As `open_regular`.
    """
    with open_regular(path, expected) as file:
        return file.read(size)
