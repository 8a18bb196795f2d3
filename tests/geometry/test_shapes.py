"""Areas of boxes and polygons, against exact rational arithmetic; and what polygons are repaired to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, TypeAlias

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.api.arrays import image_objects
from evaltex_cli.geometry import outlines, rings, shapes
from evaltex_cli.geometry.outlines import GeometryCounts
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.records import Convention

Point: TypeAlias = tuple[Fraction, Fraction]
Edge: TypeAlias = tuple[Point, Point]
Rings: TypeAlias = Sequence[Sequence[Sequence[float]]]


def area_where(shapes: Sequence[Rings], inside: Callable[[Sequence[bool]], bool]) -> Fraction:
    """Area of all points of which `inside` is true of whether each shape has them.

    A shape is a list of rings, filled by the even-odd rule.
    """
    edges = [[edge for ring in rings for edge in _edges(ring)] for rings in shapes]
    every = [edge for one in edges for edge in one]
    cuts = {x for edge in every for x, _ in edge}
    cuts.update(x for a, b in combinations(every, 2) for x in _crossing(a, b))
    total = Fraction(0)
    for left, right in pairwise(sorted(cuts)):
        middle = (left + right) / 2
        meets = sorted(
            (_height(edge, middle), owner)
            for owner, one in enumerate(edges)
            for edge in one
            if edge[0][0] <= left and edge[1][0] >= right
        )
        state = [False] * len(shapes)
        for (y, owner), (following, _) in pairwise(meets):
            state[owner] = not state[owner]
            total += (following - y) * (right - left) if inside(state) else 0
    return total


def _edges(ring: Sequence[Sequence[float]]) -> list[Edge]:
    points = [(Fraction(float(x)), Fraction(float(y))) for x, y in ring]
    sides = zip(points, [*points[1:], points[0]], strict=True)
    return [(min(a, b), max(a, b)) for a, b in sides if a[0] != b[0]]


def _height(edge: Edge, x: Fraction) -> Fraction:
    (x0, y0), (x1, y1) = edge
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def _crossing(a: Edge, b: Edge) -> list[Fraction]:
    left, right = max(a[0][0], b[0][0]), min(a[1][0], b[1][0])
    if left >= right:
        return []
    first, last = (_height(a, x) - _height(b, x) for x in (left, right))
    return [left + (right - left) * first / (first - last)] if first * last < 0 else []


quick = settings(deadline=None, derandomize=True, max_examples=50)
number = st.integers(0, 6)
point = st.tuples(number, number)
ring = st.lists(point, min_size=3, max_size=9)
scales = st.sampled_from([1e-3, 0.1, 1 / 3, 1.0, 1e6])
EVERY = np.zeros(1, np.int64)


def made(*drawn: Any, scale: float = 1.0, origin: float = 0.0) -> Shapes:
    polygons = [scale * np.array(one, float) + origin for one in drawn]
    return shapes.from_objects(image_objects(polygons=polygons), Convention())


def exact(rings: list[list[tuple[float, float]]], inside: Any) -> float:
    """The even-odd rule is what polygons are repaired by."""
    return float(area_where([[one] for one in rings], inside))


@quick
@given(ring, ring, scales, st.sampled_from([0.0, 1e6]))
def test_areas_of_pairs(a: Any, b: Any, scale: float, origin: float) -> None:
    """Of polygons with holes, in several parts, or empty, near the origin and far from it."""
    one, other = made(a, scale=scale, origin=origin), made(b, scale=scale, origin=origin)
    near = max(1e-9, 1e-9 * origin / scale)
    assert one.area()[0] / scale**2 == pytest.approx(exact([a], all), abs=near)
    shared = one.pair_area(EVERY, other, EVERY)
    assert shared[0] / scale**2 == pytest.approx(exact([a, b], all), abs=near)
    assert other.pair_area(EVERY, one, EVERY) == pytest.approx(shared, rel=1e-9)


@quick
@given(
    st.lists(ring, min_size=1, max_size=4), ring, st.lists(st.booleans(), min_size=4, max_size=4)
)
def test_areas_of_unions(drawn: Any, other: Any, first: list[bool]) -> None:
    every, group = made(*drawn), np.array(first[: len(drawn)], int)
    rows = np.arange(len(drawn))
    found = every.union_area(group, 3, rows, made(other), 0 * rows)
    for k in (0, 1):
        own = [one for one, of in zip(drawn, group, strict=True) if of == k]
        expected = exact([other, *own], lambda has: has[0] and any(has[1:])) if own else 0
        assert found[k] == pytest.approx(expected, abs=1e-9)
    assert found[2] == 0


side = st.sampled_from(list(combinations(range(7), 2)))


@settings(quick, max_examples=300)
@given(st.lists(st.tuples(st.integers(0, 1), side, side), min_size=4, max_size=9), side, side)
def test_areas_of_unions_of_boxes_are_counts_of_pixels(drawn: Any, across: Any, down: Any) -> None:
    group = np.array([k for k, *_ in drawn])
    pixels = np.zeros((3, 6, 6), dtype=bool)
    for k, (left, right), (top, bottom) in drawn:
        pixels[k, top:bottom, left:right] = True
    boxes = Shapes(np.array([(*x, *y) for _, x, y in drawn], float)[:, [0, 2, 1, 3]])
    other = Shapes(np.array([[*across, *down]], float)[:, [0, 2, 1, 3]])
    found = boxes.union_area(group, 3, np.arange(len(drawn)), other, 0 * group)
    assert found.tolist() == pixels[:, slice(*down), slice(*across)].sum(axis=(1, 2)).tolist()


@quick
@given(ring, st.lists(ring, min_size=1, max_size=3))
def test_what_remains_without_others(drawn: Any, others: Any) -> None:
    k = np.zeros(len(others), np.int64)
    remains = made(drawn).without(k, made(*others), np.arange(len(others)))
    expected = exact([drawn, *others], lambda has: has[0] and not any(has[1:]))
    assert remains.area()[0] == pytest.approx(expected, abs=1e-9)


def test_boxes_are_exact_and_polygons_of_their_corners_are_boxes() -> None:
    objects = image_objects(
        boxes=[[0, 0, 4, 3], [1, 1, 9, 2]], polygons=[[(0, 0), (4, 0), (4, 3), (0, 3)]]
    )
    found = shapes.from_objects(objects, Convention())
    assert found.polygons is None and found.area().tolist() == [12, 8, 12]
    i, j = np.array([0, 0, 2]), np.array([1, 2, 1])
    assert found.pair_area(i, found, j).tolist() == [3, 12, 3]


def test_slivers_that_rounding_makes_are_nothing() -> None:
    """Two words side by side, their common edge computed in two ways."""
    edge = 0.1 + 0.2
    left, right = Shapes(np.array([[0, 0, edge, 1]])), Shapes(np.array([[0.3, 0, 1, 1]]))
    assert left.pair_area(EVERY, right, EVERY).tolist() == [0]


def test_conventions() -> None:
    objects = image_objects(
        boxes=[[0.5, -0.5, 3.9, 2.9999999999999996]], polygons=[[(0, 0), (5.5, 0), (0, 5.5)]]
    )
    box, triangle = shapes.from_objects(objects, Convention(truncated=True)).area().tolist()
    assert (box, triangle) == (9, 12.5)
    assert shapes.from_objects(objects, Convention(as_boxes=True)).area()[1] == 5.5**2
    assert shapes.from_objects(objects, Convention(inclusive=True)).area()[1] == 6.5**2


def test_moved_shapes() -> None:
    """By mitred parallels; what shrinks to nothing stays, and what has no margin."""
    square = [(0, 0), (10, 0), (10, 10), (5, 10.5), (0, 10)]
    every = made([(5, 0), (10, 5), (5, 10), (0, 5)], square, square)
    grown, shrunk = every.moved(np.array([1, 0, 1.0])), every.moved(np.array([-9.0, 0, -1]))
    assert grown.area()[0] == pytest.approx((50**0.5 + 2) ** 2)
    assert shrunk.area()[:2].tolist() == every.area()[:2].tolist()
    assert shrunk.area()[2] < every.area()[2] < grown.area()[2]
    boxes = Shapes(np.array([[0.0, 0, 10, 4]]))
    assert boxes.moved(np.array([-1.0])).boxes.tolist() == [[1, 1, 9, 3]]
    assert boxes.moved(np.zeros(1)) is boxes


@quick
@given(st.lists(point, min_size=3, max_size=9), st.lists(point, max_size=3), scales)
def test_a_repaired_ring_has_what_it_goes_around_an_odd_number_of_times(
    drawn: Any, spike: Any, scale: float
) -> None:
    """The spike is drawn there and back, in lines that may run along the ring and across it."""
    every = [*drawn, *drawn[:1], *spike, *spike[-2::-1], *drawn[:1]]
    objects = image_objects(polygons=[scale * np.array(every, float)])
    [repaired] = outlines.valid_polygons(objects.outlines)
    area = exact([every], any)
    assert repaired.is_valid and repaired.area / scale**2 == pytest.approx(area, abs=1e-9)
    is_valid = shapely.Polygon(every).is_valid
    counts = GeometryCounts(int(area > 0 and not is_valid), 0, int(area == 0))
    assert outlines.checked(objects.outlines) == counts
    crossing, _ = outlines.self_crossing(objects.outlines)
    assert crossing.tolist() == [0] * (not is_valid)


@pytest.mark.parametrize(
    ("drawn", "why"),
    [
        (
            [(0, 0), (9, 9), (9, 0), (0, 9)],
            "a polygon that crosses or touches itself at (4.5, 4.5)",
        ),
        ([(0, 0), (4, 0), (4, 4), (2, 0), (0, 4)], "crosses or touches itself at (2, 0)"),
        ([(0, 0), (1, 1), (2, 2)], "without area, all its points on a line"),
        ([(0, 0), (1, 1), (0, 0)], "2 distinct points"),
    ],
)
def test_why_a_polygon_is_invalid(drawn: Any, why: str) -> None:
    objects = image_objects(boxes=[[0, 0, 1, 1]], polygons=[drawn])
    [(row, found)] = outlines.describe_invalid(objects.outlines).items()
    assert row == 1 and why in found.why and found.has_area == ("crosses" in found.why)


def test_polygons_that_cross_themselves_too_often() -> None:
    rng = np.random.default_rng(1)
    circle = [(np.cos(a), np.sin(a)) for a in np.linspace(0, 6, 300)]
    objects = image_objects(polygons=[circle, rng.random((90, 2)), rng.random((20, 2))])
    assert outlines.tangled(objects.outlines).tolist() == [1]


# Rings --------------------------------------------------------------------------------------------


@quick
@given(st.lists(point, min_size=1, max_size=6), st.lists(st.floats(0, 1), max_size=4))
def test_points_along_a_chain(chain: Any, shares: list[float]) -> None:
    found = rings.along(np.array(chain, float), np.array(shares))
    line = shapely.LineString(chain * 2 if len(chain) == 1 else chain)
    for share, at in zip(shares, found, strict=True):
        expected = line.interpolate(share, normalized=True)
        assert at == pytest.approx((expected.x, expected.y), abs=1e-9)


@quick
@given(st.lists(st.lists(point, min_size=3, max_size=7, unique=True), max_size=4))
def test_areas_and_centroids_of_rings(drawn: Any) -> None:
    drawn = [one for one in drawn if shapely.Polygon(one).is_valid]
    objects = image_objects(boxes=[[0, 0, 2, 4]], polygons=drawn)
    columns = rings.corners_and_vertices(objects.outlines)
    expected = [shapely.box(0, 0, 2, 4), *map(shapely.Polygon, drawn)]
    assert rings.area(*columns) == pytest.approx([one.area for one in expected])
    centres = [(one.centroid.x, one.centroid.y) for one in expected]
    assert rings.centroids(*columns) == pytest.approx(np.array(centres))


# Boxes that touch ---------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [[(4, 2), (0, 3), (5, 6), (2, 0)], [(3, 4), (300, 320), (1, 1)]])
def test_boxes_that_touch_are_found_in_every_image(sizes: list[tuple[int, int]]) -> None:
    """In crowds, too; boxes that share an edge only do not touch."""
    rng = np.random.default_rng(5)
    counts = np.array(sizes)
    offsets = [np.concatenate([[0], np.cumsum(side)]) for side in counts.T]
    low = [rng.integers(0, 9, (side.sum(), 2)).astype(np.float64) for side in counts.T]
    a, b = (np.hstack([one, one + rng.integers(1, 4, one.shape)]) for one in low)
    of_a, of_b = (np.repeat(np.arange(len(sizes)), side) for side in counts.T)
    shares = np.maximum(a[:, None, :2], b[None, :, :2]) < np.minimum(a[:, None, 2:], b[None, :, 2:])
    expected = np.argwhere(shares.all(axis=2) & (of_a[:, None] == of_b))
    found = np.stack(touching_boxes(a, offsets[0], b, offsets[1]), axis=1)
    assert len(expected) and found.tolist() == expected.tolist()
