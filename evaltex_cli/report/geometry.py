"""Shapes and transcriptions of the objects, which results do not hold, read again from what was evaluated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli import formats
from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.filters import only_confident
from evaltex_cli.geometry.outlines import settle
from evaltex_cli.records import Floats, Ints, Objects, ReadImages
from evaltex_cli.results.result_document import ResultDocument

DECIMALS = 2
"""Of coordinates, in pixels."""
_LARGEST_WHOLE = 2.0**53


def open_evaluated(gt: Path, det: Sequence[Path], results: Sequence[ResultDocument]) -> list[Inputs]:
    """Index the inputs of results again, one detector each.

    Raises
    ------
    InputError
        When a file is not the one that was evaluated, told by its SHA-256.
    """
    faults = FaultLog()
    of_gt = _same_source(gt, "gt", results[0], faults)
    inputs = [
        Inputs(of_gt, _same_source(path, "det", result, faults), faults, replace(result.options, masks=None))
        for path, result in zip(det, results, strict=True)
    ]
    for of_detector in inputs:
        _ = of_detector.paired  # logs what does not pair
    faults.raise_if_any()
    return inputs


def _same_source(path: Path, side: Side, result: ResultDocument, faults: FaultLog) -> Source:
    evaluated, minimum = getattr(result.inputs, side), result.options.min_confidence
    source = formats.open_source(path, side, faults, evaluated.format)
    if source.sha256 != evaluated.sha256:
        raise InputError(
            f"{path}: is not what was evaluated ({evaluated.file}, SHA-256 {evaluated.sha256[:8]}, here"
            f" {source.sha256[:8]}); give that file, or evaluate again"
        )
    return source if side == "gt" or minimum is None else only_confident(source, minimum)


def read_shapes(inputs: Sequence[Inputs], start: int, stop: int) -> list[dict[str, Any]]:
    """Read some images' objects.

    Parameters
    ----------
    inputs : sequence of Inputs
        Of each detector, on one ground truth.

    Returns
    -------
    list of dict
        For each image ``size`` (width and height, or None), ``gt``, and ``det``, one a detector: per object ``shape``,
        four numbers for a box (x0, y0, x1, y1) and six or more for a polygon (x and y in turn), and ``text``.

    Raises
    ------
    InputError
        When the input has become faulty since it was evaluated.
    """
    faults = FaultLog()
    gt = _read(inputs[0].gt, np.arange(start, stop), inputs[0].options.invalid, faults)
    gt_sides = _sides(gt.objects)
    det_sides = []
    for of_detector in inputs:
        positions = of_detector.paired[start:stop]
        named = positions != NO_DETECTIONS
        read = iter(_sides(_read(of_detector.det, positions[named], of_detector.options.invalid, faults).objects))
        det_sides.append([next(read) if present else {"shape": [], "text": []} for present in named.tolist()])
    faults.raise_if_any()
    return [
        {
            "size": [width, height] if width > 0 and height > 0 else None,
            "gt": gt_sides[k],
            "det": [sides[k] for sides in det_sides],
        }
        for k, (height, width) in enumerate(_numbers(gt.sizes))
    ]


def _read(source: Source, positions: Ints, invalid: str, faults: FaultLog) -> ReadImages:
    return settle(source.read(positions, faults), invalid)[0]


def _sides(objects: Objects) -> list[dict[str, Any]]:
    """Each image's objects."""
    shapes = _numbers(objects.boxes)
    corners, bounds = _numbers(objects.outlines.vertices), objects.outlines.offsets.tolist()
    for k in np.flatnonzero(objects.outlines.counts).tolist():
        shapes[k] = [number for corner in corners[bounds[k] : bounds[k + 1]] for number in corner]
    sides = []
    for start, stop in zip(objects.offsets[:-1].tolist(), objects.offsets[1:].tolist(), strict=True):
        side: dict[str, Any] = {"shape": shapes[start:stop], "text": list(objects.texts[start:stop])}
        if objects.confidences is not None:
            known = objects.confidences[start:stop]
            side["confidence"] = [value if math.isfinite(value) else None for value in known.tolist()]
        sides.append(side)
    return sides


def _numbers(values: Floats) -> list[list[float]]:
    """Rows of rounded numbers, whole ones as integers, which take less room."""
    rounded = np.round(values, DECIMALS)
    whole = bool(np.all((rounded == np.rint(rounded)) & (np.abs(rounded) < _LARGEST_WHOLE)))
    rows: list[list[float]] = (rounded.astype(np.int64) if whole else rounded).tolist()
    return rows
