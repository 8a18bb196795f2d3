"""Lines of TIoU: regions of the ground truth, or those of a file; the detections that match them,
the words they find.

Lines of a file follow the authors' program ("word and text-line"), its faults included: a line
needs no word that is found; don't-care words and words of several lines give credit each time; the
word of a line that has no other gets its IoU, not its share that is covered; and a line leaves the
word of its own number out of the foreign text.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.errors import InputError
from evaltex_cli.geometry import label_runs, shapes
from evaltex_cli.geometry import overlaps as overlap_geometry
from evaltex_cli.geometry.boxes import around
from evaltex_cli.geometry.overlaps import touching_boxes
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.protocols.iou.iou import Parameters, convention, first_fit, iou
from evaltex_cli.protocols.ratios import divide, settled
from evaltex_cli.records import (
    Bools,
    Floats,
    Geometries,
    ImageBatch,
    Ints,
    Overlaps,
    expanded,
)
from evaltex_cli.records.rows import take

FOUND = 0.5
"""A detection of a line finds the words of which it covers more than this share."""
BELONGS = 0.5
"""A word belongs to the lines of a file that cover this share of it or more."""
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


def lines_of(
    batch: ImageBatch,
    overlaps: Overlaps,
    gt_counts: Bools,
    det_counts: Bools,
    parameters: Parameters,
    lines: str,
) -> Lines:
    """Match lines and detections first-fit; none at all where the parameters ask for none.

    Raises
    ------
    InputError
        For label pictures, as no pixel shows how far a line reaches between its words; and if lines
        are to be those of a file and there are none.
    """
    every = np.ones(len(overlaps.gt), dtype=bool)
    if lines == "none":
        index, number, nothing = (
            np.zeros(0, np.int64),
            np.zeros(0),
            np.zeros(batch.det.count, dtype=bool),
        )
        no_shapes = Shapes(np.zeros((0, 4)))
        return Lines(no_shapes, index, index, number, number, index, nothing[:0], nothing, every)
    if batch.has_masks:
        raise InputError(
            f"tiou: lines={lines} does not work on label pictures; leave out their folders or set"
            " lines=none"
        )
    of_file = lines == "file"
    _, gt, dets = shapes_of(batch, parameters)
    outlines = _of_file(batch, gt, parameters) if of_file else _of_regions(batch, gt)
    line, det = touching_boxes(
        outlines.shapes.boxes, outlines.offsets, dets.boxes, batch.det.offsets, batch.names
    )
    area = shapes.pair_area(outlines.shapes, line, dets, det)
    areas = shapes.area(outlines.shapes), overlaps.det_area
    found = Overlaps(line, det, area, *areas, outlines.shapes.boxes, dets.boxes)
    similarity = iou(found)
    fits = det_counts[det] & (settled(similarity, parameters.iou, found) > parameters.iou)
    share = settled(divide(overlaps.area, overlaps.gt_area[overlaps.gt]), FOUND, overlaps)
    findable = (share > FOUND) & (gt_counts[overlaps.gt] | of_file)
    if not of_file:
        fits &= _finds_words(outlines, line, det, overlaps, findable)
    candidates = np.flatnonzero(fits)
    chosen = candidates[first_fit(line[candidates], det[candidates])]
    line, det = line[chosen], det[chosen]

    matched_det = np.full(len(outlines.shapes.boxes), NO_LINE)
    matched_det[line] = det
    in_line = np.flatnonzero(matched_det[outlines.line] != NO_LINE)
    words, is_there = _find(overlaps, outlines.word[in_line], matched_det[outlines.line[in_line]])
    in_line, words = in_line[is_there & findable[words]], words[is_there & findable[words]]
    alone = (np.bincount(outlines.line)[outlines.line[in_line]] < 2) & of_file
    free = det_counts & ~is_in(det, batch.det.count)
    surplus = _surplus(overlaps, overlaps.gt[words], free, parameters)
    foreign = ~_of_own_number(batch, outlines, overlaps, line, det) if of_file else every
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


def _finds_words(
    outlines: _Outlines, line: Ints, det: Ints, overlaps: Overlaps, findable: Bools
) -> Bools:
    """(p,) whether the detection of a pair of line and detection finds a word of the line."""
    line_of = np.full(len(overlaps.gt_area), NO_LINE)
    line_of[outlines.word] = outlines.line
    of_line = findable & (line_of[overlaps.gt] != NO_LINE)
    # Pairs as single numbers, so that isin compares pairs.
    detections = len(overlaps.det_area)
    found = line_of[overlaps.gt[of_line]] * detections + overlaps.det[of_line]
    return np.isin(line * detections + det, found)


# Lines of a file ----------------------------------------------------------------------------------


def _of_file(batch: ImageBatch, gt: Shapes, parameters: Parameters) -> _Outlines:
    """Lines of a file; those of images without words are left out, as the program does."""
    if batch.gt_lines is None:
        raise InputError(
            "tiou: lines=file needs a ground truth of lines; give it by --lines, in Python by"
            " gt_lines"
        )
    has_words = np.diff(batch.gt.offsets) > 0
    lines = take(batch.gt_lines, has_words[batch.gt_lines.image])
    outlines = shapes.from_objects(lines, convention(parameters))
    line, word = touching_boxes(
        outlines.boxes, lines.offsets, gt.boxes, batch.gt.offsets, batch.names
    )
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


# Lines of regions ---------------------------------------------------------------------------------


def _of_regions(batch: ImageBatch, gt: Shapes) -> _Outlines:
    """Regions of several objects in the order of their first objects, as
    bounding boxes or convex hulls.
    """
    image = batch.gt.image
    key = np.stack([image, batch.gt.regions])
    # One column per region of an image: its first object, each object's region, and how many
    # objects it has.
    _, first, region_of, size = np.unique(
        key, axis=1, return_index=True, return_inverse=True, return_counts=True
    )
    several = np.flatnonzero(size > 1)
    several = several[np.argsort(first[several])]
    number = np.full(len(size), NO_LINE)
    number[several] = np.arange(len(several))
    line_of = number[region_of.reshape(-1)]
    # Objects sorted by line; those without one sort first (`NO_LINE` is -1) and are left out.
    words = np.argsort(line_of, kind="stable")[np.count_nonzero(line_of == NO_LINE) :]
    line, boxes = line_of[words], gt.boxes[words]
    starts = np.searchsorted(line, np.arange(len(several)))
    outlines = shapes.from_geometries(
        around(boxes[:, :2], boxes[:, 2:], starts), _hulls(gt, words, line, len(several))
    )
    offsets = np.searchsorted(image[first[several]], np.arange(len(batch.names) + 1))
    return _Outlines(outlines, offsets, line, words)


def _hulls(gt: Shapes, words: Ints, line: Ints, lines: int) -> Geometries:
    """Convex hulls of the lines with a word that is a polygon, None for other lines."""
    has_polygon = np.bincount(line[gt.is_polygon[words]], minlength=lines) > 0
    hulls: Geometries = np.full(lines, None, dtype=object)
    if not has_polygon.any():
        return hulls
    curved = has_polygon[line]
    points, word = geometry.shapely.get_coordinates(
        shapes.geometries(gt, words[curved]), return_index=True
    )
    # Hulls are made of owners numbered from 0: rank is the number, owner the line it is of.
    owner, rank = np.unique(line[curved][word], return_inverse=True)
    hulls[has_polygon] = geometry.shapely.Polygon()
    hulls[owner] = geometry.geos.convex_hulls(points, rank)
    return hulls


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
