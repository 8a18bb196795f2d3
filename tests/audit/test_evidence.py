"""Evidence of an audit, by a plain reference."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltex_cli.audit import agreement
from evaltex_cli.audit.agreement import AGREE, SAME, STEPS
from evaltex_cli.audit.evidence import INSIDE, NEAR, Evidence, read
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.arrays import OneImage, image_objects, objects_of
from evaltex_cli.evaluation.inputs import Inputs, open_inputs
from evaltex_cli.formats import memory
from evaltex_cli.formats.options import InputOptions

Box = tuple[int, int, int, int]


def boxes_of(least: int, most: int) -> st.SearchStrategy[list[Box]]:
    """Boxes of an image, of such sizes."""
    size = st.integers(least, most)
    drawn = st.tuples(st.integers(0, 9), st.integers(0, 3), size, size)
    return st.lists(
        drawn.map(lambda box: (box[0], box[1], box[0] + box[2], box[1] + box[3])), max_size=7
    )


def inputs_of(gt: Sequence[OneImage], detectors: Sequence[Sequence[OneImage]]) -> list[Inputs]:
    sides = [
        {f"img_{k}": objects_of(one) for k, one in enumerate(images)} for images in (gt, *detectors)
    ]
    truth = memory.source("gt", sides[0], {})
    return [open_inputs(truth, memory.source("det", one, {}), InputOptions()) for one in sides[1:]]


def area(box: Box) -> int:
    x0, y0, x1, y1 = box
    return max(x1 - x0, 0) * max(y1 - y0, 0)


def common(one: Box, other: Box) -> int:
    low, high = map(max, one[:2], other[:2]), map(min, one[2:], other[2:])
    return area((*low, *high))  # type: ignore[arg-type]


def iou(one: Box, other: Box) -> float:
    shared = common(one, other)
    return shared / (area(one) + area(other) - shared)


class Plain(NamedTuple):
    """What loops find: the boxes, and pairs of an object and a place, or a detection, of an image
    that share some area.
    """

    gt: list[Box]
    det: list[Box]
    places: list[tuple[int, int]]
    detections: list[tuple[int, int]]


def plain(evidence: Evidence) -> Plain:
    scene, centre = evidence.scene, evidence.places.centre.tolist()
    gt, det = (
        [tuple(box) for box in side.boxes.astype(int).tolist()] for side in (scene.gt, scene.det)
    )
    images = scene.gt.image.tolist(), scene.det.image.tolist()
    pairs = [
        (i, k)
        for i, k in product(range(len(gt)), range(len(det)))
        if images[0][i] == images[1][k] and common(gt[i], det[k])
    ]
    at = [(i, p) for i, p in product(range(len(gt)), range(len(centre))) if (i, centre[p]) in pairs]
    return Plain(gt, det, at, pairs)


def check_objects(evidence: Evidence, known: Plain) -> None:
    gt, det, _, pairs = known
    scene = evidence.scene
    found = np.zeros_like(evidence.found)
    near = np.zeros(found.shape, bool)
    column = np.searchsorted(np.unique(scene.detector), scene.detector)
    for i, k in pairs:
        detector, value = int(column[k]), iou(gt[i], det[k])
        found[i, detector] = max(found[i, detector], value)
        near[i, detector] |= value >= SAME or common(gt[i], det[k]) / area(gt[i]) >= NEAR
    assert evidence.found == pytest.approx(found, abs=1 / STEPS)
    assert evidence.near.tolist() == near.sum(axis=1).tolist()
    image, hidden = scene.gt.image, scene.gt.dont_care
    same = {
        (i, k)
        for i, k in combinations(range(len(gt)), 2)
        if image[i] == image[k] and iou(gt[i], gt[k]) >= SAME and not (hidden[i] and hidden[k])
    }
    assert {*zip(evidence.same.one.tolist(), evidence.same.other.tolist(), strict=True)} == same


def check_places(evidence: Evidence, known: Plain) -> None:
    gt, det, at, _ = known
    centre = evidence.places.centre.tolist()
    covered, fits = [0.0] * len(centre), [0.0] * len(centre)
    for i, p in at:
        covered[p] += common(gt[i], det[centre[p]]) / area(det[centre[p]])
        fits[p] = max(fits[p], iou(gt[i], det[centre[p]]))
    assert evidence.covered == pytest.approx(covered, abs=9 / STEPS)
    assert evidence.confirmed.tolist() == [value >= SAME for value in fits]


def check_best(evidence: Evidence, known: Plain) -> None:
    """Of each place the object that fits it best, then of each object the best of these places."""
    gt, det, at, _ = known
    centre, count = evidence.places.centre, evidence.places.count
    for hidden, best in enumerate(evidence.best):
        of_place: dict[int, tuple[float, int]] = {}
        for i, p in at:
            if evidence.scene.gt.dont_care[i] == hidden and count[p] >= AGREE:
                of_place[p] = max(of_place.get(p, (0.0, 0)), (iou(gt[i], det[centre[p]]), -i))
        of_object: dict[int, tuple[float, int]] = {}
        for p, (value, i) in of_place.items():
            of_object[-i] = max(of_object.get(-i, (0.0, 0)), (value, -p))
        rows = zip(best.gt.tolist(), best.place.tolist(), strict=True)
        assert [*rows] == [(i, -p) for i, (_, p) in sorted(of_object.items())]
        ious = [value for _, (value, _) in sorted(of_object.items())]
        assert best.iou == pytest.approx(ious, abs=1 / STEPS)


def check_inside(evidence: Evidence, known: Plain) -> None:
    gt, det, at, _ = known
    places, hidden = evidence.places, evidence.scene.gt.dont_care
    counted = [(i, p) for i, p in at if not hidden[i] and places.count[p] >= AGREE]
    shared = {(i, p): common(gt[i], det[places.centre[p]]) for i, p in counted}
    parts = [(i, p) for i, p in counted if shared[i, p] / area(det[places.centre[p]]) >= INSIDE]
    wholes = sorted((p, i) for i, p in counted if shared[i, p] / area(gt[i]) >= INSIDE)
    fits = evidence.found.sum(axis=1)
    lost = {
        (p, i if fits[i] < fits[k] else k)
        for (p, i), (other, k) in combinations(wholes, 2)
        if p == other and common(gt[i], gt[k]) >= 0.5 * min(area(gt[i]), area(gt[k]))
    }
    wholes = [pair for pair in wholes if pair not in lost]
    for pairs, found in ((parts, evidence.parts), (wholes, evidence.wholes)):
        owners = [owner for owner, _ in pairs]
        wanted = [pair for pair in pairs if owners.count(pair[0]) > 1]
        assert [*zip(*(rows.tolist() for rows in found), strict=True)] == wanted


@given(
    gt=st.lists(boxes_of(1, 8), min_size=1, max_size=3),
    seen=st.lists(st.lists(boxes_of(5, 9), min_size=3, max_size=3), min_size=3, max_size=3),
    hides=st.integers(1, 4),
)
def test_evidence_is_what_all_pairs_say(
    gt: list[list[Box]], seen: list[list[list[Box]]], hides: int
) -> None:
    pages = [
        image_objects(boxes, dont_care=[k % 4 >= hides for k in range(len(boxes))]) for boxes in gt
    ]
    inputs = inputs_of(pages, [of_one[: len(gt)] for of_one in seen])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreement, "COPIED_SHARE", 2)  # detectors are few boxes: none is a copy
        evidence, _ = read(inputs)
    known = plain(evidence)
    for check in (check_objects, check_places, check_best, check_inside):
        check(evidence, known)


def test_a_crowd_beyond_the_limit_is_refused_with_its_image(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agreement, "MOST_PAIRS", 9)
    crowd = [[0, 0, 80 + k, 20] for k in range(3)]
    for gt in ([], crowd):
        with pytest.raises(InputError, match="image 'img_1': more than 9 pairs of detections"):
            read(inputs_of([gt, gt], [[crowd[:1], crowd], [[], crowd[:2]]]))
    monkeypatch.setattr(agreement, "MOST_PAIRS", 10)
    read(inputs_of([crowd, crowd], [[crowd[:1], crowd], [[], crowd[:2]]]))
