"""Rings of vertices that are valid polygons beyond all doubt, found without GEOS."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from evaltex_cli.geometry.rings import without_repeats
from evaltex_cli.records import Bools, Floats, Ints, offsets_of, stretches

MOST_VERTICES = 40
"""Rings of more are left to GEOS: the work grows with the square."""
_BLOCK = 1 << 13
_LEAST_SHARE = 1e-12
_LEAST = 1e-280
"""Twice the area of a triangle of three vertices, as a share of the bounding box and as such, above
which rounding cannot change the way they turn."""
_Point: TypeAlias = tuple[Floats, Floats]


def are_simple(vertices: Floats, offsets: Ints) -> Bools:
    """Whether the sides of rings have nothing in common but the vertices between them, and so
    enclose an area.

    Parameters
    ----------
    vertices : (v, 2) float64
    offsets : (n + 1,) int64

    Returns
    -------
    (n,) bool
        False for some that are simple too: if rounding could decide it, or if it would take long.
        A vertex that the next one repeats counts once.
    """
    result = _are_simple_as_drawn(vertices, offsets)
    doubtful = np.flatnonzero(~result)
    counts = np.diff(offsets)[doubtful]
    some = vertices.take(stretches(offsets[doubtful], counts), axis=0)
    others, other_offsets = without_repeats(some, offsets_of(counts))
    if len(others) < len(some):
        result[doubtful] = _are_simple_as_drawn(others, other_offsets)
    return result


def _are_simple_as_drawn(vertices: Floats, offsets: Ints) -> Bools:
    """The same, but False if a vertex is repeated."""
    counts = np.diff(offsets)
    result = np.zeros(len(counts), dtype=bool)
    with np.errstate(all="ignore"):  # an overflow makes inf or NaN, which is not above the least
        for count in np.flatnonzero(np.bincount(counts, minlength=3)[: MOST_VERTICES + 1]).tolist():
            rows = np.flatnonzero(counts == count) if count >= 3 else counts[:0]
            step = max(_BLOCK // max(count, 1), 1)
            for start in range(0, len(rows), step):
                some = rows[start : start + step]
                corners = vertices.take(offsets[some] + np.arange(count)[:, None], axis=0)
                result[some] = _are_simple(*np.ascontiguousarray(np.moveaxis(corners, 2, 0)))
    return result


def _are_simple(x: Floats, y: Floats) -> Bools:
    """The same for (k, n) coordinates of n rings of k vertices."""
    extent = (x.max(axis=0) - x.min(axis=0)) * (y.max(axis=0) - y.min(axis=0))
    least = np.maximum(_LEAST_SHARE * extent, _LEAST)
    start, stop = (x, y), (_from(x, 1), _from(y, 1))
    along = (stop[0] - x, stop[1] - y)
    after = (_from(along[0], 1), _from(along[1], 1))
    # A side does not lead back on the one before it if it turns, or leads onwards.
    turn = along[0] * after[1] - along[1] * after[0]
    onwards = along[0] * after[0] + along[1] * after[1]
    apart = (np.abs(turn) > least) | (onwards > least)
    for ahead in range(2, len(x) // 2 + 1):
        other = tuple((_from(axis, ahead), _from(axis, ahead + 1)) for axis in (x, y))
        other_start, other_stop = (other[0][0], other[1][0]), (other[0][1], other[1][1])
        meets = np.flatnonzero(~_boxes_apart(start, stop, other_start, other_stop))
        a, b, c, d = (
            (point[0].ravel()[meets], point[1].ravel()[meets])
            for point in (start, stop, other_start, other_stop)
        )
        tolerance = least[meets % len(least)]
        apart.reshape(-1)[meets] &= _beyond((a, b), (c, d), tolerance) | _beyond(
            (c, d), (a, b), tolerance
        )
    return np.asarray(apart.all(axis=0))


def _from(values: Floats, first: int) -> Floats:
    """Each ring's values, beginning with a later one."""
    return np.concatenate([values[first:], values[:first]])


def _boxes_apart(a: _Point, b: _Point, c: _Point, d: _Point) -> Bools:
    """Whether the bounding boxes of sides from a to b and from c to d have no point in common."""
    result = np.zeros(a[0].shape, dtype=bool)
    for axis in (0, 1):
        result |= np.maximum(a[axis], b[axis]) < np.minimum(c[axis], d[axis])
        result |= np.maximum(c[axis], d[axis]) < np.minimum(a[axis], b[axis])
    return result


def _beyond(line: tuple[_Point, _Point], side: tuple[_Point, _Point], least: Floats) -> Bools:
    """Whether both ends of a side are on the same side of the line through two points."""
    (x, y), (x1, y1) = line
    first, second = ((x1 - x) * (end[1] - y) - (y1 - y) * (end[0] - x) for end in side)
    return (np.minimum(first, second) > least) | (np.maximum(first, second) < -least)
