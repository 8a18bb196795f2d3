"""`evaltex validate`, its checks, the policy for invalid polygons, sizes from
pictures, other spellings of names.
"""

import json
import re
import struct
import zipfile
import zlib
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import shapely
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from shared_data import DATA, needs_data

from evaltex_cli import evaluate
from evaltex_cli.cli import main
from evaltex_cli.errors import ConfigError, InputError
from evaltex_cli.evaluation import coordinate_mixups, pairing
from evaltex_cli.evaluation.arrays import image_objects
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.base import ReadImages
from evaltex_cli.formats.files import image_names
from evaltex_cli.formats.filters import NOWHERE, treat_invalid
from evaltex_cli.formats.image_sizes import find_pictures, picture_size, sizes_from_pictures
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.geometry import outlines, polygons
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.records import GeometryCounts, ImageBatch, Outlines
from evaltex_cli.records.rows import concatenate
from evaltex_cli.validation import object_checks
from evaltex_cli.validation.validation import validate

PROPERTY = settings(deadline=None, derandomize=True, max_examples=60)

GT = """img_1
100,200
1,1,"a",f,10,10,60,20
2,2,"b",f,10,40,60,20

img_2
100,200
1,1,"###",t,10,10,60,20
"""
DET = """img_1
1,"a",10,10,60,20
2,"b",10,40,60,20

img_2
"""


@pytest.fixture
def files(tmp_path):
    """Write both texts, and return their paths."""

    def write(gt=GT, det=DET):
        (tmp_path / "gt.txt").write_text(gt)
        (tmp_path / "det.txt").write_text(det)
        return tmp_path / "gt.txt", tmp_path / "det.txt"

    return write


def run(*arguments):
    result = CliRunner().invoke(main, ["validate", *map(str, arguments), "--all-faults"])
    assert "Traceback" not in result.output
    assert "internal error" not in result.output
    return result.exit_code, result.output


def places(found, kind):
    return [
        (Path(p.file).name, p.line, p.column, p.image, p.object)
        for p in found.problems
        if p.kind == kind
    ]


# The command --------------------------------------------------------------------------------------


def test_sound_inputs(files):
    status, text = run(*files())
    assert status == 0
    assert "format evaltex (one text file of many images)" in text
    assert "2 images, 3 objects, 1 don't care, 3 transcriptions, 1 image of don't care only" in text
    assert text.endswith("0 errors\n1 warning: 1 empty-image\n")


def test_ground_truth_alone(files):
    status, text = run(files()[0])
    assert status == 0
    assert "pairing" not in text
    assert "detections" not in text


def test_status_is_2_for_errors_and_0_for_warnings(files):
    assert run(*files(det='img_1\n1,"a",10,10,600,20\n'))[0] == 0
    assert run(*files(det='img_1\n1,"a",10,10,x,20\n'))[0] == 2


def test_every_fault_is_shown_or_as_many_as_asked_for(files):
    gt, det = files(det="img_1\n" + "".join(f'{k},"a",1{k},10,bad,20\n' for k in range(1, 31)))
    status, text = run(gt, det)
    assert status == 2
    columns = {k: len(f'{k},"a",1{k},10,') + 1 for k in range(1, 31)}
    assert all(
        f"{det}:{k + 1}:{column}: 'bad'; expected a finite number" in text
        for k, column in columns.items()
    )
    assert "30 errors: 30 input" in text
    limited = run(gt, det, "--limit", 3)[1]
    assert limited.count("'bad'") == 3
    assert "... and 27 more errors" in limited
    assert "30 errors: 30 input" in limited


def test_json_holds_everything(files, tmp_path):
    gt, det = files(det='img_1\n1,"a",10,10,x,20\n2,"b",10,40,600,20\nimg_9\n')
    output = tmp_path / "found.json"
    status, text = run(gt, det, "--format", "json", "--output", output)
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


def test_errors_come_first_and_lines_and_columns_are_right(files):
    gt, det = files(det='img_1\n2,"b",10,40,600,20\n1,"a",10,10,sixty,20\n')
    found = validate(gt, det)
    assert [problem.level for problem in found.problems] == sorted(
        problem.level for problem in found.problems
    )
    assert places(found, "input") == [("det.txt", 3, 13, None, None)]
    assert det.read_text().splitlines()[2][12:].startswith("sixty")


