"""The commands of docs/reproduce.md and other pages run, and print what the page shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command_line import run
from shared_data import DATA, needs

ROOT = Path(__file__).parents[2]
STEP = re.compile(r"```sh\nevaltex ([^\n]*)\n```\n(?:\n```text\n(.*?)```)?", re.DOTALL)


def steps_of(page: str) -> list[tuple[str, str]]:
    """Commands of a page, each with what it shows below."""
    return STEP.findall((ROOT / "docs" / page).read_text("utf-8"))


STEPS = steps_of("reproduce.md")
OF_DATA_SET = [step for step in STEPS if "tiou/" in step[0]]
OF_EXAMPLES = [step for step in STEPS if step not in OF_DATA_SET]


def test_steps_are_of_both() -> None:
    shown = [printed for _, printed in STEPS if printed]
    assert (len(OF_DATA_SET), len(OF_EXAMPLES), len(shown)) == (2, 4, 4)


def run_all(steps: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for command, printed in steps:
        result = run(*shlex.split(command))
        if printed:
            assert result.stdout == printed


def test_steps_on_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    run_all(OF_EXAMPLES, monkeypatch)
    assert "dont_care:drop" in (tmp_path / "reproduced" / "iou.json").read_text("utf-8")


@pytest.mark.parametrize("page", ["diagnose.md", "reconcile.md", "sweep.md"])
def test_the_first_command_of_a_page(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    first = steps_of(page)[0]
    assert first[1]
    run_all([first], monkeypatch)


@needs("data/ctw1500/CTD.zip")
def test_steps_on_ctw1500(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the names that the files have where they are published."""
    (tmp_path / "tiou").mkdir()
    for name, file in (("ctw1500-gt.zip", "gt.zip"), ("det_ctw1500.zip", "CTD.zip")):
        (tmp_path / "tiou" / name).symlink_to(DATA / "ctw1500" / file)
    monkeypatch.chdir(tmp_path)
    run_all(OF_DATA_SET, monkeypatch)
