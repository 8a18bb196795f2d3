"""The files of an input: one file (perhaps packed by gzip), or those of a folder or .zip archive.

Nothing is ever extracted, and an entry's path only serves to name an image.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import posixpath
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from evaltex_cli.errors import InputError, counted, listed
from evaltex_cli.formats.names import image_names, parts_of, without_prefix
from evaltex_cli.runtime.input_files import files_of, first_bytes, natural_key

MAX_BYTES = 2 << 30
MOST_UNPACKED = 100
HARMLESS_BYTES = 16 << 20
"""What is packed may unpack to `HARMLESS_BYTES`, or to `MOST_UNPACKED` times its size (annotations
pack to a fifth or a tenth), and to `MAX_BYTES` at most."""
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_EMPTY = 65
"""Fewer bytes may say nothing of a document's format: ``[null]``, ``{"responses": [{}]}``."""
_CLUTTER = re.compile(
    r"/$|(?:^|/)(?:__MACOSX/|\._|\.ds_store$|thumbs\.db$|readme(?:\.[^/]*)?$)", re.IGNORECASE
)
_PICTURE_LISTS = ("train.txt", "valid.txt", "validation.txt", "val.txt", "test.txt")
_MINERU = re.compile(r"_(?:content_list(?:_v2)?|model)\.json\Z")
"""What MinerU writes besides ``NAME_middle.json``, with the same texts."""
_PROSE = (".md", ".mmd")
"""Parsers write these besides their JSON."""
_METS = re.compile(r"(?:mets|(?:^|/)metadata)\.xml$", re.IGNORECASE)
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)
"""What zipfile raises; RuntimeError for a password, or a method that it does not know."""


class Entry(NamedTuple):
    """One file of an input."""

    name: str
    """From the folder, or as in the archive; the file's path where it is the input."""
    size: int
    """Bytes, unpacked."""
    image: str = ""
    """The name of its image, if it has one image and was chosen."""

    @property
    def ending(self) -> str:
        """Its ending with the dot, in lower case, without that of gzip."""
        return posixpath.splitext(self.name.lower().removesuffix(".gz"))[1]


