"""Values that several engines write alike: shapes, confidences and columns of equal length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Raw

from evaltex_cli.errors import FormatError
from evaltex_cli.old_formats.documents import safe_json
from evaltex_cli.old_formats.documents.safe_json import Confidence, Item, Number, Record, Vertices
from evaltex_cli.old_formats.files.numbers import parse_number


def shape(item: Item, *where: str | int) -> list[float]:
    """Return the numbers of a box (x0, y0, x1, y1) or of a polygon (x1, y1, x2, y2, ...), in the
    units of the document.

    Vertices may be pairs, a flat list of numbers, or a flat list inside a list.

    Raises
    ------
    FormatError
        When it is neither. `where` leads to the item.
    """
    value = safe_json.opened(item)
    if not safe_json.is_list(value):
        raise FormatError(safe_json.shown(value), "a list of vertices [[x, y], ...]", where)
    first = safe_json.opened(value[0]) if value else None
    if not safe_json.is_list(first):
        numbers: list[float] = safe_json.take(item, list[Number], *where)
        return numbers
    if len(value) == 1 and len(first) > 2:
        return shape(value[0], *where, 0)
    return safe_json.flat(safe_json.take(item, Vertices, *where))


def polygon_or_box(item: Item, *where: str | int) -> list[float]:
    """Return `shape`, two vertices as the box that they are corners of.

    Raises
    ------
    FormatError
        When there are fewer than two vertices, or a number without partner.
    """
    numbers = shape(item, *where)
    if len(numbers) < 4 or len(numbers) % 2:
        found = f"{len(numbers)} coordinates"
        raise FormatError(
            found, "x0, y0, x1, y1 of a box, or x, y of three vertices or more", where
        )
    if len(numbers) == 4:
        x0, y0, x1, y1 = numbers
        return [min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)]
    return numbers


def confidence(item: Item, *where: str | int) -> float | None:
    """Return a confidence in [0, 1]; some programs write it as a string. None if it is null.

    Raises
    ------
    FormatError
        When it is no such number.
    """
    value = safe_json.plain(item)
    if isinstance(value, str):
        try:
            value = parse_number(value)
        except FormatError as error:
            raise FormatError(error.found, "a confidence in [0, 1]", where) from error
    read: float | None = safe_json.take(value, Confidence, *where)
    return read


def column(record: Record, key: str, length: int) -> Sequence[Any]:
    """Return a list of an object that goes with another of this length; Nones if the key is missing
    or null.

    Raises
    ------
    FormatError
        When it is no list, or has another length.
    """
    value = safe_json.opened(record.get(key))
    if not safe_json.is_list(value) and safe_json.plain(value) is None:
        return [None] * length
    values = safe_json.items(record, key)
    if len(values) != length:
        raise FormatError(
            f"a list of {len(values)}", f"{length} values, one for each shape", (key,)
        )
    return values


def text(item: Item, *where: str | int) -> str:
    """Return a transcription; empty if it is null."""
    read: str | None = safe_json.take(item, str | None, *where)
    return read or ""


def is_string(item: Item) -> bool:
    """Whether an item is a string."""
    return isinstance(item, str) or (
        isinstance(item, Raw) and bytes(item).lstrip().startswith(b'"')
    )


def count_of(open_pages: Callable[[bytes], Sequence[Any]]) -> Callable[[bytes], int]:
    """Return what counts the pages of a document that this function opens; one if it is damaged."""

    def count(data: bytes) -> int:
        try:
            return len(open_pages(data))
        except FormatError:
            return 1

    return count
