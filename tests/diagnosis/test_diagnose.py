"""`evaltex diagnose`: the mistakes it counts, the loss they share, and its breakdowns."""

import math
from pathlib import Path

import numpy as np
import pytest
from diagnosed_scenes import LEFT, RIGHT, A, B, C, assert_sums, counts, diagnosed

from evaltex_cli import diagnose, image_objects
from evaltex_cli.diagnosis.error_types import ERROR_TYPES, Thresholds, find
from evaltex_cli.errors import InputError
from evaltex_cli.geometry.masks import join
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.records import ImageBatch

GOLDEN = Path(__file__).parents[1] / "golden"
SCENES = {
    "missed": ([A, B], [B]),
    "split": ([A, B], [LEFT, RIGHT, B]),
    "merged": ([A, C, B], [(100, 100, 420, 40), B]),
    "loose": ([A, B], [(100, 90, 200, 85), B]),
    "tight": ([A, B], [(100, 100, 90, 40), B]),
    "false": ([A, B], [A, B, (500, 500, 100, 40)]),
    "duplicate": ([A, B], [A, A, B]),
}
"""Ground truth and detections with exactly one mistake, as x, y, width, height."""


def tilted(box):
    """The box's corners, turned by 20 degrees."""
    x, y, width, height = box
    cos, sin = math.cos(0.35), math.sin(0.35)
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    return tuple(
        round(value, 6)
        for a, b in corners
        for value in (400 + a * cos - b * sin, a * sin + b * cos)
    )


@pytest.mark.parametrize("shape", [tuple, tilted], ids=["boxes", "polygons"])
@pytest.mark.parametrize("protocol", ["evaltex", "iou"])
@pytest.mark.parametrize("kind", ERROR_TYPES)
def test_one_mistake_is_the_whole_loss(tmp_path, kind, protocol, shape):
    gt, det = ([shape(box) for box in side] for side in SCENES[kind])
    found = diagnosed(tmp_path, gt, det, protocol)
    assert counts(found) == {kind: 1}
    headline = list(found.losses)[-1]
    assert found.losses[headline] > 0.01
    for share in found.kinds:
        expected = found.losses if share.kind == kind else dict.fromkeys(found.losses, 0)
        assert share.shares == pytest.approx(expected, abs=1e-9)
    assert found.remainder == pytest.approx(dict.fromkeys(found.losses, 0), abs=1e-9)
    assert_sums(found)


def test_loose_and_tight_are_repaired_apart(tmp_path):
    """A shifted detection is both: cut, it is still tight; joined, it is still loose."""
    found = diagnosed(tmp_path, [A], [(200, 100, 200, 40)], det_border=0)
    assert counts(found) == {"loose": 1, "tight": 1}
    shares = {kind.kind: kind.shares for kind in found.kinds}
    assert shares["loose"]["recall"] == 0
    assert shares["loose"]["precision"] == pytest.approx(0.5)
    assert shares["tight"]["recall"] == pytest.approx(0.5)
    assert shares["tight"]["precision"] == pytest.approx(2 / 3 - 0.5)
    assert found.unexplained == pytest.approx(dict.fromkeys(found.losses, 0))


@pytest.mark.parametrize(
    ("det", "expected"),
    [
        ([A, (100, 100, 420, 40), C], {"duplicate": 1}),  # words and their line
        ([A, (100, 100, 420, 40)], {"merged": 1}),  # the line is all there is of C
        ([A, C, LEFT], {"duplicate": 1}),
        ([(100, 100, 150, 40), (150, 100, 370, 40)], {"split": 1, "merged": 1}),  # many-to-many
        ([(100, 100, 150, 40), (250, 100, 50, 40), C], {"split": 1}),
        ([(100, 100, 190, 40), (290, 100, 10, 40), C], {"duplicate": 1}),
        ([(95, 100, 6, 40), A, C], {"duplicate": 1}),
        ([(60, 100, 41, 40), A, C], {"false": 1}),
    ],
)
def test_relations(tmp_path, det, expected):
    assert counts(diagnosed(tmp_path, [A, C], det)) == expected


def test_dont_care_objects_make_no_mistakes(tmp_path):
    """Neither do detections on them, nor what a detection covers of them."""
    ignored = [(A, "###"), (B, "###")]
    assert counts(diagnosed(tmp_path, [*ignored, C], [A, A, LEFT, (100, 100, 200, 140), C])) == {}
    assert counts(diagnosed(tmp_path, [(A, "###"), C], [(100, 100, 420, 40)])) == {}


def test_identical_objects_have_a_detection_each(tmp_path):
    assert counts(diagnosed(tmp_path, [A, A, B], [A, A, B])) == {}
    assert counts(diagnosed(tmp_path, [A, A, B], [A, B])) == {"missed": 1}


def test_breakdowns_count_what_is_in_each_bin(tmp_path):
    gt = [
        ((0, 0, 100, 10), "ab"),
        ((0, 100, 20, 20), "abc"),
        ((0, 200, 20, 40), ""),
        ((0, 300, 9, 9), "###"),
    ]
    det = [(0, 0, 50, 10), (0, 100, 20, 20)]
    found = diagnosed(
        tmp_path, gt, det, heights=(20, 40), aspect_ratios=(1, 2), lengths=(1, 3), det_border=0
    )
    objects = {name: [one.objects for one in bins] for name, bins in found.breakdowns.items()}
    assert objects == {"height": [1, 1, 1], "aspect_ratio": [1, 1, 1], "length": [1, 1, 1]}
    recalls = {name: [one.recall for one in bins] for name, bins in found.breakdowns.items()}
    assert recalls == {"height": [0.5, 1, 0], "aspect_ratio": [0, 1, 0.5], "length": [0, 0.5, 1]}
    assert [one.found for one in found.breakdowns["height"]] == [1, 1, 0]
    assert [one.means["coverage"] for one in found.breakdowns["height"]] == [0.5, 1, 0]
    assert found.breakdowns["height"][2].means["accuracy"] is None
    assert found.breakdowns["height"][2].matches["missed"] == 1


def test_masks_are_refused():
    masks = join([None], np.ones((1, 2), np.int64), 0)
    sides = image_objects(), image_objects()
    batch = ImageBatch(["img"], np.ones((1, 2)), *sides, masks=(masks, masks))
    with pytest.raises(InputError, match="leave out the folders of label pictures"):
        find(Measured(batch), Thresholds())


def test_the_loss_of_a_whole_set_is_explained():
    gt, det = (GOLDEN / f"scenes/quads-{side}.zip" for side in ("gt", "det"))
    found = diagnose(gt, det, "iou")
    assert_sums(found)
    assert all(kind.count > 0 for kind in found.kinds)
    assert 0 < found.unexplained["hmean"] < 0.15 * found.losses["hmean"]
    itself = diagnose(gt, gt, "iou")
    assert counts(itself) == {}
