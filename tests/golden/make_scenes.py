"""Write the synthetic scenes that the official programs scored: boxes, quads and curves.

    python tests/golden/make_scenes.py FOLDER

Each set is two archives in the form of the ICDAR competitions, SET-gt.zip and SET-det.zip: a line
has the coordinates, for detections a confidence, and the text. The seed makes every run the same.
"""

from __future__ import annotations

import random
import sys
import zipfile
from collections.abc import Iterator
from math import cos, radians, sin
from pathlib import Path
from typing import NamedTuple

KINDS = ("boxes", "quads", "curves")
Part = tuple[float, float, float, float]
"""Where a word begins and ends along its row and across it: start, top, end, bottom."""
WORDS = """EXIT,Café,straße,ÜBER,Hotel!,(bar),don't,O'Neil's,24/7,1926,4000,A,No.,Gate,B12,open,OPEN
Straßenbahn,fish&chips,naïve,WAY,to,Łódź,Market,Sale!,x2,well-known,Museum,7,École,DE LA,No entry"""
ALSO_READ = {"straße": "STRASSE", "Hotel!": "hotel", "(bar)": "bar", "No.": "no", "WAY": "way."}
EDGE_CASES: list[tuple[list[Part], list[Part]]] = [
    ([(0, 0, 100, 20)], [(0, 0, 50, 20)]),
    ([(0, 0, 100, 20)], [(0, 0, 51, 20)]),
    ([(0, 5, 100, 25), (0, 0, 100, 20)], [(0, 2, 100, 22), (0, 10, 100, 30)]),
    ([(0, 0, 60, 20), (60, 0, 120, 20)], [(0, 0, 120, 20)]),
    ([(0, 0, 100, 20)], [(0, 0, 50, 20), (50, 0, 100, 20)]),
    ([(0, 0, 100, 20)], [(0, 0, 60, 20), (40, 0, 100, 20)]),
    ([(0, 0, 100, 20)], [(0, 0, 100, 20), (0, 0, 100, 20)]),
    ([(0, 0, 100, 40), (20, 10, 60, 30)], [(0, 0, 100, 40), (20, 10, 60, 30)]),
]
THRESHOLDS: list[tuple[str, Part, Part]] = [
    ("###", (0, 0, 100, 20), (50, 0, 150, 20)),
    ("###", (0, 0, 100, 20), (49, 0, 149, 20)),
    ("###", (0, 0, 100, 20), (60, 0, 160, 20)),
    ("###", (0, 0, 100, 20), (70, 0, 170, 20)),
    ("###", (0, 0, 99, 19), (60, 0, 159, 19)),
    ("###", (0, 0, 99, 19), (59, 0, 158, 19)),
    ("word", (0, 0, 100, 20), (0, 0, 70, 20)),
    ("word", (0, 0, 100, 20), (0, 0, 40, 20)),
    ("word", (0, 0, 100, 20), (0, 0, 39, 20)),
    ("word", (0, 0, 60, 20), (0, 0, 100, 20)),
    ("word", (0, 0, 40, 20), (0, 0, 100, 20)),
    ("word", (0, 0, 30, 20), (0, 0, 100, 20)),
    ("word", (0, 0, 29, 20), (0, 0, 100, 20)),
    ("word", (0, 0, 99, 19), (0, 0, 79, 19)),
    ("word", (0, 0, 99, 19), (0, 0, 78, 19)),
    ("word", (0, 0, 99, 19), (0, 0, 249, 19)),
    ("word", (0, 0, 99, 19), (0, 0, 250, 19)),
]
"""Words and detections that share just as much as a program asks for, or a pixel more or less."""


class Row(NamedTuple):
    """A line of text: its start, its direction, how it bends, and the vertices of an outline."""

    x: int
    y: int
    degrees: float = 0.0
    bend: float = 0.0
    corners: int = 4

    def point(self, along: float, across: float) -> tuple[int, int]:
        if self.bend:
            radius = 60 / self.bend
            turn = along / radius
            along, across = (radius - across) * sin(turn), radius - (radius - across) * cos(turn)
        c, s = cos(radians(self.degrees)), sin(radians(self.degrees))
        return round(self.x + along * c - across * s), round(self.y + along * s + across * c)

    def outline(self, part: Part) -> list[int]:
        start, top, end, bottom = part
        sections = self.corners // 2 - 1
        steps = [start + (end - start) * i / sections for i in range(sections + 1)]
        points = [self.point(s, top) for s in steps] + [self.point(s, bottom) for s in steps[::-1]]
        if self.corners % 2:
            del points[sections + 2]
        return [value for point in points for value in point]


