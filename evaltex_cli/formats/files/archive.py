"""The files of one kind in a folder or .zip archive: listed once, read one by one, nothing ever extracted.

No entry is trusted. Its path only serves to name an image. Its size is bounded before and while it is decompressed: an
entry whose data does not fill exactly what its header says is refused, so headers within the limits keep the data
within them too.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from evaltex_cli.errors import ChangedError, FaultLog, InputError, quote
from evaltex_cli.formats.files.image_names import (
    NAME_TOO_LONG,
    image_names,
    is_plain,
    is_too_long,
    is_unicode,
    leaves_result_folder,
    parts_of,
    without_prefix,
)
from evaltex_cli.formats.files.listing import (
    MAX_ENTRIES,
    Stored,
    about_data_set,
    is_class_list,
    left_out,
    stored_files,
    walk,
)
from evaltex_cli.records import Ints
from evaltex_cli.runtime.input_files import GZIP_MAGIC, natural_key, without_gzip

MAX_ENTRY_BYTES = 64 << 20
"""Largest entry, uncompressed: a hundred times the largest file of any known data set."""
MAX_TOTAL_BYTES = 2 << 30
"""Largest sum over all entries, uncompressed."""
ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
"""First bytes of an archive, and of one without entries."""

_held_state: ContextVar[tuple[Path, int] | None] = ContextVar("held_state", default=None)
_ENCRYPTED_FLAGS = 0x1 | 0x40 | 0x2000
_LARGEST_OFFSET = 1 << 62
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_READ_AHEAD = 1 << 16


class Entry(NamedTuple):
    """One file.

    Attributes
    ----------
    name : str
        As in the archive, or the path from the folder with ``/`` between its parts.
    image : str
        The image it is of.
    size : int
        Bytes, uncompressed, as the listing has it.
    stored : Stored or None
        What the archive's directory says of it; None in a folder.
    """

    name: str
    image: str
    size: int
    stored: Stored | None = None


@dataclass(frozen=True, slots=True)
class Entries:
    """The files of a folder or archive. Holds no open file, so it may be kept, or sent to a worker.

    Attributes
    ----------
    path : str
        Folder or archive, as the user wrote it.
    is_zip : bool
    file : str
        The same as an absolute path.
    entries : tuple of Entry
        Sorted by image name, numbers by their value (``img_2`` before ``img_10``).
    warnings : tuple of str
        What was left out.
    checksums : sequence of int or None
        CRC-32 of each file of a folder when it was indexed (`Fingerprint.indexed`); an archive's directory has its own.
    is_file : bool
        Whether it is one bare file, perhaps packed by gzip.
    """

    path: str
    is_zip: bool
    file: str
    entries: tuple[Entry, ...]
    warnings: tuple[str, ...] = ()
    checksums: Sequence[int] | None = None
    is_file: bool = False

    def refuse_none(self, side: str, ending: str) -> None:
        """Refuse ground truth without any entry, and detections too if there are files of other endings.

        Raises
        ------
        InputError
        """
        if not self.entries and (side == "gt" or self.warnings):
            others = "".join(warning.removeprefix(f"{self.path}: ") for warning in self.warnings)
            found = f"no {ending} file in it" + (f" ({others})" if others else "")
            raise InputError(f"{self.path}: {found}; expected one for each image")

    def place(self, entry: Entry) -> str:
        """Return archive and entry as messages name them."""
        return self.path if self.is_file else f"{self.path}/{quote(entry.name, 200)[1:-1]}"

    def only(self, positions: Ints) -> Entries:
        """Return these entries alone."""
        chosen = positions.tolist()
        checksums = self.checksums and array("I", (self.checksums[k] for k in chosen))
        return replace(self, entries=tuple(self.entries[k] for k in chosen), warnings=(), checksums=checksums)

    def read_indexed(self, positions: Ints) -> Iterator[tuple[Entry, bytes]]:
        """Yield the entries at these positions with their bytes, which are those that were indexed.

        Raises
        ------
        InputError
            As `read_many`; a `ChangedError` if a file has other bytes.
        """
        chosen = positions.tolist()
        entries = [self.entries[k] for k in chosen]
        for k, entry, data in zip(chosen, entries, self.read_many(entries), strict=True):
            if self.checksums is not None and zlib.crc32(data) != self.checksums[k]:
                raise ChangedError(self.place(entry))
            yield entry, data

    def read(self, entry: Entry) -> bytes:
        """Return the bytes of one entry; raises as `read_many`."""
        return next(self.read_many([entry]))

    def read_many(self, entries: Iterable[Entry]) -> Iterator[bytes]:
        """Yield the bytes of some entries, one at a time in memory.

        Raises
        ------
        InputError
            When an entry cannot be read, is damaged, or is not as long as its header or the listing says.
        """
        try:
            if not self.is_zip:
                for entry in entries:
                    yield self._read_file(entry)
                return
            with Path(self.file).open("rb", buffering=_READ_AHEAD) as file:
                for entry in entries:
                    yield self._unpack(file, entry)
        except OSError as error:
            error.filename = str(error.filename or "").replace(self.file, self.path, 1) or None
            raise unreadable(self.path, error) from error

    def refuse_bad_names(self, faults: FaultLog) -> None:
        """Add a fault for every entry name that is unsafe, and for every image that two entries claim."""
        images = {entry.image for entry in self.entries}
        plain = all(is_plain(entry.name) and not is_too_long(entry.name) for entry in self.entries)
        if plain and len(images) == len(self.entries) and all(map(is_plain, images)):
            return
        claimed: dict[str, Entry] = {}
        for entry in self.entries:
            name = "/".join(parts_of(entry.name))
            if leaves_result_folder(name) or leaves_result_folder(entry.image) or not is_unicode(name):
                expected = "a name in UTF-8 without '..', leading slash, drive letter or control character; rename it"
                faults.add(self.place(entry), None, f"entry name {quote(entry.name)}", expected)
            if is_too_long(entry.image):
                faults.add(self.place(entry), None, *NAME_TOO_LONG)
            first = claimed.setdefault(entry.image, entry)
            if first is not entry:
                found = f"entry {quote(entry.name)} is of image {quote(entry.image)}, as entry {quote(first.name)} is"
                faults.add(self.place(entry), None, found, "one entry for each image; delete or rename one of the two")

    def _read_file(self, entry: Entry) -> bytes:
        with (Path(self.file) if self.is_file else Path(self.file, entry.name)).open("rb") as file:
            data = file.read(entry.size + 1)
        if len(data) != entry.size:
            raise ChangedError(self.place(entry))
        return without_gzip(self.path, data, MAX_ENTRY_BYTES) if self.is_file else data

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
            f"{self.place(entry)}: the archive is damaged, or is not the one that was indexed ({why}); pack or download"
            " it again, and run when nothing writes to it"
        )


def is_archive(path: Path) -> bool:
    """Whether a path is a folder, or a file that begins as a .zip does."""
    if not path.is_file():
        return path.is_dir()
    try:
        with path.open("rb") as file:
            return file.read(4) in ZIP_MAGIC
    except OSError:
        return False


def state(path: Path) -> int:
    """Return a number that changes when the archive, or any file below the folder, does: names, sizes, times.

    Raises
    ------
    InputError
        When it cannot be read.
    """
    held = _held_state.get()
    if held is not None and held[0] == path:
        return held[1]
    try:
        if path.is_dir():
            return hash(tuple((name, *_times(status)) for name, status in walk(path)))
        return hash(_times(path.stat()))
    except OSError as error:
        raise unreadable(str(path), error) from error


@contextmanager
def held_state(path: Path) -> Iterator[None]:
    """Look at a path's `state` once, for all who ask inside; a large folder takes long to look at."""
    token = _held_state.set((path, state(path)))
    try:
        yield
    finally:
        _held_state.reset(token)


