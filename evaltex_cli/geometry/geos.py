"""shapely's functions that compute, without numpy's warnings; some of them do not fail either.

GEOS divides by zero and takes NaN on its way to right answers, of which numpy would warn. It fails
if the numbers of a shape are too far apart, for example 1 and 1e-308.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import shapely

from evaltex_cli.records import Floats, Geometries, Ints

GRID = 2.0**-40
"""Of the extent of shapes at which a function fails; their vertices are moved to points of a grid.
"""
_NO_MEMORY = "bad_alloc"
"""In what GEOS says if it gets no memory."""


def _silent(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function without numpy's warnings, which raises MemoryError if GEOS gets no memory:
    that is no fault of a shape.
    """

    @np.errstate(all="ignore")
    def silent(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except shapely.GEOSException as error:
            if _NO_MEMORY in str(error):
                raise MemoryError from error
            raise

    return silent


def _never_failing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of some shapes that does not fail: where GEOS fails
    on a grid too, an empty polygon.
    """
    function = _silent(function)

    def never_failing(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except shapely.GEOSException:
            pass
        try:
            return function(*_on_grid(arguments), **options)
        except shapely.GEOSException:
            return shapely.Polygon()

    return never_failing


def _never_failing_each(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of arrays of shapes that does not fail; a shape that
    fails does not change the others.
    """
    function = _silent(function)

    def never_failing(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except shapely.GEOSException:
            return np.vectorize(_never_failing(function), otypes=[object], excluded=options)(
                *arguments, **options
            )[()]

    return never_failing


@_silent
def _on_grid(arguments: Sequence[Any]) -> list[Any]:
    """The arguments, with the vertices of the shapes among them on one grid."""
    shapes = [argument for argument in arguments if isinstance(argument, shapely.Geometry)]
    step = GRID * float(np.abs(shapely.total_bounds(shapes)).max())
    moved = iter(
        shapely.transform(np.array(shapes), lambda vertices: np.round(vertices / step) * step)
    )
    return [
        shapely.buffer(next(moved), 0) if isinstance(a, shapely.Geometry) else a for a in arguments
    ]


centroid = _silent(shapely.centroid)
contains_xy = _silent(shapely.contains_xy)
convex_hull = _silent(shapely.convex_hull)
distance = _silent(shapely.distance)
intersects = _silent(shapely.intersects)
is_valid = _silent(shapely.is_valid)
linearrings = _silent(shapely.linearrings)
oriented_envelope = _silent(shapely.oriented_envelope)
point_on_surface = _silent(shapely.point_on_surface)
polygonize = _silent(shapely.polygonize)
polygons = _silent(shapely.polygons)
buffer = _never_failing_each(shapely.buffer)
difference = _never_failing_each(shapely.difference)
intersection = _never_failing_each(shapely.intersection)
make_valid = _never_failing_each(shapely.make_valid)
node = _never_failing_each(shapely.node)
node_on_grid = _never_failing(lambda line, size: shapely.union_all(line, grid_size=size))
union = _never_failing_each(shapely.union)
_union_of_all = _never_failing(lambda *shapes: shapely.union_all(shapes))


def union_all(shapes: Sequence[Any]) -> Any:
    """Return the union of some shapes."""
    return _union_of_all(*shapes)


def convex_hulls(points: Floats, owner: Ints) -> Geometries:
    """(n,) convex hulls of the (p, 2) points of each owner, in order and numbered from 0."""
    return np.asarray(convex_hull(paths(points, owner)), dtype=object)


def paths(points: Floats, owner: Ints) -> Geometries:
    """(n,) lines through the (p, 2) points of each owner, which are in order and numbered from 0.

    GEOS finds what is around them as it does for multipoints, of which every point takes as much
    memory as ten of a line. A point alone is there twice.
    """
    alone = np.bincount(owner)[owner] == 1
    if alone.any():
        points, owner = np.repeat(points, 1 + alone, axis=0), np.repeat(owner, 1 + alone)
    return np.asarray(shapely.linestrings(points, indices=owner), dtype=object)


_unions = _silent(lambda shapes: shapely.union_all(shapes, axis=1))


def unions(shapes: Any) -> Any:
    """(g,) unions of the rows of a (g, n) array of shapes; a row that fails does not change the
    others.
    """
    try:
        return _unions(shapes)
    except shapely.GEOSException:
        united = np.empty(len(shapes), dtype=object)
        for k, row in enumerate(shapes):
            united[k] = union_all(row)
        return united
