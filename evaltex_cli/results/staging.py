"""Results are written beside their place and moved into it at the end: earlier results or new ones, never half."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from evaltex_cli.errors import InputError, quote


@contextlib.contextmanager
def staged(res_dir: Path, names: Sequence[str]) -> Iterator[Path]:
    """Give a folder to write into, and put its content in place when the block ends well.

    Parameters
    ----------
    res_dir : Path
        The result folder; made if missing.
    names : sequence of str
        Everything the run owns in `res_dir`. What stands there under these names is replaced, or removed where the run
        has made nothing of that name; nothing else in `res_dir` is touched.

    Raises
    ------
    InputError
        When the folder cannot be made or written, or holds something of these names that is no result.
    """
    try:
        made = _make_missing(res_dir.parent)
        refuse_foreign(res_dir, names)
        exists = res_dir.exists()
        beside = res_dir if exists else res_dir.parent
        folder = Path(tempfile.mkdtemp(prefix=".evaltex-", dir=beside))
    except OSError as error:
        raise _unwritable(res_dir, error) from error
    try:
        new = folder / "new"
        new.mkdir()
        yield new
        if exists:
            _replace(folder, res_dir, names)
        else:
            _set_mode(new, 0o777)
            new.rename(res_dir)
    except OSError as error:
        _remove_made(made)
        raise _unwritable(res_dir, error) from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        _remove_made(made)
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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


def refuse_foreign(res_dir: Path, names: Sequence[str]) -> None:
    """Refuse to replace what no run of this tool has made: a file in a folder's place, or a folder of other files.

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
        for root, _, files in os.walk(place):
            foreign = [file for file in files if not file.endswith(".txt")]
            if foreign:
                raise InputError(
                    f"{place}: holds {quote(os.path.join(root, foreign[0]))}, which is no result of an earlier run;"
                    " give another result folder"
                )


def _replace(folder: Path, res_dir: Path, names: Sequence[str]) -> None:
    """Swap old for new by renames, all on one file system; undo them if one fails."""
    old = folder / "old"
    old.mkdir()
    moves = [(res_dir / name, old / name) for name in names if (res_dir / name).exists()]
    moves += [(folder / "new" / name, res_dir / name) for name in names if (folder / "new" / name).exists()]
    done: list[tuple[Path, Path]] = []
    try:
        for source, target in moves:
            source.rename(target)
            done.append((source, target))
    except BaseException:
        for source, target in reversed(done):
            target.rename(source)
        raise


def _make_missing(folder: Path) -> list[Path]:
    """Make a folder and its missing parents; return what was made, innermost first."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir()
    return missing


def _remove_made(made: list[Path]) -> None:
    for path in made:
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
