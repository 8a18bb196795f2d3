"""Where the file of parameters is; apart from what reads it, which needs numpy."""

from __future__ import annotations

from pathlib import Path

_NAME = "evaltex.ini"


def find_config(given: Path | None) -> Path | None:
    """The file to read: the given one, else `evaltex.ini` in the current folder, else none."""
    if given is not None:
        return given
    return Path(_NAME) if Path(_NAME).is_file() else None
