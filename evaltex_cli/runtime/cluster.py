"""The workers of a running Dask cluster, behind the same function as `map`."""

from __future__ import annotations

import logging
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import shapely

from evaltex_cli.errors import EvaltexError, InputError
from evaltex_cli.runtime import Item, OrderedMap, Result, ahead
from evaltex_cli.version import __version__

CONNECT_SECONDS = 10
POLL_SECONDS = 1.0


@contextmanager
def workers_of(address: str, timeout: float = 60) -> Iterator[OrderedMap]:
    """Give an `OrderedMap` over the workers of the Dask scheduler at an address.

    Raises `InputError` when there is no scheduler or it is lost, when versions differ, when there
    is no worker for `timeout` seconds, or when Dask gives up a piece of work.
    """
    try:
        import distributed
    except ImportError as error:
        raise InputError(
            "--cluster needs the package distributed: pip install distributed"
        ) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # an error is one message of ours
    with _dask_errors(address):
        client = distributed.Client(address, timeout=CONNECT_SECONDS)
    try:
        with _dask_errors(address):
            threads = _fit_threads(client, address, timeout)
        yield _Cluster(client, address, timeout, threads)
    finally:
        with suppress(Exception):  # the scheduler may be gone
            client.close(timeout=CONNECT_SECONDS)


class _Cluster(NamedTuple):
    """An `OrderedMap` over a cluster's workers."""

    client: Any
    address: str
    timeout: float
    threads: int
    is_elsewhere: bool = True
    """Other machines do the work, which know no relative path."""

    def __call__(
        self, function: Callable[[Item], Result], items: Iterable[Item], /
    ) -> Iterator[Result]:
        """Return the function of each item, in their order."""
        submitted = map(self._submit, repeat(function), items)
        return map(self._result, ahead(submitted, 2 * self.threads))

    def _submit(self, function: Callable[[Item], Result], item: Item) -> Any:
        with _dask_errors(self.address):
            return self.client.submit(partial(function, item), pure=False, retries=3)

    def _result(self, future: Any) -> Any:
        from distributed import wait

        end = time.monotonic() + self.timeout
        with _dask_errors(self.address):
            while not future.done():  # `result` would wait for ever when no worker is left
                with suppress(TimeoutError):
                    wait(future, POLL_SECONDS)
                if self.client.nthreads():
                    end = time.monotonic() + self.timeout
                elif time.monotonic() > end:
                    raise TimeoutError(f"no worker for {self.timeout:g} s (--cluster-timeout)")
            return future.result()


def _fit_threads(client: Any, address: str, timeout: float) -> int:
    """Return how many threads the workers have; refuse a cluster with other versions."""
    client.wait_for_workers(1, timeout=timeout)
    everywhere = {"the scheduler": client.run_on_scheduler(_versions), **client.run(_versions)}
    for other, versions in everywhere.items():
        if versions != _versions():
            raise InputError(
                f"cluster {address}: {other} has {versions}, this process {_versions()}; install"
                " the same versions there, and restart it"
            )
    return sum(client.nthreads().values())


def _versions() -> str:
    python = ".".join(platform.python_version_tuple()[:2])
    libraries = f"numpy {np.__version__}, shapely {shapely.__version__}"
    return f"evaltex {__version__}, Python {python}, {libraries}"


@contextmanager
def _dask_errors(address: str) -> Iterator[None]:
    """Report errors of Dask, which are of all kinds, as one of ours."""
    try:
        yield
    except EvaltexError:
        raise
    except Exception as error:
        raise InputError(
            f"cluster {address}: {type(error).__name__}: {error}; there must be a Dask scheduler,"
            " such as tcp://HOST:8786, whose workers have evaltex"
        ) from error
