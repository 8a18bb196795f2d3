"""Mistakes that are repaired: the detections that result, and what is scored again."""

from dataclasses import replace

import numpy as np
import pytest
from diagnosed_scenes import LEFT, RIGHT, A, B, C, batch_of, scene_batch
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import image_objects
from evaltex_cli.diagnosis.breakdown import Edges
from evaltex_cli.diagnosis.diagnosis import ALL_KINDS, diagnose_batch
from evaltex_cli.diagnosis.error_types import ERROR_TYPES, Thresholds, find
from evaltex_cli.diagnosis.repairs import Repairs
from evaltex_cli.evaluation.evaluate import BatchImages, runs_of
from evaltex_cli.geometry import outlines
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.records import Convention, ImageBatch, concatenate, some_images, take_images


def repaired(batch, kinds, as_boxes=False):
    """Which images change, and these with other detections."""
    measured = Measured(batch)
    images, after = Repairs(measured, find(measured, Thresholds()), as_boxes).after(kinds)
    return images, after.batch


def objects(boxes, are_polygons):
    """Objects of one image, x, y, width, height each; as polygons of five vertices, for of four
    they would be boxes.
    """
    corners = [[x, y, x + width, y + height] for x, y, width, height in boxes]
    if not are_polygons:
        return image_objects(corners)
    return image_objects(
        polygons=[
            [[x0, y0], [(x0 + x1) / 2, y0], [x1, y0], [x1, y1], [x0, y1]]
            for x0, y0, x1, y1 in corners
        ]
    )


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
    changed, after = repaired(batch_of(tmp_path, gt, det), ERROR_TYPES)
    assert changed.tolist() == [0]
    assert list(after.det.texts) == expected


@pytest.mark.parametrize(
    ("kind", "gt", "det", "expected"),
    [
        ("missed", [A, B], [A], [A, B]),
        ("split", [A], [(100, 100, 80, 40), (220, 100, 80, 40)], [A]),
        ("merged", [A, C], [(100, 100, 420, 40)], [A, C]),
        ("loose", [A], [(100, 100, 300, 50)], [A]),
        ("tight", [A], [(100, 110, 100, 40)], [(100, 100, 200, 50)]),
        ("false", [A], [A, B], [A]),
        ("duplicate", [A], [LEFT, A], [A]),
        # Pieces of two objects hang together by a detection that stays merged.
        ("split", [A, C], [LEFT, (210, 100, 150, 40), (370, 100, 150, 40)], [(100, 100, 420, 40)]),
    ],
)
@pytest.mark.parametrize("are_polygons", [False, True])
def test_each_kind_is_repaired(kind, gt, det, expected, are_polygons):
    sides = objects(gt, are_polygons), objects(det, are_polygons)
    batch = ImageBatch(["img"], np.zeros((1, 2)), *sides)
    _, after = repaired(batch, (kind,))
    boxes = [[x, y, x + width, y + height] for x, y, width, height in expected]
    assert after.det.boxes.tolist() == boxes
    assert (after.det.outlines.counts > 0).all() == are_polygons
    assert after.det.ids.tolist() == sorted(set(after.det.ids.tolist()))


@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.integers(0, 10_000), st.sets(st.sampled_from(ERROR_TYPES)), st.booleans())
def test_repaired_objects_are_consistent(tmp_path_factory, seed, kinds, as_boxes):
    batch = scene_batch(tmp_path_factory.mktemp("scene"), seed)
    images, after = repaired(batch, kinds, as_boxes)
    before, det = some_images(batch, images), after.det
    assert after.names == before.names
    assert after.gt.ids.tolist() == before.gt.ids.tolist()
    assert det.offsets[-1] == det.count == len(det.texts) == len(det.boxes)
    assert (det.boxes[:, 2:] >= det.boxes[:, :2]).all()
    for start, stop in zip(det.offsets[:-1], det.offsets[1:], strict=True):
        assert len(set(det.ids[start:stop].tolist())) == stop - start
    _, invalid = outlines.as_drawn(det.outlines)
    assert invalid.sum() <= outlines.as_drawn(batch.det.outlines)[1].sum()
    if not kinds & {"split", "merged"}:
        mistakes = find(Measured(batch), Thresholds())
        change = {"missed": 1, "false": -1, "duplicate": -1}
        assert det.count - before.det.count == sum(
            change.get(kind, 0) * getattr(mistakes, kind).sum() for kind in kinds
        )


@settings(deadline=None, derandomize=True, max_examples=8)
@given(st.integers(0, 10_000), st.sampled_from(list(PROTOCOLS)))
def test_repairs_score_as_a_run_over_the_repaired_batch(tmp_path_factory, seed, protocol):
    batch = scene_batch(tmp_path_factory.mktemp("scene"), seed)
    (run,) = runs_of({protocol: config.checked(protocol, {})})
    convention = run.protocol.convention(run.parameters) or Convention()
    measured = Measured(batch)
    evidence = measured.evidence(run.protocol, run.parameters)
    part = diagnose_batch(Thresholds(), Edges(), BatchImages(run, measured, evidence))
    for name, kinds in {**{kind: (kind,) for kind in ERROR_TYPES}, ALL_KINDS: ERROR_TYPES}.items():
        images, after = repaired(batch, kinds, convention.as_boxes or convention.inclusive)
        rest = np.setdiff1d(np.arange(len(batch.names)), images)
        corrected = replace(
            batch,
            names=[*after.names, *(batch.names[k] for k in rest)],
            sizes=batch.sizes[[*images, *rest]],
            gt=concatenate([after.gt, take_images(batch.gt, rest)]),
            det=concatenate([after.det, take_images(batch.det, rest)]),
        )
        expected = Measured(corrected).evidence(run.protocol, run.parameters).tally.sum()
        for column, value in part.repaired[name].sum().as_dict().items():
            assert value == pytest.approx(expected.as_dict()[column], abs=1e-9)
