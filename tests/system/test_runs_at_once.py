"""Several runs into one folder: one is whole, the others are refused."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from started_runs import BUSY, ROOT, RUN, Tree, finish, leftovers, new_run, run, start, tree

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import atomic_output

pytestmark = pytest.mark.usefixtures("scene")

HOLDER = """
import sys
from pathlib import Path
from evaltex_cli.runtime import atomic_output as staging
with staging.staged(Path(sys.argv[1]), ["evaltex.txt"]) as folder:
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("place", ["res", "fresh", "new/fresh"])
def test_a_second_run_into_one_folder_is_refused(outcomes: dict[str, Tree], place: str) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, place], env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "1000"},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    arguments = [place if argument == "res" else argument for argument in RUN]
    status, stderr = run(*arguments)
    assert status == 2
    assert f"{place}: {BUSY}; wait until it has ended" in stderr
    if place != "res":  # the user makes the folder in the meantime
        Path(place).mkdir()
        assert BUSY in run(*arguments)[1]
        Path(place).rmdir()
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    assert run(*arguments)[0] == 0
    assert not leftovers(Path())


def test_a_folder_is_held_within_a_process_too(here: Path) -> None:
    with (
        atomic_output.staged(Path("new/res"), ["p.txt"]) as folder,
        pytest.raises(InputError, match=BUSY),
        atomic_output.staged(Path("new/res"), ["p.txt"]),
    ):
        pytest.fail("two at once")
    assert not folder.exists()
    assert not leftovers(here)


@pytest.mark.parametrize("fresh", [True, False])
def test_of_runs_at_once_one_is_whole_and_others_are_refused(
    outcomes: dict[str, Tree], fresh: bool
) -> None:
    if fresh:
        shutil.rmtree("res")
    notes = {} if fresh else {"notes.md": b"mine"}
    together = [start(*RUN), new_run(), start(*RUN), new_run()]
    ended = [finish(process) for process in together]
    assert any(status == 0 for status, _ in ended)
    assert all(status == 0 or (status == 2 and BUSY in stderr) for status, stderr in ended), ended
    results = [
        {k: v for k, v in kept.items() if k != "notes.md"} | notes for kept in outcomes.values()
    ]
    assert tree(Path("res")) in results
    assert not leftovers(Path())


def test_results_that_another_run_takes_away_meanwhile_are_no_fault(
    outcomes: dict[str, Tree],
) -> None:
    """It looks whose files these are before it holds the folder."""
    looked_at = []

    def is_own(file: Path) -> bool:
        looked_at.append(file.name)
        shutil.rmtree("res/evaltex", ignore_errors=True)
        with file.open("rb"):
            return True

    with atomic_output.staged(Path("res"), ["evaltex", "evaltex.txt"], is_own) as folder:
        (folder / "evaltex.txt").write_text("new")
    assert len(looked_at) == 2  # what was taken away before its turn is not looked at
    assert looked_at[-1] == "evaltex.txt"
    assert Path("res/evaltex.txt").read_text() == "new"


def test_nobody_else_is_followed_into_a_staging_folder(
    here: Path, outcomes: dict[str, Tree]
) -> None:
    """A link where a staging folder belongs leads nowhere."""
    Path("elsewhere").mkdir()
    Path("elsewhere/new").write_text("keep")
    Path("res", atomic_output.INSIDE).symlink_to(here / "elsewhere")
    status, stderr = run(*RUN)
    assert status == 2
    assert BUSY in stderr
    assert Path("elsewhere/new").read_text() == "keep"
