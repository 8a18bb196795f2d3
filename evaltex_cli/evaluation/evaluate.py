"""An evaluation, from two inputs to scores.

    read → pair → batches → overlaps → evidence → sums → scores

`inputs.open_inputs` reads; the other steps are here, in this order, and other processes may do
`measure`. Knows neither click nor result files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from itertools import pairwise
from operator import add
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.errors import FaultLog, InputError, counted, quote
from evaltex_cli.evaluation import hints
from evaltex_cli.evaluation.evaluation import Evaluation, ImageResult, ObjectResult
from evaltex_cli.evaluation.inputs import (
    LINES_OF_FILE,
    InputCounts,
    Inputs,
    InputSummary,
    input_warnings,
    signature,
    summary_of,
)
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.formats import MEMORY
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.filters import treat_invalid
from evaltex_cli.formats.options import InputOptions, MaskFolders
from evaltex_cli.formats.sizes import refuse_fractions
from evaltex_cli.geometry.masks import Masks, PictureRuns, join, object_of
from evaltex_cli.protocols.base import Evidence, EvidenceRows, Protocol, Scores, load
from evaltex_cli.protocols.config import notes_of_preset
from evaltex_cli.protocols.matching import MATCH_TYPES, SideMatches
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.protocols.object_warnings import ObjectWarning, of_large_boxes
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Bools, ImageBatch, Ints, Objects, chunks, offsets_of
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.runtime.progress import phase
from evaltex_cli.tables.record import Rows

Progress: TypeAlias = Callable[[int, int], None]
BATCH_OBJECTS, MASK_BATCH_IMAGES = 1 << 13, 8
"""A batch has at most so many images and objects; of label pictures, so many images."""


class Run(NamedTuple):
    """One protocol with its parameters."""

    protocol: Protocol
    parameters: Any

    def scores(self, tally: Tally) -> Scores:
        """Score summed evidence, or columns of it."""
        return self.protocol.scores(tally, self.parameters)


class Sink(NamedTuple):
    """What is done with every batch that was measured."""

    make: Callable[[BatchImages], Any]
    """Called where the batch is measured, perhaps in another process."""
    take: Callable[[Run, Any], None]
    """``take(run, made)`` gets here what `make` returned, in the order of the images."""


def runs_of(protocols: Mapping[str, Any]) -> list[Run]:
    """Return a run for each protocol, from names and parameters records."""
    return [Run(load(name), parameters) for name, parameters in protocols.items()]


def evaluate_inputs(
    inputs: Inputs,
    runs: Sequence[Run],
    sinks: Sequence[Sink] = (),
    progress: Progress | None = None,
    ordered_map: OrderedMap = map,
    *,
    per_image: bool = False,
    in_training: bool = False,
    batch_objects: int = BATCH_OBJECTS,
) -> list[Evaluation]:
    """Evaluate inputs by every run, but those that need texts that are not there (`left_out`).

    `progress` gets the number of images done and of all. With `per_image`, evaluations have the
    results of the images. `in_training` says that it is normal that nothing matches yet: no likely
    mistakes are looked for, and protocols that need texts stay where there are none, with a
    warning. Raises `InputError` for all faults at once.
    """
    gt, det, options = inputs.gt, inputs.det, inputs.options
    of_preset = notes_of_preset(options.preset, {run.protocol.name: run.parameters for run in runs})
    runs = _fit_runs(runs, inputs)
    _refuse_faults(inputs)
    runs = runs if in_training else _with_texts(runs, inputs)
    images: dict[str, list[ImageResult]] = {run.protocol.name: [] for run in runs}
    if per_image:
        sinks = [
            *sinks,
            Sink(image_results, lambda run, own: images[run.protocol.name].extend(own)),
        ]
    batches = list(cut(inputs, batch_objects))
    folders = options.masks and options.masks._replace(base=Path.cwd())  # for other processes
    work = partial(measure, runs, options.invalid, folders, [sink.make for sink in sinks])
    parts = ordered_map(work, (task_of(inputs, np.arange(*ends)) for ends in batches))
    counts, sums = add_up(parts, batches, inputs, runs, sinks, progress)
    missing = int((inputs.paired == NO_DETECTIONS).sum())
    more = InputCounts(missing=missing, unconfident=det.unconfident)
    sides = summary_of(gt, counts[0]), summary_of(det, counts[1] + more)
    of_inputs = input_warnings(options, *sides, counts[2])
    warnings = [*gt.warnings, *det.warnings, *of_inputs, *of_preset]
    if options.masks is None:
        warnings += hints.repeated_objects("gt", gt)
        warnings += hints.repeated_objects("det", det)
    results = [scored(*one, inputs, *sides, warnings) for one in zip(runs, sums, strict=True)]
    results = [replace(one, images=Rows(images[one.protocol.name])) for one in results]
    if in_training or options.masks is not None:
        return results
    return hints.explained(results, gt, det, inputs.paired)


def score_nothing(run: Run) -> Evaluation:
    """Evaluate a data set without images by a run, to learn the names of its scores."""
    nothing = Source([], np.zeros((0, 2)), format=MEMORY)
    inputs = Inputs(nothing, nothing, FaultLog(), InputOptions())
    return evaluate_inputs(inputs, [run], in_training=True)[0]


# Pair ---------------------------------------------------------------------------------------------


def _refuse_faults(inputs: Inputs) -> None:
    """Raise `InputError` for all faults of reading and pairing at once, with their likely cause."""
    gt, det, faults = inputs.gt, inputs.det, inputs.faults
    paired, _ = inputs.paired, inputs.paired_lines  # which log what does not pair
    refuse_fractions(gt, faults)
    refuse_fractions(det, faults)
    if faults:
        faults.hints += hints.of_faults(faults, gt, det, paired, inputs.options)
        faults.raise_if_any()


def _fit_runs(runs: Sequence[Run], inputs: Inputs) -> list[Run]:
    """Return the runs with the parameters that depend on the inputs: lines, and polygons; without
    those that do not work on label pictures, of which one other must be left.
    """
    if inputs.lines is not None and not any(hasattr(one.parameters, "lines") for one in runs):
        lines = f"{inputs.lines.path}: a ground truth of lines is for tiou"
        raise InputError(f"{lines}; add this protocol or leave it out")
    if inputs.options.masks is not None:
        names = " and ".join(run.protocol.name for run in runs)
        runs = [run for run in runs if "outlines" not in run.protocol.needs]
        if not runs:
            raise InputError(
                f"protocol {names} does not work on label pictures; leave out their folders"
            )
    sides = inputs.gt.objects, inputs.det.objects
    has_polygons = cache(lambda: any(map(are_polygons, sides)))
    fit = []
    for protocol, parameters in runs:
        if inputs.lines is not None and hasattr(parameters, "lines"):
            parameters = replace(parameters, lines=LINES_OF_FILE)  # noqa: PLW2901
        fit.append(Run(protocol, protocol.resolve(parameters, has_polygons)))
    return fit


def are_polygons(objects: Objects) -> bool:
    """Whether one of these objects has other than four vertices; a box has four."""
    counts = objects.outlines.counts
    return bool(((counts != 0) & (counts != 4)).any())


def _with_texts(runs: Sequence[Run], inputs: Inputs) -> Sequence[Run]:
    """Leave out the protocols that need texts if a side has none; one other must be left."""
    without = left_out([run.protocol.name for run in runs], inputs)
    if len(without) == len(runs):
        needs = f"{' and '.join(without)} [compares|compare] texts"
        found = f"{_without_texts(inputs)}, and {counted(len(runs), needs)}"
        raise InputError(f"{found}; choose another protocol, such as iou")
    return [run for run in runs if run.protocol.name not in without]


def left_out(names: Iterable[str], inputs: Inputs) -> dict[str, str]:
    """Return protocol -> reason for those that do not work on label pictures, if there are some,
    and for those that need texts, if a side has none.
    """
    reason = _without_texts(inputs).rpartition(": ")[2]
    missing = {"texts": reason} if reason else {}
    if inputs.options.masks is not None:
        missing["outlines"] = "it takes no label pictures"
    return {name: missing[need] for name in names for need in missing if need in load(name).needs}


def _without_texts(inputs: Inputs) -> str:
    """Say which side has objects that count, but none with a text; nothing if both have texts."""
    for source, what in ((inputs.det, "detection"), (inputs.gt, "object of the ground truth")):
        objects = source.objects
        if not objects.dont_care.all() and not objects.texts.are_written.any():
            return f"{source.path}: no {what} has a transcription"
    return ""


# Batches ------------------------------------------------------------------------------------------


class BatchTask(NamedTuple):
    """Some images of an evaluation, fit to be sent to another process."""

    gt: Source
    det: Source
    present: Bools
    """(images,) Whether the detections name the image; `det` has only these."""
    lines: Source | None = None


def cut(inputs: Inputs, batch_objects: int = BATCH_OBJECTS) -> Iterator[tuple[int, int]]:
    """Cut the images into batches: the first image and the end of each."""
    present = inputs.paired != NO_DETECTIONS
    if not len(present):
        return iter([(0, 0)])
    if inputs.options.masks is not None:
        return chunks(np.ones(len(present), np.int64), MASK_BATCH_IMAGES)
    weights = 1 + np.diff(inputs.gt.objects.offsets)
    weights[present] += 1 + np.diff(inputs.det.objects.offsets)[inputs.paired[present]]
    return chunks(weights, batch_objects)


def task_of(inputs: Inputs, images: Ints) -> BatchTask:
    """Return some images of the ground truth as a batch."""
    partners = inputs.paired[images]
    present = partners != NO_DETECTIONS
    gt, det = inputs.gt.part(images), inputs.det.part(partners[present])
    lines = inputs.lines and inputs.lines.part(inputs.paired_lines[images])
    return BatchTask(gt, det, present, lines)


# Overlaps and evidence ----------------------------------------------------------------------------


class Part(NamedTuple):
    """The evidence of a run, one row an image."""

    tally: Tally
    warnings: Sequence[ObjectWarning]


class BatchPart(NamedTuple):
    """What comes of a batch; no runs where there were faults."""

    counts: Sequence[InputCounts]
    """Of ground truth, detections and lines."""
    faults: FaultLog
    runs: Sequence[Part] = ()
    made: Sequence[Sequence[Any]] = ()
    """What each `Sink.make` made, by run."""


@dataclass(frozen=True, eq=False)
class BatchImages:
    """A batch that was measured by a run."""

    run: Run
    measured: Measured
    evidence: Evidence

    @property
    def batch(self) -> ImageBatch:
        """The images and their objects."""
        return self.measured.batch


def measure(
    runs: Sequence[Run],
    invalid: str,
    folders: MaskFolders | None,
    makes: Sequence[Callable[[BatchImages], Any]],
    task: BatchTask,
) -> BatchPart:
    """Return the evidence of a batch by each run: the work that processes share."""
    faults = FaultLog()
    gt, gt_counts = _settled(task.gt, "gt", invalid, faults)
    det, det_counts = _settled(task.det, "det", invalid, faults)
    det = with_empty_images(det, task.present)
    lines, lines_counts = None, InputCounts()
    if task.lines is not None:
        lines, lines_counts = _settled(task.lines, "gt", invalid, faults)
    batch = ImageBatch(task.gt.names, task.gt.sizes, gt, det, None, task.present, lines)
    if folders is not None:
        if task.gt.pictures is None and task.det.pictures is None:
            from evaltex_cli.formats.masks import read_runs

            masks = (
                read_runs(batch, "gt", folders, faults),
                read_runs(batch, "det", folders, faults),
            )
        else:
            masks = _masks_in_memory(batch, task)
        batch = replace(batch, masks=masks)
    counts = (gt_counts, det_counts, lines_counts)
    if faults:
        return BatchPart(counts, faults)
    measured = Measured(batch)
    parts, made = [], []
    for run in runs:
        evidence = measured.evidence(*run)
        parts.append(Part(evidence.tally, [*evidence.warnings, *of_large_boxes(batch, *run)]))
        made.append([make(BatchImages(run, measured, evidence)) for make in makes])
    return BatchPart(counts, faults, parts, made)


def _settled(
    source: Source, side: Side, invalid: str, faults: FaultLog
) -> tuple[Objects, InputCounts]:
    """Apply the policy for invalid polygons; return what remains, and its counts."""
    objects, counts, refused = treat_invalid(source.objects, invalid, side)
    for row, why in refused.items():
        file, line, where = source.location(row)
        image = quote(source.names[int(objects.image[row])])
        found = f"image {image}, object {objects.ids[row]}: {why}"
        expected = "a valid polygon; correct it, or have it repaired or dropped"
        faults.add(file, line, found, expected, (where,) if where else ())
    return replace(objects, places=None), InputCounts.of(objects, counts)


def with_empty_images(objects: Objects, present: Bools) -> Objects:
    """Return objects of the images that are present, with images without objects between them."""
    counts = np.zeros(len(present), np.int64)
    counts[present] = np.diff(objects.offsets)
    return replace(objects, offsets=offsets_of(counts))


def _masks_in_memory(batch: ImageBatch, task: BatchTask) -> tuple[Masks, Masks]:
    """Return the pixels of both sides' objects, from arrays, whose shapes are the sizes."""
    of_present = iter(task.det.pictures or ())
    theirs = [next(of_present, None) if present else None for present in task.present.tolist()]

    def joined(pictures: Sequence[PictureRuns | None], objects: Objects) -> Masks:
        offsets = objects.offsets.tolist()
        owned = [
            runs and (runs, object_of(runs.label, objects.ids[start:stop]) + start)
            for runs, start, stop in zip(pictures, offsets, offsets[1:], strict=False)
        ]
        return join(owned, batch.sizes.astype(np.int64), objects.count)

    ours = task.gt.pictures or [None] * len(theirs)
    return joined(ours, batch.gt), joined(theirs, batch.det)


