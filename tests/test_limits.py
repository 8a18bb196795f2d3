"""No test depends on how fast the machine is, or on who started the tests."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from limits import HANG_SECONDS, at_most

TESTS = Path(__file__).parent
SIGINT, SIGHUP = int(signal.SIGINT), int(signal.SIGHUP)
SHORT_WAITS = re.compile(
    r"timeout ?= ?\d|Timer\(\d|\bwait\(\d|monotonic\(\) \+"
    r" \d|process_time|perf_counter|time\.time\("
)


def test_no_test_waits_for_a_number_of_its_own_or_measures_seconds() -> None:
    """A limit is `HANG_SECONDS`, or `at_most` so many calls."""
    for path in {*TESTS.rglob("*.py")} - {Path(__file__)}:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if SHORT_WAITS.search(line)] == [], path


def test_calls_are_counted() -> None:
    with at_most(calls=20):
        sorted([3, 1, 2])
    with pytest.raises(AssertionError, match="calls, 20 were expected at most"), at_most(calls=20):
        for _ in range(30):
            len("")


@pytest.mark.slow
def test_the_tests_run_under_nohup_and_in_the_background_of_a_shell() -> None:
    """Which ignore signals; a run that a test starts does not."""

    def ignoring() -> None:
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)

    chosen = [
        "cli/test_stopped_runs.py::test_a_second_signal_does_not_disturb_the_clearing_up",
        "system/test_interrupts.py::test_what_is_temporary_is_removed_though_the_end_is_interrupted",
        f"system/test_stopped_workers.py::test_a_run_that_is_stopped_leaves_no_worker[{SIGINT}-130]",
        f"system/test_stopped_workers.py::test_a_run_that_is_stopped_leaves_no_worker[{SIGHUP}-129]",
    ]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--numprocesses=0",
        *(str(TESTS / name) for name in chosen),
    ]
    done = subprocess.run(
        command, cwd=TESTS.parent, env=dict(os.environ), preexec_fn=ignoring, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=HANG_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
