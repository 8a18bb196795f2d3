"""What has only don't-care objects has no recall: not 0, and nothing in it is missed."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from evaltex_cli import evaluate
from evaltex_cli.cli import main
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.results.reader import read

IGNORED = 'a\n90,120\n1,1,"###",t,10,10,50,20\n'
COUNTED = 'b\n90,120\n1,1,"word",f,10,10,50,20\n'
INSIDE, OUTSIDE = '1,"word",10,10,50,20\n', '2,"x",70,60,20,20\n'


def inputs(tmp_path: Path, gt: str, det: str) -> tuple[Path, Path]:
    (tmp_path / "gt.txt").write_text(gt)
    (tmp_path / "det.txt").write_text(det)
    return tmp_path / "gt.txt", tmp_path / "det.txt"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_scores_of_a_data_set(tmp_path: Path, protocol: str) -> None:
    """As the official programs print them, with a warning; for reading they are undefined."""
    found = evaluate(*inputs(tmp_path, IGNORED, f"a\n{INSIDE}"), protocol)
    assert None not in found.headline.values()
    assert {found.meaningful_scores[name] for name in found.protocol.headline} == {None}
    assert (
        "every object of the ground truth is don't care, so its scores say nothing"
        in found.warnings
    )
    assert not any("match" in warning for warning in found.warnings)
    found = evaluate(*inputs(tmp_path, IGNORED, f"a\n{INSIDE}{OUTSIDE}"), protocol)
    shown = found.meaningful_scores
    assert (shown["recall"], shown["precision"]) == (None, 0)


def test_scores_of_an_image(tmp_path: Path) -> None:
    """NaN in tables of images, as measured and as read again; the scores of
    the data set are of the other image.
    """
    gt, det = inputs(tmp_path, IGNORED + COUNTED, f"a\n{INSIDE}b\n{INSIDE}")
    result = CliRunner().invoke(
        main, [str(gt), str(det), str(tmp_path / "res"), "-a", "--protocol", "iou"]
    )
    assert (result.exit_code, result.stderr) == (0, "")
    stored = read(tmp_path / "res" / "iou.json")
    assert (math.isnan(stored.table.scores["hmean"][0]), stored.table.scores["hmean"][1]) == (
        True,
        1,
    )
    assert stored.scores["hmean"] == 1


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json"])
def test_a_diagnosis_shows_no_losses(tmp_path: Path, form: str) -> None:
    gt, det = inputs(tmp_path, IGNORED, f"a\n{INSIDE}{OUTSIDE}")
    arguments = ["diagnose", str(gt), str(det), "--protocol", "iou", "--format", form]
    shown = CliRunner().invoke(main, arguments).stdout
    if form == "json":
        of_iou = json.loads(shown)["protocols"][0]
        losses = [of_iou[name] for name in ("scores", "losses", "interaction", "unexplained")]
        assert {value for one in losses for value in one.values()} == {None}
    elif form == "csv":
        assert "iou,loss,,,hmean,\n" in shown
    else:
        sentence = "No object of the ground truth counts, so no score is defined (–), and none is"
        assert sentence in " ".join(shown.split())
        assert "missed" not in shown and "0.0000" not in shown


def test_a_comparison_shows_no_scores(tmp_path: Path) -> None:
    gt, det = inputs(tmp_path, IGNORED, f"a\n{INSIDE}")
    (tmp_path / "other.txt").write_text("a\n")
    arguments = ["compare", str(gt), str(det), str(tmp_path / "other.txt"), "--protocol", "iou"]
    for form in ("table", "markdown", "latex", "csv", "json"):
        found = CliRunner().invoke(main, [*arguments, "--format", form])
        assert (found.exit_code, found.stderr.count("is don't care, so its")) == (0, 1)
    lines = CliRunner().invoke(main, arguments).stdout.splitlines()
    rows = [line.split()[1:4] for line in lines if line.startswith(("det ", "other "))]
    assert rows[:2] == [["–", "–", "–"], ["–", "–", "–"]]
