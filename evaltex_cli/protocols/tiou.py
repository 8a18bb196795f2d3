"""TIoU (Liu, Jin, Xie, Luo, Zhang, Xie, CVPR 2019): IoU pairs, discounted for cut and for foreign
text.

Task: text localisation by boxes, polygons or labelled masks. Pairs are those of `iou`. A pair is
worth its IoU, towards recall times f(share of the object that the detection cuts off), towards
precision times f(share of the detection with text of other objects, don't care included); f(x) = 1
- x, but 1 up to a tolerance of 0.01, which is not in the paper.

With a ground truth of lines a detection may also be of a line. Lines go first. A detection of a
line finds those of its words that it covers by more than half. Scores are those of the authors'
program for "word and text-line", faults included: a line needs no word that is found; don't-care
words and words of several lines give credit each time; the word of a line that has no other gets
its IoU, not its share that is covered; and a line leaves the word of its own number out of the
foreign text.

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
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import InputError
from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.overlaps import overlaps_between
from evaltex_cli.protocols import iou as iou_protocol
from evaltex_cli.protocols import matching
from evaltex_cli.protocols.base import Evidence, Protocol, Scores, parameter
from evaltex_cli.protocols.iou import convention, counting, pair
from evaltex_cli.protocols.matching import TIE, above, at_least, per_image, scatter
from evaltex_cli.protocols.scores import image_scores_by, scores_of
from evaltex_cli.protocols.tally import Count, ObjectTally, Sum
from evaltex_cli.records import Bools, Floats, ImageBatch, Ints, Overlaps, take

HALF = 0.5
"""A word belongs to the lines that cover this share of it or more, and the detection of a line
finds those of its words of which it covers more."""


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


def evidence(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Evidence:
    """Match a batch and sum what its images contribute; raises as `match_lines` does."""
    gt_counts, det_counts, warnings = counting(batch, overlaps, parameters)
    lines = match_lines(batch, overlaps, det_counts, parameters)
    det_counts &= ~lines.surplus
    gt_free, det_free = gt_counts.copy(), det_counts.copy()
    gt_free[overlaps.gt[lines.words]] = False
    det_free[lines.pairs.det] = False
    is_free = gt_free[overlaps.gt] & det_free[overlaps.det]
    rows = pair(overlaps.gt, overlaps.det, overlaps.iou(), is_free, parameters.iou)
    pairs, found = overlaps.some(rows), overlaps.some(np.concatenate([lines.words, rows]))

    # Recall: the IoU, times f(Ct / |G|) with Ct = |G| - |G n D|, what the detection cuts off.
    siou_recall = np.concatenate([lines.credit, pairs.iou()])
    tiou_recall = siou_recall * _discount(1.0 - found.recall(), parameters)

    # Precision: the IoU, times f(Ot / |D|) with Ot, the area of foreign text in the detection.
    det = np.concatenate([lines.pairs.det, pairs.det])
    siou_precision = np.concatenate([lines.pairs.iou(), pairs.iou()])
    own = np.concatenate([lines.pairs.area, pairs.area])
    foreign = _foreign(overlaps, lines, det, own) / overlaps.det_area[det]
    tiou_precision = siou_precision * _discount(foreign, parameters)

    images, gt_image, det_image = len(batch.names), batch.gt.image, batch.det.image
    line_words = np.bincount(gt_image[overlaps.gt[lines.words]], minlength=images)
    tally = Tally(
        *matching.object_counts(batch, gt_counts, det_counts),
        one_to_one=np.bincount(gt_image[pairs.gt], minlength=images),
        lines=np.bincount(det_image[lines.pairs.det], minlength=images),
        siou_recall_credit=per_image(siou_recall, gt_image[found.gt], images),
        siou_precision_credit=per_image(siou_precision, det_image[det], images),
        tiou_recall_credit=per_image(tiou_recall, gt_image[found.gt], images),
        tiou_precision_credit=per_image(tiou_precision, det_image[det], images),
        line_words=line_words if parameters.lines == "file" else None,
    )
    gt_values = {"siou_recall": siou_recall, "tiou_recall": tiou_recall}
    det_values = {"siou_precision": siou_precision, "tiou_precision": tiou_precision}
    matches = matching.matches(
        *(found.gt, found.det, gt_counts, det_counts),
        {name: scatter(column, found.gt, batch.gt.count) for name, column in gt_values.items()},
        {name: scatter(column, det, batch.det.count) for name, column in det_values.items()},
    )
    of_line = lines.pairs.det
    without_words = of_line[matches.det.types[of_line] == matching.FALSE_POSITIVE]
    matches.det.types[without_words] = matching.ONE_TO_ONE
    return Evidence(tally, matches, warnings)


def _discount(share: Floats, parameters: Parameters) -> Floats:
    """f: what remains of a credit."""
    return np.where(share <= parameters.tolerance + TIE, 1.0, 1.0 - share)


def _foreign(overlaps: Overlaps, lines: Lines, det: Ints, own: Floats) -> Floats:
    """(m,) Ot, the area of foreign text in the matched detections, which share the area `own` with
    their object or line.

    With the other objects G_k, don't care included, it is Area(D n U G_k) - Area(D n G n U G_k),
    which is Area(D n (G u U G_k)) - Area(D n G): the area of all text, less that of its own.
    """
    texts, count = overlaps.gt_shapes, len(overlaps.det_area)
    text, text_det = overlaps.gt[~lines.same_number], overlaps.det[~lines.same_number]
    if len(lines.pairs.det):
        texts = shapes.concatenate(texts, lines.pairs.gt_shapes)
        text = np.concatenate([text, len(overlaps.gt_area) + lines.pairs.gt])
        text_det = np.concatenate([text_det, lines.pairs.det])
    # Most detections have their own text only, and need no union.
    has_others = np.bincount(text_det, minlength=count) > 1
    is_asked = (has_others & (np.bincount(det, minlength=count) > 0))[text_det]
    text, text_det = text[is_asked], text_det[is_asked]
    every = texts.union_area(text_det, count, text, overlaps.det_shapes, text_det)[det]
    return np.where(has_others[det], np.maximum(every - own, 0.0), 0.0)


# Lines --------------------------------------------------------------------------------------------


class Lines(NamedTuple):
    """Lines that are matched, one to one with detections, and the words found in this way."""

    pairs: Overlaps
    """The lines and their detections."""
    words: Ints
    """(w,) int64. Rows of the overlaps: words that are found, with the detections of their lines.
    """
    credit: Floats
    """(w,) float64. What each word is worth towards recall, before the discount."""
    surplus: Bools
    """(D,) bool. Detections ignored because they are mostly of a word that was found."""
    same_number: Bools
    """(p,) bool. Overlaps of a line's detection with the word that has the line's number."""


def match_lines(
    batch: ImageBatch, overlaps: Overlaps, det_counts: Bools, parameters: Parameters
) -> Lines:
    """Match lines and detections, and find the words of the lines.

    Raises `InputError` with ``lines=file``, for label pictures, as no pixel shows how far a line
    reaches between its words; or without a ground truth of lines.
    """
    surplus = np.zeros(len(det_counts), bool)
    if parameters.lines == "none":
        nothing = np.zeros(0, np.int64)
        no_pair = np.zeros(len(overlaps.gt), bool)
        return Lines(overlaps.some(no_pair), nothing, np.zeros(0), surplus, no_pair)
    if batch.has_masks:
        raise InputError(
            "tiou: lines=file does not work on label pictures; leave out their folders or the lines"
        )
    if batch.gt_lines is None:
        raise InputError(
            "tiou: lines=file needs a ground truth of lines; give it by --lines (in Python lines=)"
        )
    # The program does not look at images without words.
    has_words = np.diff(batch.gt.offsets) > 0
    lines = take(batch.gt_lines, has_words[batch.gt_lines.image])
    taken = shapes.from_objects(lines, convention(parameters))
    words = overlaps_between(taken, lines.offsets, overlaps.gt_shapes, batch.gt.offsets)
    words = words.some(at_least(words.precision(), HALF))
    words_of = matching.by_gt(matching.pairs_of(words))

    # Lines take detections before words do, first-fit as words do.
    pairs = overlaps_between(taken, lines.offsets, overlaps.det_shapes, batch.det.offsets)
    is_free = det_counts[pairs.det]
    pairs = pairs.some(pair(pairs.gt, pairs.det, pairs.iou(), is_free, parameters.iou))

    # A detection of a line finds its words.
    row_of = {pair: row for row, pair in enumerate(matching.pairs_of(overlaps))}
    recall, iou = overlaps.recall().tolist(), overlaps.iou().tolist()
    credit = {}
    for line, j in matching.pairs_of(pairs):
        for _, word in words_of.get(line, ()):
            row = row_of.get((word, j))
            if row is not None and above(recall[row], HALF):
                credit[row] = recall[row] if len(words_of[line]) > 1 else iou[row]

    # Of each word, in turn, the first other detection that is mostly of the word is ignored.
    is_free = det_counts.copy()
    is_free[pairs.det] = False
    mostly = above(overlaps.precision(), parameters.dont_care_overlap) & is_free[overlaps.det]
    others = matching.by_gt(matching.pairs_of(overlaps.some(mostly)))
    for row in credit:
        for _, j in others.get(int(overlaps.gt[row]), ()):
            if not surplus[j]:
                surplus[j] = True
                break

    number = np.full(batch.det.count, -1)
    number[pairs.det] = pairs.gt - lines.offsets[lines.image[pairs.gt]]
    word_number = overlaps.gt - batch.gt.offsets[batch.gt.image[overlaps.gt]]
    same_number = number[overlaps.det] == word_number
    rows, credits = np.array(sorted(credit.items())).reshape(-1, 2).T
    return Lines(pairs, rows.astype(np.int64), credits, surplus, same_number)


# Scores -------------------------------------------------------------------------------------------


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """TIoU's scores, IoU's of the same matches, and SIoU's, which have no discounts."""
    matched = tally.one_to_one + tally.lines
    credits = {
        "": (tally.tiou_recall_credit, tally.tiou_precision_credit),
        "iou_": (matched, matched),
        "siou_": (tally.siou_recall_credit, tally.siou_precision_credit),
    }
    return {
        prefix + name: value
        for prefix, (recall, precision) in credits.items()
        for name, value in scores_of(tally, recall, precision).items()
    }


PROTOCOL = Protocol(
    name="tiou",
    title="TIoU: tightness-aware IoU",
    parameters=Parameters,
    tally=Tally,
    evidence=evidence,
    scores=scores,
    convention=convention,
    image_scores=image_scores_by(scores),
    object_credit=matching.mean_of("tiou_recall"),
)
