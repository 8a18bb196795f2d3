"""Unions of intersections, compared with exact rational arithmetic; offsets, with GEOS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_areas import area_where
from rings import rings, rings_of, star, valid

from evaltex_cli.geometry import exact_unions, geos, intervals, midlines, polygons, shapes
from evaltex_cli.geometry.offsets import offset
from evaltex_cli.records import Ints

pieces = st.lists(st.tuples(st.integers(0, 3), rings, rings), min_size=1, max_size=4)
Drawn = list[tuple[float, float]]


def shapes_of(drawn: list[shapely.Geometry]) -> shapes.Shapes:
    return shapes.from_geometries(
        np.nan_to_num(shapely.bounds(drawn)), np.array(drawn, dtype=object)
    )


@given(pieces=pieces, scale=st.sampled_from([0.1, 1.0, 1e6]))
@settings(deadline=None, derandomize=True, max_examples=30)
def test_unions_are_exact(pieces: list[tuple[int, Drawn, Drawn]], scale: float) -> None:
    group = np.array([piece[0] for piece in pieces])
    a, b = (
        [valid([(x * scale, y * scale) for x, y in piece[side]]) for piece in pieces]
        for side in (1, 2)
    )
    every = np.arange(len(pieces))
    found = shapes.union_area(group, shapes.Pairs(shapes_of(a), every, shapes_of(b), every), 4)
    for g in range(4):
        some = [rings_of(side[k]) for k in np.flatnonzero(group == g) for side in (a, b)]
        expected = area_where(
            some, lambda inside: any(map(all, zip(inside[::2], inside[1::2], strict=True)))
        )
        assert found[g] == pytest.approx(float(expected), rel=1e-12, abs=1e-13 * scale**2)


@pytest.mark.parametrize("count", [2, 6, 12, 18])
def test_unions_of_slivers_are_exact(count: int) -> None:
    """To 12 digits of the area, which is a small share of the bounding box: what thin triangles
    have in common with each other, and they themselves, in one group of few or of many.
    """
    rng = np.random.default_rng(count)
    turn, row = np.array([[0.8, 0.6], [-0.6, 0.8]]), np.arange(count)
    points = rng.uniform(-1, 1, (count, 3, 2)) * [100, 1e-6]
    drawn = [shapely.Polygon(ring) for ring in points @ turn + [130.3, 170.7]]
    taken = shapes_of(drawn)
    for other in (row, np.roll(row, 1)):
        found = shapes.union_area(row * 0, shapes.Pairs(taken, row, taken, other), 1)
        some = [rings_of(shape) for shape in drawn]

        def is_covered(inside: Sequence[bool], other: Ints = other) -> bool:
            return any(one and inside[k] for one, k in zip(inside, other.tolist(), strict=True))

        expected = float(area_where(some, is_covered))
        assert found.tolist() == pytest.approx([expected], rel=1e-12, abs=0)


def test_unions_of_too_many_sides_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = star(9, 1) * [1, 1e-7]
    taken, row = (
        shapes.from_rings(np.concatenate([ring, ring + 1e-6]), np.array([0, 9, 18])),
        [0, 1],
    )
    pairs = shapes.Pairs(taken, np.array(row), taken, np.array(row))
    exact = shapes.union_area(np.zeros(2, np.int64), pairs, 1)
    for limit in ("_MOST_EDGES", "_MOST_SECTIONS"):
        with monkeypatch.context() as patched:
            patched.setattr(exact_unions, limit, 10)
            assert shapes.union_area(np.zeros(2, np.int64), pairs, 1) == pytest.approx(exact)


def test_groups_do_not_depend_on_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in a bit: in blocks of whatever size, alone or together; a few of many pieces."""
    rng = np.random.default_rng(1)
    drawn = shapely.transform(
        [shapely.Polygon(star(9, seed)) for seed in range(40)],
        lambda points: points + np.repeat(rng.normal(0, 60, (len(points) // 10, 2)), 10, axis=0),
    )
    taken = shapes_of(list(drawn))
    group = np.repeat(np.arange(12), [1, 2, 3, 4, 5, 2, 12, 3, 3, 3, 1, 1])
    i, j = rng.integers(0, 40, (2, len(group)))
    together = shapes.union_area(group, shapes.Pairs(taken, i, taken, j), 12)
    monkeypatch.setattr(midlines, "_BLOCK", 500)
    for g in range(12):
        own = group == g
        pairs = shapes.Pairs(taken, i[own], taken, j[own])
        assert shapes.union_area(group[own] * 0, pairs, 1).tolist() == [together[g]]
        overlaid = geos.union_all(geos.intersection(drawn[i[own]], drawn[j[own]]))
        assert together[g] == pytest.approx(overlaid.area, rel=1e-11)


@pytest.mark.parametrize("margin", [-30.0, -3.0, -0.01, 0.0, 0.01, 4.0, 60.0])
@pytest.mark.parametrize("count", [5, 8, 12, 30])
def test_offsets_are_those_of_geos(count: int, margin: float) -> None:
    """Also of rings that lose sides, touch themselves or vanish, of boxes, and of several parts."""
    stars = [star(count, seed, least=0.1)[:: 1 - 2 * (seed % 2)] for seed in range(30)]
    parts = shapely.MultiPolygon([shapely.Polygon(stars[0]), shapely.box(500, 0, 550, 30)])
    some = np.array([*map(shapely.Polygon, stars), parts, None, None], dtype=object)
    boxes = np.array([parts.bounds, [0, 0, 200, 90], [5.5, 5, 300, 90]])
    taken = shapes.concatenate(
        shapes.from_rings(np.concatenate(stars), np.arange(31) * count),
        shapes.from_geometries(boxes, some[30:]),
    )
    moved = offset(taken, np.full(len(some), margin))
    some[-2:] = shapely.box(*boxes[1:].T)
    expected = polygons.offset(some, np.full(len(some), margin))
    expected = np.where(shapely.is_empty(expected), some, expected)
    # GEOS leaves out vertices by which an outline is dented by less than 1% of the margin.
    assert shapes.area(moved) == pytest.approx(
        shapely.area(expected), rel=1e-4 * abs(margin) + 1e-14
    )
    assert moved.boxes == pytest.approx(shapely.bounds(expected), abs=0.01 * abs(margin) + 1e-9)


def test_what_several_intervals_cover() -> None:
    key, start, stop = np.array([[1, 1, 1, 0, 1, 1], [5, 0, 2, 0, 9, 7], [8, 4, 6, 3, 9, 6]])
    assert [column.tolist() for column in intervals.covered(key, start, stop, 2)] == [
        [1, 1],
        [2, 5],
        [4, 6],
    ]
    assert intervals.covered_length(key, start, stop, 3).tolist() == [3, 8, 0]
    assert intervals.covered_length(key[:0], start[:0], stop[:0], 2).tolist() == [0, 0]


def test_positions_are_sorted_in_groups_as_lexsort_does() -> None:
    rng = np.random.default_rng(5)
    for group in (np.sort(rng.integers(0, 40, 3000)), rng.integers(0, 1 << 52, 3000)):
        for position in (rng.integers(-9, 9, 3000), rng.integers(-9, 9, 3000) * 0.1 - 1e9):
            found = intervals.sorted_in_groups(group, position)
            assert np.array_equal(found, np.lexsort((position, group)))
