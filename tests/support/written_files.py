"""Inputs as files: a text or JSON document, a folder, and a .zip archive."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def written(path: Path, value: Any) -> Path:
    """A file of a text, or of any other value as JSON."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def in_folder(path: Path, files: Mapping[str, str | bytes]) -> Path:
    """A folder of these files."""
    path.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def zipped(
    path: Path, files: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED
) -> Path:
    """An archive of these entries, the same bytes every time."""
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in files.items():
            file.writestr(zipfile.ZipInfo(name), data, compress_type=method)
    return path


def contents(path: Path) -> dict[str, str]:
    """The text of each file in a folder or an archive."""
    if path.is_dir():
        files = [file for file in path.rglob("*") if file.is_file()]
        return {file.relative_to(path).as_posix(): file.read_text("utf-8") for file in files}
    with zipfile.ZipFile(path) as packed:
        return {name: packed.read(name).decode() for name in packed.namelist()}
