"""shapely's functions that compute, silent, and some of them sure.

GEOS divides by zero and takes NaN on its way to right answers, of which numpy would warn. It fails where the numbers of
a shape are too far apart, 1 and 1e-308 say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import shapely

GRID = 2.0**-40
"""Of the extent of shapes at which a function fails; their vertices are moved to points of a grid."""


def _sure(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of some shapes that does not fail: what is beyond GEOS on a grid too gives an empty polygon."""

    @np.errstate(all="ignore")
    def sure(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except shapely.GEOSException:
            pass
        try:
            return function(*_on_grid(arguments), **options)
        except shapely.GEOSException:
            return shapely.Polygon()

    return sure


def _sure_of_each(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of arrays of shapes that does not fail; what fails changes nothing of the others."""

    @np.errstate(all="ignore")
    def sure(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except shapely.GEOSException:
            return np.vectorize(_sure(function), otypes=[object], excluded=options)(*arguments, **options)[()]

    return sure


def _on_grid(arguments: Sequence[Any]) -> list[Any]:
    """The arguments, with the vertices of the shapes among them on one grid."""
    shapes = [argument for argument in arguments if isinstance(argument, shapely.Geometry)]
    step = GRID * float(np.abs(shapely.total_bounds(shapes)).max())
    moved = iter(shapely.transform(np.array(shapes), lambda vertices: np.round(vertices / step) * step))
    return [shapely.buffer(next(moved), 0) if isinstance(a, shapely.Geometry) else a for a in arguments]


buffer = _sure_of_each(shapely.buffer)
centroid = np.errstate(all="ignore")(shapely.centroid)
contains_xy = np.errstate(all="ignore")(shapely.contains_xy)
convex_hull = np.errstate(all="ignore")(shapely.convex_hull)
difference = _sure_of_each(shapely.difference)
distance = np.errstate(all="ignore")(shapely.distance)
intersection = _sure_of_each(shapely.intersection)
intersects = np.errstate(all="ignore")(shapely.intersects)
is_valid = np.errstate(all="ignore")(shapely.is_valid)
linearrings = np.errstate(all="ignore")(shapely.linearrings)
make_valid = _sure_of_each(shapely.make_valid)
oriented_envelope = np.errstate(all="ignore")(shapely.oriented_envelope)
point_on_surface = np.errstate(all="ignore")(shapely.point_on_surface)
polygons = np.errstate(all="ignore")(shapely.polygons)
union = _sure_of_each(shapely.union)
_union_of_all = _sure(lambda *shapes: shapely.union_all(shapes))


def union_all(shapes: Sequence[Any]) -> Any:
    """Return the union of some shapes."""
    return _union_of_all(*shapes)
