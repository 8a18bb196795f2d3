"""Average precision of the protocol iou, by the definitions of three programs, which differ.

``ap_rrc``
    The competition's script (ICDAR 2015, Robust Reading Competition): the pairs of the score,
    ranked by confidence; the mean over the objects that count of the precision at each pair.
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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.evaluation.tally import Run
from evaltex_cli.geometry import outlines, overlaps
from evaltex_cli.protocols.iou import iou as iou_protocol
from evaltex_cli.protocols.level_states import contested
from evaltex_cli.protocols.matches import FALSE_POSITIVE, IGNORED
from evaltex_cli.protocols.ratios import divide, equalised, settled
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Objects, Overlaps

COCO_THRESHOLDS = np.linspace(0.5, 0.95, 10)
RECALLS = np.linspace(0.0, 1.0, 101)
FILE_ORDER_IOU = 0.5
PASSED_OVER, WRONG, RIGHT = -1, 0, 1


class Ranked(NamedTuple):
    """The detections of some images, in the order of the files, and what each definition makes of
    them.
    """

    confidence: Floats
    """(D,) float64. Infinite for a detection without."""
    rrc: NDArray[np.int8]
    in_file_order: NDArray[np.int8]
    """`rrc` and `in_file_order`: (D,) int8. `PASSED_OVER`, `WRONG` or `RIGHT`."""
    coco_right: NDArray[np.uint16]
    coco_ignored: NDArray[np.uint16]
    """`coco_right` and `coco_ignored`: (D,) uint16. Bit t is set if it is so at threshold t."""
    coco_rank: Ints
    """(D,) int64. The place of each detection in its image, by falling confidence."""
    objects: Ints
    """(3,) int64. Objects that count, for each definition."""


def ranked(run: Run, batch: ImageBatch, max_detections: int | None = None) -> Ranked:
    """Return what the definitions make of a batch's detections.

    Parameters
    ----------
    run : Run
        Of the protocol iou; its parameters are those of the pairs of ``ap_rrc`` only.
    max_detections : int, optional
        Of an image, for COCO: those of the highest confidences.
    """
    confidence = np.full(batch.det.count, np.nan)
    if batch.det.confidences is not None:
        confidence = batch.det.confidences
    confidence = np.where(np.isnan(confidence), np.inf, confidence)
    image = batch.det.image
    order = np.lexsort((-confidence, image))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - batch.det.offsets[image]
    rrc, counted = _rrc(run, batch)
    found = _as_drawn(run, batch)
    in_file_order, valid = _in_file_order(batch, found)
    right, ignored = _coco(batch, found, rank, max_detections)
    cared = int((~batch.gt.dont_care).sum())
    objects = np.array([counted, valid, cared], np.int64)
    return Ranked(confidence, rrc, in_file_order, right, ignored, rank, objects)


def averages(parts: Sequence[Ranked], max_detections: int | None = None) -> dict[str, float | None]:
    """Return each average precision; None where no object counts.

    Parameters
    ----------
    parts : sequence of Ranked
        In the order of the images in the ground truth.
    max_detections : int, optional
        As of `ranked`.
    """
    columns = [np.concatenate(column) for column in zip(*(one[:-1] for one in parts), strict=True)]
    confidence, rrc, in_file_order, right, ignored, rank = columns
    objects = np.sum([one.objects for one in parts], axis=0).tolist()
    order = np.argsort(-confidence, kind="stable")
    kept = order if max_detections is None else order[rank[order] < max_detections]
    coco = [
        _coco_average(right[kept] >> t & 1, ignored[kept] >> t & 1, objects[2])
        for t in range(len(COCO_THRESHOLDS))
    ]
    return {
        "ap_rrc": _rrc_average(rrc[order], objects[0]),
        "ap_file_order": _voc_average(in_file_order, objects[1]),
        "ap_coco": float(np.mean(coco)) if objects[2] else None,
        "ap_coco_50": coco[0] if objects[2] else None,
        "ap_coco_75": coco[5] if objects[2] else None,
    }


# Each detection -----------------------------------------------------------------------------------


def _rrc(run: Run, batch: ImageBatch) -> tuple[NDArray[np.int8], int]:
    """Return which detections are pairs of the score, and how many objects count."""
    parameters = run.parameters
    measured = overlaps.of(batch, run.protocol.convention(parameters))
    evidence = run.protocol.evidence(batch, measured, parameters, True)
    assert evidence.matches is not None and isinstance(evidence.tally, iou_protocol.Tally)
    types = evidence.matches.det.types
    state = np.where(types == FALSE_POSITIVE, WRONG, RIGHT)
    state[types == IGNORED] = PASSED_OVER
    return state.astype(np.int8), int(evidence.tally.counted_gt_objects.sum())


def _as_drawn(run: Run, batch: ImageBatch) -> Overlaps:
    """Return the overlaps of shapes as they are; of whole coordinates those of the score, which
    cutting them to integers does not change.
    """
    convention = run.protocol.convention(run.parameters)
    cut = Convention(truncated=True)
    if convention == cut and all(map(_is_whole, (batch.gt, batch.det))):
        return overlaps.of(batch, cut)
    return overlaps.of(batch)


def _is_whole(objects: Objects) -> bool:
    drawn = objects.outlines
    return all(bool((one == np.trunc(one)).all()) for one in (drawn.boxes, drawn.vertices))


def _in_file_order(batch: ImageBatch, found: Overlaps) -> tuple[NDArray[np.int8], int]:
    """Return which detections are right for CTW1500's script, and how many objects count: don't
    care is what the script calls difficult.
    """
    gt_valid, det_valid = (
        _is_valid(objects, area)
        for objects, area in ((batch.gt, found.gt_area), (batch.det, found.det_area))
    )
    pairs = iou_protocol.candidates_of(found, FILE_ORDER_IOU, "best")
    usable = gt_valid[found.gt] & det_valid[found.det] & pairs.fits
    best = iou_protocol.best_candidates(pairs.select(usable))
    dont_care = batch.gt.dont_care[best.gt]
    state = np.where(det_valid, WRONG, PASSED_OVER).astype(np.int8)
    state[best.det[dont_care]] = PASSED_OVER
    cared = best.select(~dont_care)
    state[cared.det[iou_protocol.first_fit(cared.gt, cared.det)]] = RIGHT
    return state, int((~batch.gt.dont_care).sum())


def _is_valid(objects: Objects, area: Floats) -> Bools:
    """(n,) whether shapely calls each shape, as it is drawn, valid."""
    valid = area > 0
    if not objects.outlines.all_boxes:
        valid[outlines.self_crossing(objects.outlines)[0]] = False
    return valid


def _coco(
    batch: ImageBatch, found: Overlaps, rank: Ints, max_detections: int | None
) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Return at which thresholds each detection is right, and at which it is ignored."""
    crowd = batch.gt.dont_care[found.gt]
    similarity = np.where(
        crowd, divide(found.area, found.det_area[found.det]), iou_protocol.iou(found)
    )
    at_least = settled(similarity, COCO_THRESHOLDS, found)
    count = np.searchsorted(COCO_THRESHOLDS, at_least, side="right")
    usable = count > 0
    if max_detections is not None:
        usable &= rank[found.det] < max_detections
    bits = ((1 << count) - 1).astype(np.uint16)
    on_crowd = np.zeros(batch.det.count, np.uint16)
    of_crowd = usable & crowd
    np.bitwise_or.at(on_crowd, found.det[of_crowd], bits[of_crowd])
    pairs = np.flatnonzero(usable & ~crowd)
    gt, det = found.gt[pairs], found.det[pairs]
    right = np.zeros(batch.det.count, np.uint16)
    if len(pairs):
        rivals = contested(gt, det)
        right[det[~rivals]] = bits[pairs[~rivals]]
        disputed = pairs[rivals]
        # Detections by image and confidence; of each, the best object, of equals the last.
        gt, det = gt[rivals], det[rivals]
        similarity = equalised(similarity[disputed], det, found, disputed)
        order = np.lexsort((-gt, -similarity, rank[det], batch.det.image[det]))
        _take_free(right, gt[order], det[order], bits[disputed][order])
    return right, on_crowd & ~right


