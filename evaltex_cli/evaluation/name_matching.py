"""Names of one image spelled differently on both sides: `gt_img_1.jpg`, `img_01`, `1`.

Images pair by name only (`pairing`); this tells which would pair if their names were spelled alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from evaltex_cli.errors import InputError, quote
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.files.image_names import stem
from evaltex_cli.records import Ints

_DIGITS = re.compile(r"[0-9]+")
_SHOWN = 3


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
        taken = {name for name, _ in pairs.values()}
        left_gt = [name for name in left_gt if name not in pairs]
        left_det = [name for name in left_det if name not in taken]
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
        As from `pairing.pair_images`.

    Raises
    ------
    InputError
        When half of the detections' images or more would pair by stem or number; tells what to rename.
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
