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
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from evaltex_cli.errors import InputError, counted, listed
from evaltex_cli.formats.names import image_names, parts_of, without_prefix
from evaltex_cli.runtime.input_files import first_bytes, natural_key

MAX_BYTES = 1 << 30
"""Largest file, unpacked."""
MAX_TOTAL_BYTES = 2 << 30
"""Largest sum over the files of an archive that are read, unpacked."""
MOST_UNPACKED = 100
"""What unpacks to more than this many times its size, and to more than `_SURELY_HARMLESS` bytes, is
made to fill memory: annotations pack to a fifth or a tenth."""
_SURELY_HARMLESS = 16 << 20
_GZIP = b"\x1f\x8b"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_EMPTY = 64
"""Bytes of a document that may say nothing of its format: ``[null]``, ``{"responses": [{}]}``."""
_CLUTTER = re.compile(
    r"(?:^|/)(?:__MACOSX/|\._|\.ds_store$|thumbs\.db$|readme(?:\.[^/]*)?$)", re.IGNORECASE
)
_SPLIT = re.compile(r"(?:train|valid|validation|val|test)\.txt", re.IGNORECASE)
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)
"""What zipfile raises; RuntimeError for a password, or a method that it does not know."""
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
        """Count the files by their endings."""
        lists = _lists_of_pictures(self.entries)
        return Counter(entry.ending for entry in self.entries if entry.name not in lists)

    def chosen(self, endings: Sequence[str]) -> tuple[Listing, tuple[str, ...]]:
        """Return the listing of those files that have one of these endings, the one that most have,
        sorted by the names of their images, and warnings about the others. A file that is the input
        stays. Raises `InputError` for an archive whose files unpack to more than is read.
        """
        if self.kind in ("file", "several"):
            return self, ()
        counts = self.endings()
        if any(counts[ending] for ending in endings):
            endings = [max(endings, key=lambda ending: counts[ending])]
        lists = _lists_of_pictures(self.entries)
        rest = [entry for entry in self.entries if entry.name not in lists]
        fit = [entry for entry in rest if entry.ending in endings]
        classes = [e.name for e in fit if parts_of(e.name)[-1].lower() == "classes.txt"]
        chosen = [entry for entry in fit if entry.name not in classes]
        names = image_names([_stem(entry.name) for entry in chosen])
        chosen = [replace(e, image=image) for e, image in zip(chosen, names, strict=True)]
        chosen.sort(key=lambda entry: (natural_key(entry.image), entry.image, entry.name))
        warnings = [
            f"{self.path}: {counted(len(left_out), what)} left out: {listed(sorted(left_out))}"
            for what, left_out in (
                ("{count} list[s] of classes [was|were]", classes),
                ("{count} list[s] of pictures [was|were]", lists),
                (
                    f"{{count}} file[s] that [is|are] not {' or '.join(endings)} [was|were]",
                    [entry.name for entry in rest if entry.ending not in endings],
                ),
            )
            if left_out
        ]
        if self.kind == "zip":
            most = min(MAX_TOTAL_BYTES, _most_unpacked(self.path.stat().st_size))
            _refuse_large(self.path, sum(entry.size for entry in chosen), most)
        return Listing(self.path, self.kind, tuple(chosen)), tuple(warnings)

    def read(self, entries: Sequence[Entry] | None = None) -> Iterator[bytes]:
        """Yield the bytes of some files, of all by default, unpacked; raises `InputError` for what
        is damaged, or unpacks to more than is read.
        """
        entries = self.entries if entries is None else entries
        if self.kind == "zip":
            yield from self._read_zip(entries)
            return
        for entry in entries:
            place = self.place(entry)
            try:
                yield _unpacked(place, Path(place).read_bytes())
            except OSError as error:
                raise InputError(f"{place}: cannot be read ({error.strerror or error})") from error

    def _read_zip(self, entries: Sequence[Entry]) -> Iterator[bytes]:
        with zipfile.ZipFile(self.path) as archive:
            infos = {_name(info): info for info in archive.infolist()}
            for entry in entries:
                place = self.place(entry)
                try:
                    data = archive.read(infos[entry.name])
                except _UNREADABLE as error:
                    raise _damaged(
                        place, "the archive is damaged, or not ordinary", error
                    ) from error
                yield _unpacked(place, data)

    def beginning(self, entry: Entry, size: int) -> bytes:
        """Return the first bytes of a file, unpacked; none where it is damaged."""
        try:
            if self.kind == "zip":
                with zipfile.ZipFile(self.path) as archive:
                    infos = {_name(info): info for info in archive.infolist()}
                    with archive.open(infos[entry.name]) as file:
                        data = file.read(size)
            else:
                with Path(self.place(entry)).open("rb") as file:
                    data = file.read(size)
            is_gzip = data.startswith(_GZIP)
            return zlib.decompressobj(wbits=31).decompress(data, size) if is_gzip else data
        except _UNREADABLE:
            return b""

    def first_with_content(self) -> Entry:
        """Return the first file that is more than an empty list, METS last; else the largest."""
        full = [entry for entry in self.entries if entry.size > _EMPTY]
        named = [entry for entry in full if not _METS.search(entry.name)]
        return (named or full or [max(self.entries, key=lambda entry: entry.size)])[0]

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
    """List the files of an input; raises `InputError` when there is none, or it cannot be read, is
    damaged, or too large.
    """
    try:
        if path.is_dir():
            listing = Listing(path, "folder", tuple(_walk(path)))
        elif path.exists() and not path.is_file():
            raise InputError(
                f"{path}: is a pipe or device, and input is read more than once; write it to a file"
            )
        elif first_bytes(path, 4) in _ZIP:
            listing = Listing(path, "zip", tuple(_zip_entries(path)))
        else:
            listing = Listing(path, "file", (_entry(path.name, path.stat().st_size),))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"{path}: cannot be read ({reason}); give an existing file or folder"
        ) from error
    for entry in listing.entries:
        _refuse_large(listing.place(entry), entry.size, MAX_BYTES)
    return listing


