"""Whether the scheduler and the workers of a Dask cluster have the versions
and the files that a run needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import cluster_worker
from evaltex_cli.runtime.cluster_worker import Versions

CONNECT_SECONDS = 10
_ADVICE = "; install the same version there, and restart it"


def described(differing: Sequence[str]) -> str:
    """Return what messages say of versions that differ."""
    return f"{', '.join(differing)}{_ADVICE}"


async def worker_problems(
    client: Any, address: str, paths: Sequence[str], versions: Versions
) -> list[str]:
    """Return why the worker at an address cannot take part: other versions,
    and paths that it does not find.
    """
    answers = await client.run(
        cluster_worker.look, paths, workers=[address], on_error="return",
        asynchronous=True, callback_timeout=CONNECT_SECONDS,
    )  # fmt: skip
    answer = answers[address]
    if isinstance(answer, ImportError | AttributeError):
        return [f"it has no evaltex like the one here ({answer}){_ADVICE}"]
    if isinstance(answer, Exception):
        raise answer
    there, missing = answer
    found = [f"it does not find {path}; put it where every worker sees it" for path in missing]
    differing = cluster_worker.differences(there, versions)
    return [described(differing), *found] if differing else found


def refuse_other_scheduler(client: Any, place: str, versions: Versions) -> None:
    """Refuse a scheduler of another Python or other code of evaltex, by which it lists its workers;
    it need not have the libraries, for it calculates nothing.
    """
    try:
        there = client.run_on_scheduler(cluster_worker.versions, callback_timeout=CONNECT_SECONDS)
    except OSError as error:
        raise InputError(
            f"{place}: its scheduler was lost, or does not answer"
            f" ({str(error) or type(error).__name__}); start it, and run again"
        ) from error
    except Exception as error:  # it raises anything at all
        raise InputError(
            f"{place}: a look at the versions of its scheduler failed"
            f" ({str(error) or type(error).__name__});"
            " install the same Python and evaltex on it"
        ) from error
    differing = cluster_worker.differences(
        there, versions, ("python", "evaltex", "code of evaltex")
    )
    if differing:
        raise InputError(f"{place}: its scheduler has {described(differing)}")
