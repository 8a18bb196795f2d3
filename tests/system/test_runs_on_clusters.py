"""Runs whose work a Dask cluster does."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from box_scenes import arguments_for, outcome, write_boxes
from click.testing import CliRunner
from limits import HANG_SECONDS, wait_for
from small_chunks import began
from worker_tasks import square, work_or_fail

from evaltex_cli.cli import main
from evaltex_cli.errors import InputError
from evaltex_cli.runtime import (
    dask_cluster,
)

pytestmark = pytest.mark.usefixtures("here")


def test_a_cluster_gives_the_same_bytes() -> None:
    distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
    arguments = arguments_for("polygons")
    alone = outcome(*arguments)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, dashboard_address="127.0.0.1:0"
    ) as local:
        assert outcome(*arguments, "--cluster", local.scheduler_address) == alone
        there = local.scheduler_address
        reported = outcome("gt.txt", "missing.txt", "res", "--cluster", there, expected=2)["stderr"]
        assert b"missing.txt" in reported
        Path("gt.txt.gz").write_bytes(gzip.compress(Path("gt.txt").read_bytes()))
        reported = outcome("gt.txt.gz", "det.txt", "res", "--cluster", there, expected=2)["stderr"]
        assert b"packed by gzip" in reported


def test_a_cluster_gives_the_same_sweep_and_ranking() -> None:
    distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
    made = random.Random(0)
    for folder in ("gt", "one", "two"):
        Path(folder).mkdir()
    for k in range(30):
        boxes = [(70 * n, made.randrange(40)) for n in range(5)]
        Path("gt", f"{k}.txt").write_text(
            "".join(f"{x},{y},{x + 60},{y + 20},word\n" for x, y in boxes)
        )
        for folder in ("one", "two"):
            moved = ((x + made.randrange(60), y, x + 60, y + 20) for x, y in boxes)
            lines = (f"{','.join(map(str, box))},{made.random():.2f}\n" for box in moved)
            Path(folder, f"{k}.txt").write_text("".join(lines))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as local:
        for command in (
            ("sweep", "gt", "one", "--protocol", "iou,deteval,cleval"),
            ("rank", "gt", "one", "two", "--protocol", "iou,evaltex"),
        ):
            alone = CliRunner().invoke(main, [*command, "--format", "json"])
            there = CliRunner().invoke(
                main, [*command, "--format", "json", "--cluster", local.scheduler_address]
            )
            assert (alone.exit_code, there.exit_code) == (0, 0), there.output
            assert there.output == alone.output


def test_a_scheduler_that_is_lost_is_not_waited_for(here: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
    known = here / "scheduler.json"
    scheduler, *workers = (
        subprocess.Popen(
            [
                sys.executable, "-m", f"distributed.cli.dask_{what}", f"--scheduler-file={known}",
                "--host=127.0.0.1", "--no-dashboard", *options,
            ],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for what, options in (("scheduler", ["--port=0"]), ("worker", ["--no-nanny"]))
    )  # fmt: skip
    try:
        wait_for(lambda: known.exists() and known.read_text().rstrip().endswith("}"))
        address = json.loads(known.read_text())["address"]
        with distributed.Client(address) as client:
            client.wait_for_workers(1)
        lost = rf"cluster {address}: its scheduler was lost"
        with pytest.raises(InputError, match=lost), dask_cluster.workers_of(address) as ordered_map:
            found = ordered_map(square, range(10))
            assert [next(found) for _ in range(3)] == [0, 1, 4]
            with pytest.raises(TypeError, match="of the work"):
                list(ordered_map(work_or_fail, range(10)))
            found = ordered_map(time.sleep, [0, 600])
            next(found)
            scheduler.kill()
            next(found)
    finally:
        for process in (scheduler, *workers):
            process.kill()
            process.wait()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "tls://127.0.0.1:9", "nowhere"])
def test_a_cluster_that_is_not_there_is_reported(address: str) -> None:
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    write_boxes()
    process = began("gt.txt", "det.txt", "res", "--cluster", address)
    reported = process.communicate(timeout=HANG_SECONDS)[1]
    assert process.returncode == 2
    assert reported.startswith(f"evaltex: error: cluster {address}: cannot be reached")
    assert reported.count("\n") == 1


def test_jobs_and_cluster_exclude_each_other() -> None:
    assert (
        b"exclude each other"
        in outcome("g", "d", "res", "--jobs", "2", "--cluster", "tcp://x", expected=2)["stderr"]
    )
