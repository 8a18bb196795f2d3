"""Work cut into pieces, done in this process or in several (on a cluster: `dask_cluster`), and taken up again in order.

Whoever has work to do calls ``in_order(function, items)``, which gives what `map` gives: that is all the difference
between one process and a cluster. Only so many pieces are under way at once, and results come in the order of the
items, so that whoever sums them up sees the same whatever does the work.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import signals, temporary_folder

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

ATTEMPTS = 3
AHEAD = 2
"""Pieces under way for each worker."""
LONGEST_TEMPORARY_PATH = 60
"""Bytes; systems allow a socket's name some hundred, of which Python adds thirty."""
LOOK_SECONDS = 1.0
"""Between looks at whether anybody still sees to a result."""

Item = TypeVar("Item")
Result = TypeVar("Result")
MACHINE_FAULTS = (OSError, MemoryError)
_OF_WORKERS = ("concurrent.futures.process", "multiprocessing.popen_forkserver", "multiprocessing.synchronize", "runpy")


class InOrder(Protocol):
    """What `map` is: results of a function, in the order of the items."""

    def __call__(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]: ...


class FailedError(Exception):
    """A piece of work at which workers died, or failed as only machines fail, three times.

    Attributes
    ----------
    item : object
        What was to be worked on.
    reason : str
    """

    def __init__(self, item: Any, reason: str) -> None:
        super().__init__(item, reason)
        self.item, self.reason = item, reason


class Workers:
    """An executor that is made anew when it breaks."""

    def __init__(
        self,
        open_executor: Callable[[], Executor],
        workers: int,
    ) -> None:
        self._open, self._ahead = open_executor, AHEAD * workers
        self.executor = open_executor()

    def in_order(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]:
        """Yield the function of each item; see `InOrder`.

        Raises
        ------
        FailedError
            When three attempts at one item failed.
        """
        waiting: deque[tuple[Item, Future[Result]]] = deque()
        for item in items:
            waiting.append((item, self._submit(function, item)))
            if len(waiting) == self._ahead:
                yield from self._next(function, waiting)
        while waiting:
            yield from self._next(function, waiting)

    def _next(
        self, function: Callable[[Item], Result], waiting: deque[tuple[Item, Future[Result]]]
    ) -> Iterator[Result]:
        """Yield the first result. Where a worker has died, all that wait: what was lost is done again, one at a time.

        A dead worker takes the whole pool with it, so only who is alone when it happens is known to be the cause.
        """
        item, future = waiting.popleft()
        reason = self._failure(future)
        if reason is None:
            yield future.result()
            return
        yield self._alone(function, item, reason)
        while waiting:
            item, future = waiting.popleft()
            reason = self._failure(future)
            yield future.result() if reason is None else self._alone(function, item, reason)

    def _alone(self, function: Callable[[Item], Result], item: Item, reason: BaseException) -> Result:
        for _ in range(ATTEMPTS - 1):
            future = self._submit(function, item)
            again = self._failure(future)
            if again is None:
                return future.result()
            reason = again
        raise FailedError(item, str(reason) if isinstance(reason, OSError) else "a worker died") from reason

    def _submit(self, function: Callable[[Item], Result], item: Item) -> Future[Result]:
        from concurrent.futures import BrokenExecutor

        with starting(), signals.waiting():  # else a worker that is just being started is nobody's
            try:
                return self.executor.submit(function, item)
            except BrokenExecutor:
                _abandon(self.executor)
                self.executor = self._open()
                return self.executor.submit(function, item)

    def _failure(self, future: Future[Any]) -> BaseException | None:
        """Wait for a result; the failure, if it is one that may not come again."""
        from concurrent.futures import BrokenExecutor, CancelledError, wait

        while not wait([future], LOOK_SECONDS).done:
            with starting():
                _refuse_unattended(self.executor)
        try:
            error = future.exception()
        except CancelledError as cancelled:
            error = cancelled
        return error if isinstance(error, (*MACHINE_FAULTS, BrokenExecutor)) else None


# Threads -------------------------------------------------------------------------------------------------------------


def in_threads(function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]:
    """Yield the function of each item, all worked on at once in this process; see `InOrder`.

    For few items, and work that mostly leaves the interpreter to others. An interrupt does not wait for it.
    """
    from concurrent.futures import Future

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


# Processes -----------------------------------------------------------------------------------------------------------


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prepare(jobs: int, modules: Sequence[str]) -> None:
    """Have modules imported, beside what this process does, for the workers that `processes` will start.

    Parameters
    ----------
    jobs : int
        As for `processes`.
    modules : sequence of str
        What workers find imported.
    """
    if (jobs or cores()) == 1:
        return
    from multiprocessing import forkserver

    forkserver.set_forkserver_preload([*_OF_WORKERS, *modules])
    _start_servers()


