"""What went wrong with every object and every detection, from shapes alone:
the same for every protocol.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaltex_cli.geometry import overlaps, shapes
from evaltex_cli.geometry.overlaps import CONTINUOUS
from evaltex_cli.protocols.iou.iou import first_fit
from evaltex_cli.protocols.ratios import divide, equalised
from evaltex_cli.records import Bools, Floats, ImageBatch, Ints, Overlaps

ERROR_TYPES = ("missed", "split", "merged", "loose", "tight", "false", "duplicate")
OF_OBJECTS = ("missed", "split", "tight")
"""Kinds that are counted in ground-truth objects; the others are counted in detections."""
OF_LINKS = ("split", "merged", "loose", "tight")
"""Kinds of mistakes of a detection and an object that it is on."""
SAME_IOU = 0.5
"""A pair above it is about one text, and exclusive."""
SLACK = 1e-9
"""What rounding may add to a share of an area."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where one kind of mistake ends and the next begins; all are shares of an area."""

    overlap: float = 0.1
    """A detection is on an object from this share of either's area."""
    tight: float = 0.8
    loose: float = 0.8
    """`tight` and `loose`: less than this share of the object is covered; less than this share of
    the detection is text."""
    surplus: float = 0.1
    """Duplicates together cover no more than this share of the object beyond what one does."""


@dataclass(frozen=True, slots=True, eq=False)
class Mistakes:
    """The mistakes of a batch with G objects and D detections."""

    gt: Ints
    det: Ints
    """`gt` and `det`: (p,) int64. Links of objects that count with the detections that are on them,
    sorted by (gt, det), without those of duplicates."""
    missed: Bools
    split: Bools
    tight: Bools
    """`missed`, `split` and `tight`: (G,) bool."""
    merged: Bools
    loose: Bools
    false: Bools
    duplicate: Bools
    """`merged`, `loose`, `false` and `duplicate`: (D,) bool."""

    def count(self, kind: str) -> int:
        """Number of objects or detections of a kind."""
        return int(getattr(self, kind).sum())


