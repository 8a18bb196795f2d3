"""Items of JSON decoded by their type, some hundreds at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import msgspec
from msgspec import Raw

from evaltex_cli.old_formats.documents import safe_json
from evaltex_cli.old_formats.documents.safe_json import Item, Record

_AT_ONCE = 512


def windows(
    items: Iterable[Item], kind: Any
) -> Iterator[tuple[int, Sequence[Item], list[Any] | None]]:
    """Yield some hundreds of items at a time: the number of the first, the items, and what they
    are by a type.

    The last is None if an item does not fit; `safe_json.take` then says of each what is wrong.
    """
    first = 0
    left = iter(items)
    while some := list(islice(left, _AT_ONCE)):
        yield first, some, _decoded(some, kind)
        first += len(some)


def keyed_windows(
    record: Record, kind: Any
) -> Iterator[tuple[Sequence[str], Sequence[Item], list[Any] | None]]:
    """Yield the values of an object as `windows` does, each after its keys."""
    pairs = iter(record.items())
    while some := list(islice(pairs, _AT_ONCE)):
        keys, items = map(list, zip(*some, strict=True))
        yield keys, items, _decoded(items, kind)


def _decoded(items: Sequence[Item], kind: Any) -> list[Any] | None:
    if not isinstance(items[0], Raw):
        return None
    with suppress(msgspec.ValidationError, UnicodeEncodeError):
        decoded: list[Any] = safe_json.decoder(list[kind]).decode(b"[" + b",".join(items) + b"]")
        return decoded
    return None
