"""The benchmarks run; how fast is theirs to say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def printed(script: str, *arguments: str) -> str:
    command = [sys.executable, str(ROOT / "benchmarks" / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_quick_run_measures_every_ratio() -> None:
    text = printed("run.py", "--quick", "boxes", "shapes", "masks", "start", "memory")
    assert len(re.findall(r"^\|.+ s \|.+ s \| \d+\.\d\d \| [\d.]+ \|$", text, re.MULTILINE)) == 7
    assert len(re.findall(r"^\| .+ \| \d+ MB \|", text, re.MULTILINE)) == 1


def test_calibration_prints_a_row_for_each_number_of_images() -> None:
    text = printed(
        *("calibration.py", "--images", "4", "20", "--recall", "0.7"),
        *("--trials", "20", "--resamples", "50"),
    )
    few, many = (line.split(" | ") for line in text.splitlines() if re.match(r"\| \d", line))
    assert few == ["| 4", "0.0", "0.0", "0.0", *["-"] * 5, "- |"]
    shares = [float(cell.strip(" |")) for cell in many[1:]]
    assert max(shares[:3]) <= 20 and min(shares[3:]) >= 75


@pytest.mark.parametrize("kind", ["boxes", "quads", "polygons"])
def test_made_data_are_the_same_every_time(kind: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import make_data

    from evaltex_cli import evaluate

    once = make_data.make_texts(tmp_path / "once", 7, kind)
    again = make_data.make_texts(tmp_path / "again", 7, kind)
    assert [path.read_bytes() for path in once] == [path.read_bytes() for path in again]
    totals = evaluate(*once).totals
    assert (totals["gt_objects"], totals["detections"]) == (70, 70)
    assert 0 < totals["one_to_one"] < 70
