"""Workers that differ from the process that gives them work, and workers that join later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dask_workers import (
    LEFT_TO_THE_COLLECTOR,
    PATIENCE_SECONDS,
    Workers,
    in_background,
    other_checkout,
)
from limits import wait_for
from worker_tasks import begin_and_wait, square

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import cluster_worker, dask_cluster

pytest.importorskip("distributed", reason="the extra cluster is not installed")
pytestmark = LEFT_TO_THE_COLLECTOR


def test_workers_unlike_this_process_are_refused_at_the_start(
    workers: Workers, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="it has no worker; start some"):
        dask_cluster.workers_of(workers.address).__enter__()
    workers.start(package=other_checkout(tmp_path / "other"))
    missing = tmp_path / "gone"
    with pytest.raises(
        InputError, match=r"code of evaltex \w+, \w+ here; install the same version there"
    ) as reported:
        dask_cluster.workers_of(workers.address, [missing]).__enter__()
    assert f"it does not find {missing}; put it where every worker sees it" in str(reported.value)


def test_a_worker_that_joins_later_and_differs_gets_no_work(
    workers: Workers, tmp_path: Path
) -> None:
    good, reported = workers.start(), []
    with dask_cluster.workers_of(workers.address, warn=reported.append) as ordered_map:
        begun, go = tmp_path / "begun", tmp_path / "go"
        found = in_background(ordered_map(begin_and_wait, [(begun, go), *[(begun, tmp_path)] * 20]))
        wait_for(begun.exists)
        workers.start(package=other_checkout(tmp_path / "other"))
        wait_for(lambda: reported)
        go.touch()
        assert found() == [good] * 21
    assert len(reported) == 1 and "gets no work: code of evaltex" in reported[0]


def test_a_worker_that_joins_later_and_is_alike_gets_work(workers: Workers, tmp_path: Path) -> None:
    processes, go = [workers.start()], tmp_path / "go"
    with dask_cluster.workers_of(workers.address) as ordered_map:
        items = [(tmp_path / f"begun{k}", go) for k in range(6)]
        found = in_background(ordered_map(begin_and_wait, items))
        wait_for(items[0][0].exists)
        processes.append(workers.start())
        wait_for(lambda: sum(begun.exists() for begun, _ in items) == 2)
        go.touch()
        assert set(found()) == set(processes)


def test_a_worker_that_becomes_unfit_is_reported_once(workers: Workers) -> None:
    """Whatever it has been given by then."""
    workers.start(threads=3)
    reported: list[str] = []
    with dask_cluster.workers_of(
        workers.address, timeout=PATIENCE_SECONDS, warn=reported.append
    ) as ordered_map:
        cluster: Any = ordered_map
        cluster._versions = {**cluster._versions, "numpy": "0.1"}
        with pytest.raises(InputError, match="no worker for 4 s"):
            next(ordered_map(square, range(6)))
    (said,) = (line for line in reported if "gets no work: numpy" in line)
    assert said.endswith("0.1 here; install the same version there, and restart it")


def test_a_scheduler_of_other_code_is_refused(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may not even know the function that lists its workers, and then seemed to have none."""
    from distributed import Client

    there = {**cluster_worker.versions(), "code of evaltex": "other", "numpy": "missing"}
    monkeypatch.setattr(Client, "run_on_scheduler", lambda *_, **__: there)
    with pytest.raises(
        InputError, match=r"its scheduler has code of evaltex other, \w+ here; install"
    ) as reported:
        dask_cluster.workers_of(workers.address).__enter__()
    assert "numpy" not in str(reported.value)


def test_work_is_not_unpickled_by_a_process_that_differs() -> None:
    here = cluster_worker.versions()
    assert cluster_worker.work({**here, "numpy": "0.1"}, b"no pickle") == (
        "unfit", [f"numpy {here['numpy']}, 0.1 here"],
    )  # fmt: skip
    assert {"code of evaltex", "numpy", "shapely", "GEOS", "pillow", "tifffile", "python"} <= set(
        here
    )


def test_code_that_changes_while_a_worker_runs_makes_it_unfit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster_worker, "_digest", lambda: "other")
    cluster_worker._versions_at.cache_clear()
    assert (
        cluster_worker.versions()["code of evaltex"]
        == f"{cluster_worker.CODE} (and changed since its start)"
    )
    monkeypatch.undo()
    cluster_worker._versions_at.cache_clear()
