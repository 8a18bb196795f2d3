"""Points along chains of vertices, many at once, against a walk along each."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.geometry.rings import along, along_each, chains

quick = settings(deadline=None, derandomize=True, max_examples=80)


def walked(chain: list[tuple[float, float]], share: float) -> tuple[float, float]:
    lengths = [math.dist(a, b) for a, b in itertools.pairwise(chain)]
    left = share * sum(lengths)
    for (ax, ay), (bx, by), length in zip(chain, chain[1:], lengths, strict=False):
        if left <= length and length > 0:
            return ax + left / length * (bx - ax), ay + left / length * (by - ay)
        left -= length
    return chain[-1]


@quick
@given(st.integers(0, 2**32), st.integers(1, 6))
def test_points_are_where_a_walk_ends(seed: int, vertices: int) -> None:
    """Some vertices repeat; a chain may be a single point."""
    rng = random.Random(seed)
    many = [
        [(rng.randint(0, 3), rng.randint(0, 3)) for _ in range(vertices)]
        for _ in range(rng.randint(1, 4))
    ]
    which = np.array([rng.randrange(len(many)) for _ in range(9)])
    shares = np.array([0.0, 1.0, *(rng.random() for _ in range(7))])
    found = along_each(np.array(many, np.float64), which, shares)
    for point, k, share in zip(found, which.tolist(), shares.tolist(), strict=True):
        assert point == pytest.approx(walked(many[k], share), abs=1e-9)
        assert point.tolist() == along(np.array(many[k], np.float64), np.array([share]))[0].tolist()


def test_rings_of_as_many_vertices_are_cut_at_once() -> None:
    rings = np.arange(28.0).reshape(2, 7, 2)
    top, bottom = chains(rings)
    for k in range(2):
        assert [side.tolist() for side in chains(rings[k])] == [top[k].tolist(), bottom[k].tolist()]
    assert (top.shape, bottom.shape) == ((2, 3, 2), (2, 4, 2))
    assert bottom[0, 0].tolist() == rings[0, -1].tolist()
