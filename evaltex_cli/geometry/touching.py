"""Which boxes of an image touch: the pairs that are worth measuring."""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely

from evaltex_cli.records import Floats, Ints, chunks, ranges

DENSE_PAIRS = 1 << 16
"""An image with more possible pairs than this is crowded, and goes through a tree."""
PAIRS_AT_ONCE = 1 << 17


def touching_boxes(a: Floats, a_offsets: Ints, b: Floats, b_offsets: Ints) -> tuple[Ints, Ints]:
    """Return the pairs (i, j) of boxes of the same image that share some area, sorted; image k owns
    the boxes (n, 4) of either side from ``offsets[k]`` to ``offsets[k + 1]``.
    """
    a_count, b_count = np.diff(a_offsets), np.diff(b_offsets)
    crowded = np.flatnonzero(a_count * b_count > DENSE_PAIRS)
    b_count[crowded] = 0
    # Every box of a with every box of b of its image: how many partners each box of a has.
    partners, first = np.repeat(b_count, a_count), np.repeat(b_offsets[:-1], a_count)
    nothing = np.zeros(0, np.int64)
    pairs = [(nothing, nothing)]
    for start, stop in chunks(partners, PAIRS_AT_ONCE):
        i = np.repeat(np.arange(start, stop), partners[start:stop])
        pairs.append(_meeting(a, i, b, ranges(first[start:stop], partners[start:stop])))
    for k in crowded.tolist():
        # A tree asks shapes only for their bounding boxes, and a diagonal is the least of shapes.
        sides: Any = (
            shapely.linestrings(boxes[offsets[k] : offsets[k + 1]].reshape(-1, 2, 2))
            for boxes, offsets in ((a, a_offsets), (b, b_offsets))
        )
        asked, others = sides
        i, j = shapely.STRtree(others).query(asked)
        pairs.append(_meeting(a, i + a_offsets[k], b, j + b_offsets[k]))
    i, j = (np.concatenate(side) for side in zip(*pairs, strict=True))
    order = np.lexsort((j, i)) if len(crowded) else slice(None)
    return i[order], j[order]


def _meeting(a: Floats, i: Ints, b: Floats, j: Ints) -> tuple[Ints, Ints]:
    """Return those of some pairs that share some area."""
    for column in (0, 1):
        meet = (a[:, column][i] < b[:, column + 2][j]) & (b[:, column][j] < a[:, column + 2][i])
        i, j = i[meet], j[meet]
    return i, j