def test_a_side_that_cannot_be_read_does_not_hide_the_other(files, tmp_path):
    gt, _ = files(gt=GT.replace(",60,20", ",600,20"))
    status, text = run(gt, tmp_path / "none")
    assert status == 2
    assert "none: cannot be read" in text
    assert text.count("reaches beyond the picture") == 3
    status, text = run(tmp_path / "none", gt)
    assert status == 2


def test_many_images_that_pair_are_listed_on_demand(files):
    names = [f"img_{k}" for k in range(30)]
    gt, det = files(
        "".join(f'{n}\n9,9\n1,1,"",f,1,1,5,5\n' for n in names),
        "".join(f"{n}\n" for n in names[1:]),
    )
    text = run(gt, det)[1]
    assert "(29 images that pair by name are not listed" in text
    assert "  img_0" in text
    assert "  img_7 " not in text
    assert "  img_7 " in run(gt, det, "--pairs")[1]


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
        ("det.txt", 4, 1, "7", None),
        ("det.txt", 5, 1, "solo", None),
    ]
    advice = [problem.advice for problem in found.problems if problem.kind == "extra-image"]
    assert advice[:1] == ["rename it to 'scan_007'"]
    assert [problem.image for problem in found.problems if problem.kind == "missing-image"] == [
        "lonely"
    ]
    assert places(found, "empty-image") == [("det.txt", 1, 1, "img_1", None)]


def test_why_an_archive_is_of_its_format(tmp_path):
    with zipfile.ZipFile(tmp_path / "gt.zip", "w") as packed:
        packed.writestr("gt_img_1.txt", "1,1,9,1,9,9,1,9,a\n1,1,9,1,9,9,1,9,12,b\n\n")
        packed.writestr("gt_img_2.txt", "\ufeff1,1,9,1,9,9,1,9,c\r\n")
    found = validate(tmp_path / "gt.zip")
    assert (found.gt.format, found.gt.reason) == (
        "quad",
        "numbers at the start of 3 lines: 2 with 8, 1 with 9",
    )
    assert validate(tmp_path / "gt.zip", gt_format="quad").gt.reason == "as was given"


def test_lines_in_archives(tmp_path):
    with zipfile.ZipFile(tmp_path / "gt.zip", "w") as packed:
        packed.writestr(
            "a/gt_img_1.txt", "\n1,1,9,1,9,9,1,9,a\n\n1,1,9,9,9,1,1,9,bow\n1,1,9,1,9,9,1,9,again\n"
        )
        packed.writestr("a/gt_img_2.txt", "1,9,9,9,9,1,1,1,counter\n")
    found = validate(tmp_path / "gt.zip")
    assert places(found, "invalid-polygon") == [("gt_img_1.txt", 4, 1, "img_1", 2)]
    assert places(found, "duplicate") == [("gt_img_1.txt", 5, 1, "img_1", 3)]
    assert places(found, "orientation") == [("gt_img_2.txt", 1, 1, "img_2", None)]


def test_a_faulty_line_does_not_shift_the_others_lines(files):
    """Lines that were refused are of no object."""
    gt, det = files(det='img_1\n1,"a",10,x,60,20\n2,"b",10,40,600,20\n')
    assert places(validate(gt, det), "outside-picture") == [("det.txt", 3, 13, "img_1", 2)]


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
@settings(deadline=None, derandomize=True, max_examples=200)
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


# Checks -------------------------------------------------------------------------------------------

COORDINATE = st.integers(-2, 6)
RINGS = st.lists(st.lists(st.tuples(COORDINATE, COORDINATE), min_size=3, max_size=6), max_size=8)
BOXES = st.lists(
    st.tuples(COORDINATE, COORDINATE, st.integers(0, 3), st.integers(0, 3)).map(
        lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3])
    ),
    max_size=6,
)


def kinds(findings):
    return [(finding.kind, finding.row) for finding in findings]


