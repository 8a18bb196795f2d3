"""Quadrilaterals that need no mending, told by their corners; polygons are made of them when somebody asks."""

from __future__ import annotations

import numpy as np

from evaltex_cli.records import Bools, Floats, Geometries

_BLOCK = 1 << 13
_LEAST_SHARE = 1e-12
_LEAST = 1e-280
"""Twice the area of the triangle at a corner, as a share of the bounding box and as such, above which rounding can
change neither the way the corner turns nor that the whole has an area."""


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
