"""Which edges of a shape of very many are near another shape, by how far stretches of them reach.

Edges that follow each other hang together, so a stretch of them that reaches along another shape
has an edge there.
"""

from __future__ import annotations

import numpy as np

from evaltex_cli.geometry.edges import Edges
from evaltex_cli.records import Floats, stretches

_STRETCH = 1 << 8
"""Edges of a stretch."""


class NearEdges:
    """Edges of n shapes, and of those that were asked for how far their stretches reach."""

    def __init__(self, edges: Edges) -> None:
        self.edges = edges
        self._reach: dict[int, Floats] = {}

    def ends(self, row: int) -> Floats:
        """(4, e) ends of all edges of a shape."""
        return self.edges.ends[:, self.edges.offsets[row] : self.edges.offsets[row + 1]]

    def reach(self, row: int) -> Floats:
        """(4, s) smallest x and y, and largest x and y, of each stretch of a shape's edges."""
        if row in self._reach:
            return self._reach[row]
        ends = self.ends(row)
        starts = np.arange(0, ends.shape[1], _STRETCH)
        low, high = (
            extreme.reduceat(extreme(ends[:2], ends[2:]), starts, axis=1)
            for extreme in (np.minimum, np.maximum)
        )
        reach = np.concatenate([low, high])
        if len(starts) > 1:
            self._reach[row] = reach
        return reach

    def near(self, row: int, other: Floats, axis: int) -> Floats:
        """(4, m) ends of a shape's edges, in their order, without most of those that have no x in
        common with another shape of this reach; or no y, if the axis is 1.
        """
        ends, reach = self.ends(row), self.reach(row)
        low, high = other[axis].min(), other[2 + axis].max()
        met = np.flatnonzero((reach[axis] < high) & (reach[2 + axis] > low))
        if len(met) == reach.shape[1]:
            return ends
        counts = np.minimum(_STRETCH, ends.shape[1] - met * _STRETCH)
        return ends.take(stretches(met * _STRETCH, counts), axis=1)


def near_each_other(
    a: NearEdges, one: int, b: NearEdges, other: int, axis: int
) -> tuple[Floats, Floats]:
    """Return the ends of edges of a shape of a and one of b: all that have some x in common, or
    some y, and few that have none.
    """
    return a.near(one, b.reach(other), axis), b.near(other, a.reach(one), axis)
