"""The loop: sources to chunks to sums to scores. Knows neither click nor result files."""

from __future__ import annotations

import errno
import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from evaltex_cli import formats
from evaltex_cli.errors import ConfigError, FaultLog, InputError, counted, listed, quote
from evaltex_cli.evaluation import name_matching, pairing
from evaltex_cli.evaluation.batches import (
    MAX_PIXELS,
    Chunk,
    Counts,
    Found,
    MaskFolders,
    Refused,
    chunk_of,
    cut,
    holds_polygons,
    measure,
    part_of,
)
from evaltex_cli.evaluation.signature import INVALID_POLYGONS, signature
from evaltex_cli.evaluation.tally import Evaluation, ImageResult, InputSummary, Run, Sink, image_results
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.filters import only_confident
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import SHOWN_IMAGES, load
from evaltex_cli.records import Ints
from evaltex_cli.runtime.workers import FailedError, InOrder, in_threads

_CANNOT_BE_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
Progress: TypeAlias = Callable[[int, int], None]


def evaluate(
    gt: str | PathLike[str],
    det: str | PathLike[str],
    protocol: str = "evaltex",
    *,
    per_image: bool = False,
    gt_images: str | PathLike[str] | None = None,
    det_images: str | PathLike[str] | None = None,
    gt_format: str | None = None,
    det_format: str | None = None,
    max_pixels: int = MAX_PIXELS,
    invalid_polygons: str = INVALID_POLYGONS[0],
    min_confidence: float | None = None,
    images: str | PathLike[str] | None = None,
    **parameters: Any,
) -> Evaluation:
    """Evaluate detections against ground truth.

    Parameters
    ----------
    gt, det : path
        EvaLTex .txt files, or folders or .zip archives of ICDAR-style .txt files.
    protocol : str
        A name of the registry.
    per_image : bool
        Whether to return each image's results and each object's match.
    gt_images, det_images : path, optional
        Folders of label pictures; then areas are their pixel counts.
    gt_format, det_format : str, optional
        Formats' names, where content should not decide.
    max_pixels : int
        Larger label pictures are refused.
    invalid_polygons : {'repair', 'drop', 'error'}
        What becomes of them, on both sides.
    min_confidence : float, optional
        Detections whose confidence is lower are left out; those without one stay.
    images : path, optional
        Folder of the images' pictures, whose sizes are taken where the ground truth states none.
    **parameters
        The protocol's parameters, ``det_border=0.02`` say.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        All faults of the input in one message.
    ConfigError
        For an unknown protocol or parameter, or a value out of range.
    """
    if (gt_images is None) != (det_images is None):
        raise InputError("gt_images and det_images go together; give both folders or neither")
    run = Run(load(protocol), config.checked(protocol, parameters))
    masks = (
        None if gt_images is None or det_images is None else MaskFolders(Path(gt_images), Path(det_images), max_pixels)
    )
    found: list[ImageResult] = []
    collect: Sink | None = (
        (lambda run, batch, evidence: found.extend(image_results(run, batch, evidence))) if per_image else None
    )
    pictures = None if images is None else Path(images)
    sources = open_sources(Path(gt), Path(det), gt_format, det_format, min_confidence, pictures)
    return replace(evaluate_sources(*sources, [run], masks, collect, invalid=invalid_polygons)[0], images=found)


def open_sources(
    gt: Path,
    det: Path,
    gt_format: str | None,
    det_format: str | None,
    min_confidence: float | None = None,
    images: Path | None = None,
    in_order: InOrder = map,
) -> tuple[Source, Source, FaultLog]:
    """Index both sides; faults found so far are in the log.

    Parameters
    ----------
    min_confidence : float or None
        The least confidence of the detections; None keeps all.
    images : Path or None
        Folder of the images' pictures, whose sizes are taken where the ground truth states none.
    in_order : callable
        What does the work (`workers`).

    Raises
    ------
    InputError
        When an input cannot be read at all.
    ConfigError
        For a least confidence that is not in [0, 1].
    """
    sides: list[tuple[Path, Side, str | None]] = [(gt, "gt", gt_format), (det, "det", det_format)]
    if in_order is not map and all(formats.is_text(path, name) for path, _, name in sides):
        in_order = in_threads
    elif any(formats.is_packed(path) for path in (gt, det)):
        in_order = map  # what is unpacked must outlive the workers
    try:
        (gt_source, faults), (det_source, more) = in_order(_opened, sides)
    except FailedError as failed:
        raise InputError(f"{failed.item[0]}: given up after three attempts ({failed.reason})") from failed
    faults.extend(more)
    if gt_source.names == det_source.names:
        det_source = replace(det_source, names=gt_source.names)  # else they are in memory twice
    if min_confidence is not None:
        det_source = only_confident(det_source, min_confidence)
    if images is not None:
        from evaltex_cli.formats.image_sizes import with_sizes

        gt_source = with_sizes(gt_source, images)
    return gt_source, det_source, faults


