"""Worker processes on this machine, behind the same function as `map`."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import Item, OrderedMap, Result, ahead

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor


@contextmanager
def processes(jobs: int) -> Iterator[OrderedMap]:
    """Give an `OrderedMap` over so many worker processes, 0 for one per processor; none is left
    when the block ends. One process does without workers.

    Raises `InputError` when workers cannot be started, or one of them dies.
    """
    if not jobs:
        has_affinity = hasattr(os, "sched_getaffinity")
        jobs = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    if jobs == 1:
        yield map
        return
    # A run of one process does without these, a fiftieth of its time.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    can_fork = sys.platform == "linux" and threading.active_count() == 1
    context = multiprocessing.get_context("fork" if can_fork else "spawn")
    with ProcessPoolExecutor(jobs, context, initializer=_begin) as pool:

        def ordered_map(
            function: Callable[[Item], Result], items: Iterable[Item], /
        ) -> Iterator[Result]:
            submitted = (_submit(pool, function, item) for item in items)
            return (future.result() for future in ahead(submitted, 2 * jobs))

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


def _submit(
    pool: ProcessPoolExecutor, function: Callable[[Item], Result], item: Item
) -> Future[Result]:
    try:
        return pool.submit(function, item)
    except OSError as error:
        raise InputError(
            f"worker processes cannot be started ({error.strerror}); run again with fewer jobs"
        ) from error


def _begin() -> None:
    """Leave the interrupts of a terminal to the main process, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    import multiprocessing

    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
    os._exit(1)
