"""Pairs that overlap, with their area recall and area precision: what the DetEval family matches,
by its `Rules`.

Area recall σ = Area(G ∩ D) / Area(G), area precision τ = Area(G ∩ D) / Area(D) (Wolf & Jolion,
IJDAR 2006).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli import geometry
from evaltex_cli.geometry import outlines, shapes
from evaltex_cli.geometry.rounding import without_errors
from evaltex_cli.protocols.base import parameter
from evaltex_cli.protocols.ratios import SLACK, ignored_detections, quotient, settled
from evaltex_cli.records import (
    ANY_TYPE,
    Bools,
    Convention,
    Floats,
    ImageBatch,
    Ints,
    Objects,
    Overlaps,
)

SINGLE_IS_MANY, SINGLE_IS_ONE_TO_ONE, SINGLE_IS_RETESTED = range(3)
"""What a split or merge of one partner is: like any other; a one-to-one
match; that, if it passes its thresholds.
"""
SLACK_DECIMALS = 9
"""As `SLACK`: sums of ratios, and what they have to reach, are rounded to so many decimals where no
program says how to add."""
_PAIRS_AT_ONCE = 1 << 15
"""Pairs whose boxes are looked at at once; a pair takes 200 bytes on the way."""


class Rules(NamedTuple):
    """How a member of the family matches."""

    single_overlap: bool = True
    """A one-to-one match overlaps nothing else that counts."""
    several_overlaps: bool = True
    """The one of a split or merge overlaps two or more that count."""
    separate_tests: bool = False
    """One-to-one by Total-Text: σ > t_r and τ > t_p, each by exactly one detection of the row and
    in its column, not necessarily the same. Otherwise σ >= t_r and τ >= t_p by a single pair of its
    row and column."""
    dont_care_competes: bool = False
    """Objects and detections that do not count are rivals of a one-to-one match; otherwise they are
    as if not there."""
    single: int = SINGLE_IS_RETESTED
    """One of `SINGLE_IS_MANY`, `SINGLE_IS_ONE_TO_ONE`, `SINGLE_IS_RETESTED`."""
    sum_decimals: int | None = None
    """Decimals that sums of ratios are rounded to."""
    settles_sums: bool = False
    """Whether sums that only rounding moves off a threshold are at it (`SLACK_DECIMALS`)."""
    ratio_decimals: int | None = None
    """Decimals that ratios are rounded to."""
    typed: bool = False
    """Objects and detections of different types never match; they are rivals all the same."""
    single_precision: bool = False
    """Ratios, their sums and all thresholds are 32 bit floats, centres and their distance whole
    pixels, as in Wolf's program."""
    dont_care_margin: float = 0.0
    """Square pixels added to a detection's area before its share on don't care is taken."""
    dont_care_overlap: float = 0.4
    """A detection with more than this share of its area in a single don't-care object does not
    count."""
    center: float | None = 1.0
    """A one-to-one match needs a distance of the bounding boxes' centres below this many mean
    diagonals; None for no such test."""
    border: bool = False
    """A one-to-one match may cut at most min(5 % of the width, 8 pixels) of the object on the left
    and on the right."""


class Thresholds(NamedTuple):
    """Thresholds on σ ("recall") and τ ("precision").

    `one_to_many_recall` and `many_to_one_precision` are what the sum over all partners has to
    reach, `one_to_many_precision` and `many_to_one_recall` what every partner has to.
    """

    one_to_one_recall: float
    one_to_one_precision: float
    one_to_many_recall: float
    one_to_many_precision: float
    many_to_one_precision: float
    many_to_one_recall: float


class Pairs(NamedTuple):
    """Overlapping pairs of a batch, sorted by (gt, det)."""

    gt: Ints
    det: Ints
    """`gt` and `det`: (p,) int64."""
    recall: NDArray[Any]
    precision: NDArray[Any]
    """`recall` and `precision`: (p,) float64 or float32. σ and τ."""
    one_to_one: Bools
    split: Bools
    merge: Bools
    """`one_to_one`, `split` and `merge`: (p,) bool. Whether both sides count, and all that does not
    depend on thresholds allows such a match: types, and centres, borders and other overlaps where
    the rules ask for them."""

    def some(self, which: Bools) -> Pairs:
        """Return some of the pairs, (p,) bool."""
        columns: Iterable[Any] = self
        return Pairs(*(column[which] for column in columns))


