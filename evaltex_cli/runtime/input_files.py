"""How input files are found: several in the place of one."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path

from evaltex_cli.errors import ConfigError, InputError, not_utf8


def files_of(path: Path) -> list[Path]:
    """Return the path itself, or the files that match a pattern (``gt-*.txt``), at least one."""
    if not glob.has_magic(str(path)) or os.path.lexists(path):
        return [path]
    names = sorted(filter(os.path.isfile, glob.glob(str(path), recursive=True)), key=natural_key)  # noqa: PTH207
    if not names:
        raise InputError(
            f"{path}: matches no file; give an existing file or folder, or a pattern in quotes"
        )
    return [Path(name) for name in names]


def natural_key(name: str) -> list[str | int]:
    """Return what sorts a name by its text and numbers in turn; numbers compare by value."""
    return [int(part) if k % 2 else part for k, part in enumerate(re.split("([0-9]+)", name))]


def first_bytes(path: Path, size: int) -> bytes:
    """Return the beginning of a file."""
    with path.open("rb") as file:
        return file.read(size)


def read_text(path: Path, advice: str) -> str:
    """Return the text of a file; raises `ConfigError`, with advice if it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); {advice}") from error
    except UnicodeDecodeError as error:
        wrong = not_utf8(error)
        raise ConfigError(f"{path}:{wrong.at}: {wrong.found}; expected {wrong.expected}") from error
