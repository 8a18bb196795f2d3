"""What every command promises: its help, its examples, its documents, and what a shell completes."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from evaltex_cli.cli import COMMANDS, EVALUATE, SUMMARIES, main
from evaltex_cli.formats import FORMATS
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.presets import PRESETS
from evaltex_cli.version import __version__

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
NAMES = (EVALUATE, *COMMANDS)


def run(*arguments: str, status: int = 0) -> Result:
    result = CliRunner().invoke(main, arguments, prog_name="evaltex")
    assert result.exit_code == status, result.output
    return result


def command(name: str) -> click.Command:
    found = main.get_command(click.Context(main), name)
    assert found is not None
    return found


def examples_of(name: str) -> list[str]:
    """The command lines at the end of a help page."""
    page = run(*([] if name == EVALUATE else [name]), "--help").stdout
    return [line.strip() for line in page.partition("Examples:\n")[2].splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_help_names_every_option_and_has_examples(name: str) -> None:
    page = run(*([] if name == EVALUATE else [name]), "--help").stdout
    assert page.startswith("Usage: evaltex")
    for option in command(name).params:
        if isinstance(option, click.Option):
            assert option.help
            assert all(f" {known}" in page for known in (*option.opts, *option.secondary_opts))
    assert 1 <= len(examples_of(name)) <= 3
    assert all(option in page for option in ("-q, --quiet", "-V, --version"))
    assert ("-o, --output" in page) == (name not in ("convert", "toys"))
    assert ("--format" in page) == (name not in ("convert", "toys", "report"))
    for option in ("-V", "--version"):
        assert run(name, option).stdout == f"evaltex {__version__}\n"


def test_the_main_page_names_all_commands_and_no_command_all_formats() -> None:
    page = run("--help").stdout
    assert page == run().stdout == run("-h").stdout
    assert all(f"\n  {name}" in page and SUMMARIES[name] in page for name in COMMANDS)
    assert "hiertext" not in page


def test_formats_protocols_and_presets_are_listed() -> None:
    protocols = json.loads(run("protocols", "--format", "json").stdout)
    assert list(protocols["protocols"]) == list(PROTOCOLS)
    assert list(protocols["presets"]) == list(PRESETS)
    formats = json.loads(run("formats", "--format", "json").stdout)["formats"]
    assert list(formats) == list(FORMATS)
    for name, known in (("formats", FORMATS), ("protocols", {**PROTOCOLS, **PRESETS})):
        lines = run(name).stdout.splitlines()
        assert max(map(len, lines)) <= 80
        assert set(known) <= {line.split()[0] for line in lines if line.strip()}


def test_the_examples_of_the_pages_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the pages, in one folder with the files that they name."""
    monkeypatch.chdir(tmp_path)
    for name in ("gt.txt", "det.txt"):
        shutil.copy(EXAMPLES / "words" / name, name)
        shutil.copy(EXAMPLES / "icdar" / Path(name).with_suffix(".zip"), ".")
    shutil.copy("det.txt", "other.txt")
    Path("pictures").symlink_to(EXAMPLES / "pictures")
    Path("board.toml").write_text(
        "[datasets.words]\ngt = 'gt.txt'\n"
        "[detectors.A]\nwords = 'det.txt'\n[detectors.B]\nwords = 'other.txt'\n"
    )
    Path("gt-more.txt").write_text('img_99\n9,9\n1,1,"a",f,1,1,5,5\n')
    Path("det-more.txt").write_text("img_99\n")
    for inputs in (
        ["gt.txt", "det.txt", "results-other"],
        ["gt-more.txt", "det-more.txt", "results-more"],
    ):
        run(*inputs, "-a", "--protocol", "iou,tiou", "--quiet")
    for name in NAMES:
        for example in examples_of(name):
            program, *arguments = shlex.split(example)
            assert program == "evaltex"
            printed = run(*arguments).stdout
            if "json" in arguments:
                json.loads(printed)
    assert {"results", "words.txt", "pages.zip", "report.html", "merged", "toys"} <= set(
        os.listdir()
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["co"], ["compare", "convert"]),
        (["gt"], ["<file>"]),
        (["gt.txt", "--min"], ["--min-confidence"]),
        (["gt.txt", "det.txt", ""], ["<dir>"]),
        (["gt.txt", "--protocol", "POP"], ["popeval"]),
        (["gt.txt", "det.txt", "--preset", "ctw"], ["ctw1500"]),
        (["compare", "--wor"], ["--worst"]),
        (["convert", "gt.txt", "out.json", "--to", "pa"], ["paddleocr", "page"]),
    ],
    ids=" ".join,
)
def test_a_shell_completes(words: list[str], expected: list[str]) -> None:
    found = ShellComplete(main, {}, "evaltex", "_EVALTEX_COMPLETE").get_completions(
        words[:-1], words[-1]
    )
    shown = [item.value if item.type == "plain" else f"<{item.type}>" for item in found]
    assert sorted(shown) == sorted(expected)


def test_the_documented_script_completes_in_bash(tmp_path: Path) -> None:
    program = tmp_path / "evaltex"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m evaltex_cli "$@"\n')
    program.chmod(0o700)
    script = (
        'eval "$(_EVALTEX_COMPLETE=bash_source evaltex)"\n'
        "COMP_WORDS=(evaltex val); COMP_CWORD=1; _evaltex_completion evaltex\n"
        'echo "${COMPREPLY[@]}"'
    )
    path = f"{tmp_path}:{os.environ['PATH']}"
    found = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PATH": path},
    )
    assert found.stdout == "validate\n"
