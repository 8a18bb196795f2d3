"""Average precision of the protocol iou, by the definitions of three programs, which differ.

``ap_rrc``
    The competition's script (ICDAR 2015, Robust Reading Competition): it pairs the detections of an
    image by falling confidence, whatever the order of the score's pairs is, and ranks all pairs by
    confidence; the mean over the objects that count of the precision at each pair. MLT's script
    does not sort before it pairs.
``ap_file_order``
    CTW1500's script: detections in the order of the files, as its sort by confidence is commented
    out; each takes the object of highest IoU; the area under the interpolated precision (VOC 2010).
``ap_coco``, ``ap_coco_50``, ``ap_coco_75``
    COCO (pycocotools) for one category: each detection, by falling confidence, takes the best free
    object; 101 points of recall; the mean over ten thresholds of IoU, at 0.5 and at 0.75.

A detection without a confidence ranks above all others, as every level keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.evaluation.evaluate import BatchImages
from evaltex_cli.geometry import outlines
from evaltex_cli.protocols.matching import (
    FALSE_POSITIVE,
    IGNORED,
    above,
    are_best,
    at_least,
    first_fit,
)
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.protocols.presets import PRESETS
from evaltex_cli.records import Bools, Floats, ImageBatch, Objects, Overlaps

COCO_THRESHOLDS = np.linspace(0.5, 0.95, 10)
RECALLS = np.linspace(0.0, 1.0, 101)
FILE_ORDER_IOU = 0.5
PASSED_OVER, WRONG, RIGHT = -1, 0, 1

States: TypeAlias = NDArray[np.integer]
"""(D,) `PASSED_OVER`, `WRONG` or `RIGHT` for each detection."""


class Ranked(NamedTuple):
    """Detections in the order of the files, and what each definition makes of them."""

    confidence: Floats
    rrc: States
    in_file_order: States
    coco: States
    """(D, 10) for each of `COCO_THRESHOLDS`."""
    objects: tuple[int, int]
    """How many count for the competition's script, and for the other two."""


def ranked(max_detections: int | None, preset: str | None, images: BatchImages) -> list[Ranked]:
    """Return what the definitions make of a batch's detections; nothing for protocols but iou.

    `max_detections` limits those of an image for COCO to the highest confidences. The preset is
    that whose script's order ``ap_rrc`` pairs in (`Preset.sorts_for_average_precision`).
    """
    if images.run.protocol.name != "iou":
        return []
    batch, pairs = images.batch, images.measured.overlaps()
    confidence = known_confidences(batch.det)
    rrc, counted = _rrc(images, preset)
    coco = _coco(batch, pairs, confidence, max_detections)
    objects = counted, int((~batch.gt.dont_care).sum())
    return [Ranked(confidence, rrc, _in_file_order(batch, pairs), coco, objects)]


def averages(parts: Sequence[Ranked]) -> dict[str, float | None]:
    """Return each average precision; None where no object counts."""
    if not parts:
        return {}
    confidence, rrc, in_file_order, coco = (
        np.concatenate([part[k] for part in parts]) for k in range(4)
    )
    counted, cared = np.sum([part.objects for part in parts], axis=0).tolist()
    order = np.argsort(-confidence, kind="stable")
    by_threshold = [_coco_average(states, cared) for states in coco[order].T] if cared else None
    return {
        "ap_rrc": _mean_precision(rrc[order], counted, False) if counted else None,
        "ap_file_order": _mean_precision(in_file_order, cared, True) if cared else None,
        "ap_coco": float(np.mean(by_threshold)) if by_threshold else None,
        "ap_coco_50": by_threshold[0] if by_threshold else None,
        "ap_coco_75": by_threshold[5] if by_threshold else None,
    }


# Each detection -----------------------------------------------------------------------------------


def known_confidences(objects: Objects) -> Floats:
    """(n,) confidences; infinite for detections without."""
    if objects.confidences is None:
        return np.full(objects.count, np.inf)
    return np.where(np.isnan(objects.confidences), np.inf, objects.confidences)


