"""`evaltex diagnose`: kinds of mistakes, their shares, and the breakdowns."""

import csv
import io
import json
import math
import random
import re
from dataclasses import replace
from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest
import scenes
import shapely
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shared_data import DATA, needs

from evaltex_cli import diagnose, evaluate
from evaltex_cli.cli import main
from evaltex_cli.diagnosis import corrections, stacks
from evaltex_cli.diagnosis.batch_sums import BatchSums
from evaltex_cli.diagnosis.breakdown import Edges
from evaltex_cli.diagnosis.changes import ALL_TYPES
from evaltex_cli.diagnosis.error_types import ERROR_TYPES, Thresholds, find
from evaltex_cli.errors import ConfigError, FaultLog, InputError
from evaltex_cli.evaluation.evaluate import evaluate_inputs, runs_of
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.evaluation.tally import Sink
from evaltex_cli.formats import open_source
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.geometry import outlines
from evaltex_cli.geometry.overlaps import measure
from evaltex_cli.geometry.polygons import from_vertices
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.matches import Matched
from evaltex_cli.records import Convention, ImageBatch, Overlaps
from evaltex_cli.records.rows import concatenate, take_images

A, B, C = (100, 100, 200, 40), (100, 200, 200, 40), (320, 100, 200, 40)
LEFT, RIGHT = (100, 100, 100, 40), (200, 100, 100, 40)
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


def write(folder, name, images, gt):
    """Write images, {name: objects}, an object being its numbers or (numbers, text)."""
    lines = []
    for image, objects in images.items():
        lines += [image, "900,900"] if gt else [image]
        for k, one in enumerate(objects, start=1):
            numbers, text = one if isinstance(one[0], tuple) else (one, "word")
            flag = "t" if text == "###" else "f"
            fields = [str(k), str(k), f'"{text}"', flag] if gt else [str(k), f'"{text}"']
            lines.append(",".join([*fields, *map(repr, numbers)]))
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


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


def diagnosed(folder, gt, det, protocol="evaltex", **options):
    paths = (
        write(folder, "gt.txt", {"img": gt}, True),
        write(folder, "det.txt", {"img": det}, False),
    )
    return diagnose(*paths, protocol, **options)


def counts(diagnosis):
    return {kind.kind: kind.count for kind in diagnosis.kinds if kind.count}


def assert_sums(diagnosis):
    for name, loss in diagnosis.losses.items():
        parts = [kind.shares[name] for kind in diagnosis.kinds]
        assert sum(parts) + diagnosis.interaction[name] + diagnosis.unexplained[
            name
        ] == pytest.approx(loss, abs=1e-12)
        assert sum(parts) + diagnosis.remainder[name] == pytest.approx(loss, abs=1e-12)
        assert loss == 1 - diagnosis.scores[name]
        for kind in diagnosis.kinds:
            assert kind.count or kind.shares[name] == 0


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


def test_split_objects_that_hang_together_are_limited(monkeypatch):
    """By the vertices of what is united; that of boxes is a box."""

    def slanted(x, width):
        return [x, 0, x + width, 2, x + width, 32, x, 30]

    gt = [slanted(80 * k, 100) for k in range(50)]
    det = [slanted(80 * k + x, width) for k in range(50) for x, width in ((-30, 70), (45, 30))]
    monkeypatch.setattr(corrections, "MAX_UNITED", 600)
    assert counts(diagnose([gt], [det]))["split"] == 50
    monkeypatch.setattr(corrections, "MAX_UNITED", 599)
    with pytest.raises(InputError, match=r"image '0': split objects .* have 600 vertices together"):
        diagnose([gt], [det])
    boxes = [[[*ring[:2], ring[4], ring[5]] for ring in side] for side in (gt, det)]
    assert counts(diagnose(boxes[:1], boxes[1:]))["split"] == 50


def test_identical_objects_have_a_detection_each(tmp_path):
    assert counts(diagnosed(tmp_path, [A, A, B], [A, A, B])) == {}
    assert counts(diagnosed(tmp_path, [A, A, B], [A, B])) == {"missed": 1}


