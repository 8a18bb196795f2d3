"""Offsets of convex rings, against decimal arithmetic and the mitred buffers of GEOS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_convex import offset_area
from rings import columns, hostile_ring, hull, regular

from evaltex_cli.geometry import convex, convex_offsets, polygons
from evaltex_cli.records import offsets_of

SQUARE = [(0, 0), (4, 0), (4, 4), (0, 4)]
NEEDLE = [(0, 0), (100, 2), (0, 4)]
TRIANGLE = [(0, 0), (6, 0), (0, 8)]


def moved(rings: list[np.ndarray], margins: list[float]) -> list[np.ndarray]:
    vertices, offsets = convex.offset(*columns(rings), np.array(margins))
    return np.split(vertices, offsets[1:-1])


def is_exact(ring: np.ndarray, margin: float, found: np.ndarray) -> bool:
    """Whether the area is right to 12 digits, or as right as rounded coordinates can make it."""
    exact = float(offset_area(ring, margin, convex_offsets.MITRE_LIMIT))
    reach, length = np.abs(ring).max(), shapely.Polygon(ring).length
    area = shapely.Polygon(found).area if len(found) else 0.0
    return bool(abs(area - exact) <= 1e-12 * exact + 2.0**-48 * reach * length)


def buffered(ring: np.ndarray, margin: float) -> Any:
    return shapely.buffer(
        shapely.Polygon(ring), margin, join_style="mitre", mitre_limit=polygons.MITRE_LIMIT
    )


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 2**32))
def test_offsets_have_exact_areas(seed: int) -> None:
    """Of rings of all sizes, needles among them; the largest margins leave little or nothing."""
    rng = np.random.default_rng(seed)
    rings = [hostile_ring(rng) for _ in range(20)]
    rings = [ring for ring in rings if convex.are_convex(*columns([ring]))[0]]
    thickness = [shapely.Polygon(ring).area / np.ptp(ring, axis=0).max() for ring in rings]
    shares = rng.choice([0.5, 0.1, 0.01, 1e-6, -1e-6, -0.01, -0.1, -0.3, -0.45, -1], len(rings))
    margins = (shares * thickness).tolist()
    found = moved(rings, margins)
    assert all(map(is_exact, rings, margins, found))
    alone = [moved([ring], [margin])[0] for ring, margin in zip(rings, margins, strict=True)]
    assert [ring.tolist() for ring in alone] == [ring.tolist() for ring in found]


@pytest.mark.parametrize(
    ("ring", "margin", "expected"),
    [
        (SQUARE, 1, [(-1, -1), (5, -1), (5, 5), (-1, 5)]),
        (SQUARE, -1, [(1, 1), (3, 1), (3, 3), (1, 3)]),
        (SQUARE, 0, SQUARE),
        (SQUARE[::-1], -1.5, [(2.5, 1.5), (2.5, 2.5), (1.5, 2.5), (1.5, 1.5)]),
        (SQUARE, -2, []),
        (SQUARE, -3, []),
        (TRIANGLE, -1, [(1, 1), (4, 1), (1, 5)]),
        (TRIANGLE, -2, []),
        # The middle of a side is no corner.
        ([(0, 0), (2, 0), (4, 0), (4, 4), (0, 4)], 1, [(-1, -1), (5, -1), (5, 5), (-1, 5)]),
        # The short side has a length of 1, and goes with the corner it cuts off.
        ([(0, 0), (9, 0), (9, 9), (1, 9), (0, 8)], -4, [(4, 4), (5, 4), (5, 5), (4, 5)]),
    ],
)
def test_corners_of_offsets(
    ring: list[tuple[float, float]], margin: float, expected: list[tuple[float, float]]
) -> None:
    (found,) = moved([np.array(ring)], [margin])
    assert sorted(found.round(13).tolist()) == sorted(map(list, expected))


def test_sharp_corners_are_cut() -> None:
    (found,) = moved([np.array(NEEDLE)], [1.0])
    # The tip at x = 100, moved by 5 margins instead of 50; both corners there at equal heights.
    assert len(found) == 4 and is_exact(np.array(NEEDLE), 1.0, found)
    assert sorted(found[:, 0])[2:] == pytest.approx([105, 105], rel=1e-14)


def test_many_sides_are_consumed() -> None:
    """Nearly all of them, in any order, and of many rings at once."""
    rng = np.random.default_rng(3)
    rings, margins = [regular(1000), regular(501)[::-1]], [-0.99, -1.01]
    for _ in range(60):
        rings.append(hull(rng.normal(size=(100, 2)) * (3, 1)))
        margins.append(rng.uniform(-3, 0))
    found = moved(rings, margins)
    assert {0, 3, 4, 5} < {len(ring) for ring in found}
    assert all(map(is_exact, rings, margins, found))


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.integers(0, 2**32))
def test_offsets_are_mitred_buffers(seed: int) -> None:
    """Of rings of usual sizes; GEOS takes corners that nearly do not turn for none."""
    rng = np.random.default_rng(seed)
    rings = [hull(rng.integers(0, 100, (6, 2))) for _ in range(20)]
    margins = rng.uniform(-20, 20, 20).tolist()
    for ring, margin, found in zip(rings, margins, moved(rings, margins), strict=True):
        expected = buffered(ring, margin)
        if shapely.geos_version < (3, 12) and expected.is_empty and len(found):
            assert is_exact(ring, margin, found)  # GEOS 3.11 loses some rings
            continue
        assert shapely.Polygon(found).area == pytest.approx(expected.area, rel=1e-6)
        assert expected.is_empty == (not len(found))
        if least_turn(ring) > 0.01:
            assert shapely.Polygon(found).area == pytest.approx(expected.area, rel=1e-12, abs=1e-11)


def least_turn(ring: np.ndarray) -> float:
    steps = np.roll(ring, -1, axis=0) - ring
    ways = np.arctan2(steps[:, 1], steps[:, 0])
    return float(np.abs((np.roll(ways, -1) - ways + np.pi) % (2 * np.pi) - np.pi).min())


def test_no_rings() -> None:
    vertices, offsets = convex.offset(np.zeros((0, 2)), offsets_of([]), np.zeros(0))
    assert (vertices.tolist(), offsets.tolist()) == ([], [0])
