"""The formats of a preset decide where lines of numbers can be read as
several formats, and only there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from evaltex_cli import old_formats as formats
from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.old_formats.base import ReadImages, Side, Source
from evaltex_cli.old_formats.options import InputOptions
from evaltex_cli.protocols.presets import PRESETS
from evaltex_cli.records import Floats

ANY_NUMBERS = ("ltrb", "quad", "polygon")
"""Formats by the number of coordinates alone; lines of others have something
else that shows what they are.
"""
BLOCK_IMAGES = 1024


def opened_as_official(
    path: Path, side: Side, options: InputOptions, detected: Source, faults: FaultLog
) -> tuple[Source, FaultLog]:
    """Return an input as the formats of the preset have it, if its content fits one of them and is
    read otherwise.

    Parameters
    ----------
    detected, faults : Source, FaultLog
        The input by the format of its content, and its faults; they are returned if no other format
        is chosen.
    """
    if (
        options.preset is None
        or options.format_of(side) is not None
        or detected.format not in ANY_NUMBERS
    ):
        return detected, faults
    for name in PRESETS[options.preset].formats[side]:
        if name in ANY_NUMBERS or formats.load(name).ending:
            continue
        log = FaultLog()
        try:
            other = formats.open_source(path, side, log, name, options)
        except InputError:
            continue
        if log.count:
            continue
        if other.names == detected.names and all(map(_are_same, _blocks(detected), _blocks(other))):
            return detected, faults
        if not _fits(other):
            continue
        warning = (
            f"{path}: is read as {name}, a format of the preset {options.preset}, though its"
            f" content could be {detected.format}; --{side}-format names another"
        )
        return replace(other, warnings=(*other.warnings, warning)), log
    return detected, faults


def _blocks(source: Source) -> Iterator[ReadImages]:
    for start in range(0, len(source.names), BLOCK_IMAGES):
        stop = min(start + BLOCK_IMAGES, len(source.names))
        yield source.part(np.arange(start, stop)).read_in_any_unit()


def _fits(source: Source) -> bool:
    return not any(images.faults.count for images in _blocks(source))


def _are_same(one: ReadImages, other: ReadImages) -> bool:
    return (
        not (one.faults.count or other.faults.count)
        and all(
            np.array_equal(a, b, equal_nan=True)
            for a, b in zip(_numbers(one), _numbers(other), strict=True)
        )
        and list(one.objects.texts) == list(other.objects.texts)
    )


def _numbers(images: ReadImages) -> tuple[Floats, ...]:
    objects = images.objects
    confidences = (
        np.full(objects.count, np.nan) if objects.confidences is None else objects.confidences
    )
    drawn = (objects.boxes, objects.outlines.vertices, objects.outlines.offsets.astype(float))
    return (*drawn, objects.dont_care.astype(float), confidences, objects.offsets.astype(float))