def find(batch: ImageBatch, thresholds: Thresholds) -> Mistakes:
    """Classify every object and detection of a batch of boxes and polygons.

    Notes
    -----
    A detection is *on* an object when their intersection is at least `overlap` of either's area.
    One on several objects has a home, that of highest IoU (pairs of IoU above 0.5 are made
    one-to-one first, the best first), and is on another only when it covers more than `overlap` of
    it beyond what the home covers of it (as EvaLTex's Eq. 5): so objects that overlap are no
    mistake of a detection that equals one of them.
    """
    gt_shapes, det_shapes = overlaps.shapes_of(batch, CONTINUOUS)
    measured = overlaps.of(batch)
    gt, det, area = measured.gt, measured.det, measured.area
    gt_area, det_area = measured.gt_area, measured.det_area
    near = area >= (thresholds.overlap - SLACK) * np.minimum(gt_area[gt], det_area[det])
    measured = measured._replace(gt=gt[near], det=det[near], area=area[near])
    gt, det, area = measured.gt, measured.det, measured.area
    iou = area / (gt_area[gt] + det_area[det] - area)
    order = _best_first(batch, measured, iou)
    home = _homes(gt, det, iou, order, batch.det.count)
    away = np.flatnonzero(gt != home[det])
    shared = shapes.pair_area(gt_shapes, gt[away], gt_shapes, home[det[away]])
    on = np.ones(len(gt), dtype=bool)
    on[away] = area[away] - shared > (thresholds.overlap + SLACK) * gt_area[gt[away]]
    rank = np.empty(len(order), np.int64)
    # The inverse of the order: how good each pair is, 0 being the best.
    rank[order] = np.arange(len(order))
    gt, det, area, rank = gt[on], det[on], area[on], rank[on]

    cares = ~batch.gt.dont_care[gt]
    on_dont_care = np.zeros(batch.det.count, dtype=bool)
    on_dont_care[det[~cares]] = True
    text_area = np.bincount(det, weights=area, minlength=batch.det.count).astype(np.float64)
    # The area on don't-care objects alone is not asked for.
    on_both = on_dont_care & (np.bincount(det[cares], minlength=batch.det.count) > 0)
    mixed = on_both[det]
    text_area[on_both] = shapes.union_area(
        det[mixed],
        shapes.Pairs(gt_shapes, gt[mixed], det_shapes, det[mixed], area[mixed]),
        batch.det.count,
    )[on_both]
    has_area, linked = det_area > 0, np.zeros(batch.det.count, dtype=bool)
    linked[det] = True
    gt, det, area, rank = gt[cares], det[cares], area[cares], rank[cares]

    coverage, accuracy = divide(area, gt_area[gt]), divide(text_area, det_area)[det]
    tight_from, loose_from = thresholds.tight - SLACK, thresholds.loose - SLACK
    sound = (coverage >= tight_from) & (divide(area, det_area[det]) >= loose_from)
    crowded = np.bincount(gt, minlength=batch.gt.count)[gt] > 1
    together = np.zeros(batch.gt.count)
    if crowded.any():
        together = shapes.union_area(
            gt[crowded],
            shapes.Pairs(gt_shapes, gt[crowded], det_shapes, det[crowded], area[crowded]),
            batch.gt.count,
        )
    enough = sound | (area >= together[gt] - (thresholds.surplus + SLACK) * gt_area[gt])
    best = np.full(batch.gt.count, len(order), np.int64)
    # The best of the detections that are enough for their object alone.
    np.minimum.at(best, gt[enough], rank[enough])
    redundant = crowded & (best[gt] < len(order)) & (rank != best[gt])
    objects = np.bincount(det, minlength=batch.det.count)
    needed = np.bincount(det[~redundant], minlength=batch.det.count)
    duplicate = (objects > 0) & (needed == 0) & ~on_dont_care

    gt, det, coverage, accuracy = (column[~redundant] for column in (gt, det, coverage, accuracy))
    pieces = np.bincount(gt, minlength=batch.gt.count)
    one_to_one = (pieces[gt] == 1) & (objects[det] == 1)
    tight = np.zeros(batch.gt.count, dtype=bool)
    tight[gt[one_to_one & (coverage < tight_from)]] = True
    loose = np.zeros(batch.det.count, dtype=bool)
    loose[det[one_to_one & (accuracy < loose_from)]] = True
    return Mistakes(
        gt=gt,
        det=det,
        missed=(pieces == 0) & ~batch.gt.dont_care & (gt_area > 0),
        split=pieces > 1,
        tight=tight,
        merged=(objects > 1) & (needed > 0),
        loose=loose,
        false=~linked & has_area,
        duplicate=duplicate,
    )


def _best_first(batch: ImageBatch, measured: Overlaps, iou: Floats) -> Ints:
    """Order of the pairs by decreasing IoU; ties in an image by place, and objects that count
    before those in the same place that do not: not by the files' order.
    """
    image = batch.gt.image[measured.gt]
    rank = equalised(iou, image, measured)
    order = np.lexsort((image, -rank))
    is_same = (np.diff(image[order]) == 0) & (np.diff(rank[order]) == 0)
    tied = np.flatnonzero(np.append(is_same, False) | np.insert(is_same, 0, False))
    some = order[tied]
    gt, det = measured.gt[some], measured.det[some]
    places = [batch.gt.dont_care[gt], *batch.gt.boxes[gt].T, *batch.det.boxes[det].T]
    order[tied] = some[np.lexsort((*places, image[some], -rank[some]))]
    return order


def _homes(gt: Ints, det: Ints, iou: Floats, order: Ints, detections: int) -> Ints:
    """(D,) the object that each detection is foremost on; -1 where none."""
    home = np.full(detections, -1, np.int64)
    same = order[iou[order] > SAME_IOU + SLACK]
    same = same[first_fit(gt[same], det[same])]
    home[det[same]] = gt[same]
    first = order[_first_of_each(det[order])]
    first = first[home[det[first]] < 0]
    home[det[first]] = gt[first]
    return home


def _first_of_each(members: Ints) -> Ints:
    """Return the first place of each member; `np.unique` would import `numpy.ma` for it."""
    order = np.argsort(members, kind="stable")
    first: Ints = order[np.diff(members[order], prepend=-1) != 0]
    return first
