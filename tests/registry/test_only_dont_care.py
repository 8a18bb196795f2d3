"""An image of only don't-care objects is never called missed, whatever the
command, the protocol and the detections.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from evaltex_cli import diagnose, evaluate
from evaltex_cli.comparison.compare import compare
from evaltex_cli.comparison.detectors import evaluated
from evaltex_cli.evaluation.extras import Bootstrap
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.config import checked
from evaltex_cli.validation.validation import validate

GT = {
    "words": "0,0,100,20,word\n0,50,100,70,other\n",
    "named": "0,0,100,20,###\n0,50,100,70,###\n",
    "absent": "0,0,100,20,###\n",
}
DET = {"words": "0,0,100,20,word\n", "named": ""}
ALSO_IGNORED = {"words": "0,0,100,20,word\n", "absent": "", "named": "0,50,100,70,text\n"}
CALM = "no object in it counts, so none is missed"


def written(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    return written(tmp_path / "gt", GT), written(tmp_path / "det", DET)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_its_objects_are_ignored(sides: tuple[Path, Path], protocol: str) -> None:
    found = evaluate(*sides, protocol, per_image=True)
    matches = {image.name: {one.match for one in image.objects} for image in found.images}
    assert matches["named"] == matches["absent"] == {"ignored"}
    assert "missed" in matches["words"]
    assert not any("missed" in warning for warning in found.warnings)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_diagnosis_has_nothing_to_repair_in_it(tmp_path: Path, protocol: str) -> None:
    gt = written(tmp_path / "gt", {"words": GT["words"], "named": GT["named"]})
    without = written(tmp_path / "det", {"words": GT["words"]})
    assert [
        (kind.kind, kind.count) for kind in diagnose(gt, without, protocol).kinds if kind.count
    ] == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_it_is_among_no_images_that_changed(
    tmp_path: Path, sides: tuple[Path, Path], protocol: str
) -> None:
    """Where only one detector names it, or has a detection there that is
    ignored; its scores are conventions.
    """
    gt, det = sides
    other = written(tmp_path / "other", ALSO_IGNORED)
    parameters = {protocol: checked(protocol, {})}
    for pair in ((det, other), (other, det)):
        systems = [
            evaluated(open_inputs(gt, path, InputOptions()), path.name, parameters)[0]
            for path in pair
        ]
        found = compare(systems, Bootstrap(0.95, 10, 0))
        assert [change.image for change in (*found.images, *found.objects)] == []


def test_validate_says_that_nothing_is_missed(sides: tuple[Path, Path]) -> None:
    problems = {
        problem.image: problem for problem in validate(*sides).problems if problem.image is not None
    }
    assert {name: (one.kind, one.advice) for name, one in problems.items()} == {
        "absent": ("missing-image", CALM),
        "named": ("empty-image", CALM),
    }
