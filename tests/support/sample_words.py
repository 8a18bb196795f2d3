"""The words of one small data set, of which all samples are made, and the shapes of their boxes.

Image 1 has the words of `WORDS`, the last of them don't care where the format has that, image 2 has
one. The detections are `FOUND`: the first word, one on the don't-care word, and one in each image
where nothing is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Box = tuple[int, int, int, int]
WORDS: list[list[tuple[Box, str]]] = [
    [((10, 10, 60, 30), "one"), ((70, 10, 120, 30), "two, 2"), ((10, 50, 60, 70), "###")],
    [((20, 20, 100, 40), "three")],
]
FOUND: list[list[tuple[Box, float]]] = [
    [((10, 10, 60, 30), 0.9), ((200, 200, 260, 220), 0.25), ((10, 50, 60, 70), 0.5)],
    [((200, 100, 240, 120), 0.75)],
]
SIZES = [(640, 480), (320, 240)]


@dataclass(frozen=True)
class Sample:
    """Files of both sides; none where the data set has no form for that side.

    `has_dont_care` is whether the ground truth can say that an object is.
    """

    gt: Mapping[str, str | bytes]
    det: Mapping[str, str | bytes] = field(default_factory=dict)
    gt_format: str | None = None
    det_format: str | None = None
    has_dont_care: bool = True
    has_confidences: bool = False
    many_in_one: bool = False
    level: str | None = None
    """What it is read at, of formats with levels; None for the default."""

    def format(self, side: str) -> str | None:
        return self.gt_format if side == "gt" else self.det_format

    def files(self, side: str) -> Mapping[str, str | bytes]:
        return self.gt if side == "gt" else self.det


def corners(box: Box) -> list[list[int]]:
    x0, y0, x1, y1 = box
    return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]


def curve(box: Box) -> list[list[int]]:
    """Fourteen vertices, seven above and seven below, as CTW1500 has them."""
    x0, y0, x1, y1 = box
    xs = [*range(x0, x0 + 6), x1]
    return [*([x, y0] for x in xs), *([x, y1] for x in reversed(xs))]


def flat(vertices: list[list[int]]) -> list[int]:
    return [value for point in vertices for value in point]


def comma(values: list[int]) -> str:
    return ",".join(map(str, values))


def quad(box: Box) -> str:
    return comma(flat(corners(box)))


def bent(box: Box) -> str:
    return comma(flat(curve(box)))


def ltrb(box: Box) -> str:
    return comma(list(box))


def cared(words: list[tuple[Box, str]]) -> list[tuple[Box, str]]:
    return [(box, text) for box, text in words if text != "###"]


def json_of(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)


def xy(box: Box, x: str = "x", y: str = "y") -> list[dict[str, float]]:
    return [{x: vertex[0], y: vertex[1]} for vertex in corners(box)]


def each(name: str, made: Any) -> dict[str, str]:
    """A file an image, made by ``made(k)`` for k = 0, 1."""
    return {name.format(k + 1): made(k) for k in range(len(WORDS))}


def words_of(k: int) -> list[tuple[Box, str, float | None]]:
    return [(box, text, None) for box, text in cared(WORDS[k])]


def found_of(k: int) -> list[tuple[Box, str, float | None]]:
    return [(box, "x", confidence) for box, confidence in FOUND[k]]
