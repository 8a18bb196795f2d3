"""Whether an input is ground truth or detections, from what only one of them has."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evaltex_cli import old_formats as formats
from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.old_formats.base import ReadImages, Side
from evaltex_cli.old_formats.options import InputOptions

KINDS: dict[Side, str] = {"gt": "ground truth", "det": "detections"}
SAMPLE_IMAGES = 300
ALWAYS_ASKED = ("alto", "alto-line")
"""Formats of which confidences are no sign: libraries publish ALTO with the ``WC`` of their OCR."""


def detect(path: Path, options: InputOptions) -> tuple[Side, str]:
    """Return what an input is, and the sign of it as a phrase.

    Raises
    ------
    InputError
        When it can be read as neither, or has no sign of either.
    """
    samples: dict[Side, ReadImages] = {}
    errors: list[InputError] = []
    name = ""
    for side in KINDS:
        try:
            name, samples[side] = _sample(path, side, options)
        except InputError as error:
            errors.append(error)
    if not samples:
        raise errors[0]
    if len(samples) == 1:
        (side,) = samples
        return side, "what can be read: nothing else fits"
    has_dont_care = bool(samples["gt"].objects.dont_care.any())
    confidences = samples["det"].objects.confidences
    has_confidences = (
        name not in ALWAYS_ASKED and confidences is not None and not np.isnan(confidences).any()
    )
    if has_dont_care != has_confidences:
        return ("gt", "its don't-care objects") if has_dont_care else ("det", "its confidences")
    raise InputError(f"{path}: may be ground truth or detections; give --kind gt or --kind det")


def _sample(path: Path, side: Side, options: InputOptions) -> tuple[str, ReadImages]:
    """Return the format, and some of the images."""
    faults = FaultLog()
    source = formats.open_source(path, side, faults, options.format_of(side), options)
    images = source.part(np.arange(min(len(source.names), SAMPLE_IMAGES))).read_in_any_unit()
    faults.extend(images.faults)
    faults.raise_if_any()
    return source.format, images