@PROPERTY
@given(BOXES, RINGS)
def test_checks_against_plain_ones(boxes, rings):
    objects = image_objects(
        np.array(boxes).reshape(-1, 4), [np.array(ring, float) for ring in rings]
    )
    width, height = 3, 2
    expected = [
        ("invalid-polygon", len(boxes) + i)
        for i, ring in enumerate(rings)
        if not shapely.Polygon(ring).is_valid
    ]
    expected += [
        ("zero-area", i) for i, (x0, y0, x1, y1) in enumerate(boxes) if x0 == x1 or y0 == y1
    ]
    bounds = list(boxes) + [
        (min(x for x, _ in r), min(y for _, y in r), max(x for x, _ in r), max(y for _, y in r))
        for r in rings
    ]
    expected += [
        ("outside-picture", i)
        for i, (x0, y0, x1, y1) in enumerate(bounds)
        if x0 < -1 or y0 < -1 or x1 > width + 1 or y1 > height + 1
    ]
    drawn = [("box", *box) for box in boxes] + [tuple(ring) for ring in rings]
    expected += [("duplicate", i) for i, one in enumerate(drawn) if one in drawn[:i]]
    turned = [
        len(boxes) + i
        for i, ring in enumerate(rings)
        if len(ring) == 4
        and sum(x * v - u * y for (x, y), (u, v) in zip(ring, ring[1:] + ring[:1], strict=True)) < 0
    ]
    found = kinds(object_checks.check(objects, np.array([[height, width]], float)))
    assert [one for one in found if one[0] != "orientation"] == expected
    assert [row for kind, row in found if kind == "orientation"] == turned[:1]


def test_what_is_counter_clockwise_is_reported_image_by_image():
    clockwise = np.array([[0, 0], [9, 0], [9, 9], [0, 9]])
    images = [
        image_objects(polygons=[clockwise[::-1] if turned else clockwise for turned in drawn])
        for drawn in ([True, False, True], [False], [], [False, True])
    ]
    alone = [
        finding.found for objects in images for finding in object_checks.counter_clockwise(objects)
    ]
    together = list(object_checks.counter_clockwise(concatenate(images)))
    assert [finding.found for finding in together] == alone
    assert alone[0] == "2 of 3 quadrilaterals are counter-clockwise (objects 1, 3)"
    assert [finding.row for finding in together] == [0, 5]


@pytest.mark.parametrize(
    ("ring", "reported"), [([0, 1, 2, 3], False), ([3, 2, 1, 0], True), ([2, 3, 0, 1], False)]
)
def test_clockwise_is_as_seen_on_a_screen(ring, reported):
    square = np.array([[0, 0], [9, 0], [9, 9], [0, 9]])
    assert (
        bool(list(object_checks.counter_clockwise(image_objects(polygons=[square[ring]]))))
        == reported
    )


def test_dont_care_images():
    rejected = image_objects([[0, 0, 1, 1]], dont_care=[True])
    counted = image_objects([[0, 0, 1, 1], [0, 0, 2, 2]], dont_care=[True, False])
    assert object_checks.all_dont_care(rejected).tolist() == [True]
    assert object_checks.all_dont_care(counted).tolist() == [False]
    assert object_checks.all_dont_care(image_objects()).tolist() == [False]


# The policy for invalid polygons ------------------------------------------------------------------


def as_read(boxes, rings):
    objects = image_objects(
        np.array(boxes, float).reshape(-1, 4), [np.array(ring, float) for ring in rings]
    )
    repairs = polygons.from_vertices(objects.outlines.vertices, objects.outlines.offsets)[1]
    return ReadImages(np.zeros((1, 2)), objects, repairs)


