"""The SHA-256 of an input."""

from __future__ import annotations

import hashlib
from pathlib import Path

from evaltex_cli.old_formats.files.entries import Entries, Entry, unreadable


class Fingerprint:
    """SHA-256 of an input while its entries pass by.

    Of the bytes of an archive or bare file; of the sorted lines ``<sha256 of entry>  <entry name>``
    of a folder.
    """

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self._lines: list[bytes] = []

    def add(self, entry: Entry, data: bytes) -> None:
        """Take the bytes of one entry."""
        if not self._entries.is_zip:
            digest = hashlib.sha256(data).hexdigest().encode()
            self._lines.append(
                digest + b"  " + entry.name.encode("utf-8", "surrogateescape") + b"\n"
            )

    def hexdigest(self) -> str:
        """Return the SHA-256 as hexadecimal digits.

        Raises
        ------
        InputError
            When the archive cannot be read.
        """
        if not self._entries.is_zip and not self._entries.is_file:
            return hashlib.sha256(b"".join(sorted(self._lines))).hexdigest()
        try:
            with Path(self._entries.file).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise unreadable(self._entries.path, error) from error
