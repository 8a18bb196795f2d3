"""Areas of intersections by pairs of edges, compared with exact rational arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference_areas import area_where
from rings import hostile_partner, hostile_ring, rings, rings_of, star, valid

from evaltex_cli.geometry import edge_pairs, edges, polygons, shapes
from evaltex_cli.geometry.offsets import offset

scales = st.sampled_from([1e-6, 0.1, 1.0, 1e3, 1e9])


def common(a: shapely.Geometry, b: shapely.Geometry) -> float:
    """The area by the package, nothing being negligible."""
    both = [polygons.edges_of(np.array([shape])) for shape in (a, b)]
    lows = [np.array(shape.bounds[:2]) if not shape.is_empty else np.zeros(2) for shape in (a, b)]
    zero = np.zeros(1, np.int64)
    pair = edge_pairs.PolygonPairs(
        both[0], zero, both[1], zero, np.maximum(*lows)[None], np.zeros(1)
    )
    return float(edge_pairs.intersection_area(pair)[0])


def exact(a: shapely.Geometry, b: shapely.Geometry) -> float:
    return float(area_where([rings_of(a), rings_of(b)], all))


def assert_exact(a: shapely.Geometry, b: shapely.Geometry) -> None:
    """Within 1e-12 of the intersection, and whichever shape is first."""
    expected = exact(a, b)
    nothing = 1e-30 * float(np.square(shapely.get_coordinates([a, b])).max(initial=0.0))
    assert common(a, b) == pytest.approx(expected, rel=1e-12, abs=nothing)
    assert common(b, a) == pytest.approx(expected, rel=1e-12, abs=nothing)


@given(a=rings, b=rings, scale=scales, angle=st.sampled_from([0.0, 0.3, 1e-9]))
@example(a=[(0, 0), (4, 4), (4, 0), (0, 4)], b=[(0, 0), (4, 0), (4, 4)], scale=1.0, angle=0.0)
@settings(deadline=None, derandomize=True, max_examples=100)
def test_areas_are_exact(
    a: list[tuple[float, float]], b: list[tuple[float, float]], scale: float, angle: float
) -> None:
    """Holes, parts, common edges and vertices, at every magnitude; turned, they almost coincide."""
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    assert_exact(valid([tuple(p) for p in np.array(a) * scale]), valid(np.array(b) @ turn * scale))


@settings(deadline=None, derandomize=True, max_examples=20)
@given(st.integers(0, 2**32))
def test_hostile_pairs_are_exact(seed: int) -> None:
    """To 12 digits of the intersection, however small it is: of needles, of rings from 1e-6 to 1e9,
    and of those that differ in the last bits only.
    """
    rng = np.random.default_rng(seed)
    for _ in range(20):
        ring = hostile_ring(rng)
        drawn = [shapely.Polygon(points) for points in (ring, hostile_partner(rng, ring))]
        if all(shape.is_valid for shape in drawn):
            assert_exact(*drawn)


@pytest.mark.parametrize("origin", [0.0, 1e6, -1e9])
@pytest.mark.parametrize("thin", [1.0, 1e-3, 1e-7])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e9])
def test_slivers_are_exact(origin: float, thin: float, scale: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        angle = rng.uniform(0, np.pi)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        a, b = (
            shapely.Polygon((rng.uniform(-1, 1, (3, 2)) * [1, thin]) @ turn * scale + origin)
            for _ in range(2)
        )
        if a.is_valid and b.is_valid:
            assert_exact(a, b)


@pytest.mark.parametrize("count", [40, 1000, 10_000])
def test_many_vertices(count: int) -> None:
    circle = shapely.Point(0, 0).buffer(100, quad_segs=count // 4)
    smooth = circle, shapely.transform(circle, lambda points: points + 3.3)
    spiky = tuple(shapely.Polygon(star(min(count, 1000), seed)) for seed in (1, 2))
    for a, b in (smooth, spiky):
        assert common(a, b) == pytest.approx(shapely.intersection(a, b).area, rel=1e-12)


def test_a_pair_does_not_depend_on_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in a bit: whatever is measured together, in which order, in blocks of whatever size."""
    rng = np.random.default_rng(5)
    found = [shapely.Polygon(star(int(k), seed)) for seed, k in enumerate(rng.integers(3, 30, 60))]
    moved = shapely.transform(found, lambda points: points + rng.normal(0, 60, points.shape[1]))
    sides = [
        shapes.from_geometries(shapely.bounds(side), np.array(side, dtype=object))
        for side in (found, moved)
    ]
    i, j = rng.integers(0, 60, (2, 500))
    together = shapes.pair_area(sides[0], i, sides[1], j)
    order = rng.permutation(500)
    assert (
        shapes.pair_area(sides[0], i[order], sides[1], j[order]).tolist()
        == together[order].tolist()
    )
    monkeypatch.setattr(edge_pairs, "_BLOCK", 1000)
    parts = [
        shapes.pair_area(sides[0], i[k], sides[1], j[k]) for k in np.array_split(np.arange(500), 7)
    ]
    assert np.concatenate(parts).tolist() == together.tolist()


