"""The loop: sources to batches to evidence to sums to scores. Knows neither click nor result files."""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaltex_cli import config, formats, naming, overlaps, pairing
from evaltex_cli.errors import ConfigError, EvaltexError, FaultLog, InputError, quote
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.jobs import FailedError, InOrder
from evaltex_cli.protocols import load
from evaltex_cli.protocols.base import (
    MATCH_TYPES,
    SHOWN_IMAGES,
    Evidence,
    EvidenceRows,
    ExactSums,
    Protocol,
    Remark,
    Scores,
    SideMatches,
    Totals,
)
from evaltex_cli.records import Bools, Convention, ImageBatch, Ints, Objects, Overlaps, ReadImages, count_texts
from evaltex_cli.signature import INVALID_POLYGONS, signature

BATCH_BYTES = 1 << 20
BATCH_IMAGES = 8192
MASK_BATCH_IMAGES = 16
MAX_PIXELS = 100_000_000

Sink: TypeAlias = "Callable[[Run, ImageBatch, Evidence], Any]"
Progress: TypeAlias = Callable[[int, int], None]
Read: TypeAlias = Callable[[FaultLog], ReadImages]


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
class Gathered:
    """What one protocol has gathered of some images: sums, remarks, and the evidence by image, if it is kept."""

    sums: ExactSums = field(default_factory=ExactSums)
    warnings: list[Remark] = field(default_factory=list)
    columns: list[Mapping[str, NDArray[Any]]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def add(self, other: Gathered) -> None:
        """Add what the same protocol has gathered of other images."""
        self.sums.merge(other.sums)
        self.remark(other.warnings)
        self.columns.extend(other.columns)
        self.names.extend(other.names)

    def remark(self, remarks: Iterable[Remark]) -> None:
        """Add remarks, to those of the same text where there are."""
        for new in remarks:
            at = next((k for k, old in enumerate(self.warnings) if old.text == new.text), None)
            if at is None:
                self.warnings.append(new)
            else:
                self.warnings[at] += new


@dataclass(frozen=True, slots=True)
class Run:
    """One protocol with its parameters, and what it has gathered so far; `keep_rows` keeps the evidence by image."""

    protocol: Protocol
    parameters: Any
    keep_rows: bool = False
    gathered: Gathered = field(default_factory=Gathered)

    @property
    def sums(self) -> ExactSums:
        """The evidence summed so far."""
        return self.gathered.sums

    def empty(self) -> Run:
        """Return the same run, with nothing gathered."""
        return Run(self.protocol, self.parameters, self.keep_rows)

    def rows(self) -> EvidenceRows | None:
        """The evidence of each image, in the order of the ground truth."""
        if not self.keep_rows:
            return None
        columns = self.gathered.columns
        joined = {name: np.concatenate([part[name] for part in columns]) for name in columns[0]}
        return EvidenceRows(self.gathered.names, joined)


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


def open_sources(
    gt: Path, det: Path, gt_format: str | None, det_format: str | None, in_order: InOrder = map
) -> tuple[Source, Source, FaultLog]:
    """Index both sides; faults found so far are in the log.

    Parameters
    ----------
    in_order : callable
        What does the work (`jobs`).

    Raises
    ------
    InputError
        When an input cannot be read at all.
    """
    sides: list[tuple[Path, Side, str | None]] = [(gt, "gt", gt_format), (det, "det", det_format)]
    if any(formats.is_packed(path) for path in (gt, det)):
        in_order = map  # what is unpacked must outlive the workers
    try:
        (gt_source, faults), (det_source, more) = in_order(_opened, sides)
    except FailedError as failed:
        raise InputError(f"{failed.item[0]}: given up after three attempts ({failed.reason})") from failed
    faults.extend(more)
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
        What does the work (`jobs`); `map` does it here.
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
    _refuse_policy(invalid, masks)
    for run in runs:
        if masks is not None and not run.protocol.takes_masks:
            raise InputError(f"protocol {run.protocol.name} does not work on label pictures; leave out their folders")
    indexed_well = not faults.count
    paired = pairing.pair_images(gt, det, faults)
    if indexed_well:
        naming.refuse_other_spellings(gt, det, paired)
    gt_count, det_count = Counts(), Counts()
    bare = [run.empty() for run in runs]
    work = partial(measure, bare, masks, invalid, sink)
    cuts = list(_cuts(gt, det, paired, masks))
    for (_, done), found in _found(work, cuts, gt, det, paired, faults, in_order, journal):
        faults.extend(found.faults)
        _log_refused(gt, det, found.refused, faults)
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
        scored(run, gt_summary, det_summary, warnings + _text_warnings(run, det_summary), masks is not None, invalid)
        for run in runs
    ]


