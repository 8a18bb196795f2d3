"""Some images of a batch, before or after a repair, and their overlaps."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evaltex_cli.geometry import overlaps
from evaltex_cli.records import (
    Bools,
    Convention,
    Floats,
    ImageBatch,
    Ints,
    Objects,
    Overlaps,
    offsets_of,
)
from evaltex_cli.records.rows import take


class Repaired(NamedTuple):
    """A batch after a repair."""

    batch: ImageBatch
    """All its images, or only those that changed (`of_changed_images`). Don't-care objects, and
    detections without a mistake of the repaired kinds, are untouched."""
    changed: Bools
    """(images,) bool. Images whose detections changed."""
    rows: Ints
    """(detections,) int64. Which detection of the batch before each was; of one that the repair
    made, a number beyond these."""

    def of_changed_images(self) -> Repaired:
        """Return only the images that changed."""
        rows = self.rows[self.changed[self.batch.det.image]]
        return Repaired(select_images(self.batch, self.changed), self.changed, rows)


def overlaps_after(before: ImageBatch, repair: Repaired, convention: Convention) -> Overlaps:
    """Return the overlaps of repaired images; only those of detections that the repair made are
    measured.

    Parameters
    ----------
    before : ImageBatch
        The batch that was repaired.
    repair : Repaired
        Only its changed images.
    """
    old, corrected = overlaps.of(before, convention), repair.batch
    is_made = repair.rows >= before.det.count
    stays = np.flatnonzero(~is_made)
    made = overlaps.measure(replace(corrected, det=take(corrected.det, is_made)), convention)
    # Where each object and detection is after the repair; -1 for a detection that is gone.
    of_gt = np.cumsum(repair.changed[before.gt.image]) - 1
    of_det = np.full(before.det.count, -1)
    of_det[repair.rows[stays]] = stays
    pairs = of_det[old.det] >= 0
    gt = np.concatenate([of_gt[old.gt[pairs]], made.gt])
    det = np.concatenate([of_det[old.det[pairs]], np.flatnonzero(is_made)[made.det]])
    order = np.lexsort((det, gt))
    det_boxes = None
    if old.det_boxes is not None and made.det_boxes is not None:
        det_boxes = _filled(repair.rows, is_made, old.det_boxes, made.det_boxes)
    return Overlaps(
        gt[order],
        det[order],
        np.concatenate([old.area[pairs], made.area])[order],
        made.gt_area,
        _filled(repair.rows, is_made, old.det_area, made.det_area),
        made.gt_boxes,
        det_boxes,
    )


def _filled(rows: Ints, is_made: Bools, old: Floats, made: Floats) -> Floats:
    result = np.empty((len(rows), *old.shape[1:]))
    result[~is_made], result[is_made] = old[rows[~is_made]], made
    return result


def select_images(batch: ImageBatch, which: Bools) -> ImageBatch:
    """Return the batch of some images, boxes and polygons only.

    Parameters
    ----------
    which : (images,) bool
    """
    if which.all():
        return batch
    return replace(
        batch,
        names=[batch.names[k] for k in np.flatnonzero(which).tolist()],
        sizes=batch.sizes[which],
        gt=_of_images(batch.gt, which),
        det=_of_images(batch.det, which),
        gt_lines=None if batch.gt_lines is None else _of_images(batch.gt_lines, which),
        in_detections=None if batch.in_detections is None else batch.in_detections[which],
    )


def _of_images(objects: Objects, which: Bools) -> Objects:
    return take(objects, which[objects.image], offsets_of(np.diff(objects.offsets)[which]))


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
