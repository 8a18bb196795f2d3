"""Ties, scale and touching words, by every protocol: a ratio within 1e-9 of a threshold is equal to
it, scenes match in the same way in all units, and words that touch do not overlap.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import image_objects
from evaltex_cli.diagnosis import error_types
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.matching import IGNORED, MISSED, Matches, above, at_least
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.records import ImageBatch, Objects, concatenate

FACTORS = (1 / 3, 0.1, 0.7, 1e-6, 10, 1000, 12345.678)
few = settings(deadline=None, derandomize=True, max_examples=15)

INDIFFERENT: list[tuple[str, dict[str, Any]]] = [
    ("evaltex", {}),
    ("iou", {"truncate": False, "pairing": "best"}),
    ("iou-crw", {"truncate": False}),
    ("tiou", {"truncate": False}),
    ("deteval", {"variant": "totaltext"}),
    ("deteval", {"variant": "rrc", "shape": "polygon"}),
    ("icdar2013", {"shape": "polygon"}),
    ("icdar2003", {"shape": "polygon", "match": "minbox"}),
    ("pq", {"objects": "regions", "iou": 0.25}),
]
INTEGERS = ("iou", "iou-crw", "tiou", "tedeval", "popeval")
"""Protocols that cut coordinates to integers; multiplied by an integer, integers stay integers."""

Ring = list[tuple[int, int]]


def found(
    protocol: str, gt: Objects, det: Objects, **parameters: Any
) -> tuple[Matches, dict[str, Any]]:
    """Return the matches of an image, and its scores."""
    kind = load(protocol)
    chosen = kind.parameters(**parameters)
    batch = ImageBatch(["a"], np.zeros((1, 2)), concatenate([gt]), concatenate([det]))
    evidence = Measured(batch).evidence(kind, chosen)
    return evidence.matches, kind.scores(evidence.tally.sum(), chosen)


# Thresholds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.01, 0.1, 0.4, 0.5, 0.8])
def test_a_ratio_within_the_tolerance_of_a_threshold_is_equal_to_it(threshold: float) -> None:
    for off in (-9e-10, 0.0, 9e-10):
        assert at_least(threshold + off, threshold) and not above(threshold + off, threshold)
    assert not at_least(threshold - 2e-9, threshold)
    assert above(threshold + 2e-9, threshold)


def tenths(count: int, factor: float) -> Objects:
    """Return so many tenths of a rotated word, from its left."""
    along, across, origin = np.array([24.0, 18.0]), np.array([-30.0, 40.0]), np.array([90.0, 70.0])
    corners = [origin + count * along * s + across * v for s, v in ((0, 0), (1, 0), (1, 1), (0, 1))]
    return image_objects(polygons=[np.array(corners) * factor], texts=["a"])


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize(
    ("protocol", "threshold", "parameters", "is_reached"),
    [
        ("iou", "iou", {"truncate": False}, False),
        ("icdar2013", "t_r", {"shape": "polygon", "t_p": 0.0, "center": 1e9}, True),
        ("deteval", "t_r", {"variant": "rrc", "shape": "polygon", "t_p": 0.0}, True),
        ("tedeval", "t_r", {"t_p": 0.0, "center": 1e9}, True),
    ],
)
def test_objects_at_a_threshold(
    protocol: str, threshold: str, parameters: dict[str, Any], is_reached: bool, factor: float
) -> None:
    """Detections of some tenths of the word, at just this threshold, a little below, and above."""
    factor = max(round(factor), 1) if protocol == "tedeval" else factor
    for count in range(2, 9):
        for off, matches in ((-1e-6, True), (0.0, is_reached), (1e-6, False)):
            settings = parameters | {threshold: count / 10 + off}
            gt = found(protocol, tenths(10, factor), tenths(count, factor), **settings)[0].gt
            assert (gt.types[0] != MISSED) == matches, (count, off)


@pytest.mark.parametrize("protocol", ["iou", "tiou", "tedeval", "popeval"])
def test_a_share_in_dont_care_at_the_threshold_is_not_ignored(protocol: str) -> None:
    name = "t_p" if protocol == "tedeval" else "dont_care_overlap"
    for count in range(2, 9):
        gt = replace(tenths(count, 1), dont_care=np.ones(1, bool))
        for off, is_ignored in ((-1e-6, True), (0.0, protocol == "tedeval")):
            det = found(protocol, gt, tenths(10, 1), **{name: count / 10 + off})[0].det
            assert (det.types[0] == IGNORED) == is_ignored, (count, off)


# Scale --------------------------------------------------------------------------------------------


def has_area(corners: Ring) -> bool:
    (ax, ay), (bx, by), (cx, cy) = corners
    return (bx - ax) * (cy - ay) != (by - ay) * (cx - ax)


@st.composite
def rings_of(draw: st.DrawFn, most: int = 5) -> list[Ring]:
    """Shapes on a coarse grid, so that many touch, and many ratios are .1, .4, .5 or .8 exactly."""
    number, length = st.integers(0, 12), st.sampled_from([1, 2, 4, 5, 8, 10])
    leaning = st.tuples(number, number, length, length, st.integers(0, 3)).map(
        lambda v: [
            (v[0] + v[4], v[1]),
            (v[0] + v[4] + v[2], v[1]),
            (v[0] + v[2], v[1] + v[3]),
            (v[0], v[1] + v[3]),
        ]
    )
    triangle = st.lists(st.tuples(number, number), min_size=3, max_size=3).filter(has_area)
    return draw(st.lists(leaning | leaning | triangle, min_size=1, max_size=most))


def objects(shapes: list[Ring], factor: float, dont_care: bool = False) -> Objects:
    """Return shapes in another unit; every third is don't care, if any."""
    rows = np.arange(len(shapes))
    return image_objects(
        polygons=[np.array(ring) * factor for ring in shapes],
        texts=["word"] * len(shapes),
        regions=1 + rows % 2,
        dont_care=dont_care & (rows % 3 == 2),
    )


