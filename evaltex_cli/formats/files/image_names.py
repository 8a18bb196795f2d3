"""Names of images: of which files they are, which are safe as names of result
files; millions in little memory.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, takewhile
from operator import eq
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import quote
from evaltex_cli.records import Ints

MOST_FOLDERS = 100
"""Before a name: what makes and removes folders within folders goes down by recursion."""
MAX_NAME_BYTES = 4096
"""Longest image name, in UTF-8: no path may be longer."""
MOST_BYTES = 255
"""Of a file's name; no common file system takes more."""
NAME_TOO_LONG = (
    f"an image name of more than {MAX_NAME_BYTES} bytes",
    "a shorter one; rename the image",
)
_SURELY_SHORT = 50
_LEAVES_FOLDER = re.compile(r"^[/\\]|^[A-Za-z]:|(?:^|[/\\])\.{0,2}(?:[/\\]|$)|[\x00-\x1f\x7f]")
_PLAIN = re.compile(r"\w[\w .-]*")
_SLASH = re.compile(r"[/\\]")
_PREFIX = re.compile(r"\A(?:poly_gt|gt|res|det)_", re.IGNORECASE)
_SUFFIX = re.compile(r"\.(?:jpe?g|png|bmp|tiff?|gif|webp|txt|xml|json)\s*\Z", re.IGNORECASE)
_ANY_PREFIX = re.compile(r"\A(?:poly_gt|gt|res|det|pred)_", re.IGNORECASE)
_RESULT = re.compile(r"(?<=.)_res\Z", re.IGNORECASE)
"""What PaddleOCR 3 adds to the names of its results."""
_NEWLINE = ord("\n")
_GROUP = 64
_BLOCK = 64 * _GROUP
_BLOCK_BYTES = 1 << 20
_WEIGHTS = np.frombuffer(
    os.urandom(1 << 13), np.uint64
)  # nobody can choose names whose hashes are the same


def without_prefix(stem: str) -> str:
    """Return a file's or image's name without ``gt_``, ``res_`` and the like."""
    return _PREFIX.sub("", stem)


