"""What protocols share: ties, pairs in plain Python, don't care, and the results of objects."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.records import Bools, Floats, ImageBatch, Ints, Overlaps, offsets_of

TIE = 1e-9
"""Ratios nearer than this are equal: only rounding makes them different."""
Pair: TypeAlias = tuple[int, int]
"""An object and a detection, as rows of the batch."""
Types: TypeAlias = NDArray[np.uint8]
"""(n,) uint8. For each object an index into `MATCH_TYPES`."""
Values: TypeAlias = Mapping[str, NDArray[Any]]
"""The protocol's own values of objects, (n,) each."""
MATCH_TYPES = (
    *("one-to-one", "one-to-many", "many-to-one", "many-to-many"),
    *("missed", "false-positive", "ignored"),
)
"""How objects and detections are matched, always read from the ground truth to the detections."""
ONE_TO_ONE, ONE_TO_MANY, MANY_TO_ONE, MANY_TO_MANY, MISSED, FALSE_POSITIVE, IGNORED = range(7)


def at_least(ratio: Any, threshold: Any) -> Any:
    """Whether a ratio, or each of an array, reaches a threshold."""
    return ratio >= threshold - TIE


def above(ratio: Any, threshold: Any) -> Any:
    """Whether a ratio, or each of an array, is more than a threshold."""
    return ratio > threshold + TIE


# Pairs --------------------------------------------------------------------------------------------


def pairs_of(overlaps: Overlaps) -> list[Pair]:
    """Return overlaps as pairs, sorted."""
    return list(zip(overlaps.gt.tolist(), overlaps.det.tolist(), strict=True))


def columns_of(pairs: list[Pair]) -> tuple[Ints, Ints]:
    """Return the objects and the detections of pairs."""
    gt, det = np.array(pairs, np.int64).reshape(-1, 2).T
    return gt, det


def alone(pairs: list[Any]) -> list[Any]:
    """Return the pairs whose object and whose detection, their first items, are in no other."""
    of_gt, of_det = Counter(pair[0] for pair in pairs), Counter(pair[1] for pair in pairs)
    return [pair for pair in pairs if of_gt[pair[0]] == 1 and of_det[pair[1]] == 1]


def by_gt(pairs: Iterable[Pair], side: int = 0) -> dict[int, list[Pair]]:
    """Return the pairs of each object."""
    groups = defaultdict(list)
    for pair in pairs:
        groups[pair[side]].append(pair)
    return groups


def by_det(pairs: Iterable[Pair]) -> dict[int, list[Pair]]:
    """Return the pairs of each detection."""
    return by_gt(pairs, side=1)


def first_fit(gt: Ints, det: Ints) -> Bools:
    """(p,) which candidates are pairs: each object, in order, takes its first that is free."""
    # A candidate that nothing competes with is a pair; most are.
    chosen: Bools = (np.bincount(gt)[gt] == 1) & (np.bincount(det)[det] == 1)
    paired_gt, paired_det = set(), set()
    for k in np.flatnonzero(~chosen).tolist():
        i, j = int(gt[k]), int(det[k])
        if i not in paired_gt and j not in paired_det:
            paired_gt.add(i)
            paired_det.add(j)
            chosen[k] = True
    return chosen


def are_best(own: Ints, other: Ints, iou: Floats) -> Bools:
    """(p,) pairs with the highest IoU of their own side; of equal ones, with the first object of
    the other side.
    """
    order = np.lexsort((other, -iou.round(9), own))
    result = np.zeros(len(own), dtype=bool)
    result[order[np.diff(own[order], prepend=-1) > 0]] = True
    return result


def in_dont_care(
    batch: ImageBatch, overlaps: Overlaps, share: float, is_enough: Any = above
) -> Bools:
    """(D,) detections, as the overlaps number them, of which more than a share lies in a single
    don't-care object; with ``is_enough=at_least`` the share itself is enough.
    """
    inside = batch.gt.dont_care[overlaps.gt] & is_enough(overlaps.precision(), share)
    result = np.zeros(len(overlaps.det_area), dtype=bool)
    result[overlaps.det[inside]] = True
    return result


# Results of objects -------------------------------------------------------------------------------


