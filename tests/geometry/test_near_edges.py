"""Edges near another shape, compared with all of them."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from evaltex_cli.geometry import edge_pairs, edges, near_edges, polygons, shapes
from evaltex_cli.records import Floats

ZERO = np.zeros(1, np.int64)


def wave(count: int) -> Floats:
    """A long band whose sides go up and down."""
    x = np.linspace(0, 10_000, count)
    upper = np.stack([x, 20 * np.sin(x)], axis=1)
    return np.concatenate([upper, upper[::-1] + np.array([0, 50])])


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("count", [1, 255, 256, 257, 5000])
def test_all_edges_that_have_something_in_common_are_near(count: int, axis: int) -> None:
    ring = wave(count + 1)[:, :: 1 - 2 * axis]
    large = edges.of_rings(ring, np.array([0, len(ring)]))
    rng = np.random.default_rng(count)
    for low in rng.uniform(-100, 10_100, 20):
        box = edges.of_boxes(np.array([[low, low, low + 40, low + 40]]))
        sides = near_edges.NearEdges(large), near_edges.NearEdges(box)
        near, _ = near_edges.near_each_other(sides[0], 0, sides[1], 0, axis)
        ends = large.ends[axis::2]
        meets = (ends.min(axis=0) < low + 40) & (ends.max(axis=0) > low)
        kept = [*map(tuple, near.T.tolist())]
        expected = {*map(tuple, large.ends[:, meets].T.tolist())}
        assert [edge for edge in kept if edge in expected] == [
            *map(tuple, large.ends[:, meets].T.tolist())
        ]
        assert len(kept) <= 256 * (len(expected) + 1)


def test_areas_with_a_large_outline_are_those_of_all_its_edges(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To the last bit, of few pairs of edges each."""
    ring = wave(12_000)
    one = shapes.from_rings(ring, np.array([0, len(ring)]))
    rng = np.random.default_rng(1)
    corners = rng.uniform(0, 10_000, (30, 1, 2)) * [1, 0] + [[0, 0], [40, 9], [40, 59], [0, 50]]
    many = shapes.from_rings(corners.reshape(-1, 2), np.arange(31) * 4)
    zeros, rows = np.zeros(30, np.int64), np.arange(30)
    looked: list[int] = []
    beginning = edge_pairs._beginning

    def counted(large: edge_pairs._Large) -> object:
        looked.append(large.a.shape[1] + large.b.shape[1])
        return beginning(large)

    monkeypatch.setattr(edge_pairs, "_beginning", counted)
    areas = shapes.pair_area(one, zeros, many, rows)
    assert max(looked) < 1000
    monkeypatch.setattr(near_edges, "_STRETCH", 1 << 20)
    assert shapes.pair_area(one, zeros, many, rows).tolist() == areas.tolist()
    assert max(looked) > 24_000
    expected = shapely.intersection(shapely.Polygon(ring), shapely.polygons(corners))
    assert areas == pytest.approx(shapely.area(expected), rel=1e-9)


def test_the_union_of_what_is_in_a_large_outline_is_that_of_each_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(2)
    corners = rng.uniform(0, 300, (60, 1, 2)) * [1, 0] + [[0, 0], [40, 9], [40, 59], [0, 50]]
    large, small = shapely.Polygon(wave(3000)), shapely.polygons(corners)
    group, one = np.arange(60) % 2, np.full(60, large)
    asked = []
    intersection = polygons.geos.intersection

    def counted(a: object, b: object) -> object:
        asked.append(np.size(a))
        return intersection(a, b)

    monkeypatch.setattr(polygons.geos, "intersection", counted)
    areas = [
        polygons.union_area(group, *sides, 2).tolist() for sides in ((one, small), (small, one))
    ]
    assert asked == [1, 1, 1, 1]
    expected = [shapely.union_all(shapely.intersection(large, small[k::2])).area for k in (0, 1)]
    assert areas == [pytest.approx(expected)] * 2
