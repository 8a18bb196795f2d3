"""Lines of TIoU, those of a ground truth of lines: the detections that match them, the words they
find.

They follow the authors' program ("word and text-line"), its faults included: a line needs no word
that is found; don't-care words and words of several lines give credit each time; the word of a line
that has no other gets its IoU, not its share that is covered; and a line leaves the word of its own
number out of the foreign text.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.errors import InputError
from evaltex_cli.geometry import label_runs, shapes
from evaltex_cli.geometry import overlaps as overlap_geometry
from evaltex_cli.geometry.overlaps import touching_boxes
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.protocols.detection_order import needs_confidences
from evaltex_cli.protocols.iou.iou import Parameters, convention, first_fit, iou
from evaltex_cli.protocols.ratios import divide, settled
from evaltex_cli.records import (
    Bools,
    Floats,
    ImageBatch,
    Ints,
    Overlaps,
    expanded,
)
from evaltex_cli.records.rows import take

FOUND = 0.5
"""A detection of a line finds the words of which it covers more than this share."""
BELONGS = 0.5
"""A word belongs to the lines that cover this share of it or more."""
NO_LINE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Lines of a batch, and the detections matched with them."""

    shapes: Shapes
    line: Ints
    det: Ints
    """`line` and `det`: (m,) int64. The matches, sorted by line."""
    area: Floats
    similarity: Floats
    """`area` and `similarity`: (m,) float64. Intersection and IoU of line and detection."""
    words: Ints
    """(w,) int64. The overlaps of words found in this way with the detections of their lines."""
    alone: Bools
    """(w,) bool. Words that are worth their IoU, not their share that is covered."""
    surplus: Bools
    """(D,) bool. Detections ignored because they are mostly of a word that was found."""
    foreign: Bools
    """(p,) bool. Overlaps of which the object may be foreign text in the detection."""


class _Outlines(NamedTuple):
    """Lines to be found, in order."""

    shapes: Shapes
    offsets: Ints
    """(images + 1,) int64. Which image owns which."""
    line: Ints
    word: Ints
    """`line` and `word`: (k,) int64. The words of each line, sorted."""


def needs(batch: ImageBatch, parameters: Any) -> None:
    """Refuse detections without confidences if `order` asks for them; and lines of label pictures,
    as no pixel shows how far a line reaches between its words, and lines that are not there.

    Raises
    ------
    InputError
    """
    needs_confidences(batch, parameters)
    if parameters.lines == "none":
        return
    if batch.has_masks:
        raise InputError(
            "tiou: lines=file does not work on label pictures; leave out their folders or the lines"
        )
    if batch.gt_lines is None:
        raise InputError(
            "tiou: lines=file needs a ground truth of lines; give it by --lines, in Python by"
            " gt_lines"
        )


def lines_of(batch: ImageBatch, overlaps: Overlaps, det_counts: Bools, parameters: Any) -> Lines:
    """Match lines and detections first-fit; none at all where the parameters ask for none.

    Raises
    ------
    InputError
        As `needs`.
    """
    needs(batch, parameters)
    if parameters.lines == "none":
        index, number = np.zeros(0, np.int64), np.zeros(0)
        nothing, every = np.zeros(batch.det.count, bool), np.ones(len(overlaps.gt), bool)
        no_shapes = Shapes(np.zeros((0, 4)))
        return Lines(no_shapes, index, index, number, number, index, nothing[:0], nothing, every)
    _, gt, dets = shapes_of(batch, parameters)
    outlines = _outlines(batch, gt, parameters)
    line, det = touching_boxes(
        outlines.shapes.boxes, outlines.offsets, dets.boxes, batch.det.offsets
    )
    area = shapes.pair_area(outlines.shapes, line, dets, det)
    areas = shapes.area(outlines.shapes), overlaps.det_area
    found = Overlaps(line, det, area, *areas, outlines.shapes.boxes, dets.boxes)
    similarity = iou(found)
    fits = det_counts[det] & (settled(similarity, parameters.iou, found) > parameters.iou)
    share = settled(divide(overlaps.area, overlaps.gt_area[overlaps.gt]), FOUND, overlaps)
    findable = share > FOUND
    candidates = np.flatnonzero(fits)
    chosen = candidates[first_fit(line[candidates], det[candidates])]
    line, det = line[chosen], det[chosen]

    matched_det = np.full(len(outlines.shapes.boxes), NO_LINE)
    matched_det[line] = det
    in_line = np.flatnonzero(matched_det[outlines.line] != NO_LINE)
    words, is_there = _find(overlaps, outlines.word[in_line], matched_det[outlines.line[in_line]])
    in_line, words = in_line[is_there & findable[words]], words[is_there & findable[words]]
    alone = np.bincount(outlines.line)[outlines.line[in_line]] < 2
    free = det_counts & ~is_in(det, batch.det.count)
    surplus = _surplus(overlaps, overlaps.gt[words], free, parameters)
    foreign = ~_of_own_number(batch, outlines, overlaps, line, det)
    order = np.argsort(words, kind="stable")
    matched = outlines.shapes, line, det, area[chosen], similarity[chosen]
    return Lines(*matched, words[order], alone[order], surplus, foreign)