@contextmanager
def processes(jobs: int) -> Iterator[InOrder]:
    """Give an `InOrder` over worker processes; none of them is left when the block ends, however it does.

    Parameters
    ----------
    jobs : int
        Number of processes; 1 works in this one, 0 takes all processors.
    """
    jobs = jobs or cores()
    if jobs == 1:
        yield map
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("forkserver")

    def pool() -> Executor:
        _start_servers()
        with starting(), signals.waiting():
            executor = ProcessPoolExecutor(jobs, context, _begin_worker, (os.getcwd(),))  # noqa: PTH109
            threading.Thread(target=_start_workers, args=(executor, jobs), daemon=True).start()
        return executor

    with _silent_threads():
        workers = Workers(pool, jobs)
        try:
            yield workers.in_order
            workers.executor.shutdown(wait=True)
        except BaseException:
            _abandon(workers.executor)
            raise


def _start_servers() -> None:
    """Start the two processes that serve workers, which a terminal's signals would end before the workers."""
    from multiprocessing import forkserver, resource_tracker

    with starting(), _silent_children(), _short_temporary_paths():
        with signals.waiting():
            temporary_folder.hold_folder()
        with signals.waiting():
            resource_tracker.ensure_running()  # and it lets signals through again
        with signals.waiting():
            forkserver.ensure_running()


@contextmanager
def starting() -> Iterator[None]:
    """Tell, in one message, what keeps workers from being started."""
    from concurrent.futures import BrokenExecutor

    try:
        yield
    except BrokenExecutor:
        raise
    except (OSError, EOFError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(
            f"workers cannot be started ({reason}); run without --jobs, or see to the limits of processes, open files"
            " and memory (ulimit -a) and to TMPDIR"
        ) from error


@contextmanager
def _short_temporary_paths() -> Iterator[None]:
    """Let processes meet in /tmp where the path of the temporary folder is too long for a socket's name."""
    import tempfile

    before = tempfile.gettempdir()
    if len(os.fsencode(before)) > LONGEST_TEMPORARY_PATH:
        tempfile.tempdir = "/tmp"
    try:
        yield
    finally:
        tempfile.tempdir = before


@contextmanager
def _silent_children() -> Iterator[None]:
    """Keep what processes started here, and theirs, say when they die from standard error: it is told in our words."""
    if os.environ.get("EVALTEX_DEBUG"):
        yield
        return
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def _silent_threads() -> Iterator[None]:
    """Keep what an executor's threads die of from standard error: whoever waits for them tells it."""
    before = threading.excepthook
    if not os.environ.get("EVALTEX_DEBUG"):
        threading.excepthook = lambda _: None
    try:
        yield
    finally:
        threading.excepthook = before


def _refuse_unattended(executor: Executor) -> None:
    """Raise where the thread is dead that takes work to the workers, as it may be when memory is short."""
    thread = getattr(executor, "_executor_manager_thread", None)
    if thread is not None and not thread.is_alive():
        raise RuntimeError("their manager died")


def _start_workers(executor: Executor, jobs: int) -> None:
    """Let an executor start its workers, which it does for what is submitted, beside what this process does."""
    with suppress(RuntimeError, OSError, EOFError):  # whoever submits work next is told
        for _ in range(jobs):
            executor.submit(os.getpid)


def _abandon(executor: Executor) -> None:
    """End an executor at once, whatever its workers do.

    Its own thread may wait for what dead workers have half written, or half read (CPython issue 94777): so it is told
    that nobody writes any more, and what nobody reads is read here.
    """
    processes: dict[int, Any] = getattr(executor, "_processes", None) or {}
    killed: set[int] = set()
    _kill_new(processes, killed)
    results, calls = getattr(executor, "_result_queue", None), getattr(executor, "_call_queue", None)
    thread = getattr(executor, "_executor_manager_thread", None)
    executor.shutdown(wait=False, cancel_futures=True)
    if results is None or calls is None or thread is None:
        return
    results._writer.close()
    while thread.is_alive():
        _kill_new(processes, killed)  # one may have been under way
        with suppress(OSError):
            if calls._reader.poll(0.01):
                os.read(calls._reader.fileno(), 1 << 16)
        thread.join(0.001)


def _kill_new(processes: dict[int, Any], killed: set[int]) -> None:
    for number, process in list(processes.items()):
        if number not in killed:
            killed.add(number)
            process.kill()


def _begin_worker(folder: str) -> None:
    """Leave what a terminal sends to the parent, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals.ENDING)
    os.chdir(folder)
    try:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    except RuntimeError:
        os._exit(1)


def _end_with_parent() -> None:
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        temporary_folder.remove_folder()
        os._exit(1)
