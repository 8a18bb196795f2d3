"""A Dask cluster of several users: what is not as it should be is reported
and bounded, and never used in silence.
"""

from __future__ import annotations

import ast
import http.server
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import test_changed
from click.testing import CliRunner
from limits import HANG_SECONDS, wait_for

from evaltex_cli.cli import COMMANDS, EVALUATE, main
from evaltex_cli.errors import InputError
from evaltex_cli.runtime import FailedError, cluster_schedule, cluster_worker, dask_cluster

distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
# What is given up while it connects is left to the garbage collector, by Dask too, and that may be
# in any later test.
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning",
    "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning",
)
ROOT = Path(__file__).parents[2]
TESTS = (Path(__file__).parent, ROOT / "tests" / "support")
"""Where workers import the functions of these tests from."""
PATIENCE_SECONDS = 4
"""How long the runs under test wait for a worker; nothing that is asserted depends on it."""
GRACE_SECONDS = 10
"""After this a worker that was asked to end is killed."""


class Workers:
    """Worker processes of a scheduler of this process."""

    def __init__(self, scheduler: Any, folder: Path) -> None:
        self.scheduler, self.address, self._folder = scheduler, scheduler.address, folder
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, threads: int = 1, package: Path = ROOT, nanny: bool = False) -> int:
        """Start a worker with the package of a folder; return its process."""
        before = set(self.scheduler.workers)
        command = [
            sys.executable,
            "-m",
            "distributed.cli.dask_worker",
            self.address,
            f"--nthreads={threads}",
        ]
        command += [
            "--nanny" if nanny else "--no-nanny",
            "--no-dashboard",
            f"--local-directory={self._folder}",
        ]
        paths = os.pathsep.join(map(str, (package, *TESTS)))
        process = subprocess.Popen(
            command, env=os.environ | {"PYTHONPATH": paths}, cwd=self._folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._started.append(process)
        wait_for(lambda: set(self.scheduler.workers) - before)
        return process.pid

    def stop(self) -> None:
        for process in self._started:
            for stop in (signal.SIGCONT, signal.SIGTERM):
                process.send_signal(stop)
        for process in self._started:
            try:
                process.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def in_background(results: Iterator[int]) -> Callable[[], list[int]]:
    """Take results in a thread; return what waits for all of them."""
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.extend(results), daemon=True)
    thread.start()

    def wait() -> list[int]:
        thread.join(HANG_SECONDS)
        return found

    return wait


@pytest.fixture(scope="module")
def scheduler() -> Iterator[Any]:
    with distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as local:
        yield local.scheduler


@pytest.fixture
def workers(scheduler: Any, tmp_path: Path) -> Iterator[Workers]:
    started = Workers(scheduler, tmp_path)
    yield started
    started.stop()
    wait_for(
        lambda: (
            not scheduler.workers
            or not all(worker.processing for worker in scheduler.workers.values())
        )
    )
    for address in list(scheduler.workers):
        scheduler.loop.add_callback(scheduler.remove_worker, address, stimulus_id="test", safe=True)
    wait_for(lambda: not scheduler.workers)


def process_of(_: object) -> int:
    return os.getpid()


def folder_of(_: object) -> str:
    return os.getcwd()  # noqa: PTH109


def begin_and_wait(item: tuple[Path, Path]) -> int:
    """Make one file, and wait for the other."""
    begun, go = item
    begun.touch()
    wait_for(go.exists)
    return os.getpid()


def die(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


# The address --------------------------------------------------------------------------------------


@pytest.fixture
def silent_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def http_port() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), http.server.BaseHTTPRequestHandler
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.parametrize("scheme", ["tcp://", "ws://", "", "http://", "inproc://"])
@pytest.mark.parametrize("kind", ["silent", "http"])
def test_what_is_no_scheduler_is_refused_in_time(
    scheme: str, kind: str, silent_port: int, http_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_cluster, "PROBE_SECONDS", 1)
    address = f"{scheme}127.0.0.1:{silent_port if kind == 'silent' else http_port}"
    with pytest.raises(
        InputError, match=f"^cluster {address}: cannot be reached .*give a scheduler's address"
    ):
        dask_cluster.workers_of(address).__enter__()


def test_a_host_without_an_address_is_refused_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "PROBE_SECONDS", 0.2)
    forever = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: forever.wait(HANG_SECONDS))
    with pytest.raises(InputError, match="no Dask scheduler answers within"):
        dask_cluster.workers_of("tcp://nowhere.invalid:8786").__enter__()
    forever.set()


def test_a_worker_is_no_scheduler(workers: Workers) -> None:
    workers.start()
    (address,) = workers.scheduler.workers
    with pytest.raises(InputError, match="a Dask worker, not a scheduler, is there"):
        dask_cluster.workers_of(address).__enter__()


# Workers that differ ------------------------------------------------------------------------------


def other_checkout(folder: Path) -> Path:
    """A copy of the package that differs in a comment."""
    shutil.copytree(
        ROOT / "evaltex_cli", folder / "evaltex_cli", ignore=shutil.ignore_patterns("__pycache__")
    )
    with (folder / "evaltex_cli" / "overlaps.py").open("a") as file:
        file.write("# another\n")
    return folder


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


# Workers that die or freeze -----------------------------------------------------------------------


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
        results = ordered_map(die, range(10))
        assert [next(results) for _ in range(3)] == [0, 1, 2]
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


# Several users ------------------------------------------------------------------------------------

RUN = """
import sys
from evaltex_cli import cli
from evaltex_cli.evaluation import batches
batches.BATCH_IMAGES = 1
cli.main(prog_name='evaltex')
"""


