"""What has only don't-care objects has no recall: not 0, and nothing in it is missed."""

from __future__ import annotations

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
    stored = read(tmp_path / "res" / "iou.json", with_objects=True)
    assert (math.isnan(stored.table.scores["hmean"][0]), stored.table.scores["hmean"][1]) == (
        True,
        1,
    )
    assert stored.scores["hmean"] == 1


def test_shown_without_a_number(tmp_path: Path) -> None:
    gt, det = inputs(tmp_path, IGNORED, f"a\n{INSIDE}")
    shown = CliRunner().invoke(main, [str(gt), str(det), "--protocol", "iou"]).stdout
    assert [line.split() for line in shown.splitlines()][1] == ["iou", "–", "–", "–"]


def test_images_with_detections_have_only_dont_care(tmp_path: Path) -> None:
    found = evaluate(*inputs(tmp_path, IGNORED + COUNTED, f"a\n{INSIDE}"), "iou")
    assert (
        "nothing matches; the images with detections have only don't-care objects" in found.warnings
    )
