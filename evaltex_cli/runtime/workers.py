"""Work cut into pieces, done in this process or in several, with results in order.

Only so many pieces are under way at once, and results come in the order of the items, so that sums
do not depend on which process does the work.

Every worker process has a pipe of its own to a thread of this process. If it dies, that pipe ends,
so it is known which item it had, and no other worker is disturbed. (The workers of a
`ProcessPoolExecutor` share their pipes: one that dies breaks the pool, nobody knows at which item,
and before Python 3.14 none can be ended while it works.)
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import pickle
import shutil
import signal
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, resource_tracker
from multiprocessing.util import get_temp_dir
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import (
    AHEAD,
    ATTEMPTS,
    MACHINE_FAULTS,
    FailedError,
    Item,
    OrderedMap,
    Result,
    collect_rarely,
    keep_freed_memory,
    signals,
)

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

_IMPORTED = ("multiprocessing.connection", "multiprocessing.popen_forkserver", "runpy")
_END = b""
LONGEST_PATH = 60
"""Bytes; systems allow about a hundred for the name of a socket, of which Python adds thirty."""
_FOLDER_LOCK = "evaltex.lock"
_locked_here: dict[str, int] = {}
"""The folder of this process, and its open lock file: to close it would give up the lock."""


# Threads ------------------------------------------------------------------------------------------


def in_threads(function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]:
    """Yield the function of each item, all worked on at once in this process; see `OrderedMap`.

    For few items, and work that mostly leaves the interpreter to others. An interrupt does not wait
    for it.
    """

    def work(item: Item, future: Future[Result]) -> None:
        try:
            future.set_result(function(item))
        except BaseException as error:
            future.set_exception(error)

    waiting: list[Future[Result]] = []
    for item in items:
        waiting.append(Future())
        try:
            threading.Thread(target=work, args=(item, waiting[-1]), daemon=True).start()
        except RuntimeError:  # there may be no more of them
            work(item, waiting[-1])
    for future in waiting:
        yield future.result()


# Processes ----------------------------------------------------------------------------------------


def prepare(modules: Sequence[str]) -> None:
    """Import modules for the workers that `processes` will start, while this
    process does something else.
    """
    forkserver.set_forkserver_preload([*_IMPORTED, *modules])
    _start_servers()


@contextmanager
def processes(jobs: int) -> Iterator[OrderedMap]:
    """Give an `OrderedMap` over so many worker processes; none of them is
    left when the block ends, however it does.
    """
    _start_servers()
    workers = _Workers(jobs)
    try:
        yield workers.ordered_map
    except BaseException:
        workers.end(at_once=True)
        raise
    workers.end()


class _Workers:
    """Worker processes, and a thread for each of them; those that die are replaced."""

    def __init__(self, jobs: int) -> None:
        self._threads, self._ahead = ThreadPoolExecutor(jobs), AHEAD * jobs
        self._processes: list[BaseProcess] = []
        self._idle: list[Connection] = []
        self._start_lock, self._is_ended = threading.Lock(), False
        with suppress(RuntimeError):  # `ordered_map` reports it
            for _ in range(jobs):  # they start while this process does something else
                self._threads.submit(lambda: self._idle.append(self._start()))

    def ordered_map(
        self, function: Callable[[Item], Result], items: Iterable[Item], /
    ) -> Iterator[Result]:
        """Yield the function of each item; see `OrderedMap`.

        Raises
        ------
        FailedError
            When three attempts at one item failed.
        """
        waiting: deque[Future[Result]] = deque()
        for item in items:
            with _starting():
                waiting.append(self._threads.submit(self._call, function, item))
            if len(waiting) == self._ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def end(self, at_once: bool = False) -> None:
        """End the workers and wait for them: when they have done what they
        are doing, or at once.
        """
        with self._start_lock:
            self._is_ended = True
        for process in self._processes if at_once else ():
            process.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for pipe in self._idle:
            with suppress(OSError):
                pipe.send_bytes(_END)
        for process in self._processes:
            process.join()

    def _call(self, function: Callable[[Item], Result], item: Item) -> Result:
        """Have a worker call the function; again, if it dies or its machine fails."""
        task, error = pickle.dumps((function, item), pickle.HIGHEST_PROTOCOL), None
        for _ in range(ATTEMPTS):
            error, result = self._ask(task)
            if error is None:
                return result  # type: ignore[no-any-return]
            if not isinstance(error, MACHINE_FAULTS):
                raise error
        raise FailedError(item, str(error) or "out of memory") from error

    def _ask(self, task: bytes) -> tuple[Exception | None, Any]:
        """Return what the function raised and returned in a worker; see `_answer`."""
        try:
            pipe = self._idle.pop()
        except IndexError:
            pipe = self._start()
        try:
            pipe.send_bytes(task)
            answer: tuple[Exception | None, Any] = pickle.loads(pipe.recv_bytes())
        except (EOFError, OSError):
            pipe.close()
            return OSError("a worker died"), None
        self._idle.append(pipe)
        return answer

    def _start(self) -> Connection:
        """Start a worker and return the pipe to it."""
        context = multiprocessing.get_context("forkserver")
        with self._start_lock, _starting():
            if self._is_ended:
                raise RuntimeError("the run is ending")
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            self._processes.append(process)
            theirs.close()  # so that the pipe ends with the worker
            return ours


def _start_servers() -> None:
    """Start the two processes that start workers, with signals blocked: a
    terminal's would end them before workers.
    """
    with _starting(), _silent_children():
        for start in (
            hold_temporary_folder,
            resource_tracker.ensure_running,
            forkserver.ensure_running,
        ):
            with signals.blocked():  # once for each: the second unblocks them
                start()


@contextmanager
def _starting() -> Iterator[None]:
    """Report in one message why workers cannot be started."""
    try:
        yield
    except (OSError, EOFError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(
            f"workers cannot be started ({reason}); run without --jobs, or see to the limits of"
            " processes, open files and memory (ulimit -a) and to TMPDIR"
        ) from error


@contextmanager
def _silent_children() -> Iterator[None]:
    """Start processes, and through them their children, without standard
    error: this process reports why they die.
    """
    if os.environ.get("EVALTEX_DEBUG"):
        yield
        return
    before, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)


def _serve(pipe: Connection) -> None:
    """Do what comes through a pipe, in a worker; leave a terminal's signals
    to the parent, and end with it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals.ENDING)
    collect_rarely()
    keep_freed_memory()
    guard = threading.Thread(target=_end_with_parent, daemon=True)
    guard.start()
    try:
        while (task := pipe.recv_bytes()) != _END:
            pipe.send_bytes(_answer(task))
    except (EOFError, OSError):  # the parent is dying
        guard.join()


