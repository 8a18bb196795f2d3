"""Runs that are stopped by a signal or an error leave what was there before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_inputs import write_inputs
from command_line import invoke as run
from command_line import tree

from evaltex_cli.evaluation import evaluate as evaluation
from evaltex_cli.runtime import atomic_output


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in a folder of its own, with gt.txt and det.txt."""
    return write_inputs(tmp_path, monkeypatch)


def made_a_class(number: signal.Signals) -> None:
    """Get a signal while a class is made, of which older Pythons make an error of the class."""
    try:
        signal.raise_signal(number)
    except SystemExit as end:
        raise RuntimeError("Error calling __set_name__ on 'Field'") from end


@pytest.mark.few_fast(9)
@pytest.mark.parametrize(
    ("stop", "status", "message"),
    [
        (
            lambda: (_ for _ in ()).throw(KeyboardInterrupt),
            130,
            "evaltex: interrupted; nothing was written\n",
        ),
        (
            lambda: signal.raise_signal(signal.SIGINT),
            130,
            "evaltex: interrupted; nothing was written\n",
        ),
        (lambda: signal.raise_signal(signal.SIGTERM), 143, ""),
        (lambda: signal.raise_signal(signal.SIGHUP), 129, ""),
        (
            lambda: (_ for _ in ()).throw(MemoryError),
            2,
            "evaltex: error: out of memory; nothing was written\n",
        ),
        (lambda: made_a_class(signal.SIGTERM), 143, ""),
        (lambda: {}["x"], 2, "evaltex: error: internal error (KeyError: 'x'); please report it"),
    ],
    ids=["interrupt", "SIGINT", "SIGTERM", "SIGHUP", "memory", "in a class", "bug"],
)
@pytest.mark.parametrize("moment", ["measuring", "writing", "moving"])
@pytest.mark.parametrize("place", ["res", "new/res"])
def test_a_run_that_is_stopped_leaves_earlier_results(
    here: Path,
    place: str,
    moment: str,
    stop: Callable[[], Any],
    status: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run("gt.txt", "det.txt", "res", "-a").exit_code == 0
    before = tree(here)
    target, name = {
        "measuring": (evaluation, "scored"),
        "writing": (Path, "write_text"),
        "moving": (Path, "rename"),
    }[moment]
    real = getattr(target, name)
    calls = []

    def stopping(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        done = real(*arguments, **options)
        if len(calls) == 1:
            stop()
        return done

    monkeypatch.setattr(target, name, stopping)
    result = run("gt.txt", "det.txt", place, "-a", "--set", "det_border=0.2")
    monkeypatch.undo()
    assert calls
    assert result.exit_code == status
    assert result.stderr.startswith(message)
    assert "Traceback" not in result.stderr
    if (place, moment) != ("new/res", "moving"):  # whose one move is the last thing done
        os.chdir(here)
        assert tree(here) == before


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
    ("moment", "reported"), [("_locked", "nothing was written"), ("_remove", "res is complete")]
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
    assert Path("res/evaltex.txt").exists() == (moment == "_remove")


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


@pytest.mark.no_coverage
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
