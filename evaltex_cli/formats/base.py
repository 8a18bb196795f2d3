"""What a reader is: a function that indexes an input, and one that reads any of its images."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import FaultLog
from evaltex_cli.records import Ints, ReadImages

if TYPE_CHECKING:
    from evaltex_cli.formats.collected import CollectedImage

Side = Literal["gt", "det"]
_BLOCK_NAMES = 4096
_WEIGHTS = np.frombuffer(os.urandom(1 << 13), np.uint64)  # nobody can choose names whose hashes are the same


class Names(Sequence[str]):
    """Names as stretches of one UTF-8 buffer, each followed by a newline; a list of millions would fill memory.

    Parameters
    ----------
    buffer : bytes or bytearray
    stop : (n,) integers
        Where the newlines are.
    """

    __slots__ = ("buffer", "stop")

    def __init__(self, buffer: bytes | bytearray, stop: Ints) -> None:
        self.buffer, self.stop = buffer, stop

    def __len__(self) -> int:
        return len(self.stop)

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            found = self[index : index + 1 or None]
            if not found:
                raise IndexError(index)
            return found[0]
        start, stop, step = index.indices(len(self))
        if step != 1 or stop <= start:
            return [self[k] for k in range(start, stop, step)]
        first = int(self.stop[start - 1]) + 1 if start else 0
        return self.buffer[first : int(self.stop[stop - 1])].decode().split("\n")

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _BLOCK_NAMES):
            yield from self[start : start + _BLOCK_NAMES]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Names):
            return self.buffer == other.buffer
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def repeat(self) -> bool:
        """Whether two may be the same; seldom wrong, never where they are."""
        found = self.hashes()
        found.sort()
        return bool((found[1:] == found[:-1]).any())

    def hashes(self) -> NDArray[np.uint64]:
        """(n,) a hash of each name, the same only within this process: the sum of its bytes, weighted by place."""
        found = np.empty(len(self), np.uint64)
        for first in range(0, len(self), _BLOCK_NAMES):
            stop = self.stop[first : first + _BLOCK_NAMES] + np.int64(1)
            begin = int(self.stop[first - 1]) + 1 if first else 0
            data = np.frombuffer(self.buffer, np.uint8, int(stop[-1]) - begin, begin)
            start = np.concatenate([np.zeros(1, np.int64), stop[:-1] - begin])
            place = np.arange(len(data)) - np.repeat(start, np.diff(start, append=len(data)))
            found[first : first + len(start)] = np.add.reduceat(_WEIGHTS[place % len(_WEIGHTS)] * data, start)
        return found


def hashes(gt: Sequence[str], det: Sequence[str]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return (n,) a hash of each name of both sides, the same only within this process."""
    if isinstance(gt, Names) and isinstance(det, Names):
        return gt.hashes(), det.hashes()
    ours, theirs = (np.fromiter(map(hash, names), np.int64, len(names)) for names in (gt, det))
    return ours, theirs


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """An indexed input: its images are known, their objects not yet read.

    Attributes
    ----------
    path : str
        As the user wrote it; messages begin with it.
    format : str
        Name of the format in `FORMATS`.
    sha256 : str
        Of the file's bytes; of the sorted listing of entries and their hashes for a folder.
    names : sequence of str
        Image names, unique, in the order of the input.
    weights : (images,) integers
        Bytes of each image's text: what batches are bounded by.
    read : callable
        ``read(positions, faults)`` returns the images at these positions of `names`, in the order of
        `positions`; what is wrong with them goes to the log.
    warnings : tuple of str
        What the user should know about the input.
    part : callable or None
        ``part(positions)`` returns a function of a fault log that reads these images, as `read` does, and can be sent
        to another process without all the others; where None, `read` itself can.
    labels : callable or None
        ``labels(position)`` returns the image's label picture, (height, width) int64 of object IDs and 0, where the
        format has pictures of its own.
    min_confidence : float or None
        The least confidence of the objects that it gives (`confidence.only_confident`); None where it gives all.
    collect : callable or None
        ``collect(positions)`` returns these images as `collected.CollectedImage`, which know where they and their
        objects stand; None where each object has a line, which can be found again.
    """

    path: str
    format: str
    sha256: str
    names: Sequence[str]
    weights: Ints
    read: Callable[[Ints, FaultLog], ReadImages]
    warnings: tuple[str, ...] = ()
    labels: Callable[[int], Ints] | None = None
    part: Callable[[Ints], Callable[[FaultLog], ReadImages]] | None = None
    min_confidence: float | None = None
    collect: Callable[[Ints], list[CollectedImage]] | None = None

    def reader(self, positions: Ints) -> Callable[[FaultLog], ReadImages]:
        """Return what reads the images at these positions, to be called here or in another process."""
        return partial(self.read, positions) if self.part is None else self.part(positions)


@dataclass(frozen=True, slots=True)
class Format:
    """A file format.

    Attributes
    ----------
    name, title : str
        What the user types, and one line about it.
    recognises : callable
        ``recognises(path)`` tells by content whether a file or folder is of this format.
    index : callable
        ``index(path, side, faults)`` finds the images. Raises `InputError` when nothing can be read.
    four_corners : bool
        Whether every object is a box or has four vertices, whatever the file holds.
    """

    name: str
    title: str
    recognises: Callable[[Path], bool]
    index: Callable[[Path, Side, FaultLog], Source]
    four_corners: bool = False
