"""Size and time of a file: what shows that it is the file that was indexed, without reading it again."""

from __future__ import annotations

import os
from typing import NamedTuple


class Stamp(NamedTuple):
    """Bytes, and time of the last change in nanoseconds; -1 and -1 where there is no such file."""

    size: int
    time: int


ABSENT = Stamp(-1, -1)


def stamp_of(path: str | os.PathLike[str]) -> Stamp:
    """Return the stamp of what is at a path now."""
    try:
        status = os.stat(path)  # noqa: PTH116 (pathlib is slow)
    except (OSError, ValueError):
        return ABSENT
    return Stamp(status.st_size, status.st_mtime_ns)
