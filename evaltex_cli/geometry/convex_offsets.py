"""Offsets of convex rings: their sides moved in parallel, in closed form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evaltex_cli.geometry import rounding
from evaltex_cli.geometry.rings import dot, following, preceding
from evaltex_cli.records import Bools, Floats, Ints, offsets_of, stretches

MITRE_LIMIT = 5.0
"""Most that a corner moves outwards, in margins, before it is cut off: as GEOS does it."""


class Corners(NamedTuple):
    """Convex rings of corners, all of which turn from x to y."""

    vertices: Floats
    """(v, 2) float64."""
    offsets: Ints
    """(n + 1,) int64."""
    boxes: Floats
    """(n, 4) float64. Around each."""


def moved(corners: Corners, margin: Floats) -> tuple[Floats, Ints]:
    """Return rings with their sides moved outwards by a margin, inwards where it is negative;
    of `convex.offset`.
    """
    vertices, offsets = corners.vertices, corners.offsets
    if not len(vertices):
        return vertices, offsets
    each = np.repeat(margin, np.diff(offsets))
    steps = following(vertices, offsets) - vertices
    lengths = np.sqrt(dot(steps, steps))
    sides = steps / lengths[:, None]
    before = preceding(sides, offsets)
    tangent = tangent_of_half(
        preceding(steps, offsets), steps, preceding(lengths, offsets) * lengths
    )
    # As far outwards, and then along the side before as its neighbour is away from it there.
    result = vertices + each[:, None] * (outwards(before) + tangent[:, None] * before)
    least = rounding.STEP * np.abs(corners.boxes).max(axis=1)
    left = _along(result, offsets, sides) > np.repeat(least, np.diff(offsets))
    consumed = (margin < 0) & ~np.logical_and.reduceat(left, offsets[:-1])
    cut = (1 + tangent * tangent > MITRE_LIMIT**2) & (each > 0)
    if cut.any():
        result, offsets = _cut(corners, sides, each, result, cut)
    if consumed.any():
        rows = np.repeat(consumed, np.diff(corners.offsets))
        inner = Corners(
            vertices[rows], offsets_of(np.diff(corners.offsets)[consumed]), corners.boxes[consumed]
        )
        result, offsets = _replaced(
            result, offsets, consumed, *_consumed(inner, sides[rows], each[rows], least[consumed])
        )
    return result, offsets


def tangent_of_half(before: Floats, after: Floats, lengths: Floats) -> Floats:
    """(v,) tangents of half the turns from sides to others, from the products of their lengths."""
    cross, product = _cross(before, after), dot(before, after)
    # Either is exact for turns that are not on the other side of a right angle.
    with np.errstate(divide="ignore"):
        return np.asarray(
            np.where(product > 0, cross / (lengths + product), (lengths - product) / cross)
        )


def outwards(sides: Floats) -> Floats:
    """(v, 2) unit normals of sides of rings that turn from x to y."""
    return np.stack([sides[:, 1], -sides[:, 0]], axis=1)


def _along(vertices: Floats, offsets: Ints, sides: Floats) -> Floats:
    """(v,) how far the next vertex is from each, in the direction of its side."""
    return dot(following(vertices, offsets) - vertices, sides)


def _cut(
    corners: Corners, sides: Floats, margin: Floats, moved: Floats, cut: Bools
) -> tuple[Floats, Ints]:
    """Replace some moved corners by two: where a line across, `MITRE_LIMIT` margins from the
    corner, meets the moved sides.
    """
    before, after, each = preceding(sides, corners.offsets)[cut], sides[cut], margin[cut, None]
    # Half of the turn has as its cosine the length of the mean of the unit normals.
    mean = (before + after) / 2
    squared = dot(mean, mean)
    # How far along the sides that line is from where they end, moved.
    along = each * ((MITRE_LIMIT - np.sqrt(squared)) / np.sqrt(1 - squared))[:, None]
    rows = offsets_of(1 + cut)
    result = np.repeat(moved, 1 + cut, axis=0)
    result[rows[:-1][cut]] = corners.vertices[cut] + each * outwards(before) + along * before
    result[rows[1:][cut] - 1] = corners.vertices[cut] + each * outwards(after) - along * after
    return result, rows[corners.offsets]


def _replaced(
    vertices: Floats, offsets: Ints, which: Bools, others: Floats, other_offsets: Ints
) -> tuple[Floats, Ints]:
    """Replace some rings by others."""
    counts, starts = np.diff(offsets), offsets[:-1].copy()
    counts[which], starts[which] = np.diff(other_offsets), len(vertices) + other_offsets[:-1]
    return np.concatenate([vertices, others])[stretches(starts, counts)], offsets_of(counts)


def _consumed(
    corners: Corners, sides: Floats, margin: Floats, least: Floats
) -> tuple[Floats, Ints]:
    """Return rings whose sides move inwards so far that not all remain; of no corners, if none
    does.

    A side that would be no longer than its ring's least length, which rounding could make, is
    beyond where its neighbours meet, and can be left out, if they turn by less than half a circle;
    otherwise nothing is left. Of sides next to each other, one at a time is left out, because its
    neighbours must be there.
    """
    rings, counts = len(corners.offsets) - 1, np.diff(corners.offsets)
    owner = np.repeat(np.arange(rings), counts)
    # Next to the ring, where numbers are small and their digits many.
    origin = corners.boxes[:, :2]
    points = corners.vertices - origin[owner] + margin[:, None] * outwards(sides)
    while True:
        offsets = offsets_of(np.bincount(owner, minlength=rings))
        before = preceding(sides, offsets)
        turn, apart = _cross(before, sides), points - preceding(points, offsets)
        # From a point of a side back to where the side before meets it.
        meets = points - (_cross(before, apart) / turn)[:, None] * sides
        gone = ~(_along(meets, offsets, sides) > least[owner])
        if not gone.any():
            return meets + origin[owner], offsets
        nothing_left = gone & (_cross(before, following(sides, offsets)) <= 0)
        stays = ~(_one_of_neighbours(gone, offsets, owner))
        stays &= (np.bincount(owner, weights=nothing_left, minlength=rings) == 0)[owner]
        stays &= (np.bincount(owner, weights=stays, minlength=rings) > 2)[owner]
        points, sides, owner = points[stays], sides[stays], owner[stays]


def _one_of_neighbours(mask: Bools, offsets: Ints, owner: Ints) -> Bools:
    """Of a mask of the sides of rings, one or more for each ring that has any, never two next to
    each other.
    """
    place, counts = np.arange(len(mask)) - offsets[owner], np.diff(offsets)[owner]
    # Even places, or odd ones, or the last, which may be an even one next to the first.
    kind = np.where((place == counts - 1) & (counts % 2 == 1), 2, place % 2)
    kind[~mask] = 3
    least = np.full(len(offsets) - 1, 3)
    np.minimum.at(least, owner, kind)
    return np.asarray(mask & (kind == least[owner]))


def _cross(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
