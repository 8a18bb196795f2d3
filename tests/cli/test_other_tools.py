"""Options that other tools have are answered by ours."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from evaltex_cli.cli import COMMANDS, EVALUATE, main
from evaltex_cli.cli.other_tools import _OURS, FILES, RES_DIR


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gt.txt", "det.txt", "--threshold", "0.5"], "Did you mean '--min-confidence'?"),
        (["gt.txt", "det.txt", "--conf=0.5"], "Did you mean '--min-confidence'?"),
        (["gt.txt", "det.txt", "--score_thr", "0.5"], "Did you mean '--min-confidence'?"),
        (["gt.txt", "det.txt", "-o", "res"], "Give the folder of the results after GT and DET."),
        (["compare", "gt.txt", "a.txt", "b.txt", "-o", "x"], "Did you mean '--output'?"),
        (["gt.txt", "det.txt", "--metric", "iou"], "Did you mean '--protocol'?"),
        (["gt.txt", "det.txt", "--iou", "0.5"], "Did you mean '--set iou.iou=0.5'?"),
        (["validate", "gt.txt", "--workers", "2"], "Did you mean '--jobs'?"),
        (["gt.txt", "det.txt", "--json"], "Did you mean '--format json'?"),
        (["--gt", "gt.txt", "--det", "det.txt"], "without options: evaltex GT DET."),
        (["gt.txt", "det.txt", "--protocoll", "iou"], "Did you mean '--protocol'?"),
        (["protocols", "--metric", "iou"], "No such option '--metric'."),
    ],
    ids=" ".join,
)
def test_answers(arguments: list[str], said: str) -> None:
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 2
    reported = " ".join(found.stderr.split())
    assert said in reported
    assert "Error: No such option" in reported


def test_every_answer_is_an_option_and_no_option_is_answered() -> None:
    commands = [main.get_command(None, name) for name in (EVALUATE, *COMMANDS)]
    known = {opt for one in commands if one for param in one.params for opt in param.opts}
    assert {ours for ours in _OURS if ours.startswith("-")} <= known
    plain = commands[0]
    assert plain is not None
    ours = {opt.lstrip("-") for param in plain.params for opt in param.opts}
    assert {"res_dir", "det"} <= ours
    named = {name for one, names in _OURS.items() if one not in (RES_DIR, FILES) for name in names}
    assert not named & (ours - {"gt", "det"})


def test_another_option_of_the_same_name_is_not_meant() -> None:
    """--set of toys names a set, not a parameter."""
    found = CliRunner().invoke(main, ["toys", "gt.txt", "out", "--param", "iou=0.5"])
    assert found.exit_code == 2
    assert "iou.iou" not in found.stderr
