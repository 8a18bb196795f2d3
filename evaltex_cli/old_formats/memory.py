"""Objects in memory as an input: what is evaluated from arrays is read,
paired and measured as files are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import FaultLog, InputError, counted
from evaltex_cli.geometry.picture_runs import PictureRuns
from evaltex_cli.old_formats.base import Format, Place, ReadImages, Side, Source
from evaltex_cli.records import Floats, GeometryCounts, Ints, Objects
from evaltex_cli.records.rows import NOTHING, concatenate

BYTES_OF_OBJECT = 64
"""What an object weighs when images are cut into batches: about a line of text."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ImageObjects(Objects):
    """The objects of one image in memory, made by `evaltex_cli.image_objects`."""

    repairs: GeometryCounts = field(default_factory=GeometryCounts)
    """How many polygons were repaired, and how many objects have no area."""
    picture: PictureRuns | None = None
    """The pixels of the objects, labelled by their IDs, if they are masks."""

    def __repr__(self) -> str:
        polygons = int((self.outlines.counts > 0).sum())
        counts = {
            "{count} mask[s]": self.count if self.picture else 0,
            "{count} box[es]": 0 if self.picture else self.count - polygons,
            "{count} polygon[s]": polygons,
            "{count} don't care": int(self.dont_care.sum()),
        }
        shown = ", ".join(counted(count, what) for what, count in counts.items() if count)
        return f"ImageObjects({shown or 'nothing'})"


class _Content(NamedTuple):
    """The images of one side."""

    side: Side
    images: Sequence[Objects]
    sizes: Floats

    def part(self, positions: Ints) -> _Content:
        images = [self.images[k] for k in positions.tolist()]
        return _Content(self.side, images, self.sizes[positions])

    def read(self) -> ReadImages:
        made = [image for image in self.images if isinstance(image, ImageObjects)]
        pictures = [
            image.picture if isinstance(image, ImageObjects) else None for image in self.images
        ]
        return ReadImages(
            self.sizes,
            concatenate(self.images) if self.images else NOTHING,
            sum((image.repairs for image in made), GeometryCounts()),
            pictures=pictures if any(picture is not None for picture in pictures) else None,
        )

    def places(self) -> Iterator[Place]:
        return (Place(self.side, (), ()) for _ in self.images)


def source(side: Side, images: Mapping[str, Objects], sizes: Mapping[str, Floats]) -> Source:
    """Return images in memory as an input.

    Parameters
    ----------
    images : mapping
        Name -> its objects.
    sizes : mapping
        Name -> (2,) height and width in pixels, as far as they are known.
    """
    names, unknown = list(images), np.zeros(2)
    known = np.array([sizes.get(name, unknown) for name in names], np.float64).reshape(-1, 2)
    weights = np.array([1 + BYTES_OF_OBJECT * image.count for image in images.values()], np.int64)
    content = _Content(side, list(images.values()), known)
    return Source(side, "memory", "", names, weights, content)


def _index(path: Path, side: Side, faults: FaultLog) -> Source:
    raise InputError(f"{path}: memory is the format of arrays, not of files; leave it out")


FORMAT = Format(
    "memory", "arrays in Python", lambda path: False, _index, why=lambda path: "arrays in memory"
)
