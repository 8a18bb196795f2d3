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
from typing import Any

import numpy as np
import shapely

from evaltex_cli.errors import InputError
from evaltex_cli.geometry.overlaps import measure
from evaltex_cli.protocols.matching import TIE, in_dont_care
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Objects, Outlines


def overlaps_turned_back(batch: ImageBatch, parameters: Any) -> tuple[Ints, Ints, Floats, Bools]:
    """Return the objects and detections that overlap once both are turned back, with a small angle
    between them: (p,) gt, det and IoU, sorted; and (D,) the detections that are not in don't care.

    A detection is turned by both directions where they are equally near to the object's. Raises
    `InputError` for label pictures.
    """
    if batch.has_masks:
        raise InputError(
            "unrotated=true compares rectangles; leave out the label pictures, or set"
            " unrotated=false"
        )
    (gt_centre, gt_size, gt_angle), (centre, size, angle) = map(rectangles, (batch.gt, batch.det))
    gt = _with_boxes(batch.gt, gt_centre, gt_size)
    det_counts, found = np.ones(batch.det.count, dtype=bool), []
    for det_size, det_angle in ((size, angle), (size[:, ::-1], angle + np.pi / 2)):
        both = replace(batch, gt=gt, det=_with_boxes(batch.det, centre, det_size))
        overlaps = measure(both, Convention(truncated=parameters.truncate))
        turn = gt_angle[overlaps.gt] - det_angle[overlaps.det]
        between = np.abs((turn + np.pi / 2) % np.pi - np.pi / 2)  # opposite directions are the same
        nearer = overlaps.some(between <= np.pi / 4 + TIE)
        det_counts &= ~in_dont_care(batch, nearer, parameters.dont_care_overlap)
        small = overlaps.some(between < np.radians(parameters.max_angle) - TIE)
        found.append((small.gt, small.det, small.iou()))
    gts, dets, ious = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((dets, gts))
    return gts[order], dets[order], ious[order], det_counts


def _with_boxes(side: Objects, centre: Floats, size: Floats) -> Objects:
    boxes = np.concatenate([centre - size / 2, centre + size / 2], axis=1)
    return replace(side, outlines=Outlines.of_boxes(boxes))


def rectangles(objects: Objects) -> tuple[Floats, Floats, Floats]:
    """Return boxes as they are, quadrilaterals by the means of their opposite sides, and the
    smallest rectangles around other polygons: centre and size, (n, 2) each, the size along the
    first direction and across it; and the angle of that direction from the x axis, (n,) in radians.

    The first direction is that from the first vertex of a quadrilateral to its second, the longer
    side of the smallest rectangle around a polygon, and the x axis for a box.
    """
    drawn, counts = objects.outlines, objects.outlines.counts
    corners = drawn.boxes[:, [[0, 1], [2, 1], [2, 3], [0, 3]]]
    quads = np.flatnonzero(counts == 4)
    corners[quads] = drawn.vertices[drawn.offsets[quads, None] + np.arange(4)]
    others = np.flatnonzero((counts != 0) & (counts != 4))
    owner = np.repeat(np.arange(len(others)), counts[others])
    rings: Any = shapely.linestrings(drawn[others].vertices, indices=owner)
    around: Any = shapely.oriented_envelope(rings)
    has_area = shapely.get_type_id(around) == shapely.GeometryType.POLYGON  # else it keeps its box
    smallest = shapely.get_coordinates(around[has_area]).reshape(-1, 5, 2)[:, :4]
    one, next_one = np.hypot(*np.diff(smallest[:, :3], axis=1).T)
    is_long = (one >= next_one)[:, None, None]
    corners[others[has_area]] = np.where(is_long, smallest, np.roll(smallest, -1, axis=1))
    along = (corners[:, 1] + corners[:, 2] - corners[:, 0] - corners[:, 3]) / 2
    across = (corners[:, 2] + corners[:, 3] - corners[:, 0] - corners[:, 1]) / 2
    size = np.stack([np.hypot(*along.T), np.hypot(*across.T)], axis=1)
    return corners.mean(axis=1), size, np.arctan2(along[:, 1], along[:, 0])
