"""`evaltex diagnose` on the command line."""

import csv
import io
import json

import pytest
from click.testing import CliRunner
from diagnosed_scenes import LEFT, A, B, C, write

from evaltex_cli import diagnose
from evaltex_cli.cli import main
from evaltex_cli.diagnosis.error_types import ERROR_TYPES


@pytest.fixture
def files(tmp_path):
    gt, det = (
        {"img": [A, C, B], "other": [A]},
        {"img": [(100, 100, 420, 40), LEFT], "other": [A, (500, 500, 9, 9)]},
    )
    return [str(write(tmp_path, "gt.txt", gt, True)), str(write(tmp_path, "det.txt", det, False))]


def run(*arguments):
    return CliRunner().invoke(main, ["diagnose", *arguments])


def test_table_adds_up(files):
    result = run(*files, "--protocol", "evaltex", "--protocol", "iou")
    assert result.exit_code == 0, result.output
    for block in result.stdout.split("change of the scores when")[1:]:
        rows = {line.split()[0]: line.split()[-3:] for line in block.splitlines()[2:13]}
        assert set(ERROR_TYPES) < set(rows)
        for k in range(3):
            parts = [
                round(float(rows[name][k]) * 10_000)
                for name in (*ERROR_TYPES, "interaction", "unexplained")
            ]
            assert sum(parts) == round(float(rows["="][k]) * 10_000)
            assert sum(parts) + round(float(rows["1"][k]) * 10_000) == 10_000


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
    loss = [
        float(row["value"]) for row in rows if row["row"] == "loss" and row["quantity"] == "recall"
    ]
    shares = [
        float(row["value"])
        for row in rows
        if row["part"] == "share" and row["quantity"] == "recall"
    ]
    assert sum(shares) == pytest.approx(loss[0], abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--heights", "8,x"], "--heights is '8,x'; expected increasing numbers, e.g. 8,16,32"),
        (["--lengths", "3,2"], "edges of length are 3.0, 2.0; expected numbers that rise"),
        (["--tight", "2"], "threshold tight is 2.0"),
        (["--set", "nonsense=1"], "unknown key 'nonsense'"),
        (["gt_masks", "det_masks"], "leave out the folders of label pictures"),
    ],
)
def test_faults_are_one_message(files, arguments, message):
    result = run(*files, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""
