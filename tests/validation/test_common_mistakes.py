"""Mistakes that users of evaluation tools are known to make: what the user did, and what the tool
says.

Wrong names and formats, archives packed in odd ways, files touched by editors, silent zeros,
invalid polygons.
"""

import codecs

import pytest
from click.testing import CliRunner
from PIL import Image
from written_files import zipped

from evaltex_cli import evaluate
from evaltex_cli.cli import main
from evaltex_cli.errors import InputError
from evaltex_cli.protocols import PROTOCOLS

QUADS = {1: "10,10,110,10,110,40,10,40", 2: "10,60,90,60,90,90,10,90"}
BOXES = {1: "10,10,110,40", 2: "10,60,90,90"}
BOW_TIE = "200,10,300,60,300,10,200,60"
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


def validated(*arguments):
    """Status and text of ``evaltex validate``."""
    result = CliRunner().invoke(main, ["validate", *map(str, arguments), "--all-faults"])
    assert "Traceback" not in result.output
    return result.exit_code, result.output


# Names and archives -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["submit/res_img_{}.txt", "a/b/res_img_{}.txt", "submit\\res_img_{}.txt"]
)
def test_zipped_the_folder_instead_of_the_files(tmp_path, name):
    assert scores(gt_zip(tmp_path), det_zip(tmp_path, name=name)) == ALL


@pytest.mark.parametrize(
    "name", ["res_img_{}.txt", "img_{}.txt", "gt_img_{}.txt", "det_img_{}.txt"]
)
def test_named_the_files_by_another_convention(tmp_path, name):
    assert scores(gt_zip(tmp_path), det_zip(tmp_path, name=name)) == ALL


def test_zipped_on_a_mac(tmp_path):
    files = {f"res_img_{k}.txt": f"{line}\n" for k, line in QUADS.items()}
    files |= {
        "__MACOSX/._res_img_1.txt": b"\x00\x05\x16\x07",
        ".DS_Store": b"\x00",
        "__MACOSX/x/img_9.txt": "1,2",
    }
    det = zipped(tmp_path / "det.zip", files)
    assert scores(gt_zip(tmp_path), det) == ALL
    status, text = validated(gt_zip(tmp_path), det)
    assert status == 0
    assert "MACOSX" not in text
    assert "DS_Store" not in text


def test_left_out_the_common_part_of_the_names(tmp_path):
    """No image pairs: the tool says which would, and what to rename."""
    gt, det = gt_zip(tmp_path), det_zip(tmp_path, name="{}.txt")
    message = refusal(gt, det)
    assert "none of its 2 image names is in" in message
    assert "would pair by number" in message
    assert "rename '1' to 'img_1', '2' to 'img_2'" in message
    status, text = validated(gt, det)
    assert status == 2
    assert "2 that would if spelled alike" in text
    assert "rename it to 'img_1'" in text
    assert [row.split() for row in text.splitlines() if "(number)" in row] == [
        ["img_1", "1", "(number)", "1", "1"],
        ["img_2", "2", "(number)", "1", "1"],
    ]


@pytest.mark.parametrize("extension", [".jpg", ".PNG", ".jpg "])
def test_kept_the_pictures_extension_in_the_names(tmp_path, extension):
    """Also in upper case, and with a blank that nobody sees."""
    gt, det = gt_zip(tmp_path), det_zip(tmp_path, name="img_{}" + extension + ".txt")
    assert scores(gt, det) == ALL
    status, text = validated(gt, det)
    assert status == 0
    assert f"paired without folders, endings and prefixes: 'img_1{extension}' with 'img_1'" in text


def test_a_blank_before_the_ending(tmp_path):
    """Which nobody sees."""
    gt, det = gt_zip(tmp_path), det_zip(tmp_path, name="res_img_{} .txt")
    assert scores(gt, det) == ALL
    status, text = validated(gt, det)
    assert status == 0
    assert "paired without folders, endings and prefixes: 'img_1 ' with 'img_1'" in text


