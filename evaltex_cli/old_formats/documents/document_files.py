"""Files that are documents, JSON, XML or .mat: read within bounds, and made sources of.

A document contains all images of a data set (`index_json`), or one image and has its name
(`index_each`).
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.errors import FaultLog, FormatError, InputError, not_utf8
from evaltex_cli.old_formats.base import Format, Indexer, Side, Source
from evaltex_cli.old_formats.collected import Images, source
from evaltex_cli.old_formats.documents import each_file, safe_xml
from evaltex_cli.old_formats.documents.each_file import (
    Files,
    Pages,
    Parse,
    Reader,
    Survey,
    divided,
    page_names,
    read_as,
)
from evaltex_cli.old_formats.documents.recognition import (
    endings,
    first_with_content,
    has_root,
    looks_like_json,
    main_ending,
)
from evaltex_cli.old_formats.files import archive
from evaltex_cli.old_formats.files.entries import MAX_BYTES
from evaltex_cli.old_formats.files.fingerprint import Fingerprint
from evaltex_cli.old_formats.files.image_names import without_prefix
from evaltex_cli.old_formats.files.packed import without_gzip
from evaltex_cli.old_formats.parsed import CollectedImage

HEAVIEST = 1 << 16
"""What one document weighs at most in a batch: a picture inside a document is no object."""
_ALL_OBJECTS = (".txt", ".gt", ".tsv")
"""Endings of documents that have nothing but objects, and weigh what they have."""

_JSON_LINES = re.compile(rb"\s*\{[^\n]*\}\s*\n\s*\{")


class Document(NamedTuple):
    """A parsed document of all images."""

    value: Any
    """What `safe_json` made of JSON; of XML, the first element."""
    place: str
    """Where messages find it."""
    variant: Any = None
    """Which of several ways to read it is wanted, for formats that have them."""


Collected: TypeAlias = tuple[Images, tuple[str, ...]]
"""The images of a document, and warnings."""
Collect: TypeAlias = Callable[[Document, Side, FaultLog], Collected]
"""``collect(document, side, faults)`` returns the images of a document; raises `FormatError`."""


class _JsonInput(NamedTuple):
    """A JSON document, the SHA-256 of its input, and how many such the input has."""

    document: Document
    sha256: str
    documents: int


def read_file(path: Path) -> bytes:
    """Return a file's bytes; raises `InputError` when it cannot be read or
    has more than `MAX_BYTES`.
    """
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            most = min(about.st_size, MAX_BYTES) if stat.S_ISREG(about.st_mode) else MAX_BYTES
            data = file.read(most + 1)  # memory for all of these is taken first
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"{path}: larger than {MAX_BYTES} bytes; divide it")
    return data


def json_value(path: Path) -> Any:
    """Return the JSON document that a path holds, the first where it holds many; None where it
    holds none.

    It is kept until `forget`, so that each format may have a look at it.

    Raises
    ------
    InputError
        When it looks like JSON and is not.
    """
    if looks_like_json(path) or (archive.is_archive(path) and endings(path)[".json"]):
        return _json_document(path, archive.state(path)).document.value
    return None


def forget() -> None:
    """Free the document that `json_value` keeps."""
    _json_document.cache_clear()


@lru_cache(maxsize=1)
def _json_document(path: Path, state: int) -> _JsonInput:
    """Parse what stands at a path in this state (`archive.state`)."""
    from evaltex_cli.old_formats.documents import safe_json  # it imports msgspec

    place, count = str(path), 1
    if archive.is_archive(path):
        entries = archive.open_entries(path, ".json")
        count = len(entries.entries)
        if not count:
            raise InputError(f"{path}: no .json file in it; expected one")
        first = first_with_content(entries)
        place, data = entries.place(first), entries.read(first)
        fingerprint = Fingerprint(entries)
        fingerprint.add(first, data)
        sha256 = fingerprint.hexdigest()
    else:
        packed = read_file(path)
        sha256 = hashlib.sha256(packed).hexdigest()
        data = unpacked(path, packed)
    try:
        return _JsonInput(Document(safe_json.parse(data), place), sha256, count)
    except FormatError as error:
        if _JSON_LINES.match(data):
            error.expected += ", or one document per line as PaddleOCR has"
        raise InputError(str(error.fault(place))) from error


def unpacked(path: Path, data: bytes) -> bytes:
    """Return a file's content where gzip packed it, else the bytes
    themselves; raises `InputError` as `read_file`.
    """
    return without_gzip(path, data, MAX_BYTES)


def index_json(name: str, collect: Collect, variant: object = None) -> Indexer:
    """Return what indexes a JSON document of all images; `collect` gets the variant with the
    document.

    It is a file, bare or packed by gzip, or the only one of a folder or archive. `InputError` is
    raised when there is no such document, it is no JSON, or it is larger than `MAX_BYTES`.
    """

    def index(path: Path, side: Side, faults: FaultLog) -> Source:
        document, sha256, documents = _json_document(path, archive.state(path))
        forget()
        if documents > 1:
            raise InputError(
                f"{path}: {documents} .json files in it; expected one of all images: give that file"
            )
        images, warnings = _collected(collect, document._replace(variant=variant), side, faults)
        return source(str(path), name, sha256, images, warnings + images.settle_confidences(path))

    return index


def index_xml(name: str, collect: Collect) -> Indexer:
    """Return what indexes an XML document of all images, as `index_json`
    does; `collect` gets its first element.
    """

    def index(path: Path, side: Side, faults: FaultLog) -> Source:
        place, data, digest = only_document(path, ".xml")
        try:
            document = Document(safe_xml.tree(data), place)
        except FormatError as error:
            error.log(faults, place)
            return source(str(path), name, digest, Images())
        return source(str(path), name, digest, *_collected(collect, document, side, faults))

    return index


def only_document(path: Path, ending: str) -> tuple[str, bytes, str]:
    """Return where messages find a document of all images, its bytes, and the SHA-256 of its input.

    It is a file, bare or packed by gzip, or the only one of this ending in a folder or archive;
    `InputError` otherwise.
    """
    if not archive.is_archive(path):
        packed = read_file(path)
        return str(path), unpacked(path, packed), hashlib.sha256(packed).hexdigest()
    entries = archive.open_entries(path, ending)
    if len(entries.entries) != 1:
        found = f"{len(entries.entries)} {ending} files in it"
        raise InputError(f"{path}: {found}; expected one of all images: give that file")
    fingerprint = Fingerprint(entries)
    data = entries.read(entries.entries[0])
    fingerprint.add(entries.entries[0], data)
    return entries.place(entries.entries[0]), data, fingerprint.hexdigest()


def _collected(collect: Collect, document: Document, side: Side, faults: FaultLog) -> Collected:
    """Return the images and warnings of a document, with faults of it as a whole in the log."""
    images = Images()
    warnings: tuple[str, ...] = ()
    with faults.catching(document.place):
        images, warnings = collect(document, side, faults)
        if side == "gt" and not images:
            faults.add(document.place, None, "no image", "at least one in ground truth")
    images.refuse_bad_names(faults)
    return images, warnings


def index_each(
    name: str,
    endings: str | Sequence[str],
    parse: Parse,
    *,
    survey: Survey | None = None,
    pages: Pages | None = None,
) -> Indexer:
    """Return what indexes documents of one image each, named after it: a file, or those of a folder
    or archive.

    It raises `InputError` when they cannot be listed or read, or are too large.

    Parameters
    ----------
    name : str
        Of the format.
    endings : str or sequence of str
        Of the documents in a folder or archive: the one that most files have; others are left out
        with a warning.
    parse : callable
    survey : Survey or None
        What decides over all documents how each is read.
    pages : Pages or None
        How documents of several images are divided; these are named after their document and their
        number, from 1.
    """
    look, settle = survey or read_as(None)

    def index(path: Path, side: Side, faults: FaultLog) -> Source:
        if not archive.is_archive(path):
            data = read_file(path)
            document = unpacked(path, data)
            reading = settle([look(document)])
            stem = without_prefix(PurePosixPath(path.name.removesuffix(".gz")).stem)
            names = page_names(stem, each_file.count_pages(pages, document))
            reader = Reader(parse, pages and pages.open, side, reading.variant)
            images = reader.images(
                [(one, str(path), document) for one in names], range(len(names)), faults
            )
            images.refuse_bad_names(faults)
            digest = hashlib.sha256(data).hexdigest()
            warnings = tuple(f"{path}: {warning}" for warning in reading.warnings)
            return source(str(path), reading.format or name, digest, images, warnings)
        ending = endings if isinstance(endings, str) else main_ending(path, endings)
        entries = archive.open_entries(path, ending)
        entries.refuse_none(side, ending)
        entries.refuse_bad_names(faults)
        fingerprint = Fingerprint(entries)
        looks, counts, kept = [], [], []
        for k, (entry, data) in enumerate(
            zip(entries.entries, entries.read_many(entries.entries), strict=True)
        ):
            fingerprint.add(entry, data)
            if not each_file.is_metadata(data):
                looks.append(look(data))
                counts.append(each_file.count_pages(pages, data))
                kept.append(k)
        reading = settle(looks)
        warnings = (
            *each_file.metadata_left_out(len(entries.entries) - len(kept)),
            *reading.warnings,
        )
        reader = Reader(parse, pages and pages.open, side, reading.variant)
        files = Files(*divided(entries.only(np.array(kept, np.int64)), counts), reader)
        if max(counts, default=1) > 1:
            Images(
                CollectedImage(entry.image, entries.place(entry)) for entry in files.entries.entries
            ).refuse_bad_names(faults)
        shares = (
            np.repeat(np.maximum(counts, 1), np.maximum(counts, 1))
            if counts
            else np.ones(0, np.int64)
        )
        return Source(
            path=str(path),
            format=reading.format or name,
            sha256=fingerprint.hexdigest(),
            names=[entry.image for entry in files.entries.entries],
            weights=np.minimum(
                np.array([entry.size for entry in files.entries.entries], np.int64) // shares,
                MAX_BYTES if ending in _ALL_OBJECTS else HEAVIEST,
            ),
            content=files,
            warnings=(*entries.warnings, *(f"{path}: {warning}" for warning in warnings)),
        )

    return index


def index_texts(name: str, ending: str, parse: Parse) -> Indexer:
    """Return what indexes a folder or archive of one text file for each
    image; it raises as `index_each` does.
    """

    def index(path: Path, side: Side, faults: FaultLog) -> Source:
        archive.open_entries(path, ending)  # refuses what is neither
        return index_each(name, ending, parse)(path, side, faults)

    return index


def text_of(data: bytes) -> str:
    """Return an image's text, with bare newlines; raises `FormatError` if it is not UTF-8."""
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line, found, expected = not_utf8(error)
        raise FormatError(found, expected, at=line) from error


def xml_format(name: str, title: str, root: str, parse: Parse, layout: str, sample: str) -> Format:
    """Return a format of XML, one document for each image, recognised by the
    name of its first element.
    """
    return indexed_xml(name, title, root, index_each(name, ".xml", parse), layout, sample)


def indexed_xml(
    name: str, title: str, root: str, index: Indexer, layout: str, sample: str
) -> Format:
    """Return the same of what indexes the documents."""
    return Format(
        *(name, title, lambda path: has_root(path, root), index),
        recognised_by=f"root {root}",
        layout=layout,
        sample=sample,
        ending=".xml",
    )
