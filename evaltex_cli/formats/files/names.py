"""Names of images by the million: in one buffer, looked up and grouped without a call for each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.records import Ints, stretches

_NEWLINE = ord("\n")
_GROUP = 64
_BLOCK = 64 * _GROUP
_BLOCK_BYTES = 1 << 20
_MANY, _SHARES = 1 << 18, 4
"""Hashes of more names are compared in shares, one after the other, to need less memory."""
_WEIGHTS = np.frombuffer(
    os.urandom(1 << 13), np.uint64
)  # nobody can choose names whose hashes are the same


class Names(Sequence[str]):
    """Names in one UTF-8 buffer, each followed by a newline.

    Where the names of a group of 64 stand is looked for when one of them is wanted.
    """

    __slots__ = ("_count", "_group_start", "buffer")

    def __init__(self, buffer: bytes | bytearray) -> None:
        count, starts = 0, [np.zeros(1, np.int64)]
        for ends in _newlines(buffer):
            starts.append(ends[(-count - 1) % _GROUP :: _GROUP] + 1)
            count += len(ends)
        self.buffer, self._count, self._group_start = buffer, count, np.concatenate(starts)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            names = self[index : index + 1 or None]
            if not names:
                raise IndexError(index)
            return names[0]
        start, stop, step = index.indices(len(self))
        if step != 1 or stop <= start:
            return [self[k] for k in range(start, stop, step)]
        group = start // _GROUP
        text = self.buffer[slice(*self._bytes(group, (stop - 1) // _GROUP + 1))]
        return text.decode().split("\n")[start - group * _GROUP : stop - group * _GROUP]

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _BLOCK):
            start, stop = self._bytes(first // _GROUP, (first + _BLOCK) // _GROUP)
            if stop - start <= _BLOCK_BYTES:
                yield from self[first : first + _BLOCK]
                continue
            while start < stop:  # names are long: one at a time
                end = self.buffer.index(b"\n", start)
                yield self.buffer[start:end].decode()
                start = end + 1

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Names):
            return self.buffer == other.buffer
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def taken(self, positions: Ints) -> Iterator[str]:
        """Yield the names at many positions, in any order."""
        stop = np.empty(len(self) + 1, np.min_scalar_type(len(self.buffer)))
        stop[0], done = 0, 1
        for ends in _newlines(self.buffer):
            stop[done : done + len(ends)] = ends + 1
            done += len(ends)
        for first in range(0, len(positions), _BLOCK):
            block = positions[first : first + _BLOCK]
            for start, end in zip(stop[block].tolist(), stop[block + 1].tolist(), strict=True):
                yield self.buffer[start : end - 1].decode()

    def blocks(self) -> Iterator[Names]:
        """Yield all names, some thousands at a time."""
        for first in range(0, len(self), _BLOCK):
            start, stop = self._bytes(first // _GROUP, (first + _BLOCK) // _GROUP)
            yield Names(self.buffer[start:stop])

    def lengths(self) -> Ints:
        """(n,) bytes of each name, with its newline."""
        ends = np.concatenate([np.full(1, -1), *_newlines(self.buffer)])
        return np.diff(ends)

    def repeat(self) -> bool:
        """Whether two may be the same; seldom wrong, never where they are."""
        shares = _SHARES if len(self) > _MANY else 1
        for share in range(shares):
            parts = [one[one % np.uint64(shares) == share] for one in self._hashes()]
            hashes = np.concatenate([np.empty(0, np.uint64), *parts])
            hashes.sort()
            if (hashes[1:] == hashes[:-1]).any():
                return True
        return False

    def hashes(self) -> NDArray[np.uint64]:
        """(n,) a hash of each name, the same only within this process: the
        sum of its bytes, weighted by place.
        """
        hashes = np.empty(len(self), np.uint64)
        for first, block in zip(range(0, len(self), _BLOCK), self._hashes(), strict=True):
            hashes[first : first + len(block)] = block
        return hashes

    def _hashes(self) -> Iterator[NDArray[np.uint64]]:
        """Yield `hashes` block by block."""
        for first in range(0, len(self), _BLOCK):
            group = first // _GROUP
            start, stop = self._bytes(group, group + _BLOCK // _GROUP)
            data = np.frombuffer(self.buffer, np.uint8, stop - start, start)
            ends = np.concatenate(list(_newlines(memoryview(self.buffer)[start:stop])))
            begins = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
            if len(data) > _BLOCK_BYTES:  # names are long: below, each byte takes tens of bytes
                parts = zip(begins.tolist(), ends.tolist(), strict=True)
                yield np.array([_hash(data[b : e + 1]) for b, e in parts], np.uint64)
                continue
            # How far each byte is from the start of its name.
            place = np.arange(len(data)) - np.repeat(begins, ends + 1 - begins)
            yield np.add.reduceat(_WEIGHTS[place % len(_WEIGHTS)] * data, begins)

    def _bytes(self, group: int, stop: int) -> tuple[int, int]:
        """Return the first byte of a group, and that after those before `stop`."""
        last = int(self._group_start[stop]) if stop < len(self._group_start) else len(self.buffer)
        return int(self._group_start[group]), last


def _hash(name: NDArray[np.uint8]) -> int:
    """One of `Names.hashes`, made piece by piece."""
    pieces = (name[k : k + len(_WEIGHTS)] for k in range(0, len(name), len(_WEIGHTS)))
    return sum(int((_WEIGHTS[: len(one)] * one).sum()) for one in pieces) % 2**64


def _newlines(buffer: bytes | bytearray | memoryview) -> Iterator[Ints]:
    """Yield where the newlines are, part by part."""
    for begin in range(0, len(buffer), _BLOCK_BYTES):
        data = np.frombuffer(buffer, np.uint8, min(_BLOCK_BYTES, len(buffer) - begin), begin)
        yield np.flatnonzero(data == _NEWLINE) + begin


def hashes(gt: Sequence[str], det: Sequence[str]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return (n,) a hash of each name of both sides, the same only within this process."""
    if isinstance(gt, Names) and isinstance(det, Names):
        return gt.hashes(), det.hashes()
    ours, theirs = (np.fromiter(map(hash, names), np.int64, len(names)) for names in (gt, det))
    return ours, theirs


