"""What one protocol sums over a data set, batch by batch, and the results of its images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise, repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.evaluation.evaluation import ImageResult, ObjectResult
from evaltex_cli.geometry import overlaps
from evaltex_cli.protocols.base import Evidence, EvidenceRows, Protocol, Scores
from evaltex_cli.protocols.matches import MATCH_TYPES, Matches, SideMatches
from evaltex_cli.protocols.object_warnings import ObjectWarning, of_large_boxes
from evaltex_cli.protocols.tally import Tally, Totals
from evaltex_cli.records import Floats, ImageBatch, Ints, Objects

Make: TypeAlias = "Callable[[BatchImages], Any]"


@dataclass(eq=False, repr=False)
class Gathered:
    """Evidence by image, and warnings, of one protocol over some images."""

    names: list[str] = field(default_factory=list)
    columns: list[Tally] = field(default_factory=list)
    warnings: list[ObjectWarning] = field(default_factory=list)

    def add(self, other: Gathered) -> None:
        """Add what the same protocol has gathered of other images; warnings of one text add up."""
        self.names.extend(other.names)
        self.columns.extend(other.columns)
        for new in other.warnings:
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

    def empty(self) -> Run:
        """Return the same run, with nothing gathered."""
        return Run(self.protocol, self.parameters)

    def rows(self) -> EvidenceRows:
        """The evidence of each image, in the order of the ground truth."""
        if not self.gathered.columns:
            raise ValueError("nothing was added")
        self.gathered.columns = [Tally.concatenate(self.gathered.columns)]
        return EvidenceRows(self.gathered.names, self.gathered.columns[0])


@dataclass(frozen=True, eq=False)
class BatchImages:
    """A batch that was measured, and what each of its images sums and scores."""

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


class Sink(NamedTuple):
    """What is done with every batch that was measured."""

    make: Make
    """Called where the batch is measured: with several processes in one of these, so it and its
    result must be fit to be sent there and back."""
    take: Callable[[Run, Any], None]
    """``take(run, made)`` gets, in this process, what `make` returned, in the order of the images.
    """
    with_matches: bool = True
    """Whether `make` needs the matches of the evidence."""


def joined(sinks: Sequence[Sink]) -> Sink:
    """Return a sink that does what all of these do; images are scored once."""

    def take(run: Run, made: Sequence[Any]) -> None:
        for sink, one in zip(sinks, made, strict=True):
            sink.take(run, one)

    makes = [sink.make for sink in sinks]
    return Sink(partial(_make_all, makes), take, any(sink.with_matches for sink in sinks))


def _make_all(makes: Sequence[Make], images: BatchImages) -> list[Any]:
    return [make(images) for make in makes]


def add_batch(
    run: Run, batch: ImageBatch, make: Make | None = None, with_matches: bool = True
) -> Any:
    """Add a batch's evidence to a run; return what `Sink.make` returns of it, if there is one."""
    convention = run.protocol.convention(run.parameters)
    measured = overlaps.of(batch, convention)
    with_matches = make is not None and with_matches
    evidence = run.protocol.evidence(batch, measured, run.parameters, with_matches)
    large = of_large_boxes(batch, convention, run.protocol.name, run.parameters)
    run.gathered.add(Gathered(list(batch.names), [evidence.tally], [*evidence.warnings, *large]))
    return None if make is None else make(BatchImages(run, batch, evidence))


def image_scores(run: Run, tally: Tally) -> Scores:
    """Score one image's evidence."""
    return (run.protocol.image_scores or run.protocol.scores)(tally, run.parameters)


def image_results(images: BatchImages) -> list[ImageResult]:
    """Return the results of a batch's images, with the boxes and texts of their objects."""
    batch, matches = images.batch, images.matches
    objects = _object_results(matches.gt, batch.gt, batch.det.ids)
    detections = _object_results(matches.det, batch.det, batch.gt.ids)
    return [
        ImageResult(
            name=name,
            totals=images.totals[k],
            scores=images.scores[k],
            objects=objects[batch.gt.offsets[k] : batch.gt.offsets[k + 1]],
            detections=detections[batch.det.offsets[k] : batch.det.offsets[k + 1]],
        )
        for k, name in enumerate(batch.names)
    ]


def _object_results(side: SideMatches, own: Objects, partner_ids: Ints) -> list[ObjectResult]:
    linked, bounds = partner_ids[side.partners].tolist(), side.offsets.tolist()
    names, columns = list(side.values), [or_none(values) for values in side.values.values()]
    rows = zip(*columns, strict=True) if columns else repeat(())
    return [
        ObjectResult(
            own_id,
            MATCH_TYPES[code],
            linked[start:stop],
            dict(zip(names, row, strict=True)),
            tuple(box),
            text,
        )
        for own_id, code, (start, stop), row, box, text in zip(
            own.ids.tolist(),
            side.types.tolist(),
            pairwise(bounds),
            rows,
            own.boxes.tolist(),
            own.texts,
            strict=False,
        )
    ]


def or_none(values: Floats) -> list[float | None]:
    """Return a column as a list, None where it is undefined."""
    mixed = values.astype(object)
    mixed[np.isnan(values)] = None
    listed: list[float | None] = mixed.tolist()
    return listed
