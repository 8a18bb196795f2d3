"""`compare`, `diagnose`, `validate` and `convert`: paths or arrays, one
protocol or several, and what they show.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from records import assert_short

from evaltex_cli import (
    ByProtocol,
    Comparison,
    ConfigError,
    Diagnosis,
    EvaltexWarning,
    InputError,
    compare,
    convert,
    diagnose,
    evaluate,
    image_objects,
    rank,
    validate,
)
from evaltex_cli.cli import main

ICDAR = Path(__file__).parents[2] / "examples" / "icdar"
GT, DET = ICDAR / "gt.zip", ICDAR / "det.zip"
BOXES = [[0, 0, 100, 20], [0, 40, 60, 60]]


def printed(*arguments: Any) -> Any:
    """The JSON that a command prints."""
    result = CliRunner().invoke(main, [*map(str, arguments), "--format", "json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


# compare ------------------------------------------------------------------------------------------


def test_a_comparison_is_the_command_s() -> None:
    found = compare(GT, {"one": DET, "two": GT}, "iou", resamples=50)
    assert isinstance(found, Comparison)
    options = "--protocol=iou", "--label=one", "--label=two", "--resamples=50"
    (expected,) = printed("compare", GT, DET, GT, *options)["protocols"]
    ours = json.loads(json.dumps(found.to_dict()))
    assert ours["scores"] == expected["scores"]
    assert ours["images"] == [
        {key: one[key] for key in ours["images"][0]} for one in expected["images"]
    ]
    assert repr(found).splitlines()[:2] == [
        "iou: scores on 4 images",
        "detector  recall  precision   hmean  95% interval",
    ]
    assert len(found.images) == 4
    assert all(one.change > 0 for one in found.images)


def test_detectors_in_memory_and_several_protocols() -> None:
    gt = {str(k): BOXES for k in range(30)}
    found = compare(gt, [gt, {str(k): BOXES[:1] for k in range(30)}], ["iou", "deteval"])
    assert list(found) == ["iou", "deteval"]
    assert found["iou"].systems == ["detector 1", "detector 2"]
    assert found["iou"].scores[0].p_corrected[1] is not None
    assert (len(found["iou"].images), len(found["iou"].objects)) == (30, 30)
    assert found["iou"].main.differences == [None, pytest.approx(-1 / 3)]


def test_results_of_earlier_runs_are_compared(tmp_path: Path) -> None:
    for name, det in (("one", DET), ("two", GT)):
        arguments = [str(GT), str(det), str(tmp_path / name), "-a", "--protocol", "all", "--quiet"]
        assert CliRunner().invoke(main, arguments).exit_code == 0
    stored = [tmp_path / "one", tmp_path / "two"]
    found = compare(None, stored, "all", resamples=50)
    again = compare(GT, {"one": DET, "two": GT}, "iou", resamples=50)
    assert found["iou"].to_dict() == again.to_dict()
    assert compare(GT, stored, "iou", resamples=50).systems == ["one", "two"]


@pytest.mark.parametrize(
    ("gt", "detectors", "message"),
    [
        (GT, [DET], "one detector; expected two or more"),
        (GT, str(DET), "one detector; expected two or more"),
        (None, [DET, GT], "det: detections without a ground truth"),
    ],
)
def test_what_cannot_be_compared(gt: Any, detectors: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare(gt, detectors)


def test_warnings_of_each_detector() -> None:
    with pytest.warns(EvaltexWarning) as issued:
        compare(GT, {"a": DET, "b": DET})
    assert any("only 4 images" in str(one.message) for one in issued)
    assert {one.filename for one in issued} == {__file__}


@pytest.mark.parametrize("resamples", [0, 1_000_001, 2.5])
def test_resamples_are_limited(resamples: Any) -> None:
    for function in (compare, rank):
        with pytest.raises(ConfigError, match="expected a whole number from 1 to 1000000"):
            function(GT, {"one": DET, "two": GT}, "iou", resamples=resamples)


# diagnose -----------------------------------------------------------------------------------------


def test_a_diagnosis_is_the_command_s() -> None:
    found = diagnose(GT, DET, "iou", tight=0.9, heights=(20, 40))
    assert isinstance(found, Diagnosis)
    options = "--protocol=iou", "--tight=0.9", "--heights=20,40"
    (expected,) = printed("diagnose", GT, DET, *options)["protocols"]
    ours = json.loads(json.dumps(found.to_dict()))
    assert {name: value for name, value in ours.items() if value is not None} == expected
    assert [one.high for one in found.breakdowns["height"]] == [20, 40, None]
    assert repr(found).splitlines()[1].split()[2:] == ["recall", "precision", "hmean"]


def test_several_diagnoses_of_arrays() -> None:
    found = diagnose([BOXES], [[[0, 0, 50, 20]]], ["iou", "evaltex"])
    assert isinstance(found, ByProtocol)
    assert {kind.kind: kind.count for kind in found["iou"].kinds}["missed"] == 1
    assert repr(found).splitlines()[-1].split()[:3] == ["evaltex", "Missed", "objects"]


@pytest.mark.parametrize(
    "options",
    [{"tihgt": 1}, {"lengths": (2, 1)}, {"tight": 1.5}],
    ids=str,
)
def test_thresholds_and_edges_are_checked(options: Any) -> None:
    message = "unknown option 'tihgt'|expected numbers that rise|tight is 1.5; expected"
    with pytest.raises(ConfigError, match=message):
        diagnose(GT, DET, **options)


# validate and convert -----------------------------------------------------------------------------


def test_a_validation_is_the_command_s() -> None:
    found = validate(GT, DET)
    expected = printed("validate", GT, DET)
    ours = json.loads(json.dumps(found.to_dict()))
    for name in ("passed", "errors", "warnings", "problems", "pairs", "gt", "det"):
        assert ours[name] == expected[name]
    assert repr(found).endswith("\n\nValidation passed: 0 errors, 0 warnings")
    assert validate(GT).det is None
    assert not validate(GT, GT, gt_format="coco").passed


def test_arrays_are_validated() -> None:
    bow_tie = [[[0, 0], [10, 10], [10, 0], [0, 10]]]
    found = validate({"a": BOXES}, {"a": [*bow_tie, BOXES[0], BOXES[0]]}, invalid="error")
    assert [(one.level, one.kind, one.image, one.object) for one in found.problems] == [
        ("error", "invalid-polygon", "a", 1),
        ("warning", "duplicate", "a", 3),
    ]
    assert found.gt is not None
    assert (found.gt.format, found.gt.reason) == ("memory", "arrays in memory")
    assert not found.passed
    assert found.summary().startswith("Validation failed: 1 error (1 invalid-polygon), 1 warning (")


def test_a_file_and_arrays_are_converted(tmp_path: Path) -> None:
    done = convert(GT, tmp_path / "gt.json", kind="gt")
    assert (done.images, done.objects) == (4, 22)
    assert evaluate(tmp_path / "gt.json", DET, "iou").scores == evaluate(GT, DET, "iou").scores
    words = image_objects(BOXES, texts=["one", "two"], confidences=[0.5, 0.75])
    assert convert({"a": words, "b": []}, tmp_path / "det.json", kind="det").objects == 2
    written = json.loads((tmp_path / "det.json").read_text(encoding="utf-8"))
    assert [one["score"] for one in written] == [0.5, 0.75]
    with pytest.raises(ConfigError, match="objects in memory need kind='gt' or kind='det'"):
        convert({"a": words}, tmp_path / "other.json")


# What they show -----------------------------------------------------------------------------------


def test_no_record_is_long() -> None:
    gt = {f"image {k}": image_objects(BOXES, texts=["one", "tow"]) for k in range(200)}
    det = {name: image_objects(BOXES, texts=["two", "tow"]) for name in gt}
    some = {name: BOXES[:1] if k % 2 else [*BOXES, [0, 0, 0, 0]] for k, name in enumerate(gt)}
    detectors = {f"a detector with a long name, number {k}": some for k in range(9)}
    shown = [
        compare(gt, {"first": det, **detectors}, ["iou", "evaltex"], resamples=20),
        diagnose(gt, det, ["iou", "iou-crw"]),
        validate(gt, some),
    ]
    for one in shown:
        assert assert_short(one) > 2
    assert assert_short(list(shown[0]["iou"].images[:3])) == 3  # type: ignore[index]


def test_tables() -> None:
    pytest.importorskip("pandas", reason="pandas is in the extra `tables`")
    found = compare(GT, {"a": DET, "b": GT}, ["iou", "evaltex"], resamples=50)
    assert len(found["iou"].to_pandas()) == 2 * len(found["iou"].scores)
    assert list(found["iou"].to_pandas("images")["change"]) == [
        one.change for one in found["iou"].images
    ]
    assert set(found.to_pandas("objects")["protocol"]) == {"iou", "evaltex"}
    diagnosed = diagnose(GT, DET, "iou")
    assert diagnosed.to_pandas("objects")["objects"].sum() == sum(
        one.objects for bins in diagnosed.breakdowns.values() for one in bins
    )
    assert len(validate(GT, DET).to_pandas("pairs")) == 4
