"""Axis-parallel boxes ``x0, y0, x1, y1`` in continuous coordinates."""

from __future__ import annotations

import numpy as np

from evaltex_cli.records import Floats, Ints, offsets_of, ranges


def area(boxes: Floats) -> Floats:
    """(n,) areas of (n, 4) boxes; an inverted box has none."""
    x0, y0, x1, y1 = boxes.T
    return np.asarray(np.maximum(x1 - x0, 0.0) * np.maximum(y1 - y0, 0.0))


def intersection(a: Floats, b: Floats) -> Floats:
    """(n, 4) intersections of a[k] and b[k]; inverted where they are apart."""
    result = np.maximum(a, b)
    for column in (2, 3):  # one at a time takes a fifth of the time
        np.minimum(a[:, column], b[:, column], out=result[:, column])
    return result


def union_area(boxes: Floats, group: Ints, groups: int) -> Floats:
    """(groups,) areas of the union of each group of boxes, (n,) in ``range(groups)``, ascending;
    none is inverted.

    Between two neighbouring edges along x, the boxes of a group are stretches along y.
    """
    edges, owner = boxes[:, ::2].ravel(), np.repeat(group, 2)
    edges = edges[np.lexsort((edges, owner))]
    slab = np.flatnonzero((owner[1:] == owner[:-1]) & (edges[1:] > edges[:-1]))
    left, right, owner = edges[slab], edges[slab + 1], owner[slab]
    counts = np.bincount(group, minlength=groups)
    slab = np.repeat(np.arange(len(owner)), counts[owner])
    box = ranges(offsets_of(counts)[owner], counts[owner])
    across = (boxes[box, 0] <= left[slab]) & (right[slab] <= boxes[box, 2])
    slab, box = slab[across], box[across]
    order = np.lexsort((boxes[box, 1], slab))
    slab, start, stop = slab[order], boxes[box[order], 1], boxes[box[order], 3]
    # What the stretches before in the same slab have covered, is not new.
    ends, rank = np.unique(stop, return_inverse=True)
    reach = np.maximum.accumulate(slab * len(ends) + rank) - slab * len(ends)
    is_first = np.diff(slab, prepend=-1) > 0
    covered = np.where(is_first, start, np.maximum(start, ends[np.roll(reach, 1)]))
    new = np.maximum(stop - covered, 0.0) * (right - left)[slab]
    return np.bincount(owner[slab], new, groups).astype(np.float64)


def around(low: Floats, high: Floats, starts: Ints) -> Floats:
    """(k, 4) boxes around groups of consecutive boxes, given by two corners, the same for points;
    `starts` are the rows in which the groups begin, rising; none is empty.
    """
    if not len(starts):
        return np.zeros((0, 4))
    ends = np.minimum.reduceat(low, starts, axis=0), np.maximum.reduceat(high, starts, axis=0)
    return np.concatenate(ends, axis=1)


def around_groups(boxes: Floats, group: Ints) -> Floats:
    """(groups, 4) boxes around the boxes of each group, (n,) in ``range(groups)``, none empty."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return around(boxes[order, :2], boxes[order, 2:], starts)