class Scene:
    def __init__(self, kind: str, rng: random.Random, confidences: Iterator[str]) -> None:
        self.kind, self.rng, self.confidences = kind, rng, confidences
        self.gt: list[str] = []
        self.det: list[str] | None = []
        self.rows: dict[Row, list[Part]] = {}

    def line(self, row: Row, part: Part, *rest: str) -> str:
        outline = row.outline(part)
        if self.kind == "boxes":
            xs, ys = outline[::2], outline[1::2]
            outline = [min(xs), min(ys), max(xs), max(ys)]
        elif self.kind == "quads" and self.rng.random() < 0.1:
            outline = outline[2:] + outline[:2]
        return ",".join([*map(str, outline), *rest])

    def word(self, row: Row, part: Part, text: str) -> None:
        self.rows.setdefault(row, []).append(part)
        quoted = text[0].isdigit() or (text != "###" and self.rng.random() < 0.1)
        self.gt.append(self.line(row, part, f'"{text}"' if quoted else text))

    def detect(self, row: Row, part: Part, text: str, confidence: str = "") -> None:
        assert self.det is not None
        quoted = f'"{text}"' if text[0].isdigit() else text
        self.det.append(self.line(row, part, confidence or next(self.confidences), quoted))

    def detect_word(self, row: Row, part: Part, text: str) -> None:
        """Detect a word in one of the usual ways, and read it right or wrong."""
        x0, y0, x1, y1 = part
        width, height = x1 - x0, y1 - y0
        cut = x0 + width * self.rng.choice((0.3, 0.45, 0.6, 0.85))
        ways: list[list[Part]] = [
            [],
            [part],
            [(x0 + 1, y0 - 1, x1 + 1, y1 - 1)],
            [(x0 - height / 2, y0 - height / 3, x1 + height / 2, y1 + height / 3)],
            [(x0 + height / 4, y0 + height / 6, x1 - height / 4, y1 - height / 6)],
            [(x0, y0, cut, y1)],
            [(x0, y0, cut, y1), (cut, y0, x1, y1)],
            [(x0, y0, cut + 8, y1), (cut - 8, y0, x1, y1)],
            [(x0, y0, x0 + width / 3, y1), (x0 + width / 3, y0, x0 + width * 2 / 3, y1), part],
            [part, (x0 + 2, y0, x1 + 2, y1)],
            [(x0, y0 - height, x1, y1 + height / 2)],
        ]
        wrong = text[:-1] + "x" if len(text) > 1 else "I"
        other = ALSO_READ.get(text, text.swapcase())
        readings = [text, text, text, other, other, wrong, "blob"]
        for piece in self.rng.choice(ways):
            self.detect(row, piece, self.rng.choice(readings))

    def draw(self, words: list[str]) -> None:
        for y in self.rng.sample((60, 140, 220, 300), self.rng.randint(2, 3)):
            row, start = Row(self.rng.randint(40, 80), y + 60), 0
            if self.kind == "curves":
                bend = self.rng.choice((0.15, -0.2, 0.3))
                row = row._replace(degrees=3, bend=bend, corners=self.rng.randint(8, 14))
            elif self.rng.random() < 0.2:
                row = Row(self.rng.randint(380, 440), self.rng.randint(20, 60), 90)
            if self.kind == "quads":
                row = row._replace(degrees=row.degrees + self.rng.choice((-12, -5, 0, 4, 9, 15)))
            height = self.rng.randint(16, 32)
            parts: list[tuple[Part, str]] = []
            for text in self.rng.choices(words, k=self.rng.randint(1, 3)):
                end = start + self.rng.randint(3, 5) * height // 2 + 3 * len(text)
                parts.append(((start, 0, end, height), text))
                self.word(row, *parts[-1])
                start = end + self.rng.choice((0, 4, 10, -3))
            if len(parts) > 1 and self.rng.random() < 0.3:
                both = f"{parts[0][1]} {parts[1][1]}"
                self.detect(row, (0, 0, parts[1][0][2], height), both.replace("###", "blob"))
                parts = parts[2:]
            for part, text in parts:
                self.detect_word(row, part, "blob" if text == "###" else text)
        if self.rng.random() < 0.5:
            self.detect(Row(500, 400, corners=row.corners), (0, 0, 70, 24), "noise")


def scenes(kind: str) -> list[Scene]:
    rng = random.Random(f"golden {kind}")
    confidences = (f"0.{number:03}" for number in rng.sample(range(500), 500))
    images = [Scene(kind, rng, confidences) for _ in range(22)]
    words = WORDS.replace("\n", ",").split(",")
    for number, scene in enumerate(images[:13]):
        scene.draw(words + ["###"] * (12 if number >= 6 else 0))
    row = Row(30, 30, corners=8 if kind == "curves" else 4)
    for place, (parts, detections) in enumerate(EDGE_CASES):
        scene = images[13 + place % 2]
        for number, part in enumerate(parts):
            scene.word(row._replace(y=30 + 35 * place), part, f"word {number}")
        for number, part in enumerate(detections):
            confidence = f"0.5{place}{number if place != 4 else 0}"
            text = f"Word {number}" if place < 7 else f"Word {number}!"
            scene.detect(row._replace(y=30 + 35 * place), part, text, confidence)
    images[15].word(row, (0, 0, 90, 24), "unseen")
    images[15].det = None if kind == "boxes" else []
    images[16].detect(row, (0, 0, 90, 24), "ghost")
    images[17].word(row, (0, 0, 90, 24), "###")
    images[18].word(row, (0, 0, 90, 24), "###")
    for part in [(10, 0, 80, 24), (50, 0, 120, 24), (55, 0, 155, 24)]:
        images[18].detect(row, part, "blob")
    images[20].word(row._replace(x=400), (0, 0, 90, 24), "found")
    images[20].detect(row._replace(x=400), (0, 0, 90, 24), "found")
    for place, (text, word, detection) in enumerate(THRESHOLDS):
        scene = images[20 if text == "###" else 21]
        scene.word(row._replace(y=30 + 25 * place), word, text)
        scene.detect(row._replace(y=30 + 25 * place), detection, "word")
    return images


def write_scenes(kind: str, folder: Path) -> None:
    for side, prefix in (("gt", "gt_"), ("det", "res_")):
        with zipfile.ZipFile(folder / f"{kind}-{side}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for number, scene in enumerate(scenes(kind), 1):
                lines = getattr(scene, side)
                if lines is not None:
                    info = zipfile.ZipInfo(f"{prefix}img_{number}.txt")
                    text = "".join(f"{line}\n" for line in lines)
                    archive.writestr(info, text, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    for kind in KINDS:
        write_scenes(kind, Path(sys.argv[1]))
