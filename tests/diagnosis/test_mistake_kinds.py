"""Kinds of mistakes, as a plain reference finds them, and what must hold of any input."""

from dataclasses import replace

import numpy as np
import pytest
import scenes
import shapely
from diagnosed_scenes import assert_sums, scene_batch
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import diagnose, evaluate, image_objects
from evaltex_cli.diagnosis.error_types import ERROR_TYPES, OF_OBJECTS, Thresholds, find
from evaltex_cli.geometry import outlines
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.records import ImageBatch, take


def outline(objects, k):
    own = outlines.valid_polygons(objects.outlines)[k]
    return shapely.box(*objects.boxes[k]) if own is None else own


def plain_links(gt, det):
    """Pairs (i, j) of objects and the detections on them, the best first, and
    the areas of all intersections.
    """
    cut = {(i, j): g.intersection(d).area for i, g in enumerate(gt) for j, d in enumerate(det)}
    near = [p for p in cut if cut[p] > 0 and cut[p] >= 0.1 * min(gt[p[0]].area, det[p[1]].area)]
    iou = {p: cut[p] / (gt[p[0]].area + det[p[1]].area - cut[p]) for p in near}
    near.sort(
        key=lambda p: (-round(iou[p], 12), *reversed(det[p[1]].bounds), *reversed(gt[p[0]].bounds))
    )
    home = {}
    for i, j in near:
        if iou[i, j] > 0.5 and i not in home.values() and j not in home:
            home[j] = i
    for i, j in near:
        home.setdefault(j, i)
    beyond = {(i, j): cut[i, j] - gt[i].intersection(gt[home[j]]).area for i, j in near}
    return [p for p in near if home[p[1]] == p[0] or beyond[p] > 0.1 * gt[p[0]].area], cut


def plain_needed(gt, det, cared, cut):
    """The pairs without those that another of their object makes superfluous."""
    needed = []
    for i, g in enumerate(gt):
        own = [p for p in cared if p[0] == i]
        together = shapely.union_all([g.intersection(det[j]) for _, j in own]).area
        sound = [p for p in own if cut[p] >= 0.8 * g.area and cut[p] >= 0.8 * det[p[1]].area]
        enough = [p for p in own if p in sound or cut[p] >= together - 0.1 * g.area]
        needed += enough[:1] or own
    return needed


def plain_kinds(gt, dont_care, det):
    """Mistakes of one image of shapely outlines: kind -> indices."""
    on, cut = plain_links(gt, det)
    cared = [p for p in on if not dont_care[p[0]]]
    needed = plain_needed(gt, det, cared, cut)
    pieces = {i: [p for p in needed if p[0] == i] for i in range(len(gt))}
    objects = {j: [p for p in cared if p[1] == j] for j in range(len(det))}
    spared = {j for i, j in on if dont_care[i]} | {j for _, j in needed}
    single = [p for p in needed if len(pieces[p[0]]) == 1 and len(objects[p[1]]) == 1]
    text = {
        j: shapely.union_all([gt[k].intersection(det[j]) for k, m in on if m == j]).area
        for _, j in single
    }
    return {
        "missed": {i for i in pieces if not pieces[i] and not dont_care[i] and gt[i].area > 0},
        "split": {i for i in pieces if len(pieces[i]) > 1},
        "merged": {j for _, j in needed if len(objects[j]) > 1},
        "loose": {j for _, j in single if text[j] < 0.8 * det[j].area},
        "tight": {i for i, j in single if cut[i, j] < 0.8 * gt[i].area},
        "false": {j for j, d in enumerate(det) if d.area > 0 and not any(p[1] == j for p in on)},
        "duplicate": {j for j in objects if objects[j] and j not in spared},
    }


@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.integers(0, 10_000))
def test_kinds_are_those_of_the_plain_reference(tmp_path_factory, seed):
    batch = scene_batch(tmp_path_factory.mktemp("scene"), seed)
    mistakes = find(Measured(batch), Thresholds())
    for k in range(len(batch.names)):
        gt, det = (range(*side.offsets[k : k + 2].tolist()) for side in (batch.gt, batch.det))
        expected = plain_kinds(
            [outline(batch.gt, i) for i in gt],
            batch.gt.dont_care[gt.start : gt.stop].tolist(),
            [outline(batch.det, j) for j in det],
        )
        for kind in ERROR_TYPES:
            own = gt if kind in OF_OBJECTS else det
            found = np.flatnonzero(getattr(mistakes, kind)[own.start : own.stop])
            assert set(found.tolist()) == expected[kind], kind


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(deadline=None, derandomize=True, max_examples=4)
@given(seed=st.integers(0, 10_000))
def test_shares_sum_to_the_loss(tmp_path_factory, protocol, seed):
    folder = tmp_path_factory.mktemp("scene")
    for name, text in zip(
        ("gt", "det"), scenes.random_scene(seed, images=4, polygons=True), strict=True
    ):
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    found = diagnose(folder / "gt.txt", folder / "det.txt", protocol)
    assert_sums(found)
    plain = evaluate(folder / "gt.txt", folder / "det.txt", protocol)
    assert found.scores == {name: plain.scores[name] or 0.0 for name in found.scores}
    for bins in found.breakdowns.values():
        assert sum(one.objects for one in bins) <= plain.gt.objects - plain.gt.dont_care
        assert all(one.recall is None or 0 <= one.recall <= 1 for one in bins)
        assert all(one.objects == sum(one.matches.values()) for one in bins)


@settings(deadline=None, derandomize=True, max_examples=10)
@given(seed=st.integers(0, 10_000))
def test_order_does_not_matter(tmp_path_factory, seed):
    batch = scene_batch(tmp_path_factory.mktemp("scene"), seed)
    sides = []
    for side in (batch.gt, batch.det):
        falling = np.lexsort((-np.arange(side.count), side.image))
        sides.append(take(side, falling, side.offsets))
    other = replace(batch, gt=sides[0], det=sides[1])
    first, second = (find(Measured(one), Thresholds()) for one in (batch, other))
    for kind in ERROR_TYPES:
        assert getattr(first, kind).sum() == getattr(second, kind).sum(), kind


def found(gt, det, dont_care=None):
    objects = image_objects(gt, dont_care=dont_care)
    batch = ImageBatch(["a"], np.zeros((1, 2)), objects, image_objects(det))
    return find(Measured(batch), Thresholds())


@pytest.mark.parametrize("scale", [1, 0.1, 0.01, 0.3, 1 / 3, 1e-6, 1e6])
def test_rounding_decides_no_tie(scale):
    """IoUs of 513/1024, which has a 5 as its tenth decimal: of equal detections the first in the
    picture is the best.
    """
    det = np.array([[x, y, x + 27, y + 19] for x, y in [(0, 0), (1, 1), (2, 1), (0, 2)]])
    for other in det[1:]:
        mistakes = found([[0, 0, scale * 32, scale * 32]], scale * np.array([other, det[0]]))
        assert mistakes.duplicate.tolist() == [True, False]
    gt = np.array([[x, y, x + 32, y + 32] for x, y in [(-5, -12), (-3, -9), (0, -2), (-1, -7)]])
    for other in gt[1:]:
        mistakes = found(scale * np.array([other, gt[0]]), [[0, 0, scale * 27, scale * 19]])
        assert mistakes.missed.tolist() == [True, False]


def test_of_two_objects_in_one_place_the_one_that_counts_is_found_in_any_order():
    same = [[0, 0, 100, 20], [0, 0, 100, 20]]
    for dont_care in ([True, False], [False, True]):
        assert not found(same, [[0, 0, 100, 19]], dont_care).missed.any()
