"""Colours, widths and the progress bar of what commands print on a terminal."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import click
import pytest
from cli_inputs import write_inputs
from click.testing import CliRunner, Result

from evaltex_cli import evaluate, validate
from evaltex_cli.cli import main
from evaltex_cli.results.scores import RunScores
from evaltex_cli.runtime import progress
from evaltex_cli.tables import in_text, text_width

STYLE = "\x1b["
GT = 'img_1\n100,200\n1,1,"a",f,10,20,30,40\nimg_2\n50,50\n1,1,"b",f,0,0,10,10\n'
DET = 'img_2\n1,"",0,0,10,10\nimg_1\n1,"",10,20,15,40\n2,"",60,60,5,5\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_inputs(tmp_path, monkeypatch, GT, DET)


GATED = ["gt.txt", "det.txt", "res", "--ci", "--fail-if", "recall<0.999"]


def run(*arguments: str, on_terminal: bool = False, **variables: str | None) -> Result:
    """Run a command; on a terminal, click leaves styles to the command."""
    settings = {"NO_COLOR": None, "TERM": "xterm", "COLUMNS": None} | variables
    return CliRunner(env=settings).invoke(main, arguments, color=on_terminal)


def test_only_a_terminal_has_colours() -> None:
    shown = run(*GATED, on_terminal=True)
    assert "\x1b[31mFAILED\x1b[0m" in shown.stdout
    assert "\x1b[33m\x1b[1mwarning:" in shown.stderr
    assert "\x1b[31m\x1b[1merror:" in run("compare", "gt.txt", "a", on_terminal=True).stderr
    plain = run(*GATED).output
    assert STYLE not in plain
    assert re.sub(r"\x1b\[\d+m", "", shown.output) == plain
    assert run(*GATED, on_terminal=True, NO_COLOR="1").output == plain


def test_all_scores() -> None:
    result = run(
        *["gt.txt", "det.txt", "res", "--all-scores", "--protocol", "evaltex,cleval", "--ci"]
    )
    title, note, *lines = result.stdout.splitlines()
    assert title.endswith("95% confidence intervals: paired permutation test over images")
    assert note.startswith("–: 2 images cannot show a difference")
    assert {"evaltex", "emd_fscore_no_split", "cleval", "splits"} <= {
        line.partition(" ")[0] for line in lines
    }


def test_what_is_printed_fits_the_terminal() -> None:
    name = f"{'日本語の検出結果-' * 3}.txt"
    Path(name).write_text(DET)
    evaluations = evaluate(Path("gt.txt"), Path(name), "all")
    shown = RunScores(list(evaluations.values()))
    for record in (shown, replace(shown, all_scores=True), validate(Path("gt.txt"), Path(name))):
        assert max(map(text_width, in_text(record.tables(), 80).splitlines())) <= 80


# Progress -----------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def work(terminal: io.StringIO) -> str:
    """What is printed by work on 2 detectors, of 3 images each, and by another one."""
    progress.new_bar.set(partial(click.progressbar, show_pos=True, file=terminal))
    try:
        for detector in progress.tracked("ab", "ranking", "detectors", 2):
            for _ in progress.tracked(detector * 3, "evaluating", "images", 3):
                pass
        with pytest.raises(ValueError, match="bad"):
            for _ in progress.tracked("abcd", "writing", "files", 4):
                raise ValueError("bad")
        list(progress.tracked("abc", "reading", "files", 3))
    finally:
        progress.new_bar.set(None)
    return terminal.getvalue()


def test_the_outermost_work_has_a_bar_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "AFTER_SECONDS", 0.0)
    shown = work(Terminal())
    assert "ranking (detectors)" in shown
    assert "2/2" in shown
    assert "evaluating" not in shown
    assert "3/3" in shown.partition("reading (files)")[2]
    assert shown.endswith("\n")


def test_short_work_has_no_bar() -> None:
    assert work(Terminal()) == ""
