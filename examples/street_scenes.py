"""Four street scenes: what is written in them, and what a text detector might find.

`draw.py` draws them. Letters are strokes; a line of text maps (s, v), pixels along it and down from
its top, to the picture, straight, tilted, or on an arc.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from PIL import ImageDraw

# Letters as strokes through points xy, x from 0 to 4, y from 0 to 6.
STROKES = {
    "A": "06 20 46|14 34", "B": "00 06 36 45 44 33 03|33 42 41 30 00", "C": ("41 30 10 01 05 16 36" " 45"),
    "D": "00 06 26 44 42 20 00", "E": "40 00 06 46|03 33", "F": "40 00 06|03 33", "G": ("41 30 10" " 01" " 05" " 16" " 36" " 45" " 43" " 23"),
    "H": "00 06|40 46|03 43", "I": "00 06", "K": "00 06|40 03 46", "L": "00 06 46", "M": ("06 00 23" " 40" " 46"),
    "N": "06 00 46 40", "O": "10 30 41 45 36 16 05 01 10", "P": "06 00 30 41 42 33 03",
    "R": "06 00 30 41 42 33 03|23 46", "S": "41 30 10 01 02 13 33 44 45 36 16 05", "T": ("00 40|20" " 26"),
    "U": "00 05 16 36 45 40", "V": "00 26 40",
    "W": "00 16 23 36 40", "X": "00 46|40 06", "Y": "00 23 40|23 26",
    "0": "10 30 41 45 36 16 05 01 10", "1": "01 10 16", "2": "01 10 30 41 42 06 46",
    "3": "01 10 30 41 42 33 13|33 44 45 36 16 05", "4": "36 30 04 44", "5": ("40 00 03 33 44 45 36" " 16" " 05"),
    "6": "41 30 10 01 05 16 36 45 44 33 03", "7": "00 40 16", "8": ("13 33 42 41 30 10 01 02 13 04" " 05" " 16" " 36" " 45" " 44" " 33"),
    "9": "05 16 36 45 41 30 10 01 02 13 43",
}  # fmt: skip
LETTER_HEIGHT, LETTER_GAP, WORD_GAP = 7, 1, 4  # in strokes' widths

Point = tuple[float, float]
Box = tuple[int, int, int, int]
Colour = str


@dataclass(frozen=True)
class Letter:
    """A letter of a line: its character, the word it belongs to, and where it
    starts and stops along the line.
    """

    char: str
    word: int
    s0: float
    s1: float


@dataclass(frozen=True)
class Line:
    """A line of text, one region, with its top left corner at (x, y).

    `stroke` is the strokes' width in pixels, `angle` how far it rises and `bend` how far it turns
    over its length, in degrees; `reject` marks a line that is don't care.
    """

    text: str
    x: float
    y: float
    stroke: float
    colour: Colour
    angle: float = 0
    bend: float = 0
    reject: bool = False

    @cached_property
    def letters(self) -> list[Letter]:
        """The letters from left to right, blanks left out."""
        letters, s, word = [], 0.0, 0
        for char in self.text:
            if char == " ":
                s, word = s + (WORD_GAP - LETTER_GAP) * self.stroke, word + 1
                continue
            width = (
                max(int(point[0]) for point in STROKES[char].replace("|", " ").split()) + 1
            ) * self.stroke
            letters.append(Letter(char, word, s, s + width))
            s += width + LETTER_GAP * self.stroke
        return letters

    @property
    def length(self) -> float:
        return self.letters[-1].s1

    @property
    def height(self) -> float:
        return LETTER_HEIGHT * self.stroke

    def picture(self, s: float, v: float) -> Point:
        """The picture's point of (s, v)."""
        if self.bend:
            radius, turn = self._radius, (s - self.length / 2) / self._radius
            s, v = (
                self.length / 2 + (radius - v) * math.sin(turn),
                radius - (radius - v) * math.cos(turn),
            )
        cos, sin = math.cos(math.radians(self.angle)), math.sin(math.radians(self.angle))
        return self.x + s * cos + v * sin, self.y - s * sin + v * cos

    def place(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(s, v) of the picture's points; the inverse of `picture`."""
        cos, sin = math.cos(math.radians(self.angle)), math.sin(math.radians(self.angle))
        dx, dy = x - self.x, y - self.y
        s, v = dx * cos - dy * sin, dx * sin + dy * cos
        if self.bend:
            dx, dy = s - self.length / 2, v - self._radius
            s, v = (
                self.length / 2 + self._radius * np.arctan2(dx, -dy),
                self._radius - np.hypot(dx, dy),
            )
        return s, v

    def outline(self, s0: float, s1: float, v0: float, v1: float) -> list[Point]:
        """Vertices around a stretch of the line, clockwise from its top left corner."""
        steps = max(1, round((s1 - s0) / 25)) if self.bend else 1
        along = [s0 + (s1 - s0) * k / steps for k in range(steps + 1)]
        return [self.picture(s, v0) for s in along] + [self.picture(s, v1) for s in reversed(along)]

    @property
    def _radius(self) -> float:
        return self.length / math.radians(self.bend)


@dataclass(frozen=True)
class Found:
    """A detection of consecutive letters of a line, or of several lines in one.

    Parameters
    ----------
    texts : the letters, of each line.
    grown : how far the shape reaches beyond them, to the left, top, right and bottom.
    bolder : how far the mask reaches beyond their strokes.
    joined, broken : consecutive letters found as one character; a letter found as two.
    read : what the detector reads, where it is not the letters.
    """

    texts: tuple[str, ...]
    grown: tuple[float, float, float, float] = (0, 0, 0, 0)
    bolder: float = 0
    joined: str = ""
    broken: str = ""
    read: str = ""
    confidence: float = 0.95

    @property
    def transcription(self) -> str:
        return self.read or " ".join(self.texts)


@dataclass(frozen=True)
class Mistaken:
    """A detection where there is no text."""

    box: Box
    read: str = ""
    confidence: float = 0.5

    @property
    def transcription(self) -> str:
        return self.read


Detection = Found | Mistaken


@dataclass(frozen=True)
class Scene:
    """One image; `background` draws all but the text, onto a picture scaled
    by the factor it gets.
    """

    name: str
    width: int
    height: int
    background: Callable[[ImageDraw.ImageDraw, int], None]
    lines: tuple[Line, ...] = ()
    detections: tuple[Detection, ...] = ()

    def line_of(self, text: str) -> Line:
        return next(line for line in self.lines if text in line.text)

    def letters_of(self, text: str) -> list[Letter]:
        """The letters of a line in which `text` is written."""
        line = self.line_of(text)
        start = len(line.text[: line.text.index(text)].replace(" ", ""))
        return line.letters[start : start + len(text.replace(" ", ""))]


# The scenes ---------------------------------------------------------------------------------------


def scaled(points: Iterable[float], scale: int) -> list[float]:
    return [value * scale for value in points]


def street_sign(draw: ImageDraw.ImageDraw, scale: int) -> None:
    for y in range(0, 180, 20):
        draw.rectangle(scaled((0, y, 400, y + 18), scale), "#d9c7a8")
        for x in range(y % 40, 400, 60):
            draw.rectangle(scaled((x, y, x + 2, y + 18), scale), "#c4b190")
    draw.rounded_rectangle(scaled((24, 24, 376, 124), scale), 8 * scale, "#f4f4ee")
    draw.rounded_rectangle(scaled((28, 28, 372, 120), scale), 6 * scale, "#1c4f9c")
    draw.rectangle(scaled((140, 136, 260, 160), scale), "#cfc6b4")


def shop_front(draw: ImageDraw.ImageDraw, scale: int) -> None:
    draw.rectangle(scaled((0, 0, 400, 280), scale), "#8c4a3c")
    draw.pieslice(scaled((60, 14, 340, 214), scale), 180, 360, "#2f5d50")
    draw.rectangle(scaled((20, 112, 280, 240), scale), "#bcd6de")
    draw.rectangle(scaled((300, 112, 380, 280), scale), "#5b3a24")
    draw.rectangle(scaled((312, 200, 368, 264), scale), "#4a2d1a")
    draw.polygon(scaled((308, 148, 369, 137, 373, 159, 312, 170), scale), "#f2e9d0")
    draw.rectangle(scaled((0, 268, 300, 280), scale), "#6d6d6d")


def crossing(draw: ImageDraw.ImageDraw, scale: int) -> None:
    draw.rectangle(scaled((0, 0, 400, 300), scale), "#a9cbe6")
    draw.rectangle(scaled((0, 250, 400, 300), scale), "#6f7f5e")
    draw.rectangle(scaled((115, 20, 121, 300), scale), "#7a7a7a")
    draw.rectangle(scaled((296, 60, 302, 300), scale), "#7a7a7a")
    octagon = [(118 + 82 * math.cos(math.pi * (k + 0.5) / 4), 102 + 82 * math.sin(math.pi * (k + 0.5) / 4))
               for k in range(8)]  # fmt: skip
    draw.polygon(
        scaled((value for point in octagon for value in point), scale),
        "#b3202a",
        "#ffffff",
        3 * scale,
    )
    draw.rectangle(scaled((68, 190, 168, 216), scale), "#b3202a", "#ffffff", 2 * scale)
    draw.polygon(
        scaled((216, 128, 345, 90, 342, 80, 380, 92, 360, 126, 356, 117, 226, 155), scale),
        "#202020",
    )
    draw.polygon(scaled((232, 196, 356, 179, 359, 204, 235, 221), scale), "#1d6b3c")


def lane(draw: ImageDraw.ImageDraw, scale: int) -> None:
    draw.rectangle(scaled((0, 0, 240, 160), scale), "#cfe3ef")
    draw.rectangle(scaled((0, 110, 240, 160), scale), "#7d9463")
    for x, y, radius in ((60, 60, 34), (180, 50, 40)):
        draw.rectangle(scaled((x - 4, y, x + 4, 120), scale), "#6b4a2f")
        draw.ellipse(scaled((x - radius, y - radius, x + radius, y + radius), scale), "#4f7a45")
    for x in range(84, 156, 12):
        draw.rectangle(scaled((x, 100, x + 5, 134), scale), "#f0ece0")


SCENES = (
    Scene(
        "street_sign", 400, 180, street_sign,
        (
            Line("14 ARR", 169, 38, 2, "#ffffff"),
            Line("RUE DE LA PAIX", 54, 70, 4, "#ffffff"),
            Line("NO POSTERS", 165, 144, 1, "#a39a88", reject=True),
        ),
        (
            Found(("RUE",), confidence=0.99),
            Found(("DE LA",), grown=(3, 2, 3, 2), joined="LA", confidence=0.91),
            Found(("PA",), grown=(2, 1, 0, 1), bolder=0.5, confidence=0.84),
            Found(("IX",), grown=(-1, 1, 4, 1), broken="X", confidence=0.78),
            Found(("ARR",), grown=(4, -2, 2, 3), bolder=-0.4, confidence=0.66),
            Found(("NO POSTERS",), read="NQ PQSTFRS", confidence=0.41),
        ),
    ),
    Scene(
        "shop_front", 400, 280, shop_front,
        (
            Line("BAKERY", 118, 42, 5, "#f4e7c5", bend=75),
            Line("FRESH BREAD DAILY", 40, 142, 2.5, "#7c1f1f"),
            Line("SINCE 1926", 96, 196, 2, "#4f5a5e"),
            Line("OPEN", 315, 152, 2, "#7c1f1f", angle=10),
        ),
        (
            Found(("BAKERY",), grown=(5, 4, 5, 4), joined="KE", confidence=0.97),
            Found(("FRESH BR",), grown=(2, 2, 1, 2), confidence=0.74),
            Found(("EAD DAILY",), grown=(1, 2, 2, 2), broken="D", confidence=0.71),
            Found(("SINCE",), grown=(1, 1, 11, 1), bolder=-0.4, confidence=0.88),
            Found(("1926",), grown=(0, 0, 0, -2), read="1925", confidence=0.93),
            Found(("OPEN",), grown=(3, 3, 3, 3), bolder=1, confidence=0.89),
            Mistaken((322, 206, 36, 50), "D", 0.35),
        ),
    ),
    Scene(
        "crossing", 400, 300, crossing,
        (
            Line("STOP", 66, 84, 4.5, "#ffffff"),
            Line("ALL WAY", 82, 196, 2, "#ffffff"),
            Line("ONE WAY", 237, 131, 2.5, "#ffffff", angle=16.3),
            Line("OAK AVE", 246, 202, 2, "#ffffff", angle=7.8),
        ),
        (
            Found(("STOP", "ALL WAY"), confidence=0.63),
            Found(("ONE WAY",), grown=(2, 2, 2, 2), confidence=0.9),
            Found(("OAK",), grown=(2, 1, 1, 1), bolder=0.5, confidence=0.86),
            Found(("AVE",), confidence=0.87),
        ),
    ),
    Scene("lane", 240, 160, lane, (), (Mistaken((82, 98, 73, 38), "IIIIII", 0.52),)),
)  # fmt: skip


# Shapes -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Word:
    """A ground-truth object."""

    line: Line
    region: int
    text: str
    letters: Sequence[Letter]

    @property
    def outline(self) -> list[Point]:
        return self.line.outline(self.letters[0].s0, self.letters[-1].s1, 0, self.line.height)


def words(scene: Scene) -> list[Word]:
    """The words of a scene in reading order, line by line."""
    return [
        Word(line, region, text, [letter for letter in line.letters if letter.word == k])
        for region, line in enumerate(scene.lines, start=1)
        for k, text in enumerate(line.text.split())
    ]


def box_around(points: Sequence[Point]) -> Box:
    """x, y, width, height in whole pixels."""
    xs, ys = zip(*points, strict=True)
    x0, y0 = math.floor(min(xs)), math.floor(min(ys))
    return x0, y0, math.ceil(max(xs)) - x0, math.ceil(max(ys)) - y0


def corners(box: Box) -> list[Point]:
    x, y, width, height = box
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]


def detected_outline(scene: Scene, found: Detection) -> list[Point]:
    """The outline of a detection; around several lines, a box."""
    if isinstance(found, Mistaken):
        return corners(found.box)
    left, top, right, bottom = found.grown
    outlines = []
    for text in found.texts:
        line, letters = scene.line_of(text), scene.letters_of(text)
        outlines.append(
            line.outline(letters[0].s0 - left, letters[-1].s1 + right, -top, line.height + bottom)
        )
    return (
        outlines[0]
        if len(outlines) == 1
        else corners(box_around([p for outline in outlines for p in outline]))
    )
