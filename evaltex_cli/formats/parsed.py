"""Objects collected one by one from documents that are parsed as a whole (XML, JSON, .mat), as an indexed source."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from evaltex_cli.errors import FaultLog, FormatError, Position, Steps
from evaltex_cli.records import ANY_TYPE, Floats, Ints


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
