"""The files of an input: one file (perhaps packed by gzip), or those of a folder or .zip archive.

Nothing is ever extracted, and an entry's path only serves to name an image.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import posixpath
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaltex_cli.errors import InputError, counted, listed, quote
from evaltex_cli.formats.names import image_names, parts_of, without_prefix
from evaltex_cli.runtime.input_files import natural_key

MAX_BYTES = 1 << 30
"""Largest file, unpacked."""
MAX_TOTAL_BYTES = 2 << 30
"""Largest sum over the files of an archive that are read, unpacked."""
MOST_UNPACKED = 100
"""Annotations pack to a fifth or a tenth; what unpacks to more than this many times its size, and
to more than `_SURELY_HARMLESS` bytes, is made to fill memory."""
_SURELY_HARMLESS = 16 << 20
_GZIP = b"\x1f\x8b"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_SHOWN = 3
_EMPTY = 16
"""Bytes of a document that says nothing of its format, ``[]`` or ``[null]``."""
_CLUTTER = re.compile(r"(?:^|/)(?:__MACOSX/|\._|\.ds_store$|thumbs\.db$)", re.IGNORECASE)
_BAG = re.compile(r"bagit\.txt|bag-info\.txt|(?:tag)?manifest-\w+\.txt|fetch\.txt", re.IGNORECASE)
_SPLIT = re.compile(r"(?:train|valid|validation|val|test)\.txt", re.IGNORECASE)
_METS = re.compile(r"(?:mets|(?:^|/)metadata)\.xml$", re.IGNORECASE)


@dataclass(frozen=True)
class Entry:
    """One file of an input."""

    name: str
    """From the folder, or as in the archive; the file's own name where it is the input."""
    image: str
    """The name of its image, if it has one image."""
    size: int
    """Bytes, unpacked."""

    @property
    def ending(self) -> str:
        """Its ending with the dot, in lower case, without that of gzip."""
        return posixpath.splitext(self.name.lower().removesuffix(".gz"))[1]