def shapes_of(batch: ImageBatch, parameters: Any) -> tuple[ModuleType, Any, Any]:
    """Return what measures shapes, `shapes` (boxes, polygons) or `label_runs`
    (masks), and those of both sides.
    """
    if batch.gt_runs is None or batch.det_runs is None:
        return shapes, *overlap_geometry.shapes_of(batch, convention(parameters))
    return label_runs, batch.gt_runs, batch.det_runs


def is_in(index: Ints, count: int) -> Bools:
    """(count,) whether a number is in the index."""
    return np.bincount(index, minlength=count) > 0


def _find(overlaps: Overlaps, gt: Ints, det: Ints) -> tuple[Ints, Bools]:
    """Return the place of each pair among the overlaps, and whether it is
    there; the place is 0 if it is not.
    """
    if not len(overlaps.gt):
        return np.zeros(len(gt), np.int64), np.zeros(len(gt), dtype=bool)
    detections = len(overlaps.det_area)
    keys, wanted = overlaps.gt * detections + overlaps.det, gt * detections + det
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    is_there = keys[place] == wanted
    return np.where(is_there, place, 0), is_there


def _outlines(batch: ImageBatch, gt: Shapes, parameters: Parameters) -> _Outlines:
    """Return the lines; those of images without words are left out, as the program does."""
    assert batch.gt_lines is not None
    has_words = np.diff(batch.gt.offsets) > 0
    lines = take(batch.gt_lines, has_words[batch.gt_lines.image])
    outlines = shapes.from_objects(lines, convention(parameters))
    line, word = touching_boxes(outlines.boxes, lines.offsets, gt.boxes, batch.gt.offsets)
    area, gt_area = shapes.pair_area(outlines, line, gt, word), shapes.area(gt)
    # The share is of the word, so the words are taken for the first side of these overlaps.
    pairs = Overlaps(word, line, area, gt_area, shapes.area(outlines), gt.boxes, outlines.boxes)
    belongs = settled(divide(area, gt_area[word]), BELONGS, pairs) >= BELONGS
    return _Outlines(outlines, lines.offsets, line[belongs], word[belongs])


def _of_own_number(
    batch: ImageBatch, outlines: _Outlines, overlaps: Overlaps, line: Ints, det: Ints
) -> Bools:
    """(p,) overlaps of a line's detection with the word that has the line's number in the image."""
    line_of = np.full(batch.det.count, NO_LINE)
    line_of[det] = line
    own = line_of[overlaps.det]
    image = batch.gt.image[overlaps.gt]
    return np.asarray(
        (own != NO_LINE) & (own - outlines.offsets[image] == overlaps.gt - batch.gt.offsets[image])
    )


def _surplus(overlaps: Overlaps, words: Ints, free: Bools, parameters: Parameters) -> Bools:
    """(D,) bool: detections that are ignored: the first free one of each
    found word, one word after another.
    """
    gt, det = overlaps.gt, overlaps.det
    share = divide(overlaps.area, overlaps.det_area[det])
    inside = settled(share, parameters.dont_care_overlap, overlaps) > parameters.dont_care_overlap
    first = np.searchsorted(gt, words)
    turn, k = expanded(np.searchsorted(gt, words, side="right") - first)
    pair = first[turn] + k
    is_candidate = free[det[pair]] & inside[pair]
    turn, candidate = turn[is_candidate], det[pair[is_candidate]]
    return is_in(candidate[first_fit(turn, candidate)], len(free))
