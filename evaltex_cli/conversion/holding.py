"""What a format holds: objects are brought into its form, and what is lost is
counted by one rule for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.conversion.base import (
    Block,
    Holds,
    Job,
    known_or_smallest_size,
    plain,
    renumbered,
    rings_of,
    some_outlines,
)
from evaltex_cli.errors import quote
from evaltex_cli.old_formats.files.image_names import names_of_pictures
from evaltex_cli.records import Bools, Floats, Objects, Outlines, offsets_of
from evaltex_cli.records.rows import take

Bounds: TypeAlias = tuple[float, float, float, float]

SHORT = "{count} object[s] of fewer than three vertices left out"
BOXED = "{count} polygon[s] written as [its bounding box|their bounding boxes]"
ROUNDED = "{count} object[s] moved by rounding: the format holds whole pixels from 0 up"
SIZE_GUESSED = "{count} image[s] of unknown size got the smallest that holds [its|their] objects"
SIZES_LOST = "{count} image size[s] left out: the format holds none"
IDS_LOST = "{count} object[s] [is|are] numbered again: the format holds no IDs"
REGIONS_LOST = "{count} object[s] lost [its|their] region: the format holds none"
RUNS_LOST = (
    "{count} object[s] lost [its|their] region: other objects come between those of the region"
)
TEXTS_LOST = "{count} transcription[s] left out: the format holds none"
CONFIDENCES_LOST = "{count} confidence[s] left out: the format holds none"
DONT_CARE_LOST = (
    "{count} don't-care object[s] [counts|count] now: the format has no mark for don't care"
)
NAMES_CHANGED = "{count} image name[s] [is|are] read again without prefix or extension"
BECAME_DONT_CARE = "{count} object[s] became don't care by [its|their] transcription"
_ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".gif", ".webp")


class Shape(NamedTuple):
    """One object as a target holds it."""

    coordinates: list[float]
    """x0, y0, x1, y1 of a box; x1, y1, x2, y2, ... of a polygon."""
    text: str
    dont_care: bool
    confidence: float | None

    @property
    def is_box(self) -> bool:
        """Whether it is a box."""
        return len(self.coordinates) == 4

    @property
    def corners(self) -> list[list[float]]:
        """Its vertices [x, y]; those of a box clockwise from the upper left."""
        if self.is_box:
            x0, y0, x1, y1 = self.coordinates
            return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]
        return [
            list(pair) for pair in zip(self.coordinates[::2], self.coordinates[1::2], strict=True)
        ]

    @property
    def bounds(self) -> Bounds:
        """x0, y0, x1, y1 of its bounding box."""
        x, y = self.coordinates[::2], self.coordinates[1::2]
        return min(x), min(y), max(x), max(y)


class Run(NamedTuple):
    """Objects of one region that follow each other."""

    bounds: Bounds
    dont_care: bool
    """Whether all of them are."""
    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class Picture:
    """One image as a target holds it; without objects that it cannot hold."""

    name: str
    height: float
    width: float
    objects: Objects
    """Those of all images that are converted together."""
    begins_run: Bools
    """(n,) bool. Whether each of them is of another region than the one before it."""
    start: int
    stop: int
    """`start` and `stop`: its first object, and the one after its last."""
    whole: bool
    """Whether it holds coordinates as whole numbers from 0 up, which those of `objects` are not."""

    @property
    def count(self) -> int:
        """Number of objects."""
        return self.stop - self.start

    def shapes(self) -> Iterator[Shape]:
        """Return the objects."""
        objects = self.objects
        own = slice(self.start, self.stop)
        drawn = some_outlines(objects.outlines, own)
        if self.whole:
            drawn = _rounded(drawn)
        given = [math.nan] * self.count
        if objects.confidences is not None:
            given = objects.confidences[own].tolist()
        return map(
            Shape,
            (ring or box for ring, box in zip(rings_of(drawn), drawn.boxes.tolist(), strict=True)),
            objects.texts[own],
            objects.dont_care[own].tolist(),
            (None if math.isnan(confidence) else confidence for confidence in given),
        )

    def runs(self) -> Iterator[Run]:
        """Yield the objects of each region."""
        own = slice(self.start, self.stop)
        starts = np.flatnonzero(self.begins_run[own])
        if not len(starts):
            return
        boxes = self.objects.boxes[own]
        lows = np.minimum.reduceat(boxes[:, :2], starts)
        highs = np.maximum.reduceat(boxes[:, 2:], starts)
        dont_care = np.logical_and.reduceat(self.objects.dont_care[own], starts)
        ends = pairwise(map(int, np.append(starts, self.count) + self.start))
        for low, high, flag, (start, stop) in zip(lows, highs, dont_care, ends, strict=True):
            yield Run(self._bounds(low, high), bool(flag), self.objects.texts[start:stop])

    @property
    def all(self) -> Run:
        """All objects, of which there must be some, as if they were of one region."""
        own = slice(self.start, self.stop)
        boxes, objects = self.objects.boxes[own], self.objects
        bounds = self._bounds(boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0))
        return Run(bounds, bool(objects.dont_care[own].all()), objects.texts[own])

    def _bounds(self, low: Floats, high: Floats) -> Bounds:
        if self.whole:
            low, high = _whole(low), _whole(high)
        (x0, y0), (x1, y1) = low.tolist(), high.tolist()
        return x0, y0, x1, y1


def pictures(job: Job, blocks: Iterable[Block], holds: Holds) -> Iterator[Picture]:
    """Yield the images as a target holds them; `job` gets what is lost, and
    how many objects are written.
    """
    for block in blocks:
        _count_lost(job, block, holds)
        offsets = block.images.objects.offsets
        sizes = [known_or_smallest_size(block.images, k) for k in range(len(block.names))]
        for name, (*_, known), count in zip(block.names, sizes, np.diff(offsets), strict=True):
            job.lost[SIZE_GUESSED] += holds.sizes and not known
            if holds.needs_sizes and not known and count:
                expected = "its picture's size: give the folder of the pictures by --images"
                job.faults.add(
                    job.place, None, f"image {quote(name)} without height and width", expected
                )
        objects = _held(job, block.images.objects, holds)
        begins_run = _begins_run(job, objects, holds)
        job.written += objects.count
        for name, size, ends in zip(
            block.names, sizes, pairwise(objects.offsets.tolist()), strict=True
        ):
            yield Picture(name, *size[:2], objects, begins_run, *ends, holds.whole)


def _count_lost(job: Job, block: Block, holds: Holds) -> None:
    objects = block.images.objects
    is_gt = job.side == "gt"
    job.lost[IDS_LOST] += renumbered(objects)
    if not holds.sizes:
        job.lost[SIZES_LOST] += int((block.images.sizes > 0).all(axis=1).sum())
    if not holds.texts:
        job.lost[TEXTS_LOST] += sum(map(bool, objects.texts))
    if objects.confidences is not None and not holds.confidences:
        job.lost[CONFIDENCES_LOST] += int((~np.isnan(objects.confidences)).sum())
    if is_gt:
        job.lost[DONT_CARE_LOST] += 0 if holds.dont_care else int(objects.dont_care.sum())
        job.lost[BECAME_DONT_CARE] += sum(
            text in holds.marks and not flag
            for text, flag in zip(objects.texts, objects.dont_care.tolist(), strict=True)
        )
        if not holds.regions:
            job.lost[REGIONS_LOST] += int((objects.regions != objects.ids).sum())


def _held(job: Job, objects: Objects, holds: Holds) -> Objects:
    """Return the objects that the format holds, as it holds them but for rounding."""
    short = (objects.outlines.counts > 0) & (objects.outlines.counts < 3)
    job.lost[SHORT] += int(short.sum())
    if short.any():
        objects = take(objects, ~short)
    drawn = objects.outlines
    if holds.most_vertices is not None:
        boxed = drawn.counts > holds.most_vertices
        job.lost[BOXED] += int(boxed.sum())
        vertices = drawn.vertices[np.repeat(~boxed, drawn.counts)]
        drawn = Outlines(drawn.boxes, vertices, offsets_of(np.where(boxed, 0, drawn.counts)))
    if holds.whole:
        job.lost[ROUNDED] += _moved(drawn)
    dont_care = objects.dont_care if job.side == "gt" else np.zeros(objects.count, bool)
    return replace(objects, outlines=drawn, dont_care=dont_care)


def _moved(drawn: Outlines) -> int:
    """How many objects rounding moves."""
    rounded, counts = _rounded(drawn), drawn.counts
    moved = (drawn.boxes != rounded.boxes).any(axis=1) & (counts == 0)
    of_vertex = np.repeat(np.arange(len(counts)), counts)
    moved[of_vertex[(drawn.vertices != rounded.vertices).any(axis=1)]] = True
    return int(moved.sum())


def _rounded(drawn: Outlines) -> Outlines:
    return Outlines(_whole(drawn.boxes), _whole(drawn.vertices), drawn.offsets)


def _whole(values: Floats) -> Floats:
    return np.maximum(np.floor(values + 0.5), 0)


def _begins_run(job: Job, objects: Objects, holds: Holds) -> Bools:
    """(n,) whether each object is of another region than the one before it in its image."""
    begins = np.ones(objects.count, bool)
    if not (holds.regions and job.side == "gt"):
        return begins
    image, region = objects.image, objects.regions
    begins[1:] = (region[1:] != region[:-1]) | (image[1:] != image[:-1])
    starts = np.flatnonzero(begins)
    order = np.lexsort((region[starts], image[starts]))
    rows = starts[order]
    is_divided = (region[rows[1:]] == region[rows[:-1]]) & (image[rows[1:]] == image[rows[:-1]])
    lengths = np.diff(starts, append=objects.count)[order]
    job.lost[RUNS_LOST] += int(lengths[1:][is_divided].sum())
    return begins


def picture_files(job: Job) -> dict[str, str]:
    """Return what the pictures of images are called in a document: their names, with ``.jpg`` if no
    ending is known.

    Names that the reader will shorten, as it does those of all pictures, are counted.
    """
    files = {name: name if name.lower().endswith(_ENDINGS) else f"{name}.jpg" for name in job.names}
    again = names_of_pictures(list(files.values()))
    job.lost[NAMES_CHANGED] += sum(
        name != read for name, read in zip(job.names, again, strict=True)
    )
    return files


def flat(shape: Shape) -> list[float | int]:
    """Return x1, y1, x2, y2, ... of an object, a box by its corners, as JSON has numbers."""
    return [plain(value) for vertex in shape.corners for value in vertex]


def vertices(shape: Shape) -> list[list[float | int]]:
    """Return the vertices [x, y] of an object, a box by its corners, as JSON has numbers."""
    return [[plain(x), plain(y)] for x, y in shape.corners]
