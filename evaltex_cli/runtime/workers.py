"""Work cut into pieces, done in this process or in several, with results in order.

Only so many pieces are under way at once, and results come in the order of the items, so that sums
do not depend on which process does the work.

Every worker process has a pipe of its own to a thread of this process. If it dies, that pipe ends,
so it is known which item it had, and no other worker is disturbed. (The workers of a
`ProcessPoolExecutor` share their pipes: one that dies breaks the pool, nobody knows at which item,
and before Python 3.14 none can be ended while it works.)
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import (
    AHEAD,
    ATTEMPTS,
    MACHINE_FAULTS,
    FailedError,
    Item,
    OrderedMap,
    Result,
    worker_server,
)
from evaltex_cli.runtime.worker_server import Worker

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


@contextmanager
def processes(jobs: int) -> Iterator[OrderedMap]:
    """Give an `OrderedMap` over so many worker processes; none of them is
    left when the block ends, however it does.
    """
    with _starting():
        worker_server.prepare()
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
        self._alive: list[Worker] = []
        self._idle: list[Worker] = []
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
        for worker in self._alive if at_once else ():
            with suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGKILL)
        self._threads.shutdown(wait=True, cancel_futures=True)
        for worker in self._idle:
            with suppress(OSError):
                worker_server.send(worker.pipe, worker_server.END)
        for worker in self._idle:
            with worker.pipe, suppress(EOFError, OSError):
                worker_server.receive(worker.pipe)  # it has ended

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
            worker = self._idle.pop()
        except IndexError:
            worker = self._start()
        try:
            worker_server.send(worker.pipe, task)
            answer: tuple[Exception | None, Any] = pickle.loads(worker_server.receive(worker.pipe))
        except (EOFError, OSError):
            self._alive.remove(worker)
            worker.pipe.close()
            return OSError("a worker died"), None
        self._idle.append(worker)
        return answer

    def _start(self) -> Worker:
        with self._start_lock, _starting():
            if self._is_ended:
                raise RuntimeError("the run is ending")
            worker = worker_server.start()
            self._alive.append(worker)
            return worker


@contextmanager
def _starting() -> Iterator[None]:
    """Report in one message why workers cannot be started."""
    try:
        yield
    except (OSError, EOFError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(
            f"workers cannot be started ({reason}); run without --jobs, or see to the limits of"
            " processes, open files and memory (ulimit -a)"
        ) from error
