"""The loop: sources to batches to sums to scores. Knows neither click nor result files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from evaltex_cli.errors import InputError, counted
from evaltex_cli.evaluation import batches, fault_hints, likely_mistakes, mistakes
from evaltex_cli.evaluation.batches import BatchResult, are_polygons, cut
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.input_counts import InputCounts, InputSummary, input_warnings
from evaltex_cli.evaluation.inputs import LINES_OF_FILE, Inputs, signature
from evaltex_cli.evaluation.pairing import NO_DETECTIONS, refuse_other_spellings
from evaltex_cli.evaluation.tally import Run, Sink, add_batch
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.formats.sizes import refuse_fractions
from evaltex_cli.progress import phase
from evaltex_cli.protocols.base import load
from evaltex_cli.records import ImageBatch
from evaltex_cli.records.rows import NOTHING
from evaltex_cli.runtime import OrderedMap

Progress: TypeAlias = Callable[[int, int], None]


def runs_of(protocols: Mapping[str, Any]) -> list[Run]:
    """Return a run for each protocol, from names and parameters records."""
    return [Run(load(name), parameters) for name, parameters in protocols.items()]


def evaluate_inputs(
    inputs: Inputs,
    runs: Sequence[Run],
    sink: Sink | None = None,
    progress: Progress | None = None,
    ordered_map: OrderedMap = map,
    *,
    in_training: bool = False,
) -> list[Evaluation]:
    """Evaluate inputs by every run, but those that need texts that are not there (`left_out`).

    Parameters
    ----------
    sink : Sink, optional
        Gets every run's evidence of every batch as soon as it is there.
    progress : callable, optional
        Gets the number of images done and of all.
    ordered_map : callable
        What does the work (`workers`); `map` does it here.
    in_training : bool
        Whether it is normal that nothing matches yet: no likely mistakes are looked for, and
        protocols that need texts stay where there are none, with a warning.

    Raises
    ------
    InputError
        For all faults at once; for label pictures and a protocol that takes none; where no image
        name is of both sides though other spellings of them are.
    """
    gt, det, faults, options = inputs.gt, inputs.det, inputs.faults, inputs.options
    if options.masks is not None:
        for run in runs:
            if not run.protocol.takes_masks:
                raise InputError(
                    f"protocol {run.protocol.name} does not work on label pictures; leave out their"
                    " folders"
                )
        options = replace(options, masks=options.masks._replace(base=Path.cwd()))
    read_well = not faults.count
    runs = _with_lines(runs, inputs)
    paired, _ = inputs.paired, inputs.paired_lines  # which log what does not pair
    if read_well:
        refuse_other_spellings(gt, det, paired)
    refuse_fractions(gt, faults)
    refuse_fractions(det, faults)
    if faults.count:
        faults.hints += fault_hints.hints(faults, gt, det, paired, options)
        faults.raise_if_any()
    has_polygons = cache(lambda: any(are_polygons(side.objects) for side in (gt, det)))
    runs = [
        replace(run, parameters=run.protocol.resolve(run.parameters, has_polygons)) for run in runs
    ]
    work = partial(
        batches.measure,
        [run.empty() for run in runs],
        replace(options, only=None),
        None if sink is None else sink.make,
        sink is not None and sink.with_matches,
    )
    cuts = list(cut(inputs, are_shared=ordered_map is not map))
    tasks = map(partial(batches.task_of, inputs), cuts)
    measured = zip(cuts, ordered_map(work, tasks), strict=True)
    gt_count, det_count, lines_count = _gathered(inputs, runs, sink, progress, measured)
    faults.raise_if_any()
    missing = int((paired == NO_DETECTIONS).sum())
    det_count += InputCounts(missing=missing, unconfident=det.unconfident)
    ours, theirs = (
        InputSummary(Path(one.path).name, one.format, one.sha256, **asdict(counts))
        for one, counts in ((gt, gt_count), (det, det_count))
    )
    warnings = [*gt.warnings, *det.warnings, *input_warnings(options, ours, theirs, lines_count)]
    if options.masks is None:
        for side, source in (("ground truth", gt), ("detections", det)):
            warnings += mistakes.repeated_objects(side, source)
    lines = "" if inputs.lines is None else inputs.lines.sha256
    if not in_training:
        runs = _with_texts(runs, ours, theirs)
    results = [scored(run, ours, theirs, options, warnings, lines) for run in runs]
    if in_training or options.masks is not None:
        return results
    return likely_mistakes.explained(results, gt, det, paired)


def _gathered(
    inputs: Inputs,
    runs: Sequence[Run],
    sink: Sink | None,
    progress: Progress | None,
    results: Iterable[tuple[tuple[int, int], BatchResult]],
) -> list[InputCounts]:
    """Add the results of all batches to runs and sink; return the counts of ground truth,
    detections and lines. A refusal is raised if nothing else is wrong.
    """
    counts = [InputCounts()] * 3
    images = len(inputs.gt.names)
    with phase("evaluating", "images", images) as evaluated:
        for (start, done), result in results:
            inputs.faults.extend(result.faults)
            if result.refusal is not None and not inputs.faults.count:
                raise result.refusal
            counts = [sum(pair, InputCounts()) for pair in zip(counts, result[:3], strict=True)]
            for run, part, made in zip(runs, result.gathered, result.made, strict=False):
                run.gathered.add(part)
                if sink is not None:
                    sink.take(run, made)
            evaluated(done - start)
            if progress is not None:
                progress(done, images)
    return counts


def _with_lines(runs: Sequence[Run], inputs: Inputs) -> Sequence[Run]:
    """Let protocols take lines from the ground truth of lines, if there is one."""
    if inputs.lines is None:
        return runs
    if not any(hasattr(run.parameters, "lines") for run in runs):
        raise InputError(
            f"{inputs.lines.path}: a ground truth of lines is for tiou; add this protocol or leave"
            " it out"
        )
    return [
        replace(run, parameters=replace(run.parameters, lines=LINES_OF_FILE))
        if hasattr(run.parameters, "lines")
        else run
        for run in runs
    ]


def scored(
    run: Run,
    gt: InputSummary,
    det: InputSummary,
    options: InputOptions,
    warnings: list[str],
    lines_sha256: str = "",
) -> Evaluation:
    """Score what a run has gathered."""
    protocol, rows = run.protocol, run.rows()
    sums = rows.tally.sum()
    if protocol.needs_texts and gt.images and det.objects and not det.transcriptions:
        reason = "no detection has a transcription, so no text can be right"
        warnings = [*warnings, f"{protocol.name}: {reason}"]
    of_objects = [one.of(gt.objects - gt.dont_care) for one in run.gathered.warnings]
    return Evaluation(
        protocol=protocol,
        parameters=run.parameters,
        signature=signature(protocol, run.parameters, options, gt.images, gt.sha256, lines_sha256),
        gt=gt,
        det=det,
        tally=sums,
        scores=protocol.all_scores(sums, run.parameters),
        warnings=[*warnings, *of_objects],
        rows=rows,
    )


def of_nothing(run: Run) -> Evaluation:
    """Score a data set without images by a run's protocol, to learn the names of its scores."""
    empty = replace(run.empty(), parameters=run.protocol.resolve(run.parameters, lambda: False))
    add_batch(empty, ImageBatch([], np.zeros((0, 2)), NOTHING, NOTHING))
    return scored(empty, InputSummary(), InputSummary(), InputOptions(), [])