def image_names(names: list[str], suffix: str) -> list[str]:
    """Name the images of files of this ending, as `archive.open_entries` says."""
    paths = [parts_of(name) for name in names]
    stems = [without_prefix(path[-1][: len(path[-1]) - len(suffix)]) for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    levels = takewhile(
        lambda level: len(set(level)) == 1, zip(*(path[:-1] for path in paths), strict=False)
    )
    shared = sum(1 for _ in levels)
    return ["/".join([*path[shared:-1], stem]) for path, stem in zip(paths, stems, strict=True)]


def names_of_pictures(names: Sequence[str]) -> list[str]:
    """Name images by the files of their pictures: without ending, as
    `image_names` says otherwise.
    """
    return image_names([_SUFFIX.sub("", name) for name in names], "")


def parts_of(name: str) -> list[str]:
    """Return folders and file name of an entry's name, whatever slash is between them."""
    return [part for part in _SLASH.split(name) if part != "."]


def is_unicode(name: str) -> bool:
    """Whether a name has no byte that is not UTF-8."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def bytes_of(name: str) -> int:
    """How many bytes a name has in UTF-8; a byte of a file name that is not
    UTF-8 counts as it is.
    """
    return len(name.encode("utf-8", "replace"))


def is_plain(name: str) -> bool:
    """Whether a name is of letters and digits, with blanks, dots and dashes
    among them: safe without a closer look.
    """
    return _PLAIN.fullmatch(name) is not None


def is_too_long(name: str) -> bool:
    """Whether a name has more than `MAX_NAME_BYTES` bytes in UTF-8."""
    return 4 * len(name) > MAX_NAME_BYTES and len(name.encode("utf-8", "replace")) > MAX_NAME_BYTES


def leaves_result_folder(name: str) -> bool:
    """Whether a file of this name could stand outside the folder it is meant for.

    True for absolute names, drive letters, empty, ``.`` or ``..`` components (with either slash)
    and control characters, NUL among them.
    """
    return not is_plain(name) and _LEAVES_FOLDER.search(name) is not None


def unfit_for_files(
    names: Iterable[str], place: Path, folder: str, suffix: str
) -> dict[str, tuple[str, str]]:
    """Find the names of which no file ``<place>/<folder>/<name><suffix>`` can be made, or none
    beside the others'.

    Parameters
    ----------
    names : iterable of str
        Image names, gone through more than once.
    place : Path
        An existing folder that may be written to.
    folder, suffix : str

    Returns
    -------
    dict
        Name -> what it makes, and what is expected instead.
    """
    longest = os.pathconf(place, "PC_NAME_MAX")
    longest_path = os.pathconf(place, "PC_PATH_MAX") - len(os.fsencode(f"{place}/{folder}/\0"))
    unfit: dict[str, tuple[str, str]] = {}
    folders_like_files: dict[str, str] = {}
    for name in names:
        if len(name) <= _SURELY_SHORT and f"{suffix}/" not in name:
            continue
        path = name + suffix
        *folders, _ = parts = path.split("/")
        length, path_length = max(map(bytes_of, parts)), bytes_of(path)
        if length > longest:
            unfit[name] = f"makes a file name of {length} bytes", f"at most {longest}; shorten it"
        elif path_length > longest_path:
            unfit[name] = (
                f"makes a path of {path_length} bytes",
                f"at most {longest_path}; shorten it",
            )
        elif len(folders) > MOST_FOLDERS:
            unfit[name] = f"makes {len(folders)} folders", f"at most {MOST_FOLDERS}; shorten it"
        else:
            above = accumulate(folders, "{}/{}".format)
            folders_like_files |= dict.fromkeys(
                (one for one in above if one.endswith(suffix)), name
            )
    for name in names if folders_like_files else ():
        other = folders_like_files.get(name + suffix)
        if other is not None:
            made = (
                f"makes the file {quote(name + suffix)}, which is a folder of image {quote(other)}"
            )
            unfit[name] = made, "files and folders that differ; rename one of the images"
    return unfit | (_alike(names) if _is_blind_to_case(place) else {})


def _is_blind_to_case(folder: Path) -> bool:
    """Whether files of a folder are the same where their names differ by capitals."""
    probe = folder / "probe"
    probe.touch()
    try:
        return (folder / "PROBE").exists()
    finally:
        probe.unlink()


def _alike(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    first: dict[str, str] = {}
    unfit = {}
    for name in names:
        other = first.setdefault(unicodedata.normalize("NFD", name).casefold(), name)
        if other != name:
            made = (
                f"makes the same file as {quote(other)} on this file system, which is blind to"
                " capitals"
            )
            unfit[name] = made, "names that differ by more; rename one of the images"
    return unfit


def stem(name: str) -> str:
    """Return a name without folders, prefix (`gt_`, `res_`, `poly_gt_`, ...),
    extension, `_res` and outer blanks.
    """
    last = re.split(r"[/\\]", name.strip())[-1]
    return _ANY_PREFIX.sub("", _RESULT.sub("", _SUFFIX.sub("", last))).strip()


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
        hashes = self.hashes()
        hashes.sort()
        return bool((hashes[1:] == hashes[:-1]).any())

    def hashes(self) -> NDArray[np.uint64]:
        """(n,) a hash of each name, the same only within this process: the
        sum of its bytes, weighted by place.
        """
        hashes = np.empty(len(self), np.uint64)
        for first in range(0, len(self), _BLOCK):
            group = first // _GROUP
            start, stop = self._bytes(group, group + _BLOCK // _GROUP)
            data = np.frombuffer(self.buffer, np.uint8, stop - start, start)
            ends = np.flatnonzero(data == _NEWLINE)
            begins = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
            # How far each byte is from the start of its name.
            place = np.arange(len(data)) - np.repeat(begins, ends + 1 - begins)
            hashes[first : first + len(ends)] = np.add.reduceat(
                _WEIGHTS[place % len(_WEIGHTS)] * data, begins
            )
        return hashes

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
    return (
        names.taken(positions)
        if isinstance(names, Names)
        else (names[k] for k in positions.tolist())
    )
