"""A scene whose coordinates are multiplied by a decimal factor, which rounds
every one of them, matches as before.
"""

from __future__ import annotations

from dataclasses import fields
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_invariants import assert_close

from evaltex_cli import image_objects
from evaltex_cli.diagnosis import error_types
from evaltex_cli.geometry import overlaps, rounding, shapes
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.matches import Matches
from evaltex_cli.records import ImageBatch, Objects

FACTORS = (
    "0.1",
    "0.01",
    "0.001",
    "0.3",
    "0.7",
    "1e-6",
    "1.1",
    "3.3",
    "10",
    "1000",
    "12345.678",
    "1e6",
)
OFFSETS = (0, 0, 7, 1000, -500)
few = settings(deadline=None, derandomize=True, max_examples=25)

INDIFFERENT: list[tuple[str, dict[str, Any]]] = [
    ("evaltex", {}),
    ("evaltex", {"det_border": 0.1, "region": False, "overlap_filter": 0.0}),
    ("iou", {"truncate": False}),
    ("iou", {"truncate": False, "order": "confidence"}),
    ("iou-crw", {"truncate": False}),
    ("tiou", {"truncate": False}),
    ("deteval", {"variant": "totaltext"}),
    ("deteval", {"variant": "rrc", "shape": "polygon"}),
    ("deteval", {"variant": "rrc", "shape": "polygon", "preset": "relaxed", "curve_points": 7}),
    ("icdar2013", {"shape": "polygon"}),
    ("icdar2003", {"shape": "polygon"}),
    ("icdar2003", {"shape": "polygon", "match": "minbox"}),
    ("pq", {"objects": "regions", "iou": 0.25}),
]
WHOLE = ("iou", "iou-crw", "tiou", "tedeval", "popeval")
"""Protocols that cut coordinates to integers; multiplied by an integer, integers stay integers."""

Point = tuple[int, int]
Side = list[tuple[str, list[int], bool, int]]
"""Objects: a box (x, y, width, height) or a polygon (x, y, x, y, ...), its
numbers, whether don't care, its region.
"""


def has_area(corners: list[Point]) -> bool:
    (ax, ay), (bx, by), (cx, cy) = corners
    return (bx - ax) * (cy - ay) != (by - ay) * (cx - ax)


def lean(x: int, y: int, width: int, height: int, shift: int) -> list[Point]:
    """A parallelogram."""
    return [(x + shift, y), (x + shift + width, y), (x + width, y + height), (x, y + height)]


@st.composite
def sides(draw: st.DrawFn) -> tuple[Side, Side]:
    """Objects on a coarse grid, so that many touch, and many ratios are .1,
    .4, .5 or .8 exactly.
    """
    number, length = st.integers(0, 12), st.sampled_from([1, 2, 4, 5, 8, 10])
    box = st.tuples(number, number, length, length).map(lambda found: ("box", list(found)))
    corner = st.tuples(number, number)
    triangle = st.lists(corner, min_size=3, max_size=3, unique=True).filter(has_area)
    leaning = st.tuples(number, number, length, length, st.integers(1, 3)).map(
        lambda found: lean(*found)
    )
    polygon = (triangle | leaning).map(
        lambda points: ("polygon", [value for point in points for value in point])
    )
    kind = draw(st.sampled_from([box, box | polygon]))
    gt, det = (
        [(*one, False, 1) for one in draw(st.lists(kind, min_size=1, max_size=5))] for _ in range(2)
    )
    gt = [
        (name, numbers, draw(st.integers(0, 5)) == 0, draw(st.integers(1, 2)))
        for name, numbers, _, _ in gt
    ]
    det += [(name, numbers, False, 1) for name, numbers, _, _ in gt if draw(st.booleans())]
    return gt, det


def objects(side: Side, factor: str, offset: int, dont_care: bool = True) -> Objects:
    """Every number times the factor, each rounded by itself; then the sums of
    x and width, y and height.
    """

    def scaled(values: list[int], moved: int) -> list[float]:
        return [float((value + moved) * Decimal(factor)) for value in values]

    boxes, polygons = [], []
    ordered = sorted(side, key=lambda one: one[0] != "box")
    for kind, numbers, _, _ in ordered:
        if kind == "box":
            (x, y), (width, height) = scaled(numbers[:2], offset), scaled(numbers[2:], 0)
            boxes.append([x, y, x + width, y + height])
        else:
            polygons.append(np.reshape(scaled(numbers, offset), (-1, 2)))
    return image_objects(
        np.reshape(boxes, (-1, 4)),
        polygons,
        texts=["word"] * len(side),
        regions=np.array([region for *_, region in ordered]),
        dont_care=np.array([rejected and dont_care for _, _, rejected, _ in ordered]),
        confidences=np.linspace(0.1, 0.9, len(side)),
    )


def found(
    protocol: str, gt: Objects, det: Objects, **parameters: Any
) -> tuple[Matches, dict[str, Any]]:
    kind = load(protocol)
    chosen = kind.parameters(**parameters)
    batch = ImageBatch(["a"], np.zeros((1, 2)), gt, det)
    evidence = kind.evidence(batch, overlaps.measure(batch, kind.convention(chosen)), chosen, True)
    assert evidence.matches is not None
    return evidence.matches, kind.scores(evidence.tally.sum(), chosen)


