"""A run that is stopped leaves no worker."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from box_scenes import write_boxes
from limits import HANG_SECONDS, wait_for
from small_chunks import began, group_members

pytestmark = pytest.mark.usefixtures("here")

WAITING = f"""
import time
from evaltex_cli.results.writer import ResultWriter
take = ResultWriter.take
def wait(*given):
    take(*given)
    time.sleep({HANG_SECONDS})
ResultWriter.take = wait
"""
"""Makes a run wait when it has the results of its first chunk."""


@pytest.mark.parametrize(
    ("stop", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)],
)
def test_a_run_that_is_stopped_leaves_no_worker(stop: signal.Signals, status: int) -> None:
    write_boxes(images=2_000)
    process = began("gt.txt", "det.txt", "res", "-a", "--jobs", "2", "--quiet", changed=WAITING)
    wait_for(
        lambda: (
            any(Path().glob(".evaltex-*/new/evaltex/deep/*/img_*.txt"))
            or process.poll() is not None
        )
    )
    if stop in (signal.SIGINT, signal.SIGHUP):
        os.killpg(process.pid, stop)  # a terminal tells all of them
    else:
        process.send_signal(stop)
    try:
        _, reported = process.communicate(timeout=HANG_SECONDS)
    finally:
        process.kill()
    assert process.returncode == status
    assert "Traceback" not in reported
    wait_for(lambda: not group_members(process.pid))
    assert not Path("res").exists()
    if stop != signal.SIGKILL:
        assert reported == (
            "evaltex: interrupted; nothing was written\n" if stop == signal.SIGINT else ""
        )
        assert not list(Path().glob(".evaltex-*"))


@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3])
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_while_workers_start_ends(
    stop: signal.Signals, seconds: float
) -> None:
    """A worker whose start is under way when the others are ended is ended
    too; the run waits for all of them.
    """
    write_boxes(images=2_000)
    process = began("gt.txt", "det.txt", "res", "-a", "--jobs", "2", "--quiet")
    wait_for(lambda: any(Path().glob(".evaltex-*")) or process.poll() is not None)
    time.sleep(seconds)
    process.send_signal(stop)
    try:
        process.communicate(timeout=HANG_SECONDS)
    finally:
        process.kill()
    assert process.returncode in (0, 128 + stop, -stop)
    wait_for(lambda: not group_members(process.pid))
