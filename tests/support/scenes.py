"""Seeded random inputs for the tests: text scenes with all that EvaLTex has a rule for, as the
tool's two texts.

A scene is made of lines of text. A line maps (s, v), s along the line and v across it, to the
picture, straight along the axes (boxes), rotated (quadrilaterals) or on an arc (polygons); a word
is a stretch, s0 to s1 by v0 to v1, of its line. Detections are derived from the words' stretches:
the same, jittered, cropped, cut in pieces, joined.
"""

import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import shapely

TRANSCRIPTIONS = (
    "Tiredness", "kills", "", "", "A", "###", "COCA-COLA", "Ünï-Çødé", "日本語", "one, two", ",", "1,2,3,4", '"', '""',
    'say "hi", now', 'a",f,1,2,3,4', " spaced out ", "50%; #1 = best",
)  # fmt: skip

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """A line of text with its top left corner at (x, y); `angle` and `bend`
    (radians over its length) in radians.
    """

    x: float
    y: float
    length: float
    height: float
    angle: float = 0.0
    bend: float = 0.0

    def point(self, s: float, v: float) -> Point:
        """The picture's point of s along the line and v across it."""
        if self.bend:
            radius, turn = self.length / self.bend, self.bend * (s / self.length - 0.5)
            s, v = (
                self.length / 2 + (radius - v) * math.sin(turn),
                v + (radius - v) * (1 - math.cos(turn)),
            )
        cos, sin = math.cos(self.angle), math.sin(self.angle)
        return self.x + s * cos - v * sin, self.y + s * sin + v * cos


@dataclass(frozen=True)
class Stretch:
    """A part of a line, as a word or a detection."""

    line: Line
    s0: float
    s1: float
    v0: float
    v1: float

    def numbers(self, digits: int) -> list[float]:
        """x, y, width, height, or vertices on a line that is not straight
        along the axes; none if too small.
        """
        steps = max(2, round((self.s1 - self.s0) / 15) + 1) if self.line.bend else 2
        along = [self.s0 + (self.s1 - self.s0) * k / (steps - 1) for k in range(steps)]
        vertices = [self.line.point(s, self.v0) for s in along]
        vertices += [self.line.point(s, self.v1) for s in reversed(along)]
        if not self.line.angle and not self.line.bend:
            return box_around(vertices, digits)
        rounded = [(round(x, digits), round(y, digits)) for x, y in vertices]
        polygon = shapely.Polygon(rounded)
        valid = polygon.is_valid and polygon.area >= 4
        return (
            [value for vertex in rounded for value in vertex]
            if valid
            else box_around(vertices, digits)
        )


@dataclass
class Scene:
    """One image in the making; an object is its ID, the fields before its numbers, and the numbers."""

    rng: random.Random
    digits: int
    words: list[Stretch] = field(default_factory=list)
    done: set[Stretch] = field(
        default_factory=set
    )  # words in a merge, not detected once more by themselves
    gt: list[str] = field(default_factory=list)
    det: list[str] = field(default_factory=list)

    def add_gt(self, word: Stretch, region: int) -> None:
        flag = "t" if self.rng.random() < 0.15 else "f"
        text = self.rng.choice(TRANSCRIPTIONS)
        if numbers := word.numbers(self.digits):
            self.words.append(word)
            self.gt.append(f'{len(self.gt) + 1},{region},"{text}",{flag},{join(numbers)}')

    def add_det(self, numbers: list[float]) -> None:
        if numbers:
            text = self.rng.choice(("", "", *TRANSCRIPTIONS))
            self.det.append(f'{len(self.det) + 1},"{text}",{join(numbers)}')


def join(numbers: Iterable[float]) -> str:
    return ",".join(
        f"{number:g}" if number == round(number, 2) else f"{number:.2f}" for number in numbers
    )


