"""What befalls a run: kill -9, a full disk, a folder that goes away, a second run. Old results or
new, never half.

Kills come at 20 random moments; ``EVALTEX_KILLS=200 python -m pytest tests/system/test_faults.py -k
kill`` takes as many as it says. The moments are random in every run: none may do harm.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import scenes
from click.testing import CliRunner
from limits import HANG_SECONDS

from evaltex_cli.cli import main
from evaltex_cli.errors import InputError
from evaltex_cli.results.reader import files as result_files
from evaltex_cli.runtime import atomic_output

KILLS = int(os.environ.get("EVALTEX_KILLS", "20"))
ROOT = Path(__file__).parents[2]
RUN = ["gt.txt", "det.txt", "res", "-a", "--protocol", "evaltex", "--protocol", "iou"]
BUSY = "another run is writing to it"

Tree = dict[str, bytes | None]
KilledAt = Callable[[int], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def inputs() -> tuple[str, str]:
    """Ground truth and detections of 40 images."""
    return scenes.random_scene(7, images=40)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, inputs: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, with gt.txt and det.txt."""
    monkeypatch.chdir(tmp_path)
    write(inputs, tmp_path)
    return tmp_path


def write(inputs: tuple[str, str], folder: Path) -> None:
    for name, text in zip(("gt.txt", "det.txt"), inputs, strict=True):
        (folder / name).write_text(text, encoding="utf-8", newline="")


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


