"""Mistakes that users of evaluation tools are known to make: what the user did, and what the tool
says.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import invoke, validated
from written_files import written, zipped

from evaltex_cli import evaluate
from evaltex_cli.errors import InputError
from evaltex_cli.protocols import PROTOCOLS

QUADS = {1: "10,10,110,10,110,40,10,40", 2: "10,60,90,60,90,90,10,90"}
BOXES = {1: "10,10,110,40", 2: "10,60,90,90"}
ALL = {"recall": 1.0, "precision": 1.0}


def gt_zip(folder, shapes=QUADS, name="gt_img_{}.txt"):
    return zipped(
        folder / "gt.zip", {name.format(k): f"{line},word{k}\n" for k, line in shapes.items()}
    )


def det_zip(folder, shapes=QUADS, name="res_img_{}.txt"):
    return zipped(folder / "det.zip", {name.format(k): f"{line}\n" for k, line in shapes.items()})


def scores(gt, det, **options):
    found = evaluate(gt, det, "iou", **options).scores
    return {name: found[name] for name in ALL}


def refusal(gt, det, **options):
    with pytest.raises(InputError) as refused:
        evaluate(gt, det, "iou", **options)
    return str(refused.value)


BOW_TIE = "200,10,300,60,300,10,200,60"

# Names and archives -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *("submit/res_img_{}.txt", "a/b/res_img_{}.txt", "submit\\res_img_{}.txt", "img_{}.txt"),
        *("gt_img_{}.txt", "det_img_{}.txt", "RES_img_{}.TXT"),
        *("img_{}.jpg.txt", "img_{}.PNG.txt", "img_{}.jpg .txt", "res_img_{} .txt"),
    ],
)
def test_named_the_files_by_another_convention(tmp_path: Path, name: str) -> None:
    """Endings of pictures and blanks before the ending are told."""
    gt, det = gt_zip(tmp_path), det_zip(tmp_path, name=name)
    assert scores(gt, det) == ALL
    status, text = validated(gt, det)
    assert status == 0
    own = name.removeprefix("res_").removesuffix(".txt")
    said = f"paired without folders, endings and prefixes: '{own.format(1)}' with 'img_1'"
    assert (said in text) is (own.startswith("img_{}.") or own.endswith(" "))


def test_left_out_the_common_part_of_the_names(tmp_path: Path) -> None:
    """No image pairs: the tool says which would, and what to rename."""
    gt, det = gt_zip(tmp_path), det_zip(tmp_path, name="{}.txt")
    message = refusal(gt, det)
    for words in (
        "is not in the ground truth",
        "would pair by number",
        "rename '1' to 'img_1', '2' to 'img_2'",
    ):
        assert words in message
    assert "rename '1' to 'img_1'" in invoke(gt, det, tmp_path / "results").output
    assert not (tmp_path / "results").exists()
    status, text = validated(gt, det)
    assert status == 2
    assert "2 that would pair if spelled alike" in text and "rename it to 'img_1'" in text
    assert [row.split() for row in text.splitlines() if row.startswith("img_")] == [
        ["img_1", "1", "number", "1", "1"],
        ["img_2", "2", "number", "1", "1"],
    ]


def test_misspelled_one_name(tmp_path: Path) -> None:
    det = zipped(tmp_path / "det.zip", {"res_img_1.txt": QUADS[1], "res_imgg_2.txt": QUADS[2]})
    message = refusal(gt_zip(tmp_path), det)
    assert "image 'imgg_2' is not in the ground truth (did you mean 'img_2'?)" in message


# Formats ------------------------------------------------------------------------------------------


def test_detections_without_transcriptions_evaluated_end_to_end(tmp_path: Path) -> None:
    """A recall of 0 would say nothing of the detections."""
    gt, det = gt_zip(tmp_path), det_zip(tmp_path)
    with pytest.raises(InputError, match="no detection has a transcription, and iou-crw compares"):
        evaluate(gt, det, "iou-crw")
    for command, more in (([], [tmp_path / "res"]), (["diagnose"], []), (["compare"], [det])):
        result = invoke(*command, gt, det, *more, "--protocol", "all")
        assert result.exit_code == 0
        assert "left out: iou-crw (" in result.output.lower() or command == ["compare"]
        lines = result.output.splitlines()
        assert not any(line.startswith(("iou-crw", "popeval")) for line in lines)


def test_a_transcription_missing_on_one_line(tmp_path: Path) -> None:
    """Where a data set's own form needs one; the message names line, field and layout."""
    lines = "".join(f"{QUADS[1]},Latin,word\n" for _ in range(30))
    gt = zipped(tmp_path / "gt.zip", {"gt_img_1.txt": f"{lines}{QUADS[2]},Latin\n"})
    status, text = validated(gt)
    assert status == 2
    assert (
        f"{gt}/gt_img_1.txt:31: 8 numbers at the start of '10,60,90,60,90,90,10,90,Latin'" in text
    )