class SideMatches(NamedTuple):
    """What each object of one side was matched with, and how."""

    types: Types
    offsets: Ints
    partners: Ints
    """`offsets` and `partners`: (n + 1,), (k,) int64. Object i's partners are
    ``partners[offsets[i]:offsets[i + 1]]``, indices into the other side."""
    values: Mapping[str, Floats]
    """The protocol's own values, (n,) float64; NaN where undefined."""


class Matches(NamedTuple):
    """Per-object results of a batch."""

    gt: SideMatches
    det: SideMatches


def matches(
    gt: Ints, det: Ints, gt_counts: Bools, det_counts: Bools, gt_values: Values, det_values: Values
) -> Matches:
    """Return every object's type, partners and values, from (p,) pairs in any order; what does not
    count, by (G,), (D,) bool, is ignored, and its values are undefined.
    """
    relation = np.where(np.bincount(gt)[gt] > 1, ONE_TO_MANY, ONE_TO_ONE)
    relation |= np.where(np.bincount(det)[det] > 1, MANY_TO_ONE, ONE_TO_ONE)
    return Matches(
        _side(gt, det, relation, gt_counts, MISSED, gt_values),
        _side(det, gt, relation, det_counts, FALSE_POSITIVE, det_values),
    )


def one_to_one(
    gt: Ints, det: Ints, gt_counts: Bools, det_counts: Bools, **values: NDArray[Any]
) -> Matches:
    """Return `matches` of pairs with these values, (p,) each; without a pair a value is 0."""
    of_gt, of_det = (
        {name: scatter(column, own, len(counts)) for name, column in values.items()}
        for own, counts in ((gt, gt_counts), (det, det_counts))
    )
    return matches(gt, det, gt_counts, det_counts, of_gt, of_det)


def _side(
    own: Ints, other: Ints, relation: Ints, counts: Bools, unmatched: int, values: Values
) -> SideMatches:
    types = np.full(len(counts), unmatched, np.uint8)
    types[own] = ONE_TO_ONE
    np.bitwise_or.at(types, own, relation.astype(np.uint8))  # many to many is both of the others
    types[~counts] = IGNORED
    known = {name: np.where(counts, value, np.nan) for name, value in values.items()}
    offsets = offsets_of(np.bincount(own, minlength=len(counts)))
    return SideMatches(types, offsets, other[np.lexsort((other, own))], known)


def mean_of(*names: str) -> Callable[[Types, Mapping[str, Floats]], Floats]:
    """Return an `object_credit`: the mean of some of the objects' values, undefined ones as 0."""
    return lambda _, values: np.mean([np.nan_to_num(values[name]) for name in names], axis=0)


# Columns ------------------------------------------------------------------------------------------


def scatter(values: Floats, index: Ints, count: int) -> Floats:
    """(count,) values of the objects at these indices; 0 elsewhere."""
    result = np.zeros(count)
    result[index] = values
    return result


def per_image(values: NDArray[Any], image: Ints, images: int) -> NDArray[Any]:
    """(images,) sums of values of objects; counts and booleans give whole numbers."""
    sums = np.bincount(image, weights=values, minlength=images)
    return sums.astype(np.float64 if values.dtype.kind == "f" else np.int64)


def image_sums(
    batch: ImageBatch, gt_values: NDArray[Any], det_values: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """(images,) each, the sums of values of objects (G,) and of detections (D,)."""
    images = len(batch.names)
    gt = per_image(gt_values, batch.gt.image, images)
    return gt, per_image(det_values, batch.det.image, images)


def object_counts(
    batch: ImageBatch, gt_counts: Bools, det_counts: Bools
) -> tuple[Ints, Ints, Ints, Ints]:
    """(images,) each, the first fields of an `ObjectTally`; (G,), (D,) bool say which count."""
    gt, det = image_sums(batch, gt_counts, det_counts)
    return np.diff(batch.gt.offsets), gt, np.diff(batch.det.offsets), det


def unique_pairs(one: Ints, other: Ints) -> tuple[Ints, Ints]:
    """Return where each different pair of numbers comes first, and (n,) which one each is."""
    pairs = np.column_stack([one, other])
    _, first, which = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    return first, which.ravel()
