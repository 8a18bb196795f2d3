"""Inputs as files: a text or JSON document, and a .zip archive."""

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


def zipped(
    path: Path, files: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED
) -> Path:
    """An archive of these entries, the same bytes every time."""
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in files.items():
            file.writestr(zipfile.ZipInfo(name), data, compress_type=method)
    return path
