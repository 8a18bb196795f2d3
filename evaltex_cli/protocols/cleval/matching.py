"""Matching of CLEval (section 3.1): what is compared, and the matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.differences import cuts
from evaltex_cli.geometry.overlaps import shapes_of
from evaltex_cli.protocols.cleval.characters import Characters, Inclusions, inclusions
from evaltex_cli.protocols.cleval.parameters import Parameters, convention
from evaltex_cli.protocols.cleval.shapes import (
    Side,
    aspects,
    false_positive_lengths,
    lengths_by_aspect,
    overlap_areas,
    side_of,
)
from evaltex_cli.protocols.cleval.text import texts_of
from evaltex_cli.protocols.ratios import divide, settled, settled_sums
from evaltex_cli.records import (
    Bools,
    Floats,
    ImageBatch,
    Ints,
    Overlaps,
    count_texts,
    distinct,
    stretches,
)


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """Which pairs of `Inclusions` match, and how; which detections do not count."""

    one_to_one: Bools
    one_to_many: Bools
    many_to_one: Bools
    """`one_to_one`, `one_to_many` and `many_to_one`: (p,) bool."""
    dropped: Bools
    """(D,) bool. Detections of don't-care objects."""

    @property
    def matched(self) -> Bools:
        """(p,) whether a pair matches at all."""
        return self.one_to_one | self.one_to_many | self.many_to_one


def match(
    found: Inclusions, overlaps: Overlaps, dont_care: Bools, threshold: float, official: bool
) -> Matching:
    """Match objects and detections.

    Parameters
    ----------
    found : Inclusions
    overlaps : Overlaps
        Those of don't-care objects without what is a word's.
    dont_care : (G,) bool
    threshold : float
        Least area precision.
    official : bool
        Area precision in single precision, and at least the threshold where don't-care objects take
        detections. If not: in double precision, above the threshold, and both at it if only
        rounding moved them off it. (Sums over a merge are of doubles in either case.)
    """
    gt, det = overlaps.gt, overlaps.det
    single = np.float32 if official else np.float64
    limit = single(threshold)
    precision = divide(overlaps.area, overlaps.det_area[det])
    # Single precision hides the rounding of areas by itself, and is what the program compares.
    precision = precision.astype(single) if official else settled(precision, threshold, overlaps)
    detections, i, j = len(overlaps.det_area), found.pair_gt, found.pair_det
    shared = _at(precision, gt, det, i, j, detections)

    ignores, on_ignored = dont_care[gt], dont_care[i]
    total = np.zeros(detections, single)
    # One after another in single precision, as the program adds; bincount would add doubles.
    np.add.at(total, j[on_ignored], shared[on_ignored])
    total = settled_sums(total, threshold, inexact=not official)
    exceeds = np.greater_equal if official else np.greater
    dropped: Bools = exceeds(total, limit)
    dropped[det[ignores & exceeds(precision, limit)]] = True

    strong = shared >= limit
    counted = ~dont_care[i] & ~dropped[j]
    # How many strong pairs each object and each detection has; one-to-one is the only one of both.
    in_row, in_column = (
        np.bincount(i[strong], minlength=len(dont_care)),
        np.bincount(j[strong], minlength=detections),
    )
    one_to_one = counted & strong & (in_row[i] == 1) & (in_column[j] == 1)
    split = counted & strong
    one_to_many = split & (np.bincount(i[split], minlength=len(dont_care))[i] >= 2)
    objects = np.bincount(j[counted], minlength=detections)
    total = np.bincount(j[counted], weights=shared[counted], minlength=detections)
    reached: Bools = settled_sums(total, threshold, inexact=not official) >= np.float64(threshold)
    many_to_one = counted & (objects[j] >= 2) & reached[j]
    return Matching(one_to_one, one_to_many, many_to_one, dropped)


def _at(
    values: NDArray[Any], gt: Ints, det: Ints, i: Ints, j: Ints, detections: int
) -> NDArray[Any]:
    """(p,) the values of pairs (i, j) among sorted pairs (gt, det); 0 where there is none."""
    # A pair as one number, so that sorted pairs are sorted numbers.
    place, there = _find(gt * max(detections, 1) + det, i * max(detections, 1) + j)
    result = np.zeros(len(i), values.dtype)
    result[there] = values[place[there]]
    return result


def _find(keys: Ints, wanted: Ints) -> tuple[Ints, Bools]:
    """Return the place of each wanted key among sorted ones, and whether it is there."""
    place = np.searchsorted(keys, wanted)
    there = place < len(keys)
    # Places beyond the end are excluded first; the mask is narrowed by itself.
    there[there] = keys[place[there]] == wanted[there]
    return place, there