PROCESS_WIDE = {
    "os.chdir", "os.fchdir", "os.umask", "os.putenv", "os.environ.setdefault", "os.environ.update", "os.nice",
    "signal.signal", "signal.pthread_sigmask", "warnings.catch_warnings", "warnings.simplefilter",
    "warnings.filterwarnings", "np.seterr", "np.seterrcall", "np.random.seed", "random.seed", "logging.disable",
    "locale.setlocale", "decimal.setcontext", "resource.setrlimit", "sys.setrecursionlimit", "socket.setdefaulttimeout",
}  # fmt: skip
OF_NO_WORKER = {
    "runtime/workers",
    "runtime/worker_server",
    "runtime/signals",
    "runtime/dask_cluster",
    "cli/options",
    "cli/output",
    "__main__",
}
"""Modules that run in the command's own processes alone."""


def test_what_runs_on_workers_changes_nothing_of_the_process() -> None:
    """But for the settings of decoders, which all threads share while one needs them."""
    found = set()
    for path in (ROOT / "evaltex_cli").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in PROCESS_WIDE:
                found.add(path.relative_to(ROOT / "evaltex_cli").with_suffix("").as_posix())
    assert found - OF_NO_WORKER == {"formats/decoders"}


def test_two_users_of_one_worker_do_not_disturb_each_other(
    workers: Workers, tmp_path: Path
) -> None:
    """From two folders, with relative paths, to the same names of files."""
    processes = []
    for k, shift in enumerate((0, 2)):
        folder = tmp_path / str(k)
        folder.mkdir()
        gt = "".join(f'img_{i}\n50,50\n1,1,"",f,0,0,10,10\n' for i in range(30))
        (folder / "gt.txt").write_text(gt)
        (folder / "det.txt").write_text(
            "".join(f'img_{i}\n1,"",{shift},0,10,10\n' for i in range(30))
        )
    worker = workers.start(threads=4)
    for k in range(2):
        command = [
            sys.executable,
            "-c",
            RUN,
            "gt.txt",
            "det.txt",
            "res",
            "--cluster",
            workers.address,
            "--quiet",
        ]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        processes.append(
            subprocess.Popen(
                command, cwd=tmp_path / str(k), env=environment, stderr=subprocess.PIPE
            )
        )
    for process in processes:
        _, errors = process.communicate(timeout=HANG_SECONDS)
        assert process.returncode == 0, errors
    for k in range(2):
        alone = [sys.executable, "-c", RUN, "gt.txt", "det.txt", "alone", "--quiet"]
        subprocess.run(
            alone, cwd=tmp_path / str(k), env=environment, check=True, timeout=HANG_SECONDS
        )
        results = [
            (tmp_path / str(k) / name / "evaltex.json").read_bytes() for name in ("res", "alone")
        ]
        assert results[0] == results[1]
    with dask_cluster.workers_of(workers.address) as ordered_map:
        assert list(ordered_map(folder_of, [1])) == [str(tmp_path)]
        assert list(ordered_map(process_of, [1])) == [worker]


WITH_RELATIVE_PATHS = {
    "evaluate": ["gt.txt", "det.csv", "--all-scores"],
    "compare": ["compare", "gt.txt", "det.csv", "det2.csv"],
    "rank": ["rank", "board.toml"],
    "sweep": ["sweep", "gt.txt", "det.csv"],
    "reconcile": ["reconcile", "gt.txt", "det.csv", "--protocol", "iou", "--recall", "0.5"],
    "audit": ["audit", "gt.txt", "det.csv", "det2.csv"],
    "diagnose": ["diagnose", "gt.txt", "det.csv"],
}


def test_no_command_reads_what_is_in_the_folder_of_a_worker(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are other files of the same relative paths; every command of `--cluster` is tried."""
    on_clusters = {
        name
        for name in (EVALUATE, *COMMANDS)
        if (found := main.get_command(click.Context(main), name)) is not None
        and any("--cluster" in param.opts for param in found.params)
    }
    assert set(WITH_RELATIVE_PATHS) == on_clusters
    for folder, width in ((tmp_path, 5), (tmp_path / "here", 9)):
        folder.mkdir(exist_ok=True)
        gt = "".join(f'img_{k}\n50,50\n1,1,"a",f,0,0,10,10\n' for k in range(8))
        (folder / "gt.txt").write_text(gt)
        for name, right in (("det.csv", width), ("det2.csv", width - 1)):
            rows = "".join(f"img_{k},0,0,{right},10,0.{k}\n" for k in range(8))
            (folder / name).write_text(f"image,x0,y0,x1,y1,confidence\n{rows}")
        (folder / "board.toml").write_text(
            'protocols = ["iou"]\n[datasets.a]\ngt = "gt.txt"\n'
            '[detectors.A]\na = "det.csv"\n[detectors.B]\na = "det2.csv"\n'
        )
    workers.start()
    monkeypatch.chdir(tmp_path / "here")
    for name, arguments in WITH_RELATIVE_PATHS.items():
        alone, there = (
            CliRunner().invoke(main, [*arguments, *more, "--format", "json"])
            for more in ([], ["--cluster", workers.address])
        )
        assert (alone.exit_code, there.exit_code) == (0, 0), there.output
        assert there.stdout == alone.stdout, name
        shutil.rmtree(".evaltex-cache", ignore_errors=True)


@pytest.mark.parametrize("kind", ["text", "folder", "zip", "masks", "sizes"])
def test_a_worker_that_has_another_copy_is_named(
    workers: Workers, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers.start()
    (address,) = workers.scheduler.workers
    monkeypatch.chdir(tmp_path)
    arguments, file, replace = test_changed.KINDS[kind]()
    reported = test_changed.message_of_change(
        [*arguments, "--cluster", workers.address], replace, monkeypatch
    )
    assert f"{file}" in reported and "indexed" in reported and f"(on worker {address})" in reported
