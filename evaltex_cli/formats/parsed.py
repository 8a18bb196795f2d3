"""Objects collected one by one from documents that are parsed as a whole (XML, JSON, .mat), as an indexed source."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from evaltex_cli.errors import FaultLog, FormatError, InputError, Position, Steps, TangledError, quote
from evaltex_cli.formats.base import ImageText, Place, ReadImages, Source
from evaltex_cli.formats.files.image_names import NAME_TOO_LONG, is_too_long, leaves_result_folder
from evaltex_cli.geometry import outlines
from evaltex_cli.records import (
    ANY_TYPE,
    Floats,
    GeometryCounts,
    Ints,
    Objects,
    Outlines,
    concatenate_texts,
    expanded,
    offsets_of,
)

BYTES_PER_OBJECT = 64
"""What an object weighs in a batch, about as much as its line in a text file."""


@dataclass(slots=True)
class CollectedObject:
    """One object; four coordinates are x0, y0, x1, y1, more are vertices.

    `id` None stands for its number in the image, `region` None for its ID, `pixels` None for the coordinates of a box.
    `at` is where it stands in its file: a position, or what leads to it in JSON; empty where the file is no text.
    """

    coordinates: Sequence[float]
    text: str = ""
    dont_care: bool = False
    id: int | None = None
    region: int | None = None
    confidence: float | None = None
    pixels: tuple[float, float, float, float] | None = None
    type: int = ANY_TYPE
    at: Position | Steps = ()

    def __post_init__(self) -> None:
        self.coordinates = array("d", self.coordinates)  # 8 bytes for each, not the 32 of a list of numbers


@dataclass(slots=True)
class CollectedImage:
    """One image and its objects; `place` and `at` are where messages find it, height and width 0 where unknown."""

    name: str
    place: str
    at: Position | Steps = ()
    height: float = 0.0
    width: float = 0.0
    objects: list[CollectedObject] = field(default_factory=list)

    def add(self, one: CollectedObject) -> None:
        """Add an object, after those that the image has."""
        self.objects.append(one)

    def fault(self, faults: FaultLog, found: str, expected: str) -> None:
        """Add a fault of the image to a log."""
        if isinstance(self.at, Position):
            faults.add(self.place, self.at.line, found, expected, self.at.column)
        else:
            faults.add(self.place, None, found, expected, where=self.at)


def polygon(vertices: Sequence[float], dont_care: bool, where: Steps = ()) -> Sequence[float]:
    """Return x1, y1, x2, y2, ... as an object's coordinates; fewer than three vertices are a don't care's only.

    `where` leads to the vertices in a JSON object.

    Raises
    ------
    FormatError
        When they are no polygon.
    """
    if len(vertices) % 2:
        raise FormatError(f"{len(vertices)} coordinates", "an even count: x1,y1,x2,y2,...", where)
    if len(vertices) >= 6:
        return vertices
    if not dont_care or not vertices:
        raise FormatError(f"{len(vertices) // 2} vertices", "three or more", where)
    return [*vertices, *vertices[-2:], *vertices[-2:]][:6]


def box(x: float, y: float, width: float, height: float, *, where: Steps = ()) -> tuple[float, float, float, float]:
    """Return x, y, width, height as an object's coordinates.

    Raises
    ------
    FormatError
        When width or height is below 0.
    """
    if width < 0 or height < 0:
        raise FormatError(f"width {width:g}, height {height:g}", "both at least 0", where)
    return x, y, x + width, y + height


def refuse_bad_names(images: Sequence[CollectedImage], faults: FaultLog) -> None:
    """Add a fault for each image name that repeats, is empty, too long or not Unicode, or leaves the result folder."""
    first: dict[str, CollectedImage] = {}
    for image in images:
        if is_too_long(image.name):
            image.fault(faults, *NAME_TOO_LONG)
        elif not image.name or leaves_result_folder(image.name) or any("\ud800" <= c <= "\udfff" for c in image.name):
            expected = (
                "a name that stays in the result folder: no absolute path, drive letter, '..' or control character"
            )
            image.fault(faults, f"image name {quote(image.name)}", expected)
        if first.setdefault(image.name, image) is not image:
            image.fault(faults, f"image name {quote(image.name)} again", "image names used once")


def source(
    path: str, format_name: str, sha256: str, images: Sequence[CollectedImage], warnings: tuple[str, ...] = ()
) -> Source:
    """Return the collected images as a source.

    Parameters
    ----------
    images : sequence of CollectedImage
        Names are unique and safe (`refuse_bad_names`); coordinates are finite.
    """
    return Source(
        path=path,
        format=format_name,
        sha256=sha256,
        names=[image.name for image in images],
        weights=np.array([BYTES_PER_OBJECT * len(image.objects) for image in images], np.int64),
        content=_Collected(images),
        warnings=warnings,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Collected:
    """Collected images; a `base.Content`."""

    images: Sequence[CollectedImage]

    def part(self, positions: Ints) -> _Collected:
        """See `base.Content`."""
        return _Collected([self.images[k] for k in positions.tolist()])

    def read(self) -> ReadImages:
        """See `base.Content`."""
        return columns(self.images)

    def places(self) -> Iterator[Place]:
        """See `base.Content`."""
        return places(self.images)

    def texts(self) -> Iterator[ImageText]:
        """See `base.Content`."""
        return iter(())


def places(images: Sequence[CollectedImage]) -> Iterator[Place]:
    """Yield where collected images and their objects are."""
    return (Place(image.place, image.at, [one.at for one in image.objects]) for image in images)


def columns(images: Sequence[CollectedImage]) -> ReadImages:
    """Bring collected images into columns, in their order."""
    objects = [one for image in images for one in image.objects]
    counts = np.array([len(image.objects) for image in images], np.int64)
    ids, regions = expanded(counts)[1] + 1, np.zeros(len(objects), np.int64)
    for k, one in enumerate(objects):
        if one.id is not None:
            ids[k] = one.id
        regions[k] = ids[k] if one.region is None else one.region
    confidences = np.array([one.confidence for one in objects], np.float64)  # NaN for None
    try:
        drawn, repairs = _outlines(objects)
    except TangledError as tangled:
        place = [image.place for image in images for _ in image.objects][tangled.ring]
        at = objects[tangled.ring].at
        where = f"{place}:{at.line}" if isinstance(at, Position) else place
        raise InputError(f"{where}: {tangled}") from tangled
    columns = Objects(
        offsets=offsets_of(counts),
        ids=ids,
        outlines=drawn,
        regions=regions,
        dont_care=np.array([one.dont_care for one in objects], dtype=bool),
        texts=concatenate_texts([one.text for one in objects]),
        confidences=None if np.isnan(confidences).all() else confidences,
        pixels=_pixels(objects, drawn.boxes),
        types=_types(objects),
    )
    sizes = np.array([(image.height, image.width) for image in images], np.float64).reshape(-1, 2)
    return ReadImages(sizes, columns, repairs)


def _outlines(objects: Sequence[CollectedObject]) -> tuple[Outlines, GeometryCounts]:
    packed = cast("list[array[float]]", [one.coordinates for one in objects])
    numbers = np.frombuffer(bytearray().join(packed), np.float64)
    counts = np.array([len(one.coordinates) for one in objects], np.int64)
    return outlines.from_numbers(numbers, counts, counts == 4)


def _pixels(objects: Sequence[CollectedObject], boxes: Floats) -> Floats | None:
    some = [k for k, one in enumerate(objects) if one.pixels is not None]
    if not some:
        return None
    result = boxes.copy()
    result[some] = [one.pixels for one in objects if one.pixels is not None]
    return result


def _types(objects: Sequence[CollectedObject]) -> Ints | None:
    types = np.array([one.type for one in objects], np.int64)
    return None if (types == ANY_TYPE).all() else types
