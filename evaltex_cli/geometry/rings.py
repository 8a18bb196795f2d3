"""Rings of vertices in drawing order, and the two chains of a polygon between which its text runs.

Chains take the usual drawing order for granted: along the top in reading direction, then back along
the bottom.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evaltex_cli.records import Floats, Ints, Outlines, offsets_of

STEP = 2.0**-48
"""The error of a coordinate such as x + width, 16 units in the last place, as a share of the larger
coordinate of its object on that axis."""


def truncated(coordinates: Floats) -> Floats:
    """Cut the coordinates of points (n, 2) or boxes (n, 4) to integers, towards 0; one that is an
    integer but for rounding is that integer: 3, not 2.9999999999999996.
    """
    reach = np.abs(coordinates)
    if coordinates.shape[-1] == 4:
        reach = np.maximum(reach, reach[:, [2, 3, 0, 1]])
    whole = np.rint(coordinates)
    is_whole = np.abs(coordinates - whole) <= STEP * reach
    return np.where(is_whole, whole, np.trunc(coordinates))


def corners_and_vertices(outlines: Outlines, *, truncate: bool = False) -> tuple[Floats, Ints]:
    """Return the vertices of all objects, (v, 2), and where those of each begin and end, (n + 1,);
    those of a box are its corners, clockwise from the upper left one.
    """
    is_box = outlines.counts == 0
    offsets = offsets_of(np.where(is_box, 4, outlines.counts))
    of_box = np.repeat(is_box, np.diff(offsets))
    take = truncated if truncate else np.asarray
    points = np.empty((offsets[-1], 2))
    points[of_box] = take(outlines.boxes[is_box])[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)
    points[~of_box] = take(outlines.vertices)
    return points, offsets


def area(vertices: Floats, offsets: Ints) -> Floats:
    """(n,) areas that rings enclose, as far as they do not cross themselves; none is empty."""
    near = vertices - np.repeat(vertices[offsets[:-1]], np.diff(offsets), axis=0)
    after = following(near, offsets)
    cross = near[:, 0] * after[:, 1] - after[:, 0] * near[:, 1]
    return np.asarray(np.abs(np.add.reduceat(cross, offsets[:-1])) / 2) if len(cross) else cross


def centroids(vertices: Floats, offsets: Ints) -> Floats:
    """(n, 2) centroids of rings; NaN without area."""
    first, counts = offsets[:-1], np.diff(offsets)
    origin = vertices[first]
    near = vertices - np.repeat(origin, counts, axis=0)
    after = following(near, offsets)
    cross = near[:, 0] * after[:, 1] - after[:, 0] * near[:, 1]
    if not len(cross):
        return origin
    twice_area = np.add.reduceat(cross, first)[:, None]
    moments = np.add.reduceat((near + after) * cross[:, None], first)
    nothing = np.full(origin.shape, np.nan)
    return np.asarray(
        origin + np.divide(moments, 3 * twice_area, out=nothing, where=twice_area != 0)
    )


def chains(ring: Floats) -> tuple[Floats, Floats]:
    """Cut a ring of n >= 2 vertices in its top, the first n // 2, and its bottom, the rest from the
    last one on; (n, 2), or (..., n, 2) for several of as many vertices.
    """
    half = max(ring.shape[-2] // 2, 1)
    return ring[..., :half, :], ring[..., half:, :][..., ::-1, :]


def between(chain: Floats, start: float, stop: float) -> Floats:
    """Return the piece of a (k, 2) chain from one share of its length to another, its inner
    vertices included.
    """
    reached = _length_before(chain)
    inner = (reached > start * reached[-1]) & (reached < stop * reached[-1])
    ends = along(chain, np.array([start, stop]))
    return np.concatenate([ends[:1], chain[inner], ends[1:]])


def along(chain: Floats, shares: Floats) -> Floats:
    """(m, 2) points at these shares of the length of a (k, 2) chain."""
    if len(chain) <= 2:  # exactly, without a length
        return np.asarray(chain[0] + shares[:, None] * (chain[-1] - chain[0]))
    reached = _length_before(chain)
    target = shares * reached[-1]
    at = np.searchsorted(reached[1:-1], target, side="right")
    step = reached[at + 1] - reached[at]
    share = np.divide(target - reached[at], step, out=np.zeros(len(shares)), where=step > 0)
    return np.asarray(chain[at] + share[:, None] * (chain[at + 1] - chain[at]))


def _length_before(chain: Floats) -> Floats:
    """(k,) length of a chain before each of its vertices."""
    steps = np.diff(chain, axis=0)
    return np.concatenate([[0.0], np.cumsum(np.hypot(steps[:, 0], steps[:, 1]))])


def following(values: Any, offsets: Ints) -> Any:
    """The value (v, ...) at the next vertex of each ring, the first being next to the last; a ring
    may have none of the rows from ``offsets[i]`` to ``offsets[i + 1]``.
    """
    result = np.empty_like(values)
    result[:-1] = values[1:]
    filled = np.flatnonzero(np.diff(offsets))
    result[offsets[filled + 1] - 1] = values[offsets[filled]]
    return result