@dataclass(frozen=True)
class Listing:
    """All files of an input but those that macOS and Windows add."""

    path: Path
    kind: str
    """file, folder or zip; file, too, for EvaLTex files that match a pattern, which is the path."""
    entries: tuple[Entry, ...]
    archive: tuple[zipfile.ZipFile, dict[str, zipfile.ZipInfo]] | None = field(
        default=None, repr=False, compare=False
    )
    """It is open, as it is read several times; a worker process opens it again."""

    def __reduce__(self) -> tuple[type[Listing], tuple[Path, str, tuple[Entry, ...]]]:
        return Listing, (self.path, self.kind, self.entries)

    def place(self, entry: Entry) -> str:
        """Return where a file is, as messages name it."""
        return entry.name if self.kind == "file" else f"{self.path}/{entry.name}"

    def endings(self) -> Counter[str]:
        """Count the files of images by their endings."""
        return Counter(entry.ending for entry in self._of_images())

    def _of_images(self) -> list[Entry]:
        """Return the files that are not lists of classes, or of pictures next to Darknet's
        ``obj.names`` (CVAT's exports for YOLO), or MinerU's files besides ``NAME_middle.json``.
        """
        names = [parts_of(entry.name)[-1].lower() for entry in self.entries]
        lists = {"classes.txt", *(_PICTURE_LISTS if "obj.names" in names else ())}
        if any(name.endswith("_middle.json") for name in names):
            lists |= set(filter(_MINERU.search, names))
        return [e for e, name in zip(self.entries, names, strict=True) if name not in lists]

    @lru_cache(maxsize=1)  # noqa: B019 (what looks at an input asks for it again)
    def chosen(self, endings: tuple[str, ...]) -> tuple[Listing, str]:
        """Return the listing of the files of images that have one of these endings, the one that
        most have, sorted by the names of their images, and a note about the others. A file that
        is the input stays. Raises `InputError` for an archive whose files unpack to too much.
        """
        if self.kind == "file":
            return self, ""
        counts = self.endings()
        if any(counts[ending] for ending in endings):
            is_read = {end: counts[end] > 0 and end not in _PROSE for end in endings}
            endings = (max(endings, key=lambda end: (is_read[end], counts[end])),)
        fit = [entry for entry in self._of_images() if entry.ending in endings]
        names = image_names([_stem(entry.name) for entry in fit])
        fit = [entry._replace(image=name) for entry, name in zip(fit, names, strict=True)]
        fit.sort(key=lambda entry: (natural_key(entry.image), entry.image, entry.name))
        if self.kind == "zip":
            most = _most_unpacked(self.path.stat().st_size)
            _refuse_large(self.path, sum(entry.size for entry in fit), most)
        others = sorted({e.name for e in self.entries} - {e.name for e in fit})
        what = f"{{count}} file[s] besides the {' or '.join(endings)} files of images [was|were]"
        note = f"{counted(len(others), what)} left out: {listed(others)}" if others else ""
        return Listing(self.path, self.kind, tuple(fit), self.archive), note

    def read(self, entries: Sequence[Entry] | None = None, size: int = -1) -> Iterator[bytes]:
        """Yield the bytes of some files, of all by default, unpacked, perhaps only the first ones;
        raises `InputError` for what is damaged, or unpacks to too much.
        """
        archive, infos = self.archive or (_archive(self.path) if self.kind == "zip" else (None, {}))
        for entry in self.entries if entries is None else entries:
            place = self.place(entry)
            with (
                _reading(place),
                archive.open(infos[entry.name]) if archive else Path(place).open("rb") as file,
            ):
                data = file.read(size)
                if data.startswith(b"\x1f\x8b"):
                    file.seek(0)
                    most = _most_unpacked(entry.size)
                    data = gzip.GzipFile(fileobj=file).read(most + 1 if size < 0 else size)
                    _refuse_large(place, len(data), most)
            yield data

    def beginning(self, entry: Entry, size: int) -> bytes:
        """Return the first bytes of a file, unpacked."""
        return next(self.read([entry], size))

    def first_with_content(self) -> Entry:
        """Return the first file that is more than an empty list, METS last; else the largest."""
        return max(
            self.entries, key=lambda entry: (min(entry.size, _EMPTY), not _METS.search(entry.name))
        )

    def sha256(self, digests: Sequence[str]) -> str:
        """Return the SHA-256 of the file, unpacked, or of the archive; of the sorted lines
        ``<sha256>  <name>`` of the files of a folder. `digests` are of the files.
        """
        if self.kind == "zip":
            with self.path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        if self.kind == "file" and len(digests) == 1:
            return digests[0]
        named = zip(digests, self.entries, strict=True)
        lines = sorted(f"{digest}  {entry.name}\n" for digest, entry in named)
        return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def open_listing(path: Path) -> Listing:
    """List the files of an input; raises `InputError` when there is none, or it cannot be read."""
    files = files_of(path)
    path = files[0] if len(files) == 1 else path
    archive = None
    with _reading(path):
        if path.is_dir():
            kind, entries = "folder", list(_walk(path))
        elif path.exists() and not path.is_file():
            raise InputError(f"{path}: is a pipe or device; write what it gives to a file")
        elif len(files) == 1 and first_bytes(path, 4) in _ZIP:
            archive = _archive(path)
            infos = archive[0].infolist()
            kind, entries = "zip", [Entry(_name(info), info.file_size) for info in infos]
        else:
            others = [
                file for file in files if first_bytes(file, 4).startswith((*_ZIP, b"{", b"[", b"<"))
            ]
            if others and len(files) > 1:
                found = f"a pattern is for EvaLTex .txt files, and {others[0]} is none"
                raise InputError(f"{path}: {found}; give a folder")
            sizes = [file.stat().st_size for file in files]
            images = [without_prefix(_stem(file.name)) for file in files]
            return Listing(path, "file", tuple(map(Entry, map(str, files), sizes, images)))
    kept = tuple(e for e in entries if not _CLUTTER.search(e.name.replace("\\", "/")))
    if not kept:
        raise InputError(f"{path}: no file in it; expected one for each image")
    return Listing(path, kind, kept, archive)


def _archive(path: Path) -> tuple[zipfile.ZipFile, dict[str, zipfile.ZipInfo]]:
    archive = zipfile.ZipFile(path)
    return archive, {_name(info): info for info in archive.infolist()}


@contextmanager
def _reading(place: object) -> Iterator[None]:
    """Refuse what cannot be read, or is damaged."""
    try:
        yield
    except _UNREADABLE as error:
        reason = getattr(error, "strerror", None)
        wrong = f"cannot be read ({reason}); give an existing file or folder"
        if not reason:
            wrong = f"is damaged or encrypted ({error}); pack or download it again"
        raise InputError(f"{place}: {wrong}") from error


def _most_unpacked(packed: int) -> int:
    """Return the most bytes that so many may unpack to."""
    return min(MAX_BYTES, max(MOST_UNPACKED * packed, HARMLESS_BYTES))


def _refuse_large(place: object, size: int, most: int) -> None:
    if size > most:
        raise InputError(f"{place}: has more than {most} bytes, unpacked; unpack it yourself")


def _stem(name: str) -> str:
    """Return a file's path without its ending."""
    return posixpath.splitext(re.sub(r"(?i)\.gz\Z", "", name))[0]


def _walk(folder: Path) -> Iterator[Entry]:
    def stop(error: OSError) -> None:
        raise error

    for base, _, names in os.walk(folder, onerror=stop):
        for file in (Path(base, name) for name in names):
            if file.is_file():
                yield Entry(file.relative_to(folder).as_posix(), file.stat().st_size)


def _name(info: zipfile.ZipInfo) -> str:
    """Return an entry's name; UTF-8 where its bytes are, though macOS does not flag it."""
    name: str = info.orig_filename
    if not info.flag_bits & 0x800 and not name.isascii():
        with suppress(UnicodeError):
            return name.encode("cp437").decode("utf-8")
    return name
