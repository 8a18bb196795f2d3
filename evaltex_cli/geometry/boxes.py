"""Axis-parallel boxes ``x0, y0, x1, y1`` in continuous coordinates."""

from __future__ import annotations

import numpy as np

from evaltex_cli.records import Floats, Ints


def area(boxes: Floats) -> Floats:
    """(n,) areas of (n, 4) boxes; an inverted box has none."""
    sides = np.maximum(boxes[:, 2:] - boxes[:, :2], 0.0)
    return np.asarray(sides[:, 0] * sides[:, 1])


def intersection(a: Floats, b: Floats) -> Floats:
    """(n, 4) intersections of a[k] and b[k]; inverted where they are apart."""
    result = np.maximum(a, b)
    for column in (2, 3):  # one at a time takes a fifth of the time
        np.minimum(a[:, column], b[:, column], out=result[:, column])
    return result


def around(low: Floats, high: Floats, starts: Ints) -> Floats:
    """Return boxes around groups of consecutive points, or of boxes.

    Parameters
    ----------
    low, high : (n, 2) float64
        Upper left and lower right corners; the same for points.
    starts : (k,) int64
        The row in which each group begins, in ascending order; none is empty.

    Returns
    -------
    (k, 4) float64
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


def offset(boxes: Floats, margin: Floats) -> Floats:
    """Grow (margin > 0) or shrink (margin < 0) each box by its margin on every side."""
    moved: Floats = boxes + margin[:, None] * np.array([-1.0, -1.0, 1.0, 1.0])
    return moved
