"""Whoever does the work, and however it is cut, the results are the same
bytes; who dies at it is replaced.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from limits import HANG_SECONDS, wait_for
from PIL import Image

from evaltex_cli.cli import main
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation import batches, evaluate, inputs, tally
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import config
from evaltex_cli.runtime import (
    AHEAD,
    ATTEMPTS,
    FailedError,
    dask_cluster,
    worker_server,
    workers,
)

IMAGES = 60


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_boxes(polygons: bool = False, images: int = IMAGES) -> list[str]:
    """EvaLTex files of images in different order, some without detections;
    every third object is a polygon, if any.
    """
    generator = np.random.default_rng(3)
    gt, det = [], []
    for k in range(images):
        name = f"deep/{k % 4}/img_{k}"
        lines: tuple[list[str], list[str]] = ([], [])
        for i in range(1, int(generator.integers(1, 6)) + 1):
            x, y, w, h = generator.integers(1, 90, 4).tolist()
            places = [f"{x},{y},{w},{h}", f"{x + 2},{y},{w},{h}"]
            if polygons and i % 3 == 0:
                places = [f"{x},{y},{x + w},{y},{x + w},{y + h},{x},{y + h + 1}"] * 2
            lines[0].append(f'{i},{i},"{"" if k % 7 == 0 else "word"}",f,{places[0]}')
            lines[1].append(f'{i},"word",{places[1]}')
        gt.append("\n".join([name, "200,200", *lines[0]]))
        if k % 5:
            det.append("\n".join([name, *lines[1]]))
    Path("gt.txt").write_text("\n".join(gt) + "\n")
    Path("det.txt").write_text("\n".join(det[::-1]) + "\n")
    return ["gt.txt", "det.txt"]


def write_folders() -> list[str]:
    for side, ending in (("gt", ",word"), ("det", "")):
        Path(side).mkdir()
        for k in range(IMAGES):
            Path(side, f"{side}_img_{k}.txt".replace("det_", "res_")).write_text(
                f"{k},0,{k + 30},20{ending}\n"
            )
    return ["gt", "det"]


def write_masks() -> list[str]:
    arguments = write_boxes(images=12)
    for side in ("gt", "det"):
        for block in Path(f"{side}.txt").read_text().split("deep/")[1:]:
            lines = block.split("\n")
            labels = np.zeros((200, 200), np.uint8)
            for line in lines:
                if '"' in line:
                    x, y, w, h = map(int, line.split(",")[-4:])
                    labels[y : y + h, x : x + w] = int(line.split(",")[0])
            text = Path(f"{side}.txt").read_text()
            path = Path(side, "deep", f"{lines[0]}.png")
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(labels).save(path)
            present = [
                line
                for line in lines
                if '"' in line and not (labels == int(line.split(",")[0])).any()
            ]
            for line in present:  # wholly covered by later ones
                text = text.replace(
                    f"deep/{block}", "deep/" + block.replace(line + "\n", "").replace(line, "")
                )
            Path(f"{side}.txt").write_text(text)
    return [*arguments, "res", "gt", "det"]


def outcome(*arguments: str, expected: int = 0) -> dict[str, bytes]:
    """Run into ``res``, and return what was written and printed."""
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == expected, result.output
    written = {
        str(path): path.read_bytes() for path in sorted(Path("res").rglob("*")) if path.is_file()
    }
    return written | {"stdout": result.stdout.encode(), "stderr": result.stderr.encode()}


def arguments_for(kind: str) -> list[str]:
    if kind == "masks":
        return [*write_masks(), "-a"]
    if kind == "folders":
        return [*write_folders(), "res", "-a", "--protocol", "iou", "--protocol", "deteval", "--ci"]
    every = ["--protocol", "cleval", "--protocol", "tedeval", "--protocol", "evaltex", "--plots"]
    return [*write_boxes(polygons=kind == "polygons"), "res", "-a", *every]


@pytest.mark.parametrize("kind", ["boxes", "polygons", "folders", "masks"])
def test_chunks_of_any_size_give_the_same_bytes(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = arguments_for(kind)
    whole = outcome(*arguments)
    assert any(name.endswith(".txt") and "img_" in name for name in whole)
    for images in (1, 7):
        monkeypatch.setattr(batches, "BATCH_IMAGES", images)
        monkeypatch.setattr(batches, "MASK_BATCH_IMAGES", images)
        assert outcome(*arguments) == whole


@pytest.mark.parametrize(("kind", "count"), [("polygons", 2), ("folders", 3), ("masks", 2)])
def test_any_number_of_jobs_gives_the_same_bytes(
    kind: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = arguments_for(kind)
    alone = outcome(*arguments)
    monkeypatch.setattr(batches, "BATCH_IMAGES", 5)
    monkeypatch.setattr(batches, "MASK_BATCH_IMAGES", 5)
    assert outcome(*arguments, "--jobs", str(count)) == alone


@pytest.mark.parametrize("kind", ["boxes", "masks"])
def test_workers_import_what_decodes_pictures_where_there_are_any(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    preloaded: list[str] = []
    monkeypatch.setattr(worker_server, "prepare", lambda modules, **_: preloaded.extend(modules))
    monkeypatch.setattr(workers, "processes", lambda jobs: nullcontext(map))
    outcome(*arguments_for(kind), "--jobs", "2")
    assert ("evaltex_cli.formats.label_images" in preloaded) == (kind == "masks")


def test_faults_found_by_workers_are_reported_as_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, in the same order; equal ones once, unless each is asked for."""
    write_boxes()
    broken = Path("det.txt").read_text().replace('"word"', '"word')
    Path("det.txt").write_text(broken)
    monkeypatch.setattr(batches, "BATCH_IMAGES", 9)
    alone = outcome("gt.txt", "det.txt", "res", "-a", expected=2)
    assert outcome("gt.txt", "det.txt", "res", "-a", "--jobs", "2", expected=2) == alone
    assert (
        alone["stderr"].count(b"\n") == 3 and b" such faults, also at det.txt:" in alone["stderr"]
    )
    each = outcome("gt.txt", "det.txt", "res", "-a", "--all-faults", expected=2)
    assert (
        outcome("gt.txt", "det.txt", "res", "-a", "--all-faults", "--jobs", "2", expected=2) == each
    )
    assert each["stderr"].count(b"\n") == broken.count('"word')
    assert not Path("res").exists()


