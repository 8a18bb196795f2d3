"""Where a ring crosses or touches itself, and which rings do so too often to be repaired."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import shapely

from evaltex_cli.errors import TangledError
from evaltex_cli.geometry import near_sides
from evaltex_cli.records import Bools, Floats, Ints

MAX_CROSSINGS = 1000
"""Most crossings of a polygon with itself, if it has no more vertices; one
with 10 times both takes GEOS minutes.
"""
MOST_CROSSINGS = 20_000
"""Most crossings of a polygon with itself, however many vertices it has."""
FEW_CROSSINGS = 20
"""A polygon with no more of them costs little to repair."""
MAX_CROSSINGS_OF_ALL = 10_000
"""Most crossings of polygons with more than a few, together, of those read at
once (1 MiB of text): a few seconds.
"""
_PAIRS = 1 << 20
"""Most pairs of sides that are compared at once."""


def refuse_tangled(vertices: Floats, offsets: Ints, crossing: Ints, of_all: int) -> int:
    """Refuse rings that take GEOS too long; return `of_all`, the crossings of
    those before, and theirs.
    """
    for i in crossing.tolist():
        ring = vertices[offsets[i] : offsets[i + 1]]
        most = min(max(MAX_CROSSINGS, len(ring)), MOST_CROSSINGS)
        count = _crossings(ring, most)
        of_all += count if count > FEW_CROSSINGS else 0
        polygon = near_sides.called(ring)
        if count > most:
            raise TangledError(
                f"{polygon} crosses or touches itself more than {most} times;"
                " expected an outline: remove it, or put its vertices in order",
                i,
            )
        if of_all > max(MAX_CROSSINGS_OF_ALL, most):
            raise TangledError(
                f"{polygon} and those before it cross or touch themselves more than"
                f" {MAX_CROSSINGS_OF_ALL} times;"
                " expected outlines: put their vertices in order",
                i,
            )
    return of_all


def _crossings(ring: Floats, most: int) -> int:
    """Count the crossings of a ring with itself; those of few sides are no
    more than a few, and not counted.
    """
    sides = _sides(ring)
    if len(sides) * (len(sides) - 1) // 2 <= FEW_CROSSINGS:
        return 0
    count = 0
    for i, j in _near(sides):
        count += int(_meet(sides[i], sides[j]).sum())
        if count > most:
            break
    return count


def _sides(ring: Floats) -> Floats:
    """(n, 2, 2) sides of a ring, each from a vertex to the next, without
    those from a point to itself.
    """
    sides: Floats = np.stack([ring, np.roll(ring, -1, axis=0)], axis=1)
    return np.asarray(sides[(sides[:, 0] != sides[:, 1]).any(axis=1)])


def _near(sides: Floats) -> Iterator[tuple[Ints, Ints]]:
    """Yield the pairs i < j of sides with touching bounding boxes, sorted, a
    bounded number at a time.
    """
    boxes = shapely.box(*sides.min(axis=1).T, *sides.max(axis=1).T)
    tree = shapely.STRtree(boxes)
    step = max(_PAIRS // max(len(sides), 1), 1)
    for start in range(0, len(sides), step):
        i, j = tree.query(boxes[start : start + step])
        i = i + start
        i, j = i[i < j], j[i < j]
        order = np.lexsort((j, i))
        yield i[order], j[order]


def _meet(a: Floats, b: Floats) -> Bools:
    """Whether sides a[k] and b[k], (n, 2, 2), of touching bounding boxes have
    a point in common, but no end.
    """

    def turns(side: Floats, point: Floats) -> Floats:
        (dx, dy), (x, y) = (side[:, 1] - side[:, 0]).T, (point - side[:, 0]).T
        sign: Floats = np.sign(dx * y - dy * x)
        return sign

    # Both ends of a against both ends of b: (n, 2, 2) comparisons of points.
    at_ends: Bools = (a[:, :, None] == b[:, None]).all(axis=-1).any(axis=(1, 2))
    # Sides meet if the ends of each are on different sides of the other, or on it.
    across: Bools = turns(a, b[:, 0]) * turns(a, b[:, 1]) <= 0
    back: Bools = turns(b, a[:, 0]) * turns(b, a[:, 1]) <= 0
    return across & back & ~at_ends


def first_crossing(ring: Floats) -> tuple[float, float] | None:
    """Return the point of the first side, in drawing order, that crosses or touches a later one;
    None for no such side.

    Parameters
    ----------
    ring : (n, 2) float64
        Vertices; a side leads from the last to the first.
    """
    sides = _sides(ring)
    for i, j in _near(sides):
        neighbours = (j == i + 1) | ((i == 0) & (j == len(sides) - 1))
        with np.errstate(all="ignore"):
            share, meets = _meeting(sides[i], sides[j], neighbours)
        where = np.flatnonzero(meets)
        if len(where):
            start, stop = sides[i[where[0]]]
            x, y = (start + share[where[0]] * (stop - start)).tolist()
            return x, y
    return None


def _cross(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


def _meeting(a: Floats, b: Floats, neighbours: Bools) -> tuple[Floats, Bools]:
    """Return the first point of each side a that its side b has too, as a share of a; and whether
    there is any.

    Parameters
    ----------
    a, b : (n, 2, 2) float64
        Sides, each from a point to another.
    neighbours : (n,) bool
        Sides with a vertex in common, which meet only if one leads back on the other.
    """
    # a[0] + share_a * along_a = b[0] + share_b * along_b, by Cramer's rule; parallel sides divide
    # by 0.
    along_a, along_b, apart = a[:, 1] - a[:, 0], b[:, 1] - b[:, 0], b[:, 0] - a[:, 0]
    turn = _cross(along_a, along_b)
    share_a, share_b = _cross(apart, along_b) / turn, _cross(apart, along_a) / turn
    crosses = (
        (turn != 0)
        & (share_a >= 0)
        & (share_a <= 1)
        & (share_b >= 0)
        & (share_b <= 1)
        & ~neighbours
    )
    length = (along_a * along_a).sum(axis=1)
    # For sides on one line: the ends of b as shares of a.
    ends = (
        np.stack([(apart * along_a).sum(axis=1), ((b[:, 1] - a[:, 0]) * along_a).sum(axis=1)])
        / length
    )
    first, last = np.maximum(ends.min(axis=0), 0), np.minimum(ends.max(axis=0), 1)
    on_one_line = (turn == 0) & (_cross(apart, along_a) == 0)
    covers = on_one_line & np.where(neighbours, first < last, first <= last)
    return np.where(covers, first, share_a), crosses | covers
