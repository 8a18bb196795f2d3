"""What runs on the workers and the scheduler of a Dask cluster; it compares
versions before it unpickles anything.
"""

from __future__ import annotations

import os
import pickle
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from evaltex_cli.errors import InputError, TangledError
from evaltex_cli.runtime import MACHINE_FAULTS
from evaltex_cli.version import __version__

Versions = Mapping[str, str]
_LIBRARIES = (
    ("numpy", "numpy", "__version__"),
    ("shapely", "shapely", "__version__"),
    ("GEOS", "shapely", "geos_version_string"),
    ("pillow", "PIL", "__version__"),
    ("tifffile", "tifffile", "__version__"),
    ("regex", "regex", "__version__"),
)


class State(NamedTuple):
    """What a scheduler knows of a worker."""

    id: str
    """Of the process: a worker that is restarted at the same address has another."""
    name: str
    """Of the nanny that restarts it, or its own."""
    threads: int
    silent: float
    """Seconds since its last heartbeat."""
    is_able: bool
    """Whether it takes work, or is working."""


def states(dask_scheduler: Any) -> dict[str, State]:
    """Return the workers of the scheduler that this runs on, by address."""
    from distributed.metrics import time as now

    return {
        address: State(
            worker.server_id,
            str(worker.nanny or worker.name),
            worker.nthreads,
            now() - worker.last_seen,
            worker.status.name == "running" or bool(worker.executing),
        )
        for address, worker in dask_scheduler.workers.items()
    }


def look(paths: Sequence[str]) -> tuple[Versions, list[str]]:
    """Return the versions of this process, and those of the paths that it does not find."""
    return versions(), [path for path in paths if not os.path.exists(path)]  # noqa: PTH110


def versions() -> Versions:
    """Return everything that scores may depend on: a digest of the package's code, and versions."""
    return _versions_at(int(time.monotonic()))


@lru_cache(maxsize=1)
def _versions_at(second: int) -> Versions:
    versions = {
        "python": ".".join(map(str, sys.version_info[:2])),
        "machine": platform.machine(),
        "evaltex": __version__,
        "code of evaltex": CODE if _digest() == CODE else f"{CODE} (and changed since its start)",
    }
    for name, module, attribute in _LIBRARIES:
        try:
            versions[name] = getattr(import_module(module), attribute)
        except ImportError:
            versions[name] = "missing"
    return versions


def _digest() -> str:
    """Return a digest of the package's Python files as they are now."""
    folder, digest = Path(__file__).parents[1], sha256()
    files = [
        os.path.join(root, name)
        for root, _, names in os.walk(folder)
        for name in names
        if name.endswith(".py")
    ]
    for path in sorted(files):
        content = sha256(Path(path).read_bytes()).hexdigest()
        digest.update(f"{os.path.relpath(path, folder)}\0{content}\n".encode())
    return digest.hexdigest()[:16]


CODE = _digest()
"""What this process may have loaded; files that change later make it unfit."""


def differences(there: Versions, here: Versions, of: Sequence[str] = ()) -> list[str]:
    """Return what differs, ``numpy 1.26.4, 2.1.0 here``; `of` restricts it to some names."""
    return [
        f"{name} {there.get(name, 'missing')}, {version} here"
        for name, version in here.items()
        if there.get(name, "missing") != version and (not of or name in of)
    ]


def work(expected: Versions, payload: bytes) -> tuple[str, Any]:
    """Call a function that was pickled with its argument, if this process is as expected.

    Returns
    -------
    kind : {'done', 'failed', 'failed here', 'again', 'unfit'}
        The function has returned, or raised; raised for a file that it read here; failed as only
        machines fail; or was not called.
    value : bytes or str or list of str
        What it has returned or raised, pickled; the reason; what differs.
    """
    differing = differences(versions(), expected)
    if differing:
        return "unfit", differing
    function, item = pickle.loads(payload)
    try:
        return "done", pickle.dumps(function(item))
    except MACHINE_FAULTS as error:
        return "again", str(error) or type(error).__name__
    except Exception as error:
        is_of_here = isinstance(error, InputError) and not isinstance(error.__cause__, TangledError)
        return "failed here" if is_of_here else "failed", pickle.dumps(error)
