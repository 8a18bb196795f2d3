"""Work done on a running Dask cluster, behind the same function as in processes (`jobs`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaltex_cli.errors import InputError
from evaltex_cli.jobs import MACHINE_FAULTS, InOrder, Item, Result, Workers

if TYPE_CHECKING:
    from concurrent.futures import Executor

CONNECT_SECONDS = 10


@contextmanager
def workers_of(address: str, paths: Sequence[Path] = ()) -> Iterator[InOrder]:
    """Give an `InOrder` over the workers of a running Dask scheduler.

    Parameters
    ----------
    address : str
        Of the scheduler, ``tcp://host:8786`` say.
    paths : sequence of Path
        What every worker must find, at the same place as this process.

    Raises
    ------
    InputError
        When the scheduler cannot be reached or has no worker, when versions differ, or a worker does not find a path.
    """
    try:
        import distributed
    except ImportError as error:
        raise InputError("--cluster needs the package distributed: pip install 'evaltex[cluster]'") from error
    import logging
    import warnings

    logging.disable(logging.CRITICAL)  # what its client says of lost connections is told here
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            distributed.comm.get_address_host_port(address)  # a client that fails at it is not cleared away in silence
            security = distributed.Security().get_connection_args("client")
            if address.startswith(("tls:", "wss:")) and security.get("ssl_context") is None:
                raise ValueError("no certificates are configured for it, see Dask's distributed.comm.tls")
            client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(f"cluster {address}: cannot be reached ({error}); give a scheduler's address") from error
        try:
            threads = _checked(client, address, paths)
            folder = os.getcwd()  # noqa: PTH109
            executor = client.get_executor(pure=False)

            def refuse_lost(_: Executor) -> None:
                if client.status == "closed":
                    raise InputError(f"cluster {address}: its scheduler was lost; start it, and run again")

            workers = Workers(lambda: executor, threads, (Exception,), refuse_lost)

            def in_order(function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]:
                for result, error in workers.in_order(_There(function, folder), items):
                    if error is not None:
                        raise error
                    yield result

            yield in_order
        finally:
            client.close()
            logging.disable(logging.NOTSET)


class _There:
    """A function that is called in a folder, and what it raises for a result: what else is raised is the cluster's."""

    def __init__(self, function: Callable[[Any], Any], folder: str) -> None:
        self.function, self.folder = function, folder

    def __call__(self, item: Any) -> tuple[Any, Exception | None]:
        os.chdir(self.folder)
        try:
            return self.function(item), None
        except MACHINE_FAULTS:
            raise
        except Exception as error:
            return None, error


def _checked(client: Any, address: str, paths: Sequence[Path]) -> int:
    """Return how many threads the workers have, after a look at their versions and files."""
    mine = _versions()
    absolute = [str(path.absolute()) for path in paths]

    def look() -> tuple[dict[str, str], list[str]]:  # by value: the package may be missing there
        import os
        from importlib import import_module

        found = {"python": ".".join(map(str, sys.version_info[:2]))}
        for name, module in (("evaltex", "evaltex_cli"), ("numpy", "numpy"), ("shapely", "shapely")):
            try:
                found[name] = import_module(module).__version__
            except ImportError:
                found[name] = "missing"
        return found, [path for path in absolute if not os.path.exists(path)]  # noqa: PTH110

    try:
        seen = {"its scheduler": (client.run_on_scheduler(look)[0], [])} | client.run(look)
        threads = int(sum(client.nthreads().values()))
    except Exception as error:
        raise InputError(
            f"cluster {address}: a look at its versions failed ({error}); install the same Python and evaltex on it"
        ) from error
    wrong = [
        f"cluster {address}: {name} {theirs.get(name)} on {where}, {version} here; install the same version"
        for where, (theirs, _) in seen.items()
        for name, version in mine.items()
        if theirs.get(name) != version
    ]
    wrong += [
        f"cluster {address}: worker {where} does not find {path}; put it where every worker sees it"
        for where, (_, missing) in seen.items()
        for path in missing
    ]
    if wrong:
        raise InputError("\n".join(wrong))
    if not threads:
        raise InputError(f"cluster {address}: it has no worker; start some")
    return threads


def _versions() -> dict[str, str]:
    import numpy
    import shapely

    import evaltex_cli

    return {
        "python": ".".join(map(str, sys.version_info[:2])),
        "evaltex": evaltex_cli.__version__,
        "numpy": numpy.__version__,
        "shapely": shapely.__version__,
    }
