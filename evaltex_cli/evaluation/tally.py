"""What one protocol sums over a data set, image by image, and what comes of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from evaltex_cli.display import Record, Rows, Table, number, plain
from evaltex_cli.errors import counted
from evaltex_cli.evaluation.input_counts import InputSummary
from evaltex_cli.geometry import overlaps
from evaltex_cli.protocols.base import (
    Evidence,
    EvidenceRows,
    Protocol,
    Scores,
    Tally,
    Totals,
    joined,
)
from evaltex_cli.protocols.matches import MATCH_TYPES, SideMatches
from evaltex_cli.protocols.object_warnings import ObjectWarning, of_large_boxes
from evaltex_cli.records import Floats, ImageBatch, Ints, Objects

if TYPE_CHECKING:
    import pandas

NEARLY_ZERO = 0.02
SHOWN_SCORES = ("recall", "precision", "fscore", "hmean")
Make: TypeAlias = "Callable[[Run, ImageBatch, Evidence], Any]"


@dataclass(frozen=True, slots=True, repr=False)
class ObjectResult(Record):
    """What one object or detection was matched with.

    Attributes
    ----------
    id : int
    match : str
        One of `matches.MATCH_TYPES`.
    partners : list of int
        IDs of what it was matched with, on the other side.
    values : mapping
        The protocol's own values; None where undefined.
    box : tuple of float or None
        Bounding box x0, y0, x1, y1 in pixels, if `evaltex_cli.evaluate` or an `Accumulator` made
        the result.
    text : str or None
        The transcription, likewise.
    """

    id: int
    match: str
    partners: list[int]
    values: Mapping[str, float | None]
    box: tuple[float, ...] | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ImageResult(Record):
    """Results of one image; `totals` is the evidence in the form of JSON."""

    name: str
    totals: Totals
    scores: Scores
    objects: list[ObjectResult]
    detections: list[ObjectResult]

    def shown(self) -> Table:
        """Return one line: recall, precision and the numbers of objects and detections."""
        scores = ", ".join(
            f"{name} {number(self.scores[name])}" for name in SHOWN_SCORES if name in self.scores
        )
        return Table(
            f"ImageResult {self.name!r}: {scores}"
            f" ({_objects(len(self.objects), len(self.detections))})"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Record):
    """The result of one protocol on one data set.

    Attributes
    ----------
    protocol : Protocol
    parameters : dataclass
        The protocol's parameters record.
    signature : str
        One line that names what the scores depend on.
    gt, det : InputSummary
    tally : Tally
        Summed evidence; those of runs over disjoint images add up.
    scores : dict
        Name -> number, list for a histogram, None where undefined.
    images : sequence of ImageResult
        Empty unless asked for (`per_image`).
    warnings : list of str
    rows : EvidenceRows or None
        The evidence of each image, if `Run.keep_rows`.
    """

    protocol: Protocol
    parameters: Any
    signature: str
    gt: InputSummary
    det: InputSummary
    tally: Tally
    scores: Scores
    images: Sequence[ImageResult] = field(default_factory=Rows)
    warnings: list[str] = field(default_factory=list)
    rows: EvidenceRows | None = None

    @property
    def totals(self) -> Totals:
        """The summed evidence in the form of JSON: name -> number, or a list
        of them for a histogram.
        """
        return self.tally.as_dict()

    @property
    def best_score(self) -> float:
        """Recall or precision, whichever is higher; 1 where there are not
        both, or a side has no images.
        """
        scores = self.meaningful_scores
        scored = [scores[name] for name in ("recall", "precision") if scores.get(name) is not None]
        return (
            max(scored) if len(scored) == 2 and self.gt.images > 0 and self.det.images > 0 else 1.0
        )

    @property
    def is_nearly_zero(self) -> bool:
        """Whether the scores are so low that a mistake in the files may be why."""
        return self.best_score <= NEARLY_ZERO

    def is_low(self, limit: float) -> bool:
        """Whether the headline score is defined and below a limit."""
        score = self.meaningful_scores.get(self.protocol.headline[-1])
        return self.is_nearly_zero or (isinstance(score, float) and score < limit)

    @property
    def meaningful_scores(self) -> Scores:
        """The scores for reading: None where every object of the ground truth
        is don't care (`defined`).
        """
        return defined(self.scores, self.totals)

    def score(self, tally: Tally) -> Scores:
        """Score summed evidence as this evaluation does."""
        return self.protocol.scores(tally, self.parameters)

    @property
    def headline(self) -> dict[str, float | None]:
        """The scores that are shown first: usually recall, precision and their harmonic mean."""
        return {name: self.scores[name] for name in self.protocol.headline}

    def shown(self) -> Table:
        """Return one line: the headline scores, and what they are of."""
        scores = ", ".join(f"{name} {number(value)}" for name, value in self.headline.items())
        warnings = counted(len(self.warnings), ", {count} warning[s]") if self.warnings else ""
        return Table(f"{self.protocol.name}: {scores} ({self.size()}{warnings})")

    def size(self) -> str:
        """Return the numbers of images, objects and detections in words."""
        return (
            f"{counted(self.gt.images, '{count} image[s]')},"
            f" {_objects(self.gt.objects, self.det.objects)}"
        )

    def _repr_html_(self) -> str:
        rows = [
            ["score", "value"],
            *([name, number(value)] for name, value in self.headline.items()),
        ]
        return Table(f"{self.protocol.title}: {self.size()}", rows, "; ".join(self.warnings)).html()

    def to_dict(self) -> dict[str, Any]:
        """Return the members of a result's .json: dictionaries, lists,
        strings, numbers and None.
        """
        members = {
            "protocol": self.protocol.name,
            "signature": self.signature,
            "parameters": asdict(self.parameters),
            "inputs": {"gt": asdict(self.gt), "det": asdict(self.det)},
            "totals": self.totals,
            "scores": self.scores,
            "images": self.images,
            "warnings": self.warnings,
        }
        return {name: plain(value) for name, value in members.items()}

    def to_pandas(self, table: str = "scores") -> pandas.DataFrame:
        """Return a table as a data frame.

        Parameters
        ----------
        table : {'scores', 'images', 'objects'}
            One row per score; per image; or per object of either side.

        Raises
        ------
        ConfigError
            When pandas is not installed (extra ``tables``), for another table, and for images and
            objects of an evaluation without them (`per_image`).
        """
        from evaltex_cli.evaluation import frames

        return frames.of_evaluation(self, table)


@dataclass(slots=True)
class Gathered:
    """Sums and warnings of one protocol over some images; and their evidence
    by image, if the run has `keep_rows`.
    """

    sums: Tally | None = None
    warnings: list[ObjectWarning] = field(default_factory=list)
    columns: list[Tally] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def add(self, other: Gathered) -> None:
        """Add what the same protocol has gathered of other images."""
        self.sums = joined(self.sums, other.sums)
        self.add_warnings(other.warnings)
        self.columns.extend(other.columns)
        self.names.extend(other.names)

    def add_warnings(self, warnings: Iterable[ObjectWarning]) -> None:
        """Add warnings, to those of the same text if there are any."""
        for new in warnings:
            at = next((k for k, old in enumerate(self.warnings) if old.text == new.text), None)
            if at is None:
                self.warnings.append(new)
            else:
                self.warnings[at] += new


@dataclass(frozen=True, slots=True)
class Run:
    """One protocol with its parameters, and what it has gathered so far;
    `keep_rows` keeps the evidence by image.
    """

    protocol: Protocol
    parameters: Any
    keep_rows: bool = False
    gathered: Gathered = field(default_factory=Gathered)

    @property
    def sums(self) -> Tally:
        """The evidence summed so far."""
        if self.gathered.sums is None:
            raise ValueError("nothing was added")
        return self.gathered.sums

    def empty(self) -> Run:
        """Return the same run, with nothing gathered."""
        return Run(self.protocol, self.parameters, self.keep_rows)

    def rows(self) -> EvidenceRows | None:
        """The evidence of each image, in the order of the ground truth."""
        return (
            EvidenceRows(self.gathered.names, Tally.concatenate(self.gathered.columns))
            if self.keep_rows
            else None
        )


class SinkWork(NamedTuple):
    """The part of a `Sink` that is done where a batch is measured."""

    make: Make
    with_matches: bool = True


@dataclass(frozen=True, slots=True)
class Sink:
    """What is done with the evidence of every batch.

    Attributes
    ----------
    make : callable
        ``make(run, batch, evidence)``, called where the batch is measured: with several processes
        in one of these, so it and its result must be fit to be sent there and back.
    take : callable
        ``take(run, made)`` gets, in this process, what `make` returned, in the order of the images.
    with_matches : bool
        Whether `make` needs the matches of the evidence.
    """

    make: Make
    take: Callable[[Run, Any], None]
    with_matches: bool = True

    @property
    def work(self) -> SinkWork:
        """What is done where a batch is measured."""
        return SinkWork(self.make, self.with_matches)

    def and_also(self, other: Sink) -> Sink:
        """Return a sink that does what both do."""

        def take(run: Run, made: tuple[Any, Any]) -> None:
            self.take(run, made[0])
            other.take(run, made[1])

        make = partial(_make_both, self.make, other.make)
        return Sink(make, take, self.with_matches or other.with_matches)


@dataclass(frozen=True, slots=True)
class ImageSink:
    """What is done with the results of the images of every batch.

    Attributes
    ----------
    make : callable
        ``make(run, batch, results)``, called where the batch is measured, as that of `Sink`.
    take : callable
        As that of `Sink`.
    """

    make: Callable[[Run, ImageBatch, Sequence[ImageResult]], Any]
    take: Callable[[Run, Any], None]


def sink_of_images(sinks: Sequence[ImageSink]) -> Sink:
    """Return a sink that makes the results of images once, for all of these."""

    def take(run: Run, made: Sequence[Any]) -> None:
        for sink, one in zip(sinks, made, strict=True):
            sink.take(run, one)

    return Sink(partial(_make_of_images, [sink.make for sink in sinks]), take)


def _make_of_images(
    makes: Sequence[Callable[[Run, ImageBatch, Sequence[ImageResult]], Any]],
    run: Run,
    batch: ImageBatch,
    evidence: Evidence,
) -> list[Any]:
    results = list(image_results(run, batch, evidence))
    return [make(run, batch, results) for make in makes]


def _make_both(
    one: Make, other: Make, run: Run, batch: ImageBatch, evidence: Evidence
) -> tuple[Any, Any]:
    return one(run, batch, evidence), other(run, batch, evidence)


def add_batch(run: Run, batch: ImageBatch, work: SinkWork | None) -> Any:
    """Add a batch's evidence to a run.

    Returns
    -------
    object
        What `SinkWork.make` returned; None without work.
    """
    convention = run.protocol.convention(run.parameters)
    measured = overlaps.of(batch, convention)
    with_matches = work is not None and work.with_matches
    evidence = run.protocol.evidence(batch, measured, run.parameters, with_matches)
    run.gathered.sums = joined(run.gathered.sums, evidence.tally.sum())
    large = of_large_boxes(batch, convention, run.protocol.name, run.parameters)
    run.gathered.add_warnings([*evidence.warnings, *large])
    if run.keep_rows:
        run.gathered.columns.append(evidence.tally)
        run.gathered.names.extend(batch.names)
    return None if work is None else work.make(run, batch, evidence)


def defined(scores: Scores, evidence: Totals) -> Scores:
    """Return scores with None for those that are undefined, because every object of the ground
    truth is don't care.

    Recall is undefined then; and all of them, unless a detection counts, which is false.
    """
    if evidence.get("counted_gt_objects", 1) or not evidence.get("gt_objects"):
        return scores
    has_false = evidence.get("counted_detections") or evidence.get("false_positives")
    return {
        name: None
        if isinstance(value, float) and not (has_false and "recall" not in name)
        else value
        for name, value in scores.items()
    }


def image_scores(run: Run, tally: Tally) -> Scores:
    """Score one image's evidence."""
    return (run.protocol.image_scores or run.protocol.scores)(tally, run.parameters)


