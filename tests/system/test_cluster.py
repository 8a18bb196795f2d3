"""Runs whose work a Dask cluster does."""

from __future__ import annotations

import gc
import gzip
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from box_scenes import arguments_for, outcome
from limits import wait_for
from worker_tasks import die_at_three, fail, process_after, square

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import cluster

distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
pytestmark = [
    pytest.mark.usefixtures("here"),
    # What Dask gives up while it connects, it leaves to the garbage collector.
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning",
        "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning",
    ),
]


def local_cluster(workers: int) -> Any:
    """Return a cluster on this machine; Dask gives its thread 10 s to start, a busy one needs more."""
    # A client that lost its scheduler waits for Dask's lock when it is freed. If that happens while
    # this cluster starts, which holds the lock, neither ends.
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            with suppress(AssertionError):
                return distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
                )
    finally:
        gc.enable()
    raise TimeoutError("no thread of Dask started")


def test_a_cluster_gives_the_same_bytes() -> None:
    arguments = arguments_for("polygons")
    alone = outcome(*arguments)
    with local_cluster(2) as local:
        there = ["--cluster", local.scheduler_address]
        assert outcome(*arguments, *there) == alone
        reported = outcome("gt.txt", "missing.txt", "res", *there, expected=2)["stderr"]
        assert b"missing.txt" in reported
        Path("gt.txt.gz").write_bytes(gzip.compress(Path("gt.txt").read_bytes()))
        assert outcome("gt.txt.gz", "det.txt", "res", *there)["stdout"]


def test_workers_that_die_are_replaced_and_a_task_that_kills_them_is_given_up() -> None:
    with local_cluster(1) as local, cluster.workers_of(local.scheduler_address) as ordered_map:
        assert list(ordered_map(square, range(9))) == [number * number for number in range(9)]
        with pytest.raises(InputError, match=r"^0 is wrong$"):
            list(ordered_map(fail, range(9)))
        results = ordered_map(die_at_three, [3])
        with pytest.raises(InputError, match="KilledWorker"):
            next(results)
        assert list(ordered_map(square, [9])) == [81]


def test_no_worker_for_the_timeout_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "POLL_SECONDS", 0.1)
    message = r"no worker for 1 s \(--cluster-timeout\)|Only 0/1 workers"
    with local_cluster(0) as local, pytest.raises(InputError, match=message):
        cluster.workers_of(local.scheduler_address, 1).__enter__()
    with local_cluster(1) as local, cluster.workers_of(local.scheduler_address, 1) as ordered_map:
        results = ordered_map(process_after, [0, 600])
        next(results)
        local.scale(0)
        wait_for(lambda: not local.scheduler.workers)
        with pytest.raises(InputError, match=message):
            next(results)


def test_a_scheduler_that_is_lost_is_an_error() -> None:
    with local_cluster(1) as local, cluster.workers_of(local.scheduler_address, 1) as ordered_map:
        results = ordered_map(process_after, [0, 600])
        next(results)
        local.close()
        with pytest.raises(InputError, match=f"^cluster {local.scheduler_address}: "):
            next(results)


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "__version__", "0.0.1")
    message = r"has evaltex .*; install the same versions"
    with local_cluster(1) as local, pytest.raises(InputError, match=message):
        cluster.workers_of(local.scheduler_address).__enter__()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "tls://127.0.0.1:9", "nowhere"])
def test_a_cluster_that_is_not_there_is_reported(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    reported = outcome("gt.txt", "det.txt", "res", "--cluster", address, expected=2)["stderr"]
    assert reported.startswith(f"evaltex: error: cluster {address}: ".encode())
    assert b"must be a Dask scheduler" in reported


def test_jobs_and_cluster_exclude_each_other() -> None:
    arguments = "g", "d", "res", "--jobs", "2", "--cluster", "tcp://x"
    assert b"exclude each other" in outcome(*arguments, expected=2)["stderr"]
