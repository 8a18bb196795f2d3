"""Names of millions of images in little memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.records import Ints

_NEWLINE = ord("\n")
_GROUP = 64
_BLOCK = 64 * _GROUP
_BLOCK_BYTES = 1 << 20
_WEIGHTS = np.frombuffer(os.urandom(1 << 13), np.uint64)  # nobody can choose names whose hashes are the same


class Names(Sequence[str]):
    """Names in one UTF-8 buffer, each followed by a newline.

    Where the names of a group of 64 stand is looked for when one of them is wanted.

    Parameters
    ----------
    buffer : bytes or bytearray
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
            found = self[index : index + 1 or None]
            if not found:
                raise IndexError(index)
            return found[0]
        start, stop, step = index.indices(len(self))
        if step != 1 or stop <= start:
            return [self[k] for k in range(start, stop, step)]
        group = start // _GROUP
        text = self.buffer[slice(*self._bytes(group, (stop - 1) // _GROUP + 1))]
        return text.decode().split("\n")[start - group * _GROUP : stop - group * _GROUP]

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _BLOCK):
            yield from self[start : start + _BLOCK]

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

    def repeat(self) -> bool:
        """Whether two may be the same; seldom wrong, never where they are."""
        found = self.hashes()
        found.sort()
        return bool((found[1:] == found[:-1]).any())

    def hashes(self) -> NDArray[np.uint64]:
        """(n,) a hash of each name, the same only within this process: the sum of its bytes, weighted by place."""
        found = np.empty(len(self), np.uint64)
        for first in range(0, len(self), _BLOCK):
            group = first // _GROUP
            start, stop = self._bytes(group, group + _BLOCK // _GROUP)
            data = np.frombuffer(self.buffer, np.uint8, stop - start, start)
            ends = np.flatnonzero(data == _NEWLINE)
            begins = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
            place = np.arange(len(data)) - np.repeat(begins, ends + 1 - begins)
            found[first : first + len(ends)] = np.add.reduceat(_WEIGHTS[place % len(_WEIGHTS)] * data, begins)
        return found

    def _bytes(self, group: int, stop: int) -> tuple[int, int]:
        """Return the first byte of a group, and that after those before `stop`."""
        last = int(self._group_start[stop]) if stop < len(self._group_start) else len(self.buffer)
        return int(self._group_start[group]), last


def _newlines(buffer: bytes | bytearray) -> Iterator[Ints]:
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
    return names.taken(positions) if isinstance(names, Names) else (names[k] for k in positions.tolist())
