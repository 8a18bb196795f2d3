"""Whether rings are convex, in exact rational arithmetic, and areas of their offsets, with 60
digits: the slow, plain references of `geometry.convex`.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

Point = tuple[Any, Any]
"""Fractions, or decimals."""


def points(ring: np.ndarray) -> list[Point]:
    return [(Fraction(x), Fraction(y)) for x, y in ring.tolist()]


def doubled_area(ring: list[Point]) -> Fraction:
    return sum(
        (ring[k - 1][0] * ring[k][1] - ring[k - 1][1] * ring[k][0] for k in range(len(ring))),
        ring[0][0] * 0 if ring else Fraction(0),
    )


def turn(start: Point, stop: Point, point: Point) -> Fraction:
    return (stop[0] - start[0]) * (point[1] - start[1]) - (stop[1] - start[1]) * (
        point[0] - start[0]
    )


def cut(ring: list[Point], start: Point, stop: Point) -> list[Point]:
    """What of a ring is on the inner side of a line."""
    inside = []
    for k in range(len(ring)):
        (x, y), (to_x, to_y) = ring[k - 1], ring[k]
        before, after = turn(start, stop, ring[k - 1]), turn(start, stop, ring[k])
        if (before < 0) != (after < 0):
            share = before / (before - after)
            inside.append((x + share * (to_x - x), y + share * (to_y - y)))
        if after >= 0:
            inside.append(ring[k])
    return inside


def is_convex(ring: np.ndarray) -> bool:
    """Whether the corners of a ring all turn one way, and go around once; vertices that repeat, or
    are between their neighbours, are no corners.
    """
    kept = points(ring)
    kept = [point for k, point in enumerate(kept) if point != kept[k - 1]]
    turns = [turn(kept[k - 2], kept[k - 1], kept[k]) for k in range(len(kept))]
    onwards = [
        sum((kept[k - 1][d] - kept[k - 2][d]) * (kept[k][d] - kept[k - 1][d]) for d in (0, 1)) > 0
        for k in range(len(kept))
    ]
    signs = {value > 0 for value in turns if value}
    straight = all(ahead for value, ahead in zip(turns, onwards, strict=True) if not value)
    return len(signs) == 1 and straight and _turns_once(kept)


def _turns_once(ring: list[Point]) -> bool:
    upwards = [
        (ring[k][1] - ring[k - 1][1], ring[k][0] - ring[k - 1][0]) > (0, 0)
        for k in range(len(ring))
    ]
    return sum(upwards[k] and not upwards[k - 1] for k in range(len(ring))) == 1


def offset_area(ring: np.ndarray, margin: float, mitre_limit: float) -> Decimal:
    """Area of a convex ring, true corners only, whose sides have moved outwards by a margin; with
    corners cut off across, `mitre_limit` margins from where they were.
    """
    with localcontext(prec=60):
        corners = [(Decimal(x), Decimal(y)) for x, y in ring.tolist()]
        if doubled_area(corners) < 0:
            corners.reverse()
        by = Decimal(margin)
        reach = 2 * max(abs(number) for point in corners for number in point) + 99 * abs(by)
        left = [(-reach, -reach), (reach, -reach), (reach, reach), (-reach, reach)]
        sides = [unit(corners[k - 1], corners[k]) for k in range(len(corners))]
        for k, (x, y) in enumerate(corners):
            (from_x, from_y), (to_x, to_y) = sides[k], sides[(k + 1) % len(corners)]
            left = cut_beyond(left, (x, y), (to_y, -to_x), by)
            across = unit((Decimal(0), Decimal(0)), (from_y + to_y, -from_x - to_x))
            cosine = across[0] * to_y - across[1] * to_x
            if by > 0 and cosine * Decimal(mitre_limit) < 1:
                left = cut_beyond(left, (x, y), across, by * Decimal(mitre_limit))
        return doubled_area(left) / 2 if left else Decimal(0)


def unit(start: Point, stop: Point) -> Point:
    x, y = stop[0] - start[0], stop[1] - start[1]
    length = (x * x + y * y).sqrt()
    return x / length, y / length


def cut_beyond(ring: list[Point], point: Point, normal: Point, distance: Decimal) -> list[Point]:
    """What of a ring is no farther from a point, in the direction of a normal, than a distance."""
    x, y = point[0] + distance * normal[0], point[1] + distance * normal[1]
    return cut(ring, (x, y), (x - normal[1], y + normal[0]))