def batch_of(folder, gt, det):
    faults = FaultLog()
    gt = open_source(write(folder, "gt.txt", {"img": gt}, True), "gt", faults).read(np.array([0]))
    det = open_source(write(folder, "det.txt", {"img": det}, False), "det", faults).read(
        np.array([0])
    )
    faults.extend(gt.faults, det.faults)
    faults.raise_if_any()
    return ImageBatch(["img"], gt.sizes, gt.objects, det.objects)


class Repaired(NamedTuple):
    """Repaired images, which images of the batch before they were, and their overlaps."""

    batch: ImageBatch
    image: np.ndarray
    overlaps: Overlaps


def repaired(batch, mistakes, kinds, as_boxes=False):
    stack = corrections.repaired(batch, mistakes, kinds, as_boxes)
    found = stacks.after(stack, Convention(as_boxes=as_boxes))
    return Repaired(found.batch, stack.image, found.overlaps)


@pytest.mark.parametrize(
    ("gt", "det", "expected"),
    [
        ([(A, "one"), (C, "two")], [((100, 100, 420, 40), "eins zwei")], ["eins", "zwei"]),
        ([(A, "one"), (C, "two")], [((100, 100, 420, 40), "einszwei")], ["einszwei", "einszwei"]),
        ([(A, "onetwo")], [(RIGHT, "zwei"), (LEFT, "eins")], ["einszwei"]),
        ([(A, "one two")], [(RIGHT, "zwei"), (LEFT, "eins")], ["eins zwei"]),
        ([(A, "one")], [(LEFT, "eins")], ["eins"]),
        ([(A, "one")], [], ["one"]),
    ],
)
def test_repairs_carry_transcriptions(tmp_path, gt, det, expected):
    batch = batch_of(tmp_path, gt, det)
    repair = repaired(batch, find(batch, Thresholds()), ERROR_TYPES)
    assert list(repair.batch.det.texts) == expected
    assert repair.image.tolist() == [0]


@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.integers(0, 10_000), st.sets(st.sampled_from(ERROR_TYPES)))
def test_repaired_objects_are_consistent(tmp_path_factory, seed, kinds):
    batch = scene_batch(tmp_path_factory.mktemp("scene"), seed)
    mistakes = find(batch, Thresholds())
    repair = repaired(batch, mistakes, kinds)
    corrected = repair.batch
    before, det = take_images(batch.det, repair.image), corrected.det
    assert corrected.names == [batch.names[k] for k in repair.image.tolist()]
    assert corrected.gt.ids.tolist() == take_images(batch.gt, repair.image).ids.tolist()
    assert det.offsets[-1] == det.count == len(det.texts) == len(det.boxes)
    assert (det.boxes[:, 2:] >= det.boxes[:, :2]).all()
    for start, stop in zip(det.offsets[:-1], det.offsets[1:], strict=True):
        assert len(set(det.ids[start:stop].tolist())) == stop - start
    made = from_vertices(det.outlines.vertices, det.outlines.offsets)[0]
    for polygon, again, box in zip(outlines.polygons(det.outlines), made, det.boxes, strict=True):
        assert (polygon is None) == (again is None)
        if polygon is not None:
            assert polygon.is_valid
            assert polygon.equals(again)
            assert polygon.bounds == pytest.approx(tuple(box))
    if not kinds & {"split", "merged"}:
        change = {"missed": 1, "false": -1, "duplicate": -1}
        assert det.count - before.count == sum(
            change.get(kind, 0) * mistakes.count(kind) for kind in kinds
        )


@settings(deadline=None, derandomize=True, max_examples=25)
@given(
    st.integers(0, 10_000),
    st.sampled_from([(kind,) for kind in ERROR_TYPES] + [ERROR_TYPES]),
    st.booleans(),
)
def test_overlaps_after_a_repair_are_those_measured(tmp_path_factory, seed, kinds, as_boxes):
    batch = scene_batch(tmp_path_factory.mktemp("scene"), seed)
    repair = repaired(batch, find(batch, Thresholds()), kinds, as_boxes)
    convention = Convention(as_boxes=as_boxes)
    expected = measure(repair.batch, convention)
    for ours, theirs in zip(repair.overlaps, expected, strict=True):
        assert ours.tolist() == theirs.tolist()


