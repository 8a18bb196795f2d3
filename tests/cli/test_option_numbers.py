"""What options that are numbers say of a percent sign, a comma, and what is no number."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from evaltex_cli.cli import COMMANDS, main
from evaltex_cli.errors.suggestions import number_meant

WORDS = Path(__file__).parents[2] / "examples" / "words"


@pytest.mark.parametrize(
    ("text", "low", "high", "number"),
    [
        ("50%", 0, 1, 0.5),
        (" 12.5 % ", 0, 1, 0.125),
        ("0,5", 0, 1, 0.5),
        ("50", 0, 1, 0.5),
        ("0,5%", 0, 1, 0.005),
        ("2", 0, 1, None),
        ("101%", 0, 1, None),
        ("50%", 1, None, None),
        ("1,5", None, None, 1.5),
        ("nan%", 0, 1, None),
        ("much", 0, 1, None),
        ("%", 0, 1, None),
    ],
)
def test_the_number_meant(text: str, low: float, high: float, number: float | None) -> None:
    assert number_meant(text, low, high) == number


def number_options() -> Iterator[tuple[str, click.Option]]:
    for name in ("", *COMMANDS):
        command = main.get_command(click.Context(main), name or "evaluate")
        assert command is not None
        for option in command.params:
            kinds = click.types.IntParamType | click.types.FloatParamType
            if isinstance(option, click.Option) and isinstance(option.type, kinds):
                yield name, option


@pytest.mark.parametrize(
    ("name", "option"),
    [
        pytest.param(name, option, id=f"{name} {option.opts[0]}")
        for name, option in number_options()
    ],
)
@pytest.mark.parametrize("value", ["50%", "0,5", "fifty"])
def test_every_option_says_what_to_write(name: str, option: click.Option, value: str) -> None:
    """0.5 where a share is expected, in our words."""
    inputs = f"{WORDS / 'gt.txt'} {WORDS / 'det.txt'}"
    words = f"{name} {inputs} {option.opts[0]}={value}"
    result = CliRunner().invoke(main, shlex.split(words), env={"COLUMNS": "1000"})
    message = result.stderr.splitlines()[-1]
    assert (result.exit_code, "valid" in message.partition(": '")[2]) == (2, False)
    assert f"'{value}' is no" in message
    is_share = not isinstance(option.type, click.types.IntParamType) and option.type.max == 1
    if value != "fifty" and is_share:
        assert "0.5" in message


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--min-confidence 50%", "'50%' is not a number from 0 to 1; write 0.5."),
        ("--min-confidence 50", "'50' is not a number from 0 to 1; write 0.5."),
        ("--min-confidence 2", "'2' is not a number from 0 to 1."),
        ("--jobs 50%", "; write it without a percent sign."),
        ("--cluster-timeout 50%", "'50%' is not a number of at least 1."),
        ("--protocol iou --set iou.iou=50%", "expected a number from 0 to 1; write 0.5"),
        ("--fail-if hmean<2", "every result fails this gate"),
    ],
)
def test_messages(words: str, message: str) -> None:
    arguments = [str(WORDS / "gt.txt"), str(WORDS / "det.txt"), *shlex.split(words)]
    result = CliRunner().invoke(main, arguments, env={"COLUMNS": "1000"})
    assert result.exit_code == 2
    assert message in result.stderr
