"""Runs that are stopped by a signal or an error leave what was there before."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import pytest
from cli_inputs import write_inputs
from click.testing import Result
from command_line import invoke as run
from command_line import tree

from evaltex_cli.cli import run as cli_run
from evaltex_cli.evaluation import evaluate as evaluation
from evaltex_cli.runtime import atomic_output, signals


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in a folder of its own, with gt.txt and det.txt."""
    return write_inputs(tmp_path, monkeypatch)


def thrown(error: BaseException | type[BaseException], *_: Any, **__: Any) -> NoReturn:
    raise error


def made_a_class(number: signal.Signals) -> None:
    """Get a signal while a class is made, of which older Pythons make an error of the class."""
    try:
        signal.raise_signal(number)
    except SystemExit as end:
        raise RuntimeError("Error calling __set_name__ on 'Field'") from end


SIGNALS = [
    (signal.SIGINT, 130, "evaltex: interrupted; {}\n"),
    (signal.SIGTERM, 143, ""),
    (signal.SIGHUP, 129, ""),
]
ERRORS = [
    (partial(thrown, KeyboardInterrupt), 130, "evaltex: interrupted; {}\n"),
    (partial(thrown, MemoryError), 2, "evaltex: error: out of memory; {}\n"),
    (partial(thrown, KeyError("x")), 2, "evaltex: error: internal error (KeyError: 'x'); please"),
]
ENDS = [
    *((partial(signal.raise_signal, number), status, said) for number, status, said in SIGNALS),
    (partial(made_a_class, signal.SIGTERM), 143, ""),
    *ERRORS,
]


