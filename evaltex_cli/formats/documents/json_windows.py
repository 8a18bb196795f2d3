"""Items of JSON decoded by their type, some hundreds at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import Any

import msgspec
from msgspec import Raw

from evaltex_cli.formats.documents import safe_json
from evaltex_cli.formats.documents.json_parts import Listed, Stretch
from evaltex_cli.formats.documents.safe_json import Item, Record

_AT_ONCE = 512
_MOST_BYTES = 2 << 20
"""Of items that are decoded together."""


def windows(
    items: Iterable[Item], kind: Any
) -> Iterator[tuple[int, Sequence[Item], list[Any] | None]]:
    """Yield some hundreds of items at a time: the number of the first, the items, and what they
    are by a type.

    The last is None if an item does not fit, or they are very large; `safe_json.take` then says of
    each what is wrong.
    """
    first = 0
    if isinstance(items, Listed):
        for count, stretch in items.stretches():
            is_large = len(stretch.inside) > _most_bytes()
            decoded = None if is_large else _by_type(stretch.as_list(), kind)
            yield first, _Some(count, stretch), decoded
            first += count
        return
    left = iter(items)
    while some := list(islice(left, _AT_ONCE)):
        yield from _decoded(first, some, kind)
        first += len(some)


def keyed_windows(
    record: Record, kind: Any
) -> Iterator[tuple[Sequence[str], Sequence[Item], list[Any] | None]]:
    """Yield the values of an object as `windows` does, each after its keys."""
    pairs = iter(record.items())
    while some := list(islice(pairs, _AT_ONCE)):
        keys = [key for key, _ in some]
        for first, items, decoded in _decoded(0, [item for _, item in some], kind):
            yield keys[first : first + len(items)], items, decoded


class _Some(Sequence[Item]):
    """The items of a stretch of a list, which are made if they are wanted."""

    def __init__(self, count: int, stretch: Stretch) -> None:
        self._count, self._stretch = count, stretch

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        return self._items[index]

    @cached_property
    def _items(self) -> list[Item]:
        return self._stretch.items()


def _decoded(
    first: int, some: Sequence[Item], kind: Any
) -> Iterator[tuple[int, Sequence[Item], list[Any] | None]]:
    data = b"[" + b",".join(some) + b"]" if isinstance(some[0], Raw) else b""
    half = len(some) // 2
    is_large = len(data) > _most_bytes()
    if is_large and half:
        yield from _decoded(first, some[:half], kind)
        yield from _decoded(first + half, some[half:], kind)
        return
    yield first, some, None if is_large or not data else _by_type(data, kind)


def _most_bytes() -> int:
    """So many that an item of more values than it may have is left to `safe_json.take`."""
    return min(_MOST_BYTES, 2 * safe_json.MOST_VALUES)


def _by_type(data: bytes, kind: Any) -> list[Any] | None:
    decoded = None
    with suppress(msgspec.ValidationError, UnicodeEncodeError):
        decoded = safe_json.decoder(list[kind]).decode(data)
    return decoded
