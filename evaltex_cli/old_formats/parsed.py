"""Objects collected one by one from documents that are parsed as a whole (XML, JSON, .mat).

An image takes each object apart: it keeps numbers and text in buffers, not records. `collected` has
the buffers of many images.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import Any

import numpy as np

from evaltex_cli.errors import Steps
from evaltex_cli.records import ANY_TYPE

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
        ("dont_care", "?"),
        ("has_id", "?"),
        ("has_region", "?"),
        ("has_pixels", "?"),
    ]
)
"""An object among the rows of its image: how many coordinates it has, and bytes of its text and of
its steps in JSON.

`line` is 0 where there are steps, or nothing is known; `has_pixels` says that four pixels come
after its coordinates.
"""
_PACK = Struct("=qqdqiiii????")
assert _PACK.size == ROW.itemsize


@dataclass(slots=True)
class CollectedObject:
    """One object; four coordinates are x0, y0, x1, y1, more are vertices.

    `id` None stands for its number in the image, `region` None for its ID, `pixels` None for the
    coordinates of a box. `at` is its line in the file, or what leads to it in JSON; empty where the
    file is no text.
    """

    coordinates: Sequence[float]
    text: str = ""
    dont_care: bool = False
    id: int | None = None
    region: int | None = None
    confidence: float | None = None
    pixels: tuple[float, float, float, float] | None = None
    type: int = ANY_TYPE
    at: int | Steps = ()


def steps_of(at: int | Steps, image: int | Steps = ()) -> tuple[bytes, int]:
    """Return a place as steps in JSON and line, 0 for none. Of steps that go on from those to its
    image, those after them are returned, with a comma for the bracket.
    """
    if isinstance(at, int):
        return b"", at
    before = 0 if isinstance(image, int) else len(image)
    if before and len(at) > before and at[:before] == image:
        return b"," + _JSON(at[before:]).encode()[1:], 0
    return _JSON(at).encode() if at else b"", 0


def place_of(line: int, steps: bytes | bytearray, image: bytes | bytearray = b"") -> int | Steps:
    """Return the place that `steps_of` took apart; `image` are the steps to its image."""
    if line:
        return line
    return tuple(json.loads(image[:-1] + steps if steps[:1] == b"," else steps)) if steps else ()


_NO_BYTES, _NO_NUMBERS = bytearray(), array("d")
_JSON = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(slots=True)
class CollectedImage:
    """One image and its objects; `place` and `at` are where messages find it, height and width 0
    where unknown.
    """

    name: str
    place: str
    at: int | Steps = ()
    height: float = 0.0
    width: float = 0.0
    in_fractions: bool = False
    """Coordinates are fractions of the page's width and height, whose size in pixels is not known.
    """
    variant: Any = None
    """Which of several ways to read its document is wanted, for formats that have them, such as
    words or lines."""
    rows: bytearray = field(init=False, default_factory=lambda: _NO_BYTES)
    """A `ROW` for each object."""
    numbers: array[float] = field(init=False, default_factory=lambda: _NO_NUMBERS)
    """Array of float64. Their coordinates and pixels, one object after the other."""
    strings: bytearray = field(init=False, default_factory=lambda: _NO_BYTES)
    """Their texts in UTF-8, each with the steps to the object as JSON after it: without those to
    the image, which may be long, if these come first (`steps_of`)."""

    @property
    def count(self) -> int:
        """Number of objects."""
        return len(self.rows) // _PACK.size

    def add(self, one: CollectedObject) -> None:
        """Add an object, after those that the image has."""
        text = one.text.encode("utf-8", "surrogatepass")
        steps, line = steps_of(one.at, self.at)
        row = _PACK.pack(
            one.id or 0,
            one.region or 0,
            float("nan") if one.confidence is None else one.confidence,
            one.type,
            *(len(one.coordinates), len(text), len(steps), line),
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


class ObjectsAt(Sequence[int | Steps]):
    """Where the objects in some rows are; each is looked up when it is asked for."""

    def __init__(self, rows: range, place_of_row: Callable[[int], int | Steps]) -> None:
        self._rows, self._place_of_row = rows, place_of_row

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        return self._place_of_row(self._rows[index])
