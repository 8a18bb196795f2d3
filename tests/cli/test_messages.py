"""How messages are laid out: 80 columns, a failed run on 12 lines, the place
of a fault in one piece.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from command_line import invoke as run
from written_files import zipped

from evaltex_cli.cli import main, messages
from evaltex_cli.errors import InputError

COLUMNS_OF_TERMINAL = messages.columns
"""The function itself; in all tests another takes its place."""


@pytest.fixture(autouse=True)
def _eighty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "columns", lambda: 80)


def test_a_place_is_never_cut() -> None:
    place = "a folder of detections/" + "long" * 20 + "/res img 1.txt:12"
    lines = messages.message(
        "error", f"{place}: a word and others that are wrapped at the end of the line, as here"
    )
    assert lines[0] == f"evaltex: error: {place}:"
    assert lines[1].startswith("  a word")
    assert max(map(len, lines[1:])) <= 80


def test_a_sentence_with_a_colon_is_no_place() -> None:
    lines = messages.message(
        "warning", "a sentence of many words that is not short at all, and last a colon: a.txt"
    )
    assert lines == [
        "evaltex: warning: a sentence of many words that is not short at all, and last a",
        "  colon: a.txt",
    ]


def test_equal_faults_once_and_every_one_on_demand(tmp_path: Path) -> None:
    gt = zipped(tmp_path / "gt.zip", {f"gt_img_{k}.txt": "0,0,10,10,word\n" for k in range(30)})
    det = zipped(tmp_path / "det.zip", {f"res_img_{k}.txt": "0,0,10\n" * 2 for k in range(30)})
    failed = run(gt, det, tmp_path / "res", "--det-format", "ltrb")
    assert failed.exit_code == 2
    lines = failed.stderr.splitlines()
    assert len(lines) <= messages.MOST_LINES
    reported = " ".join(failed.stderr.split())
    assert (
        f"{det}/res_img_0.txt:1: 3 numbers at the start of '0,0,10'; expected x0,y0,x1,y1"
        in reported
    )
    assert (
        f"60 such faults in 30 files, also at {det}/res_img_0.txt:2 and {det}/res_img_1.txt:1"
        in reported
    )
    assert f"`evaltex validate {gt} {det}` says more; --all-faults lists every fault" in reported
    every = run(gt, det, tmp_path / "res", "--det-format", "ltrb", "--all-faults")
    places = [word for word in every.stderr.split() if word.startswith(f"{det}/")]
    assert places == [f"{det}/res_img_{k}.txt:{line}:" for k in range(30) for line in (1, 2)]


@pytest.mark.parametrize(
    ("error", "last"), [("word " * 500, "  ..."), ("a line\n" * 500, "(--all-faults shows them)")]
)
def test_no_error_is_longer_than_a_screen(error: str, last: str) -> None:
    lines = messages.of_error(InputError(error))
    assert len(lines) == messages.MOST_LINES
    assert lines[-1].endswith(last)


@pytest.mark.parametrize(("environment", "expected"), [(None, 80), ("120", 120), ("7", 40)])
def test_columns(monkeypatch: pytest.MonkeyPatch, environment: str | None, expected: int) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if environment:
        monkeypatch.setenv("COLUMNS", environment)
    monkeypatch.setattr("os.get_terminal_size", lambda _: (_ for _ in ()).throw(OSError))
    assert COLUMNS_OF_TERMINAL() == expected


def test_wrong_arguments_fit_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaltex_cli.cli.messages.columns", lambda: 80)
    for arguments in (["a", "b", "c", "--protocol", "ious"], ["compare", "--format", "jsonn"]):
        shown = CliRunner().invoke(main, arguments)
        assert shown.exit_code == 2
        assert "did you mean" in " ".join(shown.stderr.split())
        assert max(map(len, shown.stderr.splitlines())) <= 80


def test_names_of_files_cannot_command_a_terminal() -> None:
    shown = "".join(
        messages.message("error", "a\u202eb\x1b[31m\x9b\tc.txt: é 中 is fine\nand\x07 more")
    )
    assert shown.isprintable()
    assert "a\\u202eb\\x1b[31m\\x9b\\tc.txt: é 中 is fine" in shown
    assert "and\\x07 more" in shown
