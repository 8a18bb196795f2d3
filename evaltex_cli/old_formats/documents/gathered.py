"""Objects of JSON gathered by columns: some hundreds are decoded by their type at once, and taken
apart without a call for each.

What is not plain, such as a mask, or does not fit, is then taken one by one, with its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, compress
from operator import add, ne
from struct import pack
from typing import Any, NamedTuple, Protocol

import numpy as np

from evaltex_cli.errors import FaultLog, FormatError, Steps, quote
from evaltex_cli.old_formats.collected import Images, Positions
from evaltex_cli.old_formats.documents import json_windows, safe_json
from evaltex_cli.old_formats.documents.safe_json import Item, Vertices
from evaltex_cli.old_formats.parsed import ROW, CollectedObject
from evaltex_cli.records import ANY_TYPE, Ints


class Log(NamedTuple):
    """Where messages find a document, and its faults."""

    place: str
    faults: FaultLog


class Columns(NamedTuple):
    """Objects as columns of one length: see `CollectedObject`; `dont_care` may be one for all,
    `ids` is None if they are numbered in their image, `regions` if these are their IDs.
    """

    coordinates: Sequence[Sequence[float]]
    texts: Sequence[str]
    dont_care: Sequence[bool] | bool
    confidences: Sequence[float | None] | None = None
    ids: Sequence[int] | None = None
    regions: Sequence[int] | None = None


def add_all(images: Images, owners: Ints, objects: Columns, steps: Sequence[str]) -> None:
    """Add objects to the images of their owners; `steps` leads to each, as JSON in ASCII."""
    texts: Sequence[str | bytes] = objects.texts
    strings = "".join(map(add, objects.texts, steps)).encode("utf-8", "surrogatepass")
    if not strings.isascii():
        texts = [text.encode("utf-8", "surrogatepass") for text in objects.texts]
    rows = np.zeros(len(texts), ROW)
    rows["coordinates"] = counts = np.fromiter(map(len, objects.coordinates), np.int64, len(texts))
    rows["text"] = np.fromiter(map(len, texts), np.int64, len(texts))
    rows["steps"] = np.fromiter(map(len, steps), np.int64, len(texts))
    rows["type"] = ANY_TYPE
    rows["dont_care"] = objects.dont_care
    scores = objects.confidences or [None]
    is_none = scores.count(None) == len(scores)
    rows["confidence"] = np.nan if is_none else np.array(scores, np.float64)  # None makes NaN
    if objects.ids is not None:
        rows["id"], rows["has_id"] = objects.ids, True
    if objects.regions is not None:
        rows["region"], rows["has_region"] = objects.regions, True
    numbers = pack(f"{counts.sum()}d", *chain.from_iterable(objects.coordinates))
    images.add_many(owners, rows.tobytes(), numbers, strings)


def plain_polygons(rings: list[list[float]]) -> list[list[float]] | None:
    """Return the vertices of polygons; None if one has fewer than three, or half of one."""
    return rings if all(count >= 6 and not count % 2 for count in {*map(len, rings)}) else None


def plain_vertices(vertices: Iterable[Vertices]) -> list[list[float]] | None:
    """Return the same of polygons of vertices [x, y]."""
    return plain_polygons([[*chain.from_iterable(one)] for one in vertices])


class Reader(Protocol):
    """How the annotations of a document, each of an image that it names, become objects.

    Attributes
    ----------
    kind : type
        What an annotation is decoded as; it has an `image_id`.
    """

    @property
    def kind(self) -> Any: ...

    def columns(self, annotations: Sequence[Any], first: int) -> Columns | None:
        """Return annotations from this number on as columns; None if they have to be taken one by
        one.
        """

    def one(self, annotation: Any, item: Item, k: int) -> CollectedObject:
        """Return annotation k as an object; raises `FormatError`."""

    def way(self, k: int) -> Steps:
        """Return what leads to annotation k."""

    def ways(self, first: int, last: int) -> Sequence[str]:
        """Return the same as JSON, of annotations from `first` to before `last`."""


def runs(ids: Sequence[Any]) -> tuple[list[str], Ints]:
    """Return the IDs of each stretch of equal ones, as strings, and (n,) the stretch of each."""
    begins = np.array([*map(ne, ids, chain([None], ids))], np.bool_)
    return [*map(str, compress(ids, begins.tolist()))], np.cumsum(begins) - 1


def add_annotations(
    images: Images, positions: Positions, items: Iterable[Item], reader: Reader, log: Log
) -> None:
    """Add the annotations of a document to its images."""
    for first, some, decoded in json_windows.windows(items, reader.kind):
        names, stretch = runs([one.image_id for one in decoded or ()])
        owners = positions(names)[stretch]
        columns = reader.columns(decoded, first) if decoded and (owners >= 0).all() else None
        if columns:
            add_all(images, owners, columns, reader.ways(first, first + len(some)))
            continue
        for k, item in enumerate(some, first):
            try:
                one = decoded[k - first] if decoded else safe_json.take(item, reader.kind)
                collected = reader.one(one, item, k)
                owner = owners[k - first] if decoded else positions([str(one.image_id)])[0]
                if owner < 0:
                    found = f"image_id {quote(str(one.image_id))}"
                    expected = "the ID of an image of this document"
                    raise FormatError(found, expected, ("image_id",))
                collected.at = reader.way(k)
                images.add(int(owner), collected)
            except FormatError as error:
                error.log(log.faults, log.place, *reader.way(k))


class Once:
    """Finds IDs that are there again."""

    def __init__(self) -> None:
        self._seen: set[int | str] = set()

    def take_new(self, values: Sequence[int | str]) -> bool:
        """Note IDs, unless one of them is there again; return whether none is."""
        new = set(values)
        if len(new) < len(values) or not self._seen.isdisjoint(new):
            return False
        self._seen |= new
        return True

    def refuse_again(self, value: int | str) -> None:
        """Note an ID; raise `FormatError` if it was there before."""
        if value in self._seen:
            shown = value if isinstance(value, int) else quote(value)
            raise FormatError(f"ID {shown} again", "IDs used once", ("id",))
        self._seen.add(value)