def _answer(task: bytes) -> bytes:
    """Return what a function has raised and returned, pickled: None is the one or the other."""
    try:
        function, item = pickle.loads(task)
        return pickle.dumps((None, function(item)), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return pickle.dumps((error, None))


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        remove_temporary_folder()
        os._exit(1)


# The temporary folder -----------------------------------------------------------------------------
#
# Processes meet in it. multiprocessing makes it (pymp-* in TMPDIR) and removes it when its process
# ends. If that is killed, a worker removes the folder, or the next run does. A file in the folder
# that is locked as long as its process lives shows which of these folders are still in use.


def hold_temporary_folder() -> None:
    """Make the folder of this process and lock it, if that has not been done;
    remove those that killed runs left.
    """
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
            _remove_folder(stale)
        lock = os.open(
            f"{folder}/{_FOLDER_LOCK}.new", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600
        )
        _locked_here[folder] = lock
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.replace(f"{folder}/{_FOLDER_LOCK}.new", f"{folder}/{_FOLDER_LOCK}")  # noqa: PTH105


def remove_temporary_folder() -> None:
    """Remove the folder of the process that started this one; to be called
    when that process has been killed.
    """
    _remove_folder(Path(get_temp_dir()))


def _stale_folders(place: Path) -> Iterator[Path]:
    """Yield the folders of this user that no process has locked."""
    for folder in place.glob("pymp-*"):
        if str(folder) in _locked_here:
            continue
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            lock = os.open(
                folder / _FOLDER_LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            )
            try:
                fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield folder
            finally:
                os.close(lock)


def _remove_folder(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
