"""Rectangles of zeros, which some data sets have in images without text: option ``-z`` of Wolf's evaldetection."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from evaltex_cli.records import Bools, ImageBatch, Objects, Overlaps


def zero_rectangles_field() -> Any:
    """Return the parameter `zero_rectangles`, with the program's default."""
    return field(
        default="counted",
        metadata={
            "help": "rectangles without a column or row beyond 0: counted, or left out (ignored; evaldetection -z)",
            "choices": ("counted", "ignored"),
        },
    )


def without_zero_rectangles(batch: ImageBatch, overlaps: Overlaps, parameters: Any) -> tuple[Overlaps, Bools, Bools]:
    """Return overlaps without rectangles of zeros, and (G,), (D,) bool which these are; none where they count."""
    if parameters.zero_rectangles == "counted" or batch.has_masks:
        return overlaps, np.zeros(batch.gt.count, dtype=bool), np.zeros(batch.det.count, dtype=bool)
    gt, det = _zero(batch.gt), _zero(batch.det)
    kept = ~(gt[overlaps.gt] | det[overlaps.det])
    return Overlaps(overlaps.gt[kept], overlaps.det[kept], overlaps.area[kept], *overlaps[3:]), gt, det


def _zero(objects: Objects) -> Bools:
    pixels = objects.boxes if objects.pixels is None else objects.pixels
    return np.asarray((np.trunc(pixels) <= 0).all(axis=1))
