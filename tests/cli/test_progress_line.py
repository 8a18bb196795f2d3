"""The line on the terminal while a command works: what it says, where it is
shown, and that it is gone at the end.
"""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from click.testing import CliRunner
from limits import HANG_SECONDS

from evaltex_cli.cli import main, progress_line
from evaltex_cli.runtime import progress
from evaltex_cli.runtime.progress import Phase, current, phase, tracked, within


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    @property
    def seen(self) -> str:
        """What is on the screen now, of the last line."""
        shown = ""
        for part in self.getvalue().rpartition("\n")[2].split("\r"):
            shown = part + shown[len(part) :]
        return shown.rstrip()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    made = Terminal()
    monkeypatch.setattr(progress_line, "AFTER_SECONDS", 0.01)
    monkeypatch.setattr(progress_line, "EVERY_SECONDS", 0.01)
    yield made
    progress_line.end()


def wait_for(text: str, terminal: Terminal) -> None:
    end = time.monotonic() + HANG_SECONDS
    while text not in terminal.seen:
        assert time.monotonic() < end, terminal.getvalue()
        time.sleep(0.005)


@pytest.mark.parametrize(
    ("of_phase", "shown"),
    [
        (None, "working  1:40"),
        (Phase("reading gt.json", began=90), "reading gt.json  0:10"),
        (
            Phase("evaluating", "images", 20000, 5000, began=90),
            "evaluating  25 %  5,000 of 20,000 images  0:30 left",
        ),
        (
            Phase("evaluating", "images", 20000, 1, began=90),
            "evaluating  0 %  1 of 20,000 images  55:33:10 left",
        ),
        (Phase("evaluating", "images", 200, began=90), "evaluating  0 %  0 of 200 images"),
        (
            Phase("evaluating", "images", 2, 3, began=90),
            "evaluating  100 %  2 of 2 images  0:00 left",
        ),
    ],
)
def test_what_it_says(of_phase: Phase | None, shown: str) -> None:
    assert progress_line.text_of(of_phase, now=100, began=0) == shown


def test_the_images_of_a_detector_are_shown() -> None:
    """And count as a part of the detector; one of many is read alone."""
    ranking = Phase("ranking", "detectors", 4, 1, began=80)
    evaluating = Phase("evaluating", "images", 500, 250, began=95)
    shown = "ranking  37 %  1 of 4 detectors  evaluating: 250 of 500 images  0:33 left"
    assert progress_line.text_of(ranking, 100, 0, evaluating) == shown
    with phase("ranking", "detectors", 4) as outer:
        assert within(outer) is None
        with phase("reading"), phase("evaluating", "images", 5) as inner:
            assert (current(), within(outer), within(inner)) == (outer, inner, None)
    assert within(outer) is within(None) is None


def test_the_outermost_phase_with_a_total_is_shown() -> None:
    assert current() is None
    with phase("outer"), phase("known", "files", 5) as known:
        for _ in tracked("abc", "inner", "letters", 3):
            assert current() is known
        with phase("innermost"):
            assert current() is known
    assert current() is None
    with phase("outer"), phase("inner") as inner:
        assert current() is inner


def test_items_are_counted_when_they_are_done() -> None:
    for k, _ in enumerate(tracked("abc", "reading", "letters", 3)):
        assert getattr(current(), "done", None) == k
    assert current() is None


def test_a_phase_that_fails_is_over() -> None:
    with pytest.raises(ValueError, match="bad"), phase("reading"):
        raise ValueError("bad")
    assert current() is None


def test_one_line_rewritten_and_gone_at_the_end(terminal: Terminal) -> None:
    with redirect_stderr(terminal), progress_line.shown(quiet=False):
        with phase("a long label", "images", 10) as one:
            wait_for("a long label  0 %  0 of 10 images", terminal)
            one.done = 5
            wait_for("50 %  5 of 10 images", terminal)
        with phase("short"):
            wait_for("short  0:", terminal)
            assert "label" not in terminal.seen
    assert terminal.seen == ""
    assert "\n" not in terminal.getvalue()


def test_messages_are_on_lines_of_their_own(terminal: Terminal) -> None:
    with redirect_stderr(terminal), progress_line.shown(quiet=False), phase("reading"):
        wait_for("reading", terminal)
        with progress_line.away():
            assert terminal.seen == ""
            terminal.write("evaltex: warning: x\n")
        wait_for("reading", terminal)
    assert "\nevaltex: warning: x\n" in terminal.getvalue().replace("\r", "\n")
    assert terminal.seen == ""


def test_it_fits_the_terminal(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    with redirect_stderr(terminal), progress_line.shown(quiet=False), phase("x" * 200):
        wait_for("x" * 49, terminal)
    assert max(map(len, terminal.getvalue().split("\r"))) == 49


def test_nothing_with_quiet_or_without_a_terminal(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {*threading.enumerate()}  # some may end meanwhile
    with redirect_stderr(terminal), progress_line.shown(quiet=True):
        assert {*threading.enumerate()} <= before
    monkeypatch.setattr(terminal, "isatty", lambda: False)
    with redirect_stderr(terminal), progress_line.shown(quiet=False):
        assert {*threading.enumerate()} <= before
    assert terminal.getvalue() == ""


GT = 'img_1\n100,200\n1,1,"a",f,10,20,30,40\nimg_2\n50,50\n1,1,"b",f,0,0,10,10\n'
DET = 'img_1\n1,"a",10,20,15,40\nimg_2\n1,"b",0,0,10,10\n'
COMMANDS = {
    "gt.txt det.txt res -a --ci 0.5 --report": {
        "reading gt.txt",
        "evaluating",
        "resampling",
        "writing the report",
    },
    "gt.txt det.txt --objects o.csv": {"writing the objects"},
    "gt.zip det.txt": {"reading gt.zip", "evaluating"},
    "compare gt.txt det.txt det.txt": {"evaluating", "resampling"},
    "diagnose gt.txt det.txt": {"evaluating"},
    "report old --gt gt.txt --det det.txt": {"reading evaltex", "evaluating", "writing the report"},
    "validate gt.txt det.txt": {"checking gt.txt", "checking det.txt"},
    "convert gt.txt new.zip --kind gt": {"converting"},
    "merge old merged": {"reading evaltex", "writing evaltex"},
}


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_counts_what_it_does(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gt.txt").write_text(GT)
    Path("det.txt").write_text(DET)
    for before in ("convert gt.txt gt.zip --kind gt", "gt.txt det.txt old -a"):
        assert CliRunner().invoke(main, before.split()).exit_code == 0
    seen: list[Phase] = []
    made = progress.Phase

    def noted(label: str, unit: str = "", total: int = 0) -> Phase:
        seen.append(made(label, unit, total))
        return seen[-1]

    monkeypatch.setattr(progress, "Phase", noted)
    result = CliRunner().invoke(main, line.split())
    assert result.exit_code == 0, result.output
    assert COMMANDS[line] <= {one.label for one in seen if one.total and one.done >= one.total}
    assert "\r" not in result.stderr  # which is no terminal
