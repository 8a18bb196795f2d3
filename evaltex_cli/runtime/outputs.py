"""Writes files: complete or not at all, never over an input, and over files that evaltex did not
write only with ``--force``.

An output is written to a temporary folder beside its place and moved by `os.replace` at the end. A
kill during the last moves may leave files of two runs, which the next run repairs.
"""

from __future__ import annotations

import filecmp
import glob
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Literal, NamedTuple, TextIO, TypeAlias

from evaltex_cli.errors import InputError

TEMPORARY = ".evaltex-"
"""How the names of temporary folders begin."""
IsOwn: TypeAlias = Callable[[Path], bool]
"""Whether an existing file was written by the same command, so that it may be replaced."""


class _Command(NamedTuple):
    """What the running command reads, and whether it may replace files of others."""

    inputs: Mapping[tuple[int, int], Path]
    pictures: Mapping[tuple[int, int], Path]
    force: bool


_command: ContextVar[_Command | None] = ContextVar("command", default=None)


@contextmanager
def protected(
    inputs: Sequence[Path], pictures: Sequence[Path] = (), force: bool = False
) -> Iterator[None]:
    """Protect what a command reads from all that it writes in the block: files and folders, and
    folders of pictures, of which some files are read.
    """
    token = _command.set(_Command(_by_identity(inputs), _by_identity(pictures), force))
    try:
        yield
    finally:
        _command.reset(token)


def _by_identity(paths: Sequence[Path]) -> dict[tuple[int, int], Path]:
    return {_identity(path): path for path in paths if path.exists()}


def _identity(path: Path) -> tuple[int, int]:
    """Return what `os.path.samefile` compares."""
    status = path.stat()
    return status.st_dev, status.st_ino


def force() -> bool | None:
    """Whether the running command may replace files of others; None without a command."""
    command = _command.get()
    return None if command is None else command.force


# Checks before any work ---------------------------------------------------------------------------


def check_file(path: Path, is_own: IsOwn | None = None) -> None:
    """Refuse a file that is an input, cannot be written, or is not the command's own; `is_own` None
    where that cannot be known yet.
    """
    _refuse_input(path)
    if not is_stream(path):
        _refuse_foreign([path], is_own or (lambda _: True))
        _refuse_unwritable(path, Path(os.path.realpath(path)).parent)


def check_folder(path: Path) -> None:
    """Refuse a folder that is an input, or in which nothing can be written."""
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: is a file; give a folder for the results")
    _refuse_input(path)
    _refuse_unwritable(path, _existing(Path(os.path.realpath(path))))


def is_stream(path: Path) -> bool:
    """Whether a path is a pipe or a device, or names an open file (``/dev/stdout``)."""
    if not path.exists() or path.is_dir():
        return False
    folder = os.path.realpath(path.parent)
    names_open_file = path.is_symlink() and folder.startswith(("/dev", "/proc/"))
    return names_open_file or not stat.S_ISREG(path.stat().st_mode)