def _rrc(images: BatchImages, preset: str | None) -> tuple[States, int]:
    """Return which detections are pairs, and how many objects count."""
    evidence, (run, batch) = images.evidence, (images.run, images.batch)
    if preset is None or PRESETS[preset].sorts_for_average_precision:
        det = replace(batch.det, confidences=known_confidences(batch.det))
        parameters = replace(run.parameters, order="confidence")
        evidence = Measured(replace(batch, det=det)).evidence(run.protocol, parameters)
    types = evidence.matches.det.types
    states = np.select([types == IGNORED, types == FALSE_POSITIVE], [PASSED_OVER, WRONG], RIGHT)
    return states, int(evidence.tally.as_dict()["counted_gt_objects"].sum())


def _in_file_order(batch: ImageBatch, pairs: Overlaps) -> States:
    """Return which detections are right for CTW1500's script; its "difficult" is don't care."""
    gt_valid = _is_valid(batch.gt, pairs.gt_area)
    det_valid = _is_valid(batch.det, pairs.det_area)
    usable = pairs.some(gt_valid[pairs.gt] & det_valid[pairs.det])
    best = usable.some(above(usable.iou(), FILE_ORDER_IOU))
    best = best.some(are_best(best.det, best.gt, best.iou()))
    dont_care = batch.gt.dont_care[best.gt]
    states = np.where(det_valid, WRONG, PASSED_OVER).astype(np.int8)
    states[best.det[dont_care]] = PASSED_OVER
    cared = best.some(~dont_care)
    states[cared.det[first_fit(cared.gt, cared.det)]] = RIGHT
    return states


def _is_valid(objects: Objects, area: Floats) -> Bools:
    """(n,) whether shapely calls each shape, as it is drawn, valid."""
    valid = area > 0
    if not objects.outlines.all_boxes:
        valid[outlines.self_crossing(objects.outlines)[0]] = False
    return valid


def _coco(
    batch: ImageBatch, pairs: Overlaps, confidence: Floats, max_detections: int | None
) -> States:
    """Return which detections are right at each threshold."""
    image = batch.det.image
    rank = np.empty(batch.det.count, np.int64)
    rank[np.lexsort((-confidence, image))] = np.arange(len(rank)) - batch.det.offsets[image]
    ranks = np.full(len(rank), True) if max_detections is None else rank < max_detections
    states = np.where(ranks[:, None], WRONG, PASSED_OVER).astype(np.int8)
    states = np.repeat(states, len(COCO_THRESHOLDS), axis=1)

    crowd = batch.gt.dont_care[pairs.gt]
    iou = pairs.iou()
    similarity = np.where(crowd, pairs.precision(), iou)
    usable = ranks[pairs.det] & at_least(similarity, COCO_THRESHOLDS[0])
    on_crowd, on_object = np.flatnonzero(usable & crowd), np.flatnonzero(usable & ~crowd)
    # Detections by image and confidence; of each, the best object, of equals the last.
    gt, det = pairs.gt[on_object], pairs.det[on_object]
    on_object = on_object[np.lexsort((-gt, -iou[on_object].round(9), rank[det], image[det]))]
    for k, threshold in enumerate(COCO_THRESHOLDS):
        fits = on_crowd[at_least(similarity[on_crowd], threshold)]
        states[pairs.det[fits], k] = PASSED_OVER
        fits = on_object[at_least(similarity[on_object], threshold)]
        taken = fits[first_fit(pairs.gt[fits], pairs.det[fits])]
        states[pairs.det[taken], k] = RIGHT
    return states


# Of all detections --------------------------------------------------------------------------------


def _mean_precision(states: States, objects: int, is_interpolated: bool) -> float:
    """Mean over the objects of the precision at each right detection, in the order of the ranks:
    the area under the curve, interpolated as by VOC 2010.
    """
    right, precision = _precision(states, is_interpolated)
    return float(precision[right].sum() / objects)


def _coco_average(states: States, objects: int) -> float:
    """Mean of the interpolated precision at 101 points of recall."""
    right, precision = _precision(states, is_interpolated=True)
    places = np.searchsorted(np.cumsum(right) / objects, RECALLS, side="left")
    return float(precision[places[places < len(precision)]].sum() / len(RECALLS))


def _precision(states: States, is_interpolated: bool) -> tuple[Bools, Floats]:
    """Return which of the detections that count are right, and the precision at each rank, or the
    highest at a rank or after it.
    """
    right = states[states != PASSED_OVER] == RIGHT
    precision = np.cumsum(right) / np.arange(1, len(right) + 1)
    return right, np.maximum.accumulate(precision[::-1])[::-1] if is_interpolated else precision
