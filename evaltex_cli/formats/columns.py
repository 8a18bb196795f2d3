"""Images as readers make them, brought into columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaltex_cli.formats.base import Image, Source, TextObject
from evaltex_cli.geometry import outlines
from evaltex_cli.records import (
    ANY_TYPE,
    Floats,
    Labels,
    Objects,
    Texts,
    concatenate,
    joined_columns,
    offsets_of,
)


def columns(images: Sequence[Image]) -> Source:
    """Return images in columns."""
    names, ids = [image.name for image in images], [image.id for image in images]
    fractions = np.array([image.fractions and bool(image.objects) for image in images], np.bool_)
    return Source(
        names,
        np.array([(image.height, image.width) for image in images], np.float64).reshape(-1, 2),
        objects_of([image.objects for image in images]),
        [image.file for image in images],
        fractions if fractions.any() else None,
        ids if any(ids) else None,
        has_file_names=not any(ids) or ids != names,
    )


def objects_of(images: Sequence[Sequence[TextObject]]) -> Objects:
    """Return the objects of images in columns."""
    objects = [one for image in images for one in image]
    counts = np.array([len(one.points) for one in objects], np.int64)
    numbers = np.array([value for one in objects for value in one.points], np.float64)
    drawn = outlines.drawn(numbers, counts, counts == 4)
    numbered = [one for image in images for one in enumerate(image, 1)]
    ids = [k if one.id is None else one.id for k, one in numbered]
    own = zip(ids, objects, strict=True)
    confidences = np.array([one.confidence for one in objects], np.float64)  # NaN for None
    types = np.array([one.type for one in objects], np.int64)
    labels = Labels.from_texts([one.label for one in objects])
    pixels = None
    if any(one.pixels is not None for one in objects):
        boxes = drawn.boxes.tolist()
        pixels = np.array([one.pixels or box for one, box in zip(objects, boxes, strict=True)])
    lines = [one.place for one in objects if isinstance(one.place, int)]
    are_lines = len(lines) == len(objects)
    return Objects(
        offsets=offsets_of([len(image) for image in images]),
        ids=np.array(ids, np.int64),
        outlines=drawn,
        regions=np.array([k if one.region is None else one.region for k, one in own], np.int64),
        dont_care=np.array([one.dont_care for one in objects], np.bool_),
        texts=Texts.of([one.text for one in objects]),
        confidences=None if np.isnan(confidences).all() else confidences,
        pixels=pixels,
        types=types if (types != ANY_TYPE).any() else None,
        labels=labels if any(labels.names) else None,
        places=np.array(lines, np.int64)
        if are_lines
        else Texts.of([str(one.place) for one in objects]),
    )


def joined(parts: Sequence[Source]) -> Source:
    """Return images of several parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    return Source(
        [name for part in parts for name in part.names],
        np.concatenate([part.sizes for part in parts]),
        concatenate([part.objects for part in parts]),
        [file for part in parts for file in part.files],
        joined_columns(
            [part.fractions for part in parts],
            [np.zeros(len(part.names), np.bool_) for part in parts],
        ),
        [one for part in parts for one in part.ids or ()] or None,
        all(part.has_file_names for part in parts),
        place=parts[0].place,
    )


def confidences_in_unit(confidences: Floats | None) -> tuple[Floats | None, str]:
    """Return the confidences of an input in [0, 1] where that can be, and a warning: they are
    percent if none is negative and the highest is above 10 and at most 100.
    """
    if confidences is None or np.isnan(confidences).all():
        return None, ""
    lowest, highest = float(np.nanmin(confidences)), float(np.nanmax(confidences))
    if lowest >= 0 and 10 < highest <= 100:
        what = f"its confidences are percent, up to {highest:g}; they were divided by 100"
        return confidences / 100, what
    if lowest >= 0 and highest <= 1:
        return confidences, ""
    return confidences, (
        f"its confidences are from {min(lowest, 0):g} to {max(highest, 1):g}, not in [0, 1]; they"
        " are used as they are (a least confidence is compared with them)"
    )
