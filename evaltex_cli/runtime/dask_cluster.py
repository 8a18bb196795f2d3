"""Work done on a running Dask cluster, behind the same function as in processes (`workers`)."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.runtime.cluster_schedule import ANSWER_SECONDS, TIMEOUT, Cluster, Warn
from evaltex_cli.runtime.cluster_versions import CONNECT_SECONDS

PROBE_SECONDS = 7
"""For a scheduler to say that it is one; together with what it takes to
import Dask, well below 15.
"""


@contextmanager
def workers_of(
    address: str, paths: Sequence[Path] = (), timeout: float = TIMEOUT, warn: Warn = lambda _: None
) -> Iterator[OrderedMap]:
    """Give an `OrderedMap` over the workers of a running Dask scheduler.

    Parameters
    ----------
    address : str
        Of the scheduler, ``tcp://host:8786`` for example.
    paths : sequence of Path
        What every worker must find, at the same place as this process.
    timeout : float
        Seconds to wait for workers, and for a worker or scheduler that does not answer.
    warn : callable
        Gets what a user should know while it runs, in one line.

    Raises
    ------
    InputError
        When there is no scheduler or no worker, when versions differ, when a worker does not find a
        path; later, when all workers or the scheduler were away for `timeout`.
    """
    try:
        import distributed
    except ImportError as error:
        raise InputError(
            "--cluster needs the package distributed: pip install 'evaltex[cluster]'"
        ) from error
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # the messages about lost connections are ours
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                _refuse_no_scheduler(address)
                client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
            except Exception as error:  # it raises anything at all
                reason = str(error) or type(error).__name__
                raise InputError(
                    f"cluster {address}: cannot be reached ({reason}); give a scheduler's address,"
                    " tcp://HOST:8786"
                ) from error
            try:
                yield Cluster(
                    client, address, [str(path.absolute()) for path in paths], timeout, warn
                )
            finally:
                with suppress(Exception):  # a scheduler that is gone need not know
                    client.close(timeout=ANSWER_SECONDS)
    finally:
        logging.disable(disabled)


def _refuse_no_scheduler(address: str) -> None:
    """Raise something unless a Dask scheduler answers at an address; a thread
    waits, for some resolvers take long.
    """
    answer: Future[dict[str, Any]] = Future()

    def ask() -> None:
        try:
            answer.set_result(_identity(address))
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=ask, daemon=True).start()
    try:
        identity = answer.result(PROBE_SECONDS)
    except TimeoutError as error:
        raise TimeoutError(f"no Dask scheduler answers within {PROBE_SECONDS} s") from error
    if "workers" not in identity:
        raise ValueError(
            f"a Dask {str(identity.get('type', 'server')).lower()}, not a scheduler, is there"
        )


def _identity(address: str) -> dict[str, Any]:
    import distributed

    socket.getaddrinfo(*distributed.comm.get_address_host_port(address))
    arguments = distributed.Security().get_connection_args("client")
    if address.startswith(("tls:", "wss:")) and arguments.get("ssl_context") is None:
        raise ValueError("no certificates are configured for it, see Dask's distributed.comm.tls")

    async def ask() -> dict[str, Any]:
        async with distributed.rpc(
            address, timeout=PROBE_SECONDS, connection_args=arguments
        ) as there:
            identity: dict[str, Any] = await there.identity()
            return identity

    return asyncio.run(asyncio.wait_for(ask(), PROBE_SECONDS))