def _opened(input: tuple[Path, Side, str | None]) -> tuple[Source, FaultLog]:
    faults = FaultLog()
    path, side, format_name = input
    return formats.open_source(path, side, faults, format_name), faults


def evaluate_sources(
    gt: Source,
    det: Source,
    faults: FaultLog,
    runs: Sequence[Run],
    masks: MaskFolders | None = None,
    sink: Sink | None = None,
    progress: Progress | None = None,
    invalid: str = INVALID_POLYGONS[0],
    in_order: InOrder = map,
    take: Callable[[Run, Any], None] | None = None,
    journal: Journal | None = None,
) -> list[Evaluation]:
    """Evaluate indexed inputs by every run.

    Parameters
    ----------
    sink : callable, optional
        Gets every run's evidence of every batch, with matches, as soon as it is there, and where it is: with an
        `in_order` of several processes it is called in one of these, and must be fit to be sent there.
    progress : callable, optional
        Gets the number of images done and of all.
    invalid : {'repair', 'drop', 'error'}
        What becomes of invalid polygons, on both sides.
    in_order : callable
        What does the work (`workers`); `map` does it here.
    take : callable, optional
        Gets, here, what `sink` has returned, in the order of the images.
    journal : Journal, optional
        What an earlier run has found is taken from it, and what this run finds goes there.

    Raises
    ------
    InputError
        After all input was read, when there was any fault; at once for label pictures and a protocol that takes none,
        and where no image name is of both sides though other spellings of them are.
    ConfigError
        For an unknown policy, and one other than repair with label pictures.
    """
    if invalid not in INVALID_POLYGONS:
        raise ConfigError(f"invalid polygons: {quote(invalid)}; expected one of {', '.join(INVALID_POLYGONS)}")
    if masks is not None:
        _refuse_with_masks(runs, invalid, det.min_confidence)
    indexed_well = not faults.count
    paired = pairing.pair_images(gt, det, faults)
    if indexed_well:
        name_matching.refuse_other_spellings(gt, det, paired)
    gt_count, det_count = Counts(), Counts()
    cuts = list(cut(gt, det, paired, masks))
    has_polygons = partial(_has_polygons, gt, det, paired, cuts, in_order)
    runs = [replace(run, parameters=run.protocol.decided(run.parameters, has_polygons)) for run in runs]
    masks = None if masks is None else masks._replace(base=Path.cwd())
    work = partial(measure, [run.empty() for run in runs], masks, invalid, sink)
    chunk = partial(chunk_of, gt, det, paired, stamps=None if masks is None else masks.stamps(gt.names))
    for (start, done), found in _found(work, cuts, chunk, faults, in_order, journal):
        faults.extend(found.faults)
        _log_refused(gt, det, paired, (start, done), found.refused, faults)
        if found.refusal is not None and not faults.count:
            raise found.refusal
        gt_count += found.gt
        det_count += found.det
        for run, part, kept in zip(runs, found.gathered, found.kept, strict=bool(found.gathered)):
            run.gathered.add(part)
            if take is not None and sink is not None:
                take(run, kept)
        if progress is not None:
            progress(done, len(gt.names))
    if journal is not None and faults.count:
        journal.remove()
    faults.raise_if_any()
    missing = int((paired == pairing.NO_DETECTIONS).sum())
    gt_summary, det_summary = gt_count.summary(gt, 0), det_count.summary(det, missing)
    warnings = _warnings(gt, det, gt_summary, det_summary)
    return [
        scored(
            run,
            gt_summary,
            det_summary,
            warnings + _text_warnings(run, det_summary),
            masks is not None,
            invalid,
            det.min_confidence,
        )
        for run in runs
    ]


def scored(
    run: Run,
    gt: InputSummary,
    det: InputSummary,
    warnings: list[str],
    masks: bool,
    invalid: str = INVALID_POLYGONS[0],
    min_confidence: float | None = None,
) -> Evaluation:
    """Score what a run has summed."""
    totals = run.sums.totals()
    protocol = run.protocol
    return Evaluation(
        protocol=protocol,
        parameters=run.parameters,
        signature=signature(
            protocol.name, protocol.version, run.parameters, gt.images, gt.sha256, masks, invalid, min_confidence
        ),
        gt=gt,
        det=det,
        totals=totals,
        scores=protocol.scores(totals, run.parameters),
        warnings=[*warnings, *map(str, run.gathered.warnings)],
        rows=run.rows(),
    )


def _has_polygons(gt: Source, det: Source, paired: Ints, cuts: Sequence[tuple[int, int]], in_order: InOrder) -> bool:
    """Whether an object of either side has other than four vertices; images are read until one is found."""
    of_gt = (np.arange(*cut) for cut in cuts)
    of_det = (part[part != pairing.NO_DETECTIONS] for part in (paired[start:stop] for start, stop in cuts))
    for source, parts in ((gt, of_gt), (det, of_det)):
        if formats.load(source.format).four_corners:
            continue
        try:
            if any(in_order(holds_polygons, map(partial(part_of, source), parts))):
                return True
        except FailedError as failed:
            raise InputError(f"{source.path}: given up after three attempts ({failed.reason})") from failed
    return False


