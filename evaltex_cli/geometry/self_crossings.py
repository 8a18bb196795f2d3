"""Where a ring crosses or touches itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import shapely

from evaltex_cli.records import Bools, Floats, Ints

_PAIRS = 1 << 17
"""Most pairs of sides that are compared at once."""


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


def first_crossing(ring: Floats) -> tuple[float, float] | None:
    """Return the point of the first side, in drawing order, that crosses or touches a later one;
    None for no such side.

    Parameters
    ----------
    ring : (n, 2) float64
        Vertices; a side leads from the last to the first.
    """
    for sides, share in _crossings(ring):
        if len(share):
            start, stop = sides[0]
            x, y = (start + share[0] * (stop - start)).tolist()
            return x, y
    return None


def are_more_than(most: int, ring: Floats) -> bool:
    """Whether sides of (n, 2) vertices cross or touch others more than so many times."""
    count = 0
    for _, share in _crossings(ring):
        count += len(share)
        if count > most:
            return True
    return False


def _crossings(ring: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield sides that cross or touch a later one, once for each, and the points as shares of these
    sides; a bounded number at a time.
    """
    sides = _sides(ring)
    for i, j in _near(sides):
        neighbours = (j == i + 1) | ((i == 0) & (j == len(sides) - 1))
        with np.errstate(all="ignore"):
            share, meets = _meeting(sides[i], sides[j], neighbours)
        yield sides[i[meets]], share[meets]


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
