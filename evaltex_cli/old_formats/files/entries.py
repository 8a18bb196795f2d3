"""Files of a folder or archive as they were listed, and their bytes: nothing is ever extracted."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from evaltex_cli.errors import FaultLog, InputError, quote
from evaltex_cli.old_formats.files.image_names import (
    NAME_TOO_LONG,
    is_plain,
    is_too_long,
    is_unicode,
    leaves_result_folder,
    parts_of,
)
from evaltex_cli.old_formats.files.listing import Stored
from evaltex_cli.old_formats.files.packed import without_gzip
from evaltex_cli.old_formats.files.text_lines import with_newlines
from evaltex_cli.progress import tracked
from evaltex_cli.records import Ints

MAX_BYTES = 1 << 30
"""Largest file, uncompressed."""
ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
"""First bytes of an archive, and of one without entries."""
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_READ_AHEAD = 1 << 16


class Entry(NamedTuple):
    """One file."""

    name: str
    """As in the archive, or the path from the folder with ``/`` between its parts."""
    image: str
    """The image it is of."""
    size: int
    """Bytes, uncompressed, as the listing has it."""
    stored: Stored | None = None
    """What the archive's directory says of it; None in a folder."""


class Entries(NamedTuple):
    """The files of a folder or archive, without an open file: may be kept, or sent to a worker."""

    path: str
    """Folder or archive, as the user wrote it."""
    is_zip: bool
    file: str
    """The same as an absolute path."""
    entries: tuple[Entry, ...]
    """Sorted by image name, numbers by their value (``img_2`` before ``img_10``)."""
    warnings: tuple[str, ...] = ()
    """What was left out."""
    is_file: bool = False
    """Whether it is one bare file, perhaps packed by gzip."""

    def refuse_none(self, side: str, ending: str) -> None:
        """Refuse an input without any entry: another folder was meant, or what should have filled
        it failed.
        """
        if not self.entries:
            others = "".join(warning.removeprefix(f"{self.path}: ") for warning in self.warnings)
            found = f"no {ending} file in it" + (f" ({others})" if others else "")
            also = " (an image without detections has an empty one)" if side == "det" else ""
            raise InputError(f"{self.path}: {found}; expected one for each image{also}")

    def place(self, entry: Entry) -> str:
        """Return archive and entry as messages name them."""
        return self.path if self.is_file else f"{self.path}/{quote(entry.name, 200)[1:-1]}"

    def only(self, positions: Ints) -> Entries:
        """Return these entries alone."""
        chosen = tuple(self.entries[k] for k in positions.tolist())
        return self._replace(entries=chosen, warnings=())

    def read(self, entry: Entry) -> bytes:
        """Return the bytes of one entry; raises as `read_many`."""
        return next(self.read_many([entry]))

    def read_many(self, entries: Sequence[Entry]) -> Iterator[bytes]:
        """Yield the bytes of some entries, one at a time in memory, with newlines
        (`text_lines.with_newlines`).

        Raises
        ------
        InputError
            When an entry cannot be read, is damaged, or is not as long as its header or the listing
            says.
        """
        counted = tracked(entries, f"reading {Path(self.path).name}", "files", len(entries))
        try:
            if not self.is_zip:
                for entry in counted:
                    yield with_newlines(self._read_file(entry))
                return
            with Path(self.file).open("rb", buffering=_READ_AHEAD) as file:
                for entry in counted:
                    yield with_newlines(self._unpack(file, entry))
        except OSError as error:
            error.filename = str(error.filename or "").replace(self.file, self.path, 1) or None
            raise unreadable(self.path, error) from error

    def refuse_bad_names(self, faults: FaultLog) -> None:
        """Add a fault for every entry name that is unsafe, and for every
        image that two entries claim.
        """
        images = {entry.image for entry in self.entries}
        plain = all(is_plain(entry.name) and not is_too_long(entry.name) for entry in self.entries)
        if plain and len(images) == len(self.entries) and all(map(is_plain, images)):
            return
        claimed: dict[str, Entry] = {}
        for entry in self.entries:
            name = "/".join(parts_of(entry.name))
            if (
                leaves_result_folder(name)
                or leaves_result_folder(entry.image)
                or not is_unicode(name)
            ):
                expected = (
                    "a name in UTF-8 without '..', leading slash, drive letter or control"
                    " character; rename it"
                )
                faults.add(self.place(entry), None, f"entry name {quote(entry.name)}", expected)
            if is_too_long(entry.image):
                faults.add(self.place(entry), None, *NAME_TOO_LONG)
            first = claimed.setdefault(entry.image, entry)
            if first is not entry:
                found = (
                    f"entry {quote(entry.name)} is of image {quote(entry.image)}, as entry"
                    f" {quote(first.name)} is"
                )
                faults.add(
                    self.place(entry),
                    None,
                    found,
                    "one entry for each image; delete or rename one of the two",
                )

    def _read_file(self, entry: Entry) -> bytes:
        with (Path(self.file) if self.is_file else Path(self.file, entry.name)).open("rb") as file:
            data = file.read(entry.size + 1)
        if len(data) != entry.size:
            place = self.place(entry)
            raise InputError(
                f"{place}: changed while it was read; run again when nothing writes to it"
            )
        return without_gzip(self.path, data, MAX_BYTES) if self.is_file else data

    def _unpack(self, file: BinaryIO, entry: Entry) -> bytes:
        stored = entry.stored
        assert stored is not None
        file.seek(stored.offset)
        data = file.read(_LOCAL_HEADER.size + len(entry.name) + stored.packed_size)
        if len(data) < _LOCAL_HEADER.size or not data.startswith(ZIP_MAGIC[0]):
            raise self._damaged(entry, "its header is not where the archive's directory says")
        _, name_length, extra_length = _LOCAL_HEADER.unpack_from(data)
        start = _LOCAL_HEADER.size + name_length + extra_length
        stop = start + stored.packed_size
        data = (data + file.read(stop - len(data)) if stop > len(data) else data)[start:stop]
        if stored.method == zipfile.ZIP_DEFLATED:
            try:
                data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, entry.size + 1)
            except zlib.error as error:
                raise self._damaged(entry, str(error)) from error
        if len(data) != entry.size:
            difference = "longer" if len(data) > entry.size else "shorter"
            raise self._damaged(entry, f"its data is {difference} than announced")
        if zlib.crc32(data) != stored.crc:
            raise self._damaged(entry, "its checksum is wrong")
        return data

    def _damaged(self, entry: Entry, why: str) -> InputError:
        return InputError(
            f"{self.place(entry)}: the archive is damaged, or is not the one that was indexed"
            f" ({why}); pack or download"
            " it again, and run when nothing writes to it"
        )


def unreadable(path: str, error: OSError) -> InputError:
    what = f"{path}: " + (f"{error.filename} " if error.filename not in (None, path) else "")
    return InputError(
        f"{what}cannot be read ({error.strerror or error}); check the path and its permissions"
    )
