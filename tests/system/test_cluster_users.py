"""A Dask cluster of several users: nobody's folder, files or settings are another's."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
import test_changed
from click.testing import CliRunner
from dask_workers import LEFT_TO_THE_COLLECTOR, ROOT, Workers
from limits import HANG_SECONDS
from worker_tasks import folder_of, process_of

from evaltex_cli.cli import COMMANDS, EVALUATE, main
from evaltex_cli.runtime import dask_cluster

pytest.importorskip("distributed", reason="the extra cluster is not installed")
pytestmark = LEFT_TO_THE_COLLECTOR


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