def without_words(scene: Scene, dont_care: Bools) -> Floats:
    """(o,) areas; those of don't-care objects without what objects that count share with them."""
    gt, det = scene.gt, scene.det
    of_gt, of_det, area = scene.overlap
    which = distinct(of_gt[dont_care[of_gt]])
    cut = cuts(gt.shapes, gt.offsets, dont_care, which)
    parts, area = cut.parts(), area.copy()
    for start, stop in parts:
        some = cut.rows[start:stop]
        first, last = (np.searchsorted(of_gt, some, side) for side in ("left", "right"))
        rows = stretches(first, last - first)
        remains = shapes.from_geometries(gt.shapes.boxes[some], cut.remains(start, stop))
        own = np.repeat(np.arange(len(some)), last - first)
        pairs = shapes.Pairs(remains, own, det.shapes, of_det[rows])
        area[rows] = shapes.pair_area(*pairs[:4])
    return area


# What is compared ---------------------------------------------------------------------------------


DONT_CARE = "###"


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What of a batch does not depend on which objects are don't care."""

    gt: Side
    det: Side
    gt_image: Ints
    det_image: Ints
    names: Sequence[str]
    found: Inclusions
    overlap: tuple[Ints, Ints, Floats]
    """(o,) int64, int64, float64. Pairs (gt, det) that overlap, and by which area."""
    gt_length: Ints
    det_length: Ints
    """`gt_length` and `det_length`: (G,), (D,) int64. Number of characters of each object, and of
    each detection's transcription."""
    false_positive_length: Ints
    """(D,) int64. Characters of each detection, were it a false positive."""
    gt_texts: Sequence[str]
    det_texts: Sequence[str]


def scene_of(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Scene:
    """Take a batch as CLEval does: its outlines, the characters of its
    objects, and what they lie in.
    """
    taken = convention(parameters)
    all_polygons = parameters.annotation == "polygon"
    gt_shapes, det_shapes = shapes_of(batch, taken)
    gt = side_of(batch.gt, gt_shapes, taken, all_polygons)
    gt_aspect = aspects(gt, parameters.official)
    gt_texts, gt_length = _texts_and_lengths(batch.gt.texts, parameters)
    if not count_texts(batch.det.texts):
        gt_texts = []  # which are compared with none
    gt_length = np.where(batch.gt.dont_care, lengths_by_aspect(gt_aspect), gt_length)
    if parameters.official:
        vertical = gt_aspect < (parameters.vertical_aspect or 0.5)
    else:
        vertical = gt_aspect >= (parameters.vertical_aspect or 1.5)
    det = side_of(batch.det, det_shapes, taken, all_polygons)
    det_aspect = aspects(det, parameters.official)
    det_texts, det_length = _texts_and_lengths(_det_texts(batch, det_aspect), parameters)
    det_rank = _ranks(batch, parameters.order)
    found = inclusions(Characters(gt, gt_length, vertical), det, det_rank)
    det = det.without_vertices()
    if not parameters.scale_bins:
        gt = gt.without_vertices()
    return Scene(
        gt=gt,
        det=det,
        gt_image=batch.gt.image,
        det_image=batch.det.image,
        names=batch.names,
        found=found,
        overlap=overlap_areas(overlaps, gt, det),
        gt_length=gt_length,
        det_length=det_length,
        false_positive_length=false_positive_lengths(det_aspect),
        gt_texts=gt_texts,
        det_texts=det_texts,
    )


def _texts_and_lengths(texts: Sequence[str], parameters: Parameters) -> tuple[Sequence[str], Ints]:
    """Return transcriptions as they are compared, and (n,) how many characters each has."""
    compared = texts_of(texts, parameters.normalisation, parameters.case_sensitive)
    return compared, np.fromiter(map(len, compared), np.int64, len(compared))


def _det_texts(batch: ImageBatch, aspect: Floats) -> Sequence[str]:
    """Transcriptions of the detections; ``###`` counts as so many characters
    as fit in, as in the ground truth.
    """
    texts = batch.det.texts
    if not count_texts(texts):
        return [""] * batch.det.count
    lengths = lengths_by_aspect(aspect).tolist()
    return [
        "#" * length if text == DONT_CARE else text
        for text, length in zip(texts, lengths, strict=True)
    ]


def _ranks(batch: ImageBatch, order: str) -> Ints:
    """(D,) the detections' order: that of the file, or by falling confidence, those without any
    last.
    """
    ranks = np.arange(batch.det.count)
    if order == "file" or batch.det.confidences is None:
        return ranks
    # The last key is the first to be compared: image, then falling confidence, then the order of
    # the file.
    falling = np.lexsort(
        (ranks, np.nan_to_num(-batch.det.confidences, nan=np.inf), batch.det.image)
    )
    result = np.empty_like(ranks)
    result[falling] = ranks
    return result
