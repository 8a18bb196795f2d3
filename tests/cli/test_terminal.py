"""Colours, widths and the progress bar of what commands print on a terminal."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path

import pytest
from cli_inputs import write_inputs
from click.testing import CliRunner, Result

from evaltex_cli import evaluate, validate
from evaltex_cli.cli import main, output
from evaltex_cli.results.scores import RunScores
from evaltex_cli.runtime import progress
from evaltex_cli.tables import in_text, text_width

STYLE = "\x1b["
GT = 'img_1\n100,200\n1,1,"a",f,10,20,30,40\nimg_2\n50,50\n1,1,"b",f,0,0,10,10\n'
DET = 'img_2\n1,"",0,0,10,10\nimg_1\n1,"",10,20,15,40\n2,"",60,60,5,5\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_inputs(tmp_path, monkeypatch, GT, DET)


def run(*arguments: str, on_terminal: bool = False, **variables: str | None) -> Result:
    """Run a command; on a terminal, click leaves styles to the command."""
    settings = {"NO_COLOR": None, "TERM": "xterm", "COLUMNS": None} | variables
    runner = CliRunner(env=settings)
    return (
        runner.invoke(main, arguments, color=True)
        if on_terminal
        else runner.invoke(main, arguments)
    )


GATED = ["gt.txt", "det.txt", "res", "--fail-if", "recall<0.999"]


def test_a_pipe_has_colours_only_if_they_are_asked_for() -> None:
    assert STYLE not in run(*GATED).output
    always = run(*GATED, "--color", "always").stdout
    assert "\x1b[31mFAILED\x1b[0m" in always
    assert re.sub(r"\x1b\[\d+m", "", always) == run(*GATED).stdout
    assert STYLE in run(*GATED, "--color", "always", NO_COLOR="1").stdout


def test_warnings_and_errors_have_colours() -> None:
    color = ("--color", "always")
    warned = run("gt.txt", "det.txt", "res", "--ci", *color).stderr
    assert "\x1b[33m\x1b[1mwarning:" in warned
    assert "\x1b[31m\x1b[1merror:" in run("compare", "gt.txt", "det.txt", *color).stderr


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [(["--color", "never"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})],
)
def test_no_colours_on_a_terminal_if_they_are_refused(
    arguments: list[str], variables: dict[str, str]
) -> None:
    assert STYLE in run("gt.txt", "det.txt", "res", "--ci", on_terminal=True).stderr
    found = run("gt.txt", "det.txt", "res", "--ci", *arguments, on_terminal=True, **variables)
    assert STYLE not in found.output


def test_a_file_has_no_colours() -> None:
    result = run(
        "compare", "gt.txt", "det.txt", "det.txt", "--output", "table.txt", "--color", "always"
    )
    assert result.exit_code == 0, result.output
    assert STYLE not in Path("table.txt").read_text(encoding="utf-8")


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
    name = f"{'日本語の検出結果-' * 4}.txt"
    Path(name).write_text(DET)
    evaluations = evaluate(Path("gt.txt"), Path(name), "all")
    shown = RunScores(list(evaluations.values()), {})
    for record in (shown, replace(shown, all_scores=True), validate(Path("gt.txt"), Path(name))):
        assert max(map(text_width, in_text(record.tables(), 80).splitlines())) <= 80


# Progress -----------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def work(terminal: io.StringIO, quiet: bool = False) -> str:
    """What is printed on standard error by work on 2 detectors, of 3 images each."""
    with redirect_stderr(terminal), output.progress_bar(quiet):
        for detector in progress.tracked("ab", "ranking", "detectors", 2):
            for _ in progress.tracked(detector * 3, "evaluating", "images", 3):
                pass
    assert progress.listener is None
    return terminal.getvalue()


def test_the_outermost_work_has_a_bar_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "BAR_AFTER_SECONDS", 0.0)
    shown = work(Terminal())
    assert "ranking (detectors)" in shown
    assert "2/2" in shown
    assert "evaluating" not in shown
    assert shown.endswith("\n")


def test_a_second_phase_of_the_same_name_has_its_own_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "BAR_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(output, "BAR_EVERY_SECONDS", 0.0)
    with redirect_stderr(terminal := Terminal()), output.progress_bar(quiet=False):
        for count in (5, 3):
            for _ in progress.tracked(range(count), "reading", "files", count):
                pass
    assert re.findall(r"(\d)/(\d)", terminal.getvalue().rpartition("5/5")[2])[-1] == ("3", "3")


def test_short_work_a_pipe_and_quiet_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert work(Terminal()) == ""
    monkeypatch.setattr(output, "BAR_AFTER_SECONDS", 0.0)
    assert work(io.StringIO()) == ""
    assert work(Terminal(), quiet=True) == ""


def test_work_that_fails_is_over() -> None:
    with pytest.raises(ValueError, match="bad"), progress.phase("reading", "files", 2):
        raise ValueError("bad")
    heard: list[str] = []
    progress.listener = lambda label, done, total: heard.append(f"{label} {done} {total}")
    try:
        list(progress.tracked("ab", "writing", "files", 2))
    finally:
        progress.listener = None
    assert heard == ["writing (files) 1 2", "writing (files) 2 2"]
