"""Workers that die or freeze, and a scheduler that does not answer."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from dask_workers import LEFT_TO_THE_COLLECTOR, PATIENCE_SECONDS, Workers, in_background
from limits import wait_for
from worker_tasks import always_die, begin_and_wait, square

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import FailedError, cluster_schedule, dask_cluster

pytest.importorskip("distributed", reason="the extra cluster is not installed")
pytestmark = LEFT_TO_THE_COLLECTOR


def test_without_any_worker_it_says_so_and_ends(workers: Workers, tmp_path: Path) -> None:
    worker, reported = workers.start(), []
    lost = "no worker for 4 s; start some, and run again; some images and what follows are not done"
    with (
        pytest.raises(InputError, match=lost),
        dask_cluster.workers_of(
            workers.address, timeout=PATIENCE_SECONDS, warn=reported.append
        ) as ordered_map,
    ):
        results = ordered_map(
            begin_and_wait,
            [(tmp_path / "begun", tmp_path), (tmp_path / "begun", tmp_path / "never")],
        )
        assert next(results) == worker
        os.kill(worker, signal.SIGKILL)
        next(results)
    assert any(
        "no worker is left; waiting up to 4 s for one (--cluster-timeout)" in line
        for line in reported
    )


def test_what_a_frozen_worker_had_is_done_by_another(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        cluster_schedule, "ANSWER_SECONDS", 2.0
    )  # well before it is lost, after several looks
    monkeypatch.setattr(cluster_schedule, "LOOK_SECONDS", 0.2)
    processes, reported, go = [workers.start(), workers.start()], [], tmp_path / "go"
    with dask_cluster.workers_of(
        workers.address, timeout=PATIENCE_SECONDS, warn=reported.append
    ) as ordered_map:
        items = [(tmp_path / f"begun{k}", go) for k in range(8)]
        found = in_background(ordered_map(begin_and_wait, items))
        wait_for(lambda: sum(begun.exists() for begun, _ in items) == 2)
        os.kill(processes[0], signal.SIGSTOP)
        go.touch()
        assert found() == [processes[1]] * 8
    assert any(
        "does not answer; waiting up to 4 s for it, which has some images" in line
        for line in reported
    )
    assert any(
        "are done again (worker" in line and "was silent for 4 s)" in line for line in reported
    )


def test_a_worker_that_is_restarted_again_and_again_is_bounded(workers: Workers) -> None:
    workers.start(nanny=True)
    reported: list[str] = []
    with dask_cluster.workers_of(workers.address, warn=reported.append) as ordered_map:
        results = ordered_map(always_die, range(10))
        assert [next(results) for _ in range(3)] == [0, 1, 4]
        with pytest.raises(FailedError) as failed:
            next(results)
    assert failed.value.item == 3
    assert 2 <= len(reported) <= 8, reported


def test_a_scheduler_that_does_not_answer_is_bounded(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers.start()
    reported: list[str] = []

    def silent(*_: object, **__: object) -> None:
        raise TimeoutError

    with dask_cluster.workers_of(
        workers.address, timeout=PATIENCE_SECONDS, warn=reported.append
    ) as ordered_map:
        results = ordered_map(
            begin_and_wait, [(tmp_path / "begun", tmp_path), (tmp_path / "begun", tmp_path / "go")]
        )
        next(results)
        monkeypatch.setattr(cluster_schedule, "ANSWER_SECONDS", 0.5)
        monkeypatch.setattr(ordered_map._client, "run_on_scheduler", silent)  # type: ignore[attr-defined]
        with pytest.raises(InputError, match="its scheduler did not answer for 4 s"):
            next(results)
    (tmp_path / "go").touch()
    assert any(
        "its scheduler does not answer; waiting up to 4 s (--cluster-timeout)" in line
        for line in reported
    )


@pytest.mark.parametrize("answer", [TimeoutError(), {}], ids=["no answer", "no worker"])
def test_time_in_which_nobody_looked_is_no_time_of_silence(
    workers: Workers, answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that was busy itself for long, with an index say, waits as long as any other."""
    workers.start()
    with dask_cluster.workers_of(workers.address, timeout=PATIENCE_SECONDS) as ordered_map:
        cluster: Any = ordered_map
        ask = cluster._client.run_on_scheduler

        def first(*_: object, **__: object) -> Any:
            monkeypatch.setattr(cluster._client, "run_on_scheduler", ask)
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr(cluster._client, "run_on_scheduler", first)
        cluster._looked = cluster._answered = cluster._able = cluster._idle = time.monotonic() - 100
        assert list(ordered_map(square, [3])) == [9]


def test_a_worker_that_dask_pauses_is_not_called_silent(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_schedule, "ANSWER_SECONDS", 2.0)
    monkeypatch.setattr(cluster_schedule, "LOOK_SECONDS", 0.2)
    workers.start()
    reported: list[str] = []
    with dask_cluster.workers_of(
        workers.address, timeout=PATIENCE_SECONDS, warn=reported.append
    ) as ordered_map:
        client = ordered_map._client  # type: ignore[attr-defined]
        ask = client.run_on_scheduler

        def paused(*arguments: Any, **options: Any) -> Any:
            found = ask(*arguments, **options)
            return {address: state._replace(is_able=False) for address, state in found.items()}

        monkeypatch.setattr(client, "run_on_scheduler", paused)
        with pytest.raises(InputError, match="no worker for 4 s"):
            next(ordered_map(begin_and_wait, [(tmp_path / "begun", tmp_path / "go")]))
    (tmp_path / "go").touch()
    assert any(
        "takes no work (Dask pauses a worker that is near its memory limit); waiting" in line
        for line in reported
    )
    assert any("took no work for 4 s" in line for line in reported)
