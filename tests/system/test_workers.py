"""Worker processes do what they are given, in order, and none is left over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from limits import HANG_SECONDS, wait_for
from worker_tasks import die_at_three, fail, process_after, square

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import workers


def began(*arguments: str, changed: str = "") -> subprocess.Popen[str]:
    """Start a run of small chunks, changed by this code."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "COLUMNS": "1000"}
    lines = changed + (
        "from evaltex_cli import cli\nfrom evaltex_cli.evaluation import evaluate\n"
        "evaluate.BATCH_OBJECTS = 60\ncli.main(prog_name='evaltex')\n"
    )
    code = "if __name__ == '__main__':\n" + textwrap.indent(lines, "    ")
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(
        command,
        text=True,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )


def group_members(group: int) -> list[int]:
    """The processes of a group that live."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["fork", "spawn"])
def _method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = 1 if request.param == "fork" else 2
    monkeypatch.setattr(threading, "active_count", lambda: threads)


def lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.usefixtures("_method")
def test_results_come_in_order_and_only_some_items_are_under_way() -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    with workers.processes(2) as ordered_map:
        results = ordered_map(square, items())
        assert [next(results) for _ in range(3)] == [0, 1, 4]
        assert len(taken) == 6
        assert list(results) == [number * number for number in range(3, 100)]
        with pytest.raises(InputError, match="0 is wrong"):
            list(ordered_map(fail, range(10)))


@pytest.mark.usefixtures("_method")
def test_a_worker_that_dies_is_one_message() -> None:
    with (
        pytest.raises(InputError, match=r"a worker process died.*with fewer jobs.*__main__"),
        workers.processes(2) as ordered_map,
    ):
        list(ordered_map(die_at_three, range(10)))


def test_a_block_that_is_left_by_an_error_waits_for_no_worker() -> None:
    with pytest.raises(ZeroDivisionError), workers.processes(2) as ordered_map:
        worker = next(ordered_map(process_after, [0, HANG_SECONDS, HANG_SECONDS]))
        raise ZeroDivisionError
    wait_for(lambda: not lives(worker))


WAITING = f"""
import time
from evaltex_cli.evaluation import evaluate
def wait(*_):
    time.sleep({HANG_SECONDS})
evaluate.measure = wait
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=str)
def test_a_signal_ends_the_workers_too(here: Path, number: int) -> None:
    gt = "".join(f'img_{k}\n10,10\n1,1,"a",f,0,0,5,5\n' for k in range(100))
    Path("gt.txt").write_text(gt)
    Path("det.txt").write_text("".join(f'img_{k}\n1,"a",0,0,5,5\n' for k in range(100)))
    process = began("gt.txt", "det.txt", "res", "--jobs", "2", changed=WAITING)
    wait_for(lambda: len(group_members(process.pid)) == 3)
    time.sleep(0.3)
    send = os.killpg if number == signal.SIGINT else os.kill  # a terminal's goes to the group
    send(process.pid, number)
    stderr = process.communicate(timeout=HANG_SECONDS)[1]
    wait_for(lambda: not group_members(process.pid))
    if number == signal.SIGINT:
        assert (process.returncode, stderr) == (130, "evaltex: interrupted\n")
    assert "Traceback" not in stderr
    assert not Path("res").exists()


@pytest.mark.parametrize("files", range(12, 18))
def test_too_few_files_for_the_workers_are_one_message(here: Path, files: int) -> None:
    """None of those that were started is left."""
    Path("gt.txt").write_text('img\n10,10\n1,1,"a",f,0,0,5,5\n')
    Path("det.txt").write_text('img\n1,"a",0,0,5,5\n')
    process = began(
        *("gt.txt", "det.txt", "--jobs", "4"),
        changed=f"import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))\n",
    )
    stderr = process.communicate(timeout=HANG_SECONDS)[1]
    wait_for(lambda: not group_members(process.pid))
    assert process.returncode == 2
    assert stderr.startswith("evaltex: error: worker processes cannot be started (Too many open")


UNGUARDED = """
import threading
import evaltex_cli
threading.active_count = lambda: 2
box = [[[0, 0, 9, 9]]]
print("scored", evaltex_cli.evaluate("gt.txt", "det.txt", jobs=2).scores["recall"])
"""


def test_a_script_without_a_guard_is_told_of_it(here: Path) -> None:
    Path("gt.txt").write_text('img\n10,10\n1,1,"a",f,0,0,5,5\n')
    Path("det.txt").write_text('img\n1,"a",0,0,5,5\n')
    Path("script.py").write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, "script.py"], env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=HANG_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert 'needs the line `if __name__ == "__main__":`' in done.stderr.splitlines()[-1]