def _existing(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder


def _refuse_unwritable(path: Path, folder: Path) -> None:
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        reason = "Permission denied" if folder.is_dir() else "No such folder"
        raise InputError(
            f"{path}: cannot be written ({reason}: {folder}); give a place where you may write"
        )


def _refuse_input(path: Path) -> None:
    """Refuse to write to an input, or into a folder that is an input."""
    command = _command.get()
    source = None if command is None else _around(command.inputs, path)
    if source is not None:
        relation = f"in {source}, " if source.is_dir() else f"{source}, "
        raise InputError(
            f"{path}: is {'' if source == path else relation}an input of this command; write to"
            " another place"
        )


def _around(known: Mapping[tuple[int, int], Path], path: Path) -> Path | None:
    """Return the known path that is, or contains, a path."""
    place = Path(os.path.realpath(path))
    above = (known.get(_identity(one)) for one in (place, *place.parents) if one.exists())
    return next(filter(None, above), None)


def _refuse_foreign(paths: Iterable[Path], is_own: IsOwn) -> None:
    """Refuse to replace inputs and files that are not the command's own."""
    command = _command.get()
    for path in filter(os.path.lexists, paths):
        _refuse_input(path)
        if path.is_dir():
            raise InputError(f"{path}: is a folder where a file belongs; remove it")
        is_forced = command and command.force and not _around(command.pictures, path)
        if not is_forced and not is_own(path):
            raise InputError(
                f"{path}: already exists, and this command did not write it; give another place, or"
                " --force to replace it"
            )


# Writing ------------------------------------------------------------------------------------------


@contextmanager
def output_file(path: Path, is_own: IsOwn | None = None) -> Iterator[TextIO]:
    """Give a UTF-8 text file to write to, and move it to `path` when the block ends well.

    A pipe, a device or an open file (``/dev/stdout``) is written to directly, as is a file in a
    folder of `output_folder`. A link is followed. The permissions of a replaced file are kept.

    Parameters
    ----------
    is_own : callable, optional
        What may be replaced besides a file with the same bytes; None if that has been checked.

    Raises
    ------
    InputError
        When the file is an input, is not the command's own, or cannot be written; what is there
        stays as it was.
    """
    if is_stream(path) or _is_temporary(path):
        mode: Literal["a", "w"] = "a" if is_stream(path) else "w"  # an open file is added to
        with _reported(path), path.open(mode, encoding="utf-8", newline="\n") as file:
            yield file
        return
    _refuse_input(path)
    place = Path(os.path.realpath(path))
    with _reported(path), _temporary_folder(place) as folder:
        new = folder / place.name
        with new.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        if place.exists():
            if is_own is not None and not _same(new, place):
                _refuse_foreign([path], is_own)
            new.chmod(stat.S_IMODE(place.stat().st_mode))
        new.replace(place)


def write_file(path: Path, text: str | Iterable[str]) -> None:
    """Write a whole text file, or its pieces, as `output_file` does. What is not Unicode in names
    of files is escaped.
    """
    with output_file(path) as file:
        for piece in [text] if isinstance(text, str) else text:
            file.write(piece.encode("utf-8", "backslashreplace").decode("utf-8"))


@contextmanager
def output_folder(
    path: Path, is_own: IsOwn, names: Sequence[str] = (), listed: Sequence[str] = ()
) -> Iterator[Path]:
    """Give a folder to write to, and move its files into `path` when the block ends well.

    Parameters
    ----------
    path : Path
        Made if missing; other files in it stay as they are.
    is_own : callable
        What may be replaced besides files with the same bytes.
    names : sequence of str
        Files that the command may write. Those that are there must be its own; they are removed if
        it does not write them again.
    listed : sequence of str
        Files that an earlier run has written, whatever is in them; they are removed too.

    Raises
    ------
    InputError
        When something in the folder is not the command's own or is an input, or the folder cannot
        be written.
    """
    check_folder(path)
    known = {path / name for name in listed}
    earlier = {file for file in {*known, *(path / name for name in names)} if os.path.lexists(file)}
    _refuse_foreign(earlier, lambda file: file in known or is_own(file))
    with _reported(path), _temporary_folder(Path(os.path.realpath(path))) as folder:
        yield folder
        # The files above come before those in inner folders: scores.json, which lists them, first.
        new, folders = {}, []
        for root, _, written in os.walk(folder):
            folders.append(path / Path(root).relative_to(folder))
            new.update({folders[-1] / name: Path(root, name) for name in sorted(written)})
        unknown = (file for file in new if file not in earlier and os.path.lexists(file))
        _refuse_foreign((file for file in unknown if not _same(new[file], file)), is_own)
        for inner in folders[1:]:
            if inner.is_symlink():
                raise InputError(f"{inner}: is a link where a folder belongs; remove it")
        for old in earlier.difference(new):
            old.unlink()
            with suppress(OSError):  # other files are in it
                old.parent.rmdir()
        for inner in folders:
            inner.mkdir(parents=True, exist_ok=True)
        for file, made in new.items():
            made.replace(file)


def _same(new: Path, old: Path) -> bool:
    return old.is_file() and filecmp.cmp(new, old, shallow=False)


def _own_ending() -> str:
    return f"-{os.uname().nodename}-{os.getpid()}"


def _is_temporary(path: Path) -> bool:
    """Whether a path is in a temporary folder of this process."""
    return any(part.startswith(TEMPORARY) and part.endswith(_own_ending()) for part in path.parts)


@contextmanager
def _temporary_folder(place: Path) -> Iterator[Path]:
    """Give a new folder beside a place, removed at the end; inside the place where nothing can be
    moved from beside it, as into a mounted folder.
    """
    import shutil  # which a run that writes nothing does without

    beside = _existing(place.parent)
    if place.is_dir() and (os.path.ismount(place) or not os.access(beside, os.W_OK | os.X_OK)):
        beside = place
    folder = beside / f"{TEMPORARY}{place.name[:50]}{_own_ending()}"
    start = folder.name.removesuffix(str(os.getpid()))
    for old in beside.glob(f"{glob.escape(start)}*"):
        if not _is_running(old.name.removeprefix(start)):
            shutil.rmtree(old, ignore_errors=True)
    try:
        folder.mkdir()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_running(process: str) -> bool:
    """Whether another process, of which the number is given, may still write to its folder."""
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, ValueError):  # of another user, or not a number
        return True
    return int(process) != os.getpid()


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Name the output that cannot be written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        name = str(error.filename or path)
        is_output = name.startswith(str(path)) or TEMPORARY in name
        if not is_output or _is_temporary(path):  # a folder's temporary files are not named
            raise
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error}); give a place where you may"
            " write and there is room"
        ) from error
