"""What protocols share: ties, the pairs of an image, don't care, and the results of objects.

A protocol measures areas in columns for a whole batch, and matches image by image in plain Python
over the few pairs that overlap (`by_image`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.records import Bools, Floats, ImageBatch, Ints, Objects, Overlaps, offsets_of

TIE = 1e-9
"""Ratios nearer than this are equal: only rounding makes them different."""
Pair: TypeAlias = tuple[int, int]
"""An object and a detection, as rows of the batch."""
Types: TypeAlias = NDArray[np.uint8]
"""(n,) uint8. For each object an index into `MATCH_TYPES`."""
MATCH_TYPES = (
    "one-to-one",
    "one-to-many",
    "many-to-one",
    "many-to-many",
    "missed",
    "false-positive",
    "ignored",
)
"""How objects and detections are matched, always read from the ground truth to the detections."""
ONE_TO_ONE, ONE_TO_MANY, MANY_TO_ONE, MANY_TO_MANY, MISSED, FALSE_POSITIVE, IGNORED = range(7)


# Ties ---------------------------------------------------------------------------------------------


def at_least(ratio: Any, threshold: Any) -> Any:
    """Whether a ratio, or each of an array, reaches a threshold."""
    return ratio >= threshold - TIE


def above(ratio: Any, threshold: Any) -> Any:
    """Whether a ratio, or each of an array, is more than a threshold."""
    return ratio > threshold + TIE


def larger_area(area: Floats, least: float) -> Bools:
    """Whether areas are more than another one, of whatever unit."""
    return area > least * (1 + TIE)


# Pairs of an image --------------------------------------------------------------------------------


class ImagePairs(NamedTuple):
    """The pairs of an image that overlap, sorted by (object, detection)."""

    image: int
    recall: dict[Pair, float]
    """Share of the object that the detection covers: Area(G ∩ D) / Area(G)."""
    precision: dict[Pair, float]
    """Share of the detection that the object covers: Area(G ∩ D) / Area(D)."""


def by_image(gt: Objects, overlaps: Overlaps) -> Iterator[ImagePairs]:
    """Yield the pairs of every image that has any."""
    pairs = list(zip(overlaps.gt.tolist(), overlaps.det.tolist(), strict=True))
    recall, precision = overlaps.recall().tolist(), overlaps.precision().tolist()
    starts = np.searchsorted(overlaps.gt, gt.offsets).tolist()
    for image, (start, stop) in enumerate(pairwise(starts)):
        if start < stop:
            own = pairs[start:stop]
            yield ImagePairs(
                image,
                dict(zip(own, recall[start:stop], strict=True)),
                dict(zip(own, precision[start:stop], strict=True)),
            )


def columns_of(pairs: list[Pair]) -> tuple[Ints, Ints]:
    """Return the objects and the detections of pairs."""
    gt, det = np.array(pairs, np.int64).reshape(-1, 2).T
    return gt, det


def alone(pairs: list[Any]) -> list[Any]:
    """Return the pairs whose object and whose detection are in no other pair; these come first."""
    of_gt, of_det = Counter(pair[0] for pair in pairs), Counter(pair[1] for pair in pairs)
    return [pair for pair in pairs if of_gt[pair[0]] == 1 and of_det[pair[1]] == 1]


def by_gt(pairs: Iterable[Pair]) -> dict[int, list[Pair]]:
    """Return the pairs of each object."""
    groups = defaultdict(list)
    for pair in pairs:
        groups[pair[0]].append(pair)
    return groups


def by_det(pairs: Iterable[Pair]) -> dict[int, list[Pair]]:
    """Return the pairs of each detection."""
    groups = defaultdict(list)
    for pair in pairs:
        groups[pair[1]].append(pair)
    return groups


def first_fit(gt: Ints, det: Ints) -> Bools:
    """Pair each object, in order, with its first candidate that is still free.

    Parameters
    ----------
    gt, det : (p,) int64
        Candidate pairs in the order in which they are tried.

    Returns
    -------
    (p,) bool
        The chosen pairs; no object and no detection is in two.
    """
    # Only pairs with a rival need the loop: few, because most objects overlap one detection.
    is_contested = (np.bincount(gt)[gt] > 1) | (np.bincount(det)[det] > 1)
    chosen: Bools = ~is_contested
    paired_gt, paired_det = set(), set()
    disputes = np.flatnonzero(is_contested)
    columns = (column.tolist() for column in (disputes, gt[disputes], det[disputes]))
    for k, i, j in zip(*columns, strict=True):
        if i not in paired_gt and j not in paired_det:
            paired_gt.add(i)
            paired_det.add(j)
            chosen[k] = True
    return chosen


def in_dont_care(
    batch: ImageBatch,
    overlaps: Overlaps,
    share: float,
    is_enough: Callable[[Any, Any], Any] = above,
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
    """Dict of (n,) float64. The protocol's own values; NaN where undefined."""


