"""`evaltex validate`: its status, its text, its JSON, and what it says of both sides together."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from command_line import validated
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from validate_inputs import GT, places
from written_files import in_folder, zipped

from evaltex_cli import evaluate, validate
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation import pairing


def test_sound_inputs(files: Any) -> None:
    status, text = validated(*files())
    assert status == 0
    assert "format evaltex (a name, height and width)" in text
    assert (
        "2 images, 3 objects, 1 don't care, 3 transcriptions, 1 image with only don't-care objects"
        in text
    )
    assert text.endswith("Validation passed: 0 errors, 1 warning (1 empty-image)\n")


def test_status_is_2_for_errors_and_0_for_warnings(files: Any) -> None:
    assert validated(*files(det='img_1\n1,"a",10,10,600,20\n'))[0] == 0
    assert validated(*files(det='img_1\n1,"a",10,10,x,20\n'))[0] == 2


def test_every_fault_is_shown(files: Any) -> None:
    gt, det = files(det="img_1\n" + "".join(f'{k},"a",1{k},10,bad,20\n' for k in range(1, 31)))
    status, text = validated(gt, det)
    assert status == 2
    assert all(f"{det}:{k + 1}: " in text for k in range(1, 31))
    assert "30 errors (30 input)" in text


def test_json_holds_everything(files: Any, tmp_path: Path) -> None:
    gt, det = files(det='img_1\n1,"a",10,10,x,20\n2,"b",10,40,600,20\nimg_9\n')
    output = tmp_path / "found.json"
    assert validated(gt, det, "--format", "json", "--output", output) == (2, "")
    document = json.loads(output.read_text())
    head = {"schema": 1, "tool": "evaltex", "version": document["version"], "kind": "validation"}
    counts = {"passed": False, "errors": 2, "warnings": 2}
    assert document == head | counts | json.loads(json.dumps(asdict(validate(gt, det))))
    kinds = {problem["kind"] for problem in document["problems"]}
    assert kinds == {"input", "extra-image", "missing-image", "outside-picture"}


def test_errors_come_first_and_lines_are_right(files: Any) -> None:
    """A faulty line does not shift the lines of the others."""
    found = validate(
        *files(det='img_1\n2,"b",10,40,600,20\n1,"a",10,10,sixty,20\n3,"",1,1,900,5\n')
    )
    levels = [problem.level for problem in found.problems]
    assert levels == sorted(levels)
    assert places(found, "input") == [("det.txt", 3, None, None)]
    outside = [("det.txt", 2, "img_1", 2), ("det.txt", 4, "img_1", 3)]
    assert places(found, "outside-picture") == outside


def test_a_side_that_cannot_be_read_does_not_hide_the_other(files: Any, tmp_path: Path) -> None:
    gt, _ = files(gt=GT.replace(",60,20", ",600,20"))
    status, text = validated(gt, tmp_path / "none")
    assert status == 2
    assert "none: cannot be read" in text and text.count("reaches beyond the picture") == 3
    assert validated(tmp_path / "none", gt)[0] == 2


def test_pairing_table(files: Any) -> None:
    gt, det = files(
        "img_1\n9,9\nimg_2.jpg\n9,9\nscan_007\n9,9\nlonely\n9,9\n",
        'img_1\nres_img_2\n1,"",1,1,5,5\n7\nsolo\n',
    )
    found = validate(gt, det)
    assert [tuple(asdict(pair).values()) for pair in found.pairs] == [
        ("img_1", "img_1", "name", 0, 0),
        ("img_2.jpg", "res_img_2", "file name", 0, 1),
        ("scan_007", "7", "number", 0, 0),
        ("lonely", None, None, 0, None),
        (None, "solo", None, None, 0),
    ]
    problems = [(one.kind, one.image, one.advice) for one in found.problems if one.image]
    assert problems == [
        ("extra-image", "7", "rename it to 'scan_007'"),
        ("extra-image", "solo", "give only images that it has"),
        ("empty-image", "img_1", "no object in it counts, so none is missed"),
        ("missing-image", "lonely", "no object in it counts, so none is missed"),
    ]


@pytest.mark.parametrize(
    ("gt", "det", "pairs"),
    [
        (["img_1", "pic_1"], ["1"], {}),
        (["a", "b"], ["c"], {}),
        (["img_1", "img_2"], ["2", "01"], {"img_1": ("01", "number"), "img_2": ("2", "number")}),
        (["img_1"], ["gt_img_1.jpg", "img-1"], {"img_1": ("gt_img_1.jpg", "stem")}),
    ],
)
def test_spellings_that_are_not_clear_do_not_pair(
    gt: list[str], det: list[str], pairs: dict[str, tuple[str, str]]
) -> None:
    assert pairing.would_pair(gt, det) == pairs


def test_lines_and_reasons_in_archives(tmp_path: Path) -> None:
    first = "\n1,1,9,1,9,9,1,9,a\n\n1,1,9,9,9,1,1,9,bow\n1,1,9,1,9,9,1,9,again\n"
    files = {"a/gt_img_1.txt": first, "a/gt_img_2.txt": "\ufeff1,9,9,9,9,1,1,1,12,counter\r\n"}
    found = validate(zipped(tmp_path / "gt.zip", files))
    assert places(found, "invalid-polygon") == [("gt_img_1.txt", 4, "img_1", 2)]
    assert places(found, "duplicate") == [("gt_img_1.txt", 5, "img_1", 3)]
    assert places(found, "orientation") == [("gt_img_2.txt", 1, "img_2", 1)]
    assert found.gt is not None
    assert found.gt.format == "quad"
    assert found.gt.reason.startswith("recognised by 4 of 4 lines of x1,y1,x2,y2,x3,y3,x4,y4")
    named = validate(tmp_path / "gt.zip", gt_format="quad").gt
    assert named is not None and named.reason == "named"


def test_places_in_documents(tmp_path: Path) -> None:
    image = {"id": 1, "file_name": "1.jpg", "width": 9, "height": 9}
    boxes = [[1, 1, 5, 5], [1, 1, 50, 5], [1, 1, "5", 5]]
    annotations = [
        {"id": k, "image_id": 1, "category_id": 1, "bbox": box} for k, box in enumerate(boxes)
    ]
    whole = {"images": [image], "annotations": annotations, "categories": []}
    (tmp_path / "gt.json").write_text(json.dumps(whole))
    found = {one.kind: one for one in validate(tmp_path / "gt.json").problems}
    assert found["outside-picture"].where == "annotations[1]"
    assert found["input"].where.startswith("annotations[2].bbox")


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
def test_errors_are_what_an_evaluation_refuses(
    tmp_path_factory: Any, gt: list[str], det: list[str], policy: Any
) -> None:
    folder = tmp_path_factory.getbasetemp()
    for name, lines in (("any_gt.txt", ["img_1", "100,200", *gt]), ("any_det.txt", det)):
        (folder / name).write_bytes("\n".join(lines).encode("utf-8", "replace"))
    paths = folder / "any_gt.txt", folder / "any_det.txt"
    try:
        evaluate(*paths, "evaltex", invalid=policy)
        refused = False
    except InputError:
        refused = True
    assert validate(*paths, invalid=policy).passed is not refused


def test_sizes_are_compared_with_those_of_pictures(files: Any, tmp_path: Path) -> None:
    for k, size in ((1, (200, 100)), (2, (100, 200))):
        Image.new("L", size).save(tmp_path / f"img_{k}.png")
    (one,) = [one for one in validate(*files(), images=tmp_path).problems if one.kind == "picture"]
    assert "image 'img_2': height,width 100,200" in one.found
    assert one.advice == "200,100, as its picture has (height and width are swapped)"
    box = "10,10,190,90\n"
    boxes = in_folder(tmp_path / "boxes", {"img_1.txt": f"{box}10,10,190,900\n", "img_3.txt": box})
    found = validate(boxes, images=tmp_path)
    assert places(found, "outside-picture") == [("img_1.txt", 2, "img_1", 2)]
    (one,) = [one for one in found.problems if one.kind == "picture"]
    assert "1 of 2 images without a picture that can be read: 'img_3'" in one.found
