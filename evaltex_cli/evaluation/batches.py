"""Batches of images: cut, read and measured, here or in another process."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.errors import EvaltexError, FaultLog
from evaltex_cli.evaluation.input_counts import InputCounts
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.evaluation.repeated_objects import Repeats, count_repeats
from evaltex_cli.evaluation.tally import Gathered, Run, SinkWork, add_batch
from evaltex_cli.geometry import overlaps
from evaltex_cli.old_formats.base import ReadImages, Source
from evaltex_cli.old_formats.filters import treat_invalid
from evaltex_cli.old_formats.options import InputOptions, MaskFolders
from evaltex_cli.records import (
    Bools,
    ImageBatch,
    Ints,
    Objects,
    offsets_of,
)

if TYPE_CHECKING:
    from evaltex_cli.geometry.picture_runs import PictureRuns

BATCH_BYTES = 1 << 20
LEAST_BYTES = 1 << 18
_LAST_BATCHES = 4
"""Of several workers, a batch is at most this part of what is left, down to about `LEAST_BYTES`: no
worker has much to do when the others are done. What is left in the end is divided evenly: the least
batch takes time.
"""
BATCH_IMAGES = 8192
MASK_BATCH_IMAGES = 8
_FEW_IMAGES = 16
Read: TypeAlias = Callable[[], ReadImages]


class BatchTask(NamedTuple):
    """Some images, with what reads them, fit to be sent to another process."""

    names: Sequence[str]
    """Of the ground truth."""
    present: Bools
    """(images,) bool. Whether the detections name the image."""
    gt: Read
    det: Read
    """`gt` and `det`: read the images of `names`, and those of them that are present."""
    is_counted: bool
    """Whether anybody wants the evidence, not only the faults."""
    lines: Read | None = None
    """Reads the images of `names` of the ground truth of lines, if there is one."""


class Refused(typing.NamedTuple):
    """Objects of one input, by row, with the reason; the places are looked
    for where the source is.
    """

    of: Literal["gt", "det", "lines"]
    objects: Objects
    reasons: Mapping[int, str]


class BatchResult(NamedTuple):
    """The result of a batch.

    Attributes
    ----------
    gathered : list of Gathered
        By each run; none where nobody wanted it, or there were faults.
    made : list
        What `SinkWork.make` has made of it, for each run.
    gt, det, lines : InputCounts
        `lines` of the ground truth of lines.
    repeats : (Repeats, Repeats)
        Of ground truth and detections; not counted for masks.
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
    repeats: tuple[Repeats, Repeats] = (Repeats(), Repeats())


def measure(
    bare: Sequence[Run], options: InputOptions, work: SinkWork | None, task: BatchTask
) -> BatchResult:
    """Read a batch and gather its evidence: the work that processes share.

    Parameters
    ----------
    bare : sequence of Run
        Runs that have summed nothing yet.
    """
    refused: list[Refused] = []
    gt_read, det_read = task.gt(), task.det()
    has_masks = options.masks is not None or (gt_read.pictures, det_read.pictures) != (None, None)
    repeats = Repeats(), Repeats()
    if not has_masks:
        det_names = list(compress(task.names, task.present))
        repeats = (
            count_repeats(gt_read.objects, task.names),
            count_repeats(det_read.objects, det_names),
        )
    gt_read = _settled(gt_read, "gt", options.invalid, refused)
    det_read = _settled(det_read, "det", options.invalid, refused)
    lines = (
        None if task.lines is None else _settled(task.lines(), "lines", options.invalid, refused)
    )
    faults = FaultLog()
    faults.extend(*(read.faults for read in (gt_read, det_read, lines) if read is not None))
    batch = ImageBatch(
        task.names,
        gt_read.sizes,
        gt_read.objects,
        with_empty_images(det_read.objects, task.present),
        in_detections=task.present,
        gt_lines=None if lines is None else lines.objects,
    )
    pictures = gt_read.pictures, det_read.pictures
    if has_masks:
        batch = _with_pixels(batch, pictures, options.masks, task, faults)
    counts = _counts(gt_read), _counts(det_read)
    result = BatchResult([], [], *counts, faults, refused, repeats=repeats)
    if lines is not None:
        result = result._replace(lines=_counts(lines))
    if faults.count or refused or not task.is_counted:
        return result
    runs = [run.empty() for run in bare]
    try:
        made = _add_batch(runs, batch, work)
        return result._replace(gathered=[run.gathered for run in runs], made=made)
    except EvaltexError as refusal:
        return result._replace(refusal=refusal)


