"""The benchmarks run; how fast is theirs to say."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from PIL import Image

from evaltex_cli import evaluate
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.runtime import cores

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
SHARED = ROOT.parent / "shared" / "data"


@pytest.fixture
def module(monkeypatch):
    """A function that imports a benchmark's module by name."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


def test_quick_run_measures_every_ratio():
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "run.py", "--quick"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    figure = r" +\d+(?:\.\d+)? (?:s|µs|MB)"
    rows = re.findall(
        rf"^\S.*{figure}{figure} +\d+\.\d{{2}} +(?:\d+\.\d{{2}}|-)$", done.stdout, re.MULTILINE
    )
    skipped = re.findall(r"^\S.* not measured: .+$", done.stdout, re.MULTILINE)
    has_memory, has_data = Path("/proc/self/smaps_rollup").exists(), SHARED.exists()
    assert len(rows) + len(skipped) == (
        4  # text, archives, JSON
        + 1  # COCO
        + 5  # shapes
        + 2  # curves
        + 9  # official programs
        + 3
        + 3 * has_memory  # analysis
        + 9  # label pictures
        + 4 * (cores() > 1)
        + 1  # start
        + (6 + 3) * has_memory
        + len(PROTOCOLS)
    )
    assert has_data or "shared" in done.stdout


def test_seconds_of_the_processor_are_those_of_processes_too(module):
    """A process that waits uses none; one that counts does."""
    measure = module("measure")
    wait, count = "import time; time.sleep(0.6)", "sum(range(20_000_000))"
    works = [partial(measure.process, "-c", code) for code in (wait, count)]
    (waited,), (counted,) = measure.time_in_turn(works, 1)
    assert waited < 0.5 * counted


def test_memory_is_the_peak_of_a_process_and_of_all_it_starts(module, monkeypatch, tmp_path):
    """The process with the memory waits until its figure was seen."""
    measure, seen = module("measure"), tmp_path / "seen"
    kilobytes, awaited = measure._kilobytes, "Pss:"

    def noted(pid, file, field):
        found = kilobytes(pid, file, field)
        if found > 200 << 10 and field == awaited:
            seen.touch()
        return found

    monkeypatch.setattr(measure, "_kilobytes", noted)
    child = (
        "import pathlib, time; held = bytearray(200 << 20)\n"
        f"while not pathlib.Path({str(seen)!r}).exists(): time.sleep(0.01)"
    )
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    alone, together = measure.peak_memory("-c", program)
    assert alone < 100 and 200 < together < 300
    seen.unlink()
    awaited = "VmHWM:"
    assert 200 < measure.peak_memory("-c", child)[0] < 300


def test_a_whole_run_writes_its_table_and_leaves_the_rest(module, monkeypatch, tmp_path, capsys):
    run = module("run")
    ratio = run.Ratio(run.Measured("this", [4.0]), run.Measured("that", [2e-5]), None)
    monkeypatch.setattr(run, "MEASUREMENTS", {"one": lambda folder, sizes: [ratio]})
    monkeypatch.setattr(run, "TABLE_FILE", tmp_path / "performance.md")
    begin, end = run.TABLE_MARKS
    run.TABLE_FILE.write_text(f"before\n{begin}old\n{end}after\n")
    for given in (["--quick"], ["--only", "one"], []):
        assert "old" in run.TABLE_FILE.read_text()
        monkeypatch.setattr(sys, "argv", ["run.py", *given])
        run.main()
    text = run.TABLE_FILE.read_text()
    assert (
        text.startswith(f"before\n{begin}Python ")
        and text.endswith(f"{end}after\n")
        and "old" not in text
    )
    assert "| this | 4.000 s | that | 20.0 µs | 200000.00 |  |\n" in text
    assert set(run.TABLE_MARKS) <= set(
        (ROOT / "docs" / "performance.md").read_text().splitlines(keepends=True)
    )


@pytest.mark.parametrize(("seconds", "status"), [([9.0, 4.0], None), ([4.1, 5.0], 1)])
def test_exit_status_reports_a_ratio_beyond_its_limit(seconds, status, module, monkeypatch, capsys):
    """The fastest run counts: 4/1 is within a limit of 4, 4.1/1 is not."""
    run = module("run")
    ratio = run.Ratio(run.Measured("this", seconds), run.Measured("that", [1.0, 2.0]), 4.0)
    monkeypatch.setattr(run, "MEASUREMENTS", {"one": lambda folder, sizes: [ratio]})
    monkeypatch.setattr(sys, "argv", ["run.py", "--only", "one"])
    if status is None:
        run.main()
    else:
        with pytest.raises(SystemExit) as stopped:
            run.main()
        assert stopped.value.code == status
    assert ("beyond its limit" in capsys.readouterr().out) == (status is not None)