class Index(NamedTuple):
    """One side of the pairs: which object each is of, and how many objects there are."""

    of: Ints
    objects: int

    def times(self, chosen: NDArray[Any]) -> Ints:
        """(p,) how many chosen pairs the object of each pair has; `chosen` is a mask or indices."""
        return np.bincount(self.of[chosen], minlength=self.objects)[self.of]

    def has(self, chosen: NDArray[Any]) -> Bools:
        """(p,) whether `times` is above 0, in less time."""
        found = np.zeros(self.objects, dtype=bool)
        found[self.of[chosen]] = True
        return found[self.of]


class Scene(NamedTuple):
    """Where a batch's matches are looked for: the pairs; (G,), (D,) bool,
    which objects and detections count.
    """

    pairs: Pairs
    gt_counts: Bools
    det_counts: Bools


def scene(
    batch: ImageBatch,
    overlaps: Overlaps,
    convention: Convention,
    rules: Rules,
    left_out: Bools,
    thresholds: Floats,
) -> Scene:
    """Prepare a batch for matching.

    Parameters
    ----------
    batch, overlaps, convention
        The overlaps must have been measured by this convention.
    rules : Rules
    left_out : (G,) bool
        Objects that are not there: not counted, and not don't care.
    thresholds : (k,) float64
        All that the ratios will be compared with.
    """
    shares = overlaps._replace(det_area=overlaps.det_area + rules.dont_care_margin)
    gt_counts = ~(batch.gt.dont_care | left_out)
    det_counts = ~ignored_detections(batch, shares, rules.dont_care_overlap)
    gt, det = overlaps.gt, overlaps.det
    recall, precision = (
        quotient(overlaps.area, overlaps.gt_area[gt]),
        quotient(overlaps.area, overlaps.det_area[det]),
    )
    if rules.ratio_decimals is not None:
        # Rounding is itself a comparison, with the halves between the decimals: a tie there must
        # not be left to chance.
        halves = 2 * 10**rules.ratio_decimals
        marks = np.arange(halves + 1) / halves
        recall, precision = (settled(ratio, marks, overlaps) for ratio in (recall, precision))
        recall, precision = (
            np.round(recall, rules.ratio_decimals),
            np.round(precision, rules.ratio_decimals),
        )
    else:
        recall, precision = (settled(ratio, thresholds, overlaps) for ratio in (recall, precision))
    ratio_type: Any = np.float32 if rules.single_precision else np.float64
    alike = _alike(batch, gt, det) if rules.typed else np.ones(len(gt), dtype=bool)
    near = alike.copy()
    sides = shapes.boxes_of(batch.gt, convention), shapes.boxes_of(batch.det, convention)
    for start in range(0, len(gt), _PAIRS_AT_ONCE):
        some = slice(start, start + _PAIRS_AT_ONCE)
        near[some] &= _near(sides[0][gt[some]], sides[1][det[some]], rules, convention)
    recall, precision = recall.astype(ratio_type), precision.astype(ratio_type)
    counts = gt_counts[gt] & det_counts[det]
    of_gt, of_det = Index(gt, len(gt_counts)), Index(det, len(det_counts))
    one_to_one, split, merge = counts & near, counts & alike, counts & alike
    if rules.single_overlap:
        one_to_one &= (of_gt.times(counts) == 1) & (of_det.times(counts) == 1)
    if rules.several_overlaps:
        split &= of_gt.times(counts & (recall > 0)) > 1
        merge &= of_det.times(counts & (precision > 0)) > 1
    pairs = Pairs(gt, det, recall, precision, one_to_one, split, merge)
    return Scene(pairs if rules.dont_care_competes else pairs.some(counts), gt_counts, det_counts)


def _alike(batch: ImageBatch, gt: Ints, det: Ints) -> Bools:
    if batch.gt.types is None or batch.det.types is None:
        return np.ones(len(gt), dtype=bool)
    a, b = batch.gt.types[gt], batch.det.types[det]
    return np.asarray((a == b) | (a == ANY_TYPE) | (b == ANY_TYPE))


def _near(gt: Floats, det: Floats, rules: Rules, convention: Convention) -> Bools:
    """(p,) whether the boxes are where those of a match may be."""
    near = np.ones(len(gt), dtype=bool)
    if rules.center is not None:
        distance = _center_distance(gt, det, rules.single_precision)
        ratio_type: Any = np.float32 if rules.single_precision else np.float64
        # The programs know whole pixels only, and compare what they get.
        slack = 0.0 if convention.inclusive else SLACK
        with np.errstate(over="ignore"):  # what is too large for single precision is no limit
            near &= distance < float(ratio_type(rules.center)) - slack
    if rules.border:
        near &= _keeps_borders(gt, det)
    return near


