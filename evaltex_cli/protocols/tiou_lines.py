"""TIoU with a ground truth of lines ("word and text-line"): the detections that match lines, and
the words that they find.

Everything follows the authors' program, its faults included: a line needs no word that is found;
don't-care words and words of several lines give credit each time; the word of a line that has no
other gets its IoU, not its share that is covered; and a line leaves the word of its own number out
of the foreign text.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import InputError
from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.protocols.iou import Parameters, convention, pair
from evaltex_cli.protocols.matching import above, at_least
from evaltex_cli.protocols.scores import quotient
from evaltex_cli.records import Bools, Floats, ImageBatch, Ints, Objects, Overlaps
from evaltex_cli.records.rows import take

FOUND = 0.5
"""A detection of a line finds the words of which it covers more than this share."""
BELONGS = 0.5
"""A word belongs to the lines that cover this share of it or more."""


class Lines(NamedTuple):
    """Lines that are matched, one to one with detections, and the words found in this way."""

    shapes: Shapes
    """(m,) the lines."""
    det: Ints
    """(m,) int64. Their detections."""
    area: Floats
    iou: Floats
    """`area` and `iou`: (m,) float64. Intersection and IoU of line and detection."""
    words: Ints
    """(w,) int64. Rows of the overlaps: words that are found, with the detections of their lines.
    """
    credit: Floats
    """(w,) float64. What each word is worth towards recall, before the discount."""
    surplus: Bools
    """(D,) bool. Detections ignored because they are mostly of a word that was found."""
    same_number: Bools
    """(p,) bool. Overlaps of a line's detection with the word that has the line's number."""


def no_lines(overlaps: Overlaps) -> Lines:
    """Return what `match_lines` finds where there are no lines."""
    index, number = np.zeros(0, np.int64), np.zeros(0)
    of_detections = np.zeros(len(overlaps.det_area), bool)
    of_overlaps = np.zeros(len(overlaps.gt), bool)
    lines = Shapes(np.zeros((0, 4)))
    return Lines(lines, index, number, number, index, number, of_detections, of_overlaps)


def match_lines(
    batch: ImageBatch, overlaps: Overlaps, det_counts: Bools, parameters: Parameters
) -> Lines:
    """Match lines and detections, and find the words of the lines.

    Raises
    ------
    InputError
        For label pictures, as no pixel shows how far a line reaches between its words; or without
        a ground truth of lines.
    """
    if batch.has_masks:
        raise InputError(
            "tiou: lines=file does not work on label pictures; leave out their folders or the lines"
        )
    if batch.gt_lines is None:
        raise InputError(
            "tiou: lines=file needs a ground truth of lines; give it by --lines, in Python by"
            " gt_lines"
        )
    # The program does not look at images without words.
    has_words = np.diff(batch.gt.offsets) > 0
    lines = take(batch.gt_lines, has_words[batch.gt_lines.image])
    line_shapes = shapes.from_objects(lines, convention(parameters))
    words_of = _words_of_lines(lines, line_shapes, batch, overlaps)

    # Lines take detections before words do, first-fit as words do.
    line, det = touching_boxes(
        line_shapes.boxes, lines.offsets, overlaps.det_shapes.boxes, batch.det.offsets
    )
    area = line_shapes.pair_area(line, overlaps.det_shapes, det)
    sides = line_shapes.area(), overlaps.det_area, line_shapes, overlaps.det_shapes
    iou = Overlaps(line, det, area, *sides).iou()
    matched = pair(line, det, iou, det_counts[det], parameters.iou)
    line, det = line[matched], det[matched]

    # A detection of a line finds its words.
    overlap_of = {
        pair: row
        for row, pair in enumerate(zip(overlaps.gt.tolist(), overlaps.det.tolist(), strict=True))
    }
    recall, word_iou = overlaps.recall().tolist(), overlaps.iou().tolist()
    found, credit = [], {}
    for i, j in zip(line.tolist(), det.tolist(), strict=True):
        words = words_of[i]
        for word in words:
            row = overlap_of.get((word, j))
            if row is not None and above(recall[row], FOUND):
                found.append(word)
                credit[row] = recall[row] if len(words) > 1 else word_iou[row]

    free = det_counts.copy()
    free[det] = False
    rows = sorted(credit)
    return Lines(
        *(line_shapes.take(line), det, area[matched], iou[matched]),
        *(np.array(rows, np.int64), np.array([credit[row] for row in rows], np.float64)),
        _surplus(found, overlaps, free, parameters),
        _same_number(lines, line, det, batch, overlaps),
    )


def _words_of_lines(
    lines: Objects, line_shapes: Shapes, batch: ImageBatch, overlaps: Overlaps
) -> defaultdict[int, list[int]]:
    """Return the words that belong to each line."""
    words = overlaps.gt_shapes
    line, word = touching_boxes(line_shapes.boxes, lines.offsets, words.boxes, batch.gt.offsets)
    area = line_shapes.pair_area(line, words, word)
    belongs = at_least(quotient(area, overlaps.gt_area[word]), BELONGS)
    words_of = defaultdict(list)
    for i, k in zip(line[belongs].tolist(), word[belongs].tolist(), strict=True):
        words_of[i].append(k)
    return words_of


def _surplus(found: list[int], overlaps: Overlaps, free: Bools, parameters: Parameters) -> Bools:
    """(D,) detections that are ignored: of each found word, in turn, the first that is free and
    mostly of the word.
    """
    inside = free[overlaps.det] & above(overlaps.precision(), parameters.dont_care_overlap)
    detections = defaultdict(list)
    for i, j in zip(overlaps.gt[inside].tolist(), overlaps.det[inside].tolist(), strict=True):
        detections[i].append(j)
    result = np.zeros(len(free), bool)
    for word in found:
        for j in detections[word]:
            if not result[j]:
                result[j] = True
                break
    return result


def _same_number(
    lines: Objects, line: Ints, det: Ints, batch: ImageBatch, overlaps: Overlaps
) -> Bools:
    """(p,) overlaps of a line's detection with the word that has the line's number in the image."""
    number = np.full(batch.det.count, -1)
    number[det] = line - lines.offsets[lines.image[line]]
    word_number = overlaps.gt - batch.gt.offsets[batch.gt.image[overlaps.gt]]
    return np.asarray(number[overlaps.det] == word_number)
