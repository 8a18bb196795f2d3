"""The tutorial on cleaning a test set: its commands run, and print its figures."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command_line import run
from shared_data import DATA, needs

ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs" / "tutorial-clean-a-test-set.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    found: list[str] = re.findall(rf"```{language}\n(.*?)\n```", TUTORIAL, re.DOTALL)
    return found


@pytest.mark.slow
@needs("data/ctw1500")
def test_its_commands_print_its_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ctw1500").symlink_to(DATA / "ctw1500")
    audit, convert, *ranks = (
        shlex.split(line.removeprefix("evaltex "))
        for block in blocks("sh")
        for line in block.splitlines()
    )
    printed, gains = blocks("text")
    output = iter([line.split() for line in run(*audit).output.splitlines()])
    for line in printed.splitlines():
        assert line == "..." or line.split() in output, line  # in this order
    (accept,) = blocks("python")
    exec(compile(accept, "tutorial", "exec"), {})
    assert "500 images, 3147 objects" in run(*convert).output
    before, after = (
        re.findall(r"^(\S+) +(0\.\d+) +\[.*\] +(\d) +\S+ +(\w+)$", found, re.MULTILINE)
        for found in (run(*rank, "--resamples", "200").output for rank in ranks)
    )
    rows = [line.split()[1:] for line in gains.splitlines()[1:]]
    assert [row[:2] for row in rows] == [
        [old[1], new[1]] for old, new in zip(before, after, strict=True)
    ]
    assert all(f"{float(new) - float(old):.4f}" == gain for old, new, gain in rows)
    assert [row[::2] for row in before] == [row[::2] for row in after]
