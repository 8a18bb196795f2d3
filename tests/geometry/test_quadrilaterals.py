"""Overlays of convex quadrilaterals are those of GEOS, vertex by vertex, or none."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from evaltex_cli.geometry import quadrilaterals
from evaltex_cli.geometry.edges import of_rings
from evaltex_cli.records import offsets_of

COUNT = 400


def convex_rings(random: np.random.Generator, centre, step: float):
    """(n, 4, 2) corners on an ellipse each, in steps, drawn either way round from any of them."""
    angle = np.sort(random.uniform(0, 2 * np.pi, (COUNT, 4)), axis=1)
    size = random.uniform(5, 30, (COUNT, 1)), random.uniform(5, 30, (COUNT, 1))
    corners = np.stack([size[0] * np.cos(angle), size[1] * np.sin(angle)], axis=2) + centre
    corners = np.round(corners / step) * step
    turned = random.random(COUNT) < 0.5
    corners[turned] = corners[turned, ::-1]
    return corners


def overlays(a, b, how: str) -> list[np.ndarray]:
    sides = (of_rings(side.reshape(-1, 2), np.arange(len(side) + 1) * 4) for side in (a, b))
    corners = (quadrilaterals.convex_ones(side, np.arange(len(a))) for side in sides)
    vertices, counts = quadrilaterals.overlays(*corners, how == "union")
    return np.split(vertices, offsets_of(counts)[1:-1])


@pytest.mark.parametrize("how", ["intersection", "union"])
@pytest.mark.parametrize("step", [1e-6, 1.0, 5.0])
def test_overlays_are_those_of_geos(step: float, how: str) -> None:
    random = np.random.default_rng(7)
    centre = random.uniform(0, 1000, (COUNT, 1, 2))
    a = convex_rings(random, centre, step)
    b = convex_rings(random, centre + random.normal(0, 10, (COUNT, 1, 2)), step)
    made = 0
    for ring, one, other in zip(overlays(a, b, how), a, b, strict=True):
        shapes = shapely.polygons(one), shapely.polygons(other)
        if not len(ring):
            # Corners that are rounded to few places may touch sides.
            assert step >= 1 or shapely.disjoint(*shapes)
            continue
        made += 1
        expected = getattr(shapely, how)(*shapes)
        if shapely.contains(*shapes) or shapely.within(*shapes):
            assert shapely.area(shapely.polygons(ring)) == pytest.approx(expected.area, 1e-9)
        else:
            assert ring == pytest.approx(shapely.get_coordinates(expected)[:-1], abs=1e-9)
    assert made > COUNT / 10


@pytest.mark.parametrize(
    "other",
    [
        pytest.param([(10, 0), (20, 0), (20, 10), (10, 10)], id="side on a side"),
        pytest.param([(5, 0), (15, -9), (25, 0), (15, 9)], id="corner on a side"),
        pytest.param([(10, 10), (20, 11), (20, 20), (11, 20)], id="corner on a corner"),
        pytest.param([(50, 0), (60, 1), (61, 9), (50, 11)], id="apart"),
        pytest.param([(1, 1), (9, 2), (3, 3), (2, 9)], id="not convex"),
        pytest.param([(1, 1), (8, 8), (8, 2), (2, 8)], id="crosses itself"),
    ],
)
def test_what_touches_or_is_apart_or_not_convex_has_none(other) -> None:
    square = np.array([[(0, 0), (10, 0), (10, 10), (0, 10)]], np.float64)
    other = np.array([other], np.float64)
    for how in ("intersection", "union"):
        for sides in ((square, other), (other, square)):
            assert not len(overlays(*sides, how)[0])


def test_a_line_that_only_goes_through_a_corner_does_not_matter() -> None:
    """A corner is on the line of the square's upper side, 6 to the left of it. The side to it falls
    by 3 in 11, so that it is at 7 + 15 / 11 where it meets the square's left side.
    """
    square = np.array([[(0, 0), (10, 0), (10, 10), (0, 10)]], np.float64)
    other = np.array([[(-5, 4), (5, 3), (5, 7), (-6, 10)]], np.float64)
    (ring,) = overlays(square, other, "intersection")
    assert np.unique(ring, axis=0) == pytest.approx(
        np.array([(0, 3.5), (0, 92 / 11), (5, 3), (5, 7)])
    )


def test_triangles_have_none() -> None:
    triangle = of_rings(np.array([[0.0, 0], [9, 0], [0, 9]]), np.array([0, 3]))
    assert np.isnan(quadrilaterals.convex_ones(triangle, np.array([0]))).all()
