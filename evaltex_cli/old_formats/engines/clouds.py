"""What the JSON of the clouds' services has in common: pages, and shapes in
pixels or in fractions of the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from msgspec import Raw

from evaltex_cli.errors import FaultLog, FormatError, Steps
from evaltex_cli.old_formats.base import Indexer, Side
from evaltex_cli.old_formats.coordinates import polygon
from evaltex_cli.old_formats.documents import safe_json
from evaltex_cli.old_formats.documents.document_files import index_each
from evaltex_cli.old_formats.documents.each_file import Pages
from evaltex_cli.old_formats.documents.safe_json import Item, Number, Record
from evaltex_cli.old_formats.engines import values
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

_CAPITAL = re.compile(r"(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a document."""

    objects: Sequence[tuple[Steps, Item]]
    """What leads to each object, from the root of the document, and the object."""
    width: float = 0.0
    height: float = 0.0
    """`width` and `height`: in the unit of its coordinates; 0 if it does not say so."""
    in_pixels: bool = True
    """Whether that unit is pixels."""
    text: str = ""
    """The text of the whole document, if objects refer to it."""

    @property
    def has_size(self) -> bool:
        """Whether its size is known."""
        return min(self.width, self.height) > 0


Open: TypeAlias = Callable[[Item, str], list[Page]]
"""``open(document, level)`` returns the pages of a document, with its words
or lines; raises `FormatError`.
"""
ObjectOf: TypeAlias = Callable[[Record, Page], tuple[CollectedObject, bool]]
"""``object_of(record, page)`` returns an object, and whether its coordinates
are fractions; raises `FormatError`.
"""


@dataclass(frozen=True, slots=True)
class _Service:
    """How the documents of a service are read, of which its pages and objects
    differ; it is sent to other processes.
    """

    open_document: Open
    object_of: ObjectOf
    level: str

    def open(self, data: bytes) -> list[Page]:
        return self.open_document(safe_json.parse(data), self.level)

    def parse(self, page: Page, image: CollectedImage, side: Side, faults: FaultLog) -> None:
        if page.in_pixels:
            image.width, image.height = page.width, page.height
        for at, item in page.objects:
            with faults.catching(image.place), safe_json.under(*at):
                collected, in_fractions = self.object_of(safe_json.record(item), page)
                if image.count and in_fractions != image.in_fractions:
                    raise FormatError(
                        "coordinates in pixels and in fractions of the page",
                        "one of them on a page",
                    )
                collected.at, image.in_fractions = at, in_fractions
                image.add(collected)


def index(name: str, open_document: Open, object_of: ObjectOf, level: str) -> Indexer:
    """Return what indexes such documents: a file, or those of a folder or archive."""
    service = _Service(open_document, object_of, level)
    return index_each(
        name, ".json", service.parse, pages=Pages(values.count_of(service.open), service.open)
    )


def spelled(record: Record, key: str) -> str:
    """Return a key in camelCase, or in snake_case if the record has it so, as
    some clients write.
    """
    snake = _CAPITAL.sub("_", key).lower()
    return snake if snake in record and key not in record else key


def has(record: Record, key: str) -> bool:
    """Whether a record has a key whose value is not null."""
    value = record.get(key)
    return value is not None and not (
        isinstance(value, Raw) and bytes(memoryview(value)[:5]) == b"null"
    )


def refuse_other(record: Record, known: Sequence[str]) -> None:
    """Refuse a record that has keys, but none of those that the service writes; an empty one is of
    no text.
    """
    if record and not any(spelled(record, key) in record for key in known):
        raise safe_json.no_key(record, known[0])


def items(record: Record, key: str, *where: str | int) -> Iterator[tuple[Steps, Item]]:
    """Yield the items of a list, and what leads to each; none if the key is missing or null."""
    key = spelled(record, key)
    listed: Sequence[Item] = []
    if has(record, key):
        with safe_json.under(*where):
            listed = safe_json.items(record, key)
    yield from (((*where, key, k), item) for k, item in enumerate(listed))


def number(record: Record, key: str, default: float | None = 0.0) -> float:
    """Return a number of a record; the default, if there is one, when it is missing or null."""
    value: float | None = safe_json.field(record, key, Number | None, default)
    if value is None:
        raise safe_json.no_key(record, key)
    return value


def vertices(record: Record, key: str, names: tuple[str, str] = ("x", "y")) -> list[float]:
    """Return x1, y1, x2, y2, ... of a list of vertices; a coordinate that is
    missing is 0, as in protocol buffers.
    """
    numbers = []
    for at, item in items(record, key):
        with safe_json.under(*at):
            numbers += [number(safe_json.record(item), name) for name in names]
    return numbers


def percent(record: Record, key: str) -> float | None:
    """Return a confidence in percent as one in [0, 1]; None if it is missing or null."""
    value: float | None = safe_json.field(record, key, Number | None)
    if value is not None and not 0 <= value <= 100:
        raise FormatError(f"{value:g}", "a confidence from 0 to 100", (key,))
    return None if value is None else value / 100


def outline(record: Record, key: str, page: Page) -> tuple[Sequence[float], bool]:
    """Return the coordinates of a BoundingPoly, and whether they are fractions of the page.

    Raises
    ------
    FormatError
        When it has neither ``vertices`` nor ``normalizedVertices``, or fewer than three.
    """
    key = spelled(record, key)
    shape = safe_json.records(record, key)
    with safe_json.under(key):
        numbers = vertices(shape, "vertices")
        if numbers:
            return polygon(numbers, dont_care=False, where=("vertices",)), False
        normalized = spelled(shape, "normalizedVertices")
        numbers = vertices(shape, "normalizedVertices")
        if not numbers:
            raise FormatError("no vertices", "vertices or normalizedVertices")
        fractions = polygon(numbers, dont_care=False, where=(normalized,))
    if not page.has_size:
        return fractions, True
    return [
        value * (page.height if k % 2 else page.width) for k, value in enumerate(fractions)
    ], False