def assert_same(
    protocol: str, gt: list[Ring], det: list[Ring], factor: float, **parameters: Any
) -> None:
    # Total-Text's program adds a square pixel to a detection that may be don't care.
    dont_care = parameters.get("variant") != "totaltext"
    (plain, scores), (scaled, scaled_scores) = (
        found(protocol, objects(gt, f, dont_care), objects(det, f), **parameters)
        for f in (1, factor)
    )
    for a, b in zip(plain, scaled, strict=True):
        assert (a.types.tolist(), a.partners.tolist()) == (b.types.tolist(), b.partners.tolist())
    for name in load(protocol).headline:
        assert scaled_scores[name] == pytest.approx(scores[name], abs=1e-9), name


@pytest.mark.parametrize(("protocol", "parameters"), INDIFFERENT, ids=str)
@given(gt=rings_of(), others=rings_of(), factor=st.sampled_from(FACTORS))
@few
def test_the_unit_changes_no_match(
    protocol: str, parameters: dict[str, Any], gt: list[Ring], others: list[Ring], factor: float
) -> None:
    assert_same(protocol, gt, others + gt[::2], factor, **parameters)


@pytest.mark.parametrize("protocol", INTEGERS)
@given(gt=rings_of(), others=rings_of(), factor=st.sampled_from([2, 7, 10, 1000]))
@few
def test_an_integer_factor_changes_no_match_of_integers(
    protocol: str, gt: list[Ring], others: list[Ring], factor: int
) -> None:
    assert_same(protocol, gt, others + gt[::2], factor)


@given(gt=rings_of(), others=rings_of(), factor=st.sampled_from(FACTORS))
@few
def test_the_unit_changes_no_mistake(gt: list[Ring], others: list[Ring], factor: float) -> None:
    sides = ([objects(gt, f, True), objects(others, f)] for f in (1, factor))
    plain, scaled = (
        error_types.find(
            Measured(ImageBatch(["a"], np.zeros((1, 2)), *side)), error_types.Thresholds()
        )
        for side in sides
    )
    for name in ("gt", "det", *error_types.ERROR_TYPES):
        assert getattr(scaled, name).tolist() == getattr(plain, name).tolist()


# Words that touch ---------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_words_that_touch_do_not_overlap(protocol: str) -> None:
    """At every scale, or at 1000 where the protocol counts pixels: icdar2003 takes any common pixel
    for a match.
    """
    convention = load(protocol).convention(load(protocol).parameters())
    counts_pixels = convention is None or convention.truncated or convention.inclusive
    word = np.array([[1.0, 0, 3, 100]])
    for factor in (1000,) if counts_pixels else FACTORS:
        gt = image_objects(word * factor, texts=["a"])
        det = image_objects(np.array([word[0], [3, 0, 5, 100]]) * factor, texts=["a", "a"])
        partners = found(protocol, gt, det)[0].gt.partners.tolist()
        assert partners == ([0, 1] if protocol == "icdar2003" else [0])