@PROPERTY
@given(BOXES, RINGS)
def test_policies_against_a_plain_filter(boxes, rings):
    read = as_read(boxes, rings)
    valid = [shapely.Polygon(ring).is_valid for ring in rings]
    same, nothing = treat_invalid(read, "repair", "gt")
    assert same is read
    assert nothing == {}
    _, refused = treat_invalid(read, "error", "gt")
    assert list(refused) == [len(boxes) + i for i, good in enumerate(valid) if not good]
    left, nothing = treat_invalid(read, "drop", "gt")
    assert nothing == {}
    kept = [len(boxes) + i for i, good in enumerate(valid) if good]
    rows = [*range(len(boxes)), *kept]
    assert left.repairs == GeometryCounts(dropped=valid.count(False))
    assert left.objects.ids.tolist() == read.objects.ids[rows].tolist()
    assert left.objects.boxes.tolist() == read.objects.boxes[rows].tolist()
    assert left.objects.offsets.tolist() == [0, len(rows)]
    skipped, nothing = treat_invalid(read, "skip", "gt")
    assert nothing == {}
    assert skipped.repairs == left.repairs
    assert skipped.objects.count == read.objects.count
    assert skipped.objects.boxes[rows].tolist() == left.objects.boxes.tolist()
    assert skipped.objects.regions[rows].tolist() == left.objects.regions.tolist()
    assert len(set(skipped.objects.regions.tolist())) == read.objects.count
    assert (np.delete(skipped.objects.boxes, rows, axis=0) == NOWHERE).all()
    assert (
        treat_invalid(read, "skip", "det")[0].objects.boxes.tolist() == left.objects.boxes.tolist()
    )
    if rings:
        assert left.objects.outlines.counts.tolist() == [0] * len(boxes) + [
            len(ring) for ring, good in zip(rings, valid, strict=True) if good
        ]
        assert [
            None if p is None else p.area for p in outlines.polygons(left.objects.outlines)
        ] == [None if p is None else p.area for p in outlines.polygons(read.objects.outlines)[rows]]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_skipped_objects_count_and_nothing_matches_them(files, protocol):
    """The detection of a skipped object is false, and so is none that is skipped itself."""
    bow, good = "100,10,140,30,140,10,100,30", "10,10,60,10,60,20,10,20"
    paths = files(
        f'img_1\n100,200\n1,7,"bow",f,{bow}\n2,7,"a",f,{good}\n3,7,"dc",t,{bow}\n',
        f'img_1\n1,"bow",100,10,140,30\n2,"a",{good}\n3,"bow",{bow}\n',
    )
    parameters = {"self_crossing": "ignored"} if protocol in ("iou", "iou-crw", "tiou") else {}
    found = evaluate(*paths, protocol, invalid_polygons="skip", per_image=True, **parameters)
    assert (found.gt.objects, found.gt.dropped, found.gt.dont_care) == (3, 2, 1)
    assert (found.det.objects, found.det.dropped) == (2, 1)
    assert [one.match for one in found.images[0].objects] == ["missed", "one-to-one", "ignored"]
    assert [one.match for one in found.images[0].detections] == ["false-positive", "one-to-one"]
    assert (
        "ground truth: 2 invalid polygons skipped: they count, and nothing matches them"
        in found.warnings
    )
    assert "detections: 1 invalid polygon left out, as if it was not in the file" in found.warnings


def test_dropping_keeps_what_belongs_to_the_others(files):
    bow = "100,10,140,30,140,10,100,30"
    gt, det = files(
        f'img_1\n100,200\n1,7,"bow",f,{bow}\n2,8,"a",f,10,10,60,20\n3,9,"c",t,10,40,60,40,60,60,10,60\n',
        f'img_1\n1,"a",10,10,60,20\n2,"bow",{bow}\n',
    )
    found = evaluate(gt, det, "iou", invalid_polygons="drop", per_image=True)
    assert (found.gt.objects, found.gt.dropped, found.gt.repaired, found.gt.dont_care) == (
        2,
        1,
        0,
        1,
    )
    assert (found.det.objects, found.det.dropped) == (1, 1)
    assert [one.id for one in found.images[0].objects] == [2, 3]
    assert found.scores["hmean"] == 1
    assert (
        "ground truth: 1 invalid polygon left out, as if it was not in the file" in found.warnings
    )


def test_zero_area_is_distinguished_from_what_was_dropped(tmp_path):
    line = "10,10,50,10,90,10,10,10"
    (tmp_path / "gt").mkdir()
    (tmp_path / "gt" / "1.txt").write_text(f"10,10,50,10,50,30,10,30,a\n{line},###\n")
    repaired = evaluate(tmp_path / "gt", tmp_path / "gt", "iou")
    dropped = evaluate(tmp_path / "gt", tmp_path / "gt", "iou", invalid_polygons="drop")
    assert (repaired.gt.zero_area, repaired.gt.dropped, repaired.gt.objects) == (1, 0, 2)
    assert (dropped.gt.zero_area, dropped.gt.dropped, dropped.gt.objects) == (0, 1, 1)


