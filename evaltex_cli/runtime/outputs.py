"""Where a command may write: never to an input of its own, and over a file it did not write only
with ``--force``.

The command line states what a command reads and writes (`guarded`), which is checked before any
work. `atomic_output`, by which everything is written, asks again (`refuse_input`, `may_replace`)
for every file that it is to replace.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import input_files

_HEAD_BYTES = 4096
_STANDARD_INPUT = "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
IsOwn: TypeAlias = Callable[[Path], bool]
"""Whether a file is one that this tool has written."""

_Identity = tuple[int, int]


def begins(path: Path, beginning: bytes | None) -> bool:
    """Whether a regular file begins as a regular expression says, or is empty."""
    if beginning is None or not path.is_file():
        return False
    head = input_files.read_regular(path, "a file", _HEAD_BYTES)
    return not head or re.match(beginning, head) is not None


@dataclass(frozen=True, eq=False, repr=False)
class Rules:
    """What one command reads and writes."""

    inputs: Sequence[Path] = ()
    """Files, patterns, and folders that are read as a whole; of a folder with results, these are
    read."""
    pictures: Sequence[Path] = ()
    """Folders of which some files are read: an existing file in them counts as an input."""
    files: Sequence[tuple[Path, IsOwn]] = ()
    """Files to write, each with what recognises a file of its kind."""
    folders: Sequence[Path] = ()
    """Folders to write."""
    apart: Sequence[Path] = ()
    """The inputs that must not be in a folder to write either."""
    force: bool = False
    """Whether files may be replaced that this tool did not write."""
    is_result: IsOwn = lambda _: False
    is_output: IsOwn = lambda _: False
    """`is_result` and `is_output`: recognise the results of runs, and what any command writes."""

    @cached_property
    def _read(self) -> dict[_Identity, Path]:
        """Input files and folders by what the file system knows them by."""
        paths = [path for given in self.inputs for path in self._files_of(given)]
        return {_identity(status): path for path in paths if (status := _status(path))}

    def _files_of(self, path: Path) -> Sequence[Path]:
        """The files of a pattern, the results of a folder that contains some,
        or the path itself.
        """
        try:
            files = input_files.files_of(path)
        except InputError:
            return []  # what opens it reports it
        if path.is_dir():
            return [file for file in path.glob("*.json") if self.is_result(file)] or files
        return files

    @cached_property
    def _partly_read(self) -> dict[_Identity, Path]:
        return {_identity(status): path for path in self.pictures if (status := _status(path))}

    @cached_property
    def _above(self) -> dict[str, Path | None]:
        return {}

    def _input_above(self, folder: str) -> Path | None:
        """The input folder that is, or contains, a folder."""
        if folder not in self._above:
            above: Path | None = None
            for each in (*reversed(Path(folder).parents), Path(folder)):
                status = _status(each)
                if status is not None and stat.S_ISDIR(status.st_mode):
                    known = _identity(status)
                    above = self._read.get(known) or self._partly_read.get(known) or above
            self._above[folder] = above
        return self._above[folder]

    @cached_property
    def _linked(self) -> dict[_Identity, Path]:
        """Files outside the input folders to which symbolic links in them point."""
        links = (entry for entry in self._entries() if entry.is_symlink())
        return {
            _identity(status): Path(entry.path)
            for entry in links
            if (status := _status(Path(entry.path)))
        }

    @cached_property
    def _inodes(self) -> dict[int, str]:
        return {entry.inode(): entry.path for entry in self._entries()}

    def _entries(self) -> Iterator[os.DirEntry[str]]:
        folders = [
            str(path)
            for path in (*self._read.values(), *self._partly_read.values())
            if path.is_dir()
        ]
        while folders:
            with (
                suppress(OSError),
                os.scandir(folders.pop()) as entries,
            ):  # what reads it reports it
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        yield entry

    def input_at(self, path: Path) -> Path | None:
        """The input that would change if a path were written to: the file, or
        the folder or pattern that it is of.
        """
        status = _status(path)
        is_folder = status is not None and stat.S_ISDIR(status.st_mode)
        place = os.path.realpath(path)
        above = self._input_above(place if is_folder else os.path.dirname(place))  # noqa: PTH120
        if (
            above in self.pictures
            and above not in self.inputs
            and (status is None or is_folder or self.is_output(path))
        ):
            above = None
        if above is not None or is_folder:
            return above
        if status is None:
            return next((pattern for pattern in self.inputs if _matches(path, pattern)), None)
        return self._read.get(_identity(status)) or self._linked_to(status)

    def _linked_to(self, status: os.stat_result) -> Path | None:
        """The file of an input folder that is a link, symbolic or hard, to a file."""
        linked = self._linked.get(_identity(status))
        if linked is None and status.st_nlink > 1 and status.st_ino in self._inodes:
            there = Path(self._inodes[status.st_ino])
            return there if (other := _status(there)) and os.path.samestat(other, status) else None
        return linked


_rules: ContextVar[Rules | None] = ContextVar("rules", default=None)
complete: list[Path] = []
"""What the command has written so far, in its place."""


@contextmanager
def guarded(rules: Rules) -> Iterator[None]:
    """Check what a command is to write, and apply its rules to all that it writes in the block.

    Raises
    ------
    InputError
        When it could not write there, or may not.
    """
    before = _rules.set(rules)
    complete.clear()
    try:
        for file, is_own in rules.files:
            refuse_file(file, is_own)
        for folder in rules.folders:
            refuse_folder(folder)
            _refuse_around(folder, rules.apart)
        _refuse_twice([*(file for file, _ in rules.files), *rules.folders])
        yield
    finally:
        _rules.reset(before)


@contextmanager
def without(inputs: Sequence[Path]) -> Iterator[None]:
    """Leave these out of the inputs of the command: it does not read them after all."""
    rules = _rules.get() or Rules()
    inputs_left = [path for path in rules.inputs if path not in inputs]
    before = _rules.set(replace(rules, inputs=inputs_left))
    try:
        yield
    finally:
        _rules.reset(before)


def note_complete(path: Path) -> None:
    """Note an output that is in its place, for what is said if the command is ended early."""
    if _rules.get() is not None:
        complete.append(path)


def refuse_input(path: Path) -> None:
    """Refuse to write to a path that is an input of the command, is linked to one, or is in an
    input folder.
    """
    rules = _rules.get()
    source = rules.input_at(path) if rules else None
    if source is None:
        return
    if source == path:
        relation = "is"
    elif not source.exists():
        relation = f"matches {source},"
    elif source.is_dir() and not (path.exists() and source.samefile(path)):
        relation = f"is in {source},"
    else:
        relation = f"is the same as {source},"
    raise InputError(f"{path}: {relation} an input of this command; write to another place")


def may_replace(path: Path, is_own: IsOwn | None) -> bool:
    """Whether an existing file may be replaced; with no `is_own`, none is known to be this tool's.

    Without rules, as in a Python program that calls a function, only `is_own` decides.
    """
    return is_forced() or (_rules.get() is None if is_own is None else is_own(path))


def is_forced() -> bool:
    """Whether files may be replaced that this tool did not write."""
    rules = _rules.get()
    return rules is not None and rules.force


def refuse_shared(place: Path) -> None:
    """Refuse a place of a result in which another output of the command is to be."""
    rules, place = _rules.get(), _to_be(place)
    for file, _ in rules.files if rules else ():
        if _to_be(file).is_relative_to(place):
            raise InputError(
                f"{file}: is the place of a result of the same command; write to another place"
            )


def refuse_file(path: Path, is_own: IsOwn) -> None:
    """Refuse a file that cannot be written, is an input, or is there and of another kind."""
    status = _status(path)
    if os.path.normpath(path) in _STANDARD_INPUT:
        raise InputError(f"{path}: is what is read (stdin); give a file, or /dev/stdout")
    refuse_input(path)
    if is_special(path):
        return
    if status is not None and stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path}: cannot be written (Is a directory); give a file")
    place = Path(os.path.realpath(path))
    if place.is_symlink():
        raise InputError(
            f"{path}: cannot be written (Too many levels of symbolic links); give a file"
        )
    _refuse_unwritable(path, place.parent)
    if status is None:
        return
    refuse_foreign(path, place.parent)
    if not may_replace(path, is_own):
        raise InputError(
            f"{path}: already exists and does not begin like an output of this command; give"
            " another path, or --force to replace it"
        )
    refuse_protected(path)


def refuse_foreign(path: Path, folder: Path) -> None:
    """Refuse to replace, by force too, a file of another user in a folder like ``/tmp``, where the
    system lets nobody else replace it.
    """
    file, above = path.stat(), folder.stat()
    if above.st_mode & stat.S_ISVTX and _user() not in (0, file.st_uid, above.st_uid):
        raise InputError(
            f"{path}: belongs to another user, in a folder where nobody else may replace it; give"
            " another path"
        )


def refuse_protected(path: Path) -> None:
    """Refuse to replace a file that may not be written to (``chmod a-w``), though its folder may;
    of root, one that nobody may write to.
    """
    if not is_forced() and not (os.access(path, os.W_OK) and path.stat().st_mode & _WRITABLE):
        raise InputError(
            f"{path}: is protected against writing; give another path, or --force to replace it"
        )


def is_special(path: Path) -> bool:
    """Whether a path is of a device or pipe, or names an open file
    (``/dev/stdout``), to be written as it is.
    """
    status = _status(path)
    if status is None or stat.S_ISDIR(status.st_mode):
        return False
    names_open_file = path.is_symlink() and os.path.realpath(path.parent).startswith(
        ("/dev", "/proc/")
    )
    return names_open_file or not stat.S_ISREG(status.st_mode)


def refuse_folder(path: Path) -> None:
    """Refuse a folder in which nothing can be written, or that is in an input."""
    status = _status(path)
    if status is not None and not stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path}: is a file; give a folder for the results")
    refuse_input(path)
    existing = Path(os.path.realpath(path))
    while not os.path.lexists(existing):
        existing = existing.parent
    _refuse_unwritable(path, existing)


def _refuse_around(folder: Path, inputs: Sequence[Path]) -> None:
    """Refuse a folder with an input in it."""
    for path in inputs if folder.exists() else ():
        place = Path(os.path.realpath(path))
        if path.exists() and any(folder.samefile(above) for above in (place, *place.parents)):
            raise InputError(
                f"{folder}: contains {path}, an input of this command; give another folder"
            )


def _refuse_unwritable(path: Path, folder: Path) -> None:
    """Refuse a path for which nothing can be made in a folder."""
    reason = None
    if not folder.is_dir():
        reason = (
            f"Not a directory at {folder}"
            if folder.exists()
            else f"No such file or directory at {folder}"
        )
    elif not os.access(folder, os.W_OK | os.X_OK):
        reason = f"Permission denied at {folder}"
    if reason:
        raise InputError(f"{path}: cannot be written ({reason}); give a folder you may write to")


def _user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _refuse_twice(paths: Sequence[Path]) -> None:
    seen: dict[Path, Path] = {}
    for path in paths:
        if is_special(path):
            continue
        place = _to_be(path)
        first = seen.get(place)
        seen[place] = path
        if first is not None:
            raise InputError(
                f"{first} and {path}: are the same place, to be written twice; give two places"
            )


def _to_be(path: Path) -> Path:
    """Return the place of a file or folder that may not be there yet. Places whose names differ by
    capitals alone are one: on some file systems they are.
    """
    return Path(unicodedata.normalize("NFD", os.path.realpath(path)).casefold())


def _matches(path: Path, pattern: Path) -> bool:
    """Whether a file, wherever links lead to, would be one of a pattern's."""
    place = Path(os.path.realpath(path))
    if path == pattern or not fnmatch.fnmatchcase(place.name, pattern.name):
        return False
    within = pattern if pattern.name == "**" else pattern.parent
    folders = glob.glob(os.path.abspath(within), recursive=True)  # noqa: PTH100, PTH207 (of any path)
    return any(os.path.realpath(folder) == str(place.parent) for folder in folders)


def _status(path: Path) -> os.stat_result | None:
    """What a path leads to; None where there is nothing, or nothing that can be seen."""
    try:
        return path.stat()
    except (OSError, ValueError):
        return None


def _identity(status: os.stat_result) -> _Identity:
    return status.st_dev, status.st_ino
