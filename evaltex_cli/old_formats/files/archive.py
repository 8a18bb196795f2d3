"""The files of one kind in a folder or .zip archive: listed once, read one by one, nothing ever
extracted.

No entry is trusted. Its path only serves to name an image. Its size is bounded before and while it
is decompressed: an entry whose data does not fill exactly what its header says is refused, so
headers within the limits keep the data within them too.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path, PurePosixPath

from evaltex_cli.errors import InputError, quote
from evaltex_cli.old_formats.files.entries import MAX_BYTES, ZIP_MAGIC, Entries, Entry, unreadable
from evaltex_cli.old_formats.files.image_names import image_names, without_prefix
from evaltex_cli.old_formats.files.listing import (
    Stored,
    about_data_set,
    is_class_list,
    left_out,
    stored_files,
    walk,
)
from evaltex_cli.old_formats.files.packed import GZIP_MAGIC
from evaltex_cli.runtime.input_files import natural_key

MAX_TOTAL_BYTES = 2 << 30
"""Largest sum over all entries, uncompressed."""

_held_state: ContextVar[tuple[Path, int] | None] = ContextVar("held_state", default=None)
_ENCRYPTED_FLAGS = 0x1 | 0x40 | 0x2000
_LARGEST_OFFSET = 1 << 62


def is_archive(path: Path) -> bool:
    """Whether a path is a folder, or a file that begins as a .zip does."""
    if not path.is_file():
        return path.is_dir()
    try:
        with path.open("rb") as file:
            return file.read(4) in ZIP_MAGIC
    except OSError:
        return False


def _version(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def state(path: Path) -> int:
    """Return a number that changes when the archive, or any file below the folder, does: names,
    sizes, times.

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
            return hash(tuple((name, *_version(status)) for name, status in walk(path)))
        return hash(_version(path.stat()))
    except OSError as error:
        raise unreadable(str(path), error) from error


@contextmanager
def held_state(path: Path) -> Iterator[None]:
    """Look at a path's `state` once, for all who ask inside; a large folder
    takes long to look at.
    """
    token = _held_state.set((path, state(path)))
    try:
        yield
    finally:
        _held_state.reset(token)


def open_entries(path: Path, suffix: str = ".txt") -> Entries:
    """List the files of one ending in a folder or .zip archive, of all folders in it; or one bare
    file of any ending.

    An entry's image name is its file name without the ending and without one of the prefixes
    ``poly_gt_``, ``gt_``, ``res_``, ``det_``. Where two entries of different folders would so get
    the same name, all image names are preceded by their folders, less those that all entries share.
    The files of macOS and Windows (``__MACOSX/``, ``._*``, ``.DS_Store``, ``Thumbs.db``) are passed
    over; other files, and the list of classes ``classes.txt`` that annotation tools write, are left
    out with a warning.

    Parameters
    ----------
    suffix : str
        The ending, in lower case; files may have it in any.

    Raises
    ------
    InputError
        When it cannot be read, is damaged, encrypted, packed by a method other than deflate, or has
        an entry above `MAX_BYTES`, or entries above `MAX_TOTAL_BYTES` in sum.
    """
    if path.is_file() and not is_archive(path):
        found = _bare_file(path)
    else:
        found = _entries(path, path.absolute(), suffix, state(path))
    for entry in found.entries:
        size = max(entry.size, entry.stored.packed_size if entry.stored else 0)
        if size > MAX_BYTES:
            raise InputError(
                f"{path}: entry {quote(entry.name)} has {size} bytes; at most {MAX_BYTES} are read"
            )
    total = sum(entry.size for entry in found.entries)
    if total > MAX_TOTAL_BYTES:
        raise InputError(
            f"{path}: its entries have {total} bytes; at most {MAX_TOTAL_BYTES} are read: divide it"
        )
    return found


@lru_cache(maxsize=1)
def _entries(path: Path, absolute: Path, suffix: str, state: int) -> Entries:
    """List the files as `open_entries` does, once for all formats that look at what is at a path in
    this state (`state`); in another folder, a relative path is of something else.
    """
    is_zip = not path.is_dir()
    try:
        listing = _zip_listing(path, suffix) if is_zip else _folder_listing(path)
    except OSError as error:
        raise unreadable(str(path), error) from error
    chosen: list[_Listed] = []
    others = []
    about = about_data_set([name for name, _, _ in listing])
    for item in listing:
        if item[0].lower().endswith(suffix) and not is_class_list(item[0]) and item[0] not in about:
            chosen.append(item)
        else:
            others.append(item[0])
    for name, _, stored in chosen:
        if stored is not None:
            _refuse_unreadable(path, name, stored)
    images = image_names([name for name, _, _ in chosen], suffix)
    entries = [
        Entry(name, image, size, stored)
        for (name, size, stored), image in zip(chosen, images, strict=True)
    ]
    del listing, chosen, images  # while it is sorted, a key for each entry is in memory
    entries.sort(key=lambda entry: (natural_key(entry.image), entry.image, entry.name))
    return Entries(
        str(path),
        is_zip,
        str(absolute),
        tuple(entries),
        left_out(path, sorted(others), suffix),
    )


def _bare_file(path: Path) -> Entries:
    with path.open("rb") as file:
        if b"\0" in (head := file.read(4096)) and not head.startswith(GZIP_MAGIC):
            raise InputError(
                f"{path}: not a .zip archive, and not text; pack the files as .zip, or give their"
                " folder"
            )
    size = path.stat().st_size
    image = without_prefix(PurePosixPath(path.name.removesuffix(".gz")).stem)
    return Entries(
        str(path), False, str(path.absolute()), (Entry(path.name, image, size),), is_file=True
    )


def names(path: Path) -> list[str]:
    """Return the names of all files of a folder or .zip archive but those of
    macOS and Windows; raises `InputError`.
    """
    try:
        return [
            name for name, _, _ in (_folder_listing(path) if path.is_dir() else _zip_listing(path))
        ]
    except OSError as error:
        raise unreadable(str(path), error) from error


_Listed = tuple[str, int, Stored | None]
"""Name and size of a file, and its place where it is in an archive."""


def _folder_listing(path: Path) -> list[_Listed]:
    return [(name, status.st_size, None) for name, status in walk(path)]


def _zip_listing(path: Path, suffix: str = "") -> list[_Listed]:
    with path.open("rb") as file:
        if file.read(4) not in ZIP_MAGIC:
            raise InputError(
                f"{path}: not a .zip archive; pack the {suffix} files as .zip, or give the folder"
                " of them"
            )
    return [(item.name, item.size, item) for item in _directory(path, state(path))]


@lru_cache(maxsize=1)
def _directory(path: Path, state: int) -> list[Stored]:
    """Read the directory of an archive in this state (`state`): first its
    endings are looked at, then its entries.
    """
    return stored_files(path)


def _refuse_unreadable(path: Path, name: str, stored: Stored) -> None:
    if stored.flags & _ENCRYPTED_FLAGS:
        raise InputError(
            f"{path}: entry {quote(name)} is encrypted; pack the files without a password"
        )
    if stored.method not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        found = f"entry {quote(name)} is packed by method {stored.method}"
        raise InputError(f"{path}: {found}; pack the files as an ordinary .zip (deflate)")
    if not 0 <= stored.offset < _LARGEST_OFFSET:
        raise InputError(
            f"{path}: the archive is damaged (entry {quote(name)} is not in it); pack or download"
            " it again"
        )