def bent(text: str) -> str:
    """Fourteen vertices on the outline of a box."""
    x0, y0, x1, y1 = map(int, text.split(","))
    xs = [x0 + (x1 - x0) * k // 6 for k in range(7)]
    points = [(x, y) for y, row in ((y0, xs), (y1, xs[::-1])) for x in row]
    return ",".join(f"{x},{y}" for x, y in points)


SHAPES = {"boxes": BOXES, "quads": QUADS, "curves": {k: bent(box) for k, box in BOXES.items()}}


@pytest.mark.few_fast(30)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("gt_shapes", SHAPES)
@pytest.mark.parametrize("det_shapes", SHAPES)
def test_any_protocol_takes_any_shapes(
    tmp_path: Path, protocol: str, gt_shapes: str, det_shapes: str
) -> None:
    """ICDAR 2013 under TIoU, quads with a ground truth of curves: nobody edits a script."""
    det = {f"res_img_{k}.txt": f"{line},word{k}\n" for k, line in SHAPES[det_shapes].items()}
    gt = gt_zip(tmp_path, SHAPES[gt_shapes])
    found = evaluate(gt, zipped(tmp_path / "det.zip", det), protocol).scores
    assert found["recall"] > 0.99 and found["precision"] > 0.99


def test_what_format_it_is_taken_for_and_why(tmp_path: Path) -> None:
    text = validated(gt_zip(tmp_path, BOXES), det_zip(tmp_path))[1]
    assert "format ltrb (recognised by 2 of 2 lines of x0,y0,x1,y1" in text
    assert "format quad (recognised by 2 of 2 lines of x1,y1,x2,y2,x3,y3,x4,y4" in text
    message = refusal(gt_zip(tmp_path), det_zip(tmp_path, BOXES), det_format="quad")
    assert "4 numbers" in message and "x1,y1,x2,y2,x3,y3,x4,y4" in message


@pytest.mark.parametrize(
    "line", ["10;10;110;10;110;40;10;40", "text 0.98 10 10", "x1,y1,x2,y2,x3,y3,x4,y4"]
)
def test_lines_of_no_known_layout(tmp_path: Path, line: str) -> None:
    """The message shows the line and the layout that was expected, not an exception."""
    det = zipped(tmp_path / "det.zip", {"res_img_1.txt": f"{line}\n", "res_img_2.txt": f"{line}\n"})
    status, text = validated(gt_zip(tmp_path), det)
    said = f"{det}/res_img_1.txt:1: 0 numbers at the start of '{line}'; expected x0,y0,x1,y1"
    assert status == 2 and said in text


# Zeros without a reason, and invalid polygons -----------------------------------------------------


def many(change: Callable[[Any], Any] = lambda box: box, first: int = 1) -> dict[int, str]:
    """Boxes of images, each elsewhere; the change makes the mistake."""
    shapes = {}
    for k in range(12):
        x, y = 40 + 67 * k % 300, 400 + 43 * k % 200
        box = change([x, y, x + 100 + 5 * k, y + 30 + k])
        shapes[k + first] = ",".join(f"{value:g}" for value in box)
    return shapes


def test_corners_given_as_width_and_height(tmp_path: Path) -> None:
    """In EvaLTex's own files, the other way round: no fault, but boxes far too large."""
    boxes = [tuple(map(float, box.split(","))) for box in many().values()]
    gt = "".join(
        f'img_{k}\n700,500\n1,1,"",f,{a},{b},{c - a},{d - b}\n'
        for k, (a, b, c, d) in enumerate(boxes)
    )
    det = "".join(f'img_{k}\n1,"",{a},{b},{c},{d}\n' for k, (a, b, c, d) in enumerate(boxes))
    path = written(tmp_path / "det.txt", det)
    status, text = validated(written(tmp_path / "gt.txt", gt), path)
    assert status == 0
    assert "last two numbers of a box in the detections are x1,y1 rather than width,height" in text
    assert "reaches beyond the picture, 500 x 700" in text
    assert f"{path}:2: image 'img_0', object 1" in text


def test_sides_on_which_nothing_counts(tmp_path: Path) -> None:
    det = zipped(tmp_path / "det.zip", {"res_img_1.txt": "", "res_img_2.txt": "\n"})
    status, text = validated(gt_zip(tmp_path), det)
    assert status == 0
    assert "image 'img_1' has no detections; its objects count as missed" in text
    assert "2 images without objects" in text
    rejected = {f"gt_img_{k}.txt": f"{line},###\n" for k, line in QUADS.items()}
    status, text = validated(zipped(tmp_path / "gt.zip", rejected), det_zip(tmp_path))
    assert status == 0 and "every object is don't care" in text


@pytest.mark.parametrize(
    ("policy", "precision", "counts"), [("repair", 2 / 3, (1, 0)), ("drop", 1, (0, 1))]
)
def test_an_invalid_polygon_is_never_passed_over_in_silence(
    tmp_path: Path, policy: Any, precision: float, counts: tuple[int, int]
) -> None:
    files = {"res_img_1.txt": f"{QUADS[1]}\n{BOW_TIE}\n", "res_img_2.txt": f"{QUADS[2]}\n"}
    gt, det = gt_zip(tmp_path), zipped(tmp_path / "bow.zip", files)
    found = evaluate(gt, det, "iou", invalid=policy)
    assert found.scores["precision"] == pytest.approx(precision)
    assert (found.det.repaired, found.det.dropped) == counts
    assert any("1 invalid polygon " in warning for warning in found.warnings)
    said = (
        f"{det}/res_img_1.txt:2: image 'img_1', object 2: a polygon that crosses or touches itself"
    )
    message = refusal(gt, det, invalid="error")
    assert message.startswith(said) and "at (250, 35)" in message
    for options, status in (([], 0), (["--invalid", "error"], 2)):
        result, text = validated(gt, det, *options)
        assert result == status and said in text


def test_both_orientations_count_alike_and_are_reported(tmp_path: Path) -> None:
    order = (6, 7, 4, 5, 2, 3, 0, 1)
    turned = {k: ",".join(line.split(",")[i] for i in order) for k, line in QUADS.items()}
    det = det_zip(tmp_path, turned)
    assert scores(gt_zip(tmp_path), det) == ALL
    assert "a quadrilateral drawn counter-clockwise" in validated(gt_zip(tmp_path), det)[1]