def _add_batch(runs: Sequence[Run], batch: ImageBatch, work: SinkWork | None) -> list[Any]:
    """Add the evidence of a batch to all runs; what was measured is kept no longer than a later
    one needs it.
    """
    made = []
    for k, run in enumerate(runs, 1):
        made.append(add_batch(run, batch, work))
        overlaps.keep_only(batch, [one.protocol.convention(one.parameters) for one in runs[k:]])
        if all(one.protocol is not run.protocol for one in runs[k:]):
            batch.moved.clear()
    return made


def _with_pixels(
    batch: ImageBatch,
    pictures: tuple[Sequence[PictureRuns | None] | None, Sequence[PictureRuns | None] | None],
    masks: MaskFolders | None,
    task: BatchTask,
    faults: FaultLog,
) -> ImageBatch:
    """Return a batch of masks: of pictures in memory if there are any, else of those in folders."""
    from evaltex_cli.evaluation import mask_batches

    gt, det = pictures
    if masks is None or pictures != (None, None):
        return mask_batches.with_pictures(
            batch, gt or [], mask_batches.spread(det or [], task.present)
        )
    return mask_batches.with_masks(batch, masks, task.present, faults)


def _counts(read: ReadImages) -> InputCounts:
    return InputCounts.of(read.objects, read.repairs, read.unconfident)


def task_of(inputs: Inputs, cut: tuple[int, int], is_counted: bool) -> BatchTask:
    """Return the images of a cut."""
    start, stop = cut
    partners = inputs.paired[start:stop]
    present = partners != NO_DETECTIONS
    return BatchTask(
        inputs.gt.names[start:stop],
        present,
        inputs.gt.part(np.arange(start, stop)).read,
        inputs.det.part(partners[present]).read,
        is_counted,
        None
        if inputs.lines is None or not is_counted
        else inputs.lines.part(inputs.paired_lines[start:stop]).read,
    )


class Part(NamedTuple):
    """Some images of one side, with what reads them."""

    names: Sequence[str]
    read: Read


def part_of(source: Source, positions: Ints) -> Part:
    """Return the images at these positions of a source."""
    return Part([source.names[k] for k in positions.tolist()], source.part(positions).read)


def holds_polygons(part: Part) -> bool:
    """Whether an object of some images has other than four vertices."""
    return are_polygons(part.read().objects)


def are_polygons(objects: Objects) -> bool:
    """Whether one of these objects has other than four vertices; a box has four."""
    counts = objects.outlines.counts
    return bool(((counts != 0) & (counts != 4)).any())


def _settled(
    read: ReadImages, of: Literal["gt", "det", "lines"], invalid: str, refused: list[Refused]
) -> ReadImages:
    """Apply the policy for invalid polygons; lines are ground truth. Only of objects that are
    refused the numbers of their lines are asked for.
    """
    settled, reasons = treat_invalid(read, invalid, "det" if of == "det" else "gt")
    if reasons:
        refused.append(Refused(of, settled.objects, reasons))
    return replace(settled, objects=replace(settled.objects, line=None))


def cut(inputs: Inputs, *others: Inputs, are_shared: bool = True) -> Iterator[tuple[int, int]]:
    """Cut images into batches of bounded bytes and number, smaller ones at the end if workers share
    them; an image is never cut. With other detections of the same ground truth, a batch has as many
    bytes of each input as without.
    """
    gt, sides = inputs.gt, (inputs, *others)
    most_images = MASK_BATCH_IMAGES if inputs.options.masks else BATCH_IMAGES
    bytes_ = (one.weights.sum(dtype=np.int64) for one in (gt, *(side.det for side in sides)))
    start, left = 0, int(sum(bytes_))
    scale, last = (1 + len(sides)) / 2, _LAST_BATCHES if are_shared else 1
    while start < len(gt.names):
        weights = gt.weights[start : start + most_images].astype(np.int64)
        for side in sides:
            partners = side.paired[start : start + most_images]
            present = partners != NO_DETECTIONS
            weights[present] += side.det.weights[partners[present]]
        # As many images as fit the limit together; one that is larger alone is a batch of its own.
        parts = max(min(round(left / (LEAST_BYTES * scale)), last), 1)
        most = min(BATCH_BYTES * scale, left // parts)
        ends = np.cumsum(weights)
        stop = start + max(int(np.searchsorted(ends, most, side="right")), 1)
        yield start, stop
        start, left = stop, left - int(ends[stop - start - 1])


def first_few(start: int, stop: int) -> tuple[Ints, Ints]:
    """Divide the images of a batch: of the first batch, a few come first, which may say enough."""
    images = np.arange(start, stop)
    few = 0 if start else _FEW_IMAGES
    return images[:few], images[few:]


def with_empty_images(objects: Objects, present: Bools) -> Objects:
    """Give images without detections their empty share of the offsets."""
    counts = np.zeros(len(present), np.int64)
    # The objects stay where they are: only images without detections get an empty stretch of them.
    counts[present] = np.diff(objects.offsets)
    return replace(objects, offsets=offsets_of(counts))
