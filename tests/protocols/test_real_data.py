"""Real data sets with real detections, read as they are published: the
protocol's scores, and why they are these.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import reference_evaltex
from shared_data import DATA, needs_data

from evaltex_cli import evaluate
from evaltex_cli.conversion import Target
from evaltex_cli.conversion.conversion import convert
from evaltex_cli.errors import InputError

pytestmark = needs_data

IC13, IC15, TOTAL_TEXT = (f"{name}/gt.zip" for name in ("icdar2013", "icdar2015", "totaltext"))
PIXELLINK, BASELINE, RANDOM = (
    "icdar2015/pixellink.zip",
    "totaltext/baseline.zip",
    "icdar2013/overlap/rand1.zip",
)
CROSSES_ITSELF = "img557"
"""The image of Total-Text with a polygon that crosses itself, of which the
reference knows nothing.
"""

PINNED = [
    (
        IC13,
        RANDOM,
        "polygon",
        {"recall": 0.763767, "precision": 0.682356, "fscore": 0.720770, "split": 0.823426},
    ),
    (
        IC15,
        PIXELLINK,
        "polygon",
        {"recall": 0.797243, "precision": 0.814946, "fscore": 0.805997, "split": 0.903778},
    ),
    (
        IC15,
        PIXELLINK,
        "box",
        {"recall": 0.773475, "precision": 0.835958, "fscore": 0.803504, "split": 0.897718},
    ),
    (
        TOTAL_TEXT,
        BASELINE,
        "polygon",
        {"recall": 0.687860, "precision": 0.825926, "fscore": 0.750597, "split": 0.825035},
    ),
    (
        TOTAL_TEXT,
        BASELINE,
        "box",
        {"recall": 0.723643, "precision": 0.874825, "fscore": 0.792085, "split": 0.820410},
    ),
]
"""No publication gives EvaLTex scores of these detections. These are this package's own, printed to
six digits once `reference_evaltex` had agreed with them (of Total-Text's polygons, on all images
but `CROSSES_ITSELF`)."""


def run(gt: str, det: str, **parameters: Any) -> Any:
    return evaluate(DATA / gt, DATA / det, per_image=True, **parameters)


@pytest.mark.few_fast(2)
@pytest.mark.parametrize(
    ("gt", "det", "shape", "expected"), PINNED, ids=lambda value: str(value)[:24]
)
def test_scores_are_these(gt: str, det: str, shape: str, expected: dict[str, float]) -> None:
    found = run(gt, det, shape=shape)
    assert {name: found.scores[name] for name in expected} == pytest.approx(expected, abs=5e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("gt", "det", "shape", "_"), PINNED, ids=lambda value: str(value)[:24])
def test_the_reference_agrees(
    tmp_path: Path, gt: str, det: str, shape: str, _: dict[str, float]
) -> None:
    """Every score of every image; the reference reads EvaLTex files, which `convert` writes."""
    texts = []
    for side, source in (("gt", gt), ("det", det)):
        path = tmp_path / f"{side}.txt"
        convert(DATA / source, path, side, Target(boxes=shape == "box"))  # type: ignore[arg-type]
        blocks = path.read_text(encoding="utf-8").split("\n\n")
        texts.append(
            "\n\n".join(block for block in blocks if not block.startswith(f"{CROSSES_ITSELF}\n"))
        )
    expected = reference_evaltex.evaluate(*texts)["images"]
    found = {image.name: image.scores for image in run(gt, det, shape=shape).images}
    assert set(found) - set(expected) == ({CROSSES_ITSELF} if gt == TOTAL_TEXT else set())
    for name, image in expected.items():
        for score, value in image["scores"].items():
            assert found[name][score] == pytest.approx(value, abs=1e-9), f"{name} {score}"


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["polygon", "box"])
@pytest.mark.parametrize("gt", [IC13, IC15, TOTAL_TEXT])
def test_ground_truth_finds_itself_exactly(gt: str, shape: str) -> None:
    """Whether words overlap or not: a detection D is the object G itself, which goes first by IoU;
    any other G' then falls to Eq. 5, with 0 on its left, as G' and D intersect in what G and G' do.
    No two objects are the same.
    """
    found = run(gt, gt, shape=shape)
    objects = [one for image in found.images for one in image.objects if one.match != "ignored"]
    assert objects
    for one in objects:
        assert (one.match, one.partners) == ("one-to-one", [one.id])
        assert (one.values["coverage"], one.values["accuracy"]) == pytest.approx(
            (1.0, 1.0), abs=1e-12
        )
    without_area = 2 if gt == TOTAL_TEXT else 0
    assert found.det.zero_area == without_area == found.totals["false_positives"]
    assert found.scores["recall"] == pytest.approx(1.0, abs=1e-12)
    assert found.scores["precision"] == pytest.approx(
        len(objects) / (len(objects) + without_area), abs=1e-12
    )


def test_words_that_overlap_nothing_score_exactly_one() -> None:
    """Boxes have no rounding that could show: not a digit is missing."""
    found = run(IC13, IC13)
    assert {
        found.scores[name] for name in ("recall", "precision", "fscore", "split", "emd_fscore")
    } == {1.0}
    values = [one.values for image in found.images for one in image.objects]
    assert all(of_object["coverage"] == of_object["accuracy"] == 1.0 for of_object in values)


def test_what_was_read_is_summarised() -> None:
    found = run(TOTAL_TEXT, BASELINE)
    gt, det = found.gt, found.det
    assert (gt.format, gt.images, gt.objects, gt.dont_care, gt.repaired, gt.zero_area) == (
        "polygon",
        300,
        2548,
        333,
        1,
        2,
    )
    assert (det.format, det.images, det.objects, det.missing, det.empty) == (
        "polygon",
        300,
        2098,
        0,
        2,
    )
    assert found.warnings[:2] == [
        "ground truth: 1 invalid polygon repaired, every lobe kept",
        "ground truth: 2 objects without area; they match nothing",
    ]


def test_an_image_without_detections_and_a_detection_without_image(tmp_path: Path) -> None:
    (tmp_path / "det").mkdir()
    (tmp_path / "det" / "res_img_1.txt").write_text("38,43,920,215\n")
    found = evaluate(DATA / IC13, tmp_path / "det")
    assert found.det.missing == 232 and found.totals["true_positives"] == 1
    (tmp_path / "det" / "res_img_1234.txt").write_text("")
    with pytest.raises(
        InputError, match=r"image 'img_1234' is not in the ground truth \(did you mean 'img_"
    ):
        evaluate(DATA / IC13, tmp_path / "det")
