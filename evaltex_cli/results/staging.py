"""Results are written beside their place and moved into it at the end: earlier results or new ones, never half."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

from evaltex_cli.errors import InputError


@contextlib.contextmanager
def staged(res_dir: Path, names: Sequence[str], is_own: Callable[[Path], bool] | None = None) -> Iterator[Path]:
    """Give a folder to write into, and put its content in place when the block ends well.

    Parameters
    ----------
    res_dir : Path
        The result folder; made if missing.
    names : sequence of str
        Everything the run owns in `res_dir`. What stands there under these names is replaced, or removed where the run
        has made nothing of that name; nothing else in `res_dir` is touched.
    is_own : callable, optional
        Tells a file of an earlier run from one of the user's.

    Raises
    ------
    InputError
        When the folder cannot be made or written, or holds something of these names that is not the run's own.
    """
    folder: Path | None = None
    made: list[Path] = []
    try:
        refuse_foreign(res_dir, names, is_own)
        _make_missing(res_dir.parent, made)
        exists = res_dir.exists()
        folder = Path(tempfile.mkdtemp(prefix=".evaltex-", dir=res_dir if exists else res_dir.parent))
        new = folder / "new"
        new.mkdir()
        yield new
        if exists:
            _replace(folder, res_dir, names)
        else:
            _set_mode(new, 0o777)
            new.rename(res_dir)
    except OSError as error:
        raise _unwritable(res_dir, error) from error
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        _remove_empty(made)


@contextlib.contextmanager
def written(path: Path) -> Iterator[IO[str]]:
    """Give a UTF-8 text file to write into, and put it in place of `path` when the block ends well.

    Raises
    ------
    InputError
        When it cannot be written; what stood there is then left as it was.
    """
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="\n", dir=path.parent, prefix=".evaltex-", delete=False
        ) as file:
            try:
                yield file
                file.close()
                _set_mode(Path(file.name), 0o666)
                Path(file.name).replace(path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error


def write_file(path: Path, text: str) -> None:
    """Write a whole text file at once; raises as `written`."""
    with written(path) as file:
        file.write(text)


def refuse_foreign(res_dir: Path, names: Sequence[str], is_own: Callable[[Path], bool] | None = None) -> None:
    """Refuse to replace what no run of this tool has made: a file in a folder's place, or files that are not its own.

    Raises
    ------
    InputError
    """
    if res_dir.exists() and not res_dir.is_dir():
        raise InputError(f"{res_dir}: is a file; give a folder for the results")
    for name in names:
        place = res_dir / name
        is_result_folder = "." not in name
        if place.is_symlink() or (place.exists() and place.is_dir() != is_result_folder):
            raise InputError(f"{place}: stands where a result belongs; remove it or give another result folder")
        for file in _files(place):
            if is_own is not None and not is_own(file):
                raise InputError(
                    f"{file}: is no result of an earlier run and would be replaced; give another result folder"
                )


def _files(place: Path) -> Iterator[Path]:
    """The file itself, or all files in the folder."""
    if place.is_file():
        yield place
    for root, _, files in os.walk(place):
        yield from (Path(root, file) for file in files)


def _replace(folder: Path, res_dir: Path, names: Sequence[str]) -> None:
    """Swap old for new by renames, all on one file system; undo them if one fails."""
    old = folder / "old"
    old.mkdir()
    moves = [(res_dir / name, old / name) for name in names if (res_dir / name).exists()]
    moves += [(folder / "new" / name, res_dir / name) for name in names if (folder / "new" / name).exists()]
    done: list[tuple[Path, Path]] = []
    try:
        for source, target in moves:
            done.append((source, target))  # before the move: an interrupt may come right after it
            source.rename(target)
    except BaseException:
        for source, target in reversed(done):
            if not source.exists():
                target.rename(source)
        raise


def _make_missing(folder: Path, made: list[Path]) -> None:
    """Make a folder and its missing parents; `made` gets them as they are there, outermost first."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir()
        made.append(path)


def _remove_empty(folders: list[Path]) -> None:
    """Remove the folders, outermost first in the list, that hold nothing."""
    for path in reversed(folders):
        with contextlib.suppress(OSError):
            path.rmdir()


def _set_mode(path: Path, mode: int) -> None:
    """What is temporary is private; results get the mode that anything new would."""
    umask = os.umask(0)
    os.umask(umask)
    path.chmod(mode & ~umask)


def _unwritable(res_dir: Path, error: OSError) -> InputError:
    where = f" at {error.filename}" if error.filename else ""
    reason = f"{error.strerror or error}{where}"
    return InputError(f"{res_dir}: cannot be written ({reason}); give a folder you may write to")
