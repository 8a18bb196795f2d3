"""Shapes grown and shrunk: their sides moved in parallel, in columns where that is enough, else by
GEOS.
"""

from __future__ import annotations

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.geometry import boxes as box_geometry
from evaltex_cli.geometry import edges as edge_columns
from evaltex_cli.geometry.overlaps import shapes_of
from evaltex_cli.geometry.shapes import (
    Polygons,
    Shapes,
    concatenate,
    from_geometries,
    from_rings,
    geometries,
    has_geometry,
    polygons_of,
    taken,
    with_others,
)
from evaltex_cli.records import (
    Bools,
    Convention,
    Floats,
    ImageBatch,
    offsets_of,
    stretches,
)


def of_ground_truth(
    batch: ImageBatch, convention: Convention, margin: Floats
) -> tuple[Shapes, Shapes]:
    """Return the ground truth's shapes grown and shrunk; polygons that were moved by the same
    margins before are not moved again.
    """
    gt, _ = shapes_of(batch, convention)
    if gt.polygons is None:
        return offset(gt, margin), offset(gt, -margin)
    known = batch.moved.get(convention, (np.zeros(len(margin)), gt, gt))
    rows = np.flatnonzero(margin != known[0])
    some = taken(gt, rows)
    grown, shrunk = (
        with_others(shapes, rows, offset(some, sign * margin[rows]))
        for sign, shapes in zip((1, -1), known[1:], strict=True)
    )
    batch.moved[convention] = margin, grown, shrunk
    return grown, shrunk


def offset(shapes: Shapes, margin: Floats) -> Shapes:
    """Grow (margin > 0) or shrink (margin < 0) each shape; what shrinks to
    nothing is returned as it was.
    """
    if not margin.any():
        return shapes
    boxes = box_geometry.offset(shapes.boxes, margin)
    if shapes.polygons is None:
        return Shapes(boxes)
    is_polygon, all_edges, _, made = shapes.polygons
    quick = ~has_geometry(made) & (
        np.diff(all_edges.offsets) <= geometry.simple_rings.MOST_VERTICES
    )
    rows = np.flatnonzero(quick)
    some = edge_columns.taken(all_edges, rows)
    vertices, is_good = geometry.ring_offsets.moved(some.ends[:2].T, some.offsets, margin[rows])
    quick[rows] = is_good
    slanted = np.flatnonzero(is_polygon[rows] & is_good)
    corners = vertices.take(
        stretches(some.offsets[slanted], np.diff(some.offsets)[slanted]), axis=0
    )
    starts = offsets_of(np.diff(some.offsets)[slanted])[:-1]
    boxes[rows[slanted]] = box_geometry.around(corners, corners, starts)
    rest = np.flatnonzero(~quick)
    others = _offset_slowly(taken(shapes, rest), margin[rest])
    if not quick.any():
        return others
    edges = edge_columns.of_rings(vertices, some.offsets)
    moved = Shapes(boxes[rows], Polygons.of(is_polygon[rows], edges))
    if not len(rest):
        return moved
    # Those that are moved quickly first, and in their places those that are not.
    both = concatenate(moved, others)
    at = np.empty(len(boxes), np.int64)
    at[rows] = np.arange(len(rows))
    at[rest] = len(rows) + np.arange(len(rest))
    return taken(both, at)


def _offset_slowly(shapes: Shapes, margin: Floats) -> Shapes:
    """The same for shapes of several rings, and those that lose sides or are cut at corners."""
    is_polygon, (ends, offsets), _, made = polygons_of(shapes)
    polygons = np.flatnonzero(is_polygon)
    result = Shapes(box_geometry.offset(shapes.boxes, margin))
    result = with_others(result, polygons, taken(shapes, polygons))
    is_convex = is_polygon & ~has_geometry(made)
    is_convex &= geometry.convex.are_convex(ends[:2].T, offsets)
    for rows, moved in (
        (np.flatnonzero(is_convex), _offset_convex),
        (np.flatnonzero(is_polygon & ~is_convex & (margin != 0)), _offset_by_geos),
    ):
        if len(rows):
            remains, others = moved(taken(shapes, rows), margin[rows])
            result = with_others(result, rows[remains], others)
    return result


def _offset_convex(shapes: Shapes, margin: Floats) -> tuple[Bools, Shapes]:
    """Which of some rings remain; and those, moved."""
    edges = polygons_of(shapes).edges
    vertices, offsets = geometry.convex.offset(edges.ends[:2].T, edges.offsets, margin)
    remains = np.diff(offsets) > 0
    return remains, from_rings(vertices, offsets_of(np.diff(offsets)[remains]))


def _offset_by_geos(shapes: Shapes, margin: Floats) -> tuple[Bools, Shapes]:
    found = geometry.polygons.offset(geometries(shapes, np.arange(len(margin))), margin)
    remains = ~np.asarray(geometry.shapely.is_empty(found), dtype=bool)
    return remains, from_geometries(geometry.shapely.bounds(found[remains]), found[remains])
