"""Files of one image each, or of several pages, read when they are wanted."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.errors import MOST_FAULTS, FaultLog, FormatError, counted
from evaltex_cli.old_formats.base import Place, ReadImages, Side
from evaltex_cli.old_formats.collected import Images
from evaltex_cli.old_formats.documents import safe_xml
from evaltex_cli.old_formats.files.entries import Entries
from evaltex_cli.old_formats.parsed import CollectedImage
from evaltex_cli.records import Ints, expanded

_METADATA = ("mets", "METS", "trpDocMetadata")
_HEAD_BYTES = 1 << 14

Parse: TypeAlias = Callable[[Any, CollectedImage, Side, FaultLog], None]
"""``parse(data, image, side, faults)`` gives an image the objects of its document; raises
`FormatError`.

Of a format with `Pages` it gets the page, opened, in the place of the bytes."""


class Reading(NamedTuple):
    """How the files of an input are read."""

    warnings: tuple[str, ...] = ()
    """What the user should know."""
    variant: Any = None
    """What `CollectedImage.variant` is, for formats that can be read in several ways."""
    format: str = ""
    """Name of the format, if it is another than the one that was asked for."""


class Survey(NamedTuple):
    """What is decided over all files of an input before any is parsed."""

    look: Callable[[bytes], Any]
    """``look(data)`` returns what counts of one file; it never raises."""
    settle: Callable[[Sequence[Any]], Reading]
    """``settle(looks)`` returns how the files are read."""


def read_as(variant: object) -> Survey:
    """Return what reads all files in one of several ways, whatever is in them."""
    return Survey(lambda _: None, lambda _: Reading(variant=variant))


class Pages(NamedTuple):
    """How a file of several images is divided."""

    count: Callable[[bytes], int]
    """``count(data)`` returns how many pages a file has; it never raises."""
    open: Callable[[bytes], Sequence[Any]]
    """``open(data)`` returns the pages, each of which `Parse` gets; raises `FormatError`."""


def count_pages(pages: Pages | None, data: bytes) -> int:
    """Return how many pages a document has."""
    return 1 if pages is None else pages.count(data)


def is_metadata(data: bytes) -> bool:
    """Whether a document only describes the others, as METS does and Transkribus' metadata."""
    start = data[:_HEAD_BYTES].lstrip()
    return start.startswith(b"<") and safe_xml.root_name(start) in _METADATA


def metadata_left_out(count: int) -> Iterator[str]:
    """Yield a warning if there are such documents."""
    if count:
        yield counted(count, "{count} file[s] of METS or metadata [was|were] left out")


def page_names(name: str, count: int) -> list[str]:
    """Return the names of a document's pages: its own if there is one page,
    or none that can be found.
    """
    return [name] if count < 2 else [f"{name}-{k}" for k in range(1, count + 1)]


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """How documents are made images; it is sent to other processes."""

    parse: Parse
    open: Callable[[bytes], Sequence[Any]] | None
    """`Pages.open`, for documents of several images."""
    side: Side
    variant: Any
    """As of `Reading`."""

    def images(
        self, documents: Iterable[tuple[str, str, bytes]], numbers: Iterable[int], faults: FaultLog
    ) -> Images:
        """Return the images of documents, each given by its name, the document's place and bytes,
        and its page.
        """
        images = Images()
        pages: Sequence[Any] = ()
        last = ""
        for (name, place, data), number in zip(documents, numbers, strict=True):
            image = CollectedImage(name, place, variant=self.variant)
            try:
                if self.open is None:
                    self.parse(data, image, self.side, faults)
                else:
                    if last != place:
                        last, pages = place, ()
                        pages = _opened(self.open, data)
                    for page in pages[number : number + 1]:
                        self.parse(page, image, self.side, faults)
            except FormatError as error:
                error.log(faults, place)
            images.append(image)
        return images


_MOST_OPENED = 2
"""Documents of several pages that are held opened: one of each side."""
_held: list[tuple[Callable[[bytes], Sequence[Any]], bytes, Sequence[Any]]] = []
"""The documents that were opened last, for the batches to come: what opened
each, and the SHA-256 of its bytes.
"""


def _opened(open_pages: Callable[[bytes], Sequence[Any]], data: bytes) -> Sequence[Any]:
    """Return the pages of a document, opened once for all batches of images."""
    digest = hashlib.sha256(data).digest()
    for held in _held:
        if held[1] == digest and _are_same(held[0], open_pages):
            return held[2]
    pages = open_pages(data)
    if len(pages) > 1:
        _held[:] = [*_held[1 - _MOST_OPENED :], (open_pages, digest, pages)]
    return pages


def _are_same(one: Callable[..., Any], other: Callable[..., Any]) -> bool:
    """Whether two functions are the same; those that came to a worker with
    two batches are equal, not the same.
    """
    if isinstance(one, partial) and isinstance(other, partial):
        return (one.func, one.args, one.keywords) == (other.func, other.args, other.keywords)
    return one == other


def divided(entries: Entries, counts: Sequence[int]) -> tuple[Entries, Ints]:
    """Return an entry for each page of documents of these many pages, and the page that it is."""
    if max(counts, default=1) < 2:
        return entries, np.zeros(len(counts), np.int64)
    names = [
        name
        for entry, count in zip(entries.entries, counts, strict=True)
        for name in page_names(entry.image, count)
    ]
    which, numbers = expanded(np.maximum(counts, 1))
    repeated = entries.only(which)
    renamed = (
        entry._replace(image=name) for entry, name in zip(repeated.entries, names, strict=True)
    )
    return repeated._replace(entries=tuple(renamed)), numbers


@dataclass(frozen=True, slots=True, eq=False)
class Files:
    """Documents of one image each, or pages of such of several; a `base.Content`."""

    entries: Entries
    numbers: Ints
    reader: Reader

    def part(self, positions: Ints) -> Files:
        """See `base.Content`."""
        return Files(self.entries.only(positions), self.numbers[positions], self.reader)

    def read(self) -> ReadImages:
        """See `base.Content`."""
        faults = FaultLog(MOST_FAULTS)
        return replace(self._collected(faults).read(), faults=faults)

    def places(self) -> Iterator[Place]:
        """See `base.Content`."""
        return self._collected(FaultLog()).places()

    def _collected(self, faults: FaultLog) -> Images:
        return self.reader.images(self._documents(), self.numbers.tolist(), faults)

    def _documents(self) -> Iterator[tuple[str, str, bytes]]:
        """Yield name, place and bytes of each image; a document of several
        pages is read once for all of them.
        """
        entries = self.entries.entries
        begins = np.array(
            [k == 0 or one.name != entries[k - 1].name for k, one in enumerate(entries)], dtype=bool
        )
        starts = np.flatnonzero(begins)
        stops = [*starts[1:].tolist(), len(entries)][: len(starts)]
        firsts = [entries[k] for k in starts.tolist()]
        for entry, data, start, stop in zip(
            firsts, self.entries.read_many(firsts), starts.tolist(), stops, strict=True
        ):
            yield from (
                (page.image, self.entries.place(entry), data) for page in entries[start:stop]
            )