# Workers that die ---------------------------------------------------------------------------------


def square(number: int) -> int:
    return number * number


def die_once(item: tuple[int, str]) -> int:
    """Die at 3, unless somebody has died already."""
    number, mark = item
    if number == 3 and not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return square(number)


def always_die(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return square(number)


def counted(item: tuple[int, str]) -> int:
    """Die at 3, and leave a line for every call."""
    number, mark = item
    with Path(mark).open("a") as file:
        file.write(f"{number}\n")
    return always_die(number)


def without_memory(number: int) -> int:
    raise MemoryError


def large(number: int) -> bytes:
    return bytes(number)


def fail(number: int) -> int:
    raise InputError(f"{number} is wrong")


def failing_disk(number: int) -> int:
    raise OSError(5, "Input/output error")


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


@pytest.mark.parametrize("kind", ["small", "large", "packed"])
def test_a_worker_indexes_detections_that_are_small_text(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Meanwhile this process indexes the ground truth, and everything else."""
    paths = [Path(name) for name in write_boxes()]
    if kind == "packed":
        for path in paths:
            path.write_bytes(gzip.compress(path.read_bytes()))
    if kind == "large":
        monkeypatch.setattr(inputs, "SENT_BYTES", paths[1].stat().st_size - 1)
    sent = []

    def noted(function: Callable[[Any], Any], items: Iterable[Any], /) -> Iterator[Any]:
        sent.extend(item[0] for item in items)
        return map(function, items)

    opened = inputs.open_inputs(*paths, InputOptions(), noted)
    assert sent == (paths[1:] if kind == "small" else [])
    assert (len(opened.gt.names), len(opened.det.names), opened.faults.count) == (
        IMAGES,
        IMAGES * 4 // 5,
        0,
    )


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


# A whole run that is stopped ----------------------------------------------------------------------


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

KILLED = """
import os, signal
from evaltex_cli.evaluation.resume import JournalFile
add, left = JournalFile.add, [{chunks}]
def mortal(*given):
    add(*given)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
JournalFile.add = mortal
"""
"""Makes a run end itself when its journal has so many chunks."""


def began(*arguments: str, changed: str = "") -> subprocess.Popen[str]:
    """Start a run of small chunks, changed by this code."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "COLUMNS": "1000"}
    lines = changed + (
        "from evaltex_cli import cli\nfrom evaltex_cli.evaluation import batches\n"
        "batches.BATCH_IMAGES = 20\ncli.main(prog_name='evaltex')\n"
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
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


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


# Going on from a journal --------------------------------------------------------------------------


@pytest.mark.parametrize("chunks", [0, 3, 15])
def test_a_killed_run_goes_on_to_the_same_bytes(chunks: int) -> None:
    write_boxes(polygons=True, images=500)
    arguments = [
        "gt.txt",
        "det.txt",
        "res",
        "-a",
        "--resume",
        "--quiet",
        "--protocol",
        "cleval",
        "--ci",
    ]
    process = began(*arguments, changed=KILLED.format(chunks=chunks + 1))
    journals = lambda: list(Path().glob(".evaltex-resume-*"))  # noqa: E731
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    lines = journals()[0].read_bytes()
    assert not Path("res").exists()
    second = began(*arguments)
    _, reported = second.communicate()
    assert second.returncode == 0, reported
    assert not journals() and len(lines.split(b"\n")) > chunks
    resumed = {path.name: path.read_bytes() for path in Path("res").rglob("*") if path.is_file()}
    outcome(*arguments)
    assert {
        path.name: path.read_bytes() for path in Path("res").rglob("*") if path.is_file()
    } == resumed


def journal_of_an_unfinished_run(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> Path:
    """A run that is interrupted after three chunks."""
    monkeypatch.setattr(batches, "BATCH_IMAGES", 10)
    measure, calls = batches.measure, []

    def interrupted(*given: object) -> object:
        calls.append(1)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return measure(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(batches, "measure", interrupted)
    outcome(*arguments, expected=130)
    monkeypatch.setattr(batches, "measure", measure)
    (journal,) = Path().glob(".evaltex-resume-*")
    return journal


def test_what_is_done_is_not_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = [*write_boxes(), "res", "-a", "--resume"]
    journal = journal_of_an_unfinished_run(monkeypatch, arguments)
    assert journal.read_bytes().count(b"\n") == 4
    journal.write_bytes(
        journal.read_bytes() + b'{"chunk": [30, 40], "gt": [1'
    )  # killed within a line
    measure, starts = batches.measure, []

    def counted(*given: object) -> object:
        starts.append(given[-1].names[0])  # type: ignore[attr-defined]
        return measure(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(batches, "measure", counted)
    resumed = outcome(*arguments)
    assert starts == ["deep/2/img_30", "deep/0/img_40", "deep/2/img_50"]
    assert outcome(*arguments[:-1]) == resumed
    assert not journal.exists()


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda arguments: arguments[:-1], "results"),
        (lambda arguments: [*arguments, "--set", "det_border=0.02"], "signatures"),
        (lambda arguments: (Path("det.txt").write_text("") and arguments) or arguments, "det"),
    ],
)
def test_another_run_does_not_go_on_from_a_journal(
    change: Callable[[list[str]], list[str]], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = [*write_boxes(), "res", "--resume", "-a"]
    journal = journal_of_an_unfinished_run(monkeypatch, arguments)
    before = journal.read_bytes()
    reported = outcome(*change(arguments), expected=2)["stderr"].decode()
    assert f"differs from this one in {what};" in reported and str(journal) in reported
    assert journal.read_bytes() == before


FORGERIES: dict[str, Callable[[Path], object]] = {
    "of another user": lambda journal: os.chown(journal, 12345, -1),
    "others may write": lambda journal: journal.chmod(0o602),
    "a group may write": lambda journal: journal.chmod(0o620),
    "a link": lambda journal: journal.symlink_to(journal.rename("elsewhere")),
    "linked": lambda journal: Path("elsewhere").hardlink_to(journal),
    "a pipe": lambda journal: (journal.unlink(), os.mkfifo(journal)),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_a_journal_that_others_may_have_written_is_refused(
    forge: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = [*write_boxes(), "res", "--resume"]
    journal = journal_of_an_unfinished_run(monkeypatch, arguments)
    try:
        forge(journal)
    except PermissionError:
        pytest.skip("only root gives files away")
    assert str(journal) in outcome(*arguments, expected=2)["stderr"].decode()
    assert os.path.lexists(journal)
    assert not Path("res").exists()


def test_faults_leave_no_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The input must change, so nothing could go on from it."""
    write_boxes()
    with Path("det.txt").open("a") as file:
        file.write("1,x\n")
    monkeypatch.setattr(batches, "BATCH_IMAGES", 10)
    outcome("gt.txt", "det.txt", "res", "--resume", expected=2)
    assert not list(Path().glob(".evaltex-*"))


# A cluster ----------------------------------------------------------------------------------------


def test_a_cluster_gives_the_same_bytes() -> None:
    distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
    arguments = arguments_for("polygons")
    alone = outcome(*arguments)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, dashboard_address="127.0.0.1:0"
    ) as local:
        assert outcome(*arguments, "--cluster", local.scheduler_address) == alone
        there = local.scheduler_address
        reported = outcome("gt.txt", "missing.txt", "res", "--cluster", there, expected=2)["stderr"]
        assert b"missing.txt" in reported
        Path("gt.txt.gz").write_bytes(gzip.compress(Path("gt.txt").read_bytes()))
        reported = outcome("gt.txt.gz", "det.txt", "res", "--cluster", there, expected=2)["stderr"]
        assert b"packed by gzip" in reported


def test_a_cluster_gives_the_same_sweep_and_ranking() -> None:
    distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
    made = random.Random(0)
    for folder in ("gt", "one", "two"):
        Path(folder).mkdir()
    for k in range(30):
        boxes = [(70 * n, made.randrange(40)) for n in range(5)]
        Path("gt", f"{k}.txt").write_text(
            "".join(f"{x},{y},{x + 60},{y + 20},word\n" for x, y in boxes)
        )
        for folder in ("one", "two"):
            moved = ((x + made.randrange(60), y, x + 60, y + 20) for x, y in boxes)
            lines = (f"{','.join(map(str, box))},{made.random():.2f}\n" for box in moved)
            Path(folder, f"{k}.txt").write_text("".join(lines))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as local:
        for command in (
            ("sweep", "gt", "one", "--protocol", "iou,deteval,cleval"),
            ("rank", "gt", "one", "two", "--protocol", "iou,evaltex"),
        ):
            alone = CliRunner().invoke(main, [*command, "--format", "json"])
            there = CliRunner().invoke(
                main, [*command, "--format", "json", "--cluster", local.scheduler_address]
            )
            assert (alone.exit_code, there.exit_code) == (0, 0), there.output
            assert there.output == alone.output


def work_or_fail(number: int) -> int:
    if number == 3:
        raise TypeError("of the work")
    return square(number)


def test_a_scheduler_that_is_lost_is_not_waited_for() -> None:
    distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as local:
        address = local.scheduler_address
        lost = rf"cluster {address}: its scheduler was lost"
        with pytest.raises(InputError, match=lost), dask_cluster.workers_of(address) as ordered_map:
            found = ordered_map(square, range(10))
            assert [next(found) for _ in range(3)] == [0, 1, 4]
            with pytest.raises(TypeError, match="of the work"):
                list(ordered_map(work_or_fail, range(10)))
            found = ordered_map(time.sleep, [0, 600])
            next(found)
            local.close()
            next(found)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "tls://127.0.0.1:9", "nowhere"])
def test_a_cluster_that_is_not_there_is_reported(address: str) -> None:
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    write_boxes()
    process = began("gt.txt", "det.txt", "res", "--cluster", address)
    reported = process.communicate(timeout=HANG_SECONDS)[1]
    assert process.returncode == 2
    assert reported.startswith(f"evaltex: error: cluster {address}: cannot be reached")
    assert reported.count("\n") == 1


def test_jobs_and_cluster_exclude_each_other() -> None:
    assert (
        b"exclude each other"
        in outcome("g", "d", "res", "--jobs", "2", "--cluster", "tcp://x", expected=2)["stderr"]
    )


def test_the_results_do_not_depend_on_the_jobs() -> None:
    outcome(*write_boxes(), "res", "--jobs", "2")
    assert "jobs" not in json.loads(Path("res/evaltex.json").read_text())
