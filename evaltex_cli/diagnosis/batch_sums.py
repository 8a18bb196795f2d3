"""What a diagnosis sums over a data set, batch by batch: mistakes, scores
after repairs, and objects in bins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.diagnosis.breakdown import BinSums, Edges, add_bins, properties
from evaltex_cli.diagnosis.changes import ALL_TYPES
from evaltex_cli.diagnosis.components import Components
from evaltex_cli.diagnosis.corrections import repairs
from evaltex_cli.diagnosis.error_types import ERROR_TYPES, Mistakes, Thresholds, find
from evaltex_cli.diagnosis.misread import Pairs, misread_pairs
from evaltex_cli.diagnosis.stacks import Part, Stack, after
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.tally import BatchImages, Run
from evaltex_cli.geometry import overlaps
from evaltex_cli.protocols.base import Evidence
from evaltex_cli.protocols.matches import Matched, SideMatches
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Bools, Convention, ImageBatch, Ints, Objects


@dataclass(slots=True)
class Sums:
    """What one protocol's diagnosis adds up.

    Objects or detections of each kind, evidence after its repair, bins, and the texts of misread
    pairs.
    """

    counts: Counter[str] = field(default_factory=Counter)
    repaired: dict[str, list[Tally]] = field(default_factory=dict)
    bins: dict[str, list[BinSums]] = field(default_factory=dict)
    classes: dict[str, BinSums] = field(default_factory=dict)
    """By the class of the object, if objects have classes."""
    misread: Pairs | None = None

    def add(self, other: Sums) -> None:
        """Add the sums of other images."""
        self.counts.update(other.counts)
        for kind, tallies in other.repaired.items():
            self.repaired.setdefault(kind, []).extend(tallies)
        for name, theirs in other.bins.items():
            for ours, more in zip(
                self.bins.setdefault(name, [BinSums() for _ in theirs]), theirs, strict=True
            ):
                ours.add(more)
        for label, more in other.classes.items():
            self.classes.setdefault(label, BinSums()).add(more)
        if other.misread is not None:
            self.misread = (self.misread or Counter()) + other.misread


@dataclass(slots=True)
class _Prepared:
    """One batch's mistakes, and what of their repair is shared by protocols.

    `stacks` contains, for polygons taken as boxes or as they are, the repair of each kind in the
    images that have it, and of all kinds together in the images that have several
    (`corrections.repairs`); `components` what hangs together by convention.
    """

    batch: ImageBatch
    mistakes: Mistakes
    bins: dict[str, NDArray[np.int32]]
    stacks: dict[bool, list[Stack]] = field(default_factory=dict)
    components: dict[Convention, Components] = field(default_factory=dict)

    def stacks_of(self, run: Run) -> list[Stack]:
        """Return the repairs as a protocol takes polygons."""
        convention = run.protocol.convention(run.parameters)
        as_boxes = convention.as_boxes or convention.inclusive
        if as_boxes not in self.stacks:
            self.stacks[as_boxes] = repairs(self.batch, self.mistakes, as_boxes)
        return self.stacks[as_boxes]

    def tally_after(self, run: Run, stack: Stack, evidence: Evidence) -> Tally:
        """Score repaired images; if the protocol can recount, only the objects that hang together
        with what was repaired.
        """
        protocol, parameters, matches = run.protocol, run.parameters, evidence.matches
        convention = protocol.convention(parameters)
        # By map, which lets go of a part before it asks for the next.
        if protocol.recount is None or matches is None:
            _, parts = after(stack, convention)
            tallies = list(map(partial(_tally, run), parts))
            return type(tallies[0]).concatenate(tallies)
        if convention not in self.components:
            measured = overlaps.of(self.batch, convention)
            self.components[convention] = Components.of(self.batch, measured)
        scope, parts = after(stack, convention, self.components[convention])
        new_gt, new_det = zip(*map(partial(_matched, run), parts), strict=True)
        sides = (
            _Side(self.batch.gt, matches.gt, stack.gt_offsets, stack.gt_rows).with_new(
                scope.gt, scope.same_gt, new_gt
            ),
            _Side(self.batch.det, matches.det, stack.offsets, stack.rows).with_new(
                scope.det, scope.same_det, new_det
            ),
        )
        return protocol.recount(*sides, parameters)


def _tally(run: Run, part: Part) -> Tally:
    return run.protocol.evidence(*part, run.parameters, False).tally


def _matched(run: Run, part: Part) -> tuple[Matched, Matched]:
    found = run.protocol.evidence(*part, run.parameters, True).matches
    assert found is not None
    return Matched.of(part[0].gt, found.gt), Matched.of(part[0].det, found.det)


class _Side(NamedTuple):
    """One side of a batch with its matches, and which of its objects each image of a stack has."""

    objects: Objects
    matches: SideMatches
    offsets: Ints
    rows: Ints

    def with_new(self, which: Bools, same: Ints, new: Sequence[Matched]) -> Matched:
        """Return the images of the stack, where these objects are matched again; at each place
        those of the same object.
        """
        old = Matched.of(self.objects, self.matches)
        stays = ~which & (same == np.arange(len(same)))
        rows = self.rows[stays]

        def joined(ours: NDArray[Any], theirs: Sequence[NDArray[Any]]) -> NDArray[Any]:
            result = np.empty(len(which), ours.dtype)
            result[stays], result[which] = ours[rows], np.concatenate(theirs)
            return result[same]

        return Matched(
            self.offsets,
            joined(old.dont_care, [part.dont_care for part in new]),
            joined(old.types, [part.types for part in new]),
            joined(old.partners, [part.partners for part in new]),
            {
                name: joined(column, [part.values[name] for part in new])
                for name, column in old.values.items()
            },
        )


@dataclass(slots=True)
class BatchSums:
    """A function that diagnoses a batch, fit to be sent to another process;
    `prepared` is of the batch before.
    """

    thresholds: Thresholds
    edges: Edges
    prepared: _Prepared | None = None

    def __call__(self, images: BatchImages) -> Sums:
        """Return the sums of one protocol over a batch."""
        run, batch, evidence = images.run, images.batch, images.evidence
        if self.prepared is None or self.prepared.batch is not batch:
            self.prepared = self._prepare(batch)
        prepared = self.prepared
        sums = Sums(Counter({kind: prepared.mistakes.count(kind) for kind in ERROR_TYPES}))
        sums.misread = misread_pairs(batch, evidence, run.parameters)
        repaired = dict.fromkeys((*ERROR_TYPES, ALL_TYPES), evidence.tally)
        try:
            for stack in prepared.stacks_of(run):
                corrected = prepared.tally_after(run, stack, evidence)
                _replace(repaired, stack, corrected)
        except InputError as error:
            raise InputError(
                f"{error} (so of detections that the diagnosis of {run.protocol.name} has repaired;"
                " those that were given can be scored: leave out the diagnosis, of a report by"
                " --no-diagnose)"
            ) from error
        sums.repaired = {kind: [tally] for kind, tally in repaired.items()}
        for name, bin_of in prepared.bins.items():
            sums.bins[name] = [BinSums() for _ in range(len(getattr(self.edges, name)) + 1)]
            counted = np.where(batch.gt.dont_care, -1, bin_of)
            add_bins(sums.bins[name], run, batch, evidence, counted)
        labels = batch.gt.labels
        if labels is not None and len(labels.names) > 1:
            sums.classes = {label: BinSums() for label in labels.names}
            counted = np.where(batch.gt.dont_care, -1, labels.codes)
            add_bins(list(sums.classes.values()), run, batch, evidence, counted)
        return sums

    def _prepare(self, batch: ImageBatch) -> _Prepared:
        if batch.has_masks:
            raise InputError(
                "diagnose works on boxes and polygons; leave out the folders of label pictures"
            )
        bins = {
            name: np.searchsorted(getattr(self.edges, name), values, side="right").astype(np.int32)
            for name, values in properties(batch.gt).items()
        }
        return _Prepared(batch, find(batch, self.thresholds), bins)


def _replace(repaired: dict[str, Tally], stack: Stack, corrected: Tally) -> None:
    """Replace the evidence of the images of a stack after each repair."""
    # In images with mistakes of one kind, the repair of all kinds is that of this kind.
    is_last = ~np.isin(stack.image, stack.image[stack.parts[ALL_TYPES]])
    is_last[stack.parts[ALL_TYPES]] = True
    parts: dict[str, Any] = {**stack.parts, ALL_TYPES: np.flatnonzero(is_last)}
    for kind, part in parts.items():
        repaired[kind] = repaired[kind].replaced(stack.image[part], corrected.take(part))
