"""Areas of boxes and polygons, against exact rational arithmetic; and what polygons are repaired to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_areas import area_where

from evaltex_cli.evaluation.arrays import image_objects
from evaltex_cli.geometry import outlines, rings, shapes
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.records import Convention, GeometryCounts

quick = settings(deadline=None, derandomize=True, max_examples=100)
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


def test_numbers_of_boxes_and_polygons_in_turn() -> None:
    objects = [[0, 0, 0, 5], [0, 0, 4, 0, 4, 3], [1, 2, 3, 4], [0, 0, 5, 5, 9, 9]]
    counts = np.array([len(numbers) for numbers in objects])
    drawn = outlines.drawn(np.concatenate(objects).astype(float), counts, counts == 4)
    assert drawn.boxes.tolist() == [[0, 0, 0, 5], [0, 0, 4, 3], [1, 2, 3, 4], [0, 0, 9, 9]]
    assert [drawn.ring(k).ravel().tolist() for k in (1, 3)] == [objects[1], objects[3]]
    assert outlines.checked(drawn) == GeometryCounts(zero_area=2)


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


def test_pieces_that_must_overlap_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """2,000 pieces of more area than the box around them have 4 million pairs."""
    asked = []

    def spy(a: Any, *others: Any) -> Any:
        asked.append(len(a))
        return touching_boxes(a, *others)

    monkeypatch.setattr(shapes, "touching_boxes", spy)
    corners = np.tile([0.0, 0, 2, 1], (2000, 1))
    corners[:1000] += [1, 0, 1, 0]
    every, k = Shapes(corners), np.arange(2000)
    group = np.zeros(2000, np.int64)
    assert every.union_area(group, 2, k, every, k).tolist() == [3, 0]
    assert asked == [0]