@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.integers(0, 10_000))
def test_one_kind_of_mistake_is_repaired_alike_alone_and_among_all(tmp_path_factory, seed):
    batch = scene_batch(tmp_path_factory.mktemp("scene"), seed)
    mistakes = find(batch, Thresholds())
    alone = [repaired(batch, mistakes, (kind,)) for kind in ERROR_TYPES]
    together = repaired(batch, mistakes, ERROR_TYPES)
    kinds = np.bincount(np.concatenate([repair.image for repair in alone]), minlength=3)
    assert together.image.tolist() == np.flatnonzero(kinds).tolist()
    for repair in alone:
        ours, theirs = (
            take_images(one.batch.det, np.flatnonzero(kinds[one.image] == 1))
            for one in (repair, of_images_of(together, repair))
        )
        assert ours.boxes.tolist() == theirs.boxes.tolist()
        assert ours.outlines.vertices.tolist() == theirs.outlines.vertices.tolist()
        assert list(ours.texts) == list(theirs.texts)


def of_images_of(repair, other):
    """Those images of a repair that another one changes, too."""
    both = np.flatnonzero(np.isin(repair.image, other.image))
    det = take_images(repair.batch.det, both)
    return repair._replace(batch=replace(repair.batch, det=det), image=repair.image[both])


@settings(deadline=None, derandomize=True, max_examples=8)
@given(
    st.integers(0, 10_000),
    st.sampled_from(list(PROTOCOLS)),
    st.sampled_from([1, 1 << 16]),
    st.booleans(),
)
@example(1, "evaltex", 1 << 16, True)
@example(2, "evaltex", 1, True)
def test_repairs_at_once_score_as_each_does_alone(
    tmp_path_factory, seed, protocol, most, own_regions
):
    """The slow way: every kind by itself, all images scored again."""
    batch = scene_batch(tmp_path_factory.mktemp("scene"), seed)
    if own_regions:
        batch = replace(batch, gt=replace(batch.gt, regions=batch.gt.ids))
    (run,) = runs_of({protocol: config.checked(protocol, {})})
    convention = run.protocol.convention(run.parameters)
    as_boxes = convention.as_boxes or convention.inclusive
    with mock.patch.object(corrections, "STACKED_OBJECTS", most):
        found = BatchSums(Thresholds(), Edges())(run, batch, evidence_of(run, batch))
    mistakes = find(batch, Thresholds())
    for kinds, name in [((kind,), kind) for kind in ERROR_TYPES] + [(ERROR_TYPES, ALL_TYPES)]:
        repair = repaired(batch, mistakes, kinds, as_boxes)
        rest = np.setdiff1d(np.arange(len(batch.names)), repair.image)
        corrected = replace(
            batch,
            names=[*repair.batch.names, *(batch.names[k] for k in rest)],
            sizes=batch.sizes[[*repair.image, *rest]],
            gt=concatenate([repair.batch.gt, take_images(batch.gt, rest)]),
            det=concatenate([repair.batch.det, take_images(batch.det, rest)]),
        )
        expected = evidence_of(run, corrected).tally.sum()
        assert found.repaired[name].as_dict() == expected.as_dict()


@pytest.mark.parametrize(("regions", "shown"), [([1, 2, 3], [2]), ([1, 2, 1], [0, 1, 2])])
def test_only_what_a_repair_may_change_is_scored_again(tmp_path, regions, shown):
    """What overlaps a detection that has come or gone; all of an image with shared regions."""
    batch = batch_of(tmp_path, [(A, "a"), (B, "b"), (C, "c")], [(A, "a"), (B, "b")])
    batch = replace(batch, gt=replace(batch.gt, regions=np.array(regions)))
    (stack,) = corrections.repairs(batch, find(batch, Thresholds()), as_boxes=False)
    found = stacks.after(stack, Convention(), stacks.Components.of(batch, measure(batch)))
    assert stack.image.tolist() == [0]
    assert np.flatnonzero(found.scope.gt).tolist() == shown
    assert found.batch.gt.ids.tolist() == batch.gt.ids[shown].tolist()
    assert found.scope.det.tolist() == [0 in shown, 1 in shown, True]


