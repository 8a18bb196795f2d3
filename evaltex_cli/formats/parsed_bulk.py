"""Objects of many images added at once, without a call for each; what is in
the images then is as by `add`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from evaltex_cli.formats.parsed import ROW, CollectedImage
from evaltex_cli.records import ANY_TYPE, offsets_of, stretches


@dataclass(frozen=True, slots=True)
class ManyObjects:
    """Objects as columns of one length: see `CollectedObject`.

    Attributes
    ----------
    images : list of CollectedImage
        The image of each object.
    steps : list of str
        What leads to each in its document, as JSON.
    ids : list of int or None
        None if they are numbered in their image.
    """

    images: Sequence[CollectedImage]
    coordinates: Sequence[Sequence[float]]
    texts: Sequence[str]
    dont_care: Sequence[bool]
    confidences: Sequence[float | None]
    steps: Sequence[str]
    ids: Sequence[int] | None = None


def add_all(objects: ManyObjects) -> None:
    """Add objects to their images, in their order."""
    texts = [text.encode("utf-8", "surrogatepass") for text in objects.texts]
    strings = [text + steps.encode() for text, steps in zip(texts, objects.steps, strict=True)]
    rows = np.zeros(len(texts), ROW)
    rows["coordinates"] = counts = np.fromiter(map(len, objects.coordinates), np.int64, len(texts))
    rows["text"] = lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    rows["steps"] = np.fromiter(map(len, strings), np.int64, len(texts)) - lengths
    rows["type"] = ANY_TYPE
    rows["dont_care"] = objects.dont_care
    rows["confidence"] = np.array(objects.confidences, np.float64)  # NaN for None
    if objects.ids is not None:
        rows["id"], rows["has_id"] = objects.ids, True
    numbers = np.fromiter(chain.from_iterable(objects.coordinates), np.float64, int(counts.sum()))
    number_of: dict[int, int] = {}
    # Images are numbered as they first come, and a stable sort keeps the objects of each in their
    # order.
    owner = np.array(
        [number_of.setdefault(id(image), len(number_of)) for image in objects.images], np.int64
    )
    order = np.argsort(owner, kind="stable")
    starts = np.flatnonzero(np.diff(owner[order], prepend=-1))
    # Most documents list the objects of an image together, so nothing has to move.
    if (np.diff(order) != 1).any():
        rows, numbers = (
            rows[order],
            numbers[stretches(offsets_of(counts)[:-1][order], counts[order])],
        )
        strings = [strings[k] for k in order.tolist()]
    ends = offsets_of(rows["coordinates"].astype(np.int64))
    stops = [*starts.tolist()[1:], len(rows)]
    for k, start, stop in zip(order[starts].tolist(), starts.tolist(), stops, strict=True):
        own = numbers[ends[start] : ends[stop]]
        objects.images[k].extend(
            rows[start:stop].tobytes(), own.tobytes(), b"".join(strings[start:stop])
        )