def box_around(points: list[Point], digits: int) -> list[float]:
    """x, y, width, height of the points' bounding box; none where it rounds to nothing."""
    x0, y0 = (round(min(values), digits) for values in zip(*points, strict=True))
    x1, y1 = (round(max(values), digits) for values in zip(*points, strict=True))
    numbers = [x0, y0, round(x1 - x0, digits), round(y1 - y0, digits)]
    return numbers if min(numbers[2:]) > 0 else []


# Ground truth -------------------------------------------------------------------------------------


def lay_out(scene: Scene, polygons: bool) -> None:
    """Fill the picture with lines of words, one region a line (sometimes one
    a word), and special words among them.
    """
    rng, y, region = scene.rng, 20.0, 0
    for _ in range(rng.randint(1, 5)):
        height, length = rng.uniform(12, 50), rng.uniform(120, 500)
        line = Line(rng.uniform(5, 60), y, length, height)
        if polygons and rng.random() < 0.7:
            line = replace(
                line,
                **rng.choice(({"angle": rng.uniform(-0.4, 0.4)}, {"bend": rng.uniform(0.3, 1.5)})),
            )
        own_regions, s = rng.random() < 0.2, 0.0
        region += 1
        while (width := rng.uniform(0.8, 4) * height) <= length - s:
            word = Stretch(line, s, s + width, rng.uniform(-0.1, 0.1) * height, height)
            scene.add_gt(word, region)
            if rng.random() < 0.1:
                scene.add_gt(nested(rng, word), region)
            region += own_regions
            s += width + height * rng.choice(
                (0.3, 0.3, 0.3, 0.0, -0.4)
            )  # spaced, touching, overlapping
        y += height * rng.choice((1.4, 1.1, 1.0, 0.7)) + (line.bend > 0) * 0.2 * length


def nested(rng: random.Random, word: Stretch) -> Stretch:
    """A word inside another (the paper's Fig. 5b), sometimes reaching out of it."""
    width, height = word.s1 - word.s0, word.v1 - word.v0
    s0, v0 = word.s0 + rng.uniform(-0.1, 0.5) * width, word.v0 + rng.uniform(-0.1, 0.5) * height
    return replace(
        word,
        s0=s0,
        s1=s0 + rng.uniform(0.2, 0.5) * width,
        v0=v0,
        v1=v0 + rng.uniform(0.3, 0.5) * height,
    )


# Detections ---------------------------------------------------------------------------------------


def perfect(scene: Scene, word: Stretch) -> list[Stretch]:
    return [word]


def duplicate(scene: Scene, word: Stretch) -> list[Stretch]:
    return [word] * 2


def jittered(scene: Scene, word: Stretch) -> list[Stretch]:
    e = scene.rng.choice((0.02, 0.1, 0.25)) * word.line.height
    shifts = {
        name: getattr(word, name) + scene.rng.uniform(-e, e) for name in ("s0", "s1", "v0", "v1")
    }
    return [replace(word, **shifts)]


def cropped(scene: Scene, word: Stretch) -> list[Stretch]:
    part = scene.rng.uniform(0.1, 0.9)
    if scene.rng.random() < 0.5:
        return [replace(word, s1=word.s0 + part * (word.s1 - word.s0))]
    return [replace(word, v1=word.v0 + part * (word.v1 - word.v0))]


def pieces(scene: Scene, word: Stretch) -> list[Stretch]:
    """Two to four parts side by side, touching, overlapping or with gaps."""
    count = scene.rng.randint(2, 4)
    step = (word.s1 - word.s0) / count
    slack = scene.rng.choice((-0.1, 0.0, 0.0, 0.2)) * step
    return [
        replace(word, s0=word.s0 + k * step - slack, s1=word.s0 + (k + 1) * step + slack)
        for k in range(count)
    ]


