"""What the faults of an input look like, so that many of one kind are explained by one mistake."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evaltex_cli import formats
from evaltex_cli.errors import EqualFaults, FaultLog, InputError, counted
from evaltex_cli.evaluation.pairing import NO_DETECTIONS, described_pairs, would_pair
from evaltex_cli.formats.base import Side, Source

if TYPE_CHECKING:
    from evaltex_cli.evaluation.inputs import Inputs

INVERTED_BOX = re.compile(r"a box from \(")
_ROW = re.compile(r"object line '[^,']+,[^']*' before any image name")
_ONLY_IN_DETECTIONS = "is not in the ground truth"
_FEW = 20
"""Images that are read to see whether an input is of the other side."""
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
    if not all(of_names) and _are_swapped(inputs):
        yield (
            "each side reads well as the other one; give the ground truth first, then the"
            " detections"
        )
        return
    for same in inputs.faults.kinds.values():
        found = same.first[0].found
        if INVERTED_BOX.match(found) and same.count >= _objects(same.first[0].file, read_well):
            yield f"{same.count} boxes look like x,y,width,height; write x,y,x+width,y+height"
        elif _ROW.match(found):
            yield (
                "a table of one object per line needs a header, such as"
                " image,x0,y0,x1,y1,confidence"
            )
        elif _ONLY_IN_DETECTIONS in found:
            yield from _names(inputs, same)


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
    elif 2 * same.count >= len(det.names) > 1:
        share = counted(len(det.names), f"{same.count} of {{count}} image[s] of the detections")
        yield (
            f"{share} are not in the ground truth; are the two of one data set, and of the same"
            " part of it?"
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
    other = formats.open_source(Path(source.path), side, log, options.format_of(side), options)
    log.extend(other.read(np.arange(min(len(other.names), _FEW))).faults)
    return list(other.names)
