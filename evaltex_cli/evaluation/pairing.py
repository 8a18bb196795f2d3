"""Which detections belong to which image of the ground truth: images pair by name only.

Where none pairs, it is checked whether names of one image are spelled differently on both sides: `gt_img_1.jpg`,
`img_01`, `1`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import islice
from operator import eq

import numpy as np

from evaltex_cli.errors import SHOWN_FAULTS, FaultLog, Hints, InputError, quote
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.files.image_names import hashes, stem, taken
from evaltex_cli.records import Ints

NO_DETECTIONS = -1
_DIGITS = re.compile(r"[0-9]+")
_SHOWN = 3


def pair_images(gt: Source, det: Source, faults: FaultLog) -> Ints:
    """Find each ground-truth image among the detections' images, by name.

    Parameters
    ----------
    gt, det : Source
    faults : FaultLog
        Gets a fault for every image that only the detections name: a typo would otherwise pass for a bad score.

    Returns
    -------
    (images,) integers
        Position in ``det.names``; `NO_DETECTIONS` for an image without.
    """
    if gt.names == det.names:
        return np.arange(len(gt.names), dtype=np.int32)
    paired = _paired_by_hash(gt.names, det.names)
    if paired is None:
        position = {name: k for k, name in enumerate(det.names)}
        paired = np.fromiter((position.pop(name, NO_DETECTIONS) for name in gt.names), np.int64, len(gt.names))
        extra, extras = iter(position), len(position)
    else:
        is_extra = np.ones(len(det.names), dtype=bool)
        is_extra[paired[paired != NO_DETECTIONS]] = False
        extra, extras = taken(det.names, np.flatnonzero(is_extra)), int(is_extra.sum())
    if not extras:
        return paired
    unclaimed = list(taken(gt.names, np.flatnonzero(paired == NO_DETECTIONS)[:10_000]))
    hints = Hints(unclaimed or gt.names[:10_000])
    for name in islice(extra, SHOWN_FAULTS):
        found = f"image {quote(name)}, which the ground truth lacks{hints.nearest(name)}"
        faults.add(det.path, None, found, f"only image names of {gt.path}")
    faults.count += max(extras - SHOWN_FAULTS, 0)
    return paired


def _paired_by_hash(gt: Sequence[str], det: Sequence[str]) -> Ints | None:
    """Pair names in the memory of their hashes, millions of them; None where two names have one hash."""
    ours, theirs = hashes(gt, det)
    order = np.argsort(theirs)
    if (np.diff(theirs[order]) == 0).any() or (np.diff(np.sort(ours)) == 0).any():
        return None
    if not len(order):
        return np.full(len(ours), NO_DETECTIONS, np.int64)
    # The place where each hash would be among the sorted ones of the other side; whether it is there follows.
    paired = order[np.minimum(np.searchsorted(theirs, ours, sorter=order), len(order) - 1)]
    paired[theirs[paired] != ours] = NO_DETECTIONS
    present = paired != NO_DETECTIONS
    same = map(eq, taken(gt, np.flatnonzero(present)), taken(det, paired[present]))
    return paired if all(same) else None


def numbers(name: str) -> tuple[str, ...]:
    """Return the numbers in a name's stem, without leading zeros."""
    return tuple(digits.lstrip("0") or "0" for digits in _DIGITS.findall(stem(name)))


_SPELLINGS: tuple[tuple[str, Callable[[str], Hashable]], ...] = (
    ("stem", stem),
    ("stem", lambda name: stem(name).casefold()),
    ("number", numbers),
    ("number", lambda name: numbers(name)[-1:]),
)


def would_pair(gt: Sequence[str], det: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Pair names by their stems, then by their numbers.

    Parameters
    ----------
    gt, det : sequence of str
        Image names without a partner of the same name.

    Returns
    -------
    dict
        Ground-truth name -> detections' name, and what they share: ``stem`` or ``number``. Only where one name of each
        side, and no more, is spelled so.
    """
    pairs: dict[str, tuple[str, str]] = {}
    left_gt, left_det = list(gt), list(det)
    for what, spelling in _SPELLINGS:
        ours, theirs = _unique(left_gt, spelling), _unique(left_det, spelling)
        pairs |= {name: (theirs[key], what) for key, name in ours.items() if key in theirs}
        paired = {name for name, _ in pairs.values()}
        left_gt = [name for name in left_gt if name not in pairs]
        left_det = [name for name in left_det if name not in paired]
    return pairs


def _unique(names: Sequence[str], spelling: Callable[[str], Hashable]) -> dict[Hashable, str]:
    keys = [spelling(name) for name in names]
    times = Counter(keys)
    return {key: name for key, name in zip(keys, names, strict=True) if key and times[key] == 1}


def refuse_other_spellings(gt: Source, det: Source, paired: Ints) -> None:
    """Refuse inputs without any common image name, whose names are spelled differently.

    Parameters
    ----------
    paired : (images,) int64
        As from `pair_images`.

    Raises
    ------
    InputError
        When half of the detections' images or more would pair by stem or number; says what to rename.
    """
    if not det.names or (paired != NO_DETECTIONS).any():
        return
    pairs = would_pair(gt.names, det.names)
    if 2 * len(pairs) < len(det.names):
        return
    shown = [f"{quote(theirs)} to {quote(ours)}" for ours, (theirs, _) in list(pairs.items())[:_SHOWN]]
    more = ", ..." if len(pairs) > _SHOWN else ""
    by = " or ".join(f"by {what}" for what in dict.fromkeys(what for _, what in pairs.values()))
    raise InputError(
        f"{det.path}: none of its {len(det.names)} image names is in {gt.path}, though {len(pairs)} would pair {by};"
        f" spell the names alike on both sides: rename {', '.join(shown)}{more} (evaltex validate lists all pairs)"
    )
