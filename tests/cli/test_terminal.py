"""Colours and widths of what every command prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_inputs import write_inputs
from click.testing import CliRunner, Result

from evaltex_cli.cli import COMMANDS, main
from evaltex_cli.results.screen import Screen, width
from evaltex_cli.validation import terminal_text
from evaltex_cli.validation.validation import validate

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


@pytest.mark.parametrize("command", ["evaluate", *COMMANDS])
def test_every_command_has_the_option(command: str) -> None:
    found = main.get_command(None, command)  # type: ignore[arg-type]
    assert found is not None
    assert any("--color" in parameter.opts for parameter in found.params)


GATED = ["gt.txt", "det.txt", "res", "--fail-if", "recall<0.999"]


def test_a_pipe_has_colours_only_if_they_are_asked_for() -> None:
    assert STYLE not in run(*GATED).output
    always = run(*GATED, "--color", "always").stdout
    assert "\x1b[31mFAILED\x1b[0m" in always
    assert re.sub(r"\x1b\[\d+m", "", always) == run(*GATED).stdout
    assert STYLE in run(*GATED, "--color", "always", NO_COLOR="1").stdout


def test_warnings_and_errors_have_colours() -> None:
    assert (
        "\x1b[33m\x1b[1mwarning:"
        in run("gt.txt", "det.txt", "res", "--ci", "--color", "always").stderr
    )
    assert (
        "\x1b[31m\x1b[1merror:" in run("compare", "gt.txt", "det.txt", "--color", "always").stderr
    )


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
        "gt.txt",
        "det.txt",
        "res",
        "--all-scores",
        "--protocol",
        "evaltex",
        "--protocol",
        "cleval",
        "--ci",
    )
    lines = result.stdout.splitlines()
    assert lines[0] == "95% bootstrap confidence intervals over images"
    assert {"evaltex", "cleval"} < set(lines)
    assert {"  emd_fscore_no_split", "  splits"} < {line[:21].rstrip() for line in lines}


LONG = f"{'日本語の検出結果-' * 4}.txt"
COMMANDS_WITH_NAMES = (
    "compare gt.txt {0} other-{0} {0}",
    "compare gt.txt {0} other-{0} --all-scores --protocol all",
    "gt.txt {0} --protocol all --ci --all-scores --resamples 50",
    "gt.txt {0} --fail-if recall<0.999 --fail-if recall[8<=height<16]<0.999",
    "diagnose gt.txt {0} --protocol all --all-scores",
)


def test_nothing_is_wider_than_80_columns() -> None:
    for path in (LONG, f"other-{LONG}"):
        Path(path).write_text(DET)
    for command in COMMANDS_WITH_NAMES:
        result = run(*command.format(LONG).split())
        assert result.exit_code in (0, 1), result.output
        assert [line for line in result.stdout.splitlines() if width(line) > 80] == [], command


def test_findings_and_pairs_fit_the_terminal() -> None:
    Path("long.txt").write_text(DET.replace("img_2", "img_2" * 9))
    piped = run("validate", "gt.txt", "long.txt", "--pairs").stdout.splitlines()
    assert max(map(width, piped)) <= 80
    result = validate(Path("gt.txt"), Path("long.txt"))
    found = terminal_text.text(result, None, True, Screen(60, True))
    assert "\x1b[31merrors" in found
    assert max(map(width, found.splitlines())) <= 60
