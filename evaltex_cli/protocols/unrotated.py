"""Rectangles turned back about their centres, and the angles between them: MSRA-TD500's rule for
what overlaps.

C. Yao, X. Bai, W. Liu, Y. Ma, Z. Tu, *Detecting texts of arbitrary orientations in natural images*,
CVPR 2012: the overlap of two rectangles is the IoU of both after each is turned about its centre
until its sides are parallel to the axes; and the angle between the rectangles has to be small.

The sides of a rectangle have two directions, at a right angle. An object is turned by the first. A
detection is turned by the one that is nearer to it, so it may begin at any vertex.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import shapely

from evaltex_cli.errors import InputError
from evaltex_cli.geometry.overlaps import measure
from evaltex_cli.protocols.matching import TIE, in_dont_care
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Objects, Outlines
from evaltex_cli.records.rows import taken_outlines

QUARTER = np.pi / 4


class Rectangles(NamedTuple):
    """Rectangles of objects."""

    centre: Floats
    size: Floats
    """`centre` and `size`: (n, 2) float64. Size along the first direction, and across it."""
    angle: Floats
    """(n,) float64. From the x axis towards the y axis to the first direction, in radians."""

    def turned_back(self) -> Outlines:
        """Return boxes with the first direction along the x axis."""
        low, high = self.centre - self.size / 2, self.centre + self.size / 2
        return Outlines.of_boxes(np.concatenate([low, high], axis=1))

    def by_other_side(self) -> Rectangles:
        """Return the same rectangles with the other direction as the first."""
        return Rectangles(self.centre, self.size[:, ::-1], self.angle + np.pi / 2)


def overlaps_turned_back(batch: ImageBatch, parameters: Any) -> tuple[Ints, Ints, Floats, Bools]:
    """Return the objects and detections that overlap once both are turned back, with a small angle
    between them: (p,) gt, det and IoU, sorted; and (D,) the detections that are not in don't care.

    A detection is turned by the direction that is nearer to the object's; by both where they are
    equally near.

    Raises
    ------
    InputError
        For label pictures.
    """
    if batch.has_masks:
        raise InputError(
            "unrotated=true compares rectangles; leave out the label pictures, or set"
            " unrotated=false"
        )
    gt, det = rectangles_of(batch.gt), rectangles_of(batch.det)
    det_counts, columns = np.ones(batch.det.count, bool), []
    for turned in (det, det.by_other_side()):
        both = replace(
            batch,
            gt=replace(batch.gt, outlines=gt.turned_back()),
            det=replace(batch.det, outlines=turned.turned_back()),
        )
        overlaps = measure(both, Convention(truncated=parameters.truncate))
        angle = angle_between(gt.angle[overlaps.gt], turned.angle[overlaps.det])
        nearer = overlaps.some(angle <= QUARTER + TIE)
        det_counts &= ~in_dont_care(batch, nearer, parameters.dont_care_overlap)
        small = overlaps.some(angle < np.radians(parameters.max_angle) - TIE)
        columns.append((small.gt, small.det, small.iou()))
    gts, dets, ious = (np.concatenate(column) for column in zip(*columns, strict=True))
    order = np.lexsort((dets, gts))
    return gts[order], dets[order], ious[order], det_counts


def angle_between(a: Floats, b: Floats) -> Floats:
    """(n,) angles between directions, from 0 to π/2; opposite directions are the same."""
    return np.asarray(np.abs((a - b + np.pi / 2) % np.pi - np.pi / 2))


def rectangles_of(objects: Objects) -> Rectangles:
    """Return boxes as they are, quadrilaterals by the means of their opposite sides, and the
    smallest rectangles around other polygons.

    The first direction is that from the first vertex of a quadrilateral to its second, the longer
    side of the smallest rectangle around a polygon, and the x axis for a box.
    """
    drawn, counts = objects.outlines, objects.outlines.counts
    corners = drawn.boxes[:, [[0, 1], [2, 1], [2, 3], [0, 3]]]
    quads = np.flatnonzero(counts == 4)
    corners[quads] = drawn.vertices[drawn.offsets[quads, None] + np.arange(4)]
    others = np.flatnonzero((counts != 0) & (counts != 4))
    if len(others):
        around, has_area = _smallest_rectangles(taken_outlines(drawn, others))
        corners[others[has_area]] = around  # one without area keeps its box
    along = (corners[:, 1] + corners[:, 2] - corners[:, 0] - corners[:, 3]) / 2
    across = (corners[:, 2] + corners[:, 3] - corners[:, 0] - corners[:, 1]) / 2
    size = np.stack([np.hypot(*along.T), np.hypot(*across.T)], axis=1)
    return Rectangles(corners.mean(axis=1), size, np.arctan2(along[:, 1], along[:, 0]))


def _smallest_rectangles(outlines: Outlines) -> tuple[Floats, Bools]:
    """Return the corners (m, 4, 2) of the smallest rectangles around polygons, the longer side
    first, and (n,) which of the polygons have one with an area.
    """
    owner = np.repeat(np.arange(len(outlines.boxes)), outlines.counts)
    around: Any = shapely.oriented_envelope(shapely.linestrings(outlines.vertices, indices=owner))
    has_area = shapely.get_type_id(around) == shapely.GeometryType.POLYGON
    corners = shapely.get_coordinates(around[has_area]).reshape(-1, 5, 2)[:, :4]
    sides = np.hypot(*np.diff(corners[:, :3], axis=1).T)
    is_long = sides[0] >= sides[1]
    return np.where(is_long[:, None, None], corners, np.roll(corners, -1, axis=1)), has_area