# Sums ---------------------------------------------------------------------------------------------


def add_up(
    parts: Iterable[BatchPart],
    batches: Sequence[tuple[int, int]],
    inputs: Inputs,
    runs: Sequence[Run],
    sinks: Sequence[Sink],
    progress: Progress | None,
) -> tuple[list[InputCounts], list[Part]]:
    """Return the counts of both sides and lines, and the evidence of each run, from all batches,
    while sinks take what was made of them. Raises `InputError` for the faults of all batches.
    """
    images, done = len(inputs.gt.names), []
    with phase("evaluating", "images", images) as evaluated:
        for (start, stop), part in zip(batches, parts, strict=True):
            inputs.faults.extend(part.faults)
            for run, made in zip(runs, part.made, strict=False):
                for sink, one in zip(sinks, made, strict=True):
                    sink.take(run, one)
            done.append(part._replace(made=()))
            evaluated(stop - start)
            if progress is not None:
                progress(stop, images)
    inputs.faults.raise_if_any()
    counts = [reduce(add, side) for side in zip(*(part.counts for part in done), strict=True)]
    return counts, [*map(_joined, zip(*(part.runs for part in done), strict=True))]


def _joined(parts: Sequence[Part]) -> Part:
    """Return the evidence of a run from all batches as one; warnings of one text add up."""
    warnings: dict[str, ObjectWarning] = {}
    for one in (warning for part in parts for warning in part.warnings):
        warnings[one.text] = warnings[one.text] + one if one.text in warnings else one
    return Part(Tally.concatenate([part.tally for part in parts]), [*warnings.values()])


