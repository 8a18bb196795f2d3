"""Rectangles turned back about their centres, and the angles between them: MSRA-TD500's rule for
what overlaps.

C. Yao, X. Bai, W. Liu, Y. Ma, Z. Tu, *Detecting texts of arbitrary orientations in natural images*,
CVPR 2012: the overlap of two rectangles is the IoU of both after each is turned about its centre
until its sides are parallel to the axes; and the angle included by the rectangles has to be small.

The sides of a rectangle have two directions, at a right angle. An object is turned by the first. A
detection is turned by the one that is nearer to it, so it may begin at any vertex.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.geometry.overlaps import measure
from evaltex_cli.protocols.ratios import SLACK
from evaltex_cli.records import Convention, Floats, ImageBatch, Ints, Objects, Outlines, Overlaps

QUARTER = np.pi / 4


class Rectangles(NamedTuple):
    """Rectangles of objects."""

    centre: Floats
    size: Floats
    """`centre` and `size`: (n, 2) float64. Size along the first direction, and across it."""
    angle: Floats
    """(n,) float64. From the x axis towards the y axis to the first direction, in radians."""

    def turned_back(self) -> Floats:
        """(n, 4) boxes with the first direction along the x axis."""
        return np.concatenate([self.centre - self.size / 2, self.centre + self.size / 2], axis=1)

    def by_other_side(self) -> Rectangles:
        """The same rectangles with the other direction as the first."""
        return Rectangles(self.centre, self.size[:, ::-1], self.angle + np.pi / 2)


def overlaps_by_angle(batch: ImageBatch, convention: Convention) -> tuple[Overlaps, Floats]:
    """Return the overlaps of rectangles that are turned back, and the angles (p,) that each pair
    includes, in radians.

    Detection d of D is turned by its first direction as d, and by the other one as D + d. A pair is
    there by the nearer one; by both where they are equally near, which rounding does not decide.
    """
    gt, det = rectangles_of(batch.gt), rectangles_of(batch.det)
    parts, angles = [], []
    for turned in (det, det.by_other_side()):
        both = replace(batch, gt=_as_boxes(batch.gt, gt), det=_as_boxes(batch.det, turned))
        found = measure(both, convention)
        angle = included(gt.angle[found.gt], turned.angle[found.det])
        nearer = angle <= QUARTER + SLACK
        parts.append(
            found._replace(gt=found.gt[nearer], det=found.det[nearer], area=found.area[nearer])
        )
        angles.append(angle[nearer])
    first, second = parts
    turned_by_either = Overlaps(
        np.concatenate([first.gt, second.gt]),
        np.concatenate([first.det, batch.det.count + second.det]),
        np.concatenate([first.area, second.area]),
        first.gt_area,
        np.concatenate([first.det_area, second.det_area]),
        first.gt_boxes,
        np.concatenate([first.det_boxes, second.det_boxes]),
    )
    return turned_by_either, np.concatenate(angles)


def included(a: Floats, b: Floats) -> Floats:
    """(n,) angles between directions, from 0 to π/2; opposite directions are the same."""
    return np.asarray(np.abs((a - b + np.pi / 2) % np.pi - np.pi / 2))


def _as_boxes(objects: Objects, rectangles: Rectangles) -> Objects:
    return replace(objects, outlines=Outlines.of_boxes(rectangles.turned_back()))


def rectangles_of(objects: Objects) -> Rectangles:
    """Return boxes as they are, quadrilaterals by the means of their opposite sides, the rectangles
    around polygons.

    The first direction is that from the first vertex of a quadrilateral to its second, the longer
    side of the smallest rectangle around a polygon, and the x axis for a box.
    """
    boxes, counts = objects.boxes, objects.outlines.counts
    centre, size, angle = (
        (boxes[:, :2] + boxes[:, 2:]) / 2,
        boxes[:, 2:] - boxes[:, :2],
        np.zeros(len(boxes)),
    )
    starts = objects.outlines.offsets[:-1]
    quads = np.flatnonzero(counts == 4)
    corners = objects.outlines.vertices[starts[quads][:, None] + np.arange(4)]
    centre[quads], size[quads], angle[quads] = _rectangles(corners)
    others = np.flatnonzero((counts != 0) & (counts != 4))
    around, is_area = _smallest_rectangles(objects.outlines, others)
    others = others[is_area]
    centre[others], size[others], angle[others] = _rectangles(around)
    return Rectangles(centre, size, angle)


def _rectangles(corners: Floats) -> Rectangles:
    """Rectangles of (n, 4, 2) corners in drawing order."""
    along = (corners[:, 1] + corners[:, 2] - corners[:, 0] - corners[:, 3]) / 2
    across = (corners[:, 2] + corners[:, 3] - corners[:, 0] - corners[:, 1]) / 2
    size = np.stack([np.hypot(*along.T), np.hypot(*across.T)], axis=1)
    return Rectangles(corners.mean(axis=1), size, np.arctan2(along[:, 1], along[:, 0]))


def _smallest_rectangles(outlines: Outlines, which: Ints) -> tuple[Floats, Ints]:
    """Return the corners (m, 4, 2) of the smallest rectangles around polygons, the longer side
    first.

    The second value are the m places in `which` of those with an area.
    """
    counts = outlines.counts[which]
    owner = np.repeat(np.arange(len(which)), counts)
    chosen = np.isin(np.repeat(np.arange(len(outlines.boxes)), outlines.counts), which)
    around: Any = geometry.geos.oriented_envelope(
        geometry.geos.paths(outlines.vertices[chosen], owner)
    )
    is_area = np.flatnonzero(
        geometry.shapely.get_type_id(around) == geometry.shapely.GeometryType.POLYGON
    )
    corners = geometry.shapely.get_coordinates(around[is_area]).reshape(-1, 5, 2)[:, :4]
    edges = np.diff(corners[:, :3], axis=1)
    is_long = (edges[:, 0] ** 2).sum(axis=1) >= (edges[:, 1] ** 2).sum(axis=1)
    return np.where(is_long[:, None, None], corners, np.roll(corners, -1, axis=1)), is_area
