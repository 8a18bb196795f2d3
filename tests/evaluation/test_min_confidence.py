"""``--min-confidence`` through every command: as if the detections below it
were not in the file.
"""

import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from written_files import zipped

from evaltex_cli import diagnose, evaluate
from evaltex_cli.errors import ConfigError
from evaltex_cli.protocols import PROTOCOLS

IMAGES, WORDS = 12, 6
MINIMUM = 0.5


@pytest.fixture(params=["boxes", "quadrilaterals"])
def inputs(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Path]:
    """Ground truth, detections with confidences, and those of at least
    `MINIMUM`; the last image keeps none.
    """
    made = random.Random(6)
    sides: dict[str, dict[str, str]] = {"gt": {}, "det": {}, "kept": {}}
    for k in range(1, IMAGES + 1):
        lines: dict[str, list[str]] = {name: [] for name in sides}
        for n in range(WORDS):
            x, y = 70 * n, made.randrange(40)
            lines["gt"].append(f"{shape(request.param, x, y, 60)},word{n}")
            confidence = made.choice([0.1, 0.499, MINIMUM, 0.501, 0.9]) if k < IMAGES else 0.2
            detection = f"{shape(request.param, x + made.randrange(8), y, made.choice([30, 56, 60]))},{confidence},word{n}"
            lines["det"].append(detection)
            if confidence >= MINIMUM:
                lines["kept"].append(detection)
        for name, prefix in (("gt", "gt_"), ("det", "res_"), ("kept", "res_")):
            sides[name][f"{prefix}img_{k}.txt"] = "".join(f"{line}\n" for line in lines[name])
    return {name: zipped(tmp_path / f"{name}.zip", entries) for name, entries in sides.items()}


def shape(kind: str, x: int, y: int, width: int) -> str:
    if kind == "boxes":
        return f"{x},{y},{x + width},{y + 20}"
    return f"{x},{y},{x + width},{y + 2},{x + width},{y + 22},{x},{y + 20}"


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_every_protocol_scores_as_without_them(inputs: dict[str, Path], tmp_path: Path) -> None:
    gt, det, kept = inputs.values()
    options = ("--protocol", "all", "-a", "--quiet")
    run(gt, det, tmp_path / "res", *options, "--min-confidence", MINIMUM)
    run(gt, kept, tmp_path / "expected", *options)
    for name in PROTOCOLS:
        found, expected = (
            document(tmp_path / folder / f"{name}.json") for folder in ("res", "expected")
        )
        assert found["totals"] == expected["totals"]
        assert found["scores"] == expected["scores"]
        assert [image["totals"] for image in found["images"]] == [
            image["totals"] for image in expected["images"]
        ]
        everything, some = (
            document(tmp_path / "res" / f"{name}.json")["inputs"]["det"],
            expected["inputs"]["det"],
        )
        assert (
            everything["objects"] == everything["confidences"] == some["objects"] < IMAGES * WORDS
        )
        assert everything["objects"] + everything["unconfident"] == IMAGES * WORDS


def test_the_result_says_so(inputs: dict[str, Path], tmp_path: Path) -> None:
    gt, det, _ = inputs.values()
    found = run(gt, det, tmp_path / "res", "--min-confidence", "0.50")
    written = document(tmp_path / "res" / "evaltex.json")
    unconfident = written["inputs"]["det"]["unconfident"]
    reported = f"detections: {unconfident} of {IMAGES * WORDS} left out, their confidence below 0.5"
    assert f"warning: {reported}\n" in found.stderr
    assert reported in written["warnings"]
    assert "|min_confidence:0.5|" in written["signature"]
    assert "min_confidence" not in evaluate(gt, det).signature


def test_detections_without_confidences_stay_and_that_is_reported(
    inputs: dict[str, Path], tmp_path: Path
) -> None:
    gt = inputs["gt"]
    found = run(gt, gt, tmp_path / "res", "--min-confidence", 1)
    assert "no detection of gt.zip has a confidence, so all stay" in found.stderr
    assert document(tmp_path / "res" / "evaltex.json")["scores"]["recall"] == 1


def test_from_python(inputs: dict[str, Path]) -> None:
    gt, det, kept = inputs.values()
    assert (
        evaluate(gt, det, "iou", min_confidence=MINIMUM).scores == evaluate(gt, kept, "iou").scores
    )
    assert diagnose(gt, det, min_confidence=MINIMUM).scores == diagnose(gt, kept).scores
    for minimum in (-0.1, 1.1, float("nan")):
        with pytest.raises(ConfigError, match="expected a number from 0 to 1"):
            evaluate(gt, det, min_confidence=minimum)


def test_out_of_range_and_label_pictures_are_refused(
    inputs: dict[str, Path], tmp_path: Path
) -> None:
    gt, det, _ = inputs.values()
    assert (
        "--min-confidence"
        in run(gt, det, tmp_path / "res", "--min-confidence", 50, status=2).stderr
    )
    refused = run(
        gt, det, tmp_path / "res", tmp_path, tmp_path, "--min-confidence", MINIMUM, status=2
    ).stderr
    assert "least confidence does not go with label pictures" in refused
    assert not (tmp_path / "res").exists()


def test_conversion_leaves_them_out_and_counts_them(
    inputs: dict[str, Path], tmp_path: Path
) -> None:
    _, det, kept = inputs.values()
    for name, source, options in (("some", det, ("--min-confidence", MINIMUM)), ("kept", kept, ())):
        found = run("convert", source, tmp_path / f"to-{name}.zip", "--kind", "det", *options)
        assert (" objects left out, their confidence below 0.5\n" in found.stderr) == (
            name == "some"
        )
    with (
        zipfile.ZipFile(tmp_path / "to-some.zip") as some,
        zipfile.ZipFile(tmp_path / "to-kept.zip") as expected,
    ):
        assert some.namelist() == expected.namelist()
        assert [some.read(name) for name in some.namelist()] == [
            expected.read(name) for name in expected.namelist()
        ]
