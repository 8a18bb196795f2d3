"""TIoU (Liu, Jin, Xie, Luo, Zhang, Xie, CVPR 2019): IoU pairs, discounted for cut and for foreign text.

Task: text localisation by boxes, polygons or labelled masks. Pairs are those of `iou`. A pair is worth its IoU, towards
recall times f(share of the object that the detection cuts off), towards precision times f(share of the detection with
text of other objects, don't care included); f(x) = 1 - x, but 1 up to a tolerance of 0.01, which is not in the paper.

With ``lines=regions`` (the "word and text-line" ground truth of the authors) a detection may also be of a line: a
region of several objects, as the ground truth's region column says. Lines go first. A detection of a line finds those
of its words that it covers by more than half. Where we differ from the program there: words belong to the line that the
ground truth says, not to every line that covers half of them; a line needs a word that is found; don't-care words give
no credit; and text outside the line is all text outside it, while the program leaves out the word whose number is the
line's.

Empty cases: as in `iou`.

Examples
--------
The detection covers 60 % of a word and nothing else. Towards recall its IoU counts 0.6 times, because 40 % of the word
are cut off; towards precision it counts in full:

>>> from evaltex_cli import Accumulator
>>> accumulator = Accumulator("tiou")
>>> accumulator.update([[0, 0, 100, 20]], [[0, 0, 60, 20]])
>>> scores = accumulator.compute().scores
>>> round(scores["recall"], 9), round(scores["precision"], 9)
(0.36, 0.6)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.errors import InputError
from evaltex_cli.geometry import label_runs, shapes
from evaltex_cli.geometry.boxes import around
from evaltex_cli.geometry.overlaps import touching_boxes
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.protocols.base import (
    Count,
    Evidence,
    ObjectTally,
    Protocol,
    Scores,
    Sum,
    at_most,
    object_counts,
    per_image,
    require,
)
from evaltex_cli.protocols.detection_order import in_order, needs_confidences
from evaltex_cli.protocols.iou import iou as iou_protocol
from evaltex_cli.protocols.iou.iou import convention, counting, iou, pair, scatter
from evaltex_cli.protocols.matches import matches, mean_of
from evaltex_cli.protocols.ratios import SLACK, divide, image_scores_by, scores_of, settled
from evaltex_cli.records import Bools, Floats, ImageBatch, Ints, Overlaps

FOUND = 0.5
"""A detection of a line finds the words of which it covers more than this share."""
NO_LINE = -1


@dataclass(frozen=True, slots=True)
class Parameters(iou_protocol.Parameters):
    """Parameters of TIoU, with the program's defaults."""

    tolerance: float = field(
        default=0.01,
        metadata={"help": "a share of cut or of foreign text up to this costs nothing", "min": 0.0, "max": 1.0},
    )
    lines: str = field(
        default="none",
        metadata={
            "help": "regions of several objects may be detected as a line (regions), or not (none)",
            "choices": ("none", "regions"),
        },
    )


@dataclass(frozen=True, eq=False)
class Tally(ObjectTally):
    """Evidence of TIoU: pairs of objects, detected lines, and their credits with discounts and without."""

    one_to_one: Count
    lines: Count
    siou_recall_credit: Sum
    siou_precision_credit: Sum
    tiou_recall_credit: Sum
    tiou_precision_credit: Sum

    def check(self) -> None:
        super().check()
        require(self.one_to_one + self.lines <= self.counted_gt_objects, "more matches than objects")
        require(self.one_to_one + self.lines <= self.counted_detections, "more matches than detections")
        require(at_most(self.siou_recall_credit, self.counted_gt_objects), "more recall than objects")
        require(at_most(self.siou_precision_credit, self.one_to_one + self.lines), "more precision than matches")
        require(at_most(self.tiou_recall_credit, self.siou_recall_credit), "a discount raises recall")
        require(at_most(self.tiou_precision_credit, self.siou_precision_credit), "a discount raises precision")


@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """Lines of a batch, in the order of their first words, and the detections matched with them.

    Attributes
    ----------
    shapes : Shapes
        Bounding boxes, and convex hulls of words of which one is a polygon.
    line, det : (m,) int64
        The matches, sorted by line.
    area, similarity : (m,) float64
        Intersection and IoU of line and detection.
    words : (w,) int64
        The overlaps of words found in this way with the detections of their lines.
    surplus : (D,) bool
        Detections ignored because they are mostly of a word that was found.
    """

    shapes: Shapes
    line: Ints
    det: Ints
    area: Floats
    similarity: Floats
    words: Ints
    surplus: Bools


