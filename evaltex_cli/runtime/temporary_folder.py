"""The temporary folder in which processes meet: removed in the end, or, after a kill, by a worker or the next run.

multiprocessing makes it (``pymp-*`` in `TMPDIR`) and removes it when its process ends, if that is not killed. A file in
it that is locked as long as the process lives shows which of these folders are still in use.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.util import get_temp_dir
from pathlib import Path

LONGEST_PATH = 60
"""Bytes; systems allow about a hundred for the name of a socket, of which Python adds thirty."""
_LOCK = "evaltex.lock"
_locked_here: dict[str, int] = {}
"""The folder of this process, and its open lock file: to close it would give up the lock."""


def hold_folder() -> None:
    """Make the folder of this process and lock it, if that has not been done; remove those that killed runs left."""
    configured = tempfile.gettempdir()
    try:
        if len(os.fsencode(configured)) > LONGEST_PATH:
            tempfile.tempdir = "/tmp"
        folder = get_temp_dir()
    finally:
        tempfile.tempdir = configured
    if folder in _locked_here:
        return
    with suppress(OSError):  # where there are no locks, nothing is removed
        for stale in _stale_folders(Path(folder).parent):
            _remove(stale)
        lock = os.open(f"{folder}/{_LOCK}.new", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        _locked_here[folder] = lock
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.replace(f"{folder}/{_LOCK}.new", f"{folder}/{_LOCK}")  # noqa: PTH105


def remove_folder() -> None:
    """Remove the folder of the process that started this one; to be called when that process has been killed."""
    _remove(Path(get_temp_dir()))


def _stale_folders(place: Path) -> Iterator[Path]:
    """Yield the folders of this user that no process holds any more."""
    for folder in place.glob("pymp-*"):
        if str(folder) in _locked_here:
            continue
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield folder
            finally:
                os.close(lock)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