def open_entries(path: Path, suffix: str = ".txt", largest: int | None = None) -> Entries:
    """List the files of one ending in a folder or .zip archive, of all folders in it; or one bare file of any ending.

    An entry's image name is its file name without the ending and without one of the prefixes ``poly_gt_``, ``gt_``,
    ``res_``, ``det_``. Where two entries of different folders would so get the same name, all image names are
    preceded by their folders, less those that all entries share. The files of macOS and Windows (``__MACOSX/``,
    ``._*``, ``.DS_Store``, ``Thumbs.db``) are passed over; other files, and the list of classes ``classes.txt`` that
    annotation tools write, are left out with a warning.

    Parameters
    ----------
    suffix : str
        The ending, in lower case; files may have it in any.
    largest : int, optional
        Bytes of the largest entry, where it is not `MAX_ENTRY_BYTES`.

    Raises
    ------
    InputError
        When it cannot be read, is damaged, encrypted, packed by a method other than deflate, or has an
        entry above `largest`, entries above `MAX_TOTAL_BYTES` in sum, or more than `MAX_ENTRIES`.
    """
    largest = MAX_ENTRY_BYTES if largest is None else largest
    if path.is_file() and not is_archive(path):
        return _bare_file(path, largest)
    is_zip = not path.is_dir()
    try:
        listing = _zip_listing(path, suffix) if is_zip else _folder_listing(path)
    except OSError as error:
        raise unreadable(str(path), error) from error
    chosen: list[_Listed] = []
    others = []
    about = about_data_set(name for name, _, _ in listing)
    for item in listing:
        if item[0].lower().endswith(suffix) and not is_class_list(item[0]) and item[0] not in about:
            chosen.append(item)
        else:
            others.append(item[0])
    for name, _, stored in chosen:
        if stored is not None:
            _refuse_unreadable(path, name, stored, largest)
    _refuse_large(path, chosen, largest)
    images = image_names([name for name, _, _ in chosen], suffix)
    entries = [Entry(name, image, size, stored) for (name, size, stored), image in zip(chosen, images, strict=True)]
    entries.sort(key=lambda entry: (natural_key(entry.image), entry.image, entry.name))
    return Entries(str(path), is_zip, str(path.absolute()), tuple(entries), left_out(path, sorted(others), suffix))