@dataclass(frozen=True)
class Listing:
    """All files of an input but those that macOS and Windows add."""

    path: Path
    kind: str
    """file, folder, zip, or several: files that match a pattern, which is the path."""
    entries: tuple[Entry, ...]

    def place(self, entry: Entry) -> str:
        """Return where a file is, as messages name it."""
        if self.kind == "several":
            return entry.name
        return str(self.path) if self.kind == "file" else f"{self.path}/{entry.name}"

    def endings(self) -> Counter[str]:
        """Count the files by their endings, without those about a data set."""
        about = _about_data_set(self.entries)
        return Counter(entry.ending for entry in self.entries if entry.name not in about)

    def chosen(self, endings: Sequence[str]) -> tuple[Listing, tuple[str, ...]]:
        """Return the listing of those files that have one of these endings, sorted by the names of
        their images, and warnings about the others. A file that is the input stays. Raises
        `InputError` for an archive of which they unpack to more than is read.
        """
        if self.kind in ("file", "several"):
            return self, ()
        about = _about_data_set(self.entries)
        chosen: list[Entry] = []
        others: list[Entry] = []
        classes: list[str] = []
        for entry in self.entries:
            if entry.name in about:
                continue
            if parts_of(entry.name)[-1].lower() == "classes.txt":
                classes.append(entry.name)
            else:
                (chosen if entry.ending in endings else others).append(entry)
        names = image_names([_stem(entry.name) for entry in chosen])
        named = [Entry(e.name, image, e.size) for e, image in zip(chosen, names, strict=True)]
        named.sort(key=lambda entry: (natural_key(entry.image), entry.image, entry.name))
        warnings = [
            f"{self.path}: a list of classes was left out: {quote(name)}"
            for name in classes
            if ".txt" in endings
        ]
        if about:
            count = counted(len(about), "{count} file[s] about the data set [was|were] left out")
            warnings.append(f"{self.path}: {count}: {listed(sorted(about), _SHOWN)}")
        left = sorted([e.name for e in others] + ([] if ".txt" in endings else classes))
        if left:
            what = f"{{count}} file[s] that [is|are] not {' or '.join(endings)} [was|were] left out"
            shown = ", ".join(map(quote, left[:_SHOWN])) + (", ..." if len(left) > _SHOWN else "")
            warnings.append(f"{self.path}: {counted(len(left), what)}: {shown}")
        listing = Listing(self.path, self.kind, tuple(named))
        listing._refuse_bomb()
        return listing, tuple(warnings)

    def _refuse_bomb(self) -> None:
        """Refuse an archive whose files unpack to more than is read."""
        total = sum(entry.size for entry in self.entries)
        if self.kind == "zip":
            most = min(MAX_TOTAL_BYTES, _most_unpacked(self.path.stat().st_size))
            if total > most:
                raise InputError(
                    f"{self.path}: its files have {total} bytes; at most {most} are read:"
                    " divide it, or unpack it yourself"
                )

    def read(self, entries: Sequence[Entry] | None = None) -> Iterator[bytes]:
        """Yield the bytes of some files, of all by default, unpacked.

        Raises
        ------
        InputError
            For what is damaged, or unpacks to more than is read.
        """
        entries = self.entries if entries is None else entries
        if self.kind == "zip":
            yield from self._read_zip(entries)
            return
        for entry in entries:
            yield unpacked(self.place(entry), read_file(Path(self.place(entry))))

    def _read_zip(self, entries: Sequence[Entry]) -> Iterator[bytes]:
        with zipfile.ZipFile(self.path) as archive:
            infos = {_name(info): info for info in archive.infolist()}
            for entry in entries:
                try:
                    data = archive.read(infos[entry.name])
                except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
                    raise InputError(
                        f"{self.place(entry)}: the archive is damaged ({error}); pack or download"
                        " it again"
                    ) from error
                except RuntimeError as error:  # a password, or a method that is not known
                    raise InputError(
                        f"{self.place(entry)}: cannot be unpacked ({error}); pack the files as an"
                        " ordinary .zip without a password"
                    ) from error
                yield unpacked(self.place(entry), data)

    def beginning(self, entry: Entry, size: int) -> bytes:
        """Return the first bytes of a file, unpacked; none where it is damaged."""
        if self.kind == "zip":
            try:
                with zipfile.ZipFile(self.path) as archive:
                    infos = {_name(info): info for info in archive.infolist()}
                    with archive.open(infos[entry.name]) as file:
                        return _beginning(file.read(size), size)
            except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError):
                return b""
        with Path(self.place(entry)).open("rb") as file:
            return _beginning(file.read(size), size)

    def first_with_content(self) -> Entry:
        """Return the first file that is more than an empty list, as of an image without text; else
        the first. Files of METS come last.
        """
        full = [entry for entry in self.entries if entry.size > _EMPTY]
        named = [entry for entry in full if not _METS.search(entry.name)]
        return (named or full or list(self.entries))[0]

    def sha256(self, digests: Sequence[str]) -> str:
        """Return the SHA-256 of the file, unpacked, or of the archive; of the sorted lines
        ``<sha256>  <name>`` of the files of a folder. `digests` are of the files.
        """
        if self.kind == "file":
            return digests[0]
        if self.kind == "zip":
            with self.path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        lines = [
            f"{digest}  {entry.name}\n".encode("utf-8", "surrogateescape")
            for entry, digest in zip(self.entries, digests, strict=True)
        ]
        return hashlib.sha256(b"".join(sorted(lines))).hexdigest()


def open_listing(path: Path) -> Listing:
    """List the files of an input.

    Raises
    ------
    InputError
        When there is none, or it cannot be read, is damaged, or too large.
    """
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise InputError(
                f"{path}: is a pipe or device, and input is read more than once; write it to a file"
            )
        if path.is_dir():
            listing = Listing(path, "folder", tuple(_walk(path)))
        else:
            with path.open("rb") as file:
                is_zip = file.read(4) in _ZIP
            if is_zip:
                listing = Listing(path, "zip", tuple(_zip_entries(path)))
            else:
                listing = Listing(path, "file", (_entry(path.name, path.stat().st_size),))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"{path}: cannot be read ({reason}); give an existing file or folder"
        ) from error
    for entry in listing.entries:
        if entry.size > MAX_BYTES:
            raise InputError(
                f"{listing.place(entry)}: has {entry.size} bytes; at most {MAX_BYTES} are read:"
                " divide it"
            )
    return listing


