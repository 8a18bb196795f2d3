"""Which detections belong to which image of the ground truth."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from operator import eq

import numpy as np

from evaltex_cli.errors import SHOWN_FAULTS, FaultLog, Hints, quote
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.files.packed_names import hashes, taken
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
    (images,) integers
        Position in ``det.names``; `NO_DETECTIONS` for an image without.
    """
    if gt.names == det.names:
        return np.arange(len(gt.names), dtype=np.int32)
    paired = _paired_by_hash(gt.names, det.names)
    if paired is None:
        position = {name: k for k, name in enumerate(det.names)}
        paired = np.fromiter((position.pop(name, NO_DETECTIONS) for name in gt.names), np.int64, len(gt.names))
        extra, extras = iter(position), len(position)
    else:
        is_extra = np.ones(len(det.names), dtype=bool)
        is_extra[paired[paired != NO_DETECTIONS]] = False
        extra, extras = taken(det.names, np.flatnonzero(is_extra)), int(is_extra.sum())
    if not extras:
        return paired
    unclaimed = list(taken(gt.names, np.flatnonzero(paired == NO_DETECTIONS)[:10_000]))
    hints = Hints(unclaimed or gt.names[:10_000])
    for name in islice(extra, SHOWN_FAULTS):
        found = f"image {quote(name)}, which the ground truth lacks{hints.nearest(name)}"
        faults.add(det.path, None, found, f"only image names of {gt.path}")
    faults.count += max(extras - SHOWN_FAULTS, 0)
    return paired


def _paired_by_hash(gt: Sequence[str], det: Sequence[str]) -> Ints | None:
    """Pair names in the memory of their hashes, millions of them; None where hashes do not tell all names apart."""
    ours, theirs = hashes(gt, det)
    order = np.argsort(theirs)
    if (np.diff(theirs[order]) == 0).any() or (np.diff(np.sort(ours)) == 0).any():
        return None
    if not len(order):
        return np.full(len(ours), NO_DETECTIONS, np.int64)
    paired = order[np.minimum(np.searchsorted(theirs, ours, sorter=order), len(order) - 1)]
    paired[theirs[paired] != ours] = NO_DETECTIONS
    present = paired != NO_DETECTIONS
    same = map(eq, taken(gt, np.flatnonzero(present)), taken(det, paired[present]))
    return paired if all(same) else None
