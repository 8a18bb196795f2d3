"""What a reader is: a function that indexes an input, and one that reads any of its images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evaltex_cli.errors import FaultLog
from evaltex_cli.records import Ints, ReadImages

Side = Literal["gt", "det"]


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
    names : list of str
        Image names, unique, in the order of the input.
    weights : (images,) int64
        Bytes of each image's text: what batches are bounded by.
    read : callable
        ``read(positions, faults)`` returns the images at these positions of `names`, in the order of
        `positions`; what is wrong with them goes to the log.
    warnings : tuple of str
        What the user should know about the input.
    labels : callable or None
        ``labels(position)`` returns the image's label picture, (height, width) int64 of object IDs and 0, where the
        format has pictures of its own.
    """

    path: str
    format: str
    sha256: str
    names: list[str]
    weights: Ints
    read: Callable[[Ints, FaultLog], ReadImages]
    warnings: tuple[str, ...] = ()
    labels: Callable[[int], Ints] | None = None


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
    """

    name: str
    title: str
    recognises: Callable[[Path], bool]
    index: Callable[[Path, Side, FaultLog], Source]