def several_files(path: Path, files: Sequence[Path]) -> Listing:
    """List EvaLTex files that match a pattern.

    Raises
    ------
    InputError
        When one is an archive, or JSON or XML.
    """
    for file in files:
        listing = open_listing(file)
        beginning = listing.beginning(listing.entries[0], 64)
        if listing.kind != "file" or beginning.lstrip().startswith((b"{", b"[", b"<")):
            raise InputError(
                f"{path}: {file} is no EvaLTex .txt; only files of that format may be given by a"
                " pattern"
            )
    return Listing(path, "several", tuple(_entry(str(file), 0) for file in files))


def read_file(path: Path) -> bytes:
    """Return a file's bytes; raises `InputError`."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error


def unpacked(place: str, data: bytes) -> bytes:
    """Return what gzip packed into the bytes of a file, else the bytes themselves.

    Raises
    ------
    InputError
        When they are damaged, or unpack to more than is read.
    """
    if not data.startswith(_GZIP):
        return data
    most = min(MAX_BYTES, _most_unpacked(len(data)))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            content = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{place}: damaged gzip data ({error}); pack or download it again"
        ) from error
    if len(content) > most:
        raise InputError(f"{place}: unpacks to more than {most} bytes; unpack it yourself")
    return content


def _most_unpacked(packed: int) -> int:
    """Return the most bytes that so many may unpack to."""
    return max(MOST_UNPACKED * packed, _SURELY_HARMLESS)


def _beginning(data: bytes, size: int) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(data, size) if data[:2] == _GZIP else data
    except zlib.error:
        return b""


def _stem(name: str) -> str:
    """Return a file's path without its ending."""
    name = re.sub(r"\.gz\Z", "", name, flags=re.IGNORECASE)
    return posixpath.splitext(name)[0]


def _entry(name: str, size: int) -> Entry:
    return Entry(name, without_prefix(posixpath.basename(_stem(name))), size)


def _walk(folder: Path) -> Iterator[Entry]:
    def stop(error: OSError) -> None:
        raise error

    for base, folders, names in os.walk(folder, onerror=stop):
        folders.sort()
        inner = Path(base).relative_to(folder).parts
        for name in sorted(names):
            path = "/".join([*inner, name])
            if not _CLUTTER.search(path) and Path(base, name).is_file():
                yield _entry(path, Path(base, name).stat().st_size)


def _zip_entries(path: Path) -> Iterator[Entry]:
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise InputError(
            f"{path}: the archive is damaged ({error}); pack or download it again"
        ) from error
    for info in infos:
        name = _name(info)
        if not name.endswith(("/", "\\")) and not _CLUTTER.search(name.replace("\\", "/")):
            if info.file_size > _most_unpacked(info.compress_size):
                raise InputError(
                    f"{path}/{name}: unpacks to {info.file_size} bytes, more than"
                    f" {MOST_UNPACKED} times its size; unpack it yourself"
                )
            yield _entry(name, info.file_size)


def _name(info: zipfile.ZipInfo) -> str:
    """Return an entry's name; UTF-8 where its bytes are, though macOS does not flag it."""
    name: str = info.orig_filename
    if not info.flag_bits & 0x800 and not name.isascii():
        try:
            return name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return name


def _about_data_set(entries: Sequence[Entry]) -> set[str]:
    """Return which text files are about a data set: BagIt's, and lists of pictures next to
    Darknet's list of classes (CVAT's exports for YOLO).
    """
    last = {entry.name: parts_of(entry.name)[-1].lower() for entry in entries}
    about: set[str] = set()
    for mark, pattern in (("bagit.txt", _BAG), ("obj.names", _SPLIT)):
        if mark in last.values():
            about |= {name for name, one in last.items() if pattern.fullmatch(one)}
    return about
