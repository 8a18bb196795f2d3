"""EvaLTex, which has no other program: a plain reference agrees with it on the scenes, on images of
Total-Text, and on real data sets, which a clone lacks and skips.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import reference_evaltex
from shared_data import DATA, needs_data

from evaltex_cli import evaluate
from evaltex_cli.conversion import Target
from evaltex_cli.conversion.conversion import convert

FOLDER = Path(__file__).parent
SCENES = FOLDER / "scenes"
CROSSES_ITSELF = "img557"
"""An image of Total-Text with a polygon that crosses itself. The reference cannot score it."""
HERE = [
    (SCENES / "boxes-gt.zip", SCENES / "boxes-det.zip"),
    (SCENES / "quads-gt.zip", SCENES / "quads-det.zip"),
    (SCENES / "curves-gt.zip", SCENES / "curves-det.zip"),
    (FOLDER / "totaltext/gt.zip", FOLDER / "totaltext/det.zip"),
]
REAL = [
    pytest.param(DATA / gt, DATA / det, marks=[needs_data, pytest.mark.slow])
    for gt, det in (
        ("icdar2013/gt.zip", "icdar2013/overlap/rand1.zip"),
        ("icdar2015/gt.zip", "icdar2015/pixellink.zip"),
        ("totaltext/gt.zip", "totaltext/baseline.zip"),
    )
]


@pytest.mark.parametrize("shape", ["polygon", "box"])
@pytest.mark.parametrize(("gt", "det"), [*HERE, *REAL])
def test_scores_are_those_of_the_reference(tmp_path: Path, gt: Path, det: Path, shape: str) -> None:
    """Every score of each image and of the data set; the reference reads EvaLTex files."""
    texts = []
    for source, side in ((gt, "gt"), (det, "det")):
        path = tmp_path / f"{side}.txt"
        convert(source, path, side, Target(boxes=shape == "box"))  # type: ignore[arg-type]
        blocks = path.read_text(encoding="utf-8").split("\n\n")
        texts.append(
            "\n\n".join(block for block in blocks if not block.startswith(f"{CROSSES_ITSELF}\n"))
        )
    reference = reference_evaltex.evaluate(*texts)
    result = evaluate(gt, det, per_image=True, shape=shape)
    found = {image.name: image.scores for image in result.images}
    expected = {name: image["scores"] for name, image in reference["images"].items()}
    if found.pop(CROSSES_ITSELF, None) is None:
        found["the data set"], expected["the data set"] = result.scores, reference["scores"]
    assert found.keys() == expected.keys()
    for name, scores in expected.items():
        for score, value in scores.items():
            assert found[name][score] == pytest.approx(value, abs=1e-9), f"{name} {score}"


@pytest.mark.parametrize("shape", ["polygon", "box"])
@pytest.mark.parametrize(("gt", "_"), [*HERE, *REAL])
def test_ground_truth_finds_itself(gt: Path, _: Path, shape: str) -> None:
    """Also where words overlap: a detection that is the object itself goes to it first."""
    found = evaluate(gt, gt, per_image=True, shape=shape)
    objects = [one for image in found.images for one in image.objects if one.match != "ignored"]
    assert objects
    for one in objects:
        assert (one.match, one.partners) == ("one-to-one", [one.id])
        assert (one.values["coverage"], one.values["accuracy"]) == pytest.approx((1, 1), abs=1e-12)
    without_area = found.totals["false_positives"]
    assert without_area == found.det.zero_area
    assert found.scores["recall"] == pytest.approx(1, abs=1e-12)
    assert found.scores["precision"] == pytest.approx(
        len(objects) / (len(objects) + without_area), abs=1e-12
    )