# Scores -------------------------------------------------------------------------------------------


def scored(
    run: Run,
    part: Part,
    inputs: Inputs,
    gt: InputSummary,
    det: InputSummary,
    warnings: Sequence[str],
) -> Evaluation:
    """Score the evidence of all images."""
    protocol, parameters = run
    sums = part.tally.sum()
    if "texts" in protocol.needs and gt.images and det.objects and not det.transcriptions:
        reason = "no detection has a transcription, so no text can be right"
        warnings = [*warnings, f"{protocol.name}: {reason}"]
    of_objects = [one.of(gt.objects - gt.dont_care) for one in part.warnings]
    lines = inputs.lines.sha256 if inputs.lines else ""
    return Evaluation(
        protocol=protocol,
        parameters=parameters,
        signature=signature(protocol, parameters, inputs.options, gt.images, gt.sha256, lines),
        gt=gt,
        det=det,
        tally=sums,
        scores=protocol.scores(sums, parameters),
        warnings=[*warnings, *of_objects],
        rows=EvidenceRows(inputs.gt.names, part.tally),
    )


# Results of images --------------------------------------------------------------------------------


def image_scores(run: Run, tally: Tally) -> Scores:
    """Score one image's evidence."""
    return (run.protocol.image_scores or run.protocol.scores)(tally, run.parameters)


