"""Mistakes that users of evaluation tools are known to make with formats, and files that editors
touched: what the user did, and what the tool says.
"""

import codecs

import pytest
from click.testing import CliRunner
from command_line import validated
from mistakes import ALL, BOXES, QUADS, det_zip, gt_zip, refusal, scores
from written_files import zipped

from evaltex_cli import evaluate
from evaltex_cli.cli import main
from evaltex_cli.errors import InputError
from evaltex_cli.protocols import PROTOCOLS


@pytest.mark.parametrize("gt_shapes", [QUADS, BOXES])
@pytest.mark.parametrize("det_shapes", [QUADS, BOXES])
def test_sides_of_different_formats(tmp_path, gt_shapes, det_shapes):
    assert scores(gt_zip(tmp_path, gt_shapes), det_zip(tmp_path, det_shapes)) == ALL


@pytest.mark.parametrize("shapes", [QUADS, BOXES])
def test_ground_truth_without_transcriptions(tmp_path, shapes):
    gt = zipped(tmp_path / "gt.zip", {f"gt_img_{k}.txt": f"{line}\n" for k, line in shapes.items()})
    assert scores(gt, det_zip(tmp_path, shapes)) == ALL


@pytest.mark.parametrize("shapes", [QUADS, BOXES])
@pytest.mark.parametrize("protocol", ["iou-crw", "cleval", "popeval"])
def test_boxes_and_quadrilaterals_with_transcriptions(tmp_path, shapes, protocol):
    """No flag says so; the last column does."""
    det = zipped(
        tmp_path / "det.zip",
        {f"res_img_{k}.txt": f"{line},word{k}\n" for k, line in shapes.items()},
    )
    found = evaluate(gt_zip(tmp_path, shapes), det, protocol)
    assert found.det.transcriptions == 2
    assert found.scores["recall"] == 1


def test_detections_without_transcriptions_evaluated_end_to_end(tmp_path):
    """A recall of 0 would say nothing of the detections."""
    gt, det = gt_zip(tmp_path), det_zip(tmp_path)
    with pytest.raises(
        InputError, match="no detection has a transcription, and iou-crw compares texts"
    ):
        evaluate(gt, det, "iou-crw")
    for command, shown in (
        ((), "Left out"),
        (("diagnose",), "left out"),
        (("compare",), "left out"),
    ):
        given = [
            *command,
            gt,
            det,
            *([det] if command == ("compare",) else [tmp_path / "res"] if not command else []),
        ]
        result = CliRunner().invoke(main, [*map(str, given), "--protocol", "all"])
        assert result.exit_code == 0
        assert f"{shown}: iou-crw (" in result.output or command == ("compare",)
        assert not any(
            line.startswith(("iou-crw", "popeval")) for line in result.output.splitlines()
        )


def test_a_transcription_missing_on_one_line(tmp_path):
    """Where a data set's own form needs one; the message names line, field and layout."""
    lines = "".join(f"{QUADS[1]},Latin,word\n" for _ in range(30))
    gt = zipped(tmp_path / "gt.zip", {"gt_img_1.txt": f"{lines}{QUADS[2]},Latin\n"})
    status, text = validated(gt)
    assert status == 2
    assert (
        f"{gt}/gt_img_1.txt:31: 'Latin' and no transcription after the coordinates; expected x1,y1,"
    ) in text


@pytest.mark.few_fast(30)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("gt_shapes", [BOXES, QUADS, "curves"])
@pytest.mark.parametrize("det_shapes", [BOXES, QUADS, "curves"])
def test_any_protocol_takes_any_shapes(tmp_path, protocol, gt_shapes, det_shapes):
    """ICDAR 2013 under TIoU, quadrilaterals with a ground truth of curves:
    nobody edits a script.
    """
    gt, det = (
        {k: ",".join(map(str, bent(tuple(map(int, box.split(",")))))) for k, box in BOXES.items()}
        if shapes == "curves"
        else shapes
        for shapes in (gt_shapes, det_shapes)
    )
    det_path = zipped(
        tmp_path / "det.zip", {f"res_img_{k}.txt": f"{line},word{k}\n" for k, line in det.items()}
    )
    found = evaluate(gt_zip(tmp_path, gt), det_path, protocol).scores
    assert found["recall"] > 0.99
    assert found["precision"] > 0.99


def bent(box):
    """Fourteen vertices on the outline of a box."""
    x0, y0, x1, y1 = box
    xs = [x0 + (x1 - x0) * k // 6 for k in range(7)]
    return [value for k, y in enumerate((y0, y1)) for x in (xs, xs[::-1])[k] for value in (x, y)]


def test_what_format_it_is_taken_for_and_why(tmp_path):
    text = validated(gt_zip(tmp_path, BOXES), det_zip(tmp_path))[1]
    assert "format ltrb (numbers at the start of 2 lines: 2 with 4)" in text
    assert "format quad (numbers at the start of 2 lines: 2 with 8)" in text


@pytest.mark.parametrize(
    "line",
    [
        "10;10;110;10;110;40;10;40",
        "[10, 10, 110, 10, 110, 40, 10, 40]",
        "text 0.98 10 10",
        "x1,y1,x2,y2,x3,y3,x4,y4",
    ],
)
def test_lines_of_no_known_layout(tmp_path, line):
    """The message shows the line and the layout that was expected, not an exception."""
    det = zipped(tmp_path / "det.zip", {"res_img_1.txt": f"{line}\n", "res_img_2.txt": f"{line}\n"})
    status, text = validated(gt_zip(tmp_path), det)
    assert status == 2
    assert (
        f"{det}/res_img_1.txt:1: 0 numbers at the start of '{line}'; expected x0,y0,x1,y1" in text
    )


def test_a_box_file_forced_to_be_of_quadrilaterals(tmp_path):
    message = refusal(gt_zip(tmp_path), det_zip(tmp_path, BOXES), det_format="quad")
    assert "4 numbers" in message
    assert "x1,y1,x2,y2,x3,y3,x4,y4" in message


def test_polygons_and_quadrilaterals_mixed(tmp_path):
    shapes = QUADS | {2: "10,60,50,60,90,60,90,90,50,90,10,90"}
    assert scores(gt_zip(tmp_path, shapes), det_zip(tmp_path, shapes)) == ALL


@pytest.mark.parametrize(
    "content", [codecs.BOM_UTF8 + b"10,10,110,40\r\n\r\n", b"  10, 10, 110, 40  \n\n"]
)
def test_saved_by_an_editor_with_mark_blanks_and_crlf(tmp_path, content):
    det = zipped(tmp_path / "det.zip", {"res_img_1.txt": content, "res_img_2.txt": BOXES[2]})
    assert scores(gt_zip(tmp_path, BOXES), det) == ALL


def test_no_such_format_at_all(tmp_path):
    path = tmp_path / "det.rar"
    path.write_bytes(b"Rar!\x1a\x07\x01\x00\x33\x92\xb5\xe5" + bytes(100))
    assert "an archive that is not .zip, which is not read; unpack it" in refusal(
        gt_zip(tmp_path), path
    )
    status, text = validated(gt_zip(tmp_path), path)
    assert status == 2
    assert f"{path}: an archive that is not .zip" in text


def test_no_such_file(tmp_path):
    status, text = validated(gt_zip(tmp_path), tmp_path / "nothing.zip")
    assert status == 2
    assert "nothing.zip: cannot be read" in text