def test_without_invalid_polygons_the_policy_changes_nothing_but_the_signature(files):
    plain = evaluate(*files(), "iou")
    for policy in ("drop", "skip", "error"):
        other = evaluate(*files(), "iou", invalid_polygons=policy)
        assert other.signature == plain.signature.replace("invalid:repair", f"invalid:{policy}")
        assert replace(other, signature="", tally=plain.tally) == replace(plain, signature="")
        assert other.tally.as_dict() == plain.tally.as_dict()


def test_policies_that_do_not_go(files, tmp_path):
    gt, det = files()
    with pytest.raises(ConfigError, match=r"'mend'; expected one of repair, drop, skip, error"):
        evaluate(gt, det, "iou", invalid_polygons="mend")
    with pytest.raises(ConfigError, match="drop does not go with label pictures"):
        evaluate(
            gt, det, "evaltex", invalid_polygons="drop", gt_images=tmp_path, det_images=tmp_path
        )


@pytest.mark.parametrize(
    ("ring", "words"),
    [
        ([(0, 0), (9, 9), (9, 0), (0, 9)], "crosses or touches itself at (4.5, 4.5)"),
        ([(1, 1), (1, 1), (1, 1), (1, 1)], "1 distinct point"),
        ([(1, 1), (2, 2), (1, 1), (2, 2)], "2 distinct points"),
        ([(0, 0), (4, 4), (9, 9)], "without area, all its points on a line"),
        ([(0, 0), (4, 0), (4, 4), (2, 0), (0, 4)], "crosses or touches itself"),
    ],
)
def test_invalid_polygons_are_described(ring, words):
    vertices = np.array([*[(0, 0), (1, 0), (1, 1)], *ring], float)
    offsets = np.array([0, 3, 3, 3 + len(ring)])
    described = polygons.describe_invalid(Outlines(np.zeros((3, 4)), vertices, offsets))
    assert list(described) == [2]
    assert words in described[2].why


# Sizes from pictures ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "suffix", [".png", ".PNG", ".jpg", ".JPEG", ".bmp", ".gif", ".tif", ".webp"]
)
def test_size_of_a_picture(tmp_path, suffix):
    Image.new("L", (31, 17)).save(tmp_path / f"img_1{suffix}")
    assert sizes_from_pictures(tmp_path, ["img_1", "img_2"]).tolist() == [[17, 31], [0, 0]]


def test_only_the_header_is_read(tmp_path):
    header = b"IHDR" + struct.pack(">IIBBBBB", 40_000, 30_000, 8, 0, 0, 0, 0)
    chunk = struct.pack(">I", len(header) - 4) + header + struct.pack(">I", zlib.crc32(header))
    (tmp_path / "img.png").write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk + struct.pack(">I", 10**6) + b"IDAT"
    )
    assert picture_size(tmp_path / "img.png") == (30_000, 40_000)


@pytest.mark.parametrize(
    ("orientation", "size"), [(1, (17, 31)), (3, (17, 31)), (6, (31, 17)), (8, (31, 17))]
)
def test_a_photograph_on_its_side_is_turned(tmp_path, orientation, size):
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.new("RGB", (31, 17)).save(tmp_path / "img.jpg", exif=exif)
    assert picture_size(tmp_path / "img.jpg") == size


