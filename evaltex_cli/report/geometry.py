"""Shapes and transcriptions of the objects, which results do not hold, read again from what was evaluated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli import formats
from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.evaluation import pairing
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.filters import only_confident
from evaltex_cli.geometry.outlines import settle
from evaltex_cli.records import Floats, Ints, Objects, ReadImages

DECIMALS = 2
"""Of coordinates, in pixels."""
_LARGEST_WHOLE = 2.0**53


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """The inputs of the detectors' runs.

    Attributes
    ----------
    gt : Source
    det : sequence of Source
        One a detector.
    paired : sequence of (images,) int64
        For each detector, where its detections of each ground-truth image are (`pairing.pair_images`).
    invalid : {'repair', 'drop', 'error'}
        What became of invalid polygons in these runs.
    """

    gt: Source
    det: Sequence[Source]
    paired: Sequence[Ints]
    invalid: str


def open_geometry(
    gt: Path,
    det: Sequence[Path],
    inputs: Sequence[Mapping[str, Any]],
    min_confidences: Sequence[float | None],
    invalid: str,
) -> Geometry:
    """Index the inputs of results.

    Parameters
    ----------
    gt : Path
    det : sequence of Path
        One a detector.
    inputs : sequence of dict
        ``inputs`` of each detector's result.
    min_confidences : sequence of float or None
        The least confidence of each detector's detections.
    invalid : {'repair', 'drop', 'error'}
        What became of invalid polygons.

    Raises
    ------
    InputError
        When a file is not the one that was evaluated, told by its SHA-256.
    """
    faults = FaultLog()
    gt_source = _same_source(gt, "gt", inputs[0], faults)
    det_sources = [
        source if minimum is None else only_confident(source, minimum)
        for source, minimum in zip(
            (_same_source(path, "det", of, faults) for path, of in zip(det, inputs, strict=True)),
            min_confidences,
            strict=True,
        )
    ]
    paired = [pairing.pair_images(gt_source, source, faults) for source in det_sources]
    faults.raise_if_any()
    return Geometry(gt_source, det_sources, paired, invalid)


def _same_source(path: Path, side: Side, inputs: Mapping[str, Any], faults: FaultLog) -> Source:
    evaluated = inputs[side]
    source = formats.open_source(path, side, faults, evaluated["format"])
    if source.sha256 != evaluated["sha256"]:
        raise InputError(
            f"{path}: is not what was evaluated ({evaluated['file']}, SHA-256 {evaluated['sha256'][:8]}, here"
            f" {source.sha256[:8]}); give that file, or evaluate again"
        )
    return source


def read_shapes(geometry: Geometry, start: int, stop: int) -> list[dict[str, Any]]:
    """Read some images' objects.

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
    gt = _read(geometry.gt, np.arange(start, stop), geometry.invalid, faults)
    gt_sides = _sides(gt.objects)
    det_sides = []
    for source, paired in zip(geometry.det, geometry.paired, strict=True):
        positions = paired[start:stop]
        named = positions != pairing.NO_DETECTIONS
        read = iter(_sides(_read(source, positions[named], geometry.invalid, faults).objects))
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