def _bare_file(path: Path, largest: int) -> Entries:
    with path.open("rb") as file:
        if b"\0" in (head := file.read(4096)) and not head.startswith(GZIP_MAGIC):
            raise InputError(f"{path}: not a .zip archive, and not text; pack the files as .zip, or give their folder")
    size = path.stat().st_size
    _refuse_large_entry(path, path.name, size, largest)
    image = without_prefix(PurePosixPath(path.name.removesuffix(".gz")).stem)
    return Entries(str(path), False, str(path.absolute()), (Entry(path.name, image, size),), is_file=True)


def names(path: Path) -> list[str]:
    """Return the names of all files of a folder or .zip archive but those of macOS and Windows; raises `InputError`."""
    try:
        return [name for name, _, _ in (_folder_listing(path) if path.is_dir() else _zip_listing(path))]
    except OSError as error:
        raise unreadable(str(path), error) from error


_Listed = tuple[str, int, Stored | None]
"""Name and size of a file, and its place where it is in an archive."""


def _folder_listing(path: Path) -> list[_Listed]:
    return [(name, status.st_size, None) for name, status in walk(path)]


def _zip_listing(path: Path, suffix: str = "") -> list[_Listed]:
    with path.open("rb") as file:
        if file.read(4) not in ZIP_MAGIC:
            raise InputError(f"{path}: not a .zip archive; pack the {suffix} files as .zip, or give the folder of them")
    return [(item.name, item.size, item) for item in _directory(path, state(path))]


@lru_cache(maxsize=1)
def _directory(path: Path, state: int) -> list[Stored]:
    """Read the directory of an archive in this state (`state`): first its endings are looked at, then its entries."""
    return stored_files(path)


def _refuse_unreadable(path: Path, name: str, stored: Stored, largest: int) -> None:
    if stored.flags & _ENCRYPTED_FLAGS:
        raise InputError(f"{path}: entry {quote(name)} is encrypted; pack the files without a password")
    if stored.method not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        found = f"entry {quote(name)} is packed by method {stored.method}"
        raise InputError(f"{path}: {found}; pack the files as an ordinary .zip (deflate)")
    if not 0 <= stored.offset < _LARGEST_OFFSET:
        raise InputError(
            f"{path}: the archive is damaged (entry {quote(name)} is not in it); pack or download it again"
        )
    _refuse_large_entry(path, name, stored.packed_size, largest)


def _refuse_large_entry(path: Path, name: str, size: int, largest: int) -> None:
    if size > largest:
        raise InputError(f"{path}: entry {quote(name)} has {size} bytes; at most {largest} are read")


def _refuse_large(path: Path, listing: list[_Listed], largest: int) -> None:
    for name, size, _ in listing:
        _refuse_large_entry(path, name, size, largest)
    total = sum(size for _, size, _ in listing)
    if total > MAX_TOTAL_BYTES:
        raise InputError(f"{path}: its entries have {total} bytes; at most {MAX_TOTAL_BYTES} are read: divide it")
    if len(listing) > MAX_ENTRIES:
        raise InputError(f"{path}: {len(listing)} entries; at most {MAX_ENTRIES} are read: divide it")


def _times(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def unreadable(path: str, error: OSError) -> InputError:
    what = f"{path}: " + (f"{error.filename} " if error.filename not in (None, path) else "")
    return InputError(f"{what}cannot be read ({error.strerror or error}); check the path and its permissions")
