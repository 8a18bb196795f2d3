"""Some images of a batch, before or after a repair, and their overlaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evaltex_cli.geometry import overlaps, shapes
from evaltex_cli.records import (
    Bools,
    Convention,
    Floats,
    ImageBatch,
    Ints,
    Overlaps,
    offsets_of,
    stretches,
)
from evaltex_cli.records.rows import take, take_images


class Repaired(NamedTuple):
    """The images that some repairs change, after them: an image once for each that changes it."""

    batch: ImageBatch
    """Don't-care objects, and detections without a mistake of the repaired kinds, are
    untouched."""
    parts: Mapping[str, slice]
    """Repair -> its images."""
    image: Ints
    """(images,) int64. Which image of the batch before each was; sorted in each part."""
    rows: Ints
    """(detections,) int64. Which detection of the batch before each was; of one that a repair
    made, a number beyond these."""


def overlaps_after(before: ImageBatch, repair: Repaired, convention: Convention) -> Overlaps:
    """Return the overlaps of repaired images; only those of detections that the repairs made are
    measured.

    Parameters
    ----------
    before : ImageBatch
        The batch that was repaired.
    repair : Repaired
    """
    old, corrected, image = overlaps.of(before, convention), repair.batch, repair.image
    is_made = repair.rows >= before.det.count
    made = _measured(before, repair, is_made, convention)
    # Every image's pairs before, as often as it is repaired.
    bounds = offsets_of(np.bincount(before.gt.image[old.gt], minlength=len(before.names)))
    counts = np.diff(bounds)[image]
    pair, state = stretches(bounds[image], counts), np.repeat(np.arange(len(image)), counts)
    # Where each image's first detection would be if no repair took any, and where each is in fact;
    # -1 for one that is gone.
    moved = offsets_of(np.diff(before.det.offsets)[image])
    shift = moved[:-1] - before.det.offsets[image]
    stays = np.flatnonzero(~is_made)
    now = np.full(moved[-1], -1)
    now[repair.rows[stays] + shift[corrected.det.image[stays]]] = stays
    of_det = now[old.det[pair] + shift[state]]
    remains = of_det >= 0
    pair, state, of_det = pair[remains], state[remains], of_det[remains]
    of_gt = old.gt[pair] + (corrected.gt.offsets[:-1] - before.gt.offsets[image])[state]
    gt = np.concatenate([of_gt, made.gt])
    det = np.concatenate([of_det, np.flatnonzero(is_made)[made.det]])
    order = np.lexsort((det, gt))
    det_boxes = None
    if old.det_boxes is not None and made.det_boxes is not None:
        det_boxes = _filled(repair.rows, is_made, old.det_boxes, made.det_boxes)
    return Overlaps(
        gt[order],
        det[order],
        np.concatenate([old.area[pair], made.area])[order],
        made.gt_area,
        _filled(repair.rows, is_made, old.det_area, made.det_area),
        made.gt_boxes,
        det_boxes,
    )


def _measured(
    before: ImageBatch, repair: Repaired, is_made: Bools, convention: Convention
) -> Overlaps:
    """Measure the detections that repairs made; all other shapes are those of the batch before."""
    corrected = repair.batch
    only_made = replace(corrected, det=take(corrected.det, is_made))
    gt, det = overlaps.shapes_of(before, convention)
    counts = np.diff(before.gt.offsets)[repair.image]
    gt = shapes.taken(gt, stretches(before.gt.offsets[repair.image], counts))
    made = shapes.from_objects(only_made.det, convention)
    rows = repair.rows.copy()
    rows[is_made] = before.det.count + np.arange(only_made.det.count)
    corrected.shapes[convention] = gt, shapes.taken(shapes.concatenate(det, made), rows)
    only_made.shapes[convention] = gt, made
    return overlaps.measure(only_made, convention)


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
