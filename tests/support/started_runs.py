"""Runs of the program in processes of their own, and what they leave in a folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from limits import HANG_SECONDS

ROOT = Path(__file__).parents[2]
RUN = ["gt.txt", "det.txt", "res", "-a", "--protocol", "evaltex", "--protocol", "iou"]
BUSY = "another run is writing to it"
Tree = dict[str, bytes | None]


def start(
    *arguments: str, before: list[str] | None = None, **options: Any
) -> subprocess.Popen[str]:
    command = [*(before or []), sys.executable, "-m", "evaltex_cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "1000"}
    if "preexec_fn" in options:  # a limit of files would cut off a compiled module, for all others
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        command, text=True, env=environment, start_new_session=True, **(streams | options)
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit status and standard error."""
    stderr = process.communicate(timeout=HANG_SECONDS)[1] or ""
    assert "Traceback" not in stderr, stderr
    assert "internal error" not in stderr, stderr
    return process.returncode, stderr


def run(*arguments: str, **options: Any) -> tuple[int, str]:
    return finish(start(*arguments, **options))


def tree(folder: Path) -> Tree:
    """Everything in a folder with its bytes, but for staging folders."""
    return {
        name: path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if ".evaltex-" not in (name := str(path.relative_to(folder)))
    }


def leftovers(folder: Path) -> list[Path]:
    """Staging folders; one that goes away meanwhile is none."""
    return [
        Path(inside, name)
        for inside, folders, files in os.walk(folder)
        for name in folders + files
        if name.startswith(".evaltex-")
    ]


def new_run(*more: str, **options: Any) -> subprocess.Popen[str]:
    return start(*RUN, "--set", "det_border=0.2", *more, **options)


def seconds_of_a_run(*more: str) -> float:
    began = time.monotonic()
    assert finish(start("gt.txt", "det.txt", "timed", *RUN[3:], *more))[0] == 0
    return time.monotonic() - began


JOBS: list[list[str]] = [[], ["--jobs", "2"]]


def unprivileged() -> list[str]:
    """What makes a command subject to permissions."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may write anywhere, and there is no setpriv")
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
