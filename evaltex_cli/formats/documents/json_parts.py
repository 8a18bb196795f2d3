"""Large lists and objects of JSON that stay bytes: their items are decoded some at a time.

An item of `msgspec.Raw` takes 56 bytes, that of an object twice as much, which is more than the
bytes of many an item; what has very many is cut into stretches, and items are made of one when they
are wanted. What `opened` gets is valid JSON.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence, ValuesView
from contextlib import suppress
from itertools import chain, islice
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np
from msgspec import Raw

from evaltex_cli.errors import FormatError
from evaltex_cli.formats.documents.json_scan import after_blanks, separators
from evaltex_cli.records import Ints

MOST_AGAIN = 10_000
"""Keys of a large object that may be there several times: all their values are held."""
_STRETCH = 1 << 16
_FEW = 1 << 10
_KEY = re.compile(rb'[ \t\n\r]*+("(?:[^"\\]++|\\.)*+")[ \t\n\r]*+:', re.DOTALL)
_LIKELY_ENDS = rb"\}[ \t\n\r]*+,", rb"\][ \t\n\r]*+,"
"""What may be between items, and is tried until it was once inside of one."""
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_ANY = msgspec.json.Decoder(Raw)
_LIST = msgspec.json.Decoder(list[Raw])
_OBJECT = msgspec.json.Decoder(dict[str, Raw])
_STRING = msgspec.json.Decoder(str)
Item: TypeAlias = Any


class Stretch(NamedTuple):
    """Some items that follow each other, or a large one alone."""

    inside: memoryview
    is_alone: bool

    def items(self) -> list[Item]:
        """Return the items, of a list."""
        return [Raw(self.inside)] if self.is_alone else _LIST.decode(self.as_list())

    def pairs(self) -> dict[str, Item]:
        """Return the items by their keys, of an object."""
        if not self.is_alone:
            return _OBJECT.decode(b"".join((b"{", self.inside, b"}")))
        key = _key(self.inside, 0)
        return {_STRING.decode(key[1]): Raw(self.inside[key.end() :])}

    def as_list(self) -> bytes:
        """Return the items as a list of their own."""
        return b"".join((b"[", self.inside, b"]"))


class _Cuts:
    """Where the items of a list or an object, given with its brackets, are cut into stretches.

    `take` gets the items of each as it is cut.
    """

    def __init__(self, data: memoryview, take: Callable[[Any], None]) -> None:
        bracket = after_blanks(data, 0)
        self._data, self._end = data, _last(data)
        self._is_list = data[bracket] == ord("[")
        self._start = after_blanks(data, bracket + 1)
        self._likely = [re.compile(end) for end in _LIKELY_ENDS]
        self._stops, self._alone = array("q"), bytearray()
        start = self._start
        while start < self._end:
            stop, is_alone, items = self._next(start)
            self._stops.append(stop)
            self._alone.append(is_alone)
            take(items)
            start = stop + 1

    def __len__(self) -> int:
        return len(self._stops)

    def __iter__(self) -> Iterator[Stretch]:
        return (self.stretch(k) for k in range(len(self)))

    def stretch(self, k: int) -> Stretch:
        """Return the stretch at a place."""
        start = self._stops[k - 1] + 1 if k else self._start
        return Stretch(self._data[start : self._stops[k]], bool(self._alone[k]))

    def _items(self, start: int, stop: int, is_alone: bool) -> Any:
        stretch = Stretch(self._data[start:stop], is_alone)
        return stretch.items() if self._is_list else stretch.pairs()

    def _next(self, start: int) -> tuple[int, bool, Any]:
        """Return where the stretch ends that starts at an item, whether it is one item, and its
        items.
        """
        if self._end - start <= _STRETCH:
            return self._end, False, self._items(start, self._end, False)
        guessed = self._guessed(start)
        if guessed:
            return guessed
        counted = self._counted(start)
        stop = counted or self._end_of_item(start)
        return stop, not counted, self._items(start, stop, not counted)

    def _guessed(self, start: int) -> tuple[int, bool, Any] | None:
        """Return the same of a stretch to a comma after which an item is likely to begin, if one
        does.
        """
        near = min(start + _STRETCH + _STRETCH // 16, self._end)
        for pattern in tuple(self._likely):
            comma = pattern.search(self._data, start + _STRETCH, near)
            if comma is None:
                continue
            stop = comma.end() - 1
            with suppress(msgspec.DecodeError):  # half an item
                return stop, False, self._items(start, stop, False)
            self._likely.remove(pattern)
        return None

    def _counted(self, start: int) -> int:
        """Return the last comma between items that is near; 0 if there is none."""
        near = b"".join((b"[", self._data[start : start + _STRETCH]))
        commas = [int(found[-1]) for found in separators(near) if len(found)]
        return start + commas[-1] - 1 if commas else 0

    def _end_of_item(self, start: int) -> int:
        """Return the comma or bracket after an item, where msgspec finds more than it."""
        if not self._is_list:
            start = _key(self._data, start).end()
        try:
            _ANY.decode(self._data[start:])
        except msgspec.DecodeError as error:
            trailing = _TRAILING.search(str(error))
            if trailing is not None:
                return start + int(trailing[1]) - 1
            raise
        raise AssertionError("nothing after an item")


def _key(data: memoryview, start: int) -> re.Match[bytes]:
    key = _KEY.match(data, start)
    assert key is not None
    return key


def _last(data: memoryview) -> int:
    """Return where the last byte is that is no blank."""
    end = len(data)
    while True:
        some = bytes(data[max(end - _STRETCH, 0) : end])
        left = len(some.rstrip(b" \t\n\r"))
        if left:
            return end - len(some) + left - 1
        end -= len(some)


class Listed(Sequence[Item]):
    """A large list; an item is made when it is asked for, which is quick for all in their order."""

    def __init__(self, data: memoryview) -> None:
        self._counts = array("q")
        self._cuts = _Cuts(data, lambda items: self._counts.append(len(items)))
        self._count = sum(self._counts)

    def stretches(self) -> Iterator[tuple[int, Stretch]]:
        """Yield all items, stretch by stretch, after how many there are in each."""
        return zip(self._counts, self._cuts, strict=True)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Item]:
        return chain.from_iterable(one.items() for one in self._cuts)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return list(islice(self, start, stop, step)) if step > 0 else list(self)[index]
        return next(islice(self, range(len(self))[index], None))


class Keyed(Mapping[str, Item]):
    """A large object; a value is made when it is asked for, which is quick for all in their order:
    the stretch of the last one is remembered. Of a key that is there again, the last value counts.

    Raises
    ------
    FormatError
        When more than `MOST_AGAIN` keys are there again.
    """

    def __init__(self, data: memoryview) -> None:
        hashes = array("q")
        self._cuts = _Cuts(data, lambda pairs: hashes.extend(map(hash, pairs)))
        self._hashes = np.sort(np.asarray(hashes))
        again = _repeated(self._hashes)
        self._last: dict[str, Item] = {}
        surplus = 0
        for key, item in self._all() if again else ():
            if hash(key) in again:
                surplus += key in self._last
                self._last[key] = item.copy()
        self._count = len(hashes) - surplus
        self._near, self._pairs = -1, dict[str, Item]()

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return (key for key, _ in self.pairs())

    def __getitem__(self, key: str) -> Item:
        place = np.searchsorted(self._hashes, hash(key))
        if place == len(self._hashes) or self._hashes[place] != hash(key):
            raise KeyError(key)
        if key in self._last:
            return self._last[key]
        if key in self._pairs or self._is_found(key):
            return self._pairs[key]
        raise KeyError(key)

    def _is_found(self, key: str) -> bool:
        """Look for a key, stretch by stretch, after the one in which the last was."""
        for k in chain(range(self._near + 1, len(self._cuts)), range(self._near + 1)):
            self._near, self._pairs = k, self._cuts.stretch(k).pairs()
            if key in self._pairs:
                return True
        return False

    def items(self) -> ItemsView[str, Item]:
        """All keys with their values."""
        return _Items(self)

    def values(self) -> ValuesView[Item]:
        """All values."""
        return _Values(self)

    def pairs(self) -> Iterator[tuple[str, Item]]:
        """Yield all keys with their values."""
        if not self._last:
            yield from self._all()
            return
        seen = set()
        for key, item in self._all():
            if key not in seen:
                yield key, self._last.get(key, item)
            if key in self._last:
                seen.add(key)

    def _all(self) -> Iterator[tuple[str, Item]]:
        return chain.from_iterable(one.pairs().items() for one in self._cuts)


class _Items(ItemsView[str, Item]):
    _mapping: Keyed

    def __iter__(self) -> Iterator[tuple[str, Item]]:
        return self._mapping.pairs()


class _Values(ValuesView[Item]):
    _mapping: Keyed

    def __iter__(self) -> Iterator[Item]:
        return (item for _, item in self._mapping.pairs())


def _repeated(ordered: Ints) -> set[int]:
    """Return the numbers that follow themselves; raises `FormatError` if they are too many."""
    again = ordered[1:][ordered[1:] == ordered[:-1]][: MOST_AGAIN + 1]
    if len(again) > MOST_AGAIN:
        raise FormatError(f"more than {MOST_AGAIN} keys that are there again", "keys used once")
    return {*again.tolist()}


def opened(data: memoryview) -> Item:
    """Return a list or an object whose items are bytes; a large one of many items is `Listed` or
    `Keyed`.

    Raises
    ------
    FormatError
    """
    many: Listed | Keyed = Listed(data) if data[after_blanks(data, 0)] == ord("[") else Keyed(data)
    if len(many) > _FEW:
        return many
    return list(many) if isinstance(many, Listed) else dict(many.items())