def test_pictures_are_found_by_name_then_by_stem(tmp_path):
    for name in ("img_1.jpg", "deep/img_1.png", "deep/gt_img_2.jpg", "deep/img_3.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    names = ["img_1", "img_1.jpg", "deep/img_1", "img_2", "img_3", "../img_1"]
    found = find_pictures(tmp_path, names)
    assert found == [
        tmp_path / "img_1.jpg",
        tmp_path / "img_1.jpg",
        tmp_path / "deep/img_1.png",
        tmp_path / "deep/gt_img_2.jpg",
        None,
        tmp_path / "img_1.jpg",
    ]
    assert picture_size(found[0]) is None
    with pytest.raises(InputError, match="no such folder; give the folder of the images' pictures"):
        sizes_from_pictures(tmp_path / "none", names)


def test_pictures_give_sizes_that_the_ground_truth_has_not_or_has_wrong(files, tmp_path):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    Image.new("L", (200, 100)).save(pictures / "img_1.png")
    gt, det = files()
    assert "picture" not in {
        problem.kind for problem in validate(gt, det, images=tmp_path).problems if problem.line
    }
    Image.new("L", (100, 200)).save(pictures / "img_2.png")
    (reported,) = [
        problem
        for problem in validate(gt, det, images=pictures).problems
        if problem.kind == "picture"
    ]
    assert "image 'img_2': height,width 100,200" in reported.found
    assert reported.advice == "200,100, as its picture has (height and width are swapped)"
    boxes = tmp_path / "boxes"
    boxes.mkdir()
    (boxes / "img_1.txt").write_text("10,10,190,90\n10,10,190,900\n")
    (boxes / "img_3.txt").write_text("10,10,190,90\n")
    found = validate(boxes, images=pictures)
    assert places(found, "outside-picture") == [("img_1.txt", 2, 11, "img_1", 2)]
    (reported,) = [problem for problem in found.problems if problem.kind == "picture"]
    assert "1 of 2 images has no picture that can be read: 'img_3'" in reported.found


# Names --------------------------------------------------------------------------------------------

NAMES = st.lists(
    st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["", "gt_", "res_", "a/"]),
        st.sampled_from(["img_", "IMG_", "x", "page"]),
        st.sampled_from(["1", "01", "2", "10", "3_1", ""]),
        st.sampled_from(["", ".jpg", ".PNG", ".txt"]),
    ),
    unique=True,
    max_size=12,
)


@PROPERTY
@given(NAMES, NAMES)
def test_spellings_pair_one_to_one(gt, det):
    pairs = pairing.would_pair(gt, det)
    assert set(pairs) <= set(gt)
    partners = [name for name, _ in pairs.values()]
    assert len(set(partners)) == len(partners)
    assert set(partners) <= set(det)
    for ours, (theirs, by) in pairs.items():
        same_stem = image_names.stem(ours).casefold() == image_names.stem(theirs).casefold()
        assert (
            same_stem if by == "stem" else pairing.numbers(ours)[-1] == pairing.numbers(theirs)[-1]
        )


def test_spellings_that_are_not_clear_do_not_pair():
    assert pairing.would_pair(["img_1", "pic_1"], ["1"]) == {}
    assert pairing.would_pair(["a", "b"], ["c"]) == {}
    assert pairing.would_pair(["img_1", "img_2"], ["2", "01"]) == {
        "img_1": ("01", "number"),
        "img_2": ("2", "number"),
    }
    assert pairing.would_pair(["img_1"], ["gt_img_1.jpg", "img-1"]) == {
        "img_1": ("gt_img_1.jpg", "stem")
    }


# Misreadings --------------------------------------------------------------------------------------

SIZE = np.array([480.0, 640.0])


def scene(seed, images=20, jitter=2.0):
    """Words of some images, and detections near them: some missed, some false."""
    rng = np.random.default_rng(seed)
    sides = []
    corners = [
        rng.uniform((20, 20), (400, 440), (int(rng.integers(2, 9)), 2)) for _ in range(images)
    ]
    words = [np.column_stack([c, c + rng.uniform((60, 15), (200, 35), c.shape)]) for c in corners]
    for noise, share in ((0.0, 1.0), (jitter, 0.8)):
        parts = [w[: max(1, round(share * len(w)))] + rng.normal(0, noise, (1, 4)) for w in words]
        joined = image_objects(
            np.sort(np.concatenate(parts).reshape(-1, 2, 2), axis=1).reshape(-1, 4)
        )
        sides.append(replace(joined, offsets=np.cumsum([0, *(len(part) for part in parts)])))
    return ImageBatch([f"img_{k}" for k in range(images)], np.tile(SIZE, (images, 1)), *sides)


def changed(batch, change):
    """The batch with other boxes of the detections."""
    return replace(batch, det=with_boxes(batch.det, change(batch.det.boxes)))


def guess(batch):
    """The words of the best misreading; None without any."""
    found = coordinate_mixups.best_misreading(batch)
    return found and str(found)