def taken(names: Sequence[str], positions: Ints) -> Iterator[str]:
    """Yield the names at many positions, in any order."""
    return (
        names.taken(positions)
        if isinstance(names, Names)
        else (names[k] for k in positions.tolist())
    )


def escaped(name: str) -> bytes:
    """Return a name that is no part of another one's line, whatever is in it; as it is if it has no
    newline and no NUL.
    """
    if "\0" in name or "\n" in name:
        name = name.replace("\0", "\0\0").replace("\n", "\0n")
    return name.encode("utf-8", "surrogatepass") + b"\n"


def unescaped(buffer: bytes | bytearray) -> Sequence[str]:
    """Return names of such lines; they are in a list if some have newlines or are not Unicode."""
    with suppress(UnicodeDecodeError):
        if b"\0" not in buffer and (buffer.isascii() or buffer.decode()):
            return Names(buffer)
    return [
        "\0".join(part.replace("\0n", "\n") for part in name.split("\0\0"))
        for name in buffer.decode("utf-8", "surrogatepass").split("\n")[:-1]
    ]


def packed(names: Iterable[str]) -> Sequence[str]:
    """Return names in little memory; as a list if some have newlines or are not Unicode."""
    buffer = bytearray()
    for name in names:
        buffer += escaped(name)
    return unescaped(buffer)


def escaped_lines(names: Sequence[str]) -> bytes:
    """Return the lines of many names (`escaped`)."""
    text = "\n".join(names)
    if text.count("\n") == len(names) - 1 and "\0" not in text:
        with suppress(UnicodeEncodeError):
            return text.encode() + b"\n"
    return b"".join(map(escaped, names))


def repeat(names: Sequence[str]) -> bool:
    """Whether two names are the same."""
    return not (isinstance(names, Names) and not names.repeat()) and len(set(names)) < len(names)


