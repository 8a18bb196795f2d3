"""First-fit pairing by IoU, which `iou`, `iou-crw` and `tiou` share (Karatzas et al., ICDAR 2015, its programs).

Objects are taken in the order of the file; each takes the first detection, in the order of the file or by falling
confidence (`detection_order`), that is still free and whose IoU with it exceeds the threshold: not the best one. So the
order within an image may change the score, the order of images never does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli import geometry
from evaltex_cli.geometry import outlines
from evaltex_cli.protocols.base import Remark, remark
from evaltex_cli.protocols.detection_order import order_field
from evaltex_cli.protocols.ratios import divide, ignored_detections, settled
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Objects, Overlaps


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of first-fit pairing, with the defaults of the ICDAR 2015 program."""

    iou: float = field(default=0.5, metadata={"help": "a pair has an IoU above this", "min": 0.0, "max": 1.0})
    dont_care_overlap: float = field(
        default=0.5,
        metadata={"help": "a detection with more than this share in don't care is ignored", "min": 0.0, "max": 1.0},
    )
    truncate: bool = field(default=True, metadata={"help": "coordinates are cut to integers, towards 0"})
    self_crossing: str = field(
        default="ignored",
        metadata={
            "help": "objects whose polygon crosses itself, which the programs refuse: left out (ignored), or counted",
            "choices": ("ignored", "counted"),
        },
    )
    order: str = order_field()


def convention(parameters: Parameters) -> Convention:
    """Boxes and polygons as they are, their coordinates cut to integers unless the user wants them otherwise."""
    return Convention(truncated=parameters.truncate)


def counting(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> tuple[Bools, Bools, tuple[Remark, ...]]:
    """Find which objects and detections count.

    Returns
    -------
    gt_counts, det_counts : (G,), (D,) bool
        Objects that are not don't care, nor left out; detections that are not in don't care.
    warnings : tuple of Remark
        Where objects are left out.
    """
    gt_counts = ~batch.gt.dont_care
    det_counts = ~ignored_detections(batch, overlaps, parameters.dont_care_overlap)
    if parameters.self_crossing == "counted" or batch.has_masks:
        return gt_counts, det_counts, ()
    left_out = gt_counts & _crosses_itself(batch.gt)
    text = (
        "{count} object[s] left out because [its polygon crosses itself|their polygons cross themselves] ({images});"
        " repair [it|them] or set self_crossing=counted"
    )
    return gt_counts & ~left_out, det_counts, remark(text, batch, left_out)


def _crosses_itself(objects: Objects) -> Bools:
    """(n,) bool: polygons that are not valid as they are drawn, less those without area, which nothing can repair."""
    result = np.zeros(objects.count, dtype=bool)
    if objects.outlines.all_boxes:
        return result
    crossing, _ = geometry.polygons.self_crossing(objects.outlines)
    result[crossing] = geometry.polygons.area(outlines.polygons(objects.outlines)[crossing]) > 0
    return result


def pair(overlaps: Overlaps, similarity: Floats, gt_free: Bools, det_free: Bools, parameters: Parameters) -> Ints:
    """Pair objects and detections first-fit.

    Parameters
    ----------
    overlaps : Overlaps
    similarity : (p,) float64
        IoU of every overlap.
    gt_free, det_free : (G,), (D,) bool
        Objects and detections that may be paired.

    Returns
    -------
    (m,) int64
        Indices of the overlaps that are pairs, in ascending order.
    """
    free = gt_free[overlaps.gt] & det_free[overlaps.det]
    candidates = np.flatnonzero(free & (settled(similarity, parameters.iou, overlaps) > parameters.iou))
    return candidates[first_fit(overlaps.gt[candidates], overlaps.det[candidates])]


def iou(overlaps: Overlaps) -> Floats:
    """(p,) intersection over union of every overlapping pair."""
    union = overlaps.gt_area[overlaps.gt] + overlaps.det_area[overlaps.det] - overlaps.area
    return divide(overlaps.area, union)


def first_fit(gt: Ints, det: Ints) -> Bools:
    """Pair each object, in order, with its first candidate that is still free.

    Parameters
    ----------
    gt, det : (p,) int64
        Candidate pairs in the order in which they are tried.

    Returns
    -------
    (p,) bool
        The chosen pairs; no object and no detection is in two.
    """
    contested = (np.bincount(gt)[gt] > 1) | (np.bincount(det)[det] > 1)
    chosen = ~contested
    paired_gt, paired_det = set(), set()
    disputes = np.flatnonzero(contested)
    for k, i, j in zip(disputes.tolist(), gt[disputes].tolist(), det[disputes].tolist(), strict=True):
        if i not in paired_gt and j not in paired_det:
            paired_gt.add(i)
            paired_det.add(j)
            chosen[k] = True
    return chosen


def spread(values: Mapping[str, NDArray[Any]], index: Ints, count: int) -> dict[str, NDArray[Any]]:
    """Per-object columns (count,) from values (m,) of the objects at these indices; 0 elsewhere."""
    result: dict[str, NDArray[Any]] = {}
    for name, column in values.items():
        result[name] = np.zeros(count)
        result[name][index] = column
    return result
