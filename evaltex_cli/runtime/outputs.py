"""Writes files: complete or not at all, never over an input, and over files that evaltex did not
write only with ``--force``.

An output is written to a temporary folder on the same disk and moved by `os.replace` at the end. A
kill during the last moves may leave files of two runs, which the next run repairs.
"""

from __future__ import annotations

import filecmp
import os
import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
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
def protected(inputs: Iterable[Path], may_replace: bool = False) -> Iterator[None]:
    """Protect the files and folders that a command reads from all that it writes in the block."""
    tokens = _inputs.set({}), force.set(may_replace)
    protect(inputs)
    try:
        yield
    finally:
        _inputs.reset(tokens[0])
        force.reset(tokens[1])


def protect(inputs: Iterable[Path]) -> None:
    """Protect these files instead, in the block of `protected`."""
    _inputs.set({_identity(path): path for path in inputs if path.exists()})


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


# Checks before any work ---------------------------------------------------------------------------


def check_file(path: Path, is_own: IsOwn | None = None) -> None:
    """Refuse a file that is an input, is not the command's own, if known, or cannot be written."""
    if is_stream(path):
        return
    refuse_input(path)
    _refuse_foreign([path], is_own or (lambda _: True))
    folder = _nearest(path.parent)
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        raise InputError(f"{path}: cannot be written in {folder}; give a place where you may write")


def is_stream(path: Path) -> bool:
    """Whether a path is a pipe or a device, or names an open file (``/dev/stdout``)."""
    names_open_file = path.is_symlink() and str(path.parent.resolve()).startswith(("/dev", "/proc"))
    return path.exists() and (names_open_file or not (path.is_file() or path.is_dir()))


def refuse_input(path: Path) -> None:
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
        refuse_input(path)
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

    A pipe, a device or an open file (``/dev/stdout``) is added to directly, and so is a file in the
    folder of `output_folder`. A link is followed. What is not Unicode in names is escaped.

    `is_own` says what may be replaced besides a file with the same bytes; None if that has been
    checked. Raises `InputError` for an input, a file that is not the command's own, and a place
    where nothing can be written; what is there stays as it was.
    """
    if is_stream(path) or TEMPORARY in str(path):
        mode: Literal["a", "w"] = "a" if is_stream(path) else "w"
        with path.open(mode, encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            yield file
        return
    refuse_input(path)
    place = Path(os.path.realpath(path))
    with _reported(path), _temporary_folder(place.parent) as folder:
        new = Path(folder, place.name)
        with output_file(new) as file:
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
    refuse_input(path)
    earlier = {path / name for name in names if os.path.lexists(path / name)}
    _refuse_foreign(earlier, is_own)
    with _reported(path), _temporary_folder(path) as name:
        folder = Path(name)
        yield folder
        written = sorted(file for file in folder.rglob("*") if file.is_file())
        new = {path / file.relative_to(folder): file for file in written}
        others = new.keys() - earlier
        _refuse_foreign(others, lambda file: _same(new[file], file) or is_own(file))
        for file in earlier - new.keys():
            file.unlink()
            with suppress(OSError):  # other files are in it
                file.parent.rmdir()
        path.mkdir(parents=True, exist_ok=True)
        for place, file in new.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            file.replace(place)


def _same(new: Path, old: Path) -> bool:
    return old.is_file() and filecmp.cmp(new, old, shallow=False)


def _temporary_folder(place: Path) -> AbstractContextManager[str]:
    """Return a new folder in a folder, or in the nearest one above that exists, from which those
    are removed that killed processes of this machine have left.
    """
    import shutil
    from tempfile import TemporaryDirectory  # which a run that writes nothing does without

    folder, prefix = _nearest(place), f"{TEMPORARY}{platform.node()}-"
    for left in folder.glob(f"{prefix}*-*"):
        if not _is_running(left.name.removeprefix(prefix).partition("-")[0]):
            shutil.rmtree(left, ignore_errors=True)
    own = f"{prefix}{os.getpid()}-"
    return TemporaryDirectory(prefix=own, dir=folder, ignore_cleanup_errors=True)


def _is_running(pid: str) -> bool:
    if os.name != "posix":
        return True  # there a signal would end the process
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _nearest(path: Path) -> Path:
    """Return a path itself, or the nearest one above that exists."""
    place = Path(os.path.realpath(path))
    return next(above for above in (place, *place.parents) if above.exists())


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
