"""Areas of intersections of convex polygons: the sides of one, clipped by the half-planes of the
other (Sutherland and Hodgman, Communications of the ACM 17, 1974).

Sides are not kept in order. Where a line cuts a polygon, its sides end and begin again on the line,
and a new side joins the very same two points: so the sides enclose an area however points are
rounded, and a sum over them, in any order, is this area. An area that rounding may have moved too
far is measured again with twice the digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.geometry.double_double import DoubleDouble
from evaltex_cli.records import Bools, Floats, Ints

_ROOM = 1 << 14
"""Sides of all pairs that are clipped together."""
_ZERO = np.zeros(())
_ERROR = 2.0**-9
"""Below this share of the extent of the intersection times that of its polygons, an area in doubles
may be off by more than 1e-12 of it."""


class Corners(NamedTuple):
    """Convex rings of corners, all of which turn from x to y.

    Attributes
    ----------
    vertices : (v, 2) float64
    offsets : (n + 1,) int64
    boxes : (n, 4) float64
        Around each.
    """

    vertices: Floats
    offsets: Ints
    boxes: Floats


def areas(a: Corners, i: Ints, b: Corners, j: Ints) -> Floats:
    """(p,) areas of the intersections of ``a[i[k]]`` and ``b[j[k]]``, in square pixels."""
    result = np.zeros(len(i))
    a_size, b_size = _sizes(np.diff(a.offsets))[i], _sizes(np.diff(b.offsets))[j]
    for pairs, a_count, b_count in _alike(a_size, b_size):
        step = max(_ROOM // (a_count + b_count), 1)
        for start in range(0, len(pairs), step):
            some = pairs[start : start + step]
            one, other = (a, i[some], a_count), (b, j[some], b_count)
            # The ring of fewer corners clips the other: a step for each of its sides.
            if a_count < b_count:
                one, other = other, one
            result[some] = _areas(*one, *other)
    return result


def _sizes(counts: Ints) -> Ints:
    """(n,) counts, rounded up to one of few sizes: at most by a quarter."""
    step = 1 << np.maximum(np.frexp(counts)[1].astype(np.int64) - 3, 0)
    return np.asarray(-(-counts // step) * step)


def _alike(a: Ints, b: Ints) -> Iterator[tuple[Ints, int, int]]:
    """Yield the pairs of each two sizes, and these."""
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    starts = np.flatnonzero((np.diff(a, prepend=-1) != 0) | (np.diff(b, prepend=-1) != 0))
    for start, stop in pairwise([*starts.tolist(), len(order)]):
        yield order[start:stop], int(a[start]), int(b[start])


def _areas(a: Corners, i: Ints, a_count: int, b: Corners, j: Ints, b_count: int) -> Floats:
    """(p,) areas of pairs with at most so many corners on either side."""
    a_boxes, b_boxes = a.boxes[i], b.boxes[j]
    low = np.maximum(a_boxes[:, :2], b_boxes[:, :2])
    high = np.minimum(a_boxes[:, 2:], b_boxes[:, 2:])
    one, other = _columns(a, i, a_count), _columns(b, j, b_count)
    # Next to the intersection, where numbers are small and their digits many.
    origin = np.ascontiguousarray(low.T)[:, None]
    with np.errstate(all="ignore"):
        area = clipped(*(one - origin), *(other - origin)) / 2
    far = np.maximum(
        np.maximum(a_boxes[:, 2:], b_boxes[:, 2:]) - low,
        low - np.minimum(a_boxes[:, :2], b_boxes[:, :2]),
    ).max(axis=1)
    extent = np.maximum(high - low, 0.0).sum(axis=1)
    # An area of 0 is one: all of the polygon was on the outer side of a line.
    again = np.flatnonzero((area != 0) & (area < _ERROR * far * extent))
    if len(again):
        columns = [
            DoubleDouble.difference(side[axis][:, again], origin[axis][:, again])
            for side in (one, other)
            for axis in (0, 1)
        ]
        with np.errstate(all="ignore"):
            area[again] = clipped(*columns).high / 2
    area[(high <= low).any(axis=1)] = 0.0
    return np.asarray(np.maximum(area, 0.0))


def _columns(corners: Corners, which: Ints, count: int) -> Floats:
    """(2, count, p) x and y of the corners of some rings, the last repeated up to `count`."""
    starts, last = corners.offsets[which], corners.offsets[which + 1] - 1
    rows = np.minimum(starts + np.arange(count)[:, None], last)
    return np.ascontiguousarray(np.moveaxis(corners.vertices[rows], 2, 0))


def clipped(x: Any, y: Any, clip_x: Any, clip_y: Any) -> Any:
    """Clip polygons by convex ones.

    Parameters
    ----------
    x, y : (n, p) float64 or DoubleDouble
        Corners of the polygons, one in each column; repeated ones make no difference.
    clip_x, clip_y : (m, p) of the same type
        Those of the polygons that clip them.

    Returns
    -------
    (p,) of the same type
        Twice the areas that are left.
    """
    # Sides from (x, y) to (to_x, to_y).
    to_x, to_y = _turned(x), _turned(y)
    along_x, along_y = _turned(clip_x) - clip_x, _turned(clip_y) - clip_y
    for k in range(clip_x.shape[0]):
        # How far the ends of the sides are inside, times the length of the side that clips.
        start, stop = (
            along_x[k] * (end_y - clip_y[k]) - along_y[k] * (end_x - clip_x[k])
            for end_x, end_y in ((x, y), (to_x, to_y))
        )
        starts_out, stops_out = start < 0.0, stop < 0.0
        enters, leaves = starts_out > stops_out, stops_out > starts_out
        # The share of a side before it meets the line; 0 of one outside, which becomes a point.
        share = _where(enters | leaves, start / (start - stop))
        meets_x, meets_y = x + share * (to_x - x), y + share * (to_y - y)
        x, to_x = _where(starts_out, meets_x, x), _where(stops_out, meets_x, to_x)
        y, to_y = _where(starts_out, meets_y, y), _where(stops_out, meets_y, to_y)
        # New sides begin where others leave, and end where others enter.
        for begins, ends in zip(_each(leaves), _each(enters), strict=True):
            x, to_x = _with_row(x, begins, meets_x), _with_row(to_x, ends, meets_x)
            y, to_y = _with_row(y, begins, meets_y), _with_row(to_y, ends, meets_y)
    twice = x * to_y - y * to_x
    # Row by row, because numpy's sum of a column depends on how many there are.
    total = twice[0]
    for k in range(1, twice.shape[0]):
        total = total + twice[k]
    return total


def _turned(rows: Any) -> Any:
    """The rows, each replaced by the next one."""
    return rows[np.r_[1 : rows.shape[0], 0]]


def _where(mask: Bools, a: Any, b: Any = None) -> Any:
    """`numpy.where`; b is 0 if not given."""
    if isinstance(a, DoubleDouble):
        b = b or DoubleDouble(_ZERO, _ZERO)
        return DoubleDouble(np.where(mask, a.high, b.high), np.where(mask, a.low, b.low))
    return np.where(mask, a, _ZERO if b is None else b)


def _each(mask: Bools) -> list[Bools]:
    """Masks of the first row that is True in each column, of the second, and so on."""
    most = int(mask.sum(axis=0).max(initial=0))
    if most <= 1:
        return [mask] * most
    rank = np.cumsum(mask, axis=0)
    return [mask & (rank == k + 1) for k in range(most)]


def _with_row(rows: Any, mask: Bools, values: Any) -> Any:
    """The rows and, as the last one, of each column the value where the mask is True, if it is."""
    if isinstance(rows, DoubleDouble):
        return DoubleDouble(
            _with_row(rows.high, mask, values.high), _with_row(rows.low, mask, values.low)
        )
    return np.concatenate([rows, np.where(mask, values, _ZERO).sum(axis=0)[None]])
