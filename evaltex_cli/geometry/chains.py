"""Where the text runs in a polygon: its upper and its lower chain of vertices, both in the direction of reading.

The usual drawing order is taken for granted: along the top in reading direction, then back along the bottom.
"""

from __future__ import annotations

import numpy as np

from evaltex_cli.records import Floats, Ints, offsets_of


def rings(
    boxes: Floats, vertices: Floats | None, vertex_offsets: Ints | None, truncated: bool = False
) -> tuple[Floats, Ints]:
    """Return the vertices of all objects, those of a box clockwise from its upper left corner.

    Parameters
    ----------
    boxes, vertices, vertex_offsets
        As in `Objects`.
    truncated : bool
        Cut coordinates to integers, towards 0.

    Returns
    -------
    (v, 2) float64, (n + 1,) int64
        Object i owns rows ``offsets[i]:offsets[i + 1]``.
    """
    corners = boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)
    offsets = np.arange(len(boxes) + 1, dtype=np.int64) * 4
    if vertices is not None and vertex_offsets is not None:
        counts = np.diff(vertex_offsets)
        is_box = counts == 0
        offsets = offsets_of(np.where(is_box, 4, counts))
        of_box = np.repeat(is_box, np.diff(offsets))
        points = np.empty((offsets[-1], 2))
        points[of_box] = corners.reshape(-1, 4, 2)[is_box].reshape(-1, 2)
        points[~of_box] = vertices
        corners = points
    return np.trunc(corners) if truncated else corners, offsets


def chains(ring: Floats) -> tuple[Floats, Floats]:
    """Cut a ring of n >= 2 vertices in its top, the first n // 2, and its bottom, the others from the last one on."""
    half = max(len(ring) // 2, 1)
    return ring[:half], ring[half:][::-1]


def between(chain: Floats, start: float, stop: float) -> Floats:
    """Return the piece of a chain from one share of its length to another, its inner vertices included.

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
    """(m, 2) points at these shares of a chain's length; of a chain of two vertices exactly p + share * (q - p)."""
    if len(chain) == 1:
        return np.repeat(chain, len(shares), axis=0)
    if len(chain) == 2:
        return np.asarray(chain[0] + shares[:, None] * (chain[1] - chain[0]))
    reached = _length_before(chain)
    at = np.clip(np.searchsorted(reached, shares * reached[-1], side="right") - 1, 0, len(chain) - 2)
    step = reached[at + 1] - reached[at]
    share = np.divide(shares * reached[-1] - reached[at], step, out=np.zeros(len(shares)), where=step > 0)
    return np.asarray(chain[at] + share[:, None] * (chain[at + 1] - chain[at]))


def _length_before(chain: Floats) -> Floats:
    steps = np.hypot(*np.diff(chain, axis=0).T)
    return np.concatenate([np.zeros(1), np.cumsum(steps)])
