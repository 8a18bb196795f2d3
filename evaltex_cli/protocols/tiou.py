"""TIoU (Liu, Jin, Xie, Luo, Zhang, Xie, CVPR 2019): IoU pairs, discounted for cut and for foreign
text.

Task: text localisation by boxes, polygons or labelled masks. Pairs are those of `iou`. A pair is
worth its IoU, towards recall times f(share of the object that the detection cuts off), towards
precision times f(share of the detection with text of other objects, don't care included); f(x) = 1
- x, but 1 up to a tolerance of 0.01, which is not in the paper.

With a ground truth of lines a detection may also be of a line. Lines go first. A detection of a
line finds those of its words that it covers by more than half. Scores are those of the authors'
program for "word and text-line", faults included (`tiou_lines`).

Empty cases: as in `iou`.

Examples
--------
The detection covers 60 % of a word and nothing else. Towards recall its IoU counts 0.6 times,
because 40 % of the word are cut off; towards precision it counts in full:

>>> from evaltex_cli import Accumulator
>>> accumulator = Accumulator("tiou")
>>> accumulator.update([[0, 0, 100, 20]], [[0, 0, 60, 20]])
>>> scores = accumulator.compute().scores
>>> round(scores["recall"], 9), round(scores["precision"], 9)
(0.36, 0.6)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaltex_cli.geometry import shapes
from evaltex_cli.protocols import iou as iou_protocol
from evaltex_cli.protocols.base import Evidence, Protocol, Scores, parameter
from evaltex_cli.protocols.iou import convention, counting, pair
from evaltex_cli.protocols.matching import (
    FALSE_POSITIVE,
    ONE_TO_ONE,
    TIE,
    matches,
    mean_of,
    object_counts,
    per_image,
    scatter,
)
from evaltex_cli.protocols.scores import image_scores_by, scores_of
from evaltex_cli.protocols.tally import Count, ObjectTally, Sum, at_most, require
from evaltex_cli.protocols.tiou_lines import Lines, match_lines, no_lines
from evaltex_cli.records import Floats, ImageBatch, Ints, Overlaps


@dataclass(frozen=True, slots=True)
class Parameters(iou_protocol.Parameters):
    """Parameters of TIoU, with the program's defaults."""

    tolerance: float = parameter(
        0.01, "a share of cut or of foreign text up to this costs nothing", min=0.0, max=1.0
    )
    lines: str = parameter(
        "none",
        "what may be detected as a line: those of --lines (file), or none",
        choices=("none", "file"),
    )


@dataclass(frozen=True, eq=False)
class Tally(ObjectTally):
    """Evidence of TIoU: pairs of objects, detected lines, and their credits with discounts and
    without.

    `line_words` is how often a word was found in a line, where don't-care words, and words of
    several lines, have credit as in the authors' program.
    """

    one_to_one: Count
    lines: Count
    siou_recall_credit: Sum
    siou_precision_credit: Sum
    tiou_recall_credit: Sum
    tiou_precision_credit: Sum
    line_words: Count | None = None

    def check(self) -> None:
        super().check()
        matched = self.one_to_one + self.lines
        with_lines = self.counted_gt_objects + (0 if self.line_words is None else self.line_words)
        require(self.one_to_one <= self.counted_gt_objects, "more pairs than objects")
        require(matched <= self.counted_detections, "more matches than detections")
        for part, whole, rule in (
            (self.siou_recall_credit, with_lines, "more recall than objects"),
            (self.siou_precision_credit, matched, "more precision than matches"),
            (self.tiou_recall_credit, self.siou_recall_credit, "a discount raises recall"),
            (self.tiou_precision_credit, self.siou_precision_credit, "a discount raises precision"),
        ):
            require(at_most(part, whole), rule)


