"""Workers of a Dask scheduler of this process, and what tests need to watch them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from limits import HANG_SECONDS, wait_for

# What is given up while it connects is left to the garbage collector, by Dask too, and that may be
# in any later test.
LEFT_TO_THE_COLLECTOR = pytest.mark.filterwarnings(
    "ignore::ResourceWarning",
    "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning",
)
ROOT = Path(__file__).parents[2]
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
        paths = os.pathsep.join(map(str, (package, Path(__file__).parent)))
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


def other_checkout(folder: Path) -> Path:
    """A copy of the package that differs in a comment."""
    shutil.copytree(
        ROOT / "evaltex_cli", folder / "evaltex_cli", ignore=shutil.ignore_patterns("__pycache__")
    )
    with (folder / "evaltex_cli" / "version.py").open("r+") as file:
        file.seek(0, os.SEEK_END)
        file.write("# another\n")
    return folder
