"""The loop: sources to batches to evidence to sums to scores. Knows neither click nor result files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaltex_cli import config, formats, naming, overlaps, pairing
from evaltex_cli.errors import ConfigError, FaultLog, InputError, quote
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.protocols import load
from evaltex_cli.protocols.base import (
    MATCH_TYPES,
    Evidence,
    EvidenceRows,
    ExactSums,
    Protocol,
    Scores,
    SideMatches,
    Totals,
)
from evaltex_cli.records import Convention, GeometryCounts, ImageBatch, Ints, Objects, Overlaps, ReadImages, count_texts
from evaltex_cli.signature import INVALID_POLYGONS, signature

BATCH_BYTES = 1 << 20
BATCH_IMAGES = 8192
MASK_BATCH_IMAGES = 16
MAX_PIXELS = 100_000_000

Sink: TypeAlias = "Callable[[Run, ImageBatch, Evidence], None]"
Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class InputSummary:
    """What was read of one side; the counts are of the whole input.

    `transcriptions` counts objects whose transcription is not empty, `missing` ground-truth images the side lacks,
    `empty` its images without objects.
    """

    file: str = ""
    format: str = "memory"
    sha256: str = ""
    images: int = 0
    objects: int = 0
    dont_care: int = 0
    transcriptions: int = 0
    repaired: int = 0
    dropped: int = 0
    zero_area: int = 0
    missing: int = 0
    empty: int = 0


@dataclass(frozen=True, slots=True)
class ImageResult:
    """Results of one image.

    `objects` and `detections` hold, per object, ``id``, ``match``, the partners' IDs and the protocol's own values.
    """

    name: str
    totals: dict[str, Any]
    scores: Scores
    objects: list[dict[str, Any]]
    detections: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of one protocol on one data set.

    Attributes
    ----------
    protocol : Protocol
    parameters : dataclass
        The protocol's parameters record.
    signature : str
        One line that tells what the scores depend on.
    gt, det : InputSummary
    totals : dict
        Summed evidence; totals of runs over disjoint images add up.
    scores : dict
        Name -> number, list for a histogram, None where undefined.
    images : list of ImageResult
        Empty unless asked for.
    warnings : list of str
    rows : EvidenceRows or None
        The evidence of each image, where it was kept.
    """

    protocol: Protocol
    parameters: Any
    signature: str
    gt: InputSummary
    det: InputSummary
    totals: dict[str, Any]
    scores: Scores
    images: list[ImageResult] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    rows: EvidenceRows | None = None

    def score(self, totals: Totals) -> Scores:
        """Score summed evidence as this evaluation does."""
        return self.protocol.scores(totals, self.parameters)


