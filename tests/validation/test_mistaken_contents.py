"""Zeros without a reason, and invalid polygons: what the user did, and what the tool says."""

import pytest
from click.testing import CliRunner
from command_line import validated
from mistakes import ALL, QUADS, det_zip, gt_zip, refusal, scores
from written_files import zipped

from evaltex_cli import evaluate
from evaltex_cli.cli import main

BOW_TIE = "200,10,300,60,300,10,200,60"


# Zeros without a reason ---------------------------------------------------------------------------


def many(change=lambda numbers: numbers, first=1, count=12):
    """Boxes of images, each elsewhere; the change makes the mistake."""
    shapes = {}
    for k in range(count):
        x, y = 40 + 67 * k % 300, 400 + 43 * k % 200
        box = change([x, y, x + 100 + 5 * k, y + 30 + k])
        shapes[k + first] = ",".join(f"{value:g}" for value in box)
    return shapes


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda box: [box[1], box[0], box[3], box[2]], ["x and y are swapped"]),
        (lambda box: [value / 2 for value in box], ["another scale", "multiplied by about 2 "]),
    ],
)
def test_everything_scores_zero(tmp_path, mistake, words):
    gt, det = gt_zip(tmp_path, many()), det_zip(tmp_path, many(mistake))
    assert scores(gt, det) == {"recall": 0, "precision": 0}
    status, text = validated(gt, det)
    assert status == 0
    result = CliRunner().invoke(
        main, [str(gt), str(det), str(tmp_path / "results"), "--protocol", "iou"]
    )
    assert result.exit_code == 0
    assert "nothing matches; " in result.output
    for word in words:
        assert word in text
        assert word in result.output


def test_numbers_shifted_by_one(tmp_path):
    gt, det = (
        gt_zip(tmp_path, many(first=1)),
        det_zip(tmp_path, dict(list(many(first=2).items())[:-1])),
    )
    assert scores(gt, det) == {"recall": 0, "precision": 0}
    status, text = validated(gt, det)
    assert status == 0
    assert "the numbers are shifted by one" in text


def test_width_and_height_given_as_corners(tmp_path):
    wrong = many(lambda box: [box[0], box[1], box[2] - box[0], box[3] - box[1]])
    gt, det = gt_zip(tmp_path, many()), det_zip(tmp_path, wrong)
    assert "x0 <= x1 and y0 <= y1" in refusal(gt, det)
    status, text = validated(gt, det)
    assert status == 2
    assert "these look like x,y,width,height" in text


def test_corners_given_as_width_and_height(tmp_path):
    """In EvaLTex's own files, the other way round: no fault, but boxes far too large."""
    gt, det = tmp_path / "gt.txt", tmp_path / "det.txt"
    boxes = [[float(value) for value in box.split(",")] for box in many().values()]
    gt.write_text(
        "".join(
            f'img_{k}\n700,500\n1,1,"",f,{b[0]},{b[1]},{b[2] - b[0]},{b[3] - b[1]}\n'
            for k, b in enumerate(boxes)
        )
    )
    det.write_text(
        "".join(f'img_{k}\n1,"",{b[0]},{b[1]},{b[2]},{b[3]}\n' for k, b in enumerate(boxes))
    )
    status, text = validated(gt, det)
    assert status == 0
    assert (
        "the last two numbers of a box in the detections are x1,y1 rather than width,height" in text
    )
    assert "reaches beyond the picture, 500 x 700" in text
    assert f"{det}:2: image 'img_0', object 1" in text


def test_detections_that_are_empty(tmp_path):
    det = zipped(tmp_path / "det.zip", {"res_img_1.txt": "", "res_img_2.txt": "\n"})
    status, text = validated(gt_zip(tmp_path), det)
    assert status == 0
    assert "image 'img_1' has no detections; its objects count as missed" in text
    assert "2 images without objects" in text


def test_ground_truth_of_dont_care_only(tmp_path):
    gt = zipped(
        tmp_path / "gt.zip", {f"gt_img_{k}.txt": f"{line},###\n" for k, line in QUADS.items()}
    )
    status, text = validated(gt, det_zip(tmp_path))
    assert status == 0
    assert "every object is don't care" in text


# Invalid polygons ---------------------------------------------------------------------------------


def with_bow_tie(tmp_path):
    return zipped(
        tmp_path / "bow.zip",
        {"res_img_1.txt": f"{QUADS[1]}\n{BOW_TIE}\n", "res_img_2.txt": f"{QUADS[2]}\n"},
    )


@pytest.mark.parametrize(
    ("policy", "precision", "counts"), [("repair", 2 / 3, (1, 0)), ("drop", 1.0, (0, 1))]
)  # fmt: skip
def test_an_invalid_polygon_is_never_passed_over_in_silence(tmp_path, policy, precision, counts):
    found = evaluate(gt_zip(tmp_path), with_bow_tie(tmp_path), "iou", invalid_polygons=policy)
    assert found.scores["precision"] == pytest.approx(precision)
    assert (found.det.repaired, found.det.dropped) == counts
    assert f"|invalid:{policy}|" in found.signature
    assert any("1 invalid polygon " in warning for warning in found.warnings)


def test_an_invalid_polygon_is_an_error_where_that_is_asked_for(tmp_path):
    det = with_bow_tie(tmp_path)
    message = refusal(gt_zip(tmp_path), det, invalid_polygons="error")
    assert message.startswith(
        f"{det}/res_img_1.txt:2: image 'img_1', object 2: a polygon that crosses or touches"
    )
    assert "at (250, 35)" in message
    assert validated(gt_zip(tmp_path), det, "--invalid", "error")[0] == 2


def test_which_polygon_is_invalid_and_where(tmp_path):
    det = with_bow_tie(tmp_path)
    status, text = validated(gt_zip(tmp_path), det)
    assert status == 0
    assert (
        f"{det}/res_img_1.txt:2: image 'img_1', object 2: a polygon that crosses or touches itself"
    ) in text


def test_both_orientations_count_alike_and_are_reported(tmp_path):
    reversed_quads = {
        k: ",".join(line.split(",")[i] for i in (6, 7, 4, 5, 2, 3, 0, 1))
        for k, line in QUADS.items()
    }
    det = det_zip(tmp_path, reversed_quads)
    assert scores(gt_zip(tmp_path), det) == ALL
    assert (
        "1 of 1 quadrilateral is counter-clockwise (object 1)"
        in validated(gt_zip(tmp_path), det)[1]
    )
