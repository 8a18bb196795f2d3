"""What went wrong with every object and detection, by shapes: the same for all protocols."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from evaltex_cli.errors import ConfigError, InputError
from evaltex_cli.protocols.matching import TIE, above, at_least, first_fit
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.protocols.scores import ratio
from evaltex_cli.records import Bools, ImageBatch, Ints, Overlaps

ERROR_TYPES = ("missed", "split", "merged", "loose", "tight", "false", "duplicate")
MISREAD = "misread"
"""Only of protocols that compare texts: objects whose one detection reads another text."""
OF_OBJECTS = ("missed", "split", "tight", MISREAD)
"""Kinds that are counted in ground-truth objects; the others are counted in detections."""
SAME_IOU = 0.5
"""A pair above it is about one text, and exclusive."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where kinds of mistakes end, as shares of an area; `ConfigError` if they are none."""

    overlap: float = 0.1
    """A detection is on an object from this share of either's area."""
    tight: float = 0.8
    loose: float = 0.8
    """`tight` and `loose`: less than this share of the object is covered; less than this share of
    the detection is text."""
    surplus: float = 0.1
    """Duplicates together cover no more than this share of the object beyond what one does."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not 0 <= value <= 1:
                raise ConfigError(f"threshold {name} is {value}; expected a number from 0 to 1")


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
    """`missed`, `split` and `tight`: (G,) bool; the others: (D,) bool."""
    merged: Bools
    loose: Bools
    false: Bools
    duplicate: Bools
    misread: Bools | None = None
    """(G,) bool; None if the protocol compares no texts."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that are looked for."""
        return ERROR_TYPES if self.misread is None else (*ERROR_TYPES, MISREAD)

    def links(self, kind: str) -> set[int]:
        """Return the links of the objects or detections of a kind."""
        wrong = getattr(self, kind)[self.gt if kind in OF_OBJECTS else self.det]
        return set(np.flatnonzero(wrong).tolist())


def find(measured: Measured, thresholds: Thresholds) -> Mistakes:
    """Classify all objects and detections of a batch, as docs/diagnose.md, section 1, says. Raises
    `InputError` for label pictures.
    """
    if measured.batch.has_masks:
        raise InputError(
            "diagnose works on boxes and polygons; leave out the folders of label pictures"
        )
    batch, overlaps = measured.batch, measured.overlaps()
    gt_count, det_count = batch.gt.count, batch.det.count
    smaller = np.minimum(overlaps.gt_area[overlaps.gt], overlaps.det_area[overlaps.det])
    overlaps = overlaps.some(at_least(overlaps.area / smaller, thresholds.overlap))
    overlaps = overlaps.some(_best_first(batch, overlaps))
    gt, det, area, gt_area, det_area, gt_side, det_side = overlaps
    # What a detection covers of its home as well is not counted for another (EvaLTex Eq. 5).
    home = np.full(det_count, -1)
    home[det[::-1]] = gt[::-1]  # of each detection the first pair, assigned last, stays
    same = np.flatnonzero(above(overlaps.iou(), SAME_IOU))
    same = same[first_fit(gt[same], det[same])]
    home[det[same]] = gt[same]
    away = np.flatnonzero(gt != home[det])
    shared = gt_side.pair_area(gt[away], gt_side, home[det[away]])
    on = np.ones(len(gt), dtype=bool)
    on[away] = above((area[away] - shared) / gt_area[gt[away]], thresholds.overlap)
    gt, det, area = gt[on], det[on], area[on]

    cares = ~batch.gt.dont_care[gt]
    on_dont_care = np.bincount(det[~cares], minlength=det_count) > 0
    linked = np.bincount(det, minlength=det_count) > 0
    text_area = np.bincount(det, area, det_count).astype(np.float64)
    mixed = on_dont_care[det]
    united = gt_side.union_area(det[mixed], det_count, gt[mixed], det_side, det[mixed])
    text_area[on_dont_care] = united[on_dont_care]
    gt, det, area = gt[cares], det[cares], area[cares]

    coverage, accuracy = ratio(area, gt_area[gt]), ratio(text_area, det_area)[det]
    covers, is_text = at_least(coverage, thresholds.tight), at_least(accuracy, thresholds.loose)
    crowded = np.bincount(gt, minlength=gt_count)[gt] > 1
    crowds = gt[crowded]
    together = gt_side.union_area(crowds, gt_count, crowds, det_side, det[crowded])
    sound = covers & at_least(ratio(area, det_area[det]), thresholds.loose)
    enough = sound | at_least((area - together[gt]) / gt_area[gt], -thresholds.surplus)
    # Of the detections that are enough for their object alone, the best: pairs are still in order.
    rank = np.arange(len(gt))
    best = np.full(gt_count, len(gt))
    np.minimum.at(best, gt[enough], rank[enough])
    redundant = (best[gt] < len(gt)) & (rank != best[gt])
    objects = np.bincount(det, minlength=det_count)
    needed = np.bincount(det[~redundant], minlength=det_count)

    links = np.flatnonzero(~redundant)
    links = links[np.lexsort((det[links], gt[links]))]
    gt, det, covers, is_text = gt[links], det[links], covers[links], is_text[links]
    pieces = np.bincount(gt, minlength=gt_count)
    one_to_one = (pieces[gt] == 1) & (objects[det] == 1)
    return Mistakes(
        gt=gt,
        det=det,
        missed=(pieces == 0) & ~batch.gt.dont_care & (gt_area > 0),
        split=pieces > 1,
        tight=np.bincount(gt[one_to_one & ~covers], minlength=gt_count) > 0,
        merged=(objects > 1) & (needed > 0),
        loose=np.bincount(det[one_to_one & ~is_text], minlength=det_count) > 0,
        false=~linked & (det_area > 0),
        duplicate=(objects > 0) & (needed == 0) & ~on_dont_care,
    )


def _best_first(batch: ImageBatch, overlaps: Overlaps) -> Ints:
    """Order of the pairs by decreasing IoU; ties by place, objects that count first, and not by the
    files' order.
    """
    gt, det, iou = overlaps.gt, overlaps.det, overlaps.iou()
    falling = np.argsort(-iou)
    level = np.empty(len(iou), np.int64)
    level[falling] = np.cumsum(-np.diff(iou[falling], prepend=2.0) > TIE)
    places = (batch.gt.dont_care[gt], *batch.gt.boxes[gt].T, *batch.det.boxes[det].T)
    return np.asarray(np.lexsort((*places, batch.gt.image[gt], level)))
