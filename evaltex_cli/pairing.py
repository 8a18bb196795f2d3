"""Which detections belong to which image of the ground truth."""

from __future__ import annotations

import numpy as np

from evaltex_cli.errors import FaultLog, nearest, quote
from evaltex_cli.formats.base import Source
from evaltex_cli.records import Ints

NO_DETECTIONS = -1


def pair_images(gt: Source, det: Source, faults: FaultLog) -> Ints:
    """Find each ground-truth image among the detections' images, by name.

    Parameters
    ----------
    gt, det : Source
    faults : FaultLog
        Gets a fault for every image that only the detections name: a typo would otherwise pass for a bad score.

    Returns
    -------
    (images,) int64
        Position in ``det.names``; `NO_DETECTIONS` for an image without.
    """
    position = {name: k for k, name in enumerate(det.names)}
    paired = np.fromiter((position.pop(name, NO_DETECTIONS) for name in gt.names), np.int64, len(gt.names))
    unclaimed = [name for name, at in zip(gt.names, paired.tolist(), strict=True) if at == NO_DETECTIONS]
    for shown, name in enumerate(position):
        hint = nearest(name, unclaimed or gt.names) if shown < 20 else ""
        faults.add(
            det.path, None, f"image {quote(name)}, which the ground truth lacks{hint}", f"only image names of {gt.path}"
        )
    return paired
