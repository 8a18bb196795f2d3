"""Worker processes on this machine, behind the same function as `map`."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import Item, OrderedMap, Result


@contextmanager
def processes(jobs: int) -> Iterator[OrderedMap]:
    """Give an `OrderedMap` over so many worker processes; none is left when the block ends.

    Raises `InputError` when workers cannot be started, or one of them dies.
    """
    can_fork = sys.platform == "linux" and threading.active_count() == 1
    context = multiprocessing.get_context("fork" if can_fork else "spawn")
    with ProcessPoolExecutor(jobs, context, initializer=_begin) as pool:

        def ordered_map(
            function: Callable[[Item], Result], items: Iterable[Item], /
        ) -> Iterator[Result]:
            waiting: deque[Future[Result]] = deque()
            for item in items:
                try:
                    waiting.append(pool.submit(function, item))
                except OSError as error:
                    raise InputError(
                        f"worker processes cannot be started ({error.strerror}); run again with"
                        " fewer jobs"
                    ) from error
                if len(waiting) == 2 * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

        try:
            yield ordered_map
        except BaseException as error:
            for process in list((pool._processes or {}).values()):  # else it waits for their work
                process.kill()
            if isinstance(error, BrokenProcessPool):
                raise InputError(
                    "a worker process died, perhaps for want of memory; run again with fewer jobs"
                    " (a script that uses jobs needs the line"
                    ' `if __name__ == "__main__":` before its work)'
                ) from error
            raise


def _begin() -> None:
    """Leave the interrupts of a terminal to the main process, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parent = multiprocessing.parent_process()

    def end_with_parent() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