def image_results(
    run: Run, batch: ImageBatch, evidence: Evidence, with_shapes: bool = False
) -> Iterator[ImageResult]:
    """Yield each image's results from a batch's evidence with matches; of
    objects with boxes and texts if wanted.
    """
    matches = evidence.matches
    if matches is None:
        raise ValueError("evidence was made without matches")
    objects = _object_results(matches.gt, batch.gt, batch.det.ids, with_shapes)
    detections = _object_results(matches.det, batch.det, batch.gt.ids, with_shapes)
    for k, (name, tally) in enumerate(zip(batch.names, evidence.tally.rows(), strict=True)):
        yield ImageResult(
            name=name,
            totals=tally.as_dict(),
            scores=image_scores(run, tally),
            objects=objects[batch.gt.offsets[k] : batch.gt.offsets[k + 1]],
            detections=detections[batch.det.offsets[k] : batch.det.offsets[k + 1]],
        )


def _object_results(
    side: SideMatches, own: Objects, partner_ids: Ints, with_shapes: bool
) -> list[ObjectResult]:
    types = [MATCH_TYPES[code] for code in side.types.tolist()]
    bounds, linked = side.offsets.tolist(), partner_ids[side.partners].tolist()
    names, columns = list(side.values), [_or_none(values) for values in side.values.values()]
    rows = zip(*columns, strict=True) if columns else repeat(())
    results = [
        ObjectResult(own_id, match, linked[start:stop], dict(zip(names, row, strict=True)))
        for own_id, match, (start, stop), row in zip(
            own.ids.tolist(), types, pairwise(bounds), rows, strict=False
        )
    ]
    if not with_shapes:
        return results
    boxes = map(tuple, own.boxes.tolist())
    return [
        replace(one, box=box, text=text)
        for one, box, text in zip(results, boxes, own.texts, strict=True)
    ]


def _objects(gt: int, det: int) -> str:
    return f"{counted(gt, '{count} object[s]')}, {counted(det, '{count} detection[s]')}"


def _or_none(values: Floats) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]