def _take_free(right: NDArray[np.uint16], gt: Ints, det: Ints, bits: NDArray[np.uint16]) -> None:
    """Give each detection, in order, the first of its objects that is free, at each threshold."""
    taken: dict[int, int] = {}
    done: dict[int, int] = {}
    for i, j, fits in zip(gt.tolist(), det.tolist(), bits.tolist(), strict=True):
        new = fits & ~taken.get(i, 0) & ~done.get(j, 0)
        if new:
            taken[i] = taken.get(i, 0) | new
            done[j] = done.get(j, 0) | new
    for j, found in done.items():
        right[j] = found


# Of all detections --------------------------------------------------------------------------------


def _rrc_average(state: NDArray[np.int8], objects: int) -> float | None:
    """Mean over the objects of the precision at each pair, in the order of the ranks."""
    if not objects:
        return None
    state = state[state != PASSED_OVER]
    right = np.flatnonzero(state == RIGHT)
    return float(np.sum(np.arange(1, len(right) + 1) / (right + 1)) / objects)


def _voc_average(state: NDArray[np.int8], objects: int) -> float | None:
    """Area under the interpolated precision (VOC 2010), detections in the given order."""
    if not objects:
        return None
    state = state[state != PASSED_OVER]
    right = np.cumsum(state == RIGHT)
    precision = right / np.arange(1, len(state) + 1)
    recall = np.concatenate([[0.0], right / objects, [1.0]])
    envelope = _envelope(np.concatenate([[0.0], precision, [0.0]]))
    steps = np.flatnonzero(np.diff(recall))
    return float(np.sum((recall[steps + 1] - recall[steps]) * envelope[steps + 1]))


def _coco_average(right: NDArray[Any], ignored: NDArray[Any], objects: int) -> float:
    """Mean of the interpolated precision at 101 points of recall."""
    if not objects:
        return 0.0
    tp = np.cumsum(right).astype(np.float64)
    fp = np.cumsum((right == 0) & (ignored == 0)).astype(np.float64)
    precision = _envelope(tp / (fp + tp + np.spacing(1)))
    places = np.searchsorted(tp / objects, RECALLS, side="left")
    reached = places[places < len(precision)]
    return float(precision[reached].sum() / len(RECALLS))


def _envelope(precision: Floats) -> Floats:
    """(n,) the highest precision at each place or after it."""
    return np.asarray(np.maximum.accumulate(precision[::-1])[::-1])
