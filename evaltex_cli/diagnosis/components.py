"""What hangs together by overlaps, so that a repair may change how all of it is matched."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evaltex_cli.records import ImageBatch, Ints, Overlaps


class Components(NamedTuple):
    """Objects and detections that hang together by overlaps; or by the region that they share with
    others, then all objects of the image.

    Attributes
    ----------
    gt, det : (G,), (D,) int64
        The first object of each one's component; -1 of a detection that overlaps none.
    """

    gt: Ints
    det: Ints

    @classmethod
    def of(cls, batch: ImageBatch, measured: Overlaps) -> Components:
        """Find the components of a batch with these overlaps."""
        image, regions = batch.gt.image, batch.gt.regions
        order = np.lexsort((regions, image))
        again = (np.diff(image[order]) == 0) & (np.diff(regions[order]) == 0)
        has_regions = np.zeros(len(batch.names), dtype=bool)
        has_regions[image[order[1:]][again]] = True
        own = np.arange(batch.gt.count)
        gt = np.where(has_regions[image], batch.gt.offsets[:-1][image], own)
        gt, det = spread(gt, measured.gt, measured.det, batch.det.count)
        return cls(gt, np.where(det < batch.gt.count, det, -1))


def spread(label: Ints, gt: Ints, det: Ints, detections: int) -> tuple[Ints, Ints]:
    """Give all objects and detections that hang together by pairs the lowest label among them.

    Parameters
    ----------
    label : (G,) int64
        Of each, an object that hangs together with it, and is not after it.
    gt, det : (p,) int64
    detections : int

    Returns
    -------
    (G,), (detections,) int64
        Of objects; and of detections, G for one without a pair.
    """
    label = label.copy()
    lowest = np.full(detections, len(label), np.int64)
    while True:
        before = label.copy()
        # The lowest label spreads along pairs, from objects to detections and back, until nothing
        # changes.
        np.minimum.at(lowest, det, label[gt])
        np.minimum.at(label, gt, lowest[det])
        label = label[label]  # a label is an object, too: so long chains take few turns
        if (label == before).all():
            return label, lowest
