"""Gates of a sweep, alone and against an earlier one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run
from sweep_images import nine_images


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return nine_images(tmp_path, spread=60)


def test_gates_decide_the_status(files: tuple[Path, Path], tmp_path: Path) -> None:
    one = ("sweep", *files, "--protocol", "iou")
    run(*one, "--fail-if", "sweep.hmean<0.01", "--fail-if", "iou.recall<0.01")
    found = run(*one, "--fail-if", "hmean<0.99", "--junit", tmp_path / "x.xml", status=1)
    assert "Gate FAILED  hmean<0.99: iou sweep hmean is" in found.stdout
    assert 'failures="1"' in (tmp_path / "x.xml").read_text()
    run(*one, "--fail-if", "crossval.hmean<0.99", "--quiet", status=1)
    run(*one, "--fail-if", "optimism>-1", status=1)


def test_gates_compare_with_an_earlier_sweep(files: tuple[Path, Path], tmp_path: Path) -> None:
    one = ("sweep", *files, "--protocol", "iou")
    old = tmp_path / "old"
    run(*one, old)
    for baseline in (old, old / "sweep.json"):
        run(*one, "--baseline", baseline, "--fail-if", "sweep.hmean:-0.5%")
    document = json.loads((old / "sweep.json").read_text())
    of_iou = document["protocols"]["iou"]
    of_iou["operating_point"]["scores"]["hmean"] = 0.999
    (old / "sweep.json").write_text(json.dumps(document))
    found = run(*one, "--baseline", old, "--fail-if", "sweep.hmean:-0.5%", status=1)
    assert "baseline 0.999" in found.stdout
    assert "an input of this command" in run(*one, old, "--baseline", old, status=2).stderr


def test_a_baseline_of_another_kind_is_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    one = ("sweep", *files, "--protocol", "iou")
    run(*one, tmp_path / "old", "--set", "iou.iou=0.7")
    earlier = ("--baseline", tmp_path / "old")
    gate = ("--fail-if", "sweep.hmean:-1%")
    found = run(*one, "--set", "iou.iou=0.6", *earlier, *gate, status=2)
    assert "iou is '0.7', here 0.6" in found.stderr
    found = run("sweep", *files, "--protocol", "pq", *earlier, *gate, status=2)
    assert "needs a baseline of pq sweep with rq" in found.stderr


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("cleval.hmean<1", "'cleval' is not in this run; expected one of iou, sweep, crossval"),
        ("recall[height<16]<1", "iou sweep has no slices of recall"),
        ("sweep.hmean:-1%", "needs a baseline of iou sweep with hmean"),
        ("sweep.hmean<2", "every result fails this gate: hmean is from 0 to 1"),
        ("optimism<-1.5", "no result can fail this gate: optimism is from -1 to 1"),
    ],
)
def test_what_cannot_be_decided(files: tuple[Path, Path], expression: str, message: str) -> None:
    found = run("sweep", *files, "--protocol", "iou", "--fail-if", expression, status=2)
    assert message in " ".join(found.stderr.split())


def test_of_several_protocols_one_is_named(files: tuple[Path, Path]) -> None:
    several = ("sweep", *files, "--protocol", "iou,pq")
    run(*several, "--fail-if", "pq.recall<0.001")
    assert "name one" in run(*several, "--fail-if", "hmean<0.1", status=2).stderr
