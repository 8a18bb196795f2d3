"""Quadrilaterals that need no mending, told by their corners; polygons are made of them when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from evaltex_cli.records import Bools, Floats, Geometries

_BLOCK = 1 << 13
_LEAST_SHARE = 1e-12
_LEAST = 1e-280
"""Twice the area of the triangle at a corner, as a share of the bounding box and as such, above which rounding can
change neither the way the corner turns nor that the whole has an area."""


class Quads:
    """Polygons of convex quadrilaterals, made at the first look; an array of shapely geometries to all who ask.

    Many protocols take boxes for them, and making a polygon takes as long as reading its line.

    Parameters
    ----------
    corners : (n, 4, 2) float64
        In drawing order, of quadrilaterals that `are_convex`.
    """

    __slots__ = ("corners", "made")

    def __init__(self, corners: Floats) -> None:
        self.corners = corners
        self.made: Geometries | None = None

    def __len__(self) -> int:
        return len(self.corners)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Geometries:
        if self.made is None:
            self.made = polygons(self.corners)
        return np.array(self.made, dtype=object) if copy else self.made

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(self)[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(np.asarray(self))

    def copy(self) -> Geometries:
        """Return an array of the geometries that may be written to."""
        return np.array(self)


def later(corners: Floats) -> Geometries:
    """Return `Quads` for what they become."""
    return cast(Geometries, Quads(corners))


def bounds(corners: Floats) -> Floats:
    """(n, 4) bounding boxes of rings of as many vertices each, (n, k, 2)."""
    low = high = corners[:, 0]
    for k in range(1, corners.shape[1]):
        low, high = np.minimum(low, corners[:, k]), np.maximum(high, corners[:, k])
    return np.concatenate([low, high], axis=1)


def are_convex(corners: Floats) -> Bools:
    """Whether quadrilaterals are valid polygons with an area beyond all doubt: each corner turns the same way.

    Parameters
    ----------
    corners : (n, 4, 2) float64

    Returns
    -------
    (n,) bool
        False for some that are valid too, where rounding leaves it open.
    """
    found = np.zeros(len(corners), dtype=bool)
    with np.errstate(all="ignore"):
        for start in range(0, len(corners), _BLOCK):
            x, y = np.ascontiguousarray(corners[start : start + _BLOCK].T)
            extent = (x.max(axis=0) - x.min(axis=0)) * (y.max(axis=0) - y.min(axis=0))
            along_x, along_y = (np.concatenate([one[1:], one[:1]]) - one for one in (x, y))
            next_x, next_y = (np.concatenate([one[1:], one[:1]]) for one in (along_x, along_y))
            turn = along_x * next_y - along_y * next_x
            least = np.maximum(_LEAST_SHARE * extent, _LEAST)
            found[start : start + _BLOCK] = (turn.min(axis=0) > least) | (turn.max(axis=0) < -least)
    return found


def polygons(corners: Floats) -> Geometries:
    """(n,) shapely polygons of quadrilaterals that `are_convex`, (n, 4, 2)."""
    import shapely

    count = len(corners)
    rings = np.concatenate([corners, corners[:, :1]], axis=1).reshape(-1, 2)
    offsets = (np.arange(0, 5 * count + 1, 5), np.arange(count + 1))
    return np.asarray(shapely.from_ragged_array(shapely.GeometryType.POLYGON, rings, offsets), dtype=object)
