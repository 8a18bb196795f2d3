"""The benchmarks run; how fast is theirs to say."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from evaltex_cli import evaluate
from evaltex_cli.jobs import cores

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture
def module(monkeypatch):
    """A function that imports a benchmark's module by name."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


def test_quick_run_measures_every_ratio():
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "run.py", "--quick"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    rows = re.findall(r"^\S.* +\d+\.\d{3} +\d+\.\d{3} +\d+\.\d{2} +(?:\d+\.\d{2}|-)$", done.stdout, re.MULTILINE)
    assert len(rows) == (10 if cores() > 1 else 8)


@pytest.mark.parametrize(("seconds", "status"), [([9.0, 4.0], None), ([4.1, 5.0], 1)])
def test_exit_status_tells_of_a_ratio_beyond_its_limit(seconds, status, module, monkeypatch, capsys):
    """The fastest run counts: 4/1 is within a limit of 4, 4.1/1 is not."""
    run = module("run")
    ratio = run.Ratio(run.Measured("this", seconds), run.Measured("that", [1.0, 2.0]), 4.0)
    monkeypatch.setattr(run, "MEASUREMENTS", [lambda folder, sizes: [ratio]])
    monkeypatch.setattr(sys, "argv", ["run.py"])
    if status is None:
        run.main()
    else:
        with pytest.raises(SystemExit) as stopped:
            run.main()
        assert stopped.value.code == status
    assert ("beyond its limit" in capsys.readouterr().out) == (status is not None)


@pytest.mark.parametrize("kind", ["boxes", "polygons"])
def test_made_texts_are_what_was_asked_for(kind, module, tmp_path):
    make_data = module("make_data")
    gt, det = make_data.make_texts(tmp_path / "once", 7, 13, kind)
    again = make_data.make_texts(tmp_path / "again", 7, 13, kind)
    assert [path.read_bytes() for path in (gt, det)] == [path.read_bytes() for path in again]
    totals = evaluate(gt, det).totals
    assert (totals["gt_objects"], totals["detections"]) == (91, 91)
    assert totals["many_to_one"] + totals["many_to_many"] > 0
    assert 0 < totals["one_to_one"] < 91


@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_made_masks_are_what_was_asked_for(suffix, module, tmp_path):
    gt, det, gt_folder, det_folder = module("make_data").make_masks(tmp_path, 2, 300, suffix)
    assert len(list(gt_folder.glob(f"*{suffix}"))) == len(list(det_folder.glob(f"*{suffix}"))) == 2
    found = evaluate(gt, det, gt_images=gt_folder, det_images=det_folder)
    assert (found.totals["gt_objects"], found.totals["detections"]) == (600, 600)
    assert 0.5 < found.scores["recall"] < 1
