"""A run that is killed while it moves its results into their folder, and who puts that right."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from limits import HANG_SECONDS
from started_runs import ROOT, tree

from evaltex_cli.errors import InputError
from evaltex_cli.results.reader import files as result_files
from evaltex_cli.runtime import atomic_output

KilledAt = Callable[[int], subprocess.CompletedProcess[str]]
KILLED_AT_A_STEP = """
import os, signal, sys
from pathlib import Path
from evaltex_cli.runtime import atomic_output as staging

at, steps = int(sys.argv[1]), 0

def mortal(real):
    def step(*arguments, **options):
        global steps
        if steps == at:
            os.kill(os.getpid(), signal.SIGKILL)
        steps += 1
        return real(*arguments, **options)
    return step

with staging.staged(Path("small"), ["p.txt", "p.json", "p", "q.txt"]) as folder:
    (folder / "p").mkdir()
    for name in ("p.txt", "q.txt", "p/a.txt"):
        (folder / name).write_text("new")
    Path.rename, Path.unlink, os.replace = mortal(Path.rename), mortal(Path.unlink), mortal(os.replace)
print(steps)
"""
OLD = {"p.txt": "old", "p.json": "old", "p/a.txt": "old", "p/b.txt": "old", "mine.txt": "mine"}
NEW = {"p.txt": "new", "q.txt": "new", "p/a.txt": "new", "mine.txt": "mine"}


def run_killed_at(step: int, folder: Path) -> subprocess.CompletedProcess[str]:
    for name, text in OLD.items():
        (folder / "small" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "small" / name).write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", KILLED_AT_A_STEP, str(step)]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=HANG_SECONDS,
    )


def small() -> dict[str, str]:
    return {name: kept.decode() for name, kept in tree(Path("small")).items() if kept is not None}


def settled_by_a_reader() -> None:
    result_files(Path("small"))


def settled_by_a_run() -> None:
    def stopped() -> None:
        with atomic_output.staged(Path("small"), ["other.txt"]):
            raise InputError("stop")

    with pytest.raises(InputError, match="stop"):
        stopped()
