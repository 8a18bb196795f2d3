"""What a shell completes: commands, options, protocols, formats and files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from evaltex_cli.cli import COMMANDS, main
from evaltex_cli.cli.completion import SHELLS
from evaltex_cli.formats import FORMATS

ROOT = Path(__file__).parents[2]


def completed(*words: str) -> list[str]:
    """What the last word may become; kinds of what the shell is to look for
    itself in angle brackets.
    """
    found = ShellComplete(main, {}, "evaltex", "_EVALTEX_COMPLETE").get_completions(
        list(words[:-1]), words[-1]
    )
    return [item.value if item.type == "plain" else f"<{item.type}>" for item in found]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("gt.txt", "det.txt", "data.zip"):
        Path(name).touch()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([""], list(COMMANDS)),
        (["co"], ["compare", "convert", "completion"]),
        (["d"], ["diagnose", "data.zip", "det.txt"]),
        (["gt"], ["<file>"]),
        (["folder/f"], ["<file>"]),
        (["--min"], ["--min-confidence"]),
        (["gt.txt", ""], ["<file>"]),
        (["gt.txt", "det.txt", ""], ["<dir>"]),
        (["gt.txt", "--rep"], ["--report"]),
        (["gt.txt", "--protocol", "POP"], ["popeval"]),
        (["--protocol", "iou,t"], ["iou,tiou", "iou,tedeval"]),
        (["--protocol", "tiou,TI"], []),
        (["gt.txt", "det.txt", "--preset", "ctw"], ["ctw1500"]),
        (["gt.txt", "--gt-format", "coco"], [name for name in FORMATS if name.startswith("coco")]),
        (["gt.txt", "--invalid", ""], ["repair", "drop", "skip", "error"]),
        (["gt.txt", "--format=m"], ["markdown"]),
        (["gt.txt", "--images", ""], ["<dir>"]),
        (["gt.txt", "--baseline", ""], ["<file>"]),
        (["compare", ""], ["<file>"]),
        (["compare", "--wor"], ["--worst"]),
        (["convert", "gt.txt", "out.json", "--to", "pa"], ["paddleocr", "page"]),
        (["help", "mer"], ["merge"]),
        (["completion", ""], list(SHELLS)),
    ],
    ids=" ".join,
)
def test_completions(words: list[str], expected: list[str]) -> None:
    assert sorted(completed(*words)) == sorted(expected)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell(shell: str) -> None:
    found = CliRunner().invoke(main, ["completion", shell])
    assert found.exit_code == 0
    assert f"_EVALTEX_COMPLETE={shell}_complete" in found.stdout
    assert "evaltex" in SHELLS[shell]


SCRIPTS = {
    "bash": """
compopt() { echo option $2; }
COMP_WORDS=(evaltex gt.txt --protocol iou,t); COMP_CWORD=3; _evaltex_completion evaltex
printf "%s\\n" "${COMPREPLY[@]}"; COMPREPLY=()
COMP_WORDS=(evaltex gt.txt det.txt --images ""); COMP_CWORD=4; _evaltex_completion evaltex
""",
    "zsh": """
compadd() { print -l -- $completions; }
_describe() { print -l -- ${completions_with_descriptions%%:*}; }
_path_files() { echo option ${${1/-f/}/-\\//dirnames}; }
words=(evaltex gt.txt --protocol iou,t) CURRENT=4; _evaltex_completion
words=(evaltex gt.txt det.txt --images "") CURRENT=5; _evaltex_completion
""",
    "fish": """
complete --do-complete "evaltex gt.txt --protocol iou,t" | string replace --regex "\\t.*" ""
complete --do-complete "evaltex gt.txt det.txt --images " | string replace "folder/" "option dirnames"\
    | string replace --regex "\\t.*" ""
""",
}
"""Complete two command lines as the shell itself does when Tab is pressed; bash and zsh print what
is added to the line, and what is left to the shell."""
START = {
    "bash": ("bash --norc -c", 'eval "$(evaltex completion bash)"'),
    "zsh": ("zsh -f -c", 'compdef() {}; eval "$(evaltex completion zsh)"'),
    "fish": ("fish --no-config -c", "evaltex completion fish | source"),
}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes(tmp_path: Path, shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell}, which runs the script, is not installed")
    (tmp_path / "folder").mkdir()
    programs = tmp_path.parent / f"{tmp_path.name}-programs"
    programs.mkdir()
    program = programs / "evaltex"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m evaltex_cli "$@"\n')
    program.chmod(0o700)
    command, script = START[shell]
    found = subprocess.run(
        [*command.split(), script + SCRIPTS[shell]],
        capture_output=True,
        text=True,
        check=True,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(programs),
        },
    )
    assert sorted(found.stdout.splitlines()) == ["iou,tedeval", "iou,tiou", "option dirnames"]
    assert found.stderr == ""
