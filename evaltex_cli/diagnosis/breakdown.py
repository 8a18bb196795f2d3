"""Recall by what objects are like: sorted into bins of height, aspect ratio and length of the text,
and by their classes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.tally import Run
from evaltex_cli.geometry import overlaps
from evaltex_cli.protocols.base import Evidence
from evaltex_cli.protocols.matches import (
    FALSE_POSITIVE,
    IGNORED,
    MATCH_TYPES,
    MISSED,
    Matched,
    SideMatches,
)
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import (
    Bools,
    Floats,
    ImageBatch,
    Ints,
    Objects,
    Overlaps,
    offsets_of,
    text_lengths,
)
from evaltex_cli.records.rows import take_images

OF_GT = tuple(
    name for code, name in enumerate(MATCH_TYPES) if code not in (FALSE_POSITIVE, IGNORED)
)


@dataclass(frozen=True, slots=True)
class Edges:
    """Inner edges of the bins that objects are sorted in; a bin contains its lower edge."""

    height: tuple[float, ...] = (8, 16, 32, 64, 128)
    aspect_ratio: tuple[float, ...] = (0.5, 1, 2, 4, 8)
    length: tuple[float, ...] = (1, 2, 4, 7, 11)


PROPERTIES = {
    "height": "height of the object's bounding box, pixels",
    "aspect_ratio": "width / height of the object's bounding box",
    "length": "characters of the object's transcription",
}
"""What objects are sorted by, named as in `Edges`."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The objects of one bin, from `low` (None: no bound) to below `high`; or of one class."""

    low: float | None
    high: float | None
    objects: int
    found: int
    """`objects` and `found`: objects that count in the protocol, and those that it matches with
    anything."""
    recall: float | None
    """The protocol's recall with all other objects made don't-care; None without objects."""
    matches: dict[str, int]
    """Match type -> objects."""
    means: dict[str, float | None]
    """The protocol's own values -> mean over the objects that have them; None where none has."""

    @property
    def range(self) -> str:
        """The bin in words."""
        if self.low is None:
            return "all" if self.high is None else f"below {self.high:g}"
        return f"from {self.low:g}" if self.high is None else f"{self.low:g} to {self.high:g}"


@dataclass(slots=True)
class BinSums:
    """What one bin adds up: the protocol's evidence of images, match types, and the protocol's
    values of objects.
    """

    evidence: list[Tally] = field(default_factory=list)
    matches: Ints = field(default_factory=lambda: np.zeros(len(MATCH_TYPES), np.int64))
    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, other: BinSums) -> None:
        """Add the sums of other images."""
        self.evidence += other.evidence
        self.matches += other.matches
        for name, values in other.values.items():
            self.values.setdefault(name, []).extend(values)


def properties(objects: Objects) -> dict[str, Floats]:
    """(n,) values that objects are sorted by, named as in `PROPERTIES`; a
    ratio over height 0 is infinite.
    """
    width, height = (objects.boxes[:, 2:] - objects.boxes[:, :2]).T
    ratio = np.full(objects.count, np.inf)
    np.divide(width, height, out=ratio, where=height > 0)
    lengths = text_lengths(objects.texts).astype(np.float64)
    return {"height": height, "aspect_ratio": ratio, "length": lengths}


def add_bin(sums: BinSums, run: Run, batch: ImageBatch, evidence: Evidence, inside: Bools) -> None:
    """Add the objects of a batch that are in a bin, `inside` (G,) bool; the others are made
    don't-care.
    """
    add_bins([sums], run, batch, evidence, np.where(inside, 0, -1))


def add_bins(
    sums: Sequence[BinSums], run: Run, batch: ImageBatch, evidence: Evidence, bin_of: Ints
) -> None:
    """Add the objects of a batch to bins, `bin_of` (G,) int64, -1 for none; in each, the others are
    made don't-care.

    If don't-care objects change matches, the images are evaluated again, with the batch's overlaps.
    """
    matches = evidence.matches
    if matches is None:
        raise ValueError("evidence was made without matches")
    # By bin; in each as before. Numbers of one or two bytes are not compared.
    order = np.argsort(bin_of.astype(np.min_scalar_type(-len(sums) - 1)), kind="stable")
    bounds = np.searchsorted(bin_of[order], np.arange(len(sums) + 1))
    members = [order[start:stop] for start, stop in pairwise(bounds.tolist())]
    for one, rows in zip(sums, members, strict=True):
        _add_matches(one, matches.gt, rows)
    chosen = [k for k, rows in enumerate(members) if len(rows)]
    if run.protocol.recount is None:
        tallies = [_evaluated(run, batch, bin_of == k) for k in chosen]
    else:
        whole = _recounted(run, Matched.of(batch.gt, matches.gt), members)
        images = len(batch.names)
        tallies = [whole.take(slice(k * images, (k + 1) * images)) for k in chosen]
    for k, tally in zip(chosen, tallies, strict=True):
        sums[k].evidence.append(tally)


