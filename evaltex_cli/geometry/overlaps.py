"""Every pair of one image's objects that overlaps, measured once for a batch of images."""

from __future__ import annotations

from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.records import Convention, ImageBatch, Ints, Overlaps

CONTINUOUS = Convention()


def measure(batch: ImageBatch, convention: Convention = CONTINUOUS) -> Overlaps:
    """Measure all overlaps of a batch: pairs with an intersection larger than rounding can make it,
    sorted by (gt, det), whichever images share the batch. Masks are the same by any convention.
    """
    if batch.masks is not None:
        gt_masks, det_masks = batch.masks
        gt, det, area = gt_masks.overlaps(det_masks)
        return Overlaps(gt, det, area, gt_masks.area(), det_masks.area(), gt_masks, det_masks)
    gt_side, det_side = (shapes.from_objects(side, convention) for side in (batch.gt, batch.det))
    return overlaps_between(gt_side, batch.gt.offsets, det_side, batch.det.offsets)


def overlaps_between(gt: Shapes, gt_offsets: Ints, det: Shapes, det_offsets: Ints) -> Overlaps:
    """Measure the overlaps of shapes; image k owns rows ``offsets[k]:offsets[k + 1]``."""
    i, j = touching_boxes(gt.boxes, gt_offsets, det.boxes, det_offsets)
    area = gt.pair_area(i, det, j)
    overlap = area > 0
    return Overlaps(i[overlap], j[overlap], area[overlap], gt.area(), det.area(), gt, det)