def add_batch(run: Run, batch: ImageBatch, measured: dict[Convention, Overlaps], sink: Sink | None) -> Any:
    """Add a batch's evidence to a run; `measured` keeps its overlaps, by convention, for the other runs.

    Returns
    -------
    object
        What the sink has made of it.
    """
    convention = run.protocol.convention(run.parameters)
    if convention not in measured:
        measured[convention] = overlaps.measure(batch, convention)
    found = run.protocol.evidence(batch, measured[convention], run.parameters, sink is not None)
    run.sums.add(found.columns)
    run.gathered.remark(found.warnings)
    if run.keep_rows:
        run.gathered.columns.append(found.columns)
        run.gathered.names.extend(batch.names)
    return None if sink is None else sink(run, batch, found)


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
        warnings=[*warnings, *map(str, run.gathered.warnings)],
        rows=run.rows(),
    )


# Chunks --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some images, with what reads them, fit to be sent to another process.

    Attributes
    ----------
    names : sequence of str
        Of the ground truth.
    det_names : sequence of str
        The same images but those that the detections lack.
    present : (images,) bool
        Whether the detections name the image.
    gt, det : callable
        Read the images of `names`, and those of `det_names`.
    formats : (str, str)
        Of ground truth and detections.
    is_counted : bool
        Whether anybody wants the evidence, not only the faults.
    """

    names: Sequence[str]
    det_names: Sequence[str]
    present: Bools
    gt: Read
    det: Read
    formats: tuple[str, str]
    is_counted: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """What was counted of one side."""

    objects: int = 0
    dont_care: int = 0
    transcriptions: int = 0
    empty: int = 0
    repaired: int = 0
    dropped: int = 0
    zero_area: int = 0

    @classmethod
    def of(cls, read: ReadImages) -> Counts:
        """Count what was read."""
        objects, mended = read.objects, read.mended
        empty = int((np.diff(objects.offsets) == 0).sum())
        texts = count_texts(objects.texts)
        dont_care = int(objects.dont_care.sum())
        return cls(objects.count, dont_care, texts, empty, mended.repaired, mended.dropped, mended.zero_area)

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def summary(self, source: Source, missing: int) -> InputSummary:
        """Return the counts as those of a whole input."""
        return InputSummary(
            file=Path(source.path).name,
            format=source.format,
            sha256=source.sha256,
            images=len(source.names),
            missing=missing,
            **asdict(self),
        )


class Refused(typing.NamedTuple):
    """Objects of one side, by row, with the reason; lines are looked for where the source is."""

    side: Side
    names: Sequence[str]
    objects: Objects
    reasons: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a chunk.

    Attributes
    ----------
    gathered : list of Gathered
        By each run; none where nobody wanted it, or there were faults.
    kept : list
        What the sink has made of it, one for each run.
    gt, det : Counts
    faults : FaultLog
    refused : list of Refused
        Objects that the policy for invalid polygons refuses.
    refusal : EvaltexError or None
        Why a protocol would not measure it.
    """

    gathered: list[Gathered]
    kept: list[Any]
    gt: Counts
    det: Counts
    faults: FaultLog
    refused: list[Refused] = field(default_factory=list)
    refusal: EvaltexError | None = None


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


