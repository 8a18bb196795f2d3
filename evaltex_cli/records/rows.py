"""Objects of a batch by their rows: some of them, or those of several batches one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.records import (
    ANY_TYPE,
    Bools,
    ImageBatch,
    Ints,
    Labels,
    Objects,
    Outlines,
    Places,
    Texts,
    concatenate_texts,
    offsets_of,
    ranges,
)

_WEIGHTS = np.sqrt([2.0, 3.0, 5.0, 7.0, 11.0])


# Some objects -------------------------------------------------------------------------------------


def take(objects: Objects, rows: Ints | Bools, offsets: Ints | None = None) -> Objects:
    """Return some of the objects, in the given order.

    Parameters
    ----------
    objects : Objects
    rows : (m,) int64 or (n,) bool
    offsets : (images + 1,) int64, optional
        Which image owns which of them; by default each stays in its image, and `rows` must be
        booleans.
    """
    if offsets is None:
        # Counting the chosen rows up to each old offset gives the new one.
        offsets = offsets_of(rows)[objects.offsets]
    columns = {field.name: getattr(objects, field.name) for field in fields(Objects)}
    taken: dict[str, Any] = {
        name: None if column is None else column[rows]
        for name, column in columns.items()
        if name not in ("offsets", "outlines")
    }
    return Objects(offsets=offsets, outlines=taken_outlines(objects.outlines, rows), **taken)


def taken_outlines(outlines: Outlines, rows: Ints | Bools) -> Outlines:
    """Return some outlines, in the order of `rows`."""
    rows = np.arange(len(outlines.boxes))[rows]
    boxes = outlines.boxes.take(rows, axis=0)
    if outlines.all_boxes:
        return Outlines.of_boxes(boxes)
    counts = outlines.counts[rows]
    vertices = outlines.vertices.take(ranges(outlines.offsets[rows], counts), axis=0)
    return Outlines(boxes, vertices, offsets_of(counts))


def repeated(objects: Objects) -> list[tuple[int, int]]:
    """Return each object that has exactly the box or polygon of an earlier object of its image, and
    the first such object.
    """
    # Equal boxes have equal sums, so only objects whose sum is not the only one are compared.
    sums = (np.column_stack([objects.boxes, objects.image]) * _WEIGHTS).sum(axis=1)
    ordered = np.sort(sums)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(again):
        return []
    rows = np.flatnonzero(np.isin(sums, again)).tolist()
    images, boxes = objects.image[rows].tolist(), objects.boxes[rows].tolist()
    first: dict[Any, int] = {}
    pairs = []
    for row, image, box in zip(rows, images, boxes, strict=True):
        shape = image, tuple(box), objects.outlines.ring(row).tobytes()
        before = first.setdefault(shape, row)
        if before != row:
            pairs.append((row, before))
    return pairs


# Some images --------------------------------------------------------------------------------------


def take_images(objects: Objects, images: Ints) -> Objects:
    """Return the objects of some images, (n,) indices, in the given order."""
    counts = np.diff(objects.offsets)[images]
    return take(objects, rows_of_images(objects, images), offsets_of(counts))


def rows_of_images(objects: Objects, images: Ints) -> Ints:
    """Return the rows of the objects of some images."""
    return ranges(objects.offsets[images], np.diff(objects.offsets)[images])


def some_images(batch: ImageBatch, images: Ints, kept: Bools | None = None) -> ImageBatch:
    """Return some images of a batch, in the given order; of their detections those that are kept,
    (D,) bool, or all.
    """
    gt, det = take_images(batch.gt, images), take_images(batch.det, images)
    masks, lines = batch.masks, batch.gt_lines
    rows = [rows_of_images(side, images) for side in (batch.gt, batch.det)]
    if kept is not None:
        det, rows[1] = take(det, kept[rows[1]]), rows[1][kept[rows[1]]]
    return ImageBatch(
        names=[batch.names[k] for k in images.tolist()],
        sizes=batch.sizes[images],
        gt=gt,
        det=det,
        masks=None if masks is None else (masks[0].take(rows[0]), masks[1].take(rows[1])),
        in_detections=None if batch.in_detections is None else batch.in_detections[images],
        gt_lines=None if lines is None else take_images(lines, images),
    )


# Several batches ----------------------------------------------------------------------------------


def concatenate(parts: Sequence[Objects]) -> Objects:
    """Join the objects of one batch or more, images in the same order."""

    def column(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])

    outlines = [part.outlines for part in parts]
    return Objects(
        offsets=offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
        ids=column("ids"),
        outlines=Outlines(
            np.concatenate([part.boxes for part in outlines]),
            np.concatenate([part.vertices for part in outlines]),
            offsets_of(np.concatenate([part.counts for part in outlines])),
        ),
        regions=column("regions"),
        dont_care=column("dont_care"),
        texts=joined_texts([part.texts for part in parts]),
        confidences=joined_columns(
            [part.confidences for part in parts], [np.full(part.count, np.nan) for part in parts]
        ),
        pixels=joined_columns([part.pixels for part in parts], [part.boxes for part in parts]),
        types=joined_columns(
            [part.types for part in parts], [np.full(part.count, ANY_TYPE) for part in parts]
        ),
        labels=_joined_labels(parts),
        places=_joined_places(parts),
    )


def joined_columns(
    columns: Sequence[NDArray[Any] | None], defaults: Sequence[NDArray[Any]]
) -> NDArray[Any] | None:
    """Join a column of some batches, for one without it the default; None if none has it."""
    if all(column is None for column in columns):
        return None
    known = zip(columns, defaults, strict=True)
    return np.concatenate([default if column is None else column for column, default in known])


def _joined_labels(parts: Sequence[Objects]) -> Labels | None:
    if all(part.labels is None for part in parts):
        return None
    codes: dict[str, int] = {}
    columns = []
    for part in parts:
        labels = part.labels or Labels([""], np.zeros(part.count, np.int64))
        code = np.array([codes.setdefault(name, len(codes)) for name in labels.names], np.int64)
        columns.append(code[labels.codes])
    return Labels(list(codes), np.concatenate(columns))


def _joined_places(parts: Sequence[Objects]) -> Places | Texts | None:
    """Join the places of some batches; where they are of several kinds, they are written out."""
    known = [part.places for part in parts if part.count]
    if not known or any(places is None for places in known):
        return None
    patterns = {places.pattern if isinstance(places, Places) else None for places in known}
    (pattern,) = patterns if len(patterns) == 1 else (None,)
    if pattern is None:
        return concatenate_texts([place for places in known for place in places or ()])
    numbers = [places.numbers for places in known if isinstance(places, Places)]
    return Places(pattern, np.concatenate(numbers))


def joined_texts(parts: Sequence[Texts]) -> Texts:
    """Return the transcriptions of all parts, one after the other."""
    # The buffers are joined, so the places in each move by the bytes before it.
    before = offsets_of([len(part.buffer) for part in parts]).tolist()
    start = [part.start + shift for part, shift in zip(parts, before, strict=False)]
    stop = [part.stop + shift for part, shift in zip(parts, before, strict=False)]
    buffer = b"".join(part.buffer for part in parts)
    return Texts(buffer, np.concatenate(start), np.concatenate(stop))


NOTHING = Objects(
    offsets=np.zeros(1, np.int64),
    ids=np.zeros(0, np.int64),
    outlines=Outlines.of_boxes(np.zeros((0, 4))),
    regions=np.zeros(0, np.int64),
    dont_care=np.zeros(0, dtype=bool),
    texts=concatenate_texts([]),
)
"""No image at all."""
