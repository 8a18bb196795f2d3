"""Workers do what they are given, in order; who dies at it is replaced, and none is left over."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from box_scenes import write_boxes
from limits import HANG_SECONDS
from worker_tasks import (
    always_die,
    counted,
    die_once,
    fail,
    failing_disk,
    large,
    square,
    without_memory,
)

from evaltex_cli.errors import InputError
from evaltex_cli.evaluation import batches, evaluate, inputs, tally
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import config
from evaltex_cli.runtime import (
    AHEAD,
    ATTEMPTS,
    FailedError,
    workers,
)

pytestmark = pytest.mark.usefixtures("here")


def left_over() -> list[int]:
    """Workers of this process that still live: children of the process that starts them."""
    found = []
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = status.read_bytes()
            parent = int((status.parent / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if command and parent not in (0, os.getpid()):
            grandparent = Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[1]
            if int(grandparent) == os.getpid():
                found.append(int(status.parent.name))
    return found


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    with workers.processes(2) as ordered_map:
        items = [(number, str(tmp_path / "mark")) for number in range(20)]
        assert list(ordered_map(die_once, items)) == [number * number for number in range(20)]
        assert (tmp_path / "mark").exists()
        found = ordered_map(always_die, range(10))
        assert [next(found) for _ in range(3)] == [0, 1, 4]
        with pytest.raises(FailedError, match="a worker died") as failed:
            next(found)
        assert failed.value.item == 3
        with pytest.raises(FailedError, match="Input/output error"):
            list(ordered_map(failing_disk, range(10)))
        with pytest.raises(FailedError, match="out of memory"):
            list(ordered_map(without_memory, range(10)))
        with pytest.raises(InputError, match="0 is wrong"):
            list(ordered_map(fail, range(10)))
        with pytest.raises(TypeError, match="without an encoding"):
            list(ordered_map(large, ["no number"]))  # type: ignore[list-item]
    assert not left_over()


def test_a_worker_that_dies_disturbs_no_other(tmp_path: Path) -> None:
    """Its item is tried three times; what other workers do meanwhile is done once."""
    mark = tmp_path / "mark"
    with (
        pytest.raises(FailedError, match="a worker died") as failed,
        workers.processes(2) as ordered_map,
    ):
        list(ordered_map(counted, [(number, str(mark)) for number in range(8)]))
    assert failed.value.item == (3, str(mark))
    calls = mark.read_text().split()
    assert calls.count("3") == ATTEMPTS
    assert len(calls) - ATTEMPTS == len({*calls} - {"3"}) >= 3


def test_results_and_items_may_be_larger_than_a_pipe_holds() -> None:
    sizes = [1 << 24, 1, 1 << 22]
    with workers.processes(2) as ordered_map:
        assert [len(result) for result in ordered_map(large, sizes)] == sizes
        assert list(ordered_map(len, [bytes(size) for size in sizes])) == sizes


LIMITED = """
import resource, sys, threading
from evaltex_cli.cli import main

class Started(threading.Thread):
    "One of which no more than so many can be started."
    left = int(sys.argv.pop(1))
    def start(self):
        Started.left -= 1
        if Started.left < 0:
            raise RuntimeError("can't start new thread")
        super().start()

if __name__ == "__main__":
    files = int(sys.argv.pop(1))
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    threading.Thread = Started
    main(prog_name="evaltex")
"""


@pytest.mark.no_coverage
@pytest.mark.parametrize(
    ("threads", "files"),
    [(threads, 100) for threads in range(7)]
    + [(100, files) for files in (8, 14, 15, 16, 17, 18, 20)],
)
def test_a_machine_that_starts_no_more_is_reported(here: Path, threads: int, files: int) -> None:
    """Nothing waits for a worker that nobody starts, and whatever dies of it does so in silence."""
    write_boxes()
    Path("limited.py").write_text(LIMITED)
    temporary = here / "tmp"
    temporary.mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "COLUMNS": "1000",
        "TMPDIR": str(temporary),
    }
    environment.pop("EVALTEX_DEBUG", None)
    ended = subprocess.run(
        [sys.executable, "limited.py", str(threads), str(files), "gt.txt", "det.txt", "res", "--jobs", "2", "--quiet"],
        env=environment, capture_output=True, text=True, timeout=HANG_SECONDS, check=False,
    )  # fmt: skip
    assert ended.returncode in (0, 2), ended.stderr
    assert Path("res").exists() == (ended.returncode == 0)
    reported = [line for line in ended.stderr.splitlines() if "warning: " not in line]
    assert ended.returncode == 0 or reported[-1].startswith("evaltex: error: ")
    assert files < 100 or len(reported) == (ended.returncode == 2), (
        ended.stderr
    )  # Python restarts a dead server by itself
    assert not list(here.glob(".evaltex-*"))


def test_threads_give_results_in_order_and_errors() -> None:
    assert list(workers.in_threads(square, [3, 1, 2])) == [9, 1, 4]
    results = workers.in_threads(fail, [1])
    with pytest.raises(InputError):
        next(results)


def test_only_so_much_is_under_way() -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    with workers.processes(2) as ordered_map:
        results = ordered_map(square, items())
        next(results)
        assert len(taken) <= 2 * AHEAD
        assert [next(results) for _ in range(3)] == [1, 4, 9]


def test_a_block_that_is_left_by_an_error_leaves_no_worker() -> None:
    with pytest.raises(ZeroDivisionError), workers.processes(2) as ordered_map:
        next(ordered_map(time.sleep, [0, 60, 60]))
        raise ZeroDivisionError
    assert not left_over()


def test_images_that_kill_workers_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    write_boxes()

    def gives_up(function: object, items: object) -> Iterator[object]:
        raise FailedError(next(iter(items)), "a worker died")  # type: ignore[call-overload]
        yield

    opened = inputs.open_inputs(Path("gt.txt"), Path("det.txt"), InputOptions())
    run = tally.Run(evaluate.load("evaltex"), config.checked("evaltex", {}))
    monkeypatch.setattr(batches, "BATCH_IMAGES", 5)
    with pytest.raises(
        InputError,
        match=r"images 'deep/0/img_0', 'deep/1/img_1', 'deep/2/img_2' and 2 more: given up",
    ):
        evaluate.evaluate_inputs(opened, [run], ordered_map=gives_up)