def test_all_repairs_match_again_only_what_several_change(tmp_path):
    """A is missed and another detection is false, so the image has both repairs: after all of them,
    A and its detection are matched as after the first, and C as before.
    """
    batch = batch_of(tmp_path, [(A, "a"), (C, "c")], [(C, "c"), ((100, 600, 200, 640), "d")])
    (stack,) = corrections.repairs(batch, find(batch, Thresholds()), as_boxes=False)
    found = stacks.after(stack, Convention(), stacks.Components.of(batch, measure(batch)))
    assert stack.image.tolist() == [0, 0, 0]
    assert stack.parts["missed"] == slice(0, 1)
    assert stack.parts[ALL_TYPES] == slice(2, 3)
    assert found.scope.gt.tolist() == [True, False, False, False, False, False]
    assert found.scope.same_gt.tolist() == [0, 1, 2, 3, 0, 5]
    made = np.flatnonzero(stack.is_made)
    assert found.scope.same_det[made].tolist() == [made[0]] * 2


def evidence_of(run, batch):
    measured = measure(batch, run.protocol.convention(run.parameters))
    return run.protocol.evidence(batch, measured, run.parameters, True)


def scene_batch(folder, seed):
    gt, det = scenes.random_scene(seed, images=3, polygons=True)
    (folder / "gt.txt").write_text(gt, encoding="utf-8")
    (folder / "det.txt").write_text(det, encoding="utf-8")
    faults = FaultLog()
    one = open_source(folder / "gt.txt", "gt", faults)
    other = open_source(folder / "det.txt", "det", faults)
    names = [name for name in one.names if name in other.names]
    sides = [
        side.read(np.array([side.names.index(name) for name in names], np.int64))
        for side in (one, other)
    ]
    faults.extend(*(side.faults for side in sides))
    faults.raise_if_any()
    return ImageBatch(names, sides[0].sizes, sides[0].objects, sides[1].objects)


# The classification, plainly ----------------------------------------------------------------------


def outline(objects, k):
    own = outlines.polygons(objects.outlines)[k]
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
    mistakes = find(batch, Thresholds())
    for k in range(len(batch.names)):
        gt, det = (range(*side.offsets[k : k + 2].tolist()) for side in (batch.gt, batch.det))
        expected = plain_kinds(
            [outline(batch.gt, i) for i in gt],
            batch.gt.dont_care[gt.start : gt.stop].tolist(),
            [outline(batch.det, j) for j in det],
        )
        for kind in ERROR_TYPES:
            own = gt if kind in ("missed", "split", "tight") else det
            assert (
                set(np.flatnonzero(getattr(mistakes, kind)[own.start : own.stop]).tolist())
                == expected[kind]
            ), kind


# What must hold of any input ----------------------------------------------------------------------


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


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=15)
@given(seed=st.integers(0, 10_000), polygons=st.booleans())
def test_ground_truth_against_itself_has_no_mistake(tmp_path_factory, seed, polygons):
    folder = tmp_path_factory.mktemp("scene")
    gt = scenes.random_scene(seed, images=4, polygons=polygons)[0].replace("\r", "")
    det = re.sub(r'(?m)^(\d+),\d+,(".*"),[tf],', r"\1,\2,", re.sub(r"(?m)^\d+,\d+\n", "", gt))
    (folder / "gt.txt").write_text(gt, encoding="utf-8")
    (folder / "det.txt").write_text(det, encoding="utf-8")
    for protocol in ("evaltex", "iou"):
        found = diagnose(folder / "gt.txt", folder / "det.txt", protocol)
        assert counts(found) == {}
        assert all(share == 0 for kind in found.kinds for share in kind.shares.values())


