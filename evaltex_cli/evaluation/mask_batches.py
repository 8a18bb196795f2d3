"""Batches whose objects are labelled pixels, of pictures in memory or in folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evaltex_cli.errors import FaultLog
from evaltex_cli.formats.options import MaskFolders
from evaltex_cli.geometry.picture_runs import PictureRuns, join, object_of
from evaltex_cli.records import Bools, ImageBatch, LabelRuns, Objects


def with_pictures(
    batch: ImageBatch, gt: Sequence[PictureRuns | None], det: Sequence[PictureRuns | None]
) -> ImageBatch:
    """Return a batch whose objects are the labelled pixels of pictures in
    memory, one per image that has objects.
    """
    shapes = np.zeros((len(batch.names), 2), np.int64)
    for pictures in (gt, det):
        for k, picture in enumerate(pictures):
            if picture is not None:
                shapes[k] = np.maximum(shapes[k], picture.shape)

    def joined(pictures: Sequence[PictureRuns | None], objects: Objects) -> LabelRuns:
        owned = [
            None if runs is None else (runs, object_of(runs.label, objects.ids[start:stop]) + start)
            for runs, start, stop in zip(
                pictures, objects.offsets[:-1], objects.offsets[1:], strict=bool(pictures)
            )
        ]
        return join(owned or [None] * len(batch.names), shapes, objects.count)

    return replace(batch, gt_runs=joined(gt, batch.gt), det_runs=joined(det, batch.det))


def with_masks(
    batch: ImageBatch,
    masks: MaskFolders,
    present: Bools,
    faults: FaultLog,
) -> ImageBatch:
    """Return a batch whose objects are the labelled pixels of the pictures in two folders; those of
    the detections are only of the images that are `present` there.
    """
    from evaltex_cli.formats.masks import PictureFolder, read_runs

    for k in np.flatnonzero((batch.sizes <= 0).any(axis=1)).tolist():
        found = f"image {batch.names[k]} without height and width in the ground truth"
        faults.add(
            str(masks.gt),
            None,
            found,
            "a ground truth that states them, as EvaLTex files do, with label pictures",
        )
    everywhere = np.ones(len(batch.names), dtype=bool)
    folders = (
        PictureFolder(folder, masks.base, masks.max_pixels) for folder in (masks.gt, masks.det)
    )
    sides = zip(folders, (batch.gt, batch.det), (everywhere, present), strict=True)
    gt_runs, det_runs = (
        read_runs(folder, batch.names, side, batch.sizes, has_picture, faults)
        for folder, side, has_picture in sides
    )
    return replace(batch, gt_runs=gt_runs, det_runs=det_runs)
