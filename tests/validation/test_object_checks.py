"""Checks of objects against plain ones, and the policy for invalid polygons."""

from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import evaluate
from evaltex_cli.errors import ConfigError
from evaltex_cli.evaluation.arrays import image_objects
from evaltex_cli.geometry import outlines, polygons
from evaltex_cli.old_formats.base import ReadImages
from evaltex_cli.old_formats.filters import NOWHERE, treat_invalid
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.records import GeometryCounts, Outlines
from evaltex_cli.records.rows import concatenate
from evaltex_cli.validation import object_checks

PROPERTY = settings(deadline=None, derandomize=True, max_examples=60)


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
        assert replace(other, signature="", rows=plain.rows, tally=plain.tally) == replace(
            plain, signature=""
        )
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