@dataclass(frozen=True, slots=True)
class Run:
    """One protocol with its parameters, and the evidence summed so far; `rows` keeps it by image, if asked to."""

    protocol: Protocol
    parameters: Any
    keep_rows: bool = False
    sums: ExactSums = field(default_factory=ExactSums)
    warnings: list[str] = field(default_factory=list)
    columns: list[Mapping[str, NDArray[Any]]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def rows(self) -> EvidenceRows | None:
        """The evidence of each image, in the order of the ground truth."""
        if not self.keep_rows:
            return None
        joined = {name: np.concatenate([part[name] for part in self.columns]) for name in self.columns[0]}
        return EvidenceRows(self.names, joined)


@dataclass(frozen=True, slots=True)
class MaskFolders:
    """Where the label pictures are, and the largest picture that is decoded."""

    gt: Path
    det: Path
    max_pixels: int = MAX_PIXELS


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
    images: list[ImageResult] = []
    collect: Sink | None = (
        (lambda run, batch, found: images.extend(image_results(run, batch, found))) if per_image else None
    )
    sources = open_sources(Path(gt), Path(det), gt_format, det_format)
    return replace(evaluate_sources(*sources, [run], masks, collect, invalid=invalid_polygons)[0], images=images)


def open_sources(gt: Path, det: Path, gt_format: str | None, det_format: str | None) -> tuple[Source, Source, FaultLog]:
    """Index both sides; faults found so far are in the log.

    Raises
    ------
    InputError
        When an input cannot be read at all.
    """
    faults = FaultLog()
    return (
        formats.open_source(gt, "gt", faults, gt_format),
        formats.open_source(det, "det", faults, det_format),
        faults,
    )


def evaluate_sources(
    gt: Source,
    det: Source,
    faults: FaultLog,
    runs: Sequence[Run],
    masks: MaskFolders | None = None,
    sink: Sink | None = None,
    progress: Progress | None = None,
    invalid: str = INVALID_POLYGONS[0],
) -> list[Evaluation]:
    """Evaluate indexed inputs by every run.

    Parameters
    ----------
    sink : callable, optional
        Gets every run's evidence of every batch, with matches, as soon as it is there.
    progress : callable, optional
        Gets the number of images done and of all.
    invalid : {'repair', 'drop', 'error'}
        What becomes of invalid polygons, on both sides.

    Raises
    ------
    InputError
        After all input was read, when there was any fault; at once for label pictures and a protocol that takes none,
        and where no image name is of both sides though other spellings of them are.
    ConfigError
        For an unknown policy, and one other than repair with label pictures.
    """
    _refuse_policy(invalid, masks)
    for run in runs:
        if masks is not None and not run.protocol.takes_masks:
            raise InputError(f"protocol {run.protocol.name} does not work on label pictures; leave out their folders")
    indexed_well = not faults.count
    paired = pairing.pair_images(gt, det, faults)
    if indexed_well:
        naming.refuse_other_spellings(gt, det, paired)
    gt_count, det_count = _Counter(gt), _Counter(det)
    done = 0
    for batch in _batches(gt, det, paired, masks, faults, gt_count, det_count, invalid):
        if not faults.count:
            measured: dict[Convention, Overlaps] = {}
            for run in runs:
                add_batch(run, batch, measured, sink)
        done += len(batch.names)
        if progress is not None:
            progress(done, len(gt.names))
    faults.raise_if_any()
    missing = int((paired == pairing.NO_DETECTIONS).sum())
    gt_summary, det_summary = gt_count.summary(0), det_count.summary(missing)
    warnings = _warnings(gt, det, gt_summary, det_summary)
    return [
        scored(run, gt_summary, det_summary, warnings + _text_warnings(run, det_summary), masks is not None, invalid)
        for run in runs
    ]


def add_batch(run: Run, batch: ImageBatch, measured: dict[Convention, Overlaps], sink: Sink | None) -> None:
    """Add a batch's evidence to a run; `measured` keeps its overlaps, by convention, for the other runs."""
    convention = run.protocol.convention(run.parameters)
    if convention not in measured:
        measured[convention] = overlaps.measure(batch, convention)
    found = run.protocol.evidence(batch, measured[convention], run.parameters, sink is not None)
    run.sums.add(found.columns)
    run.warnings.extend(found.warnings)
    if run.keep_rows:
        run.columns.append(found.columns)
        run.names.extend(batch.names)
    if sink is not None:
        sink(run, batch, found)


def scored(
    run: Run,
    gt: InputSummary,
    det: InputSummary,
    warnings: list[str],
    masks: bool,
    invalid: str = INVALID_POLYGONS[0],
) -> Evaluation:
    """Score what a run has summed."""
    totals = run.sums.totals()
    protocol = run.protocol
    return Evaluation(
        protocol=protocol,
        parameters=run.parameters,
        signature=signature(protocol.name, protocol.version, run.parameters, gt.images, gt.sha256, masks, invalid),
        gt=gt,
        det=det,
        totals=totals,
        scores=protocol.scores(totals, run.parameters),
        warnings=[*warnings, *run.warnings],
        rows=run.rows(),
    )


def _batches(
    gt: Source,
    det: Source,
    paired: Ints,
    masks: MaskFolders | None,
    faults: FaultLog,
    gt_count: _Counter,
    det_count: _Counter,
    invalid: str,
) -> Iterator[ImageBatch]:
    det_weights = np.concatenate([det.weights, np.zeros(1, np.int64)])
    for start, stop in _cuts(gt.weights + det_weights[paired], MASK_BATCH_IMAGES if masks else BATCH_IMAGES):
        gt_read = _read(gt, "gt", np.arange(start, stop), invalid, faults)
        present = paired[start:stop] != pairing.NO_DETECTIONS
        det_read = _read(det, "det", paired[start:stop][present], invalid, faults)
        gt_count.add(gt_read)
        det_count.add(det_read)
        batch = ImageBatch(
            gt.names[start:stop],
            gt_read.sizes,
            gt_read.objects,
            _spread(det_read.objects, present),
            in_detections=present,
            formats=(gt.format, det.format),
        )
        yield _with_masks(batch, masks, present, faults) if masks else batch


def _refuse_policy(invalid: str, masks: MaskFolders | None) -> None:
    if invalid not in INVALID_POLYGONS:
        raise ConfigError(f"invalid polygons: {quote(invalid)}; expected one of {', '.join(INVALID_POLYGONS)}")
    if masks is not None and invalid != INVALID_POLYGONS[0]:
        raise ConfigError(
            f"invalid polygons: {invalid} does not go with label pictures, whose pixels are the objects; leave it out"
        )


def _read(source: Source, side: Side, positions: Ints, invalid: str, faults: FaultLog) -> ReadImages:
    """Read images and apply the policy for invalid polygons."""
    read = source.read(positions, faults)
    if invalid == INVALID_POLYGONS[0] or read.objects.vertices is None:
        return read
    from evaltex_cli import places
    from evaltex_cli.geometry.polygons import settle

    settled, refused = settle(read, invalid)
    names = [source.names[k] for k in positions.tolist()]
    for fault in places.refused(source, side, names, settled.objects, refused):
        faults.add(fault.file, fault.line, fault.found, fault.expected)
    return settled


def _cuts(weights: Ints, most_images: int) -> Iterator[tuple[int, int]]:
    """Cut images into batches of bounded bytes and number; an image is never cut."""
    ends = np.cumsum(weights)
    start = 0
    while start < len(weights):
        before = ends[start] - weights[start]
        stop = int(np.searchsorted(ends, before + BATCH_BYTES, side="right"))
        stop = min(max(stop, start + 1), start + most_images)
        yield start, min(stop, len(weights))
        start = stop


def _spread(objects: Objects, present: np.ndarray[Any, np.dtype[np.bool_]]) -> Objects:
    """Give images without detections their empty share of the offsets."""
    counts = np.zeros(len(present), np.int64)
    counts[present] = np.diff(objects.offsets)
    return replace(objects, offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]))


