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
from evaltex_cli.protocols.base import (
    Evidence,
    Protocol,
    Scores,
    object_counts,
    parameter,
    per_image,
)
from evaltex_cli.protocols.detection_order import in_order
from evaltex_cli.protocols.iou import iou as iou_protocol
from evaltex_cli.protocols.iou.iou import convention, counting, iou, pair
from evaltex_cli.protocols.iou.tiou_lines import Lines, is_in, lines_of, needs, shapes_of
from evaltex_cli.protocols.matches import FALSE_POSITIVE, ONE_TO_ONE, matches, mean_of, scatter
from evaltex_cli.protocols.object_tally import ObjectTally
from evaltex_cli.protocols.ratios import SLACK, divide, image_scores_by, scores_of
from evaltex_cli.protocols.tally import Count, Sum, at_most, require
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
        line_words = 0 if self.line_words is None else self.line_words
        require(self.one_to_one <= self.counted_gt_objects, "more pairs than objects")
        require(
            self.one_to_one + self.lines <= self.counted_detections, "more matches than detections"
        )
        require(
            at_most(self.siou_recall_credit, self.counted_gt_objects + line_words),
            "more recall than objects",
        )
        require(
            at_most(self.siou_precision_credit, self.one_to_one + self.lines),
            "more precision than matches",
        )
        require(
            at_most(self.tiou_recall_credit, self.siou_recall_credit), "a discount raises recall"
        )
        require(
            at_most(self.tiou_precision_credit, self.siou_precision_credit),
            "a discount raises precision",
        )


@in_order
def evidence(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool
) -> Evidence:
    """Match a batch and sum what its images contribute.

    Raises
    ------
    InputError
        For lines of label pictures, and for ``lines=file`` without a ground truth of lines.
    """
    gt_counts, det_counts, warnings = counting(batch, overlaps, parameters)
    similarity = iou(overlaps)
    lines = lines_of(batch, overlaps, det_counts, parameters)
    det_counts &= ~lines.surplus
    gt_free = gt_counts & ~is_in(overlaps.gt[lines.words], batch.gt.count)
    det_free = det_counts & ~is_in(lines.det, batch.det.count)
    pairs = pair(overlaps, similarity, gt_free, det_free, parameters)

    found = np.concatenate([lines.words, pairs])
    gt, found_by = overlaps.gt[found], overlaps.det[found]
    share, gt_area = divide(overlaps.area, overlaps.gt_area[overlaps.gt]), overlaps.gt_area[gt]
    siou_recall = np.concatenate(
        [np.where(lines.alone, similarity[lines.words], share[lines.words]), similarity[pairs]]
    )
    tiou_recall = siou_recall * _discount(
        divide(gt_area - overlaps.area[found], gt_area), parameters
    )

    det = np.concatenate([lines.det, overlaps.det[pairs]])
    siou_precision = np.concatenate([lines.similarity, similarity[pairs]])
    foreign = _foreign(
        batch, overlaps, lines, det, np.concatenate([lines.area, overlaps.area[pairs]]), parameters
    )
    tiou_precision = siou_precision * _discount(divide(foreign, overlaps.det_area[det]), parameters)

    images, gt_image, det_image = len(batch.names), batch.gt.image, batch.det.image
    tally = Tally(
        *object_counts(batch, gt_counts, det_counts),
        one_to_one=np.bincount(gt_image[overlaps.gt[pairs]], minlength=images),
        lines=np.bincount(det_image[lines.det], minlength=images),
        siou_recall_credit=per_image(siou_recall, gt_image[gt], images),
        siou_precision_credit=per_image(siou_precision, det_image[det], images),
        tiou_recall_credit=per_image(tiou_recall, gt_image[gt], images),
        tiou_precision_credit=per_image(tiou_precision, det_image[det], images),
        line_words=None
        if parameters.lines == "none"
        else np.bincount(gt_image[overlaps.gt[lines.words]], minlength=images),
    )
    if not with_matches:
        return Evidence(tally, warnings=warnings)
    gt_values = scatter(
        {"siou_recall": siou_recall, "tiou_recall": tiou_recall}, gt, batch.gt.count
    )
    det_values = scatter(
        {"siou_precision": siou_precision, "tiou_precision": tiou_precision}, det, batch.det.count
    )
    matched = matches(gt, found_by, gt_counts, det_counts, gt_values, det_values)
    matched.det.types[lines.det[matched.det.types[lines.det] == FALSE_POSITIVE]] = (
        ONE_TO_ONE  # a line without words
    )
    return Evidence(tally, matched, warnings)


def _discount(share: Floats, parameters: Parameters) -> Floats:
    """f: what remains of a credit."""
    return np.where(share <= parameters.tolerance + SLACK, 1.0, 1.0 - share)


def _foreign(
    batch: ImageBatch,
    overlaps: Overlaps,
    lines: Lines,
    det: Ints,
    own: Floats,
    parameters: Parameters,
) -> Floats:
    """Area of all text in a detection, less that of its own match.

    Parameters
    ----------
    det : (m,) int64
        Matched detections, each once.
    own : (m,) float64
        Area that each shares with what it is matched with.

    Returns
    -------
    (m,) float64
        With D the detection, G its match, G_k the other objects: Area(D n U G_k) - Area(D n G n U
        G_k), which is Area(D n (G u U G_k)) - Area(D n G).
    """
    text, text_det = overlaps.gt[lines.foreign], overlaps.det[lines.foreign]
    measure, texts, dets = shapes_of(batch, parameters)
    if len(lines.line):
        texts = shapes.concatenate(texts, lines.shapes)
        text = np.concatenate([text, batch.gt.count + lines.line])
        text_det = np.concatenate([text_det, lines.det])
    # A detection with a single text has none but its own: only the others are measured.
    several = np.bincount(text_det, minlength=batch.det.count) > 1
    crowded = (several & is_in(det, batch.det.count))[text_det]
    text, text_det = text[crowded], text_det[crowded]
    covered = measure.union_area(
        text_det, shapes.Pairs(texts, text, dets, text_det), batch.det.count
    )
    return np.where(several[det], np.maximum(covered[det] - own, 0.0), 0.0)


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
    needs=needs,
    object_credit=mean_of("tiou_recall"),
)
