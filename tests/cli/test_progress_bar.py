"""The bar on the terminal while a command works, and that nothing else has one."""

from __future__ import annotations

import io
from contextlib import redirect_stderr

import pytest

from evaltex_cli import progress
from evaltex_cli.cli import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def work(terminal: io.StringIO, quiet: bool = False) -> str:
    """What is printed on standard error by work on 2 detectors, of 3 images each."""
    with redirect_stderr(terminal), progress_bar.shown(quiet):
        for detector in progress.tracked("ab", "ranking", "detectors", 2):
            for _ in progress.tracked(detector * 3, "evaluating", "images", 3):
                pass
    assert progress.listener is None
    return terminal.getvalue()


def test_the_outermost_work_has_a_bar_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_bar, "AFTER_SECONDS", 0.0)
    shown = work(Terminal())
    assert "ranking (detectors)" in shown
    assert "2/2" in shown
    assert "evaluating" not in shown
    assert shown.endswith("\n")


def test_short_work_a_pipe_and_quiet_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert work(Terminal()) == ""
    monkeypatch.setattr(progress_bar, "AFTER_SECONDS", 0.0)
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
