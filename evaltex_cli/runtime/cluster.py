"""The workers of a running Dask cluster, behind the same function as `map`."""

from __future__ import annotations

import logging
import platform
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import numpy as np
import shapely

from evaltex_cli.errors import EvaltexError, InputError
from evaltex_cli.runtime import Item, OrderedMap, Result
from evaltex_cli.version import __version__

CONNECT_SECONDS = 10
POLL_SECONDS = 1.0


@contextmanager
def workers_of(address: str, timeout: float = 60) -> Iterator[OrderedMap]:
    """Give an `OrderedMap` over the workers of the Dask scheduler at an address.

    Raises
    ------
    InputError
        When there is no scheduler or it is lost, when versions differ, when there is no worker for
        `timeout` seconds, or when Dask gives up a piece of work.
    """
    try:
        import distributed
    except ImportError as error:
        raise InputError(
            "--cluster needs the package distributed: pip install 'evaltex[cluster]'"
        ) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # an error is one message of ours
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS)
    except Exception as error:  # Dask raises errors of all kinds
        raise InputError(
            f"cluster {address}: cannot be reached ({_reason(error)}); give the address of a Dask"
            " scheduler, such as tcp://HOST:8786"
        ) from error
    try:
        yield _Cluster(client, address, timeout)
    finally:
        with suppress(Exception):  # the scheduler may be gone
            client.close(timeout=CONNECT_SECONDS)


class _Cluster:
    """An `OrderedMap` over a cluster's workers."""

    is_elsewhere = True

    def __init__(self, client: Any, address: str, timeout: float) -> None:
        self._client, self._place, self._timeout = client, f"cluster {address}", timeout
        with self._dask_errors():
            with suppress(TimeoutError):
                client.wait_for_workers(1, timeout=timeout)
            self._threads = sum(client.nthreads().values())
            if not self._threads:
                raise self._no_worker()
            everywhere = {"the scheduler": client.run_on_scheduler(_versions)}
            everywhere |= client.run(_versions)
        for other, versions in everywhere.items():
            if versions != _versions():
                raise InputError(
                    f"{self._place}: {other} has {versions}, this process {_versions()}; install"
                    " the same versions there, and restart it"
                )

    def __call__(
        self, function: Callable[[Item], Result], items: Iterable[Item], /
    ) -> Iterator[Result]:
        """Yield the function of each item, in their order."""
        waiting: deque[Any] = deque()
        for item in items:
            with self._dask_errors():
                waiting.append(self._client.submit(partial(function, item), pure=False, retries=3))
            if len(waiting) >= 2 * self._threads:
                yield self._result(waiting.popleft())
        while waiting:
            yield self._result(waiting.popleft())

    def _result(self, future: Any) -> Any:
        from distributed import wait

        end = time.monotonic() + self._timeout
        with self._dask_errors():
            while not future.done():  # `result` would wait for ever when no worker is left
                with suppress(TimeoutError):
                    wait(future, POLL_SECONDS)
                if self._client.nthreads():
                    end = time.monotonic() + self._timeout
                elif time.monotonic() > end:
                    raise self._no_worker()
            return future.result()

    def _no_worker(self) -> InputError:
        return InputError(
            f"{self._place}: it has had no worker for {self._timeout:g} s (--cluster-timeout);"
            " start some, and run again"
        )

    @contextmanager
    def _dask_errors(self) -> Iterator[None]:
        try:
            yield
        except EvaltexError:
            raise
        except Exception as error:
            raise InputError(
                f"{self._place}: {type(error).__name__}: {_reason(error)}; its scheduler and"
                " workers need evaltex, and the input files at the same paths as here"
            ) from error


def _versions() -> dict[str, str]:
    return {
        "evaltex": __version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": np.__version__,
        "shapely": shapely.__version__,
    }


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
