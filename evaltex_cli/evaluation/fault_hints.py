"""What the faults of an input look like, so that many of one kind are explained by one mistake."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from evaltex_cli.errors import EqualFaults, FaultLog, InputError, counted
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.pairing import NO_DETECTIONS, described_pairs, would_pair
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.reading import read

INVERTED_BOX = r"a box from \("
_ROW = r"object line '[^,']+,[^']*' before any image name"
_ONLY_IN_DETECTIONS = "is not in the ground truth"
_NOT_UTF8 = "UTF-"
_NO_NUMBERS = r"(?:image|[0-3] numbers? at the start of) '([^']*)'"
_SEMICOLONS = r"[^;]*(?:;[^;]*){3}"
_DECIMAL_COMMAS = r"(?:-?[0-9]+,[0-9]+[\s;]+){3}"
_LAST_NUMBER = r"([0-9]+)(?=[^0-9]*$)"
_MOST_NAMES = 10_000


def raise_if_any(inputs: Inputs, gt_objects: int, det_objects: int) -> None:
    """Raise the faults found so far, if there are any, with what they look like.

    Parameters
    ----------
    inputs : Inputs
    gt_objects, det_objects : int
        Objects without a fault.

    Raises
    ------
    FaultsError
    """
    if inputs.faults.count:
        inputs.faults.hints += _hints(
            inputs, {inputs.gt.path: gt_objects, inputs.det.path: det_objects}
        )
        inputs.faults.raise_if_any()


def _hints(inputs: Inputs, read_well: Mapping[str, int]) -> Iterator[str]:
    of_names = [_ONLY_IN_DETECTIONS in same.first[0].found for same in inputs.faults.kinds.values()]
    if not all(of_names) and inputs.options.masks is None and _are_swapped(inputs):
        yield (
            "each side reads well as the other one; give the ground truth first, then the"
            " detections"
        )
        return
    every = list(inputs.faults.kinds.values())
    separators = {_separators(same.first[0].found) for same in every} - {None}
    yield from sorted(filter(None, separators))
    if separators or any(_NOT_UTF8 in same.first[0].found for same in every):
        return  # names that are not read well are not spelled in another way
    for same in every:
        found = same.first[0].found
        if re.match(INVERTED_BOX, found) and same.count >= _objects(same.first[0].file, read_well):
            yield (
                f"{same.count} boxes look like x,y,width,height; write x,y,x+width,y+height. If"
                " they are of two corners, write the upper left one first"
            )
        elif re.match(_ROW, found):
            yield (
                "a table of one object per line needs a header, such as"
                " image,x0,y0,x1,y1,confidence"
            )
        elif _ONLY_IN_DETECTIONS in found:
            yield from _names(inputs, same)


def _separators(found: str) -> str | None:
    """What to do about lines whose numbers are separated in another way."""
    line = re.match(_NO_NUMBERS, found)
    if line is None:
        return None
    if re.match(_DECIMAL_COMMAS, line[1]):
        return "the numbers have decimal commas; write decimal points, and commas between numbers"
    if re.match(_SEMICOLONS, line[1]):
        return "the fields are separated by semicolons; separate them by commas"
    return None


def _objects(file: str, read_well: Mapping[str, int]) -> int:
    """Objects without a fault of the input that a file is in."""
    return max((count for path, count in read_well.items() if file.startswith(path)), default=0)


def _names(inputs: Inputs, same: EqualFaults) -> Iterator[str]:
    """Which of the names that only the detections have would pair if they were spelled alike."""
    gt, det = inputs.gt, inputs.det
    known = set(gt.names)
    extra = [name for name in det.names if name not in known][:_MOST_NAMES]
    missing = [
        gt.names[k] for k in np.flatnonzero(inputs.paired == NO_DETECTIONS)[:_MOST_NAMES].tolist()
    ]
    pairs = would_pair(missing, extra)
    if pairs:
        yield f"of the {same.count} names {described_pairs(pairs)}"
    elif step := _step(gt.names, det.names):
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


def _step(gt: Sequence[str], det: Sequence[str]) -> int | None:
    """By what the last number of all names of the detections differs from
    that of names of the ground truth, 1 or -1; None if by neither, or if there is only one name.
    """
    if not 1 < len(det) <= _MOST_NAMES:
        return None
    known = set(gt)
    return next(
        (step for step in (1, -1) if all(_numbered(name, step) in known for name in det)), None
    )


def _numbered(name: str, step: int) -> str:
    """A name with its last number changed, of as many digits if it had zeros in front."""
    return re.sub(
        _LAST_NUMBER,
        lambda found: f"{int(found[0]) + step:0{len(found[0]) if found[0][0] == '0' else 1}d}",
        name,
    )


def _are_swapped(inputs: Inputs) -> bool:
    """Whether there are faults, and none if each side is read as the other one."""
    log = FaultLog()
    try:
        ours, theirs = (
            _first_names(inputs, inputs.gt, "det", log),
            _first_names(inputs, inputs.det, "gt", log),
        )
    except InputError:
        return False
    return not log.count and bool(set(ours) & set(theirs))


def _first_names(inputs: Inputs, source: Source, side: Side, log: FaultLog) -> list[str]:
    """Names of the images of a source that is read as the other side; its faults go to the log."""
    options = replace(
        inputs.options, gt_format=inputs.options.det_format, det_format=inputs.options.gt_format
    )
    return list(read(Path(source.path), side, options, log).names)
