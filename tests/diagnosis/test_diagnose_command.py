"""`evaltex diagnose` on the command line."""

import csv
import io
import json

import pytest
from click.testing import CliRunner
from diagnosed_scenes import LEFT, A, B, C, write

from evaltex_cli import diagnose
from evaltex_cli.cli import main


@pytest.fixture
def files(tmp_path):
    gt, det = (
        {"img": [A, C, B], "other": [A]},
        {"img": [(100, 100, 420, 40), LEFT], "other": [A, (500, 500, 9, 9)]},
    )
    return [str(write(tmp_path, "gt.txt", gt, True)), str(write(tmp_path, "det.txt", det, False))]


def run(*arguments):
    return CliRunner().invoke(main, ["diagnose", *arguments])


def test_json_and_csv_hold_the_diagnosis(files, tmp_path):
    expected = diagnose(*files)
    document = json.loads(run(*files, "--format", "json").stdout)
    assert document["kind"] == "diagnosis"
    (found,) = document["protocols"]
    assert found["losses"] == expected.losses
    assert found["remainder"] == expected.remainder
    assert {kind["kind"]: kind["shares"] for kind in found["kinds"]} == {
        k.kind: k.shares for k in expected.kinds
    }
    out = tmp_path / "out.csv"
    assert run(*files, "--format", "csv", "--output", str(out)).stdout == ""
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    shares = {row["mistake"]: float(row["share"]) for row in rows if row["score"] == "recall"}
    loss = shares.pop("loss")
    assert sum(shares.values()) == pytest.approx(loss, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--heights", "8,x"], "'8,x'; expected rising numbers such as 8,16,32"),
        (["--lengths", "3,2"], "edges of length are 3.0, 2.0; expected numbers that rise"),
        (["--tight", "2"], "threshold tight is 2.0"),
        (["--set", "nonsense=1"], "unknown key 'nonsense'"),
    ],
)
def test_faults_are_one_message(files, arguments, message):
    result = run(*files, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""
