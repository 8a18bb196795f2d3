"""Options that say by whom the work is done: processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import click

from evaltex_cli.cli.options import Number, default_option, group
from evaltex_cli.cli.output import warn
from evaltex_cli.runtime import OrderedMap, cores

MAX_JOBS = 4096


class Work(NamedTuple):
    """Where the work is done: in this process, in several, or on a cluster."""

    jobs: int = 1
    cluster: str | None = None
    cluster_timeout: float = 60.0

    def warn_unused(self, why: str) -> None:
        """Warn if options of the work were given that have no effect, and say why."""
        if self.jobs != 1 or self.cluster is not None:
            option = "--jobs" if self.cluster is None else "--cluster"
            warn([f"{option} has no effect: {why}"])

    @contextmanager
    def workers(self, *paths: Path | None) -> Iterator[OrderedMap]:
        """Yield an `OrderedMap`; workers of a cluster must find these inputs."""
        jobs = self.jobs or cores()
        if self.cluster is not None:
            from evaltex_cli.runtime import cluster

            with cluster.workers_of(self.cluster, self.cluster_timeout) as ordered_map:
                yield ordered_map
        elif jobs == 1:
            yield map
        else:
            from evaltex_cli.runtime import workers

            with workers.processes(jobs) as ordered_map:
                yield ordered_map


def _work(jobs: int, cluster: str | None, cluster_timeout: float) -> Work:
    if cluster is not None and jobs != 1:
        raise click.UsageError("--jobs and --cluster exclude each other: give one of them.")
    return Work(jobs, cluster, cluster_timeout)


_jobs_option = default_option(
    "--jobs", click.IntRange(min=0, max=MAX_JOBS), 1, "Worker processes; 0: one per processor."
)
jobs_options = group("work", Work, jobs=_jobs_option)
work_options = group(
    "work",
    _work,
    jobs=_jobs_option,
    cluster=click.option(
        "--cluster", metavar="ADDRESS", help="Dask cluster to work on, such as tcp://HOST:8786."
    ),
    cluster_timeout=default_option(
        "--cluster-timeout", Number(min=1), 60.0, "Seconds to wait for the cluster's workers."
    ),
)
