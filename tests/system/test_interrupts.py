"""Interrupted runs leave nothing that is partial or temporary."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from limits import HANG_SECONDS
from started_runs import ROOT, RUN, Tree, finish, leftovers, new_run, tree

from evaltex_cli.cli import main
from evaltex_cli.runtime import atomic_output

pytestmark = pytest.mark.usefixtures("scene")


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_just_after_the_staging_folder_is_made_leaves_none(
    here: Path, monkeypatch: pytest.MonkeyPatch, end: type[BaseException]
) -> None:
    """It may come though signals are blocked: to a thread that does not block them."""

    def interrupted(folder: Path, _: Path) -> int:
        folder.mkdir()
        raise end

    monkeypatch.setattr(atomic_output, "_locked", interrupted)
    with pytest.raises(end), atomic_output.staged(Path("new"), [], lambda _: True):
        pass
    assert not leftovers(here)


def test_an_interrupt_leaves_no_partial_file(here: Path, outcomes: dict[str, Tree]) -> None:
    for delay in (0, 0.01, 0.03, 0.06):
        process = new_run()
        while (
            not leftovers(here) and process.poll() is None
        ):  # it is under way when it has a staging folder
            time.sleep(0.001)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        status, stderr = finish(process)
        # A shell has 130 of both; Python ends itself by the signal where it came while a string was
        # executed.
        assert status == 0 or status in (130, -signal.SIGINT)
        assert status == 0 or stderr in (
            "evaltex: interrupted; nothing was written\n",
            "evaltex: interrupted; res is complete\n",
        )
        assert tree(Path("res")) == outcomes["old" if "nothing" in stderr else "new"]
        assert not leftovers(here)


WAITING = f"""
import time
from evaltex_cli import cli; from evaltex_cli.evaluation import evaluate as evaluation
def wait(*given):
    time.sleep({HANG_SECONDS})
evaluation.scored = wait
cli.main(prog_name="evaltex")
"""


def test_an_interrupt_in_the_middle_of_the_work_writes_nothing(
    here: Path, outcomes: dict[str, Tree]
) -> None:
    command = [sys.executable, "-c", WAITING, *RUN]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "1000"}
    process = subprocess.Popen(
        command, text=True, env=environment, stderr=subprocess.PIPE, start_new_session=True
    )
    while not leftovers(here):
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    assert finish(process) == (130, "evaltex: interrupted; nothing was written\n")
    assert tree(Path("res")) == outcomes["old"]
    assert not leftovers(here)


DROPPED = f"""
import signal, sys, time, weakref
from evaltex_cli import cli; from evaltex_cli.evaluation import evaluate as evaluation
class Freed: pass
def free_and_wait(*given):
    freed = Freed()
    watch = weakref.ref(freed, lambda _: signal.raise_signal(int(number)))
    del freed
    time.sleep({HANG_SECONDS})
number = sys.argv.pop(1)
evaluation.scored = free_and_wait
cli.main(prog_name="evaltex")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=str)
def test_a_signal_that_comes_while_an_object_is_freed_ends_the_run(
    here: Path, outcomes: dict[str, Tree], number: int
) -> None:
    """Python drops what is raised there."""
    command = [sys.executable, "-c", DROPPED, str(int(number)), *RUN]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "1000"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 128 + number
    assert ended.stderr == (
        "evaltex: interrupted; nothing was written\n" if number == signal.SIGINT else ""
    )
    assert tree(Path("res")) == outcomes["old"]
    assert not leftovers(here)


ENDED_AT_EXIT = """
import atexit, os, signal, sys
from evaltex_cli.__main__ import run
if __name__ == "__main__":
    atexit.register(os.kill, os.getpid(), int(sys.argv.pop(1)))
    run()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=str)
def test_what_is_temporary_is_removed_though_the_end_is_interrupted(
    here: Path, number: int
) -> None:
    Path("ended.py").write_text(ENDED_AT_EXIT)
    Path("gt.txt.gz").write_bytes(gzip.compress(Path("gt.txt").read_bytes()))
    temporary = here / "tmp"
    temporary.mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "1000",
        "TMPDIR": str(temporary),
    }
    arguments = ["gt.txt.gz", "det.txt", "res", "--jobs", "2", "--quiet"]
    ended = subprocess.run(
        [sys.executable, "ended.py", str(int(number)), *arguments], env=environment, check=False
    )
    assert ended.returncode == 0
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("command", ["convert", "toys"])
def test_an_interrupt_within_an_archive_leaves_none(
    command: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for the entry's end: zipfile closes no archive within one."""
    entered = zipfile.ZipFile.open

    def interrupted(*given: Any, **options: Any) -> Any:
        entry = entered(*given, **options)
        signal.raise_signal(signal.SIGINT)
        return entry

    monkeypatch.setattr(zipfile.ZipFile, "open", interrupted)
    more = {
        "convert": ["out.zip", "--kind", "gt"],
        "toys": ["out", "--layout", "zip", "--recipe", "orig"],
    }[command]
    result = CliRunner().invoke(main, [command, "gt.txt", *more])
    assert result.exit_code == 130, result.output
    assert result.stderr == "evaltex: interrupted; nothing was written\n"
    assert sorted(path.name for path in here.iterdir()) == ["det.txt", "gt.txt"]
