"""Writes files: complete or not at all, never over an input, and over files that evaltex did not
write only with ``--force``.

An output is written to a temporary folder beside its place and moved by `os.replace` at the end. A
kill during the last moves may leave files of two runs, which the next run repairs.
"""

from __future__ import annotations

import filecmp
import glob
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Literal, TextIO, TypeAlias

from evaltex_cli.errors import InputError

TEMPORARY = ".evaltex-"
"""How the names of temporary folders begin."""
IsOwn: TypeAlias = Callable[[Path], bool]
"""Whether an existing file was written by the same command, so that it may be replaced."""


_inputs: ContextVar[dict[tuple[int, int], Path]] = ContextVar("inputs", default={})  # noqa: B039
force: ContextVar[bool | None] = ContextVar("force", default=None)
"""Whether the running command may replace files of others; None without a command."""


@contextmanager
def protected(inputs: Sequence[Path], may_replace: bool = False) -> Iterator[None]:
    """Protect the files and folders that a command reads from all that it writes in the block."""
    known = {_identity(path): path for path in inputs if path.exists()}
    tokens = _inputs.set(known), force.set(may_replace)
    try:
        yield
    finally:
        _inputs.reset(tokens[0])
        force.reset(tokens[1])


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


# Checks before any work ---------------------------------------------------------------------------


def check_file(path: Path, is_own: IsOwn | None = None) -> None:
    """Refuse a file that is an input, cannot be written, or is not the command's own, if known."""
    if not is_stream(path):
        _refuse_foreign([path], is_own or (lambda _: True))
        _refuse_place(path)


def check_folder(path: Path) -> None:
    """Refuse a folder that is an input, or in which nothing can be written."""
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: is a file; give a folder for the results")
    _refuse_place(path)


def is_stream(path: Path) -> bool:
    """Whether a path is a pipe or a device, or names an open file (``/dev/stdout``)."""
    names_open_file = path.is_symlink() and str(path.parent.resolve()).startswith(("/dev", "/proc"))
    return path.exists() and (names_open_file or not (path.is_file() or path.is_dir()))


def _nearest_folder(path: Path) -> Path:
    """Return a path itself, or the nearest folder above that exists."""
    place = Path(os.path.realpath(path))
    return next(folder for folder in (place, *place.parents) if folder.exists())


def _refuse_place(path: Path) -> None:
    """Refuse a place in an input, or where nothing may be written."""
    _refuse_input(path)
    folder = _nearest_folder(path if path.is_dir() else path.parent)
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        raise InputError(
            f"{path}: cannot be written (no permission in {folder}, or not a folder); give a place"
            " where you may write"
        )


def _refuse_input(path: Path) -> None:
    """Refuse to write to an input, or into a folder that is an input."""
    known, place = _inputs.get(), Path(os.path.realpath(path))
    for above in (place, *place.parents) if known else ():
        source = known.get(_identity(above)) if above.exists() else None
        if source is not None:
            relation = f"in {source}, " if source.is_dir() else f"{source}, "
            raise InputError(
                f"{path}: is {'' if source == path else relation}an input of this command; write to"
                " another place"
            )


def _refuse_foreign(paths: Iterable[Path], is_own: IsOwn) -> None:
    """Refuse to replace inputs and files that are not the command's own."""
    for path in filter(os.path.lexists, paths):
        _refuse_input(path)
        if path.is_dir():
            raise InputError(f"{path}: is a folder where a file belongs; remove it")
        if not force.get() and not is_own(path):
            raise InputError(
                f"{path}: already exists, and this command did not write it; give another place, or"
                " --force to replace it"
            )


# Writing ------------------------------------------------------------------------------------------


@contextmanager
def output_file(path: Path, is_own: IsOwn | None = None) -> Iterator[TextIO]:
    """Give a UTF-8 text file to write to, and move it to `path` when the block ends well.

    A pipe, a device or an open file (``/dev/stdout``) is written to directly, as is a file in a
    folder of `output_folder`. A link is followed. What is not Unicode in names of files is escaped.

    `is_own` says what may be replaced besides a file with the same bytes; None if that has been
    checked. Raises `InputError` for an input, a file that is not the command's own, and a place
    where nothing can be written; what is there stays as it was.
    """
    if is_stream(path) or TEMPORARY in str(path):
        mode: Literal["a", "w"] = "a" if is_stream(path) else "w"  # an open file is added to
        with path.open(mode, encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            yield file
        return
    _refuse_input(path)
    place = Path(os.path.realpath(path))
    with _reported(path), _temporary_folder(place) as folder:
        new = folder / place.name
        with new.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            yield file
        if is_own is not None and not _same(new, place):
            _refuse_foreign([path], is_own)
        place.parent.mkdir(parents=True, exist_ok=True)
        new.replace(place)


def write_file(path: Path, text: str | Iterable[str]) -> None:
    """Write a whole text file, or its pieces, as `output_file` does."""
    with output_file(path) as file:
        file.writelines([text] if isinstance(text, str) else text)


@contextmanager
def output_folder(path: Path, is_own: IsOwn, names: Iterable[str] = ()) -> Iterator[Path]:
    """Give a folder to write to, and move its files into `path` when the block ends well.

    `path` is made if missing; other files in it stay as they are. `is_own` says what may be
    replaced besides files with the same bytes. `names` are the files that the command may write:
    those that are there must be its own, and are removed if it does not write them again. Raises
    `InputError` as `output_file`.
    """
    check_folder(path)
    earlier = {path / name for name in names if os.path.lexists(path / name)}
    _refuse_foreign(earlier, is_own)
    with _reported(path), _temporary_folder(Path(os.path.realpath(path))) as folder:
        yield folder
        # The files above come before those in inner folders: scores.json, which lists them, first.
        new, folders = {}, []
        for root, _, written in os.walk(folder):
            folders.append(path / Path(root).relative_to(folder))
            new.update({folders[-1] / name: Path(root, name) for name in sorted(written)})
        others = new.keys() - earlier
        _refuse_foreign(others, lambda file: _same(new[file], file) or is_own(file))
        for file in earlier - new.keys():
            file.unlink()
            with suppress(OSError):  # other files are in it
                file.parent.rmdir()
        for inner in folders:
            inner.mkdir(parents=True, exist_ok=True)
        for file, made in new.items():
            made.replace(file)


def _same(new: Path, old: Path) -> bool:
    return old.is_file() and filecmp.cmp(new, old, shallow=False)


@contextmanager
def _temporary_folder(place: Path) -> Iterator[Path]:
    """Give a new folder beside a place, removed at the end; inside the place where nothing can be
    moved from beside it, as into a mounted folder.
    """
    import shutil  # which a run that writes nothing does without

    beside = _nearest_folder(place.parent)
    if place.is_dir() and (os.path.ismount(place) or not os.access(beside, os.W_OK | os.X_OK)):
        beside = place
    start = f"{TEMPORARY}{place.name[:50]}-{platform.node()}-"
    for old in beside.glob(f"{glob.escape(start)}*"):
        if not _is_running(old.name.removeprefix(start)):
            shutil.rmtree(old, ignore_errors=True)
    folder = beside / f"{start}{os.getpid()}"
    try:
        folder.mkdir()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_running(process: str) -> bool:
    """Whether another process, of which the number is given, may still write to its folder."""
    if os.name == "nt":  # there, the call would end it
        return True
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
    except OSError as error:
        name = str(error.filename or path)
        is_output = name.startswith(str(path)) or TEMPORARY in name
        if isinstance(error, BrokenPipeError) or not is_output:
            raise
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error}); give a place where you may"
            " write and there is room"
        ) from error
