"""Convex rings and their intersections, against exact rational arithmetic and GEOS."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.geometry import clipping, convex
from tests.support.exact_areas import intersection_area, is_convex
from tests.support.rings import columns, hostile_ring, hull, regular

SQUARE = [(0, 0), (4, 0), (4, 4), (0, 4)]
seeds = st.integers(0, 2**32)


def are_convex(rings: list[Any]) -> list[bool]:
    return convex.are_convex(*columns(rings)).tolist()


def areas(a: list[Any], b: list[Any]) -> list[float]:
    """Of the intersections of a[k] and b[k]."""
    each = np.arange(len(a))
    return convex.pair_area(*columns(a), each, *columns(b), each).tolist()


# Which rings are convex ---------------------------------------------------------------------------

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


# Areas of intersections ---------------------------------------------------------------------------


def partner(rng: np.random.Generator, ring: np.ndarray) -> np.ndarray:
    """A ring that has nearly or exactly the same sides, or any other."""
    kind = rng.integers(0, 8)
    if kind == 0:
        return np.roll(ring[::-1], 1, axis=0)
    if kind == 1:
        return ring * (1 + 2.0 ** -rng.integers(1, 54))
    if kind == 2:
        return ring + rng.normal(size=2) * 10.0 ** rng.integers(-16, 2)
    if kind == 3:
        middle = ring.mean(axis=0)
        return middle + (ring - middle) * (1 - 2.0 ** -rng.integers(1, 54))
    if kind == 4:
        return 2 * ring[0] - ring
    return hostile_ring(rng)


def hostile_pairs(seed: int, count: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Pairs of rings that are found to be convex."""
    rng = np.random.default_rng(seed)
    a = [hostile_ring(rng) for _ in range(count)]
    b = [partner(rng, ring) for ring in a]
    good = [k for k, both in enumerate(zip(are_convex(a), are_convex(b), strict=True)) if all(both)]
    assert good
    return [a[k] for k in good], [b[k] for k in good]


@settings(deadline=None, derandomize=True, max_examples=30)
@given(seeds)
def test_areas_are_exact_to_twelve_digits(seed: int) -> None:
    """Of the intersection's own area, however small it is beside the polygons."""
    a, b = hostile_pairs(seed, 30)
    for one, other, found in zip(a, b, areas(a, b), strict=True):
        exact = intersection_area(one, other)
        assert abs(Fraction(found) - exact) <= exact / 10**12


@settings(deadline=None, derandomize=True, max_examples=20)
@given(seeds, st.integers(1, 200))
def test_a_pair_has_one_area_to_the_last_bit(seed: int, room: int) -> None:
    """Alone or among others, in any order, and in blocks of any size."""
    a, b = hostile_pairs(seed, 20)
    expected = areas(a, b)
    assert expected == [areas([one], [other])[0] for one, other in zip(a, b, strict=True)]
    order = np.random.default_rng(seed).permutation(len(a))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clipping, "_ROOM", room)
        shuffled = areas([a[k] for k in order], [b[k] for k in order])
    assert shuffled == [expected[k] for k in order]


@settings(deadline=None, derandomize=True, max_examples=30)
@given(seeds)
def test_vertices_that_are_no_corners_change_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rings = [hull(rng.integers(0, 50, (6, 2)) * 2.0) for _ in range(20)]
    middles = [
        np.stack([ring, (ring + np.roll(ring, -1, axis=0)) / 2, np.roll(ring, -1, axis=0)], 1)
        for ring in rings
    ]
    more = [ring.reshape(-1, 2) for ring in middles]
    assert all(are_convex(more))
    others = rings[1:] + rings[:1]
    assert areas(more, others) == areas(rings, others)
    assert areas(others, more) == areas(others, rings)


def test_a_ring_and_itself_have_its_area() -> None:
    rings = [SQUARE, regular(7), regular(7)[::-1], regular(2000, 1e9, 1e9)]
    found = areas(rings, rings)
    assert found == pytest.approx([shapely.Polygon(ring).area for ring in rings], rel=1e-14)
    assert found[0] == 16


def test_what_only_touches_shares_nothing() -> None:
    touching = [np.add(SQUARE, shift) for shift in ((4, 0), (4, 4), (0, -4), (5, 5))]
    beyond_a_corner = [(5, 4), (4, 5), (5, 5)]
    assert areas([SQUARE] * 5, [*touching, beyond_a_corner]) == [0.0] * 5
    none = np.zeros(0, np.int64)
    assert convex.pair_area(*columns([[]]), none, *columns([SQUARE]), none).tolist() == []


def test_any_rings_make_pairs() -> None:
    """Some of them several times, some never, and rings of other pairs in between."""
    rings = [SQUARE, [(0, 0), (9, 9), (1, 1)], regular(5), np.add(SQUARE, 2)]
    i, j = np.array([3, 0, 3, 2, 0]), np.array([0, 3, 3, 0, 0])
    found = convex.pair_area(*columns(rings), i, *columns([*rings[:2], [], rings[3]]), j)
    expected = shapely.Polygon(regular(5)).intersection(shapely.Polygon(SQUARE)).area
    assert found.tolist() == [4, 4, 16, pytest.approx(expected, rel=1e-14), 16]


def test_thousands_of_corners() -> None:
    a, b = regular(3000), regular(1001, 0.9, 0.5)
    expected = shapely.Polygon(a).intersection(shapely.Polygon(b)).area
    assert areas([a, b], [b, a]) == pytest.approx([expected] * 2, rel=1e-12)