def _center_distance(a: Floats, b: Floats, whole_pixels: bool) -> Floats:
    """(p,) distances of the boxes' centres, in mean diagonals."""
    sides_a, sides_b = a[:, 2:] - a[:, :2], b[:, 2:] - b[:, :2]
    if whole_pixels:
        whole = (a[:, :2] + np.floor(sides_a / 2) - b[:, :2] - np.floor(sides_b / 2)).astype(
            np.float32
        )
        distance = np.trunc(np.sqrt(whole[:, 0] * whole[:, 0] + whole[:, 1] * whole[:, 1])).astype(
            np.float64
        )
    else:
        offset = (a[:, :2] + sides_a / 2) - (b[:, :2] + sides_b / 2)
        distance = np.sqrt((offset * offset).sum(axis=1))
    diagonals = np.sqrt((sides_a * sides_a).sum(axis=1)) + np.sqrt((sides_b * sides_b).sum(axis=1))
    return quotient(2 * distance, diagonals)


def _keeps_borders(gt: Floats, det: Floats) -> Bools:
    slack = np.maximum((gt[:, 0] - gt[:, 2]) / 20, -8)
    return np.asarray((gt[:, 0] - det[:, 0] >= slack) & (det[:, 2] - gt[:, 2] >= slack))


def exact_sums(rules: Rules) -> Rules:
    """Return rules for shapes that their program does not take: a sum that
    rounding moves off a threshold is at it.
    """
    return rules._replace(settles_sums=not rules.single_precision)


# Rectangles of zeros, which some data sets have in images without text ----------------------------


def zero_rectangles_field() -> Any:
    """Return the parameter `zero_rectangles`: option ``-z`` of Wolf's evaldetection."""
    return parameter(
        "counted",
        "rectangles without a column or row beyond 0: counted, or left out (ignored;"
        " evaldetection -z)",
        choices=("counted", "ignored"),
    )


def without_zero_rectangles(
    batch: ImageBatch, overlaps: Overlaps, parameters: Any
) -> tuple[Overlaps, Bools, Bools]:
    """Return overlaps without rectangles of zeros, and (G,), (D,) bool which
    these are; none where they count.
    """
    if parameters.zero_rectangles == "counted" or batch.has_masks:
        return overlaps, np.zeros(batch.gt.count, dtype=bool), np.zeros(batch.det.count, dtype=bool)
    gt, det = _zero(batch.gt), _zero(batch.det)
    has_area = ~(gt[overlaps.gt] | det[overlaps.det])
    return (
        Overlaps(
            overlaps.gt[has_area], overlaps.det[has_area], overlaps.area[has_area], *overlaps[3:]
        ),
        gt,
        det,
    )


def _zero(objects: Objects) -> Bools:
    pixels = objects.boxes if objects.pixels is None else objects.pixels
    return np.asarray((np.trunc(pixels) <= 0).all(axis=1))


# Polygons that cross themselves -------------------------------------------------------------------


def with_plain_areas(batch: ImageBatch, overlaps: Overlaps) -> Overlaps:
    """Give invalid detections the areas of the script: their own by the
    signed sum, in pairs those of buffer(0).
    """
    invalid, drawn = outlines.self_crossing(batch.det.outlines)
    if not len(invalid):
        return overlaps
    det_area, area = overlaps.det_area.copy(), overlaps.area.copy()
    det_area[invalid] = geometry.shapely.area(drawn)
    pair = np.flatnonzero(np.isin(overlaps.det, invalid))
    buffered = geometry.geos.buffer(drawn, 0)[np.searchsorted(invalid, overlaps.det[pair])]
    gt = shapes.geometries(shapes.from_objects(batch.gt, Convention()), overlaps.gt[pair])
    common = geometry.shapely.area(geometry.geos.intersection(gt, buffered))
    if overlaps.gt_boxes is not None and overlaps.det_boxes is not None:
        boxes = overlaps.gt_boxes[overlaps.gt[pair]], overlaps.det_boxes[overlaps.det[pair]]
        common = without_errors(common, *boxes)
    area[pair] = common
    meet = area > 0
    plain = overlaps._replace(gt=overlaps.gt[meet], det=overlaps.det[meet], area=area[meet])
    return plain._replace(det_area=det_area)
