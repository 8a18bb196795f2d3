"""Which rings are convex, against exact rational arithmetic and GEOS."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_convex import is_convex
from rings import columns, hull, regular

from evaltex_cli.geometry import convex, edges

SQUARE = [(0, 0), (4, 0), (4, 4), (0, 4)]
seeds = st.integers(0, 2**32)


def are_convex(rings: list[Any]) -> list[bool]:
    return convex.are_convex(*columns(rings)).tolist()


grid = st.integers(0, 4)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.lists(st.lists(st.tuples(grid, grid), max_size=7), min_size=1, max_size=30))
def test_rings_of_whole_numbers_are_convex_if_they_exactly_are(rings: list[Any]) -> None:
    expected = [len(ring) > 0 and is_convex(np.array(ring, np.float64)) for ring in rings]
    assert are_convex(rings) == expected


@settings(deadline=None, derandomize=True, max_examples=80)
@given(seeds, st.sampled_from([1e-6, 0.1, 1.0, 1e9]))
def test_what_is_convex_is_so_exactly_and_valid(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    rings = [rng.integers(0, 5, (rng.integers(3, 7), 2)) * scale for _ in range(20)]
    for ring, found in zip(rings, are_convex(rings), strict=True):
        if found:
            drawn = shapely.Polygon(ring)
            assert is_convex(ring) and shapely.is_valid(drawn) and drawn.area > 0


@pytest.mark.parametrize(
    ("ring", "expected"),
    [
        (SQUARE[::-1], True),
        ([(0, 0), (2, 0), (4, 0), (4, 4)], True),
        ([(0, 0), (1, 1), (2, 2), (3, 3), (0, 3), (0, 3)], True),
        ([(0.1, 0.1), (0.1, 0.2), (0.1, 0.3), (5, 7)], True),
        ([(0, 0), (9, 0), (5, 0), (5, 5)], False),
        ([(0, 0), (4, 4), (4, 0), (0, 4)], False),
        ([(0, 0), (4, 0), (1, 1), (0, 4)], False),
        ([(0, 0), (1, 1), (2, 2)], False),
        ([(0, 0), (1, 1)], False),
        ([], False),
        # 0.7 / 0.1 is not 7, and the point is not quite on the line.
        ([(0.0, 0.0), (0.1, 0.7), (0.3, 2.1), (1.0, 0.0)], False),
        ([(1e150, 0), (1e200, 0), (1e200, 1e200), (0, 1e300)], False),
        ([(0, 0), (1e-200, 0), (0, 1e-200)], False),
    ],
)
def test_corners_that_are_none_and_rings_that_are_not_convex(ring: Any, expected: bool) -> None:
    assert are_convex([SQUARE, ring, [], SQUARE]) == [True, expected, False, True]


@pytest.mark.parametrize(("points", "turns"), [(5, 2), (7, 3), (7, 2), (8, 3), (9, 4), (2000, 3)])
def test_stars_turn_one_way_and_are_not_convex(points: int, turns: int) -> None:
    angles = 2 * math.pi * turns / points * np.arange(points)
    star = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert are_convex([star, star[::-1], regular(points)]) == [False, False, True]


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    rings = [rng.integers(0, 9, (rng.integers(0, 6), 2)) for _ in range(200)]
    expected = are_convex(rings)
    assert 0 < sum(expected) < 100
    monkeypatch.setattr(convex, "_BLOCK", 7)
    assert are_convex(rings) == expected


def test_which_hulls_meet_and_points_in_them_are_those_of_geos() -> None:
    """Bit for bit, as their distances are compared; some only touch."""
    rng = np.random.default_rng(0)
    drawn = [hull(rng.integers(0, size, (6, 2)) + 40.0) for size in [4, 9, 50, 2000] * 40]
    vertices, offsets, boxes = convex.corners(*columns([ring[::-1] for ring in drawn]))
    shapes = shapely.convex_hull([shapely.Polygon(ring) for ring in drawn])
    rings = edges.of_rings(vertices, offsets)
    i, j = (side.ravel() for side in np.indices((len(drawn), len(drawn))))
    assert shapely.touches(shapes[i], shapes[j]).any()
    meet = shapely.intersects(shapes[i], shapes[j])
    assert convex.are_apart(rings, i, rings, j).tolist() == (~meet).tolist()
    expected = shapely.get_coordinates(shapely.point_on_surface(shapes))
    found = convex.inner_points(rings, (boxes[:, 1] + boxes[:, 3]) / 2)
    assert found.tolist() == expected.tolist()
