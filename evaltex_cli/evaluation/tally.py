"""What one protocol sums over a data set, batch by batch, and the results of its images."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise, repeat
from typing import Any, NamedTuple, TypeAlias

from evaltex_cli.evaluation.evaluation import ImageResult, ObjectResult
from evaltex_cli.geometry import overlaps
from evaltex_cli.protocols.base import Evidence, EvidenceRows, Protocol, Scores
from evaltex_cli.protocols.matches import MATCH_TYPES, Matches, SideMatches
from evaltex_cli.protocols.object_warnings import ObjectWarning, of_large_boxes
from evaltex_cli.protocols.tally import Tally, Totals
from evaltex_cli.records import Floats, ImageBatch, Ints, Objects

Make: TypeAlias = "Callable[[Run, ImageBatch, Evidence], Any]"


@dataclass(eq=False, repr=False)
class Gathered:
    """Evidence by image, and warnings, of one protocol over some images."""

    names: list[str] = field(default_factory=list)
    columns: list[Tally] = field(default_factory=list)
    warnings: list[ObjectWarning] = field(default_factory=list)

    def add(self, other: Gathered) -> None:
        """Add what the same protocol has gathered of other images."""
        self.names.extend(other.names)
        self.columns.extend(other.columns)
        self.add_warnings(other.warnings)

    def add_warnings(self, warnings: Iterable[ObjectWarning]) -> None:
        """Add warnings, to those of the same text if there are any."""
        for new in warnings:
            at = next((k for k, old in enumerate(self.warnings) if old.text == new.text), None)
            if at is None:
                self.warnings.append(new)
            else:
                self.warnings[at] += new


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Run:
    """One protocol with its parameters, and what it has gathered so far."""

    protocol: Protocol
    parameters: Any
    gathered: Gathered = field(default_factory=Gathered)

    @property
    def sums(self) -> Tally:
        """The evidence summed so far."""
        return self.rows().tally.sum()

    def empty(self) -> Run:
        """Return the same run, with nothing gathered."""
        return Run(self.protocol, self.parameters)

    def rows(self) -> EvidenceRows:
        """The evidence of each image, in the order of the ground truth."""
        if not self.gathered.columns:
            raise ValueError("nothing was added")
        self.gathered.columns = [Tally.concatenate(self.gathered.columns)]
        return EvidenceRows(self.gathered.names, self.gathered.columns[0])


class SinkWork(NamedTuple):
    """The part of a `Sink` that is done where a batch is measured."""

    make: Make
    with_matches: bool = True


class Sink(NamedTuple):
    """What is done with the evidence of every batch."""

    make: Make
    """``make(run, batch, evidence)``, called where the batch is measured: with several processes in
    one of these, so it and its result must be fit to be sent there and back."""
    take: Callable[[Run, Any], None]
    """``take(run, made)`` gets, in this process, what `make` returned, in the order of the images.
    """
    with_matches: bool = True
    """Whether `make` needs the matches of the evidence."""

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


@dataclass(frozen=True, eq=False)
class BatchImages:
    """A batch that was measured with matches, and what each of its images sums and scores."""

    run: Run
    batch: ImageBatch
    evidence: Evidence

    @cached_property
    def _rows(self) -> list[Tally]:
        return list(self.evidence.tally.rows())

    @cached_property
    def totals(self) -> list[Totals]:
        """What each image sums."""
        return list(map(dict, map(vars, self._rows)))

    @cached_property
    def scores(self) -> list[Scores]:
        """The scores of each image."""
        return [image_scores(self.run, row) for row in self._rows]

    @property
    def matches(self) -> Matches:
        """The matches of the batch's objects."""
        if self.evidence.matches is None:
            raise ValueError("evidence was made without matches")
        return self.evidence.matches


class ImageSink(NamedTuple):
    """What is done with the images of every batch."""

    make: Callable[[Run, BatchImages], Any]
    """``make(run, images)``, called where the batch is measured, as that of `Sink`."""
    take: Callable[[Run, Any], None]
    """As that of `Sink`."""


def sink_of_images(sinks: Sequence[ImageSink]) -> Sink:
    """Return a sink that scores images once, for all of these."""

    def take(run: Run, made: Sequence[Any]) -> None:
        for sink, one in zip(sinks, made, strict=True):
            sink.take(run, one)

    return Sink(partial(_make_of_images, [sink.make for sink in sinks]), take)


def _make_of_images(
    makes: Sequence[Callable[[Run, BatchImages], Any]],
    run: Run,
    batch: ImageBatch,
    evidence: Evidence,
) -> list[Any]:
    images = BatchImages(run, batch, evidence)
    return [make(run, images) for make in makes]


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
    large = of_large_boxes(batch, convention, run.protocol.name, run.parameters)
    run.gathered.add(Gathered(list(batch.names), [evidence.tally], [*evidence.warnings, *large]))
    return None if work is None else work.make(run, batch, evidence)


def image_scores(run: Run, tally: Tally) -> Scores:
    """Score one image's evidence."""
    return (run.protocol.image_scores or run.protocol.scores)(tally, run.parameters)


def image_results(
    run: Run, batch: ImageBatch, evidence: Evidence, with_shapes: bool = False
) -> Iterator[ImageResult]:
    """Yield each image's results from a batch's evidence with matches; of
    objects with boxes and texts if wanted.
    """
    images = BatchImages(run, batch, evidence)
    objects = _object_results(images.matches.gt, batch.gt, batch.det.ids, with_shapes)
    detections = _object_results(images.matches.det, batch.det, batch.gt.ids, with_shapes)
    for k, name in enumerate(batch.names):
        yield ImageResult(
            name=name,
            totals=images.totals[k],
            scores=images.scores[k],
            objects=objects[batch.gt.offsets[k] : batch.gt.offsets[k + 1]],
            detections=detections[batch.det.offsets[k] : batch.det.offsets[k + 1]],
        )


def images_of(run: Run, batch: ImageBatch, evidence: Evidence) -> list[ImageResult]:
    """Return the results of a batch's images, with the boxes and texts of their objects."""
    return list(image_results(run, batch, evidence, with_shapes=True))


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


def _or_none(values: Floats) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]
