"""Instance matching of CLEval (section 3.1): by area precision and the characters that a detection includes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli import geometry
from evaltex_cli.geometry import boxes as box_geometry
from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.overlaps import touching_boxes
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.protocols.cleval.shapes import Side
from evaltex_cli.protocols.ratios import divide
from evaltex_cli.records import Bools, Floats, Ints, expanded


@dataclass(frozen=True, slots=True, eq=False)
class Inclusions:
    """Which characters lie in which detections, and the pairs of objects and detections that follow.

    Attributes
    ----------
    centre, det : (c,) int64
        A character and a detection that includes it, sorted.
    pair : (c,) int64
        The pair it belongs to.
    pair_gt, pair_det : (p,) int64
        Pairs that share a character, sorted.
    """

    centre: Ints
    det: Ints
    pair: Ints
    pair_gt: Ints
    pair_det: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """Which pairs of `Inclusions` match, and how; which detections do not count.

    Attributes
    ----------
    one_to_one, one_to_many, many_to_one : (p,) bool
    dropped : (D,) bool
        Detections of don't-care objects.
    """

    one_to_one: Bools
    one_to_many: Bools
    many_to_one: Bools
    dropped: Bools

    @property
    def matched(self) -> Bools:
        """(p,) whether a pair matches at all."""
        return self.one_to_one | self.one_to_many | self.many_to_one


def inclusions(centre: Ints, det: Ints, owner: Ints, detections: int) -> Inclusions:
    """Gather the pairs (object, detection) of sorted pairs (centre, detection); `owner` is each centre's object."""
    key, pair = np.unique(owner[centre] * max(detections, 1) + det, return_inverse=True)
    return Inclusions(centre, det, pair.reshape(-1), key // max(detections, 1), key % max(detections, 1))


def match(
    found: Inclusions,
    overlap: tuple[Ints, Ints, Floats],
    det_area: Floats,
    dont_care: Bools,
    threshold: float,
    official: bool,
) -> Matching:
    """Match objects and detections.

    Parameters
    ----------
    found : Inclusions
    overlap : (o,) int64, int64, float64
        Pairs (gt, det), sorted, that overlap, and by which area; of don't-care objects without what is a word's.
    det_area : (D,) float64
    dont_care : (G,) bool
    threshold : float
        Least area precision.
    official : bool
        Area precision in single precision, and at least the threshold where don't-care objects take detections; in
        double precision, and above the threshold, if not. (Sums over a merge are of doubles in either case.)
    """
    gt, det, area = overlap
    single = np.float32 if official else np.float64
    precision, limit = divide(area, det_area[det]).astype(single), single(threshold)
    detections, i, j = len(det_area), found.pair_gt, found.pair_det
    shared = _at(precision, gt, det, i, j, detections)

    ignores, on_ignored = dont_care[gt], dont_care[i]
    total = np.zeros(detections, single)
    np.add.at(total, j[on_ignored], shared[on_ignored])
    exceeds = np.greater_equal if official else np.greater
    dropped: Bools = exceeds(total, limit)
    dropped[det[ignores & exceeds(precision, limit)]] = True

    strong = shared >= limit
    counted = ~dont_care[i] & ~dropped[j]
    in_row, in_column = np.bincount(i[strong], minlength=len(dont_care)), np.bincount(j[strong], minlength=detections)
    one_to_one = counted & strong & (in_row[i] == 1) & (in_column[j] == 1)
    split = counted & strong
    one_to_many = split & (np.bincount(i[split], minlength=len(dont_care))[i] >= 2)
    objects = np.bincount(j[counted], minlength=detections)
    total = np.bincount(j[counted], weights=shared[counted], minlength=detections)
    many_to_one = counted & (objects[j] >= 2) & (total[j] >= threshold)
    return Matching(one_to_one, one_to_many, many_to_one, dropped)


def _at(values: NDArray[Any], gt: Ints, det: Ints, i: Ints, j: Ints, detections: int) -> NDArray[Any]:
    """(p,) the values of pairs (i, j) among sorted pairs (gt, det); 0 where there is none."""
    place, there = _find(gt * max(detections, 1) + det, i * max(detections, 1) + j)
    result = np.zeros(len(i), values.dtype)
    result[there] = values[place[there]]
    return result


def _find(keys: Ints, wanted: Ints) -> tuple[Ints, Bools]:
    """Return where in sorted keys each wanted one would stand, and whether it does."""
    place = np.searchsorted(keys, wanted)
    there = place < len(keys)
    there[there] = keys[place[there]] == wanted[there]
    return place, there


def without_words(overlap: tuple[Ints, Ints, Floats], gt: Side, det: Side, dont_care: Bools) -> Floats:
    """(o,) overlaps of don't-care objects, less what objects that count overlap of them; others as they are."""
    of_gt, of_det, area = overlap
    ignored, word = _touching(gt, dont_care)
    if not len(ignored):
        return area
    first, last = np.searchsorted(of_gt, word), np.searchsorted(of_gt, word, side="right")
    source, k = expanded(last - first)
    entry = first[source] + k
    detections = max(len(det.area), 1)
    place, there = _find(of_gt * detections + of_det, ignored[source] * detections + of_det[entry])
    pair, rank = np.unique(place[there], return_inverse=True)
    common = _intersections(gt.shapes, of_gt[pair], det.shapes, of_det[pair])
    covered = shapes.union_area(rank, shapes.Pairs(gt.shapes, word[source[there]], common, rank), len(pair))
    area = area.copy()
    area[pair] = np.maximum(area[pair] - covered, 0.0)
    return area


def _touching(gt: Side, dont_care: Bools) -> tuple[Ints, Ints]:
    """Pairs of a don't-care object and one that counts whose bounding boxes overlap."""
    ignored, words = np.flatnonzero(dont_care), np.flatnonzero(~dont_care)
    offsets = (np.searchsorted(side, gt.offsets) for side in (ignored, words))
    boxes = gt.shapes.boxes
    i, j = touching_boxes(boxes[ignored], next(offsets), boxes[words], next(offsets))
    return ignored[i], words[j]


def _intersections(a: Shapes, i: Ints, b: Shapes, j: Ints) -> Shapes:
    """Shapes of the intersections of ``a[i[k]]`` and ``b[j[k]]``, which overlap."""
    boxes = box_geometry.intersection(a.boxes[i], b.boxes[j])
    which = np.flatnonzero(a.is_polygon[i] | b.is_polygon[j])
    if not len(which):
        return Shapes(boxes)
    geometries = np.full(len(boxes), None, dtype=object)
    cut = geometry.geos.intersection(shapes.geometries(a, i[which]), shapes.geometries(b, j[which]))
    geometries[which] = geometry.polygons.repair(cut)
    return Shapes(boxes, geometries)
