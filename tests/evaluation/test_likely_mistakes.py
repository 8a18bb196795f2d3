"""A run says what was probably meant: that sides are swapped, and how they
would agree if the score is low.
"""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from written_files import zipped

from evaltex_cli import evaluate
from evaltex_cli.evaluation import likely_mistakes, swapped_inputs

Box = tuple[float, float, float, float]
IMAGES = 40


def boxes_of(image: int) -> list[Box]:
    rng = random.Random(image)
    corners = [(rng.randrange(1000), rng.randrange(600)) for _ in range(8)]
    return [(x, y, x + 60 + 13 * k, y + 20 + 3 * k) for k, (x, y) in enumerate(corners)]


def archive(
    path: Path, read: Callable[[Box], Box], text: str = "", first: int = 0, name: str = "img_{}.txt"
) -> Path:
    files = {}
    for k in range(IMAGES):
        lines = (
            ",".join(f"{value:.6g}" for value in read(box)) + text for box in boxes_of(k + first)
        )
        files[name.format(k)] = "\n".join(lines)
    return zipped(path, files)


def as_drawn(box: Box) -> Box:
    return box


def reported(
    tmp_path: Path, det: Callable[[Box], Box], protocol: str = "iou", text: str = "", first: int = 0
) -> list[str]:
    gt = archive(tmp_path / "gt.zip", as_drawn, ",word")
    return evaluate(gt, archive(tmp_path / "det.zip", det, text, first), protocol).warnings


@pytest.mark.parametrize("protocol", ["evaltex", "iou", "pq", "tedeval"])
@pytest.mark.parametrize(
    ("read", "words"),
    [
        (
            lambda box: (box[1], box[0], box[3], box[2]),
            "matches; x and y are swapped in the detections",
        ),
        (
            lambda box: tuple(value / 2 for value in box),
            "another scale: they fit when multiplied by about 2 ",
        ),
        (
            lambda box: (box[0] / 1280, box[1] / 720, box[2] / 1280, box[3] / 720),
            "multiplied by about 1,280 (x)",
        ),
    ],
)
def test_low_scores(tmp_path: Path, protocol: str, read: Callable[[Box], Box], words: str) -> None:
    (warning,) = reported(tmp_path, read, protocol)
    assert words in warning


def test_large_factors_are_written_out(tmp_path: Path) -> None:
    found = " ".join(reported(tmp_path, lambda box: tuple(value / 1280 for value in box)))
    assert "they fit when multiplied by about 1,280 (mean best IoU" in found


def test_names_shifted_by_one(tmp_path: Path) -> None:
    (warning,) = reported(tmp_path, as_drawn, first=1)
    assert "the detections named for one image are those of the image after" in warning


def test_a_low_score_with_another_reason_is_not_explained(tmp_path: Path) -> None:
    """Detections of one object in eight; no other reading makes them better."""
    gt = archive(tmp_path / "gt.zip", as_drawn)
    first = {f"img_{k}.txt": ",".join(map(str, boxes_of(k)[0])) for k in range(IMAGES)}
    det = zipped(tmp_path / "det.zip", first)
    found = evaluate(gt, det, "iou")
    assert (found.is_low(likely_mistakes.LOW), found.warnings) == (True, [])


def test_nothing_matches_and_nothing_explains_it(tmp_path: Path) -> None:
    """The command that finds the reason is named; if only the texts differ, this is said."""
    (warning,) = reported(tmp_path, as_drawn, first=500)
    assert warning.endswith(
        "matches; no other reading of the coordinates makes both sides agree; see `evaltex validate"
        " GT DET`"
    )
    (warning,) = reported(tmp_path, as_drawn, "iou-crw", ",other")
    assert warning == (
        "nothing matches; the boxes agree (mean best IoU 1.00), but not the texts; see `evaltex"
        " diagnose GT DET --protocol iou-crw`"
    )


def test_sides_without_objects(tmp_path: Path) -> None:
    gt = archive(tmp_path / "gt.zip", as_drawn, ",word")
    nothing = zipped(tmp_path / "nothing.zip", {f"img_{k}.txt": "" for k in range(IMAGES)})
    assert "nothing matches; the detections have no object" in evaluate(gt, nothing, "iou").warnings


@pytest.mark.parametrize(
    ("gt_text", "det_text", "gt_name", "sign"),
    [
        (",0.87", ",word", "img_{}.txt", "the ground truth has confidences"),
        ("", ",###", "img_{}.txt", "320 detections are '###'"),
        ("", "", "res_img_{}.txt", "named res_... ('res_img_0.txt')"),
    ],
)
def test_swapped_sides_whatever_the_score(
    tmp_path: Path, gt_text: str, det_text: str, gt_name: str, sign: str
) -> None:
    gt = archive(tmp_path / "gt.zip", as_drawn, gt_text, name=gt_name)
    found = evaluate(gt, archive(tmp_path / "det.zip", as_drawn, det_text), "iou")
    assert found.scores["hmean"] == 1
    assert [sign in warning for warning in found.warnings if "swapped" in warning] == [True]


def test_few_images_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 images 20; all of them only if these are suspicious."""
    looked_at: list[int] = []
    swapped = swapped_inputs.swapped
    monkeypatch.setattr(
        swapped_inputs,
        "swapped",
        lambda gt, det, most=300, samples=None: (
            looked_at.append(most) or swapped(gt, det, most, samples)
        ),
    )
    assert reported(tmp_path, as_drawn) == []
    assert looked_at == [likely_mistakes.FEW_IMAGES]
    gt = archive(tmp_path / "gt.zip", as_drawn, ",0.87")
    evaluate(gt, archive(tmp_path / "det.zip", as_drawn), "iou")
    assert looked_at == [20, 20, 300]


def test_angles_read_as_confidences(tmp_path: Path) -> None:
    """Of MSRA-TD500's results, if all of them are in [0, 1]."""
    gt, det = tmp_path / "gt.zip", tmp_path / "det.zip"
    with zipfile.ZipFile(gt, "w") as ours, zipfile.ZipFile(det, "w") as theirs:
        for k in range(3):
            ours.writestr(f"IMG_{k}.gt", "0 0 10 10 100 20 0.1\n")
            theirs.writestr(f"IMG_{k}.txt", "10,10,110,30,0.1\n")
    assert any(
        "give --det-format msra-td500" in warning for warning in evaluate(gt, det, "iou").warnings
    )
    assert not any(
        "--det-format" in one for one in evaluate(gt, det, "iou", det_format="msra-td500").warnings
    )