@in_order
def evidence(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool) -> Evidence:
    """Match a batch and sum what its images contribute.

    Raises
    ------
    InputError
        For lines of label pictures: no pixel shows how far a line reaches between its words.
    """
    gt_counts, det_counts, warnings = counting(batch, overlaps, parameters)
    similarity = iou(overlaps)
    lines = _lines(batch, overlaps, gt_counts, det_counts, parameters)
    det_counts &= ~lines.surplus
    gt_free = gt_counts & ~_is_in(overlaps.gt[lines.words], batch.gt.count)
    det_free = det_counts & ~_is_in(lines.det, batch.det.count)
    pairs = pair(overlaps, similarity, gt_free, det_free, parameters)

    found = np.concatenate([lines.words, pairs])
    gt, found_by = overlaps.gt[found], overlaps.det[found]
    share, gt_area = divide(overlaps.area, overlaps.gt_area[overlaps.gt]), overlaps.gt_area[gt]
    siou_recall = np.concatenate([share[lines.words], similarity[pairs]])
    tiou_recall = siou_recall * _discount(divide(gt_area - overlaps.area[found], gt_area), parameters)

    det = np.concatenate([lines.det, overlaps.det[pairs]])
    siou_precision = np.concatenate([lines.similarity, similarity[pairs]])
    foreign = _foreign(batch, overlaps, lines, det, np.concatenate([lines.area, overlaps.area[pairs]]), parameters)
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
    )
    if not with_matches:
        return Evidence(tally, warnings=warnings)
    gt_values = scatter({"siou_recall": siou_recall, "tiou_recall": tiou_recall}, gt, batch.gt.count)
    det_values = scatter({"siou_precision": siou_precision, "tiou_precision": tiou_precision}, det, batch.det.count)
    return Evidence(tally, matches(gt, found_by, gt_counts, det_counts, gt_values, det_values), warnings)


def _discount(share: Floats, parameters: Parameters) -> Floats:
    """f: what remains of a credit."""
    return np.where(share <= parameters.tolerance + SLACK, 1.0, 1.0 - share)


def _is_in(index: Ints, count: int) -> Bools:
    """(count,) whether a number is in the index."""
    return np.bincount(index, minlength=count) > 0


