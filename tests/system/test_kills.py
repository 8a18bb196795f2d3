"""Runs that are killed (kill -9) leave old results or new, never half, and no process.

Kills come at 20 random moments; ``EVALTEX_KILLS=200 python -m pytest tests/system/test_kills.py``
takes as many as it says. The moments are random in every run: none may do harm.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from limits import HANG_SECONDS
from started_runs import JOBS, Tree, finish, leftovers, new_run, run, seconds_of_a_run, start, tree

from evaltex_cli.runtime import atomic_output

pytestmark = pytest.mark.usefixtures("scene")

KILLS = int(os.environ.get("EVALTEX_KILLS", "20"))


@pytest.mark.parametrize("fresh", [False, True], ids=["over results", "into a new folder"])
@pytest.mark.parametrize("jobs", JOBS, ids=lambda jobs: "-".join(jobs) or "one process")
def test_kill_at_any_moment_leaves_old_results_or_new(
    here: Path, outcomes: dict[str, Tree], jobs: list[str], fresh: bool
) -> None:
    if fresh:
        Path("res/notes.md").unlink()
        nothing: Tree = {}
        outcomes = {
            "old": nothing,
            "new": {name: kept for name, kept in outcomes["new"].items() if "notes" not in name},
        }
        shutil.rmtree("res")
    whole = list(outcomes.values())
    length = seconds_of_a_run(*jobs)
    shutil.rmtree("timed")
    for _ in range(max(KILLS // (2 * len(JOBS)), 1)):
        process = new_run(*jobs)
        time.sleep(random.uniform(0.1, 1.05) * length)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        atomic_output.finish_interrupted_moves(Path("res"))
        assert (tree(Path("res")) if Path("res").exists() else {}) in whole
        if fresh and Path("res").exists():
            shutil.rmtree("res")
    assert finish(new_run(*jobs))[0] == 0
    assert tree(Path("res")) == outcomes["new"]
    assert not leftovers(here)


def test_workers_end_with_the_run_that_is_killed() -> None:
    process = new_run("--jobs", "2")
    time.sleep(0.5 * seconds_of_a_run("--jobs", "2"))
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=HANG_SECONDS)  # ends when no process holds its streams
    with pytest.raises(ProcessLookupError):
        for _ in range(10 * HANG_SECONDS):
            os.killpg(process.pid, 0)
            time.sleep(0.1)


def test_files_written_alone_are_whole_too(outcomes: dict[str, Tree]) -> None:
    command = ["convert", "gt.txt", "out.zip", "--kind", "gt", "--force"]
    assert run(*command)[0] == 0
    whole = Path("out.zip").read_bytes()
    began = time.monotonic()
    assert run(*command)[0] == 0
    length = time.monotonic() - began
    for _ in range(5):
        process = start(*command)
        time.sleep(random.uniform(0.2, 1) * length)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert Path("out.zip").read_bytes() == whole
    assert run(*command)[0] == 0
    assert not leftovers(Path())