def shuffled(text, rng, gt):
    """The same images and objects in another order."""
    images = []
    for line in text.replace("\r", "").split("\n"):
        if line.startswith("img_"):
            images.append(([line], []))
        elif line:
            head, objects = images[-1]
            (head if gt and len(head) < 2 else objects).append(line)
    rng.shuffle(images)
    for _, objects in images:
        rng.shuffle(objects)
    return "\n".join(line for head, objects in images for line in [*head, *objects]) + "\n"


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=5)
@given(seed=st.integers(0, 10_000))
def test_order_does_not_matter(tmp_path_factory, seed):
    folder, rng = tmp_path_factory.mktemp("scene"), random.Random(seed)
    gt, det = scenes.random_scene(seed, images=4, polygons=True)
    found = []
    for one, other in ((gt, det), (shuffled(gt, rng, True), shuffled(det, rng, False))):
        (folder / "gt.txt").write_text(one, encoding="utf-8")
        (folder / "det.txt").write_text(other, encoding="utf-8")
        found.append(diagnose(folder / "gt.txt", folder / "det.txt", "evaltex"))
    first, second = found
    assert counts(first) == counts(second)
    for before, after in zip(first.kinds, second.kinds, strict=True):
        assert before.shares == pytest.approx(after.shares, abs=1e-9)
    assert first.unexplained == pytest.approx(second.unexplained, abs=1e-9)
    for name, bins in first.breakdowns.items():
        for before, after in zip(bins, second.breakdowns[name], strict=True):
            assert (before.objects, before.matches) == (after.objects, after.matches)
            assert before.recall == pytest.approx(after.recall)


# Breakdowns ---------------------------------------------------------------------------------------


def test_breakdowns_count_what_is_in_each_bin(tmp_path):
    gt = [
        ((0, 0, 100, 10), "ab"),
        ((0, 100, 20, 20), "abc"),
        ((0, 200, 20, 40), ""),
        ((0, 300, 9, 9), "###"),
    ]
    det = [(0, 0, 50, 10), (0, 100, 20, 20)]
    found = diagnosed(tmp_path, gt, det, edges=Edges((20, 40), (1, 2), (1, 3)), det_border=0)
    objects = {name: [one.objects for one in bins] for name, bins in found.breakdowns.items()}
    assert objects == {"height": [1, 1, 1], "aspect_ratio": [1, 1, 1], "length": [1, 1, 1]}
    recalls = {name: [one.recall for one in bins] for name, bins in found.breakdowns.items()}
    assert recalls == {"height": [0.5, 1, 0], "aspect_ratio": [0, 1, 0.5], "length": [0, 0.5, 1]}
    assert [one.found for one in found.breakdowns["height"]] == [1, 1, 0]
    assert [one.means["coverage"] for one in found.breakdowns["height"]] == [0.5, 1, 0]
    assert found.breakdowns["height"][2].means["accuracy"] is None
    assert found.breakdowns["height"][2].matches["missed"] == 1


def test_bins_of_iou_hold_its_pairs(tmp_path):
    found = diagnosed(
        tmp_path, [A, B, (0, 400, 30, 30)], [A, (0, 400, 30, 30)], "iou", edges=Edges((35,), (), ())
    )
    assert [(one.objects, one.recall) for one in found.breakdowns["height"]] == [(1, 1), (2, 0.5)]
    assert [(one.objects, one.found) for one in found.breakdowns["length"]] == [(3, 2)]


# Faults, files, the command line ------------------------------------------------------------------


def test_bad_thresholds_and_edges_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"tight is 1\.5; expected a number from 0 to 1"):
        diagnosed(tmp_path, [A], [A], thresholds=replace(Thresholds(), tight=1.5))
    with pytest.raises(ConfigError, match="edges of height are 2, 1"):
        diagnosed(tmp_path, [A], [A], edges=Edges(height=(2, 1)))
    with pytest.raises(ConfigError, match="unknown option"):
        diagnosed(tmp_path, [A], [A], det_bordr=0.1)


def test_masks_are_refused():
    empty = np.zeros(0, np.int64)
    runs = type("Runs", (), {})()
    from evaltex_cli.diagnosis.diagnosis import Diagnostician
    from evaltex_cli.evaluation.arrays import image_objects

    batch = ImageBatch(
        ["img"], np.ones((1, 2)), image_objects(), image_objects(), gt_runs=runs, det_runs=runs
    )
    assert batch.has_masks
    with pytest.raises(InputError, match="leave out the folders of label pictures"):
        Diagnostician(Thresholds(), Edges()).sink.make(None, batch, empty)


@pytest.fixture
def files(tmp_path):
    gt, det = (
        {"img": [A, C, B], "other": [A]},
        {"img": [(100, 100, 420, 40), LEFT], "other": [A, (500, 500, 9, 9)]},
    )
    return [str(write(tmp_path, "gt.txt", gt, True)), str(write(tmp_path, "det.txt", det, False))]


def run(*arguments):
    return CliRunner().invoke(main, ["diagnose", *arguments])


