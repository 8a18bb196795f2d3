"""What a format holds: objects are brought into its form, and what is lost is
counted by one rule for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evaltex_cli.conversion.base import (
    Block,
    Holds,
    Job,
    known_or_smallest_size,
    plain,
    renumbered,
    vertices_of,
)
from evaltex_cli.errors import quote
from evaltex_cli.formats.files.image_names import names_of_pictures
from evaltex_cli.records import Objects

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


@dataclass(frozen=True, slots=True)
class Shape:
    """One object as a target holds it."""

    coordinates: list[float]
    """x0, y0, x1, y1 of a box; x1, y1, x2, y2, ... of a polygon."""
    text: str
    dont_care: bool
    confidence: float | None
    region: int
    """The number of its region: of those that follow each other, the same only for objects of one
    region."""

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
    def bounds(self) -> tuple[float, float, float, float]:
        """x0, y0, x1, y1 of its bounding box."""
        return bounds([self])


@dataclass(frozen=True, slots=True)
class Picture:
    """One image as a target holds it; without objects that it cannot hold."""

    name: str
    height: float
    width: float
    shapes: list[Shape]

    def runs(self) -> Iterator[list[Shape]]:
        """Yield the objects of each region."""
        start = 0
        for k in range(1, len(self.shapes) + 1):
            if k == len(self.shapes) or self.shapes[k].region != self.shapes[start].region:
                yield self.shapes[start:k]
                start = k


def bounds(shapes: Sequence[Shape]) -> tuple[float, float, float, float]:
    """Return x0, y0, x1, y1 of the bounding box of some objects."""
    (x0, x1), (y0, y1) = (
        (
            min(min(shape.coordinates[axis::2]) for shape in shapes),
            max(max(shape.coordinates[axis::2]) for shape in shapes),
        )
        for axis in (0, 1)
    )
    return x0, y0, x1, y1


def pictures(job: Job, blocks: Iterable[Block], holds: Holds) -> Iterator[Picture]:
    """Yield the images as a target holds them; `job` gets what is lost, and
    how many objects are written.
    """
    for block in blocks:
        _count_lost(job, block, holds)
        for k, name in enumerate(block.names):
            height, width, known = known_or_smallest_size(block.images, k)
            job.lost[SIZE_GUESSED] += holds.sizes and not known
            if (
                holds.needs_sizes
                and not known
                and block.images.objects.offsets[k] < block.images.objects.offsets[k + 1]
            ):
                expected = "its picture's size: give the folder of the pictures by --images"
                job.faults.add(
                    job.place, None, f"image {quote(name)} without height and width", expected
                )
            yield Picture(name, height, width, list(_shapes(job, block.images.objects, k, holds)))


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


def _shapes(job: Job, objects: Objects, image: int, holds: Holds) -> Iterator[Shape]:
    has_regions = holds.regions and job.side == "gt"
    seen: set[int] = set()
    before: int | None = None
    is_divided = False
    for i in range(int(objects.offsets[image]), int(objects.offsets[image + 1])):
        coordinates = _coordinates(job, objects, i, holds)
        if coordinates is None:
            continue
        region = int(objects.regions[i]) if has_regions else i
        if region != before:
            is_divided = region in seen
            seen.add(region)
            before = region
        job.lost[RUNS_LOST] += is_divided
        job.written += 1
        confidence = None if objects.confidences is None else float(objects.confidences[i])
        yield Shape(
            coordinates,
            objects.texts[i],
            job.side == "gt" and bool(objects.dont_care[i]),
            None if confidence is None or math.isnan(confidence) else confidence,
            region,
        )


def _coordinates(job: Job, objects: Objects, i: int, holds: Holds) -> list[float] | None:
    """Return the coordinates of an object as the format holds them; None if it does not."""
    vertices = vertices_of(objects, i)
    if vertices is not None and len(vertices) < 6:
        job.lost[SHORT] += 1
        return None
    found = objects.boxes[i].tolist() if vertices is None else vertices
    if (
        vertices is not None
        and holds.most_vertices is not None
        and len(vertices) > 2 * holds.most_vertices
    ):
        job.lost[BOXED] += 1
        found = objects.boxes[i].tolist()
    if not holds.whole:
        return found
    whole = [float(max(math.floor(value + 0.5), 0)) for value in found]
    job.lost[ROUNDED] += whole != found
    return whole


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
