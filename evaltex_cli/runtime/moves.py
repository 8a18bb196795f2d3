"""Old results replaced by new ones: moved by renames, which the next run
finishes if one is killed, and removed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from evaltex_cli.errors import InputError
from evaltex_cli.runtime.input_files import read_regular

MOVES, NEW, _OLD = "moves", "new", "old"
"""In a staging folder: the list of moves while they are made, what comes, and what has left."""


def discard(path: Path) -> None:
    """Remove a file, or a folder with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink()


def remove_tree(folder: Path) -> None:
    """Remove a folder, if it is there, with all that is in it."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry)  # noqa: PTH108
        folder.rmdir()
    except FileNotFoundError:
        return
    except OSError:
        import shutil  # which most runs do without

        shutil.rmtree(folder)


def replace_results(folder: Path, res_dir: Path, names: Sequence[str]) -> None:
    """Swap old for new by renames, all on one file system; undo them if one fails."""
    leaving, coming = (
        [name for name in names if (place / name).exists()] for place in (res_dir, folder / NEW)
    )
    (folder / _OLD).mkdir()
    part = folder / f"{MOVES}.part"
    with part.open("w", encoding="utf-8", errors="surrogateescape") as file:
        json.dump([leaving, coming], file)
        file.flush()
        os.fsync(
            file.fileno()
        )  # else it may be empty after a power failure that the moves have outlived
    done: list[tuple[Path, Path]] = []
    try:
        os.replace(part, folder / MOVES)  # noqa: PTH105 (not one of the moves)
        for source, target in _moves(folder, res_dir, leaving, coming):
            done.append((source, target))  # before the move: an interrupt may come right after it
            source.rename(target)
    except BaseException:
        for source, target in reversed(done):
            if not source.exists():
                target.rename(source)
        (folder / MOVES).unlink(missing_ok=True)
        raise
    (folder / MOVES).unlink()


def _moves(
    folder: Path, res_dir: Path, leaving: Sequence[str], coming: Sequence[str]
) -> list[tuple[Path, Path]]:
    old, new = folder / _OLD, folder / NEW
    return [
        *((res_dir / name, old / name) for name in leaving),
        *((new / name, res_dir / name) for name in coming),
    ]


def finish(folder: Path, res_dir: Path) -> None:
    """Make the moves that a killed run has not made."""
    if not os.path.lexists(folder / MOVES):
        return
    leaving, coming = _read_moves(folder, res_dir) or _guessed_moves(folder, res_dir)
    for name in leaving:
        if not (folder / _OLD / name).exists() and (res_dir / name).exists():
            (res_dir / name).rename(folder / _OLD / name)
    for name in coming:
        if (folder / NEW / name).exists():
            (folder / NEW / name).rename(res_dir / name)
    discard(folder / MOVES)


def _read_moves(folder: Path, res_dir: Path) -> tuple[list[str], list[str]] | None:
    """Return the names of what leaves and what comes; None where the list is damaged."""
    try:
        leaving, coming = json.loads(
            read_regular(folder / MOVES, "a file").decode("utf-8", "surrogateescape")
        )
        are_names = (
            isinstance(leaving, list)
            and isinstance(coming, list)
            and all(map(_is_name, [*leaving, *coming]))
        )
        here, old, new = map(_names_in, (res_dir, folder / _OLD, folder / NEW))
        are_all = all(
            {*there} <= {*listed} <= {*there, *here}
            for listed, there in ((leaving, old), (coming, new))
        )
        return (leaving, coming) if are_names and are_all else None
    except (ValueError, TypeError, RecursionError, InputError, OSError):
        return None


def _is_name(name: str) -> bool:
    return name not in ("", ".", "..") and not set(name) & {"/", "\0"}


def _names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def _guessed_moves(folder: Path, res_dir: Path) -> tuple[list[str], list[str]]:
    """Complete the moves without a list of them, or undo them, so that the results are of one run.

    All that leaves is moved before anything comes. So where something has come in the place of what
    left, all has left, and the rest is to come. Else all that has left goes back.
    """
    left, new = _names_in(folder / _OLD), _names_in(folder / NEW)
    if any(os.path.lexists(res_dir / name) for name in left):
        return [], [name for name in new if not os.path.lexists(res_dir / name)]
    for name in left:
        (folder / _OLD / name).rename(res_dir / name)
    return [], []
