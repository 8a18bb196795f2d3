"""Areas of polygons by exact rational arithmetic: slow, plain, and by another rule than the package.

Strips between all ends and crossings of edges; in the middle of a strip, its edges in order cut it
into intervals, which are inside a shape or not by the even-odd rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import TypeAlias

Point: TypeAlias = tuple[Fraction, Fraction]
Edge: TypeAlias = tuple[Point, Point]
Rings: TypeAlias = Sequence[Sequence[Sequence[float]]]


def area_where(shapes: Sequence[Rings], inside: Callable[[Sequence[bool]], bool]) -> Fraction:
    """Area of all points of which `inside` is true of whether each shape has them.

    A shape is a list of rings, filled by the even-odd rule.
    """
    edges = [[edge for ring in rings for edge in _edges(ring)] for rings in shapes]
    every = [edge for one in edges for edge in one]
    cuts = {x for edge in every for x, _ in edge}
    cuts.update(x for a, b in combinations(every, 2) for x in _crossing(a, b))
    total = Fraction(0)
    for left, right in pairwise(sorted(cuts)):
        middle = (left + right) / 2
        meets = sorted(
            (_height(edge, middle), owner)
            for owner, one in enumerate(edges)
            for edge in one
            if edge[0][0] <= left and edge[1][0] >= right
        )
        state = [False] * len(shapes)
        for (y, owner), (following, _) in pairwise(meets):
            state[owner] = not state[owner]
            total += (following - y) * (right - left) if inside(state) else 0
    return total


def _edges(ring: Sequence[Sequence[float]]) -> list[Edge]:
    points = [(Fraction(float(x)), Fraction(float(y))) for x, y in ring]
    sides = zip(points, [*points[1:], points[0]], strict=True)
    return [(min(a, b), max(a, b)) for a, b in sides if a[0] != b[0]]


def _height(edge: Edge, x: Fraction) -> Fraction:
    (x0, y0), (x1, y1) = edge
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def _crossing(a: Edge, b: Edge) -> list[Fraction]:
    left, right = max(a[0][0], b[0][0]), min(a[1][0], b[1][0])
    if left >= right:
        return []
    first, last = (_height(a, x) - _height(b, x) for x in (left, right))
    return [left + (right - left) * first / (first - last)] if first * last < 0 else []
