"""Objects collected one by one from documents that are parsed as a whole (XML, JSON, .mat), as an
indexed source.

An image takes each object apart: it keeps numbers and text in buffers, not records, so that a
document of many objects takes little more memory than its text. `columns` reads the buffers of many
images in bulk.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import FaultLog, InputError, Position, Steps, TangledError, quote
from evaltex_cli.formats.base import ImageText, Place, ReadImages, Source
from evaltex_cli.formats.confidences import scale_of
from evaltex_cli.formats.files.image_names import NAME_TOO_LONG, is_too_long, leaves_result_folder
from evaltex_cli.geometry import outlines
from evaltex_cli.records import (
    ANY_TYPE,
    Bools,
    Floats,
    Ints,
    Objects,
    Texts,
    expanded,
    offsets_of,
    stretches,
)

BYTES_PER_OBJECT = 64
"""What an object weighs in a batch, about as much as its line in a text file."""
ROW = np.dtype(
    [
        ("id", "i8"),
        ("region", "i8"),
        ("confidence", "f8"),
        ("type", "i8"),
        ("coordinates", "i4"),
        ("text", "i4"),
        ("steps", "i4"),
        ("line", "i4"),
        ("column", "i4"),
        ("dont_care", "?"),
        ("has_id", "?"),
        ("has_region", "?"),
        ("has_pixels", "?"),
    ]
)
"""An object among the rows of its image: how many coordinates it has, and bytes of its text and of
its steps in JSON.

`line` is 0 without a position, `column` 0 where it is not known; `has_pixels` says that four pixels
come after its coordinates.
"""
_PACK = Struct("=qqdqiiiii????")
assert _PACK.size == ROW.itemsize


@dataclass(slots=True)
class CollectedObject:
    """One object; four coordinates are x0, y0, x1, y1, more are vertices.

    `id` None stands for its number in the image, `region` None for its ID, `pixels` None for the
    coordinates of a box. `at` is its place in the file: a position, or what leads to it in
    JSON; empty where the file is no text.
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


_NO_BYTES, _NO_NUMBERS = bytearray(), array("d")


@dataclass(slots=True)
class CollectedImage:
    """One image and its objects; `place` and `at` are where messages find it, height and width 0
    where unknown.

    Attributes
    ----------
    in_fractions : bool
        Coordinates are fractions of the page's width and height, whose size in pixels is not known.
    variant : object
        Which of several ways to read its document is wanted, for formats that have them, such as
        words or lines.
    rows : bytearray
        A `ROW` for each object.
    numbers : array of float64
        Their coordinates and pixels, one object after the other.
    strings : bytearray
        Their texts in UTF-8, each with the steps to the object as JSON after it.
    """

    name: str
    place: str
    at: Position | Steps = ()
    height: float = 0.0
    width: float = 0.0
    in_fractions: bool = False
    variant: Any = None
    rows: bytearray = field(init=False, default_factory=lambda: _NO_BYTES)
    numbers: array[float] = field(init=False, default_factory=lambda: _NO_NUMBERS)
    strings: bytearray = field(init=False, default_factory=lambda: _NO_BYTES)

    @property
    def count(self) -> int:
        """Number of objects."""
        return len(self.rows) // _PACK.size

    def add(self, one: CollectedObject) -> None:
        """Add an object, after those that the image has."""
        text = one.text.encode("utf-8", "surrogatepass")
        steps, line, column = b"", 0, 0
        if isinstance(one.at, Position):
            line, column = one.at.line, one.at.column or 0
        elif one.at:
            steps = json.dumps(one.at, separators=(",", ":")).encode()
        row = _PACK.pack(
            one.id or 0,
            one.region or 0,
            float("nan") if one.confidence is None else one.confidence,
            one.type,
            *(len(one.coordinates), len(text), len(steps), line, column),
            *(one.dont_care, one.id is not None, one.region is not None, one.pixels is not None),
        )
        self.extend(
            row, array("d", (*one.coordinates, *(one.pixels or ()))).tobytes(), text + steps
        )

    def extend(self, rows: bytes, numbers: bytes, strings: bytes) -> None:
        """Add objects that are taken apart, as the attributes have them, numbers as their bytes."""
        if not self.rows:  # many images have no objects, and share the empty buffers
            self.rows, self.numbers, self.strings = bytearray(), array("d"), bytearray()
        self.rows += rows
        self.numbers.frombytes(numbers)
        self.strings += strings

    def with_objects(self, objects: Iterable[CollectedObject]) -> CollectedImage:
        """Add objects, and return the image."""
        for one in objects:
            self.add(one)
        return self

    def fault(self, faults: FaultLog, found: str, expected: str) -> None:
        """Add a fault of the image to a log."""
        if isinstance(self.at, Position):
            faults.add(self.place, self.at.line, found, expected, self.at.column)
        else:
            faults.add(self.place, None, found, expected, where=self.at)