def _add_matches(sums: BinSums, gt: SideMatches, rows: Ints) -> None:
    sums.matches += np.bincount(gt.types[rows], minlength=len(MATCH_TYPES))
    for name, values in gt.values.items():
        own = np.asarray(values[rows], dtype=np.float64)
        sums.values.setdefault(name, []).extend(own[~np.isnan(own)].tolist())


def _evaluated(run: Run, batch: ImageBatch, inside: Bools) -> Tally:
    """Evaluate the images that have an object inside, where the others are don't-care."""
    images = np.zeros(len(batch.names), dtype=bool)
    images[batch.gt.image[inside]] = True
    only = replace(batch, gt=replace(batch.gt, dont_care=~inside))
    measured = overlaps.of(batch, run.protocol.convention(run.parameters))
    chosen = select_images(only, images), select_overlaps(measured, batch, images)
    return run.protocol.evidence(*chosen, run.parameters, False).tally


def select_images(batch: ImageBatch, which: Bools) -> ImageBatch:
    """Return the batch of some images, boxes and polygons only.

    Parameters
    ----------
    which : (images,) bool
    """
    if which.all():
        return batch
    images = np.flatnonzero(which)
    return replace(
        batch,
        names=[batch.names[k] for k in images.tolist()],
        sizes=batch.sizes[which],
        gt=take_images(batch.gt, images),
        det=take_images(batch.det, images),
        gt_lines=None if batch.gt_lines is None else take_images(batch.gt_lines, images),
        in_detections=None if batch.in_detections is None else batch.in_detections[which],
    )


def select_overlaps(measured: Overlaps, batch: ImageBatch, which: Bools) -> Overlaps:
    """Return the overlaps of a batch that are those of `select_images`."""
    gt, det = which[batch.gt.image], which[batch.det.image]
    pairs = gt[measured.gt]
    return Overlaps(
        # Counting the objects that stay gives each its new index.
        (np.cumsum(gt) - 1)[measured.gt[pairs]],
        (np.cumsum(det) - 1)[measured.det[pairs]],
        measured.area[pairs],
        measured.gt_area[gt],
        measured.det_area[det],
        None if measured.gt_boxes is None else measured.gt_boxes[gt],
        None if measured.det_boxes is None else measured.det_boxes[det],
    )


def _recounted(run: Run, gt: Matched, members: Sequence[Ints]) -> Tally:
    """Count the objects of each bin, as if the images were there once for each; without
    detections, which recall does not depend on.
    """
    images, bins = len(gt.offsets) - 1, len(members)
    order = np.concatenate(members)
    place = np.repeat(np.arange(bins), list(map(len, members))) * images + gt.image[order]
    offsets = offsets_of(np.bincount(place, minlength=bins * images))
    inside = Matched(
        offsets,
        np.zeros(len(order), dtype=bool),
        gt.types[order],
        gt.partners[order],
        {name: values[order] for name, values in gt.values.items()},
    )
    none = np.zeros(0, np.int64)
    nothing = Matched(np.zeros_like(offsets), none.astype(bool), none.astype(np.uint8), none, {})
    recount = run.protocol.recount
    assert recount is not None
    tally: Tally = recount(inside, nothing, run.parameters)
    return tally


def bins(
    sums_of_bins: Sequence[BinSums], edges: Sequence[float], evaluation: Evaluation
) -> list[Bin]:
    """Score the sums of all bins of a property, whose inner edges these are."""
    return [
        _bin(sums, low, high, evaluation)
        for sums, low, high in zip(sums_of_bins, (None, *edges), (*edges, None), strict=True)
    ]


def classes(
    sums_of_classes: Mapping[str, BinSums], evaluation: Evaluation
) -> dict[str, Bin] | None:
    """Score the sums of all classes that have objects which count, most objects first; None if
    there are fewer than two.
    """
    found = {name: _bin(sums, None, None, evaluation) for name, sums in sums_of_classes.items()}
    ranked = sorted(found.items(), key=lambda item: (-item[1].objects, item[0]))
    with_objects = {name: one for name, one in ranked if one.objects}
    return with_objects if len(with_objects) > 1 else None


def recall_of(sums: BinSums, evaluation: Evaluation) -> float | None:
    """Return the protocol's recall of the objects in a bin; None if no object counts."""
    is_empty = sums.matches.sum() == sums.matches[IGNORED]
    return (
        None
        if is_empty or not sums.evidence
        else float(evaluation.score(Tally.concatenate(sums.evidence).sum())["recall"] or 0.0)
    )


def _bin(sums: BinSums, low: float | None, high: float | None, evaluation: Evaluation) -> Bin:
    matches = sums.matches.tolist()
    objects = sum(matches) - matches[IGNORED]
    return Bin(
        low=low,
        high=high,
        objects=objects,
        found=objects - matches[MISSED],
        recall=recall_of(sums, evaluation),
        matches={name: matches[MATCH_TYPES.index(name)] for name in OF_GT},
        means={
            name: math.fsum(values) / len(values) if values else None
            for name, values in sums.values.items()
        },
    )