@pytest.mark.parametrize("width", [1e-149, 1e-151, 1e-300, 1e-308, 5e-324])
def test_nearly_vertical_edges_are_exact(width: float) -> None:
    """Also those of which the slope is infinite."""
    ring = [(0, 0), (10, 0), (10, 10), (width, 10), (0, 5)]
    assert_exact(shapely.Polygon(ring), shapely.Polygon([(-1, 1), (5, 1.5), (5, 6), (-1, 7)]))


@settings(deadline=None, derandomize=True, max_examples=20)
@given(st.integers(0, 2**32))
def test_what_meets_has_an_area_in_common(seed: int) -> None:
    """Whatever decides: of needles, of rings from 1e-6 to 1e9, of those that differ in the last
    bits only, and of neighbours along a side.
    """
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(20):
        ring = hostile_ring(rng)
        side = np.stack([ring[1], ring[0], 2 * ring[0] - ring[2]])
        found += [(ring, hostile_partner(rng, ring)), (ring, side)]
    pairs = [tuple(map(shapely.Polygon, both)) for both in found]
    valid_pairs = [both for both in pairs if all(shape.is_valid for shape in both)]
    a, b = (
        shapes.from_geometries(shapely.bounds(side), np.array(side, dtype=object))
        for side in zip(*valid_pairs, strict=True)
    )
    rows = np.arange(len(valid_pairs))
    assert shapes.meet(a, rows, b, rows).tolist() == (
        (shapes.pair_area(a, rows, b, rows) > 0).tolist()
    )


def test_what_is_inside_has_its_own_area() -> None:
    """To the last bit, so that a perfect detection is perfect."""
    ring = star(12, 4) + 1000.1
    one, zero = np.array([shapely.Polygon(ring)]), np.zeros(1, np.int64)
    whole = shapes.from_geometries(shapely.bounds(one), one)
    larger = offset(whole, np.array([2.5]))
    for other in (whole, larger):
        assert shapes.pair_area(whole, zero, other, zero).tolist() == shapes.area(whole).tolist()


def sliver(rng: np.random.Generator) -> np.ndarray:
    """A slanted ring of eight vertices, up to 1e-9 times as thick as it is long."""
    angle, turn = np.sort(rng.uniform(0, 2 * np.pi, 8)), rng.uniform(0, np.pi)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1) * [1, 10.0 ** rng.integers(-9, -4)]
    return ring @ [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]] * 90 + 150


def test_areas_of_slivers_are_exact() -> None:
    """Of the shapes themselves, and of what those share that are the same but for last bits."""
    rng = np.random.default_rng(0)
    rings = [sliver(rng) for _ in range(100)]
    drawn = np.array([shapely.Polygon(ring) for ring in rings])
    expected = [float(area_where([[ring]], all)) for ring in rings]
    assert edges.area(polygons.edges_of(drawn)) == pytest.approx(expected, rel=1e-12)
    moved = [ring + rng.normal(size=ring.shape) * 2e-14 for ring in rings]
    near = list(zip(drawn, map(shapely.Polygon, moved), strict=True))
    near = [pair for pair in near if all(shape.is_valid for shape in pair)]
    assert len(near) > 50
    for pair in near:
        assert_exact(*pair)


def test_what_is_nearly_inside_has_not_the_whole_area() -> None:
    """Of squares that are apart by a little more than the error of what they share."""
    one = shapely.box(0, 0, 1, 1)
    for apart in np.arange(0.5, 4, 0.25) * 1e-12:
        other = shapely.Polygon([(0, apart), (1, apart), (1, 2), (0.5, 2), (0, 2)])
        pair = shapes.from_geometries(shapely.bounds([one, other]), np.array([one, other]))
        row = np.arange(1)
        found = shapes.pair_area(pair, row, pair, row + 1)[0]
        assert found == pytest.approx(exact(one, other), rel=1e-12, abs=0)


def test_edges_of_rings() -> None:
    ends, offsets = edges.of_rings(np.arange(8.0).reshape(4, 2), np.array([0, 0, 3, 4]))
    assert offsets.tolist() == [0, 0, 3, 4]
    assert ends.T.tolist() == [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 0, 1], [6, 7, 6, 7]]
    assert edges.area(edges.of_boxes(np.array([[0, 0, 2, 3], [5, 5, 6, 7.0]]))).tolist() == [6, 2]