@pytest.fixture(scope="module")
def made(inputs: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two result folders with a note of the user's: old and new."""
    folder = tmp_path_factory.mktemp("made")
    write(inputs, folder)
    for name, border in (("old", "0.01"), ("new", "0.2")):
        arguments = [name if argument == "res" else argument for argument in RUN]
        assert run(*arguments, "--set", f"det_border={border}", cwd=folder)[0] == 0
        (folder / name / "notes.md").write_text("mine")
    return {name: folder / name for name in ("old", "new")}


@pytest.fixture
def outcomes(here: Path, made: dict[str, Path]) -> dict[str, Tree]:
    """What `res`, which has old results now, holds when its results are old or new."""
    shutil.copytree(made["old"], "res")
    found = {name: tree(folder) for name, folder in made.items()}
    assert found["old"] != found["new"]
    return found


def new_run(*more: str, **options: Any) -> subprocess.Popen[str]:
    return start(*RUN, "--set", "det_border=0.2", *more, **options)


def seconds_of_a_run(*more: str) -> float:
    began = time.monotonic()
    assert finish(start("gt.txt", "det.txt", "timed", *RUN[3:], *more))[0] == 0
    return time.monotonic() - began


# kill -9 ------------------------------------------------------------------------------------------


JOBS: list[list[str]] = [[], ["--jobs", "2"]]


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


@pytest.fixture(scope="module")
def killed_at(tmp_path_factory: pytest.TempPathFactory) -> KilledAt:
    """Make ``small`` as a run leaves it that is killed at a step, -1 for one
    that is not; each step is run once.
    """
    kept: dict[int, tuple[subprocess.CompletedProcess[str], Path]] = {}

    def made(step: int) -> subprocess.CompletedProcess[str]:
        if step not in kept:
            folder = tmp_path_factory.mktemp("killed")
            kept[step] = run_killed_at(step, folder), folder
        shutil.rmtree("small", ignore_errors=True)
        shutil.copytree(kept[step][1] / "small", "small", symlinks=True)
        return kept[step][0]

    return made


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


@pytest.mark.parametrize("settled", [settled_by_a_reader, settled_by_a_run])
def test_kill_between_any_two_renames_is_put_right(
    killed_at: KilledAt, settled: Callable[[], None]
) -> None:
    complete = killed_at(-1)
    assert complete.returncode == 0, complete.stderr
    steps = int(complete.stdout)
    assert steps >= 8  # the list of moves, three results out, three in, the list's end
    assert small() == NEW
    seen = []
    for step in range(steps):
        assert killed_at(step).returncode == -signal.SIGKILL
        settled()
        assert small() in (OLD, NEW), step
        seen.append(small())
    assert seen[0] == OLD
    assert seen[-1] == NEW
    settled_by_a_run()
    assert not leftovers(Path("small"))


def contents() -> list[tuple[str, str]]:
    """Every result with its content, wherever it stands, but for what keeps order."""
    found = [
        path
        for path in Path("small").rglob("*")
        if path.is_file() and path.parent.name != atomic_output.INSIDE
    ]
    return sorted((path.name, path.read_text()) for path in found)


def test_what_cannot_be_put_right_is_reported_and_kept(killed_at: KilledAt) -> None:
    assert killed_at(3).returncode == -signal.SIGKILL
    Path("small/p.txt").mkdir()  # in the way of what comes back
    Path("small/p.txt/x").write_text("")
    before = contents()
    for _ in range(2):
        with pytest.raises(InputError, match=r"small: cannot be written"):
            settled_by_a_reader()
    with (
        pytest.raises(InputError, match=r"small: cannot be written"),
        atomic_output.staged(Path("small"), ["other.txt"]),
    ):
        pytest.fail("results are mixed")
    assert contents() == before


DAMAGES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda moves: moves.write_bytes(b""),
    "a part": lambda moves: moves.write_bytes(moves.read_bytes()[:-5]),
    "garbage": lambda moves: moves.write_bytes(b"\xff\x00 garbage"),
    "another kind": lambda moves: moves.write_text('{"leaving": []}'),
    "other kinds": lambda moves: moves.write_text('[[1], {"p.txt": 2}]'),
    "one list": lambda moves: moves.write_text('[["p.txt"]]'),
    "lists of nothing": lambda moves: moves.write_text("[[], []]"),
    "names elsewhere": lambda moves: moves.write_text('[["../mine", ".."], ["../../mine"]]'),
    "deep": lambda moves: moves.write_text("[" * 100_000),
    "a link": lambda moves: (moves.unlink(), moves.symlink_to("/nowhere")),
    "a folder": lambda moves: (moves.unlink(), moves.mkdir(), (moves / "x").mkdir()),
    "a pipe": lambda moves: (moves.unlink(), os.mkfifo(moves)),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("settled", [settled_by_a_reader, settled_by_a_run])
def test_a_damaged_list_of_moves_costs_no_result(
    killed_at: KilledAt, settled: Callable[[], None], damage: Callable[[Path], object], here: Path
) -> None:
    """After a power failure, say: the results are those of one run, and the folder is usable."""
    (here / "mine").write_text("mine")
    steps, seen = int(killed_at(-1).stdout), []
    for step in range(steps):
        assert killed_at(step).returncode == -signal.SIGKILL
        moves = Path("small", atomic_output.INSIDE, "moves")
        if moves.exists():
            damage(moves)
        settled()
        assert small() in (OLD, NEW), step
        assert not os.path.lexists(moves)
        seen.append(small())
    assert OLD in seen
    assert NEW in seen
    settled_by_a_run()
    assert not leftovers(Path("small"))
    assert (here / "mine").read_text() == "mine"


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


# Full disks, folders that are read-only or go away ------------------------------------------------


@pytest.mark.no_coverage
@pytest.mark.parametrize("most", [0, 1, 200, 1000, 5000, 20_000])
@pytest.mark.parametrize("place", ["res", "new/res"])
def test_a_disk_that_is_full_is_reported(
    here: Path, outcomes: dict[str, Tree], place: str, most: int
) -> None:
    """No file may grow beyond so many bytes; the largest of the results has more."""
    assert max(len(kept) for kept in outcomes["new"].values() if kept is not None) > 20_000

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    before = tree(here)
    arguments = [place if argument == "res" else argument for argument in RUN]
    status, stderr = run(*arguments, "--set", "det_border=0.2", preexec_fn=limit)
    assert status == 2
    assert f"{place}: cannot be written (File too large" in stderr
    assert tree(here) == before
    assert not leftovers(here)


@pytest.fixture
def tiny_disk(here: Path) -> Iterator[Path]:
    """A file system of 200 KB."""
    place = here / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "none", str(place)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"file systems cannot be mounted here: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("jobs", [["--jobs", "1"], ["--jobs", "2"]], ids=" ".join)
def test_a_file_system_that_is_full(tiny_disk: Path, jobs: list[str]) -> None:
    status, stderr = run("gt.txt", "det.txt", "disk/res", "-a", "--protocol", "all", *jobs)
    assert status == 2
    assert "disk/res: cannot be written (No space left on device" in stderr
    assert tree(tiny_disk) == {}
    assert not leftovers(tiny_disk)


@pytest.mark.parametrize("size", ["8k", "16k", "32k", "64k"])
@pytest.mark.parametrize("mask_format", ["tif", "png"])
def test_label_pictures_on_a_file_system_that_is_full(
    tiny_disk: Path, mask_format: str, size: str
) -> None:
    """The folder of the pictures is named, and nothing else is said, whichever write fails."""
    blocks = (f"img_{k}\n2000,2000\n" + f'1,1,"a",f,{k},20,1500,1700\n' * 1 for k in range(60))
    Path("large.txt").write_text("".join(blocks))
    subprocess.run(["mount", "-o", f"remount,size={size}", str(tiny_disk)], check=True)
    command = [
        "convert",
        "large.txt",
        "out.txt",
        "--kind",
        "gt",
        "--masks",
        "disk/masks",
        "--mask-format",
        mask_format,
    ]
    status, stderr = run(*command)
    assert status == 2
    assert stderr.startswith(
        "evaltex: error: disk/masks: cannot be written (No space left on device"
    )
    assert stderr.count("\n") == 1
    assert tree(tiny_disk) == {}
    assert not Path("out.txt").exists()


@pytest.mark.no_coverage
@pytest.mark.parametrize("most", [0, 1, 100, 3000])
@pytest.mark.parametrize("mask_format", ["tif", "png"])
def test_label_pictures_that_may_not_be_so_large(here: Path, mask_format: str, most: int) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    Path("large.txt").write_text('img_1\n2000,2000\n1,1,"a",f,3,20,1500,1700\n')
    command = [
        "convert",
        "large.txt",
        "/dev/null",
        "--to",
        "evaltex",
        "--kind",
        "gt",
        "--masks",
        "masks",
    ]
    status, stderr = run(*command, "--mask-format", mask_format, preexec_fn=limit)
    assert status == 2
    assert stderr.startswith("evaltex: error: masks: cannot be written (File too large")
    assert not leftovers(here)


def unprivileged() -> list[str]:
    """What makes a command subject to permissions."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may write anywhere, and there is no setpriv")
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]


def test_a_folder_that_is_read_only(here: Path, outcomes: dict[str, Tree]) -> None:
    Path("closed").mkdir()
    for place, closed in (("res", "res"), ("closed/res", "closed")):
        Path(closed).chmod(0o500)
        try:
            status, stderr = run(
                *[place if argument == "res" else argument for argument in RUN],
                before=unprivileged(),
            )
        finally:
            Path(closed).chmod(0o700)
        assert status == 2
        assert f"{place}: cannot be written (Permission denied" in stderr
    assert tree(Path("res")) == outcomes["old"]
    assert tree(Path("closed")) == {}


def test_results_that_may_not_be_read() -> None:
    assert run(*RUN)[0] == 0
    Path("res/evaltex.json").chmod(0)
    for command in (["report", "res"], ["merge", "res", "new"], ["compare", "res", "res"]):
        status, stderr = run(*command, before=unprivileged())
        assert status == 2
        message = "res/evaltex.json: Permission denied; check the path and its permissions"
        assert message in " ".join(stderr.split())


def test_a_current_folder_that_is_gone(here: Path) -> None:
    Path("gone").mkdir()
    os.chdir("gone")
    Path("../gone").rmdir()
    status, stderr = run(str(here / "gt.txt"), str(here / "det.txt"), "new")
    assert status == 2
    assert "the current folder is no longer there; change to another one" in stderr


def test_torn_results_that_may_not_be_put_right_are_refused(killed_at: KilledAt) -> None:
    assert killed_at(3).returncode == -signal.SIGKILL
    Path("small").chmod(0o500)
    try:
        status, stderr = run("report", "small", "report.html", before=unprivileged())
    finally:
        Path("small").chmod(0o700)
    assert status == 2
    assert "small: cannot be written (Permission denied" in stderr


@pytest.mark.parametrize("moment", [0.3, 0.5, 0.7, 0.8, 0.9])
def test_a_folder_that_goes_away(outcomes: dict[str, Tree], moment: float) -> None:
    length = seconds_of_a_run()
    process = new_run()
    time.sleep(moment * length)
    Path("res").rename("gone")
    status, stderr = finish(process)
    atomic_output.finish_interrupted_moves(Path("gone"))
    assert tree(Path("gone")) in outcomes.values()
    if status:
        assert status == 2
        assert "res: cannot be written" in stderr


def test_a_folder_that_went_away_while_it_was_staged(here: Path) -> None:
    def vanish(place: str) -> None:
        with atomic_output.staged(Path(place), ["p.txt"]) as folder:
            (folder / "p.txt").write_text("new")
            shutil.rmtree(folder.parent)

    Path("there").mkdir()
    for place in ("there", "fresh"):
        with pytest.raises(InputError, match=f"{place}: cannot be written"):
            vanish(place)
    assert not leftovers(here)


# Two runs at once ---------------------------------------------------------------------------------

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
    assert len(looked_at) > 2
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


# Interrupts and pipes -----------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    "arguments",
    [
        RUN,
        ["compare", "gt.txt", "det.txt", "det.txt", "--resamples", "10", "--format", "json"],
        ["diagnose", "gt.txt", "det.txt"],
        ["validate", "gt.txt", "det.txt", "--format", "json"],
        ["convert", "gt.txt", "out.zip", "--kind", "gt"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_reader_who_leaves_early_is_no_error(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    process = start(*arguments, stdout=writing)
    os.close(writing)
    os.close(reading)
    assert finish(process)[0] == 0


CLOSED = [">&-", "2>&-", "<&-", ">&- 2>&- <&-"]


@pytest.mark.parametrize("jobs", JOBS, ids=lambda jobs: "-".join(jobs) or "one process")
@pytest.mark.parametrize("closed", CLOSED)
def test_streams_that_are_closed_are_nowhere(
    outcomes: dict[str, Tree], closed: str, jobs: list[str]
) -> None:
    assert finish(new_run(*jobs, before=["sh", "-c", f'exec "$0" "$@" {closed}']))[0] == 0
    assert tree(Path("res")) == outcomes["new"]
    assert (
        run("gt.txt", "missing.txt", "res", before=["sh", "-c", f'exec "$0" "$@" {closed}'])[0] == 2
    )


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="needs /dev/full, the file of Linux that is always full"
)
@pytest.mark.parametrize(
    "arguments",
    [RUN, ["diagnose", "gt.txt", "det.txt"], ["--help"], ["compare", "--help"]],
    ids=str,
)
def test_output_that_cannot_be_written_is_reported(
    arguments: list[str], outcomes: dict[str, Tree]
) -> None:
    with Path("/dev/full").open("w") as full:
        status, stderr = run(*arguments, stdout=full)
        assert status == 2
        assert "No space left on device" in stderr
        assert run("gt.txt", "missing.txt", "res", stderr=full)[0] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        [*RUN, "--config", "/dev/zero"],
        [*RUN, "--baseline", "/dev/zero", "--fail-if", "recall:-1%"],
        ["report", "/dev/zero"],
        ["merge", "/dev/zero", "/dev/zero", "merged"],
    ],
    ids=lambda arguments: " ".join(arguments[-2:]),
)
def test_a_device_without_end_is_not_read(arguments: list[str]) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))

    status, stderr = run(*arguments, preexec_fn=limit)
    assert status == 2
    assert "/dev/zero: is a device" in stderr


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


def test_output_goes_into_what_is_no_file() -> None:
    os.mkfifo("pipe")
    process = start("validate", "gt.txt", "det.txt", "--format", "json", "--output", "pipe")
    with Path("pipe").open() as reading:
        assert json.load(reading)
    assert finish(process)[0] == 0
    assert Path("pipe").is_fifo()