class Journal(typing.Protocol):
    """What a run has found so far, chunk by chunk, kept for the case that it is killed."""

    def has(self, start: int, stop: int) -> bool:
        """Whether the images of this range are done."""

    def find(self, start: int, stop: int) -> Found:
        """Return what was found in them."""

    def add(self, start: int, stop: int, found: Found) -> None:
        """Keep what was found in them."""

    def remove(self) -> None:
        """Keep nothing any more."""


def _found(
    work: Callable[[Chunk], Found],
    cuts: Sequence[tuple[int, int]],
    chunk: Callable[..., Chunk],
    faults: FaultLog,
    in_order: InOrder,
    journal: Journal | None,
) -> Iterator[tuple[tuple[int, int], Found]]:
    """Yield the range of each chunk, and what is found in it; the journal's part is not searched again."""
    known = {cut for cut in cuts if journal is not None and journal.has(*cut)}
    chunks = (chunk(cut=cut, is_counted=not faults.count) for cut in cuts if cut not in known)
    results = in_order(work, chunks)
    try:
        for cut in cuts:
            if journal is not None and cut in known:
                yield cut, journal.find(*cut)
                continue
            found = next(results)
            if journal is not None:
                journal.add(*cut, found)
            yield cut, found
    except FailedError as failed:
        if isinstance(failed.__cause__, OSError) and failed.__cause__.errno in _CANNOT_BE_WRITTEN:
            raise failed.__cause__ from failed
        shown = listed(failed.item.names, SHOWN_IMAGES)
        raise InputError(
            f"images {shown}: given up after three attempts ({failed.reason}); evaluate them alone to see what is"
            " wrong, or with fewer jobs if memory is short"
        ) from failed


def _refuse_with_masks(runs: Sequence[Run], invalid: str, min_confidence: float | None) -> None:
    if invalid != INVALID_POLYGONS[0]:
        raise ConfigError(
            f"invalid polygons: {invalid} does not go with label pictures, whose pixels are the objects; leave it out"
        )
    if min_confidence is not None:
        raise ConfigError("a least confidence does not go with label pictures, which hold all detections; leave it out")
    for run in runs:
        if not run.protocol.takes_masks:
            raise InputError(f"protocol {run.protocol.name} does not work on label pictures; leave out their folders")


def _log_refused(
    gt: Source, det: Source, paired: Ints, cut: tuple[int, int], refused: Sequence[Refused], faults: FaultLog
) -> None:
    if not refused:
        return
    from evaltex_cli.formats import locations

    of_gt, of_det = np.arange(*cut), paired[slice(*cut)]
    for one in refused:
        source, positions = (gt, of_gt) if one.side == "gt" else (det, of_det[of_det != pairing.NO_DETECTIONS])
        for fault in locations.refused(source, one.side, positions.tolist(), one.objects, one.reasons):
            faults.add(fault.file, fault.line, fault.found, fault.expected, fault.column)


def _warnings(gt: Source, det: Source, gt_summary: InputSummary, det_summary: InputSummary) -> list[str]:
    warnings = [*gt.warnings, *det.warnings]
    for side, summary in (("ground truth", gt_summary), ("detections", det_summary)):
        if summary.repaired:
            repaired = "{count} invalid polygon[s] repaired, every lobe kept"
            warnings.append(f"{side}: {counted(summary.repaired, repaired)}")
        if summary.dropped:
            left_out = "{count} invalid polygon[s] left out, as if [it was|they were] not in the file"
            warnings.append(f"{side}: {counted(summary.dropped, left_out)}")
        if summary.zero_area:
            without_area = "{count} object[s] without area; [it matches|they match] nothing"
            warnings.append(f"{side}: {counted(summary.zero_area, without_area)}")
    if det.min_confidence is not None:
        warnings.append(_confidence_warning(det.min_confidence, det_summary))
    if det_summary.missing and det_summary.images:
        missing = f"{{count}} of {counted(gt_summary.images, '{count} image[s]')} [has|have] no detections in "
        warnings.append(counted(det_summary.missing, missing) + det_summary.file)
    return warnings


def _confidence_warning(minimum: float, det: InputSummary) -> str:
    if not det.confidences and not det.unconfident:
        return f"no detection of {det.file} bears a confidence, so all stay, whatever the least confidence"
    in_all = det.objects + det.unconfident
    return f"detections: {det.unconfident} of {in_all} left out, their confidence below {minimum}"


def _text_warnings(run: Run, det: InputSummary) -> list[str]:
    if not run.protocol.needs_texts or det.transcriptions:
        return []
    return [f"{run.protocol.name}: no detection bears a transcription, so no text can be right"]
