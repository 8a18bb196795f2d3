"""Every pair of one image's objects that overlaps, measured once for a batch of images."""

from __future__ import annotations

from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.records import Convention, ImageBatch, Overlaps

CONTINUOUS = Convention()


def measure(batch: ImageBatch, convention: Convention = CONTINUOUS) -> Overlaps:
    """Measure all overlaps of a batch.

    Parameters
    ----------
    batch : ImageBatch
    convention : Convention
        How boxes and polygons are taken; masks are what they are.

    Returns
    -------
    Overlaps
        Pairs with an intersection larger than rounding can make it, sorted by (gt, det). They do
        not depend on which images share the batch.
    """
    if batch.masks is not None:
        gt_masks, det_masks = batch.masks
        gt, det, area = gt_masks.overlaps(det_masks)
        return Overlaps(gt, det, area, gt_masks.area(), det_masks.area(), gt_masks, det_masks)
    gt_side, det_side = (shapes.from_objects(side, convention) for side in (batch.gt, batch.det))
    gt, det = touching_boxes(gt_side.boxes, batch.gt.offsets, det_side.boxes, batch.det.offsets)
    area = gt_side.pair_area(gt, det_side, det)
    overlap = area > 0
    areas = gt_side.area(), det_side.area()
    return Overlaps(gt[overlap], det[overlap], area[overlap], *areas, gt_side, det_side)
