"""Some images of a batch, and their overlaps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evaltex_cli.records import Bools, ImageBatch, Overlaps
from evaltex_cli.records.rows import take_images


def select_images(batch: ImageBatch, which: Bools) -> ImageBatch:
    """Return the batch of some images, boxes and polygons only.

    Parameters
    ----------
    which : (images,) bool
    """
    if which.all():
        return batch
    images = np.flatnonzero(which)
    return replace(
        batch,
        names=[batch.names[k] for k in images.tolist()],
        sizes=batch.sizes[which],
        gt=take_images(batch.gt, images),
        det=take_images(batch.det, images),
        gt_lines=None if batch.gt_lines is None else take_images(batch.gt_lines, images),
        in_detections=None if batch.in_detections is None else batch.in_detections[which],
    )


def select_overlaps(measured: Overlaps, batch: ImageBatch, which: Bools) -> Overlaps:
    """Return the overlaps of a batch that are those of `select_images`."""
    gt, det = which[batch.gt.image], which[batch.det.image]
    pairs = gt[measured.gt]
    return Overlaps(
        # Counting the objects that stay gives each its new index.
        (np.cumsum(gt) - 1)[measured.gt[pairs]],
        (np.cumsum(det) - 1)[measured.det[pairs]],
        measured.area[pairs],
        measured.gt_area[gt],
        measured.det_area[det],
        None if measured.gt_boxes is None else measured.gt_boxes[gt],
        None if measured.det_boxes is None else measured.det_boxes[det],
    )
