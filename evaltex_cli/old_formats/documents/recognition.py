"""How formats recognise documents: first bytes, endings, the root of XML."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from evaltex_cli.old_formats.files import archive, packed
from evaltex_cli.old_formats.files.entries import Entries, Entry
from evaltex_cli.old_formats.files.listing import about_data_set
from evaltex_cli.old_formats.files.text_lines import with_newlines

_HEAD_BYTES = 1 << 14
_EMPTY = 16
"""Bytes of a JSON document that says nothing of its format: that of an image
without text, ``[]`` or ``[null]``.
"""
BOM = b"\xef\xbb\xbf"
_METS_NAME = re.compile(r"(?:mets|(?:^|/)metadata)\.xml$", re.IGNORECASE)
BEGINNING_OF_JSON = re.compile(rb'\s*(?:\{\s*["}]|\[\s*(?:[{\]]|null\s*\]|\[\s*[\["]))')


def head(path: Path) -> bytes:
    """Return the first bytes of a file, of its content where gzip packed it;
    nothing of a folder or archive.
    """
    if not path.is_file() or archive.is_archive(path):
        return b""
    return with_newlines(packed.beginning(path, _HEAD_BYTES).removeprefix(BOM))


def looks_like_json(path: Path) -> bool:
    """Whether a file begins as a JSON document does."""
    return BEGINNING_OF_JSON.match(head(path)) is not None


def main_ending(path: Path, among: Sequence[str]) -> str:
    """Return the ending that most files of a folder or archive have, the
    first for a draw and for a file.
    """
    return max(among, key=endings(path).__getitem__) if archive.is_archive(path) else among[0]


def endings(path: Path) -> Counter[str]:
    """Count the files of a folder or archive by their endings, in lower case."""
    return _endings(path, archive.state(path))


@lru_cache(maxsize=4)
def _endings(path: Path, state: int) -> Counter[str]:
    names = archive.names(path)
    data = set(names) - about_data_set(names)
    return Counter(os.path.splitext(name)[1].lower() for name in data)  # noqa: PTH122 (pathlib is slow)


def first_bytes(path: Path, ending: str) -> bytes:
    """Return the first bytes of a file, or of the first file of this ending
    in a folder or archive, if any.
    """
    if not archive.is_archive(path):
        return head(path)
    return _first_entry(path, ending, archive.state(path)) if endings(path)[ending] else b""


@lru_cache(maxsize=4)
def _first_entry(path: Path, ending: str, state: int) -> bytes:
    entries = archive.open_entries(path, ending)
    return entries.read(first_with_content(entries))[:_HEAD_BYTES].removeprefix(BOM)


def first_with_content(entries: Entries) -> Entry:
    """Return the first file that is more than an empty list, as of an image without text; else the
    first file.

    Files of METS, by their names, come last.
    """
    with_content = [entry for entry in entries.entries if entry.size > _EMPTY]
    named = (entry for entry in with_content if not _METS_NAME.search(entry.name))
    return next(named, next(iter(with_content), entries.entries[0]))


def has_root(path: Path, name: str) -> bool:
    """Whether a path holds XML whose first element has this name."""
    from evaltex_cli.old_formats.documents import safe_xml  # what is no XML needs none

    start = first_bytes(path, ".xml").lstrip()
    return start.startswith(b"<") and safe_xml.root_name(start) == name