class Matches(NamedTuple):
    """Per-object results of a batch."""

    gt: SideMatches
    det: SideMatches


def matches(
    gt: Ints,
    det: Ints,
    gt_counts: Bools,
    det_counts: Bools,
    gt_values: Mapping[str, NDArray[Any]],
    det_values: Mapping[str, NDArray[Any]],
    types: tuple[Types, Types] | None = None,
) -> Matches:
    """Return every object's type, partners and values; the values of what does not count are
    undefined.

    Parameters
    ----------
    gt, det : (p,) int64
        The matched pairs, in any order.
    gt_counts, det_counts : (G,), (D,) bool
        Objects and detections that count; the others are ignored.
    gt_values, det_values : mapping of (G,), (D,)
        The protocol's own values.
    types : (G,), (D,) uint8, optional
        If the protocol has its own; by default those that follow from the pairs.
    """
    is_split, is_merged = np.bincount(gt)[gt] > 1, np.bincount(det)[det] > 1
    gt_type, det_type = types or (
        _types(gt, is_split, is_merged, gt_counts, MISSED),
        _types(det, is_split, is_merged, det_counts, FALSE_POSITIVE),
    )
    return Matches(
        side_matches(gt_type, gt, det, gt_counts, gt_values),
        side_matches(det_type, det, gt, det_counts, det_values),
    )


def _types(own: Ints, is_split: Bools, is_merged: Bools, counts: Bools, unmatched: int) -> Types:
    """The types of one side; an object is split or merged if any of its pairs is."""
    is_matched, splits, merges = (
        np.bincount(own, weights, len(counts)) > 0 for weights in (None, is_split, is_merged)
    )
    relation = np.where(splits, ONE_TO_MANY, ONE_TO_ONE) + np.where(merges, MANY_TO_ONE, 0)
    types = np.where(is_matched, relation, unmatched)
    return np.where(counts, types, IGNORED).astype(np.uint8)


def side_matches(
    types: Types, own: Ints, other: Ints, counts: Bools | bool, values: Mapping[str, NDArray[Any]]
) -> SideMatches:
    """Return the results of one side, from (p,) pairs of its objects and the other side's."""
    shown: dict[str, Floats] = {
        name: np.where(counts, value, np.nan) for name, value in values.items()
    }
    return SideMatches(types, *group_by(own, other, len(types)), shown)


def group_by(key: Ints, values: Ints, groups: int) -> tuple[Ints, Ints]:
    """Return offsets (groups + 1,) and the values sorted by (key, value)."""
    order = np.lexsort((values, key))  # the last key of lexsort is the first to be compared
    return offsets_of(np.bincount(key, minlength=groups)), values[order]


def mean_of(*names: str) -> Callable[[Types, Mapping[str, Floats]], Floats]:
    """Return an `object_credit`: the mean of some of the objects' values, undefined ones as 0."""
    return lambda _, values: np.mean([defined(values[name]) for name in names], axis=0)


def defined(values: Floats) -> Floats:
    """The values, undefined ones as 0."""
    return np.where(np.isnan(values), 0.0, values)


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


def object_counts(
    batch: ImageBatch, gt_counts: Bools, det_counts: Bools
) -> tuple[Ints, Ints, Ints, Ints]:
    """(images,) each, the first fields of an `ObjectTally`; (G,), (D,) bool say which count."""
    images = len(batch.names)
    return (
        np.diff(batch.gt.offsets),
        per_image(gt_counts, batch.gt.image, images),
        np.diff(batch.det.offsets),
        per_image(det_counts, batch.det.image, images),
    )


def unique_pairs(one: Ints, other: Ints) -> tuple[Ints, Ints]:
    """Return where each different pair of numbers comes first, and (n,) which one each is."""
    other = np.unique(other, return_inverse=True)[1]
    key = one * (other.max(initial=0) + 1) + other
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return first, which
