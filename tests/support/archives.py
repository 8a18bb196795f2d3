"""Fields of .zip archives changed, and what is read from an archive or a folder."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from evaltex_cli.errors import InputError
from evaltex_cli.old_formats.files import archive

CENTRAL_HEADER = b"PK\x01\x02"
FLAGS, METHOD, CRC, SIZE, OFFSET = (8, "<H"), (10, "<H"), (16, "<I"), (24, "<I"), (42, "<I")
"""Where fields of a central directory header stand, and their types (APPNOTE 4.3.12)."""


def patched(path: Path, field: tuple[int, str], value: int) -> Path:
    """Overwrite a field of the first entry in the central directory."""
    data = bytearray(path.read_bytes())
    struct.pack_into(field[1], data, data.index(CENTRAL_HEADER) + field[0], value)
    path.write_bytes(data)
    return path


def contents(path: Path) -> dict[str, bytes]:
    entries = archive.open_entries(path)
    return dict(
        zip(
            [entry.image for entry in entries.entries],
            entries.read_many(entries.entries),
            strict=True,
        )
    )


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        contents(path)
    message = str(caught.value)
    assert message.startswith(str(path)) and "\n" not in message
    return message
