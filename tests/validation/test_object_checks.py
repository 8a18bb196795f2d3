"""Checks of objects against plain ones, and what the policy for invalid polygons does to scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from written_files import in_folder

from evaltex_cli import evaluate
from evaltex_cli.api.arrays import image_objects
from evaltex_cli.errors import ConfigError
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.validation import object_checks

COORDINATE = st.integers(-2, 6)
RINGS = st.lists(st.lists(st.tuples(COORDINATE, COORDINATE), min_size=3, max_size=6), max_size=8)
BOXES = st.lists(
    st.tuples(COORDINATE, COORDINATE, st.integers(0, 3), st.integers(0, 3)).map(
        lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3])
    ),
    max_size=6,
)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(BOXES, RINGS)
def test_checks_against_plain_ones(boxes: list[Any], rings: list[Any]) -> None:
    objects = image_objects(np.reshape(boxes, (-1, 4)), [np.array(ring, float) for ring in rings])
    width, height = 3, 2
    rows = list(enumerate(rings, len(boxes)))
    expected = [("invalid-polygon", i) for i, ring in rows if not shapely.Polygon(ring).is_valid]
    expected += [
        ("zero-area", i) for i, (x0, y0, x1, y1) in enumerate(boxes) if x0 == x1 or y0 == y1
    ]
    corners = [[box[:2], box[2:]] for box in boxes] + rings
    expected += [
        ("outside-picture", i)
        for i, points in enumerate(corners)
        if any(not (-1 <= x <= width + 1 and -1 <= y <= height + 1) for x, y in points)
    ]
    drawn = [("box", *box) for box in boxes] + [tuple(ring) for ring in rings]
    expected += [("duplicate", i) for i, one in enumerate(drawn) if one in drawn[:i]]
    expected += [
        ("orientation", i)
        for i, ring in rows
        if len(ring) == 4
        and sum(x * v - u * y for (x, y), (u, v) in zip(ring, ring[1:] + ring[:1], strict=True)) < 0
    ]
    found = object_checks.check(objects, np.array([[height, width]], float))
    assert [one[:2] for one in found] == expected


# The policy for invalid polygons ------------------------------------------------------------------

BOW, GOOD = "100,10,140,30,140,10,100,30", "10,10,60,10,60,20,10,20"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_skipped_objects_count_and_nothing_matches_them(files: Any, protocol: str) -> None:
    """The detection of a skipped object is false, and so is none that is skipped itself."""
    paths = files(
        f'img_1\n100,200\n1,7,"bow",f,{BOW}\n2,7,"a",f,{GOOD}\n3,7,"dc",t,{BOW}\n',
        f'img_1\n1,"bow",100,10,140,30\n2,"a",{GOOD}\n3,"bow",{BOW}\n',
    )
    parameters = {"self_crossing": "ignored"} if protocol in ("iou", "iou-crw", "tiou") else {}
    found = evaluate(*paths, protocol, invalid="skip", per_image=True, **parameters)
    assert (found.gt.objects, found.gt.dropped, found.gt.dont_care) == (3, 2, 1)
    assert (found.det.objects, found.det.dropped) == (2, 1)
    assert found.images is not None
    assert [one.match for one in found.images[0].objects] == ["missed", "one-to-one", "ignored"]
    assert [one.match for one in found.images[0].detections] == ["false-positive", "one-to-one"]
    if protocol == "pq":  # each that nothing can match has a region of its own
        united = evaluate(*paths, protocol, invalid="skip", objects="regions")
        assert united.totals["counted_gt_objects"] == 2
    assert set(found.warnings) >= {
        "ground truth: 2 invalid polygons skipped: they count, and nothing matches them",
        "detections: 1 invalid polygon left out, as if it was not in the file",
    }


def test_dropping_keeps_what_belongs_to_the_others(files: Any) -> None:
    gt, det = files(
        f'img_1\n100,200\n1,7,"bow",f,{BOW}\n2,8,"a",f,10,10,60,20\n3,9,"c",t,10,40,60,40,60,60,10,60\n',
        f'img_1\n1,"a",10,10,60,20\n2,"bow",{BOW}\n',
    )
    found = evaluate(gt, det, "iou", invalid="drop", per_image=True)
    gt_counts = (found.gt.objects, found.gt.dropped, found.gt.repaired, found.gt.dont_care)
    assert gt_counts == (2, 1, 0, 1)
    assert (found.det.objects, found.det.dropped) == (1, 1)
    assert found.images is not None
    assert [one.id for one in found.images[0].objects] == [2, 3]
    assert found.scores["hmean"] == 1


def test_zero_area_is_distinguished_from_what_was_dropped(tmp_path: Path) -> None:
    line = "10,10,50,10,90,10,10,10"
    gt = in_folder(tmp_path / "gt", {"1.txt": f"10,10,50,10,50,30,10,30,a\n{line},###\n"})
    for policy, counts in (("repair", (1, 0, 2)), ("drop", (0, 1, 1))):
        found = evaluate(gt, gt, "iou", invalid=policy).gt
        assert (found.zero_area, found.dropped, found.objects) == counts


def test_without_invalid_polygons_the_policy_changes_nothing_but_the_signature(files: Any) -> None:
    plain = evaluate(*files(), "iou")
    for policy in ("drop", "skip", "error"):
        other = evaluate(*files(), "iou", invalid=policy)
        assert other.signature == plain.signature.replace("invalid:repair", f"invalid:{policy}")
        same = replace(other, signature="", rows=plain.rows, tally=plain.tally)
        assert same == replace(plain, signature="")
        assert other.tally.as_dict() == plain.tally.as_dict()


def test_policies_that_do_not_go(files: Any, tmp_path: Path) -> None:
    masks = {"gt_images": tmp_path, "det_images": tmp_path}
    with pytest.raises(ConfigError, match=r"'mend'; expected one of repair, drop, skip, error"):
        evaluate(*files(), "iou", invalid="mend")
    with pytest.raises(ConfigError, match="drop does not go with label pictures"):
        evaluate(*files(), "evaltex", invalid="drop", **masks)