def _foreign(
    batch: ImageBatch, overlaps: Overlaps, lines: _Lines, det: Ints, own: Floats, parameters: Parameters
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
        With D the detection, G its match, G_k the other objects: Area(D n U G_k) - Area(D n G n U G_k), which is
        Area(D n (G u U G_k)) - Area(D n G).
    """
    text, text_det = overlaps.gt, overlaps.det
    measure, texts, dets = _shapes(batch, parameters)
    if len(lines.line):
        texts = _joined(texts, lines.shapes)
        text = np.concatenate([text, batch.gt.count + lines.line])
        text_det = np.concatenate([text_det, lines.det])
    # A detection with a single text has none but its own: only the others are measured.
    several = np.bincount(text_det, minlength=batch.det.count) > 1
    crowded = (several & _is_in(det, batch.det.count))[text_det]
    text, text_det = text[crowded], text_det[crowded]
    covered = measure.union_area(text_det, shapes.Pairs(texts, text, dets, text_det), batch.det.count)
    return np.where(several[det], np.maximum(covered[det] - own, 0.0), 0.0)


def _shapes(batch: ImageBatch, parameters: Parameters) -> tuple[ModuleType, Any, Any]:
    """Return what measures shapes, `shapes` (boxes, polygons) or `label_runs` (masks), and those of both sides."""
    if batch.gt_runs is None or batch.det_runs is None:
        taken = convention(parameters)
        return shapes, shapes.from_objects(batch.gt, taken), shapes.from_objects(batch.det, taken)
    return label_runs, batch.gt_runs, batch.det_runs


# Lines ---------------------------------------------------------------------------------------------------------------


def _lines(
    batch: ImageBatch, overlaps: Overlaps, gt_counts: Bools, det_counts: Bools, parameters: Parameters
) -> _Lines:
    """Match lines and detections first-fit; none at all where the parameters ask for none."""
    index, number = np.zeros(0, np.int64), np.zeros(0)
    if parameters.lines == "none":
        nothing = np.zeros(batch.det.count, dtype=bool)
        return _Lines(Shapes(np.zeros((0, 4))), index, index, number, number, index, nothing)
    if batch.has_masks:
        raise InputError(
            "tiou: lines=regions does not work on label pictures; leave out their folders or set lines=none"
        )
    _, gt, dets = _shapes(batch, parameters)
    line_of, outlines, offsets = _outlines(batch, gt)
    line, det = touching_boxes(outlines.boxes, offsets, dets.boxes, batch.det.offsets)
    area = shapes.pair_area(outlines, line, dets, det)
    found = Overlaps(line, det, area, shapes.area(outlines), overlaps.det_area, outlines.boxes, dets.boxes)
    similarity = iou(found)
    passes = settled(similarity, parameters.iou, found) > parameters.iou

    word_line, word_det = line_of[overlaps.gt], overlaps.det
    share = settled(divide(overlaps.area, overlaps.gt_area[overlaps.gt]), FOUND, overlaps)
    findable = np.flatnonzero((word_line != NO_LINE) & gt_counts[overlaps.gt] & (share > FOUND))
    # Pairs as single numbers, so that isin compares pairs.
    finds = np.isin(line * batch.det.count + det, word_line[findable] * batch.det.count + word_det[findable])
    candidates = np.flatnonzero(finds & det_counts[det] & passes)
    chosen = candidates[iou_protocol.first_fit(line[candidates], det[candidates])]
    line, det = line[chosen], det[chosen]

    matched_line = np.full(batch.det.count, NO_LINE)
    matched_line[det] = line
    words = findable[matched_line[word_det[findable]] == word_line[findable]]
    surplus = _surplus(overlaps, line_of, words, det_counts & (matched_line == NO_LINE), parameters)
    return _Lines(outlines, line, det, area[chosen], similarity[chosen], words, surplus)


def _outlines(batch: ImageBatch, gt: Shapes) -> tuple[Ints, Shapes, Ints]:
    """Return each object's line or `NO_LINE`, the lines' shapes, and which image owns which (as `_Lines`)."""
    image = batch.gt.image
    key = np.stack([image, batch.gt.regions])
    # One column per region of an image: its first object, each object's region, and how many objects it has.
    _, first, region_of, size = np.unique(key, axis=1, return_index=True, return_inverse=True, return_counts=True)
    several = np.flatnonzero(size > 1)
    several = several[np.argsort(first[several])]
    number = np.full(len(size), NO_LINE)
    number[several] = np.arange(len(several))
    line_of = number[region_of.reshape(-1)]
    # Objects sorted by line; those without one sort first (`NO_LINE` is -1) and are left out.
    words = np.argsort(line_of, kind="stable")[np.count_nonzero(line_of == NO_LINE) :]
    line, boxes = line_of[words], gt.boxes[words]
    starts = np.searchsorted(line, np.arange(len(several)))
    outlines = Shapes(around(boxes[:, :2], boxes[:, 2:], starts), _hulls(gt, words, line, len(several)))
    return line_of, outlines, np.searchsorted(image[first[several]], np.arange(len(batch.names) + 1))


def _hulls(gt: Shapes, words: Ints, line: Ints, lines: int) -> Any:
    """Convex hulls of the lines with a word that is a polygon, None for other lines; None if there are none."""
    has_polygon = np.bincount(line[gt.is_polygon[words]], minlength=lines) > 0
    if not has_polygon.any():
        return None
    curved = has_polygon[line]
    points, word = geometry.shapely.get_coordinates(shapes.geometries(gt, words[curved]), return_index=True)
    # Hulls are made of owners numbered from 0: rank is the number, owner the line it is of.
    owner, rank = np.unique(line[curved][word], return_inverse=True)
    hulls = np.full(lines, None, dtype=object)
    hulls[has_polygon] = geometry.shapely.Polygon()
    hulls[owner] = geometry.polygons.convex_hulls(points, rank)
    return hulls


def _joined(a: Shapes, b: Shapes) -> Shapes:
    polygons = None
    if a.polygons is not None or b.polygons is not None:
        sides = (np.full(len(side.boxes), None) if side.polygons is None else side.polygons for side in (a, b))
        polygons = np.concatenate([*sides])
    return Shapes(np.concatenate([a.boxes, b.boxes]), polygons)


def _surplus(overlaps: Overlaps, line_of: Ints, words: Ints, free: Bools, parameters: Parameters) -> Bools:
    """(D,) bool: detections of found words that are ignored, the first free one of each word."""
    is_found = np.zeros(len(line_of), dtype=bool)
    is_found[overlaps.gt[words]] = True
    gt, det = overlaps.gt, overlaps.det
    share = divide(overlaps.area, overlaps.det_area[det])
    inside = settled(share, parameters.dont_care_overlap, overlaps) > parameters.dont_care_overlap
    candidates = np.flatnonzero(is_found[gt] & free[det] & inside)
    candidates = candidates[np.argsort(line_of[gt[candidates]], kind="stable")]
    chosen = candidates[iou_protocol.first_fit(gt[candidates], det[candidates])]
    return _is_in(det[chosen], len(free))


# Scores --------------------------------------------------------------------------------------------------------------


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """TIoU's scores, IoU's of the same matches, and SIoU's, which have no discounts."""
    matched = tally.one_to_one + tally.lines
    by_prefix = {
        "": scores_of(tally, tally.tiou_recall_credit, tally.tiou_precision_credit),
        "iou_": scores_of(tally, matched, matched),
        "siou_": scores_of(tally, tally.siou_recall_credit, tally.siou_precision_credit),
    }
    return {prefix + name: value for prefix, group in by_prefix.items() for name, value in group.items()}


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
    needs=needs_confidences,
    object_credit=mean_of("tiou_recall"),
)
