"""What remains of shapes of which others are cut out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.overlaps import touching_boxes
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.records import Bools, Geometries, Ints, blocks, distinct

_VERTICES_AT_ONCE = 1 << 15
"""Vertices of the shapes that are cut at once, and of what is cut out of them."""


class Cuts(NamedTuple):
    """Which don't-care objects lose what they share with objects that count."""

    of: Shapes
    rows: Ints
    """(k,) int64. The don't-care objects, ascending."""
    others: Ints
    offsets: Ints
    """`others` and `offsets`: (p,), (k + 1,) int64. Object ``rows[i]`` loses what it shares with
    ``others[offsets[i]:offsets[i + 1]]``."""

    def parts(self) -> list[tuple[int, int]]:
        """Stretches of the rows that are cut together, so that memory is bounded."""
        return list(blocks(self.vertices, _VERTICES_AT_ONCE))

    @property
    def vertices(self) -> Ints:
        """(k,) those of each object and of what is cut out of it."""
        if self.of.polygons is None:
            return 4 * (1 + np.diff(self.offsets))
        counts = np.diff(self.of.polygons.edges.offsets)
        until = np.concatenate([[0], np.cumsum(counts[self.others])])
        return np.asarray(counts[self.rows] + np.diff(until[self.offsets]))

    def remains(self, start: int, stop: int) -> Geometries:
        """Return what a stretch of the rows have to themselves."""
        whole = shapes.geometries(self.of, self.rows[start:stop])
        bounds = self.offsets[start : stop + 1] - self.offsets[start]
        others = shapes.geometries(self.of, self.others[self.offsets[start] : self.offsets[stop]])
        # One cut of all together: each of many cuts takes as long as what remains has vertices.
        together = others[bounds[:-1]]
        for k in np.flatnonzero(np.diff(bounds) > 1).tolist():
            together[k] = geometry.geos.union_all(others[bounds[k] : bounds[k + 1]].tolist())
        return np.asarray(geometry.geos.difference(whole, together), dtype=object)


def cuts(of: Shapes, offsets: Ints, dont_care: Bools, which: Ints) -> Cuts:
    """Find what is cut out of some don't-care objects: objects of their image that count.

    Parameters
    ----------
    of : Shapes
        Of all n objects.
    offsets : (images + 1,) int64
        Which image owns which.
    dont_care : (n,) bool
    which : (k,) int64
        Don't-care objects, ascending.
    """
    counting = np.flatnonzero(~dont_care)
    of_which, of_counting = (np.searchsorted(side, offsets) for side in (which, counting))
    boxes = of.boxes[which], of_which, of.boxes[counting], of_counting
    target, other = touching_boxes(*boxes)
    target, other = which[target], counting[other]
    overlap = shapes.meet(of, target, of, other)
    target, other = target[overlap], other[overlap]
    rows = distinct(target)
    return Cuts(of, rows, other, np.append(np.searchsorted(target, rows), len(target)))