def evidence(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Evidence:
    """Match a batch and sum what its images contribute.

    Raises
    ------
    InputError
        With ``lines=file``, for label pictures, and without a ground truth of lines.
    """
    gt_counts, det_counts, warnings = counting(batch, overlaps, parameters)
    lines = no_lines(overlaps)
    if parameters.lines == "file":
        lines = match_lines(batch, overlaps, det_counts, parameters)
        det_counts &= ~lines.surplus
    gt_free, det_free = gt_counts.copy(), det_counts.copy()
    gt_free[overlaps.gt[lines.words]] = False
    det_free[lines.det] = False
    iou = overlaps.iou()
    is_free = gt_free[overlaps.gt] & det_free[overlaps.det]
    pairs = pair(overlaps.gt, overlaps.det, iou, is_free, parameters.iou)

    # Recall: the IoU, times f(Ct / |G|) with Ct = |G| - |G n D|, what the detection cuts off.
    found = np.concatenate([lines.words, pairs])
    gt, found_by = overlaps.gt[found], overlaps.det[found]
    siou_recall = np.concatenate([lines.credit, iou[pairs]])
    tiou_recall = siou_recall * _discount(1.0 - overlaps.recall()[found], parameters)

    # Precision: the IoU, times f(Ot / |D|) with Ot, the area of foreign text in the detection.
    det = np.concatenate([lines.det, overlaps.det[pairs]])
    own = np.concatenate([lines.area, overlaps.area[pairs]])
    siou_precision = np.concatenate([lines.iou, iou[pairs]])
    foreign = _foreign(overlaps, lines, det, own) / overlaps.det_area[det]
    tiou_precision = siou_precision * _discount(foreign, parameters)

    images, gt_image, det_image = len(batch.names), batch.gt.image, batch.det.image
    line_words = np.bincount(gt_image[overlaps.gt[lines.words]], minlength=images)
    tally = Tally(
        *object_counts(batch, gt_counts, det_counts),
        one_to_one=np.bincount(gt_image[overlaps.gt[pairs]], minlength=images),
        lines=np.bincount(det_image[lines.det], minlength=images),
        siou_recall_credit=per_image(siou_recall, gt_image[gt], images),
        siou_precision_credit=per_image(siou_precision, det_image[det], images),
        tiou_recall_credit=per_image(tiou_recall, gt_image[gt], images),
        tiou_precision_credit=per_image(tiou_precision, det_image[det], images),
        line_words=line_words if parameters.lines == "file" else None,
    )
    gt_values = {"siou_recall": siou_recall, "tiou_recall": tiou_recall}
    det_values = {"siou_precision": siou_precision, "tiou_precision": tiou_precision}
    matched = matches(
        *(gt, found_by, gt_counts, det_counts),
        {name: scatter(column, gt, batch.gt.count) for name, column in gt_values.items()},
        {name: scatter(column, det, batch.det.count) for name, column in det_values.items()},
    )
    without_words = lines.det[matched.det.types[lines.det] == FALSE_POSITIVE]
    matched.det.types[without_words] = ONE_TO_ONE
    return Evidence(tally, matched, warnings)


def _discount(share: Floats, parameters: Parameters) -> Floats:
    """f: what remains of a credit."""
    return np.where(share <= parameters.tolerance + TIE, 1.0, 1.0 - share)


def _foreign(overlaps: Overlaps, lines: Lines, det: Ints, own: Floats) -> Floats:
    """Return Ot, the area of foreign text in each matched detection.

    Parameters
    ----------
    overlaps : Overlaps
    lines : Lines
    det : (m,) int64
        The matched detections, each once.
    own : (m,) float64
        The area that each shares with the object or line that it is matched with.

    Returns
    -------
    (m,) float64
        With the other objects G_k, don't care included, Area(D n U G_k) - Area(D n G n U G_k),
        which is Area(D n (G u U G_k)) - Area(D n G): the area of all text, less that of its own.
    """
    count = len(overlaps.det_area)
    texts, dets = overlaps.gt_shapes, overlaps.det_shapes
    text, text_det = overlaps.gt[~lines.same_number], overlaps.det[~lines.same_number]
    if len(lines.det):
        texts = shapes.concatenate(texts, lines.shapes)
        of_line = len(overlaps.gt_area) + np.arange(len(lines.det))
        text, text_det = np.concatenate([text, of_line]), np.concatenate([text_det, lines.det])
    # Most detections have their own text only, and need no union.
    has_others = np.bincount(text_det, minlength=count) > 1
    is_asked = (has_others & (np.bincount(det, minlength=count) > 0))[text_det]
    text, text_det = text[is_asked], text_det[is_asked]
    every = texts.union_area(text_det, count, text, dets, text_det)[det]
    return np.where(has_others[det], np.maximum(every - own, 0.0), 0.0)


# Scores -------------------------------------------------------------------------------------------


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """TIoU's scores, IoU's of the same matches, and SIoU's, which have no discounts."""
    matched = tally.one_to_one + tally.lines
    by_prefix = {
        "": scores_of(tally, tally.tiou_recall_credit, tally.tiou_precision_credit),
        "iou_": scores_of(tally, matched, matched),
        "siou_": scores_of(tally, tally.siou_recall_credit, tally.siou_precision_credit),
    }
    return {
        prefix + name: value for prefix, group in by_prefix.items() for name, value in group.items()
    }


PROTOCOL = Protocol(
    name="tiou",
    title="TIoU: tightness-aware IoU",
    version=1,
    parameters=Parameters,
    tally=Tally,
    evidence=evidence,
    scores=scores,
    convention=convention,
    image_scores=image_scores_by(scores),
    object_credit=mean_of("tiou_recall"),
)
