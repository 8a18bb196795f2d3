"""Objects of a batch by their rows: some of them, or those of several batches one after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.records import (
    ANY_TYPE,
    Bools,
    Floats,
    ImageBatch,
    Ints,
    LabelRuns,
    Labels,
    Objects,
    Outlines,
    Places,
    Texts,
    concatenate_texts,
    offsets_of,
    stretches,
)

_ODD, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


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
    confidences, pixels, types = objects.confidences, objects.pixels, objects.types
    return Objects(
        offsets=offsets,
        ids=objects.ids[rows],
        outlines=taken_outlines(objects.outlines, rows),
        regions=objects.regions[rows],
        dont_care=objects.dont_care[rows],
        texts=packed(objects.texts)[rows],
        confidences=None if confidences is None else confidences[rows],
        pixels=None if pixels is None else pixels[rows],
        types=None if types is None else types[rows],
        labels=None if objects.labels is None else objects.labels[rows],
        places=None if objects.places is None else objects.places[rows],
    )


def repeated(objects: Objects) -> list[tuple[int, int]]:
    """Return each object that has exactly the box or polygon of an earlier object of its image, and
    the first such object.
    """
    keys, drawn = _box_keys(objects.boxes, objects.image), objects.outlines
    ordered = np.sort(keys)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(again):
        return []
    first: dict[tuple[int, bytes], int] = {}
    pairs = []
    rows = np.flatnonzero(np.isin(keys, again))
    are_polygons = (drawn.counts[rows] > 0).tolist()
    for row, key, is_polygon in zip(rows.tolist(), keys[rows].tolist(), are_polygons, strict=True):
        ring = drawn.ring(row).tobytes() if is_polygon else b""
        before = first.setdefault((key, ring), row)
        if before != row:
            pairs.append((row, before))
    return pairs


def _box_keys(boxes: Floats, image: Ints) -> NDArray[np.uint64]:
    """Return (n,) numbers of 64 bits for boxes in images. Different boxes have the same number with
    a chance of 1 in 10^11 in a batch; one column sorts faster than five.
    """
    keys = image.astype(np.uint64)
    for column in boxes.T:
        keys ^= (column + 0.0).view(np.uint64)  # -0.0 is 0.0
        keys *= _ODD
        keys ^= keys >> _HALF
    return keys


def take_images(objects: Objects, images: Ints) -> Objects:
    """Return the objects of some images, (n,) indices, in the given order."""
    counts = np.diff(objects.offsets)[images]
    return take(objects, stretches(objects.offsets[images], counts), offsets_of(counts))


def some_images(batch: ImageBatch, start: int, stop: int) -> ImageBatch:
    """Return the images of a range of a batch."""
    images = np.arange(start, stop)
    named, lines = batch.in_detections, batch.gt_lines
    return ImageBatch(
        batch.names[start:stop],
        batch.sizes[start:stop],
        take_images(batch.gt, images),
        take_images(batch.det, images),
        _runs_of(batch.gt_runs, batch.gt.offsets[[start, stop]]),
        _runs_of(batch.det_runs, batch.det.offsets[[start, stop]]),
        in_detections=None if named is None else named[start:stop],
        gt_lines=None if lines is None else take_images(lines, images),
    )


def _runs_of(runs: LabelRuns | None, ends: Ints) -> LabelRuns | None:
    """Return the runs of a range of objects, their rows numbered as before."""
    if runs is None:
        return None
    first, after = ends.tolist()
    rows = np.flatnonzero((runs.owner >= first) & (runs.owner < after))
    owner, start, stop = (column[rows] for column in runs[:3])
    return LabelRuns(owner - first, start, stop, runs.columns, after - first)


def taken_outlines(outlines: Outlines, rows: Ints | Bools) -> Outlines:
    """Return some outlines, in the order of `rows`."""
    rows = np.arange(len(outlines.boxes))[rows]
    boxes = outlines.boxes.take(rows, axis=0)
    if outlines.all_boxes:
        return Outlines.of_boxes(boxes)
    counts = outlines.counts[rows]
    vertices = outlines.vertices.take(stretches(outlines.offsets[rows], counts), axis=0)
    return Outlines(boxes, vertices, offsets_of(counts), [made[rows] for made in outlines.made])


def concatenate(parts: Sequence[Objects]) -> Objects:
    """Join the objects of one batch or more, images in the same order."""
    return Objects(
        offsets=offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
        ids=np.concatenate([part.ids for part in parts]),
        outlines=_joined_outlines([part.outlines for part in parts]),
        regions=np.concatenate([part.regions for part in parts]),
        dont_care=np.concatenate([part.dont_care for part in parts]),
        texts=joined_texts([packed(part.texts) for part in parts]),
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


def _joined_labels(parts: Sequence[Objects]) -> Labels | None:
    if all(part.labels is None for part in parts):
        return None
    names: dict[str, int] = {}
    codes = []
    for part in parts:
        labels = part.labels or Labels([""], np.zeros(part.count, np.int64))
        code = np.array([names.setdefault(name, len(names)) for name in labels.names], np.int64)
        codes.append(code[labels.codes] if len(code) else labels.codes)
    return Labels(list(names), np.concatenate(codes))


def _joined_places(parts: Sequence[Objects]) -> Places | Texts | None:
    """Join the places of some batches; where they are of several kinds, they are written out."""
    known = [part.places for part in parts if part.count]
    if any(places is None for places in known) or not known:
        return None
    patterns = {places.pattern if isinstance(places, Places) else None for places in known}
    if len(patterns) == 1 and None not in patterns:
        numbers = [places.numbers for places in known if isinstance(places, Places)]
        return Places(str(patterns.pop()), np.concatenate(numbers))
    return joined_texts([packed(list(places or ())) for places in known])


def joined_columns(
    columns: Sequence[NDArray[Any] | None], defaults: Sequence[NDArray[Any]]
) -> NDArray[Any] | None:
    """Join a column of some batches, for one without it the default; None if none has it."""
    if all(column is None for column in columns):
        return None
    known = zip(columns, defaults, strict=True)
    return np.concatenate([default if column is None else column for column, default in known])


def _joined_outlines(parts: Sequence[Outlines]) -> Outlines:
    boxes = np.concatenate([part.boxes for part in parts])
    if all(part.all_boxes for part in parts):
        return Outlines.of_boxes(boxes)
    made = [
        part.made or [np.full(len(part.boxes), None)]
        for part in parts
        if part.made or part.all_boxes
    ]
    return Outlines(
        boxes,
        np.concatenate([part.vertices for part in parts]),
        offsets_of(np.concatenate([part.counts for part in parts])),
        [np.concatenate([polygons for (polygons,) in made])] if len(made) == len(parts) else [],
    )


def packed(texts: Sequence[str]) -> Texts:
    """Return transcriptions as `Texts`."""
    return texts if isinstance(texts, Texts) else concatenate_texts(list(texts))


def joined_texts(parts: Sequence[Texts]) -> Texts:
    """Return the transcriptions of all parts, one after the other."""
    parts = [part for part in parts if len(part)] or parts[:1]
    # Buffers are joined, so the stretches of each part move by the bytes before it.
    shift = np.repeat(
        offsets_of([len(part.buffer) for part in parts])[:-1], [len(part) for part in parts]
    )
    start, stop = (
        np.concatenate([getattr(part, end) for part in parts]) + shift for end in ("start", "stop")
    )
    return Texts(b"".join(part.buffer for part in parts), start, stop)


NOTHING = Objects(
    offsets=np.zeros(1, np.int64),
    ids=np.zeros(0, np.int64),
    outlines=Outlines.of_boxes(np.zeros((0, 4))),
    regions=np.zeros(0, np.int64),
    dont_care=np.zeros(0, dtype=bool),
    texts=concatenate_texts([]),
)
"""No image at all."""
