"""`evaltex validate`: its status, its text, its JSON, and what it says of both sides together."""

import json
from dataclasses import asdict

import pytest
from command_line import validated
from hypothesis import given, settings
from hypothesis import strategies as st
from validate_inputs import GT, places
from written_files import zipped

from evaltex_cli import evaluate
from evaltex_cli.errors import InputError
from evaltex_cli.validation.validation import validate

# The command --------------------------------------------------------------------------------------


def test_sound_inputs(files):
    status, text = validated(*files())
    assert status == 0
    assert "format evaltex (one text file of many images)" in text
    assert "2 images, 3 objects, 1 don't care, 3 transcriptions, 1 image of don't care only" in text
    assert text.endswith("0 errors\n1 warning: 1 empty-image\n")


def test_ground_truth_alone(files):
    status, text = validated(files()[0])
    assert status == 0
    assert "pairing" not in text
    assert "detections" not in text


def test_status_is_2_for_errors_and_0_for_warnings(files):
    assert validated(*files(det='img_1\n1,"a",10,10,600,20\n'))[0] == 0
    assert validated(*files(det='img_1\n1,"a",10,10,x,20\n'))[0] == 2


def test_every_fault_is_shown_or_as_many_as_asked_for(files):
    gt, det = files(det="img_1\n" + "".join(f'{k},"a",1{k},10,bad,20\n' for k in range(1, 31)))
    status, text = validated(gt, det)
    assert status == 2
    assert all(f"{det}:{k + 1}: 'bad'; expected a finite number" in text for k in range(1, 31))
    assert "30 errors: 30 input" in text
    limited = validated(gt, det, "--limit", 3)[1]
    assert limited.count("'bad'") == 3
    assert "... and 27 more errors" in limited
    assert "30 errors: 30 input" in limited


def test_json_holds_everything(files, tmp_path):
    gt, det = files(det='img_1\n1,"a",10,10,x,20\n2,"b",10,40,600,20\nimg_9\n')
    output = tmp_path / "found.json"
    status, text = validated(gt, det, "--format", "json", "--output", output)
    assert (status, text) == (2, "")
    document = json.loads(output.read_text())
    found = validate(gt, det)
    assert document == {
        "schema": 1,
        "tool": "evaltex",
        "version": document["version"],
        "kind": "validation",
        "passed": False,
        "errors": 2,
        "warnings": 2,
        **json.loads(json.dumps(asdict(found))),
    }
    assert {problem["kind"] for problem in document["problems"]} == {
        "input",
        "extra-image",
        "missing-image",
        "outside-picture",
    }


def test_errors_come_first_and_lines_are_right(files):
    gt, det = files(det='img_1\n2,"b",10,40,600,20\n1,"a",10,10,sixty,20\n')
    found = validate(gt, det)
    assert [problem.level for problem in found.problems] == sorted(
        problem.level for problem in found.problems
    )
    assert places(found, "input") == [("det.txt", 3, None, None)]


def test_a_side_that_cannot_be_read_does_not_hide_the_other(files, tmp_path):
    gt, _ = files(gt=GT.replace(",60,20", ",600,20"))
    status, text = validated(gt, tmp_path / "none")
    assert status == 2
    assert "none: cannot be read" in text
    assert text.count("reaches beyond the picture") == 3
    status, text = validated(tmp_path / "none", gt)
    assert status == 2


def test_many_images_that_pair_are_listed_on_demand(files):
    names = [f"img_{k}" for k in range(30)]
    gt, det = files(
        "".join(f'{n}\n9,9\n1,1,"",f,1,1,5,5\n' for n in names),
        "".join(f"{n}\n" for n in names[1:]),
    )
    text = validated(gt, det)[1]
    assert "(29 images that pair by name are not listed" in text
    assert "  img_0" in text
    assert "  img_7 " not in text
    assert "  img_7 " in validated(gt, det, "--pairs")[1]


def test_pairing_table(files):
    gt, det = files(
        "img_1\n9,9\nimg_2.jpg\n9,9\nscan_007\n9,9\nlonely\n9,9\n",
        'img_1\nres_img_2\n1,"",1,1,5,5\n7\nsolo\n',
    )
    found = validate(gt, det)
    assert [
        (pair.gt, pair.det, pair.by, pair.objects, pair.detections) for pair in found.pairs
    ] == [
        ("img_1", "img_1", "name", 0, 0),
        ("img_2.jpg", "res_img_2", "file name", 0, 1),
        ("scan_007", "7", "number", 0, 0),
        ("lonely", None, None, 0, None),
        (None, "solo", None, None, 0),
    ]
    assert places(found, "extra-image") == [
        ("det.txt", 4, "7", None),
        ("det.txt", 5, "solo", None),
    ]
    advice = [problem.advice for problem in found.problems if problem.kind == "extra-image"]
    assert advice[:1] == ["rename it to 'scan_007'"]
    assert [problem.image for problem in found.problems if problem.kind == "missing-image"] == [
        "lonely"
    ]
    assert places(found, "empty-image") == [("det.txt", 1, "img_1", None)]


