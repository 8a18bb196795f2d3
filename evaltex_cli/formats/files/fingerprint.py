"""The SHA-256 of an input."""

from __future__ import annotations

import hashlib
import zlib
from array import array
from pathlib import Path

from evaltex_cli.formats.files.entries import Entries, Entry, unreadable
from evaltex_cli.runtime import input_files


class Fingerprint:
    """SHA-256 of an input while its entries pass by.

    Of the bytes of an archive or bare file; of the sorted lines ``<sha256 of entry>  <entry name>``
    of a folder.
    """

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self._lines: list[bytes] = []
        self._checksums = array("I")
        self._version = self._version_now()

    def add(self, entry: Entry, data: bytes) -> None:
        """Take the bytes of one entry."""
        if not self._entries.is_zip:
            self._checksums.append(zlib.crc32(data))
            digest = hashlib.sha256(data).hexdigest().encode()
            self._lines.append(
                digest + b"  " + entry.name.encode("utf-8", "surrogateescape") + b"\n"
            )

    def indexed(self) -> Entries:
        """Return the entries, all of which have been added in their order,
        with what `Entries.read_indexed` needs.
        """
        if self._entries.is_zip:
            return self._entries
        return self._entries._replace(checksums=self._checksums)

    def hexdigest(self) -> str:
        """Return the SHA-256 as hexadecimal digits.

        Raises
        ------
        InputError
            When the archive cannot be read, or has changed since its entries were.
        """
        if self._version is None:
            return hashlib.sha256(b"".join(sorted(self._lines))).hexdigest()
        try:
            with Path(self._entries.file).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise unreadable(self._entries.path, error) from error
        if self._version_now() != self._version:
            raise input_files.changed(self._entries.path)
        return digest

    def _version_now(self) -> tuple[int, ...] | None:
        """The version of the archive or bare file; None for a folder."""
        if not self._entries.is_zip and not self._entries.is_file:
            return None
        try:
            return input_files.version(Path(self._entries.file).stat())
        except OSError as error:
            raise unreadable(self._entries.path, error) from error