def test_an_archive_in_the_archive(tmp_path):
    inner = det_zip(tmp_path)
    status, text = validated(
        gt_zip(tmp_path), zipped(tmp_path / "submit.zip", {"det.zip": inner.read_bytes()})
    )
    assert status == 2
    assert "no .txt file in it (1 file that is not .txt was left out: 'det.zip')" in text


def test_endings_in_upper_case(tmp_path):
    assert scores(gt_zip(tmp_path), det_zip(tmp_path, name="RES_img_{}.TXT")) == ALL


def test_pictures_whose_ending_is_in_upper_case(tmp_path):
    """They are found, and the size is theirs."""
    (tmp_path / "pictures").mkdir()
    for k in QUADS:
        Image.new("L", (100, 100)).save(tmp_path / "pictures" / f"img_{k}.PNG")
    status, text = validated(gt_zip(tmp_path), det_zip(tmp_path), "--images", tmp_path / "pictures")
    assert status == 0
    assert "no picture" not in text
    assert (
        "gt_img_1.txt:1:7: image 'img_1', object 1: (10, 10) to (110, 40) reaches beyond the"
        " picture, 100 x 100"
    ) in text


def test_misspelled_one_name(tmp_path):
    det = zipped(tmp_path / "det.zip", {"res_img_1.txt": QUADS[1], "res_imgg_2.txt": QUADS[2]})
    message = refusal(gt_zip(tmp_path), det)
    assert "image 'imgg_2' is not in the ground truth (did you mean 'img_2'?)" in message


def test_a_trailing_blank_makes_no_other_name(tmp_path):
    gt, det = tmp_path / "gt.txt", tmp_path / "det.txt"
    gt.write_text('img_1\n90,120\n1,1,"a",f,10,10,100,30\n')
    det.write_text('img_1 \t\n1,"a",10,10,100,30\n')
    assert scores(gt, det) == ALL


def test_the_message_blames_the_right_file(tmp_path):
    det = zipped(
        tmp_path / "det.zip",
        {"res_img_1.txt": f"{QUADS[1]}\n", "res_img_2.txt": f"{QUADS[2]}\nx,y\n"},
    )
    message = refusal(gt_zip(tmp_path), det)
    assert message.startswith(f"{det}/res_img_2.txt:2: ")
    assert "gt" not in message.partition(": ")[0].rpartition("/")[2]


# Formats ------------------------------------------------------------------------------------------


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
        f"{gt}/gt_img_1.txt:31:25: 'Latin' and no transcription after the coordinates; expected"
        " x1,y1,"
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
    ("line", "column"),
    [
        ("10;10;110;10;110;40;10;40", 1),
        ("[10, 10, 110, 10, 110, 40, 10, 40]", 1),
        ("text 0.98 10 10", 1),
        ("x1,y1,x2,y2,x3,y3,x4,y4", 1),
    ],
)
def test_lines_of_no_known_layout(tmp_path, line, column):
    """The message shows the line and the layout that was expected, not an exception."""
    det = zipped(tmp_path / "det.zip", {"res_img_1.txt": f"{line}\n", "res_img_2.txt": f"{line}\n"})
    status, text = validated(gt_zip(tmp_path), det)
    assert status == 2
    assert (
        f"{det}/res_img_1.txt:1:{column}: 0 numbers at the start of '{line}'; expected x0,y0,x1,y1"
        in text
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
    assert f"{det}:2:23: image 'img_0', object 1" in text


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
        f"{det}/res_img_1.txt:2:1: image 'img_1', object 2: a polygon that crosses or touches"
        " itself"
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


def test_plain_command_reports_names_too(tmp_path):
    gt, det = gt_zip(tmp_path), det_zip(tmp_path, name="{}.txt")
    result = CliRunner().invoke(main, [str(gt), str(det), str(tmp_path / "results")])
    assert result.exit_code == 2
    assert "rename '1' to 'img_1'" in result.output
    assert not (tmp_path / "results").exists()
