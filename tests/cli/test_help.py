"""The help pages: their size, their words, and that what they show can be run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from evaltex_cli.cli import COMMANDS, EVALUATE, SUMMARIES, main
from evaltex_cli.cli.pages import MOST_ROWS, RARE, SECTIONS, Command, longest, metavar_of
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.version import __version__

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = (EVALUATE, *COMMANDS)
METAVARS = {
    "",
    "N",
    "[N]",
    "N,...",
    "PATH",
    "NAME",
    "NAME,...",
    "FORMAT",
    "KEY=VALUE",
    "TEXT",
    "EXPR",
    "ADDRESS",
}
ARGUMENTS = {
    "GT",
    "DET",
    "RES_DIR",
    "GT_IMG_DIR",
    "BOARD",
    "DET_IMG_DIR",
    "SRC",
    "DST",
    "OUT_DIR",
    "RESULT",
    "COMMAND",
    "SHELL",
}


def shown(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments, prog_name="evaltex")
    assert result.exit_code == 0, result.output
    return result.stdout


def command(name: str) -> Command:
    found = main.get_command(click.Context(main), name)
    assert isinstance(found, Command)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_page_fits_60_rows_and_80_columns(name: str) -> None:
    page = shown(*([] if name == EVALUATE else [name]), "--help")
    assert len(page.splitlines()) <= MOST_ROWS == 60
    for every in (page, shown("help", *([] if name == EVALUATE else [name]), "--all")):
        assert max(map(len, every.splitlines())) <= 80
        assert "..." not in re.sub(r"[,A-Z]\.\.\.", "", every), "a line is cut"


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_in_a_group_and_has_a_help_and_a_known_metavar(name: str) -> None:
    given = command(name)
    options = [
        param for param in given.params if isinstance(param, click.Option) and not param.hidden
    ]
    known = {option for names in SECTIONS.values() for option in names}
    page = shown("help", *([] if name == EVALUATE else [name]), "--all")
    for option in options:
        assert longest(option) in known
        assert option.help
        assert option.help.endswith((".", "]")), option.help
        assert metavar_of(option) in METAVARS
        assert any(one in page for one in (*option.opts, *option.secondary_opts))
    arguments = [param for param in given.params if isinstance(param, click.Argument)]
    words = {
        word
        for one in arguments
        for word in re.findall(r"\w+", one.make_metavar(click.Context(given)))
    }
    assert words <= ARGUMENTS


def test_no_group_names_an_option_that_is_gone() -> None:
    used = {
        longest(param)
        for name in NAMES
        for param in command(name).params
        if isinstance(param, click.Option)
    }
    assert {option for names in SECTIONS.values() for option in names} <= used | {"--help"}
    assert used >= RARE


def test_the_page_of_all_options_has_those_that_the_first_leaves_out() -> None:
    first, full = shown("--help"), shown("help", "--all")
    assert "`evaltex help --all` shows more options" in first
    for option in ("--config", "--cluster", "--resamples", "--max-pixels"):
        assert option not in first
        assert f"\n  {option} " in full


def test_the_main_page_names_all_commands_and_no_command_the_whole_list_of_formats() -> None:
    page = shown("--help")
    for name in COMMANDS:
        assert f"\n  {name} " in page
        assert SUMMARIES[name] in page
        assert shown(name, "--help") == shown("help", name)
    assert "hiertext" not in page
    assert shown("help") == page == shown()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("option", ["-V", "--version"])
def test_every_command_has_a_version(name: str, option: str) -> None:
    assert shown(name, option) == f"evaltex {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [[], ["--help"], ["help", "--all"], ["compare", "--help"], ["diagnose", "-V"]]
)
def test_help_imports_no_package_but_click(arguments: list[str]) -> None:
    code = (
        "import sys, click, click.testing; given = set(sys.modules)\n"
        "from evaltex_cli.cli import main\n"
        f"assert click.testing.CliRunner().invoke(main, {arguments!r}).exit_code == 0\n"
        "added = {name.split('.')[0] for name in set(sys.modules) - given} -"
        " set(sys.stdlib_module_names)\n"
        "assert added <= {'click', 'evaltex_cli'}, added\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=EXAMPLES.parent,
    )
    assert done.returncode == 0, done.stderr


def test_formats_and_protocols_are_listed_in_one_line_each() -> None:
    for name in ("formats", "protocols"):
        lines = shown(name).splitlines()
        assert max(map(len, lines)) <= 80
        assert "docs/" in lines[0]
    for name in PROTOCOLS:
        assert (EXAMPLES.parent / "docs" / "protocols" / f"{name}.md").is_file()


@pytest.mark.parametrize("name", ["cmpare", "COMPARE", "compare"])
def test_help_of_a_misspelt_command(name: str) -> None:
    result = CliRunner().invoke(main, ["help", name], prog_name="evaltex")
    if name == "cmpare":
        assert result.exit_code == 2
        assert (
            "unknown command 'cmpare' (did you mean 'compare'?); expected validate, "
            in result.stderr
        )
    else:
        assert result.stdout.startswith("Usage: evaltex compare [OPTIONS]")


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
        shown(*inputs, "-a", "--protocol", "iou,tiou", "--quiet")
    for name in [name for name in NAMES if name != "completion"]:
        for example in command(name).examples:
            program, *arguments = shlex.split(example)
            assert program == "evaltex"
            shown(*arguments)
    assert {"results", "words.txt", "pages.zip", "report.html", "merged", "toys"} <= set(
        os.listdir()
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_page_ends_in_one_to_three_examples(name: str) -> None:
    examples = command(name).examples
    assert 1 <= len(examples) <= 3
    assert shown("help", *([] if name == EVALUATE else [name])).endswith(
        "Examples:\n" + "".join(f"  {example}\n" for example in examples)
    )