def measure(bare: Sequence[Run], masks: MaskFolders | None, invalid: str, sink: Sink | None, chunk: Chunk) -> Found:
    """Read a chunk and gather its evidence: the work that processes share.

    Parameters
    ----------
    bare : sequence of Run
        Runs that have summed nothing yet.
    """
    faults = FaultLog()
    refused: list[Refused] = []
    gt_read = _settled(chunk.gt(faults), "gt", chunk.names, invalid, refused)
    det_read = _settled(chunk.det(faults), "det", chunk.det_names, invalid, refused)
    batch = ImageBatch(
        chunk.names,
        gt_read.sizes,
        gt_read.objects,
        _spread(det_read.objects, chunk.present),
        in_detections=chunk.present,
        formats=chunk.formats,
    )
    if masks is not None:
        batch = _with_masks(batch, masks, chunk.present, faults)
    found = Found([], [], Counts.of(gt_read), Counts.of(det_read), faults, refused)
    if faults.count or refused or not chunk.is_counted:
        return found
    runs = [run.empty() for run in bare]
    measured: dict[Convention, Overlaps] = {}
    try:
        kept = [add_batch(run, batch, measured, sink) for run in runs]
        return replace(found, gathered=[run.gathered for run in runs], kept=kept)
    except EvaltexError as refusal:
        return replace(found, refusal=refusal)


def _found(
    work: Callable[[Chunk], Found],
    cuts: Sequence[tuple[int, int]],
    gt: Source,
    det: Source,
    paired: Ints,
    faults: FaultLog,
    in_order: InOrder,
    journal: Journal | None,
) -> Iterator[tuple[tuple[int, int], Found]]:
    """Yield the range of each chunk, and what is found in it; the journal's part is not searched again."""
    known = {cut for cut in cuts if journal is not None and journal.has(*cut)}
    chunks = (_chunk(gt, det, paired, *cut, not faults.count) for cut in cuts if cut not in known)
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
        names = failed.item.names
        others = len(names[SHOWN_IMAGES:])
        shown = ", ".join(map(quote, names[:SHOWN_IMAGES])) + (f" and {others} more" if others else "")
        raise InputError(
            f"images {shown}: given up after three attempts ({failed.reason}); evaluate them alone to see what is"
            " wrong, or with fewer jobs if memory is short"
        ) from failed


def _chunk(gt: Source, det: Source, paired: Ints, start: int, stop: int, is_counted: bool) -> Chunk:
    names = gt.names[start:stop]
    present = paired[start:stop] != pairing.NO_DETECTIONS
    return Chunk(
        names,
        [name for name, is_present in zip(names, present.tolist(), strict=True) if is_present],
        present,
        gt.reader(np.arange(start, stop)),
        det.reader(paired[start:stop][present]),
        (gt.format, det.format),
        is_counted,
    )


def _refuse_policy(invalid: str, masks: MaskFolders | None) -> None:
    if invalid not in INVALID_POLYGONS:
        raise ConfigError(f"invalid polygons: {quote(invalid)}; expected one of {', '.join(INVALID_POLYGONS)}")
    if masks is not None and invalid != INVALID_POLYGONS[0]:
        raise ConfigError(
            f"invalid polygons: {invalid} does not go with label pictures, whose pixels are the objects; leave it out"
        )


def _settled(read: ReadImages, side: Side, names: Sequence[str], invalid: str, refused: list[Refused]) -> ReadImages:
    """Apply the policy for invalid polygons."""
    if invalid == INVALID_POLYGONS[0] or read.objects.vertices is None:
        return read
    from evaltex_cli.geometry.polygons import settle

    settled, reasons = settle(read, invalid)
    if reasons:
        refused.append(Refused(side, names, settled.objects, reasons))
    return settled


def _log_refused(gt: Source, det: Source, refused: Sequence[Refused], faults: FaultLog) -> None:
    if not refused:
        return
    from evaltex_cli import places

    for one in refused:
        source = gt if one.side == "gt" else det
        for fault in places.refused(source, one.side, one.names, one.objects, one.reasons):
            faults.add(fault.file, fault.line, fault.found, fault.expected)


def _cuts(gt: Source, det: Source, paired: Ints, masks: MaskFolders | None) -> Iterator[tuple[int, int]]:
    """Cut images into chunks of bounded bytes and number, whoever works on them; an image is never cut."""
    most_images = MASK_BATCH_IMAGES if masks else BATCH_IMAGES
    ends = np.append(det.weights, 0)[paired].astype(np.int64)
    ends += gt.weights
    np.cumsum(ends, out=ends)
    start = 0
    while start < len(ends):
        before = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, before + BATCH_BYTES, side="right"))
        stop = min(max(stop, start + 1), start + most_images)
        yield start, min(stop, len(ends))
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