def several_files(path: Path, files: Sequence[Path]) -> Listing:
    """List EvaLTex files that match a pattern; raises `InputError` for an archive, JSON or XML."""
    for file in files:
        listing = open_listing(file)
        beginning = listing.beginning(listing.entries[0], 64)
        if listing.kind != "file" or beginning.lstrip().startswith((b"{", b"[", b"<")):
            raise InputError(
                f"{path}: {file} is no EvaLTex .txt; only files of that format may be given by a"
                " pattern"
            )
    return Listing(path, "several", tuple(_entry(str(file), 0) for file in files))


def _damaged(place: object, what: str, error: Exception) -> InputError:
    return InputError(f"{place}: {what} ({error}); pack or download it again")


def _refuse_large(place: object, size: int, most: int) -> None:
    if size > most:
        raise InputError(
            f"{place}: has more than {most} bytes, unpacked; divide it, or unpack it yourself"
        )


def _unpacked(place: str, data: bytes) -> bytes:
    """Return what gzip packed into the bytes of a file, else the bytes themselves."""
    if not data.startswith(_GZIP):
        return data
    most = min(MAX_BYTES, _most_unpacked(len(data)))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            content = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(place, "damaged gzip data", error) from error
    _refuse_large(place, len(content), most)
    return content


def _most_unpacked(packed: int) -> int:
    """Return the most bytes that so many may unpack to."""
    return max(MOST_UNPACKED * packed, _SURELY_HARMLESS)


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
    # zipfile raises the others for a later version of the format, and for names that are not UTF-8.
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise _damaged(path, "the archive is damaged", error) from error
    for info in infos:
        name = _name(info)
        if not name.endswith(("/", "\\")) and not _CLUTTER.search(name.replace("\\", "/")):
            most = _most_unpacked(info.compress_size)
            _refuse_large(f"{path}/{name}", info.file_size, most)
            yield _entry(name, info.file_size)


def _name(info: zipfile.ZipInfo) -> str:
    """Return an entry's name; UTF-8 where its bytes are, though macOS does not flag it."""
    name: str = info.orig_filename
    if not info.flag_bits & 0x800:
        with suppress(UnicodeError):
            return name.encode("cp437").decode("utf-8")
    return name


def _lists_of_pictures(entries: Sequence[Entry]) -> set[str]:
    """Return the lists of pictures next to Darknet's list of classes (CVAT's exports for YOLO)."""
    last = {entry.name: parts_of(entry.name)[-1].lower() for entry in entries}
    is_darknet = "obj.names" in last.values()
    return {name for name, one in last.items() if is_darknet and _SPLIT.fullmatch(one)}
