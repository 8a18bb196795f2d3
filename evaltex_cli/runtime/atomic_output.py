"""Results are written next to their place and moved into it at the end: earlier results or new
ones, never half.

Every target has one staging folder, `.evaltex-staging` in a result folder and `.evaltex-` with a
digest next to what is not there yet. Its file `lock` is locked as long as its run lives, so a
second run into the same place is refused, and what a killed run has left is distinguished from what
a run is writing. An existing result folder takes several renames, which are listed in the file
`moves` before the first of them is made: if a run was killed between two, the next one that writes
to the folder or reads results from it (`finish_interrupted_moves`) makes the rest.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import stat
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import outputs, signals
from evaltex_cli.runtime.moves import MOVES, NEW, discard, finish, replace_results

_PREFIX = ".evaltex-"
INSIDE = f"{_PREFIX}staging"
_LOCK = "lock"
_locked_here: set[Path] = set()


@contextlib.contextmanager
def staged(
    res_dir: Path, names: Sequence[str], is_own: Callable[[Path], bool] | None = None
) -> Iterator[Path]:
    """Give a folder to write into, and put its content in place when the block ends well.

    Parameters
    ----------
    res_dir : Path
        The result folder; made if missing.
    names : sequence of str
        Everything the run owns in `res_dir`. What has one of these names is replaced, or removed if
        the run has made nothing of that name; nothing else in `res_dir` is touched.
    is_own : callable, optional
        Whether a file is of an earlier run, and not the user's.

    Raises
    ------
    InputError
        When the folder cannot be made or written, contains something of these names that is not the
        run's own, or when another run is writing to it.
    """
    made: list[Path] = []
    try:
        refuse_foreign(res_dir, names, is_own)
        with _at_last(_remove_empty, made):
            _make_missing(res_dir.parent, made)
            with _staging_folder(res_dir, made) as folder:
                new = folder / NEW
                new.mkdir()
                yield new
                with signals.blocked():
                    if folder.name == INSIDE:
                        replace_results(folder, res_dir, names)
                    else:
                        new.rename(res_dir)
                    outputs.note_complete(res_dir)
    except OSError as error:
        raise _unwritable(res_dir, error) from error


@contextlib.contextmanager
def written(path: Path) -> Iterator[TextIO]:
    """Give a UTF-8 text file to write into, and put it in place of `path` when the block ends well.

    A pipe, a device or an open file (``/dev/stdout``) is written to as it is; a symbolic link is
    followed. A file that replaces another has its permissions.

    Raises
    ------
    InputError
        When it cannot be written, which leaves what is there as it was; or when another run is
        writing it.
    """
    try:
        outputs.refuse_input(path)
        if outputs.is_special(path):
            with path.open("a", encoding="utf-8", newline="\n") as file:
                yield file
            return
        place = Path(os.path.realpath(path))
        with _lock_folder(_next_to(place), path) as folder:
            new = folder / NEW
            with new.open("w", encoding="utf-8", newline="\n") as file:
                yield file
            with contextlib.suppress(FileNotFoundError):
                new.chmod(stat.S_IMODE(place.stat().st_mode))
            with signals.blocked():
                new.replace(place)
                if not _is_staged(path):
                    outputs.note_complete(path)
    except BrokenPipeError:
        raise
    except OSError as error:
        if not _is_about(path, error) or _is_staged(path):  # of which `staged` says what it is for
            raise
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error}); give a path where you may"
            " write and there is room"
        ) from error


def _is_about(path: Path, error: OSError) -> bool:
    """Whether an error is of a file to be written: of none that has a name,
    or of one with another name.
    """
    place = Path(os.path.realpath(path))
    named = [Path(name) for name in (error.filename, error.filename2) if isinstance(name, str)]
    return not named or any(
        name.is_relative_to(own) for name in named for own in (path, place, _next_to(place))
    )


def _is_staged(path: Path) -> bool:
    return any(part.startswith(_PREFIX) for part in path.parts)


def write_file(path: Path, text: str | Iterable[str]) -> None:
    """Write a whole text file, or its pieces, what is no Unicode in names of
    files escaped; raises as `written`.
    """
    with written(path) as file:
        for piece in [text] if isinstance(text, str) else text:
            file.write(piece.encode("utf-8", "backslashreplace").decode("utf-8"))


def finish_interrupted_moves(res_dir: Path) -> None:
    """Finish what a run that was killed while it replaced results has left; to be called before
    results are read.

    Raises
    ------
    InputError
        When that cannot be done, or a run is replacing them just now.
    """
    folder = res_dir / INSIDE
    if os.path.lexists(folder / MOVES):
        try:
            with _lock_folder(folder, res_dir):
                pass
        except OSError as error:
            raise _unwritable(res_dir, error) from error


def refuse_foreign(
    res_dir: Path, names: Sequence[str], is_own: Callable[[Path], bool] | None = None
) -> None:
    """Refuse to replace what no run of this tool has made: a file in a folder's place, or files
    that are not its own.
    """
    if res_dir.exists() and not res_dir.is_dir():
        raise InputError(f"{res_dir}: is a file; give a folder for the results")
    for name in names:
        place = res_dir / name
        outputs.refuse_shared(place)
        is_result_folder = "." not in name
        with contextlib.suppress(FileNotFoundError):
            mode = place.lstat().st_mode
            if stat.S_ISLNK(mode) or stat.S_ISDIR(mode) != is_result_folder:
                raise InputError(
                    f"{place}: stands where a result belongs; remove it or give another result"
                    " folder"
                )
        for file in _files(place):
            with contextlib.suppress(FileNotFoundError):  # another run has just replaced it
                outputs.refuse_input(file)
                outputs.refuse_foreign(file, file.parent)
                if (
                    not outputs.may_replace(file, is_own) and file.lstat()
                ):  # it may have gone in the meantime
                    raise InputError(
                        f"{file}: is no result of an earlier run and would be replaced; give"
                        " another result folder, or --force to replace it"
                    )
                outputs.refuse_protected(file)


def _files(place: Path) -> Iterator[Path]:
    """The file itself, or all files in the folder."""
    if place.is_file():
        yield place
    for root, _, files in os.walk(place):
        yield from (Path(root, file) for file in files)


# The staging folder -------------------------------------------------------------------------------


def _next_to(target: Path) -> Path:
    digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]
    return target.parent / f"{_PREFIX}{digest}"


@contextlib.contextmanager
def _staging_folder(res_dir: Path, made: list[Path]) -> Iterator[Path]:
    """Hold the staging folder of a result folder, which is inside it where it exists."""
    next_to = _next_to(res_dir)
    with contextlib.ExitStack() as stack:
        if not res_dir.exists() or os.path.lexists(next_to):
            stack.enter_context(_lock_folder(next_to, res_dir, made))
        if res_dir.exists():  # it may have come into being just before `next_to` was locked
            yield stack.enter_context(_lock_folder(res_dir / INSIDE, res_dir, made))
        else:
            yield next_to


@contextlib.contextmanager
def _lock_folder(folder: Path, target: Path, made: Sequence[Path] = ()) -> Iterator[Path]:
    """Hold a staging folder, made if missing, against other runs; give it empty and remove it in
    the end, with the folders that were made for it and are empty then.
    """
    if folder in _locked_here:
        raise _busy(folder, target)
    with contextlib.ExitStack() as stack:
        with signals.blocked():
            try:
                lock = _locked(folder, target)
            except (KeyboardInterrupt, SystemExit):  # of a thread that does not block them
                with contextlib.suppress(OSError):
                    folder.rmdir()
                raise
            _locked_here.add(folder)
            stack.enter_context(_at_last(_release, folder, lock, made))
        finish(folder, target)
        _clear(folder)
        yield folder


def _locked(folder: Path, target: Path) -> int:
    """Lock a staging folder and return the open lock file.

    The lock is of this process only: children that outlive it do not keep it.
    """
    while True:
        try:
            folder.mkdir(0o700)
            is_new = True
        except FileExistsError:
            is_new = False
            status = folder.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                raise _busy(folder, target) from None
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except FileNotFoundError:
            if not folder.parent.is_dir():
                raise
            continue  # its run has just ended
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_file(lock, folder / _LOCK):
                return lock
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EAGAIN) or not is_new:
                os.close(lock)
                raise _busy(folder, target) from error
            return (
                lock  # a file system without locks: the process that makes the folder has the lock
            )
        os.close(lock)


def _is_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _clear(folder: Path) -> None:
    """Remove all that is in a staging folder but its lock."""
    for path in folder.iterdir():
        if path.name != _LOCK:
            discard(path)


def _release(folder: Path, lock: int, made: Sequence[Path]) -> None:
    if not os.path.lexists(folder / MOVES):  # else there are results in it
        with contextlib.suppress(OSError):
            _clear(folder)
            (folder / _LOCK).unlink(missing_ok=True)
            folder.rmdir()
    _remove_empty(made)
    _locked_here.discard(folder)
    os.close(lock)


def _busy(folder: Path, target: Path) -> InputError:
    return InputError(
        f"{target}: another run is writing to it; wait until it has ended, or remove {folder} if"
        " there is none"
    )


class _Block:
    """What lives as long as a block of code is under way."""


@contextlib.contextmanager
def _at_last(clean_up: Callable[..., None], *given: object) -> Iterator[None]:
    """Clean up when a block ends; if a signal comes just as it begins or ends, when nothing refers
    to it any more (a traceback may), at the latest when the process ends.
    """
    block = _Block()
    final = weakref.finalize(block, _in_process, os.getpid(), clean_up, *given)
    try:
        yield
    finally:
        with signals.blocked():
            final()


def _in_process(number: int, clean_up: Callable[..., None], *given: object) -> None:
    if number == os.getpid():  # else a child of it ends
        clean_up(*given)


# Folders around it --------------------------------------------------------------------------------


def _make_missing(folder: Path, made: list[Path]) -> None:
    """Make a folder and its missing parents; `made` gets them as they are
    there, outermost first.
    """
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        made.append(path)


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove the folders, outermost first in the list, that are empty."""
    for path in reversed(folders):
        with contextlib.suppress(OSError):
            path.rmdir()


def _unwritable(res_dir: Path, error: OSError) -> InputError:
    is_named = error.filename and not _is_staged(Path(error.filename))
    reason = f"{error.strerror or error}" + (f" at {error.filename}" if is_named else "")
    return InputError(
        f"{res_dir}: cannot be written ({reason}); give a folder where you may write and there is"
        " room"
    )
