"""Where a ring crosses itself, compared with whether GEOS finds it valid; and what repairs make of it,
compared with areas by rational arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_areas import area_where

from evaltex_cli.geometry import polygons
from evaltex_cli.geometry.self_crossings import first_crossing

number = st.integers(0, 6)


@given(ring=st.lists(st.tuples(number, number), min_size=3, max_size=9, unique=True))
@settings(deadline=None, derandomize=True, max_examples=400)
def test_a_ring_has_a_crossing_where_geos_finds_it_invalid(ring: list[tuple[int, int]]) -> None:
    found = first_crossing(np.array(ring, dtype=np.float64))
    assert (found is None) == shapely.Polygon(ring).is_valid
    if found is not None:
        assert shapely.Point(found).distance(shapely.LinearRing(ring)) < 1e-9


@pytest.mark.parametrize(
    ("ring", "point"),
    [
        ([(0, 0), (9, 9), (9, 0), (0, 9)], (4.5, 4.5)),
        ([(0, 0), (4, 0), (4, 4), (2, 0), (0, 4)], (2, 0)),
        ([(0, 0), (4, 0), (4, 4), (4, 4), (2, 2), (4, 4), (0, 4)], (4, 4)),
        ([(0, 0), (0, 0), (1, 0), (1, 1)], None),
        ([(0, 0), (4, 0), (8, 0), (4, 0), (4, 4)], (4, 0)),
    ],
)
def test_the_first_crossing_in_drawing_order(
    ring: list[tuple[float, float]], point: tuple[float, float] | None
) -> None:
    assert first_crossing(np.array(ring, dtype=np.float64)) == point


point = st.tuples(number, number)


@given(ring=st.lists(point, min_size=3, max_size=9), spike=st.lists(point, max_size=3))
@settings(deadline=None, derandomize=True, max_examples=400)
def test_a_repaired_ring_has_what_it_goes_around_an_odd_number_of_times(
    ring: list[tuple[int, int]], spike: list[tuple[int, int]]
) -> None:
    """The spike is drawn there and back, in lines that may run along the ring and across it."""
    drawn = [*ring, *ring[:1], *spike, *spike[-2::-1], *ring[:1]]
    repaired = polygons.repair(np.array([shapely.Polygon(drawn)]))
    assert shapely.is_valid(repaired).all()
    assert shapely.area(repaired)[0] == pytest.approx(float(area_where([[drawn]], any)), abs=1e-9)


@pytest.mark.parametrize("scale", [1, 0.1, 1 / 3, 1 / 7, 1e6, 1e-300])
@pytest.mark.parametrize(
    "ring",
    [
        [(0, 2), (0, 3), (0, 1), (1, 0), (3, 2), (2, 1), (1, 1), (2, 2), (0, 0)],
        [(1, 0), (2, 1), (1, 2), (0, 0), (1, 2), (3, 0), (0, 2), (1, 1)],
        [(3, 5), (1, 2), (0, 4), (1, 2), (4, 5), (2, 3), (0, 2)],
        [(5, 0), (2, 0), (5, 5), (0, 1), (1, 2), (4, 5), (3, 2), (5, 5), (3, 4), (0, 1), (3, 4)],
    ],
)
def test_lines_that_rounding_takes_off_each_other_are_one(
    ring: list[tuple[int, int]], scale: float
) -> None:
    drawn = shapely.Polygon(scale * np.array(ring))
    area = float(area_where([[ring]], any)) * scale * scale
    assert shapely.area(polygons.repair(np.array([drawn])))[0] == pytest.approx(area, rel=1e-12)
