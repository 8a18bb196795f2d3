"""Batches of images: cut and measured, here or in another process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.errors import EvaltexError, FaultLog, quote
from evaltex_cli.evaluation.input_counts import InputCounts
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.evaluation.tally import Gathered, Make, Run, add_batch
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.filters import treat_invalid
from evaltex_cli.formats.options import InputOptions, MaskFolders
from evaltex_cli.geometry import overlaps
from evaltex_cli.geometry.picture_runs import PictureRuns, join, object_of
from evaltex_cli.records import (
    Bools,
    ImageBatch,
    Ints,
    LabelRuns,
    Objects,
    offsets_of,
)

BATCH_BYTES = 1 << 20
LEAST_BYTES = 1 << 18
_LAST_BATCHES = 4
"""Of several workers, a batch is at most this part of what is left, down to about `LEAST_BYTES`: no
worker has much to do when the others are done. What is left in the end is divided evenly: the least
batch takes time.
"""
BATCH_IMAGES = 8192
MASK_BATCH_IMAGES = 8
BYTES_OF_OBJECT = 64
"""What an object weighs in a batch, about as much as its line in a text file."""


class BatchTask(NamedTuple):
    """Some images of an evaluation, fit to be sent to another process."""

    gt: Source
    det: Source
    """Without the images that are not present."""
    present: Bools
    """(images,) bool. Whether the detections name the image."""
    lines: Source | None = None
    """The same images of the ground truth of lines, if there is one."""


class BatchResult(NamedTuple):
    """The result of a batch."""

    gt: InputCounts
    det: InputCounts
    lines: InputCounts
    """Of the ground truth of lines."""
    faults: FaultLog
    gathered: Sequence[Gathered] = ()
    """By each run; none where there were faults."""
    made: Sequence[Any] = ()
    """What `Sink.make` has made of it, for each run."""
    refusal: EvaltexError | None = None
    """Why a protocol would not measure it."""


def measure(
    bare: Sequence[Run],
    options: InputOptions,
    make: Make | None,
    with_matches: bool,
    task: BatchTask,
) -> BatchResult:
    """Gather the evidence of a batch by runs that have summed nothing yet: the work that processes
    share.
    """
    faults = FaultLog()
    gt, gt_counts = _settled(task.gt, "gt", options.invalid, faults)
    det, det_counts = _settled(task.det, "det", options.invalid, faults)
    lines, lines_counts = None, InputCounts()
    if task.lines is not None:
        lines, lines_counts = _settled(task.lines, "gt", options.invalid, faults)
    det = with_empty_images(det, task.present)
    batch = ImageBatch(
        task.gt.names, task.gt.sizes, gt, det, in_detections=task.present, gt_lines=lines
    )
    if options.masks is not None:
        batch = _with_pixels(batch, options.masks, task, faults)
    result = BatchResult(gt_counts, det_counts, lines_counts, faults)
    if faults.count:
        return result
    runs = [run.empty() for run in bare]
    try:
        made = _add_batch(runs, batch, make, with_matches)
        return result._replace(gathered=[run.gathered for run in runs], made=made)
    except EvaltexError as refusal:
        return result._replace(refusal=refusal)


def _add_batch(
    runs: Sequence[Run], batch: ImageBatch, make: Make | None, with_matches: bool
) -> list[Any]:
    """Add the evidence of a batch to all runs; what was measured is kept no longer than a later
    one needs it.
    """
    made = []
    for k, run in enumerate(runs, 1):
        made.append(add_batch(run, batch, make, with_matches))
        overlaps.keep_only(batch, [one.protocol.convention(one.parameters) for one in runs[k:]])
        if all(one.protocol is not run.protocol for one in runs[k:]):
            batch.moved.clear()
    return made


def _with_pixels(
    batch: ImageBatch, masks: MaskFolders, task: BatchTask, faults: FaultLog
) -> ImageBatch:
    """Return a batch of masks: of pictures in memory if there are any, else of those in folders."""
    if task.gt.pictures is None and task.det.pictures is None:
        return _with_masks(batch, masks, faults)
    of_present = iter(task.det.pictures or ())
    det = [next(of_present, None) if is_present else None for is_present in task.present.tolist()]
    return with_pictures(batch, task.gt.pictures or [], det)


def with_pictures(
    batch: ImageBatch, gt: Sequence[PictureRuns | None], det: Sequence[PictureRuns | None]
) -> ImageBatch:
    """Return a batch whose objects are the labelled pixels of pictures in memory."""
    shapes = np.zeros((len(batch.names), 2), np.int64)
    for pictures in (gt, det):
        for k, picture in enumerate(pictures):
            if picture is not None:
                shapes[k] = np.maximum(shapes[k], picture.shape)

    def joined(pictures: Sequence[PictureRuns | None], objects: Objects) -> LabelRuns:
        owned = [
            None if runs is None else (runs, object_of(runs.label, objects.ids[start:stop]) + start)
            for runs, start, stop in zip(
                pictures, objects.offsets[:-1], objects.offsets[1:], strict=bool(pictures)
            )
        ]
        return join(owned or [None] * len(batch.names), shapes, objects.count)

    return replace(batch, gt_runs=joined(gt, batch.gt), det_runs=joined(det, batch.det))


def _with_masks(batch: ImageBatch, masks: MaskFolders, faults: FaultLog) -> ImageBatch:
    """Return a batch whose objects are the labelled pixels of the pictures in two folders."""
    from evaltex_cli.formats.masks import read_runs

    expected = "a ground truth that states them, as EvaLTex files do, with label pictures"
    for k in np.flatnonzero((batch.sizes <= 0).any(axis=1)).tolist():
        found = f"image {batch.names[k]} without height and width in the ground truth"
        faults.add(str(masks.gt), None, found, expected)
    gt_runs = read_runs(batch, "gt", masks, faults)
    return replace(batch, gt_runs=gt_runs, det_runs=read_runs(batch, "det", masks, faults))


def task_of(inputs: Inputs, cut: tuple[int, int]) -> BatchTask:
    """Return the images of a cut."""
    start, stop = cut
    partners = inputs.paired[start:stop]
    present = partners != NO_DETECTIONS
    lines = inputs.lines
    return BatchTask(
        inputs.gt.part(np.arange(start, stop)),
        inputs.det.part(partners[present]),
        present,
        None if lines is None else lines.part(inputs.paired_lines[start:stop]),
    )


def are_polygons(objects: Objects) -> bool:
    """Whether one of these objects has other than four vertices; a box has four."""
    counts = objects.outlines.counts
    return bool(((counts != 0) & (counts != 4)).any())


def _settled(
    source: Source, side: Side, invalid: str, faults: FaultLog
) -> tuple[Objects, InputCounts]:
    """Apply the policy for invalid polygons; return what remains, and the counts of it. Objects
    that it refuses are logged.
    """
    objects, counts, refused = treat_invalid(source.objects, invalid, side)
    for row, why in refused.items():
        file, line, where = source.location(row)
        image = quote(source.names[int(objects.image[row])])
        found = f"image {image}, object {objects.ids[row]}: {why}"
        expected = "a valid polygon; correct it, or have it repaired or dropped"
        faults.add(file, line, found, expected, (where,) if where else ())
    return replace(objects, places=None), InputCounts.of(objects, counts)


def cut(inputs: Inputs, *others: Inputs, are_shared: bool = True) -> Iterator[tuple[int, int]]:
    """Cut images into batches of bounded bytes and number, smaller ones at the end if workers share
    them; an image is never cut. With other detections of the same ground truth, a batch has as many
    bytes of each input as without.
    """
    sides = (inputs, *others)
    weights = _weights(inputs.gt)
    for side in sides:
        present = side.paired != NO_DETECTIONS
        weights[present] += _weights(side.det)[side.paired[present]]
    ends = np.append(0, np.cumsum(weights))
    most_images = MASK_BATCH_IMAGES if inputs.options.masks else BATCH_IMAGES
    scale, last = (1 + len(sides)) / 2, _LAST_BATCHES if are_shared else 1
    start, images = 0, len(weights)
    while start < images:
        # As many images as fit the limit together; one that is larger alone is a batch of its own.
        left = int(ends[-1] - ends[start])
        parts = max(min(round(left / (LEAST_BYTES * scale)), last), 1)
        most = min(BATCH_BYTES * scale, left // parts)
        stop = int(np.searchsorted(ends, ends[start] + most, side="right")) - 1
        stop = min(max(stop, start + 1), start + most_images, images)
        yield start, stop
        start = stop


def _weights(source: Source) -> Ints:
    """(images,) what each image of an input weighs in a batch."""
    return 1 + BYTES_OF_OBJECT * np.diff(source.objects.offsets)


def with_empty_images(objects: Objects, present: Bools) -> Objects:
    """Give images without detections their empty share of the offsets."""
    counts = np.zeros(len(present), np.int64)
    # The objects stay where they are: only images without detections get an empty stretch of them.
    counts[present] = np.diff(objects.offsets)
    return replace(objects, offsets=offsets_of(counts))