def over_words(scene: Scene, word: Stretch) -> list[Stretch]:
    """One detection from this word to another of its line, sometimes with
    part of that word detected again.
    """
    line = [other for other in scene.words if other.line == word.line]
    last = scene.rng.choice(line)
    merged = replace(
        word, s0=min(word.s0, last.s0), s1=max(word.s1, last.s1), v0=0, v1=word.line.height
    )
    scene.done.update(other for other in line if merged.s0 <= other.s0 and other.s1 <= merged.s1)
    return [merged, *cropped(scene, last)] if scene.rng.random() < 0.3 else [merged]


def over_half_words(scene: Scene, word: Stretch) -> list[Stretch]:
    """Many-to-many: two detections that meet in the middle of the word and
    reach over its neighbours.
    """
    middle, reach = (word.s0 + word.s1) / 2, 2 * word.line.height
    return [
        replace(word, s0=word.s0 - reach, s1=middle),
        replace(word, s0=middle, s1=word.s1 + reach),
    ]


def over_lines(scene: Scene, word: Stretch) -> list[Stretch]:
    """One box around this word and one of any line, often a merge over lines."""
    other = scene.rng.choice(scene.words)
    corners = [
        w.line.point(s, v) for w in (word, other) for s in (w.s0, w.s1) for v in (w.v0, w.v1)
    ]
    x0, y0 = (min(values) for values in zip(*corners, strict=True))
    x1, y1 = (max(values) for values in zip(*corners, strict=True))
    starts = {w: w.line.point(w.s0, w.v0) for w in scene.words}
    scene.done.update(w for w, (x, y) in starts.items() if x0 <= x <= x1 and y0 <= y <= y1)
    return [Stretch(Line(x0, y0, x1 - x0, y1 - y0), 0, x1 - x0, 0, y1 - y0)]


def missed(scene: Scene, word: Stretch) -> list[Stretch]:
    return []


MANNERS: dict[Callable[[Scene, Stretch], list[Stretch]], int] = {
    perfect: 4, jittered: 8, cropped: 4, pieces: 4, over_words: 3, over_half_words: 1, over_lines: 1, duplicate: 1,
    missed: 4,
}  # fmt: skip


def detect(scene: Scene) -> None:
    """Detections of each word in a random manner, and false ones."""
    rng, found = scene.rng, []
    manners = rng.choices(list(MANNERS), list(MANNERS.values()), k=len(scene.words))
    plan = zip(scene.words, manners, strict=True)
    for word, manner in sorted(plan, key=lambda pair: pair[1] not in (over_words, over_lines)):
        if word not in scene.done:
            found += manner(scene, word)
    for _ in range(rng.choice((0, 0, 1, 3))):
        line = Line(rng.uniform(0, 600), rng.uniform(0, 450), 40, 20)
        found.append(Stretch(line, 0, rng.uniform(5, 60), 0, rng.uniform(5, 40)))
    rng.shuffle(found)
    for stretch in found:
        scene.add_det(stretch.numbers(scene.digits))


def random_scene(seed: int, images: int = 3, polygons: bool = False) -> tuple[str, str]:
    """Ground truth and detections of some images, boxes only or boxes and polygons.

    Some images have no objects, no detections, or neither; one without detections may be missing in the
    second text, whose images come in another order. Seeds differ in decimals (0 to 2 digits) and in
    line ends.
    """
    rng = random.Random(f"scene {seed} {images} {polygons}")
    digits, newline = rng.choice((0, 0, 1, 2)), rng.choice(("\n", "\n", "\r\n"))
    gt_images, det_images = [], []
    for k in range(images):
        scene = Scene(rng, digits)
        if rng.random() < 0.9:
            lay_out(scene, polygons)
        if rng.random() < 0.9:
            detect(scene)
        name = f"img_{k + 1}"
        gt_images.append([name, f"{rng.randint(300, 500)},{rng.randint(500, 700)}", *scene.gt])
        if scene.det or rng.random() < 0.5:
            det_images.append([name, *scene.det])
    rng.shuffle(det_images)
    return as_text(gt_images, newline), as_text(det_images, newline)


def as_text(images: list[list[str]], newline: str) -> str:
    return newline.join(line for image in images for line in [*image, ""])
