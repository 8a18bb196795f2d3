"""Mistakes that are repaired: the objects that result, and what is scored again."""

from dataclasses import replace
from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest
import scenes
from diagnosed_scenes import LEFT, RIGHT, A, B, C, batch_of, scene_batch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaltex_cli import diagnose
from evaltex_cli.diagnosis import corrections, stacks
from evaltex_cli.diagnosis.batch_sums import BatchSums
from evaltex_cli.diagnosis.breakdown import Edges
from evaltex_cli.diagnosis.changes import ALL_TYPES
from evaltex_cli.diagnosis.components import Components
from evaltex_cli.diagnosis.error_types import ERROR_TYPES, Thresholds, find
from evaltex_cli.evaluation.evaluate import runs_of
from evaltex_cli.evaluation.tally import BatchImages
from evaltex_cli.geometry import outlines, quadrilaterals
from evaltex_cli.geometry.overlaps import measure
from evaltex_cli.geometry.polygons import from_vertices
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.records import Convention, ImageBatch, Overlaps
from evaltex_cli.records.rows import concatenate, take_images


class Repaired(NamedTuple):
    """Repaired images, which images of the batch before they were, and their overlaps."""

    batch: ImageBatch
    image: np.ndarray
    overlaps: Overlaps


def repaired(batch, mistakes, kinds, as_boxes=False):
    stack = corrections.repaired(batch, mistakes, kinds, as_boxes)
    _, ((changed, measured),) = stacks.after(stack, Convention(as_boxes=as_boxes))
    return Repaired(changed, stack.image, measured)


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
        found = BatchSums(Thresholds(), Edges())(BatchImages(run, batch, evidence_of(run, batch)))
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
        (rows,) = found.repaired[name]
        assert rows.sum().as_dict() == expected.as_dict()


@pytest.mark.parametrize(("regions", "shown"), [([1, 2, 3], [2]), ([1, 2, 1], [0, 1, 2])])
def test_only_what_a_repair_may_change_is_scored_again(tmp_path, regions, shown):
    """What overlaps a detection that has come or gone; all of an image with shared regions."""
    batch = batch_of(tmp_path, [(A, "a"), (B, "b"), (C, "c")], [(A, "a"), (B, "b")])
    batch = replace(batch, gt=replace(batch.gt, regions=np.array(regions)))
    (stack,) = corrections.repairs(batch, find(batch, Thresholds()), as_boxes=False)
    components = Components.of(batch, measure(batch))
    scope, ((changed, _),) = stacks.after(stack, Convention(), components)
    assert stack.image.tolist() == [0]
    assert np.flatnonzero(scope.gt).tolist() == shown
    assert changed.gt.ids.tolist() == batch.gt.ids[shown].tolist()
    assert scope.det.tolist() == [0 in shown, 1 in shown, True]


def test_all_repairs_match_again_only_what_several_change(tmp_path):
    """A is missed and another detection is false, so the image has both repairs: after all of them,
    A and its detection are matched as after the first, and C as before.
    """
    batch = batch_of(tmp_path, [(A, "a"), (C, "c")], [(C, "c"), ((100, 600, 200, 640), "d")])
    (stack,) = corrections.repairs(batch, find(batch, Thresholds()), as_boxes=False)
    scope, _ = stacks.after(stack, Convention(), Components.of(batch, measure(batch)))
    assert stack.image.tolist() == [0, 0, 0]
    assert stack.parts["missed"] == slice(0, 1)
    assert stack.parts[ALL_TYPES] == slice(2, 3)
    assert scope.gt.tolist() == [True, False, False, False, False, False]
    assert scope.same_gt.tolist() == [0, 1, 2, 3, 0, 5]
    made = np.flatnonzero(stack.is_made)
    assert scope.same_det[made].tolist() == [made[0]] * 2


def evidence_of(run, batch):
    measured = measure(batch, run.protocol.convention(run.parameters))
    return run.protocol.evidence(batch, measured, run.parameters, True)


def test_overlays_that_cannot_be_are_left_to_geos(tmp_path, monkeypatch):
    paths = tmp_path / "gt.txt", tmp_path / "det.txt"
    for path, text in zip(paths, scenes.random_scene(5, images=8, polygons=True), strict=True):
        path.write_text(text, encoding="utf-8")
    expected = diagnose(*paths).shown().rows
    made, real = [], quadrilaterals.overlays

    def too_large(*given):
        rings, counts = real(*given)
        made.append(len(rings))
        return 3 * rings, counts

    monkeypatch.setattr(quadrilaterals, "overlays", too_large)
    assert diagnose(*paths).shown().rows == expected
    assert sum(made) > 10
