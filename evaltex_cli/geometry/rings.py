"""Rings of vertices in drawing order, and the two chains of a polygon between which its text runs.

Chains take the usual drawing order for granted: along the top in reading direction, then back along
the bottom.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evaltex_cli.geometry import rounding
from evaltex_cli.records import Bools, Floats, Ints, Outlines, offsets_of


def of(outlines: Outlines, truncated: bool = False) -> tuple[Floats, Ints]:
    """Return the vertices of all objects; those of a box are its corners, clockwise from the upper
    left one.

    Parameters
    ----------
    outlines : Outlines
    truncated : bool
        Cut coordinates to integers, towards 0.

    Returns
    -------
    (v, 2) float64, (n + 1,) int64
        Object i owns rows ``offsets[i]:offsets[i + 1]``. Not to be changed: they may be those of
        `outlines`.
    """
    if outlines.counts.all() and len(outlines.boxes):
        vertices = outlines.vertices
        return rounding.truncated(vertices) if truncated else vertices, outlines.offsets
    boxes = rounding.truncated(outlines.boxes) if truncated else outlines.boxes
    corners = boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)
    offsets = np.arange(len(boxes) + 1, dtype=np.int64) * 4
    if not outlines.all_boxes:
        counts = outlines.counts
        is_box = counts == 0
        offsets = offsets_of(np.where(is_box, 4, counts))
        of_box = np.repeat(is_box, np.diff(offsets))
        points = np.empty((offsets[-1], 2))
        points[of_box] = corners.reshape(-1, 4, 2)[is_box].reshape(-1, 2)
        points[~of_box] = outlines.vertices
        corners = rounding.truncated(points) if truncated else points
    return corners, offsets


def chains(ring: Floats) -> tuple[Floats, Floats]:
    """Cut a ring of n >= 2 vertices in its top, the first n // 2, and its bottom, the rest from the
    last one on.

    Parameters
    ----------
    ring : (..., n, 2) float64
        A ring, or several of as many vertices.
    """
    half = max(ring.shape[-2] // 2, 1)
    return ring[..., :half, :], ring[..., half:, :][..., ::-1, :]


def between(chain: Floats, start: float, stop: float) -> Floats:
    """Return the piece of a chain from one share of its length to another, its inner vertices
    included.

    Parameters
    ----------
    chain : (k, 2) float64
    start, stop : float
        Shares in [0, 1].
    """
    reached = _length_before(chain)
    inner = (reached > start * reached[-1]) & (reached < stop * reached[-1])
    ends = along(chain, np.array([start, stop]))
    return np.concatenate([ends[:1], chain[inner], ends[1:]])


def along(chain: Floats, shares: Floats) -> Floats:
    """(m, 2) points at these shares of a chain's length; of a chain of two
    vertices exactly p + share * (q - p).
    """
    return along_each(chain[None], np.zeros(len(shares), np.int64), shares)


def along_each(chain: Floats, which: Ints, shares: Floats) -> Floats:
    """(m, 2) points as of `along`, each on one of several chains of as many vertices.

    Parameters
    ----------
    chain : (c, k, 2) float64
    which : (m,) int64
        The chain of each point.
    shares : (m,) float64
    """
    vertices = chain.shape[1]
    if vertices == 1:
        return np.asarray(chain[which, 0])
    if vertices == 2:
        return np.asarray(chain[which, 0] + shares[:, None] * (chain[which, 1] - chain[which, 0]))
    reached = _length_before(chain)
    target = shares * reached[which, -1]
    # One comparison per inner vertex, as chains have few: how many of them lie before each point.
    at = np.zeros(len(which), np.int64)
    for inner in reached[:, 1:-1].T:
        at += inner[which] <= target
    before = reached[which, at]
    step = reached[which, at + 1] - before
    share = np.divide(target - before, step, out=np.zeros(len(shares)), where=step > 0)
    return np.asarray(chain[which, at] + share[:, None] * (chain[which, at + 1] - chain[which, at]))


def _length_before(chain: Floats) -> Floats:
    """(..., k) length of a chain, or of several alike, before each of its k vertices."""
    steps = np.diff(chain, axis=-2)
    reached = np.zeros(chain.shape[:-1])
    np.cumsum(np.hypot(steps[..., 0], steps[..., 1]), axis=-1, out=reached[..., 1:])
    return reached


def following(values: Any, offsets: Ints) -> Any:
    """The value at the next vertex of each ring, the first being next to the last.

    Parameters
    ----------
    values : (v, ...) array
    offsets : (n + 1,) int64
        Ring i owns rows ``offsets[i]:offsets[i + 1]``; it may have none.
    """
    result = np.empty_like(values)
    result[:-1] = values[1:]
    filled = np.flatnonzero(np.diff(offsets))
    result[offsets[filled + 1] - 1] = values[offsets[filled]]
    return result


def preceding(values: Any, offsets: Ints) -> Any:
    """The value at the vertex before, the last being before the first; as `following`."""
    result = np.empty_like(values)
    result[1:] = values[:-1]
    filled = np.flatnonzero(np.diff(offsets))
    result[offsets[filled]] = values[offsets[filled + 1] - 1]
    return result


def dot(a: Floats, b: Floats) -> Floats:
    """(v,) scalar products of (v, 2) vectors; numpy takes a hundred times as long to sum along the
    rows.
    """
    return np.asarray(a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1])


def with_vertices(vertices: Floats, offsets: Ints, stays: Bools) -> tuple[Floats, Ints]:
    """Return rings of those vertices that stay."""
    if stays.all():
        return vertices, offsets
    return vertices[stays], offsets_of(stays)[offsets]


def without_repeats(vertices: Floats, offsets: Ints) -> tuple[Floats, Ints]:
    """Return rings without vertices that the next one repeats, the first being next to the last."""
    return with_vertices(vertices, offsets, (following(vertices, offsets) != vertices).any(axis=1))
