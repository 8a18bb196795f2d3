"""Batches of images: cut, read and measured, here or in another process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

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
from evaltex_cli.records import (
    Bools,
    ImageBatch,
    Ints,
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


class Refused(NamedTuple):
    """Objects of some images that are refused: row -> why."""

    source: Source
    reasons: Mapping[int, str]

    def log(self, faults: FaultLog) -> None:
        """Add a fault for each of them."""
        objects = self.source.objects
        for row, why in self.reasons.items():
            file, line, where = self.source.location(row)
            image = quote(self.source.names[int(objects.image[row])])
            found = f"image {image}, object {objects.ids[row]}: {why}"
            expected = "a valid polygon; correct it, or have it repaired or dropped"
            faults.add(file, line, found, expected, (where,) if where else ())


class BatchResult(NamedTuple):
    """The result of a batch.

    Attributes
    ----------
    gathered : list of Gathered
        By each run; none where nobody wanted it, or there were faults.
    made : list
        What `Sink.make` has made of it, for each run.
    gt, det, lines : InputCounts
        `lines` of the ground truth of lines.
    faults : FaultLog
    refused : list of Refused
        Objects that the policy for invalid polygons refuses.
    refusal : EvaltexError or None
        Why a protocol would not measure it.
    """

    gathered: list[Gathered]
    made: list[Any]
    gt: InputCounts
    det: InputCounts
    faults: FaultLog
    refused: Sequence[Refused] = ()
    refusal: EvaltexError | None = None
    lines: InputCounts = InputCounts()


def measure(
    bare: Sequence[Run],
    options: InputOptions,
    make: Make | None,
    with_matches: bool,
    task: BatchTask,
) -> BatchResult:
    """Read a batch and gather its evidence: the work that processes share.

    Parameters
    ----------
    bare : sequence of Run
        Runs that have summed nothing yet.
    """
    refused: list[Refused] = []
    names = task.gt.names
    has_masks = options.masks is not None or (task.gt.pictures, task.det.pictures) != (None, None)
    gt, gt_counts = _settled(task.gt, "gt", options.invalid, refused)
    det, det_counts = _settled(task.det, "det", options.invalid, refused)
    lines, lines_counts = None, InputCounts()
    if task.lines is not None:
        lines, lines_counts = _settled(task.lines, "lines", options.invalid, refused)
    faults = FaultLog()
    batch = ImageBatch(
        names,
        task.gt.sizes,
        gt,
        with_empty_images(det, task.present),
        in_detections=task.present,
        gt_lines=lines,
    )
    if has_masks:
        batch = _with_pixels(batch, options.masks, task, faults)
    result = BatchResult([], [], gt_counts, det_counts, faults, refused, lines=lines_counts)
    if faults.count or refused:
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
    batch: ImageBatch, masks: MaskFolders | None, task: BatchTask, faults: FaultLog
) -> ImageBatch:
    """Return a batch of masks: of pictures in memory if there are any, else of those in folders."""
    from evaltex_cli.evaluation import mask_batches

    gt, det = task.gt.pictures, task.det.pictures
    if masks is None or (gt, det) != (None, None):
        return mask_batches.with_pictures(
            batch, gt or [], mask_batches.spread(det or [], task.present)
        )
    return mask_batches.with_masks(batch, masks, task.present, faults)


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
    source: Source, of: Literal["gt", "det", "lines"], invalid: str, refused: list[Refused]
) -> tuple[Objects, InputCounts]:
    """Apply the policy for invalid polygons; lines are ground truth. Return what remains, and the
    counts of it.
    """
    side: Side = "det" if of == "det" else "gt"
    objects, counts, reasons = treat_invalid(source.objects, invalid, side)
    if reasons:
        refused.append(Refused(source, reasons))
    return replace(objects, places=None), InputCounts.of(objects, counts)


def cut(inputs: Inputs, *others: Inputs, are_shared: bool = True) -> Iterator[tuple[int, int]]:
    """Cut images into batches of bounded bytes and number, smaller ones at the end if workers share
    them; an image is never cut. With other detections of the same ground truth, a batch has as many
    bytes of each input as without.
    """
    gt, sides = inputs.gt, (inputs, *others)
    most_images = MASK_BATCH_IMAGES if inputs.options.masks else BATCH_IMAGES
    start = 0
    left = sum(int(_weights(one).sum()) for one in (gt, *(side.det for side in sides)))
    scale, last = (1 + len(sides)) / 2, _LAST_BATCHES if are_shared else 1
    while start < len(gt.names):
        weights = _weights(gt)[start : start + most_images]
        for side in sides:
            partners = side.paired[start : start + most_images]
            present = partners != NO_DETECTIONS
            weights[present] += _weights(side.det)[partners[present]]
        # As many images as fit the limit together; one that is larger alone is a batch of its own.
        parts = max(min(round(left / (LEAST_BYTES * scale)), last), 1)
        most = min(BATCH_BYTES * scale, left // parts)
        ends = np.cumsum(weights)
        stop = start + max(int(np.searchsorted(ends, most, side="right")), 1)
        yield start, stop
        start, left = stop, left - int(ends[stop - start - 1])


def _weights(source: Source) -> Ints:
    """(images,) what each image of an input weighs in a batch."""
    return 1 + BYTES_OF_OBJECT * np.diff(source.objects.offsets)


def with_empty_images(objects: Objects, present: Bools) -> Objects:
    """Give images without detections their empty share of the offsets."""
    counts = np.zeros(len(present), np.int64)
    # The objects stay where they are: only images without detections get an empty stretch of them.
    counts[present] = np.diff(objects.offsets)
    return replace(objects, offsets=offsets_of(counts))
