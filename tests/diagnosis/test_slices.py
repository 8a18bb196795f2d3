"""Recall of slices, as gates use it: the same values as those of the breakdowns of a diagnosis."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import invoke as run

from evaltex_cli.diagnosis.breakdown import Edges, SliceRecalls, slices
from evaltex_cli.diagnosis.diagnosis import diagnose_inputs
from evaltex_cli.evaluation.evaluate import evaluate_inputs, runs_of
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.results.slices import Slice

GT = [
    (10, 10, 60, 8),
    (10, 40, 50, 12),
    (10, 70, 40, 16),
    (10, 100, 30, 30),
    (10, 150, 90, 15.999),
    (10, 190, 9, 40),
]
EDGES = Edges(height=(12, 16), aspect_ratio=(1, 3.125), length=(2, 3))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two images of the same objects, one of them don't-care; every second
    one of the second image is missed.
    """
    monkeypatch.chdir(tmp_path)
    gt, det = [], []
    for k in range(2):
        gt += [f"img_{k}", "300,300"]
        det += [f"img_{k}"]
        for i, (x, y, width, height) in enumerate(GT, 1):
            text = "word"[: i % 4 + 1]
            gt.append(f'{i},{i},"{text}",{"t" if i == 4 else "f"},{x},{y},{width},{height}')
            if k == 0 or i % 2:
                det.append(f'{i},"{text}",{x + 1},{y},{width},{height}')
    (tmp_path / "gt.txt").write_text("\n".join(gt) + "\n")
    (tmp_path / "det.txt").write_text("\n".join(det) + "\n")
    return tmp_path


def test_slices_are_the_bins_of_a_diagnosis_under_every_protocol(folder: Path) -> None:
    parameters = {name: config.checked(name, {}) for name in PROTOCOLS}
    inputs = open_inputs(folder / "gt.txt", folder / "det.txt", InputOptions())
    expected = {one.protocol: one for one in diagnose_inputs(inputs, parameters, edges=EDGES)}
    gathered = SliceRecalls({name: [one.name for one in slices(EDGES)] for name in PROTOCOLS})
    for evaluation in evaluate_inputs(inputs, runs_of(parameters), [gathered.sink]):
        bins = expected[evaluation.protocol.name].breakdowns
        by_name = {
            Slice(name, one.low, one.high).name: one.recall for name in bins for one in bins[name]
        }
        assert gathered.recalls(evaluation) == by_name
        assert len(set(by_name.values())) > 2


@pytest.mark.parametrize("protocol", ["evaltex", "iou"])
def test_a_gate_compares_with_a_diagnosis(folder: Path, protocol: str) -> None:
    of_first = Path("det.txt").read_text().partition("img_1\n")[0]
    Path("whole.txt").write_text(of_first + "img_1\n" + of_first.removeprefix("img_0\n"))
    options = ["--protocol", protocol, "--heights", "16", "--format", "json"]
    bins = {}
    for det, name in (("whole.txt", "whole.json"), ("det.txt", "base.json")):
        Path(name).write_text(run("diagnose", "gt.txt", det, *options).stdout)
        (found,) = json.loads(Path(name).read_text())["protocols"]
        bins[name] = found["breakdowns"]["height"][0]
    below, before = bins["base.json"], bins["whole.json"]["recall"]
    assert (below["low"], below["high"]) == (None, 16)
    gate = ["--fail-if", "recall[height<16]:-1%"]
    command = ["gt.txt", "det.txt", "--protocol", protocol, *gate, "--baseline"]
    same = run(*command, "base.json")
    assert same.exit_code == 0, same.output
    worse = run(*command, "whole.json")
    assert worse.exit_code == 1, worse.output
    said = " ".join(worse.stdout.split())
    assert f"{protocol} recall[height<16] is {below['recall']:.6g}" in said
    assert f"baseline {before:.6g}" in said
    other = run(*command, "base.json", "--invalid", "drop")
    assert other.exit_code == 2
    assert "invalid is 'repair', here drop" in other.stderr


def test_slices_in_results_and_in_several_processes(folder: Path) -> None:
    gates = ["--fail-if", "recall[8<=height<16]<0.99", "--fail-if", "recall[length<1]<0.1"]
    command = ["gt.txt", "det.txt", *gates]
    for jobs in ("1", "2"):
        result = run(*command, f"res-{jobs}", "--jobs", jobs, "-a")
        assert result.exit_code == 1, result.output
    documents = [json.loads(Path(f"res-{jobs}/evaltex.json").read_text()) for jobs in (1, 2)]
    assert documents[0]["gates"] == documents[1]["gates"]
    tall, empty = documents[0]["gates"]
    assert tall["score"] == "recall[8<=height<16]"
    assert 0 < tall["value"] < 0.99
    assert (empty["value"], empty["passed"]) == (None, False)


def test_label_pictures_have_no_slices(folder: Path) -> None:
    Path("pictures").mkdir()
    result = run(
        "gt.txt", "det.txt", "res", "pictures", "pictures", "--fail-if", "recall[height<16]<0.5"
    )
    assert result.exit_code == 2
    assert "Gates on slices do not work with label pictures" in " ".join(result.output.split())
