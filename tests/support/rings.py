"""Rings of vertices: as columns, random ones, and hostile ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import shapely
from hypothesis import strategies as st

from evaltex_cli.geometry import polygons
from evaltex_cli.records import Floats, offsets_of

small = st.integers(0, 6).map(float)
rings = st.lists(st.tuples(small, small), min_size=3, max_size=9, unique=True)


def columns(rings: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (v, 2) and offsets (n + 1,)."""
    arrays = [np.array(ring, dtype=np.float64).reshape(-1, 2) for ring in rings]
    return np.concatenate(arrays), offsets_of([len(ring) for ring in arrays])


def regular(count: int, radius: float = 1.0, center: float = 0.0) -> np.ndarray:
    angles = 2 * math.pi / count * np.arange(count)
    return center + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def valid(ring: list[tuple[float, float]]) -> shapely.Geometry:
    """A polygon, repaired: with holes and of several parts."""
    drawn = shapely.Polygon(ring)
    return drawn if drawn.is_valid else polygons.repair(np.array([drawn]))[0]


def rings_of(shape: shapely.Geometry) -> list[Floats]:
    return [
        shapely.get_coordinates(ring)[:-1] for ring in shapely.get_rings(shapely.get_parts(shape))
    ]


def star(count: int, seed: int, least: float = 0.5) -> Floats:
    """A ring of spikes that go out by `least` or more of their length."""
    angle = np.linspace(0, 2 * np.pi, count, endpoint=False)
    radius = np.random.default_rng(seed).uniform(least, 1, count)
    return 100 * radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def hull(points: np.ndarray) -> np.ndarray:
    """The convex hull of points; a triangle if they are on a line."""
    found = shapely.convex_hull(shapely.multipoints(points))
    if found.geom_type != "Polygon":
        return np.array([(0.0, 0.0), (3.0, 0.0), (0.0, 2.0)])
    return shapely.get_coordinates(found)[:-1]


def hostile_ring(rng: np.random.Generator) -> np.ndarray:
    """A convex ring of few or many digits, far from the origin, tiny or huge, or a sliver."""
    points = rng.random((rng.integers(3, 9), 2))
    kind = rng.integers(0, 6)
    if kind == 0:
        return hull(np.floor(points * 6))
    if kind == 1:
        return hull(np.floor(points * 60) * 0.1)
    if kind == 2:
        return hull(points * 10.0 ** rng.integers(-6, 10))
    if kind == 3:
        return hull(1e9 + points * 10.0 ** rng.integers(-3, 3))
    if kind == 4:
        across = rng.normal(size=2) * 10.0 ** rng.integers(-8, -1)
        return hull(points[:, :1] * rng.normal(size=2) * 1000 + points[:, 1:] * across)
    return hull(np.floor(points * 2000) / 4)


def hostile_partner(rng: np.random.Generator, ring: np.ndarray) -> np.ndarray:
    """A ring that has nearly or exactly the same sides as another, touches it, or is any."""
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
