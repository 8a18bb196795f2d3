"""Signs that ground truth and detections were given the wrong way round; most
formats look alike on both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

import numpy as np

from evaltex_cli.errors import quote
from evaltex_cli.formats.base import DONT_CARE, Source
from evaltex_cli.records import Objects

SAMPLE_IMAGES = 300
MOST = 0.95
"""Share of names, or of transcriptions, that a sign takes."""
SAMPLE_BYTES = 1 << 22
"""Bytes of the sample, as long as it is of more than one image."""
FEWEST = 3
"""Transcriptions that are enough to decide; a single one may be a price."""
_DECIMAL = r"(?a)(?:0?\.[0-9]+|1\.0*)"


def swapped(
    gt: Source,
    det: Source,
    most: int = SAMPLE_IMAGES,
    samples: Sequence[Source] | None = None,
) -> str | None:
    """Return the signs that the sides were swapped, in one sentence; None without any.

    A sign is what belongs to one side, found on the other and not where it belongs, in the first
    images of each.

    Parameters
    ----------
    gt, det : Source
    most : int
        Images of each side that are looked at.
    samples : (ReadImages, ReadImages), optional
        These images, if they have been read.
    """
    ours, theirs = (
        (_sample(gt, most), _sample(det, most))
        if samples is None
        else (one.objects for one in samples)
    )
    signs = [
        *_of_names(gt, det, most),
        *_of_format(gt, det),
        *_of_objects(ours, theirs),
    ]
    return (
        f"ground truth and detections may have been swapped: {'; '.join(signs)}" if signs else None
    )


def _of_names(gt: Source, det: Source, most: int) -> Iterable[str]:
    ours, theirs = _names(gt, most), _names(det, most)
    if _begin(ours, "res_") and not _begin(theirs, "res_"):
        yield f"the images of the ground truth are named res_... ({quote(ours[0])}), as results are"
    if _begin(theirs, "gt_") and not _begin(ours, "gt_"):
        yield f"those of the detections are named gt_... ({quote(theirs[0])}), as ground truth is"


def _names(source: Source, most: int) -> list[str]:
    """The images' names with their prefixes, which readers take off."""
    if source.files and source.files[0] == source.path:
        return list(source.names[:most])
    return [PurePosixPath(file.replace("\\", "/")).name for file in source.files[:most]]


def _begin(names: list[str], prefix: str) -> bool:
    marked = sum(name.lower().removeprefix("poly_").startswith(prefix) for name in names)
    return marked > 0 and marked >= MOST * len(names)


def _of_format(gt: Source, det: Source) -> Iterable[str]:
    if gt.format == "coco-res" != det.format:
        yield "the ground truth is a list of COCO results"


def _sample(source: Source, most: int) -> Objects:
    return source.part(np.arange(min(len(source.names), most))).objects


def _of_objects(gt: Objects, det: Objects) -> Iterable[str]:
    if _has_confidences(gt) and not _has_confidences(det):
        yield "the ground truth has confidences, and the detections have none"
    ignored = sum(text == DONT_CARE for text in det.texts)
    if ignored and not gt.dont_care.any():
        yield (
            f"{ignored} detections are {quote(DONT_CARE)}, and no object of the ground truth is"
            " don't care"
        )


def _has_confidences(objects: Objects) -> bool:
    """Whether objects have confidences, or what was read as ground truth has
    these for transcriptions.
    """
    if objects.confidences is not None:
        return bool((~np.isnan(objects.confidences)).any())
    texts = [text for text in objects.texts if text]
    decimal = sum(re.match(_DECIMAL, text) is not None for text in texts)
    return decimal >= max(FEWEST, MOST * objects.count)