def _with_masks(
    batch: ImageBatch, masks: MaskFolders, present: np.ndarray[Any, np.dtype[np.bool_]], faults: FaultLog
) -> ImageBatch:
    from evaltex_cli.formats.label_pictures import read_runs

    for k in np.flatnonzero((batch.sizes <= 0).any(axis=1)).tolist():
        found = f"image {batch.names[k]} without height and width in the ground truth"
        faults.add(
            str(masks.gt), None, found, "a ground truth that states them, as EvaLTex files do, beside label pictures"
        )
    everywhere = np.ones(len(batch.names), dtype=bool)
    sides = ((masks.gt, batch.gt, everywhere), (masks.det, batch.det, present))
    gt_runs, det_runs = (
        read_runs(folder, batch.names, side.offsets, side.ids, batch.sizes, has_picture, masks.max_pixels, faults)
        for folder, side, has_picture in sides
    )
    return replace(batch, gt_runs=gt_runs, det_runs=det_runs)


class _Counter:
    """Counts what is read of one side."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.objects = self.dont_care = self.transcriptions = self.empty = 0
        self.mended = GeometryCounts()

    def add(self, read: ReadImages) -> None:
        self.objects += read.objects.count
        self.dont_care += int(read.objects.dont_care.sum())
        self.transcriptions += count_texts(read.objects.texts)
        self.empty += int((np.diff(read.objects.offsets) == 0).sum())
        self.mended += read.mended

    def summary(self, missing: int) -> InputSummary:
        source = self.source
        return InputSummary(
            file=Path(source.path).name,
            format=source.format,
            sha256=source.sha256,
            images=len(source.names),
            objects=self.objects,
            dont_care=self.dont_care,
            transcriptions=self.transcriptions,
            repaired=self.mended.repaired,
            dropped=self.mended.dropped,
            zero_area=self.mended.zero_area,
            missing=missing,
            empty=self.empty,
        )


def _warnings(gt: Source, det: Source, gt_summary: InputSummary, det_summary: InputSummary) -> list[str]:
    warnings = [*gt.warnings, *det.warnings]
    for side, summary in (("ground truth", gt_summary), ("detections", det_summary)):
        if summary.repaired:
            warnings.append(f"{side}: {summary.repaired} invalid polygons repaired, every lobe kept")
        if summary.dropped:
            warnings.append(f"{side}: {summary.dropped} invalid polygons left out, as if they were not in the file")
        if summary.zero_area:
            warnings.append(f"{side}: {summary.zero_area} objects without area; they match nothing")
    if det_summary.missing and det_summary.images:
        warnings.append(f"{det_summary.missing} of {gt_summary.images} images have no detections in {det_summary.file}")
    return warnings


def _text_warnings(run: Run, det: InputSummary) -> list[str]:
    if not run.protocol.needs_texts or det.transcriptions:
        return []
    return [f"{run.protocol.name}: no detection bears a transcription, so no text can be right"]


def image_results(run: Run, batch: ImageBatch, evidence: Evidence) -> Iterator[ImageResult]:
    """Yield each image's results from a batch's evidence with matches."""
    matches = evidence.matches
    if matches is None:
        raise ValueError("evidence was made without matches")
    objects = _described(matches.gt, batch.gt.ids, batch.det.ids, "detections")
    detections = _described(matches.det, batch.det.ids, batch.gt.ids, "objects")
    for k, name in enumerate(batch.names):
        totals = evidence.row(k)
        yield ImageResult(
            name=name,
            totals=totals,
            scores=(run.protocol.image_scores or run.protocol.scores)(totals, run.parameters),
            objects=objects[batch.gt.offsets[k] : batch.gt.offsets[k + 1]],
            detections=detections[batch.det.offsets[k] : batch.det.offsets[k + 1]],
        )


def _described(side: SideMatches, ids: Ints, partner_ids: Ints, partners: str) -> list[dict[str, Any]]:
    types = [MATCH_TYPES[code] for code in side.types.tolist()]
    bounds, linked = side.offsets.tolist(), partner_ids[side.partners].tolist()
    described: list[dict[str, Any]] = [
        {"id": own, "match": types[k], partners: linked[bounds[k] : bounds[k + 1]]}
        for k, own in enumerate(ids.tolist())
    ]
    for name, values in side.values.items():
        for entry, value in zip(described, values.tolist(), strict=True):
            entry[name] = None if math.isnan(value) else value
    return described