def test_table_adds_up(files):
    result = run(*files, "--protocol", "evaltex", "--protocol", "iou")
    assert result.exit_code == 0, result.output
    for block in result.stdout.split("change of the scores when")[1:]:
        rows = {line.split()[0]: line.split()[-3:] for line in block.splitlines()[2:13]}
        assert set(ERROR_TYPES) < set(rows)
        for k in range(3):
            parts = [
                round(float(rows[name][k]) * 10_000)
                for name in (*ERROR_TYPES, "interaction", "unexplained")
            ]
            assert sum(parts) == round(float(rows["="][k]) * 10_000)
            assert sum(parts) + round(float(rows["1"][k]) * 10_000) == 10_000


def test_json_and_csv_hold_the_diagnosis(files, tmp_path):
    expected = diagnose(*files)
    document = json.loads(run(*files, "--format", "json").stdout)
    assert document["kind"] == "diagnosis"
    (found,) = document["protocols"]
    assert found["losses"] == expected.losses
    assert found["remainder"] == expected.remainder
    assert {kind["kind"]: kind["shares"] for kind in found["kinds"]} == {
        k.kind: k.shares for k in expected.kinds
    }
    out = tmp_path / "out.csv"
    assert run(*files, "--format", "csv", "--output", str(out)).stdout == ""
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    loss = [
        float(row["value"]) for row in rows if row["row"] == "loss" and row["quantity"] == "recall"
    ]
    shares = [
        float(row["value"])
        for row in rows
        if row["part"] == "share" and row["quantity"] == "recall"
    ]
    assert sum(shares) == pytest.approx(loss[0], abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--heights", "8,x"], "--heights is '8,x'; expected increasing numbers, e.g. 8,16,32"),
        (["--lengths", "3,2"], "edges of length are 3.0, 2.0; expected numbers that rise"),
        (["--tight", "2"], "threshold tight is 2.0"),
        (["--set", "nonsense=1"], "unknown key 'nonsense'"),
        (["gt_masks", "det_masks"], "leave out the folders of label pictures"),
    ],
)
def test_faults_are_one_message(files, arguments, message):
    result = run(*files, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.slow
@needs("data/icdar2015")
def test_real_data_has_an_explained_loss():
    gt, det = DATA / "icdar2015" / "gt.zip", DATA / "icdar2015" / "pixellink.zip"
    found = diagnose(gt, det, "iou")
    assert_sums(found)
    assert all(kind.count > 0 for kind in found.kinds)
    assert 0 < found.unexplained["hmean"] < 0.15 * found.losses["hmean"]
    itself = diagnose(gt, gt, "iou")
    assert counts(itself) == {}


@pytest.mark.few_fast(1)
@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if load(name).recount is not None])
@pytest.mark.parametrize("polygons", [False, True], ids=["boxes", "polygons"])
def test_recounted_matches_are_those_of_a_new_evaluation(tmp_path, protocol, polygons):
    """Of any objects made don't-care, to the last bit."""
    compared = 0

    def sink(run, batch, evidence):
        nonlocal compared
        overlaps = measure(batch, run.protocol.convention(run.parameters))
        for seed in range(5):
            others = np.random.default_rng(seed).random(batch.gt.count) < 0.6
            changed = replace(batch, gt=replace(batch.gt, dont_care=batch.gt.dont_care | others))
            matched = (
                Matched.of(changed.gt, evidence.matches.gt),
                Matched.of(changed.det, evidence.matches.det),
            )
            found = run.protocol.recount(*matched, run.parameters).as_dict()
            expected = run.protocol.evidence(
                changed, overlaps, run.parameters, False
            ).tally.as_dict()
            assert list(found) == list(expected)
            assert all(np.array_equal(found[name], expected[name]) for name in expected)
            compared += 1

    for seed in range(8):
        gt, det = scenes.random_scene(seed, polygons=polygons)
        (tmp_path / "gt.txt").write_text(gt)
        (tmp_path / "det.txt").write_text(det)
        inputs = open_inputs(tmp_path / "gt.txt", tmp_path / "det.txt", InputOptions())
        evaluate_inputs(
            inputs, runs_of({protocol: config.checked(protocol, {})}), Sink(sink, lambda *_: None)
        )
    assert compared == 40