def _with_texts(runs: Sequence[Run], gt: InputSummary, det: InputSummary) -> Sequence[Run]:
    """Leave out the protocols that need texts if a side has objects, but none with a text; raises
    `InputError` when no other is left.
    """
    without = _without_texts(gt, det)
    others = [run for run in runs if not run.protocol.needs_texts]
    if without is None or len(others) == len(runs):
        return runs
    if not others:
        needs = f"{' and '.join(run.protocol.name for run in runs)} [compares|compare] texts"
        raise InputError(
            f"{without}, and {counted(len(runs), needs)}; choose another protocol, such as iou"
        )
    return others


def _without_texts(gt: InputSummary, det: InputSummary) -> str | None:
    """Say which side has objects that count, but none with a text; None if both have texts."""
    for one, what in ((det, "detection"), (gt, "object of the ground truth")):
        if one.objects > one.dont_care and not one.transcriptions:
            return f"{one.file}: no {what} has a transcription"
    return None


def left_out(
    names: Iterable[str], done: Collection[str], gt: InputSummary, det: InputSummary
) -> dict[str, str]:
    """Return the protocols that are not among those done for want of texts, with the reason."""
    reason = _without_texts(gt, det)
    return {name: reason.partition(": ")[2] for name in names if name not in done} if reason else {}
