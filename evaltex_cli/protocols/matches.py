"""Matches as results of objects and detections: partners, the kind of match,
and the protocol's own values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.records import Bools, Floats, Ints, Objects, offsets_of

MATCH_TYPES = (
    "one-to-one",
    "one-to-many",
    "many-to-one",
    "many-to-many",
    "missed",
    "false-positive",
    "ignored",
)
"""Names of `SideMatches.types`; always read from the ground truth to the detections."""
ONE_TO_ONE, ONE_TO_MANY, MANY_TO_ONE, MANY_TO_MANY, MISSED, FALSE_POSITIVE, IGNORED = range(7)


class SideMatches(NamedTuple):
    """What each object of one side was matched with, and as what."""

    types: NDArray[np.uint8]
    """(n,) uint8. Index into `MATCH_TYPES`."""
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


class Matched(NamedTuple):
    """One side of some images, and how its n objects are matched, as far as a tally needs it."""

    offsets: Ints
    """(images + 1,) int64. Image k owns ``offsets[k]:offsets[k + 1]``."""
    dont_care: Bools
    """(n,) bool."""
    types: NDArray[np.uint8]
    """(n,) uint8. Index into `MATCH_TYPES`."""
    partners: Ints
    """(n,) int64. How many objects of the other side each was matched with."""
    values: Mapping[str, Floats]
    """Dict of (n,) float64. The protocol's own values."""

    @classmethod
    def of(cls, objects: Objects, side: SideMatches) -> Matched:
        """Return the objects of a batch with their matches."""
        partners = np.diff(side.offsets)
        return cls(objects.offsets, objects.dont_care, side.types, partners, side.values)

    @property
    def image(self) -> Ints:
        """(n,) the image index of each object."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


def scatter(values: Mapping[str, NDArray[Any]], index: Ints, count: int) -> dict[str, NDArray[Any]]:
    """Per-object columns (count,) from values (m,) of the objects at these indices; 0 elsewhere."""
    result: dict[str, NDArray[Any]] = {}
    for name, column in values.items():
        result[name] = np.zeros(count)
        result[name][index] = column
    return result


def matches(
    gt: Ints,
    det: Ints,
    gt_counts: Bools,
    det_counts: Bools,
    gt_values: Mapping[str, NDArray[Any]],
    det_values: Mapping[str, NDArray[Any]],
) -> Matches:
    """Return matched pairs as per-object results.

    Parameters
    ----------
    gt, det : (p,) int64
        The pairs, in any order.
    gt_counts, det_counts : (G,), (D,) bool
        Objects and detections that count; the others are ignored, and their values undefined.
    gt_values, det_values : mapping of (G,), (D,)
        The protocol's own values.
    """
    gt_type, det_type = types(gt, det, gt_counts, det_counts)
    return Matches(
        side_matches(gt_type, gt, det, gt_counts, gt_values),
        side_matches(det_type, det, gt, det_counts, det_values),
    )


def types(
    gt: Ints, det: Ints, gt_counts: Bools, det_counts: Bools
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """(G,), (D,) uint8, indices into `MATCH_TYPES`, of all objects and
    detections; arguments as of `matches`.
    """
    splits, merges = (
        np.bincount(gt, minlength=len(gt_counts)),
        np.bincount(det, minlength=len(det_counts)),
    )
    gt_merged, det_split = np.zeros(len(splits), dtype=bool), np.zeros(len(merges), dtype=bool)
    # An object is merged if any of its detections has several objects.
    gt_merged[gt[merges[det] > 1]] = True
    det_split[det[splits[gt] > 1]] = True
    gt_type = np.where(splits > 0, _relation(splits > 1, gt_merged), MISSED)
    det_type = np.where(merges > 0, _relation(det_split, merges > 1), FALSE_POSITIVE)
    return (
        np.where(gt_counts, gt_type, IGNORED).astype(np.uint8),
        np.where(det_counts, det_type, IGNORED).astype(np.uint8),
    )


def _relation(is_split: Bools, is_merged: Bools) -> Ints:
    return np.select(
        [is_split & is_merged, is_split, is_merged],
        [MANY_TO_MANY, ONE_TO_MANY, MANY_TO_ONE],
        default=ONE_TO_ONE,
    )


def side_matches(
    kinds: NDArray[np.uint8],
    own: Ints,
    other: Ints,
    counts: Bools,
    values: Mapping[str, NDArray[Any]],
) -> SideMatches:
    """One side's results, of n objects.

    Parameters
    ----------
    kinds : (n,) uint8
        Indices into `MATCH_TYPES`.
    own, other : (p,) int64
        Matched pairs, in any order: the object of this side, and that of the other.
    counts : (n,) bool
        Objects that count; the values of the others are undefined.
    values : mapping of (n,)
        The protocol's own values.
    """
    shown: dict[str, Floats] = {
        name: np.where(counts, value, np.nan) for name, value in values.items()
    }
    return SideMatches(kinds, *group_by(own, other, len(kinds)), shown)


def group_by(key: Ints, values: Ints, groups: int) -> tuple[Ints, Ints]:
    """Return offsets (groups + 1,) and the values sorted by (key, value)."""
    order = np.lexsort((values, key))  # the last key of lexsort is the first to be compared
    offsets = offsets_of(np.bincount(key, minlength=groups))
    return offsets, values[order]


def mean_of(*names: str) -> Callable[[NDArray[np.uint8], Mapping[str, Floats]], Floats]:
    """Return a function from objects' values to the mean of some of them, undefined ones as 0."""
    return lambda _, values: (
        sum((defined(values[name]) for name in names), np.zeros(1)) / len(names)
    )


def defined(values: Floats) -> Floats:
    """The values, undefined ones as 0."""
    return np.where(np.isnan(values), 0.0, values)