def repeated(buffer: bytes | bytearray) -> frozenset[str]:
    """Return the names that are there twice or more, of lines of `escaped`."""
    names = Names(buffer)
    if not names.repeat():
        return frozenset()
    first, group = grouped(names)
    lines = _split(names)
    again = first[np.bincount(group, minlength=len(first)) > 1].tolist()
    return frozenset(unescaped(b"".join(lines[k] + b"\n" for k in again)))


class Lookup:
    """Where names are among others, of which none is there twice."""

    def __init__(self, names: Names) -> None:
        self._names, self._hashes = names, names.hashes()
        self._order, self._stops = np.argsort(self._hashes), np.cumsum(names.lengths())
        self._every: dict[bytes, int] | None = None

    def positions(self, names: Names) -> Ints:
        """Return (n,) the position of each name; -1 if it is not there."""
        if not len(self._order):
            return np.full(len(names), -1)
        if len(names) > _BLOCK:  # all at once take several times their bytes
            return np.concatenate([self.positions(block) for block in names.blocks()])
        if self._every is None:
            hashes, lengths = names.hashes(), names.lengths()
            found = np.searchsorted(self._hashes, hashes, sorter=self._order)
            positions = self._order[np.minimum(found, len(self._order) - 1)]
            positions[self._hashes[positions] != hashes] = -1
            there = np.flatnonzero(positions >= 0)
            theirs, ours = lengths[there], self._lengths_of(positions[there])
            if np.array_equal(theirs, ours) and np.array_equal(
                _bytes_of(names, np.cumsum(lengths)[there], theirs),
                _bytes_of(self._names, self._stops[positions[there]], ours),
            ):
                return positions
            # names of equal hashes: rare, so only then each name is looked up
            self._every = {name: k for k, name in enumerate(_split(self._names))}
        return np.array([self._every.get(name, -1) for name in _split(names)], np.int64)

    def _lengths_of(self, positions: Ints) -> Ints:
        before = np.where(positions > 0, self._stops[positions - 1], 0)
        lengths: Ints = self._stops[positions] - before
        return lengths


def _split(names: Names) -> list[bytes]:
    return bytes(names.buffer).split(b"\n")[:-1]


def _bytes_of(names: Names, stops: Ints, lengths: Ints) -> NDArray[np.uint8]:
    """Return the bytes of names of these ends and lengths."""
    data = np.frombuffer(names.buffer, np.uint8)
    return data[stretches(stops - lengths, lengths)]


def grouped(names: Names) -> tuple[Ints, Ints]:
    """Find the names that are the same.

    Returns
    -------
    (groups,) int64
        The first of each group of names that are the same, in their order.
    (n,) int64
        The group of each.
    """
    hashes = names.hashes()
    order = np.argsort(hashes, kind="stable")
    begins = np.diff(hashes[order], prepend=~hashes[order[:1]]) != 0
    if not _are_same(names, order[:-1][~begins[1:]], order[1:][~begins[1:]]):
        first: dict[bytes, int] = {}
        group = np.array([first.setdefault(one, len(first)) for one in _split(names)], np.int64)
        return np.flatnonzero(np.diff(np.maximum.accumulate(group), prepend=-1)), group
    of = order[begins]
    place = np.empty(len(of), np.int64)
    place[np.argsort(of)] = np.arange(len(of))
    group = np.empty(len(order), np.int64)
    group[order] = place[np.cumsum(begins) - 1]
    return np.sort(of), group


def _are_same(names: Names, one: Ints, other: Ints) -> bool:
    """Whether each of some names is the same as another."""
    lengths = names.lengths()
    if (lengths[one] != lengths[other]).any():
        return False
    stops = np.cumsum(lengths)
    for first in range(0, len(one), _BLOCK):
        a, b = one[first : first + _BLOCK], other[first : first + _BLOCK]
        if not np.array_equal(
            _bytes_of(names, stops[a], lengths[a]), _bytes_of(names, stops[b], lengths[b])
        ):
            return False
    return True