def stopped(
    place: str, target: tuple[Any, str], stop: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> Result:
    """Run into a folder, with a stop just after the first call of a function."""
    real = getattr(*target)
    calls = []

    def stopping(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        done = real(*arguments, **options)
        if len(calls) == 1:
            stop()
        return done

    with monkeypatch.context() as patch:
        patch.setattr(*target, stopping)
        result = run("gt.txt", "det.txt", place, "-a", "--set", "det_border=0.2")
    assert calls
    assert "Traceback" not in result.stderr
    return result


@pytest.mark.few_fast(9)
@pytest.mark.parametrize(("stop", "status", "said"), ENDS)
@pytest.mark.parametrize("target", [(evaluation, "scored"), (Path, "write_text")])
@pytest.mark.parametrize("place", ["res", "new/res"])
def test_a_run_that_is_stopped_leaves_earlier_results(
    here: Path,
    place: str,
    target: tuple[Any, str],
    stop: Callable[[], Any],
    status: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run("gt.txt", "det.txt", "res", "-a").exit_code == 0
    before = tree(here)
    result = stopped(place, target, stop, monkeypatch)
    assert result.exit_code == status
    assert result.stderr.startswith(said.format("nothing was written"))
    assert tree(here) == before


@pytest.mark.parametrize(("stop", "status", "said"), ERRORS)
def test_moves_that_fail_are_undone(
    here: Path, stop: Callable[[], Any], status: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("gt.txt", "det.txt", "res", "-a").exit_code == 0
    before = tree(here)
    result = stopped("res", (Path, "rename"), stop, monkeypatch)
    assert result.exit_code == status
    assert result.stderr.startswith(said.format("nothing was written"))
    assert tree(here) == before


@pytest.mark.parametrize(("number", "status", "said"), SIGNALS)
@pytest.mark.parametrize("place", ["res", "new/res"])
def test_a_signal_waits_until_results_are_moved(
    here: Path, place: str, number: int, status: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("gt.txt", "det.txt", "res", "-a").exit_code == 0
    before = tree(here / "res")
    stop = partial(signal.raise_signal, number)
    result = stopped(place, (Path, "rename"), stop, monkeypatch)
    assert (result.exit_code, result.stderr) == (status, said.format(f"{place} is complete"))
    now = tree(here / place)
    assert now.keys() == before.keys()
    assert now != before


def test_all_that_is_complete_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt while the table is printed, which may wait for a pager."""
    monkeypatch.setattr(cli_run, "echo_lines", partial(thrown, KeyboardInterrupt))
    result = run("gt.txt", "det.txt", "res", "--objects", "objects.csv")
    assert result.exit_code == 130
    assert result.stderr == "evaltex: interrupted; objects.csv and res are complete\n"
    assert run("gt.txt", "det.txt").stderr == "evaltex: interrupted; nothing was written\n"


AROUND = {atomic_output.__file__, contextlib.__file__, signals.__file__}
"""Files with the code that stages results, moves them, and removes what is temporary."""


def run_with_a_signal(number: int, moment: int, place: str) -> tuple[bool, Result]:
    """Run into a folder, with a signal when so many functions of these files have returned since
    something temporary is there; return whether so many do, too.
    """
    count = 0

    def count_returns(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        if event in ("return", "c_return") and frame.f_code.co_filename in AROUND:
            count += bool(count) or any(Path().rglob(".evaltex-*"))
            if count == moment:
                sys.setprofile(None)
                signal.raise_signal(number)

    handler = signal.signal(number, lambda *_: None)  # for when the command has put back its own
    sys.setprofile(count_returns)
    try:
        result = run("gt.txt", "det.txt", place)
    finally:
        sys.setprofile(None)
        signal.signal(number, handler)
    return count >= moment, result


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "place"), [(signal.SIGTERM, "res"), (signal.SIGINT, "new/er/res")]
)
def test_a_signal_at_any_moment_leaves_nothing_temporary(
    here: Path, place: str, number: int
) -> None:
    """Where it comes just as a block begins or ends, what is temporary goes with the traceback."""
    Path("res").mkdir()
    before = tree(here)
    assert run("gt.txt", "det.txt", place).exit_code == 0
    complete = tree(here)
    moment, is_under_way, found = 0, True, set()
    while is_under_way:
        shutil.rmtree("res")
        shutil.rmtree("new", ignore_errors=True)
        Path("res").mkdir()
        moment += 1
        is_under_way, result = run_with_a_signal(number, moment, place)
        status, said = result.exit_code, result.stderr
        assert status in (128 + number, 0)
        del result
        if any(here.rglob(".evaltex-*")):
            gc.collect()
        now = tree(here)
        assert now in (before, complete), moment
        assert status or now == complete
        if status == 130:
            assert said == "evaltex: interrupted; " + (
                "nothing was written\n" if now == before else f"{place} is complete\n"
            )
        found.add(now == before)
    assert found == {False, True}
    assert moment > 50


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_does_not_disturb_the_clearing_up(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {
        each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    real = atomic_output._clear

    def disturbed(folder: Path) -> None:
        if any(folder.glob("new/evaltex")):
            for each in before:
                signal.raise_signal(each)
        real(folder)

    monkeypatch.setattr(atomic_output, "_clear", disturbed)
    monkeypatch.setattr(evaluation, "scored", lambda *_: signal.raise_signal(number))
    assert run("gt.txt", "det.txt", "res", "-a").exit_code == 128 + number
    assert list(tree(Path())) == ["det.txt", "gt.txt"]
    assert {each: signal.getsignal(each) for each in before} == before


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize(
    ("moment", "reported"), [("_locked", "nothing was written"), ("_release", "res is complete")]
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_folder_is_taken_or_left(
    number: int, moment: str, reported: str, exists: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if exists:
        Path("res").mkdir()
    real = getattr(atomic_output, moment)

    def interrupted(*arguments: Any) -> Any:
        done = real(*arguments)
        signal.raise_signal(number)
        return done

    monkeypatch.setattr(atomic_output, moment, interrupted)
    result = run("gt.txt", "det.txt", "res")
    assert result.exit_code == 128 + number
    assert result.stderr == (
        f"evaltex: interrupted; {reported}\n" if number == signal.SIGINT else ""
    )
    assert not list(Path().rglob(".evaltex-*"))
    assert Path("res/evaltex.txt").exists() == (moment == "_release")


def test_a_signal_that_is_ignored_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """`nohup` and shells that start something in the background ask for it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        real = evaluation.scored
        monkeypatch.setattr(
            evaluation, "scored", lambda *a: (signal.raise_signal(signal.SIGHUP), real(*a))[1]
        )
        assert run("gt.txt", "det.txt", "res").exit_code == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("module", ["click", "evaltex_cli.cli.evaluate", "threading", "none"])
def test_an_interrupt_before_and_after_the_work_is_silent(module: str) -> None:
    """While modules are imported; when Python ends, only clearing up is left, which goes on."""
    code = (
        "import atexit, signal, sys\nfrom evaltex_cli.__main__ import run\nclass Interrupt:\n   "
        f" def find_spec(self, name, *_):\n        if name == {module!r}:"
        " signal.raise_signal(signal.SIGINT)\nsys.meta_path.insert(0,"
        " Interrupt())\natexit.register(signal.raise_signal, signal.SIGINT)\nsys.argv[1:] ="
        " ['gt.txt', 'det.txt', 'res']\nrun()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == (0 if module == "none" else -signal.SIGINT)
    assert done.stderr == ""