def test_why_an_archive_is_of_its_format(tmp_path):
    files = {
        "gt_img_1.txt": "1,1,9,1,9,9,1,9,a\n1,1,9,1,9,9,1,9,12,b\n\n",
        "gt_img_2.txt": "\ufeff1,1,9,1,9,9,1,9,c\r\n",
    }
    found = validate(zipped(tmp_path / "gt.zip", files))
    assert (found.gt.format, found.gt.reason) == (
        "quad",
        "numbers at the start of 3 lines: 2 with 8, 1 with 9",
    )
    assert validate(tmp_path / "gt.zip", gt_format="quad").gt.reason == "as was given"


def test_lines_in_archives(tmp_path):
    first = "\n1,1,9,1,9,9,1,9,a\n\n1,1,9,9,9,1,1,9,bow\n1,1,9,1,9,9,1,9,again\n"
    files = {"a/gt_img_1.txt": first, "a/gt_img_2.txt": "1,9,9,9,9,1,1,1,counter\n"}
    found = validate(zipped(tmp_path / "gt.zip", files))
    assert places(found, "invalid-polygon") == [("gt_img_1.txt", 4, "img_1", 2)]
    assert places(found, "duplicate") == [("gt_img_1.txt", 5, "img_1", 3)]
    assert places(found, "orientation") == [("gt_img_2.txt", 1, "img_2", None)]


def test_a_faulty_line_does_not_shift_the_others_lines(files):
    """Lines that were refused are of no object."""
    gt, det = files(det='img_1\n1,"a",10,x,60,20\n2,"b",10,40,600,20\n')
    assert places(validate(gt, det), "outside-picture") == [("det.txt", 3, "img_1", 2)]


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            ["img_1", "img_2", "1", "gt_img_1.jpg", "100,200", "0,5", "", " ", "a,b", "../x"]
        ),
        st.sampled_from(["1", "2", "x", "-1"]).flatmap(
            lambda own: st.sampled_from(
                [
                    f'{own},1,"a",f,1,1,5,5',
                    f'{own},1,"a",q,1,1,5,5',
                    f'{own},"a",1,1,5,5',
                    f'{own},"a",1,1,0,5',
                    f'{own},"a",1,1,9,9,9,1,1,9',
                    f'{own},2,"###",t,1,1,2,2,3,3',
                    f"{own},3,f,1,1,nan,5",
                ]
            )
        ),
        st.text(max_size=8).filter(lambda text: "\n" not in text),
    ),
    max_size=8,
)


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=60)
@given(gt=LINES, det=LINES, policy=st.sampled_from(["repair", "drop", "error"]))
def test_errors_are_what_an_evaluation_refuses(tmp_path_factory, gt, det, policy):
    folder = tmp_path_factory.getbasetemp()
    for name, lines in (("any_gt.txt", ["img_1", "100,200", *gt]), ("any_det.txt", det)):
        (folder / name).write_bytes("\n".join(lines).encode("utf-8", "replace"))
    paths = folder / "any_gt.txt", folder / "any_det.txt"
    found = validate(*paths, invalid=policy)
    try:
        evaluate(*paths, "evaltex", invalid_polygons=policy)
        refused = False
    except InputError:
        refused = True
    assert found.passed is not refused


# Misreadings --------------------------------------------------------------------------------------


@pytest.mark.parametrize("images", [None, "pictures"])
def test_pictures_that_are_missing_are_listed_for_one_side(tmp_path, images):
    """Coordinates of both sides are fractions of the same pages."""
    for side in ("gt", "det"):
        (tmp_path / side).mkdir()
        for k in (1, 2):
            (tmp_path / side / f"img_{k}.txt").write_text("0 0.5 0.5 0.2 0.1\n")
    (tmp_path / "pictures").mkdir()
    formats = {"gt_format": "yolo", "det_format": "yolo"}
    folder = None if images is None else tmp_path / images
    found = validate(tmp_path / "gt", tmp_path / "det", images=folder, **formats)
    assert [(one.kind, one.side) for one in found.problems if one.level == "error"] == [
        ("input", "gt")
    ]
    assert not found.passed