def refuse_bad_names(images: Sequence[CollectedImage], faults: FaultLog) -> None:
    """Add a fault for each image name that repeats, is empty, too long or not
    Unicode, or leaves the result folder.
    """
    first: dict[str, CollectedImage] = {}
    for image in images:
        if is_too_long(image.name):
            image.fault(faults, *NAME_TOO_LONG)
        elif (
            not image.name
            or leaves_result_folder(image.name)
            or any("\ud800" <= c <= "\udfff" for c in image.name)
        ):
            expected = (
                "a name that stays in the result folder: no absolute path, drive letter,"
                " '..' or control character"
            )
            image.fault(faults, f"image name {quote(image.name)}", expected)
        if first.setdefault(image.name, image) is not image:
            image.fault(faults, f"image name {quote(image.name)} again", "image names used once")


def settle_confidences(path: Path, images: Sequence[CollectedImage]) -> tuple[str, ...]:
    """Divide confidences that are percent by 100, and say of which scale
    those are that are not in [0, 1].
    """
    columns = [np.frombuffer(image.rows, ROW)["confidence"] for image in images if image.rows]
    known = [column[~np.isnan(column)] for column in columns]
    limits = [(column.min(), column.max()) for column in known if len(column)]
    if not limits:
        return ()
    scale = scale_of(float(min(low for low, _ in limits)), float(max(high for _, high in limits)))
    if scale.divisor != 1:
        for column in columns:
            np.divide(column, scale.divisor, out=column)
    warning = scale.warning()
    return (f"{path}: {warning}",) if warning else ()


def source(
    path: str,
    format_name: str,
    sha256: str,
    images: Sequence[CollectedImage],
    warnings: tuple[str, ...] = (),
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
        weights=np.array([BYTES_PER_OBJECT * image.count for image in images], np.int64),
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
    return (Place(image.place, image.at, _ObjectsAt(image)) for image in images)


class _ObjectsAt(Sequence[Position | Steps]):
    """Where the objects of an image are; each is made when it is asked for."""

    def __init__(self, image: CollectedImage) -> None:
        self._strings, self._rows = image.strings, np.frombuffer(image.rows, ROW)
        self._stops = np.cumsum(self._rows["text"] + self._rows["steps"], dtype=np.int64)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        row, stop = self._rows[index], int(self._stops[index])
        if row["line"]:
            return Position(int(row["line"]), int(row["column"]) or None)
        steps = self._strings[stop - int(row["steps"]) : stop]
        return tuple(json.loads(steps)) if steps else ()


def columns(images: Sequence[CollectedImage]) -> ReadImages:
    """Bring collected images into columns, in their order."""
    rows = np.frombuffer(bytearray().join([image.rows for image in images]), ROW)
    counts = np.array([image.count for image in images], np.int64)
    numbers, pixels = _coordinates(images, rows)
    try:
        drawn, repairs = outlines.from_numbers(
            numbers, rows["coordinates"].astype(np.int64), rows["coordinates"] == 4
        )
    except TangledError as tangled:
        raise InputError(f"{_place(images, counts, tangled.ring)}: {tangled}") from tangled
    ids = np.where(rows["has_id"], rows["id"], expanded(counts)[1] + 1)
    own = Objects(
        offsets=offsets_of(counts),
        ids=ids,
        outlines=drawn,
        regions=np.where(rows["has_region"], rows["region"], ids),
        dont_care=rows["dont_care"].copy(),
        texts=_texts(images, rows),
        confidences=None if np.isnan(rows["confidence"]).all() else rows["confidence"].copy(),
        pixels=None
        if pixels is None
        else np.where(rows["has_pixels"][:, None], pixels, drawn.boxes),
        types=None if (rows["type"] == ANY_TYPE).all() else rows["type"].copy(),
    )
    sizes = np.array([(image.height, image.width) for image in images], np.float64).reshape(-1, 2)
    in_fractions = np.array([image.in_fractions for image in images], dtype=bool)
    return ReadImages(
        sizes, own, repairs, in_fractions=in_fractions if in_fractions.any() else None
    )


def _coordinates(
    images: Sequence[CollectedImage], rows: NDArray[np.void]
) -> tuple[Floats, Floats | None]:
    """Return the coordinates of all objects, and (n, 4) pixels of those that
    have them; None if no object has.
    """
    numbers = np.frombuffer(bytearray().join([image.numbers for image in images]), np.float64)
    has_pixels: Bools = rows["has_pixels"]
    if not has_pixels.any():
        return numbers, None
    counts = rows["coordinates"].astype(np.int64)
    starts = offsets_of(counts + 4 * has_pixels)[:-1]
    pixels = np.zeros((len(rows), 4))
    pixels[has_pixels] = numbers[(starts + counts)[has_pixels, None] + np.arange(4)]
    return numbers[stretches(starts, counts)], pixels


def _texts(images: Sequence[CollectedImage], rows: NDArray[np.void]) -> Texts:
    starts = offsets_of(rows["text"].astype(np.int64) + rows["steps"])[:-1]
    return Texts(b"".join([image.strings for image in images]), starts, starts + rows["text"])


def _place(images: Sequence[CollectedImage], counts: Ints, row: int) -> str:
    """Return where an object of some images is, as messages begin with it."""
    image = int(np.searchsorted(np.cumsum(counts), row, side="right"))
    place = next(places([images[image]]))
    at = place.objects[row - int(counts[:image].sum())]
    return f"{place.file}:{at.line}" if isinstance(at, Position) else place.file
