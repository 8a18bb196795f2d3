"""What the faults of an input look like, so that many of one kind are explained by one mistake."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from evaltex_cli.errors import EqualFaults, FaultLog, InputError, counted
from evaltex_cli.evaluation.pairing import described_pairs, would_pair
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.formats.reading import read
from evaltex_cli.records import Ints

_INVERTED_BOX = "a box from "
_ROW = r"object line '[^',]+,[^']*' before any image name"
_ONLY_IN_DETECTIONS = "is not in the ground truth"
_IN_FRACTIONS = "coordinates that are fractions of the page"
_NOT_UTF8 = "UTF-8"
_NO_NUMBERS = r"(?:image|[0-3] numbers? at the start of) '([^']*)'"
_SEPARATORS = {
    r"(?:-?[0-9]+,[0-9]+[\s;]+){3}": (
        "the numbers have decimal commas; write decimal points, and commas between numbers"
    ),
    r"[^;]*(?:;[^;]*){3}": "the fields are separated by semicolons; separate them by commas",
}
_LAST_NUMBER = r"([0-9]+)(?=[^0-9]*$)"
_MOST_NAMES = 10_000


def hints(
    faults: FaultLog, gt: Source, det: Source, paired: Ints, options: InputOptions
) -> Iterator[str]:
    """Yield what the faults of both sides look like."""
    found = [same.first[0].found for same in faults.kinds.values()]
    are_read = all(_ONLY_IN_DETECTIONS in one or one.startswith(_IN_FRACTIONS) for one in found)
    if not are_read and options.masks is None and _are_swapped(gt, det, options):
        yield (
            "each side reads well as the other one; give the ground truth first, then the"
            " detections"
        )
        return
    yield from of_lines(faults, gt, det)
    first = [same.first[0] for same in faults.kinds.values()]
    if any(_NOT_UTF8 in one.expected or any(_separators(one.found)) for one in first):
        return  # names that are not read well are not spelled in another way
    for same in faults.kinds.values():
        if _ONLY_IN_DETECTIONS in same.first[0].found:
            yield from _names(gt, det, paired, same)


def of_lines(faults: FaultLog, *sources: Source) -> Iterator[str]:
    """Yield what the faults of lines look like."""
    kinds = list(faults.kinds.values())
    yield from sorted({hint for same in kinds for hint in _separators(same.first[0].found)})
    for same in kinds:
        file, _, found, *_ = same.first[0]
        read_well = max(one.objects.count * file.startswith(one.path) for one in sources)
        if found.startswith(_INVERTED_BOX) and same.count >= read_well:
            yield (
                f"{same.count} boxes look like x,y,width,height; write x,y,x+width,y+height. If"
                " they are of two corners, write the upper left one first"
            )
        elif re.match(_ROW, found):
            yield (
                "a table of one object per line needs a header, such as"
                " image,x0,y0,x1,y1,confidence"
            )


def _separators(found: str) -> Iterator[str]:
    """Yield what to do about a line whose numbers are separated in another way."""
    line = re.match(_NO_NUMBERS, found)
    advice = [text for how, text in _SEPARATORS.items() if line and re.match(how, line[1])]
    yield from advice[:1]


def _names(gt: Source, det: Source, paired: Ints, same: EqualFaults) -> Iterator[str]:
    """Yield how the names that only the detections have would pair if they were spelled alike."""
    known = set(gt.names)
    extra = [name for name in det.names if name not in known][:_MOST_NAMES]
    missing = [gt.names[k] for k in np.flatnonzero(paired < 0)[:_MOST_NAMES].tolist()]
    pairs = would_pair(missing, extra)
    if pairs:
        yield f"of the {same.count} names {described_pairs(pairs)}"
    elif step := _step(known, det.names):
        yield (
            f"all {len(det.names)} image names of the detections would be in the ground truth if"
            f" their numbers were {'higher' if step > 0 else 'lower'} by one; does one side count"
            " from 0, and the other from 1?"
        )
    elif 2 * same.count >= len(det.names) > 1:
        share = counted(len(det.names), f"{same.count} of {{count}} image[s] of the detections")
        yield (
            f"{share} are not in the ground truth; are the two of one data set, and of the same"
            " part of it?"
        )


def _step(known: set[str], det: Sequence[str]) -> int:
    """Return what to add to the last number of all names of the detections so that the ground truth
    has them, 1 or -1; 0 if neither does it, or there is only one name.
    """
    if not 1 < len(det) <= _MOST_NAMES:
        return 0
    steps = (step for step in (1, -1) if all(_numbered(name, step) in known for name in det))
    return next(steps, 0)


def _numbered(name: str, step: int) -> str:
    """Return a name with its last number changed, of as many digits if it had zeros in front."""

    def changed(found: re.Match[str]) -> str:
        width = len(found[0]) if found[0].startswith("0") else 1
        return f"{int(found[0]) + step:0{width}d}"

    return re.sub(_LAST_NUMBER, changed, name)


def _are_swapped(gt: Source, det: Source, options: InputOptions) -> bool:
    """Whether both inputs are read without a fault as the other side."""
    log = FaultLog()
    swapped = replace(
        options,
        gt_format=options.det_format,
        det_format=options.gt_format,
        gt_level=options.det_level,
        det_level=options.gt_level,
    )
    try:
        ours = read(Path(det.path), "gt", swapped, log)
        theirs = read(Path(gt.path), "det", swapped, log)
    except InputError:
        return False
    return not log.count and bool(set(ours.names) & set(theirs.names))