def with_boxes(objects, boxes):
    return replace(objects, outlines=Outlines.of_boxes(boxes))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda b: b[:, [1, 0, 3, 2]], "x and y are swapped in the detections"),
        (
            lambda b: np.hstack([b[:, :2], b[:, :2] + b[:, 2:]]),
            "in the detections are x1,y1 rather than width,height",
        ),
        (lambda b: b + np.tile((b[:, 2:] - b[:, :2]) / 2, 2), "in the detections are its centre"),
        (
            lambda b: np.column_stack([b[:, 0], 480 - b[:, 3], b[:, 2], 480 - b[:, 1]]),
            "from the bottom",
        ),
        (lambda b: b / 2, "another scale: they fit when multiplied by about 2 "),
        (lambda b: b * [3, 1.5, 3, 1.5], "multiplied by about 0.3"),
        (lambda b: b / [640, 480, 640, 480], "multiplied by about 6"),
    ],
)
def test_misread_coordinates_are_guessed(seed, change, words):
    batch = changed(scene(seed), change)
    assert words in guess(batch)
    assert "mean best IoU" in guess(batch)


def test_fractions_and_resized_pictures_of_many_sizes():
    rng = np.random.default_rng(4)
    batch = scene(4, images=40)
    factors = rng.uniform(0.5, 3, (40, 2))
    own = np.tile(factors, 2)
    sizes = SIZE * factors[:, ::-1]
    gt = with_boxes(batch.gt, batch.gt.boxes * own[batch.gt.image])
    grown = replace(batch, sizes=sizes, gt=gt)
    fractions = changed(grown, lambda b: b / [640, 480, 640, 480])
    assert "fractions of the picture's width and height" in guess(fractions)
    assert re.search(r"pictures resized to about 6(39|4[01]) x 4(79|8[01]) ", guess(grown))


@pytest.mark.parametrize(
    ("step", "words"), [(1, "those of the image before"), (-1, "those of the image after")]
)
def test_shifted_images_are_guessed(step, words):
    batch = scene(5)
    bounds = batch.det.offsets
    parts = [batch.det.boxes[bounds[k] : bounds[k + 1]] for k in range(20)]
    moved = [np.zeros((0, 4)), *parts[:-1]] if step == 1 else [*parts[1:], np.zeros((0, 4))]
    det = image_objects(np.concatenate(moved))
    det = replace(det, offsets=np.cumsum([0, *(len(part) for part in moved)]))
    assert words in guess(replace(batch, det=det))


@pytest.mark.parametrize("seed", range(5))
def test_no_guess_where_the_sides_agree_or_have_nothing_in_common(seed):
    batch = scene(seed)
    assert guess(batch) is None
    assert guess(replace(batch, det=scene(seed + 100).det)) is None


@settings(deadline=None, derandomize=True, max_examples=20)
@given(st.integers(0, 1000), st.floats(0.01, 100))
def test_agreement_is_a_share_and_does_not_depend_on_scale(seed, factor):
    batch = scene(seed, images=3)
    value = coordinate_mixups.agreement(batch)
    assert 0 <= value <= 1
    scaled = replace(
        changed(batch, lambda b: b * factor), gt=with_boxes(batch.gt, batch.gt.boxes * factor)
    )
    assert coordinate_mixups.agreement(scaled) == pytest.approx(value)


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize(
    ("gt", "det"),
    [
        ("icdar2015/gt.zip", "icdar2015/pixellink.zip"),
        ("totaltext/gt.zip", "totaltext/baseline.zip"),
        ("icdar2013/gt.zip", "icdar2013/cleval/split4.zip"),
        ("icdar2013/gt.zip", "icdar2013/overlap/merge2.zip"),
    ],
)
def test_no_false_alarm_on_real_data(gt, det):
    found = validate(DATA / gt, DATA / det)
    assert found.passed
    assert {pair.by for pair in found.pairs} == {"name"}
    assert "coordinates" not in {problem.kind for problem in found.problems}
    inputs = open_inputs(DATA / gt, DATA / det, InputOptions())
    batch = coordinate_mixups.sample(inputs.gt, inputs.det, inputs.paired)
    assert guess(batch) is None
    swapped = changed(batch, lambda b: b[:, [1, 0, 3, 2]])
    assert "x and y are swapped" in guess(swapped)


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