def image_results(images: BatchImages) -> list[ImageResult]:
    """Return the results of a batch's images, with the boxes and texts of their objects."""
    gt, det, matches = images.batch.gt, images.batch.det, images.evidence.matches
    objects = _object_results(matches.gt, gt, det.ids)
    detections = _object_results(matches.det, det, gt.ids)
    ends = pairwise(gt.offsets.tolist()), pairwise(det.offsets.tolist())
    rows = zip(images.batch.names, images.evidence.tally.rows(), *ends, strict=True)
    return [
        ImageResult(
            name,
            row.as_dict(),
            image_scores(images.run, row),
            objects[slice(*ours)],
            detections[slice(*theirs)],
        )
        for name, row, ours, theirs in rows
    ]


def _object_results(side: SideMatches, own: Objects, partner_ids: Ints) -> list[ObjectResult]:
    linked, ends = partner_ids[side.partners].tolist(), pairwise(side.offsets.tolist())
    values: list[dict[str, float | None]] = [{} for _ in range(own.count)]
    for name, column in side.values.items():
        for of_object, value in zip(values, column.tolist(), strict=True):
            of_object[name] = None if math.isnan(value) else value
    rows = (own.ids.tolist(), side.types.tolist(), ends, values, own.boxes.tolist(), own.texts)
    return [
        ObjectResult(own_id, MATCH_TYPES[code], linked[start:stop], of_object, tuple(box), text)
        for own_id, code, (start, stop), of_object, box, text in zip(*rows, strict=True)
    ]