def assert_same(one: tuple[Matches, dict[str, Any]], other: tuple[Matches, dict[str, Any]]) -> None:
    for a, b in zip(one[0], other[0], strict=True):
        assert a.types.tolist() == b.types.tolist()
        assert a.partners.tolist() == b.partners.tolist()
        assert a.offsets.tolist() == b.offsets.tolist()
    assert_close(one[1], other[1])


TOUCHING: tuple[Side, Side] = (
    [("box", [1, 0, 2, 100], False, 1)],
    [("box", [1, 0, 2, 100], False, 1), ("box", [3, 0, 2, 100], False, 1)],
)


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "parameters"), INDIFFERENT, ids=str)
@given(scene=sides(), factor=st.sampled_from(FACTORS), offset=st.sampled_from(OFFSETS))
@example(scene=TOUCHING, factor="0.1", offset=0)
@few
def test_a_decimal_factor_changes_no_match(
    protocol: str, parameters: dict[str, Any], scene: tuple[Side, Side], factor: str, offset: int
) -> None:
    """Total-Text's program adds a square pixel to a detection that may be
    don't care; so it is tried without any.
    """
    dont_care = parameters.get("variant") != "totaltext"
    plain, scaled = (
        found(protocol, *(objects(side, f, offset, dont_care) for side in scene), **parameters)
        for f in ("1", factor)
    )
    assert_same(scaled, plain)


@given(scene=sides(), factor=st.sampled_from(FACTORS), offset=st.sampled_from(OFFSETS))
@few
def test_a_decimal_factor_changes_no_mistake(
    scene: tuple[Side, Side], factor: str, offset: int
) -> None:
    plain, scaled = (
        error_types.find(
            ImageBatch(["a"], np.zeros((1, 2)), *(objects(side, f, offset) for side in scene)),
            error_types.Thresholds(),
        )
        for f in ("1", factor)
    )
    for field in fields(error_types.Mistakes):
        assert getattr(scaled, field.name).tolist() == getattr(plain, field.name).tolist(), (
            field.name
        )


@pytest.mark.parametrize("protocol", WHOLE)
@given(
    scene=sides(),
    factor=st.sampled_from(["2", "7", "10", "1000"]),
    offset=st.sampled_from([0, 0, 7, 1000]),
)
@few
def test_an_integer_factor_changes_no_match_of_integers(
    protocol: str, scene: tuple[Side, Side], factor: str, offset: int
) -> None:
    plain, scaled = (
        found(protocol, *(objects(side, f, offset) for side in scene)) for f in ("1", factor)
    )
    assert_same(scaled, plain)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_boxes_that_touch_are_no_split(protocol: str) -> None:
    """At every scale, or at 1000 where the protocol counts pixels: icdar2003
    takes any common pixel for a match.
    """
    taken = load(protocol).convention(load(protocol).parameters())
    counts_pixels = taken.truncated or taken.inclusive
    for factor in ("1000",) if counts_pixels else FACTORS:
        side = found(protocol, *(objects(one, factor, 0) for one in TOUCHING))[0].gt
        assert side.partners.tolist() == ([0, 1] if protocol == "icdar2003" else [0])


@pytest.mark.parametrize("factor", FACTORS)
def test_polygons_with_a_common_side_do_not_overlap(factor: str) -> None:
    lower = [("polygon", [0, 0, 70, 30, 70, 60, 0, 40], False, 1)]
    upper = [("polygon", [0, 0, 70, 30, 90, -10, 10, -40], False, 1)]
    batch = ImageBatch(
        ["a"], np.zeros((1, 2)), objects(lower, factor, 7), objects(upper, factor, 7)
    )
    assert not len(overlaps.measure(batch).gt)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([1e9, 1e9, 1e9 + 1e-3, 1e9 + 1e-3], [1e9, 1e9, 1e9 + 1e-3, 1e9 + 2e-3]),
        ([0, 0, 1e3, 1e3], [999.0, 999.0, 999.0 + 1e-5, 999.0 + 1e-5]),
        ([0, 0, 1e6, 1e-9], [5e5, 0, 6e5, 1e-9]),
        ([0, 0, 1, 5e-324], [0, 0, 1, 5e-324]),
        ([0, 0, 1e9, 1e9], [0, 0, 1e-6, 1e-6]),
        ([-1e9, 0, 1e9, 1e9], [-1e-7, 0, 1e-7, 1e-7]),
    ],
)
def test_small_overlaps_remain(a: list[float], b: list[float]) -> None:
    one = np.zeros(1, np.int64)
    area = shapes.pair_area(shapes.Shapes(np.array([a])), one, shapes.Shapes(np.array([b])), one)
    assert area[0] == (min(a[2], b[2]) - max(a[0], b[0])) * (min(a[3], b[3]) - max(a[1], b[1])) > 0


def test_what_rounding_takes_off_an_integer_is_not_cut() -> None:
    """-15.4 + 16.4 is .9999999999999982, and 0.57 * 100 is 56.99999999999999."""
    boxes = np.array([[-15.4, 0.0, -15.4 + 16.4, 0.57 * 100], [-0.9, 0.2, 1.9, 2.9999]])
    assert rounding.truncated(boxes).tolist() == [[-15, 0, 1, 57], [0, 0, 1, 2]]
    assert rounding.truncated(np.array([[0.57 * 100, 56.999999]])).tolist() == [[57, 56]]