def test_a_ratio_that_is_not_measured_is_in_the_table_with_the_reason(module, monkeypatch, capsys):
    run, measure = module("run"), module("measure")
    skipped = measure.Skipped("this", "that is missing", 2.0)
    monkeypatch.setattr(run, "MEASUREMENTS", {"one": lambda folder, sizes: [skipped]})
    monkeypatch.setattr(sys, "argv", ["run.py", "--only", "one"])
    run.main()
    assert re.search("this +not measured: that is missing", capsys.readouterr().out)
    assert "| this | | not measured: that is missing | | | 2.00 |\n" in run.table([skipped])


def test_official_programs_are_those_of_the_environment(module, monkeypatch, tmp_path):
    official, sizes = module("rows_official"), module("sizes")
    gt, det = module("make_data").make_texts(tmp_path, 2, 10, "boxes")
    monkeypatch.setenv("EVALTEX_OFFICIAL_IOU", f"{sys.executable} -c pass {{gt}}")
    found = official._against("this", "iou", (gt, det), 0.35, sizes.QUICK)
    assert found.other.name == "the official program" and found.value > 1


def test_made_scene_text_is_archives_of_three_sides(module, tmp_path):
    make_data = module("make_data")
    paths = make_data.make_scene_text(tmp_path / "once", 7)
    again = make_data.make_scene_text(tmp_path / "again", 7)
    assert [path.stat().st_size for path in paths] == [path.stat().st_size for path in again]
    totals = [evaluate(paths[0], path, "iou").totals for path in paths[1:]]
    assert [one["gt_objects"] for one in totals] == [70, 70]
    assert 0 < totals[0]["counted_gt_objects"] < 70
    assert totals[0] != totals[1]


@pytest.mark.parametrize("kind", ["boxes", "quadrilaterals", "polygons"])
def test_made_texts_are_what_was_asked_for(kind, module, tmp_path):
    make_data = module("make_data")
    gt, det = make_data.make_texts(tmp_path / "once", 7, 13, kind)
    again = make_data.make_texts(tmp_path / "again", 7, 13, kind)
    assert [path.read_bytes() for path in (gt, det)] == [path.read_bytes() for path in again]
    totals = evaluate(gt, det).totals
    assert (totals["gt_objects"], totals["detections"]) == (91, 91)
    assert totals["many_to_one"] + totals["many_to_many"] > 0
    assert 0 < totals["one_to_one"] < 91


@pytest.mark.parametrize(
    ("suffix", "mode", "objects", "found_mode"),
    [
        (".png", "L", 300, "I;16"),
        (".tif", "L", 20, "L"),
        (".png", "P", 20, "P"),
        (".png", "RGB", 20, "RGB"),
    ],
)
def test_made_masks_are_what_was_asked_for(suffix, mode, objects, found_mode, module, tmp_path):
    make_data = module("make_data")
    kind = make_data.MaskKind(suffix, mode, objects=objects)
    gt, det, gt_folder, det_folder = make_data.make_masks(tmp_path, 2, kind)
    pictures = [*gt_folder.glob(f"*{suffix}"), *det_folder.glob(f"*{suffix}")]
    assert len(pictures) == 4
    for path in pictures:
        with Image.open(path) as picture:
            assert picture.mode == found_mode
    found = evaluate(gt, det, gt_images=gt_folder, det_images=det_folder)
    assert (found.totals["gt_objects"], found.totals["detections"]) == (2 * objects, 2 * objects)
    assert 0.5 < found.scores["recall"] < 1


def test_calibration_prints_a_row_for_each_number_of_images(module, capsys):
    calibration = module("calibration")
    calibration.main(
        ["--images", "4", "20", "--recall", "0.7", "--trials", "20", "--resamples", "50"]
    )
    rows = [
        line.split(" | ")
        for line in capsys.readouterr().out.splitlines()
        if re.match(r"\| \d", line)
    ]
    assert [row[0] for row in rows] == ["| 4", "| 20"]
    assert rows[0][1:] == ["0.0", "0.0", "0.0", *["-"] * 5, "- |"]
    shares = [float(cell.strip(" |")) for cell in rows[1][1:]]
    assert max(shares[:3]) <= 20 and min(shares[3:]) >= 75
    table = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    for images in calibration.IMAGES:
        assert table.count(f"\n| {images} |") == len(calibration.RECALLS)
