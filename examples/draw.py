"""Draws the examples: the scenes of `street_scenes.py`, their ground truth, and what a text detector
might find in them.

    python examples/draw.py [FOLDER]

writes pictures/, words/, polygons/, masks/ and icdar/ into FOLDER, by default the one this file is
in. All of them come from `SCENES`, so they are the same scenes in other shapes. Letters are drawn
from the distance of their strokes to every pixel; the same distances make the pictures and the
masks.
"""

import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from street_scenes import (
    SCENES,
    STROKES,
    Box,
    Colour,
    Detection,
    Found,
    Letter,
    Line,
    Mistaken,
    Point,
    Scene,
    box_around,
    corners,
    detected_outline,
    scaled,
    words,
)

# Outlines -----------------------------------------------------------------------------------------


def is_level(points: Sequence[Point]) -> bool:
    """Whether an outline is a box along the axes."""
    return len(points) == 4 and points[0][1] == points[1][1] and points[0][0] == points[3][0]


def as_box(outline: Sequence[Point]) -> Sequence[int]:
    return box_around(outline)


def as_polygon(outline: Sequence[Point]) -> Sequence[int]:
    """Vertices in whole pixels; x, y, width, height of a box."""
    return (
        box_around(outline)
        if is_level(outline)
        else [round(value) for point in outline for value in point]
    )


def as_quad(outline: Sequence[Point]) -> Sequence[int]:
    """Four vertices in whole pixels; of a bent outline, its bounding box's."""
    points = (
        outline if len(outline) == 4 and not is_level(outline) else corners(box_around(outline))
    )
    return [round(value) for point in points for value in point]


# Texts --------------------------------------------------------------------------------------------

AsNumbers = Callable[[Sequence[Point]], Sequence[int]]


def fields(*values: object) -> str:
    return ",".join(map(str, values)) + "\n"


def evaltex_texts(as_numbers: AsNumbers) -> tuple[str, str]:
    """Ground truth and detections as EvaLTex files."""
    gt = det = ""
    for scene in SCENES:
        gt += f"{scene.name}\n{scene.height},{scene.width}\n"
        for k, word in enumerate(words(scene), start=1):
            flag = "t" if word.line.reject else "f"
            gt += fields(k, word.region, f'"{word.text}"', flag, *as_numbers(word.outline))
        det += f"{scene.name}\n"
        for k, found in enumerate(scene.detections, start=1):
            det += fields(
                k, f'"{found.transcription}"', *as_numbers(detected_outline(scene, found))
            )
        gt, det = gt + "\n", det + "\n"
    return gt, det


def icdar_texts() -> tuple[dict[str, str], dict[str, str]]:
    """Ground truth and detections as the files, by name, of ICDAR-style archives."""
    gt, det = {}, {}
    for scene in SCENES:
        gt[f"gt_{scene.name}.txt"] = "".join(
            fields(*as_quad(word.outline), "###" if word.line.reject else word.text)
            for word in words(scene)
        )
        det[f"res_{scene.name}.txt"] = "".join(
            fields(*as_quad(detected_outline(scene, found)), found.confidence, found.transcription)
            for found in scene.detections
        )
    return gt, det


def write_archive(path: Path, texts: dict[str, str]) -> None:
    """Store the files uncompressed with a fixed date, so that the same texts
    give the same bytes.
    """
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in texts.items():
            entry = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, text.encode())


# Pictures -----------------------------------------------------------------------------------------


def ink(
    line: Line, letter: Letter, width: int, height: int
) -> tuple[tuple[slice, slice], np.ndarray, np.ndarray]:
    """A window around a letter, how far its pixels are inside the strokes,
    and where they are along the line.
    """
    x, y, w, h = box_around(line.outline(letter.s0, letter.s1, 0, line.height))
    window = (
        slice(max(y - 3, 0), min(y + h + 3, height)),
        slice(max(x - 3, 0), min(x + w + 3, width)),
    )
    ys, xs = np.mgrid[window]
    s, v = line.place(xs + 0.5, ys + 0.5)
    nearest = np.full(s.shape, np.inf)
    for path in STROKES[letter.char].split("|"):
        points = [
            (letter.s0 + (int(p[0]) + 0.5) * line.stroke, (int(p[1]) + 0.5) * line.stroke)
            for p in path.split()
        ]
        for (s0, v0), (s1, v1) in pairwise(points):
            ds, dv = s1 - s0, v1 - v0
            t = np.clip(((s - s0) * ds + (v - v0) * dv) / (ds * ds + dv * dv), 0, 1)
            nearest = np.minimum(nearest, np.hypot(s - s0 - t * ds, v - v0 - t * dv))
    return window, np.round(line.stroke / 2 - nearest, 6), s


def picture(scene: Scene) -> Image.Image:
    """The scene, its edges smooth."""
    scale = 4
    large = Image.new("RGB", (scene.width * scale, scene.height * scale))
    scene.background(ImageDraw.Draw(large), scale)
    pixels = np.asarray(large.reduce(scale), dtype=float).copy()
    for line in scene.lines:
        colour = np.array(bytearray.fromhex(line.colour[1:]), dtype=float)
        for letter in line.letters:
            window, inside, _ = ink(line, letter, scene.width, scene.height)
            share = np.clip(inside + 0.5, 0, 1)[:, :, None]
            pixels[window] += share * (colour - pixels[window])
    return Image.fromarray(np.round(pixels).astype(np.uint8))


def annotated(scene: Scene) -> Image.Image:
    """The scene at twice its size with boxes and IDs: ground truth green,
    rejected grey, detections magenta.
    """
    faint = Image.blend(
        picture(scene), Image.new("RGB", (scene.width, scene.height), "white"), 0.45
    )
    large = faint.resize((2 * scene.width, 2 * scene.height), Image.Resampling.NEAREST)
    draw = ImageDraw.Draw(large)
    for k, word in enumerate(words(scene), start=1):
        x, y, width, height = scaled(box_around(word.outline), 2)
        colour = "#606060" if word.line.reject else "#006400"
        draw.rectangle((x, y, x + width, y + height), None, colour, 2)
        write_number(large, k, x + 4, y - 18, colour)
    for k, found in enumerate(scene.detections, start=1):
        x, y, width, height = scaled(box_around(detected_outline(scene, found)), 2)
        draw.rectangle((x, y, x + width, y + height), None, "#c000a0", 2)
        write_number(large, k, x + width - 16, y + height + 5, "#c000a0")
    return large.quantize(64, dither=Image.Dither.NONE)


def write_number(canvas: Image.Image, number: int, x: float, y: float, colour: Colour) -> None:
    line = Line(str(number), x, y, 2, colour)
    for letter in line.letters:
        (rows, columns), inside, _ = ink(line, letter, canvas.width, canvas.height)
        share = Image.fromarray(np.round(255 * np.clip(inside + 0.5, 0, 1)).astype(np.uint8))
        canvas.paste(colour, (columns.start, rows.start), share)


# Masks --------------------------------------------------------------------------------------------


class Labels:
    """A label picture in the making; the first object wins a pixel."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.pixels = np.zeros((scene.height, scene.width), np.uint8)

    def add_letters(
        self, label: int, line: Line, letters: Iterable[Letter], bolder: float = 0
    ) -> None:
        for letter in letters:
            window, inside, _ = ink(line, letter, self.scene.width, self.scene.height)
            self._add(label, window, inside + bolder >= 0)

    def add_halves(self, label: int, line: Line, letter: Letter, bolder: float = 0) -> None:
        """A letter in two, a gap of two pixels between its halves."""
        window, inside, s = ink(line, letter, self.scene.width, self.scene.height)
        middle = (letter.s0 + letter.s1) / 2
        self._add(label, window, (inside + bolder >= 0) & (s < middle - 1))
        self._add(label + 1, window, (inside + bolder >= 0) & (s > middle + 1))

    def add_box(self, label: int, box: Box) -> None:
        x, y, width, height = box
        self._add(
            label, (slice(y, y + height), slice(x, x + width)), np.ones((height, width), dtype=bool)
        )

    def _add(self, label: int, window: tuple[slice, slice], covered: np.ndarray) -> None:
        part = self.pixels[window]
        part[covered & (part == 0)] = label

    def extent(self, label: int) -> Box:
        """x, y, width, height of a label's pixels."""
        ys, xs = np.nonzero(self.pixels == label)
        x, y = int(xs.min()), int(ys.min())
        return x, y, int(xs.max()) + 1 - x, int(ys.max()) + 1 - y


def word_labels(scene: Scene) -> tuple[Labels, Labels]:
    """Label pictures of words and of detections, by the IDs of the texts."""
    gt, det = Labels(scene), Labels(scene)
    for k, word in enumerate(words(scene), start=1):
        gt.add_letters(k, word.line, word.letters)
    for k, found in enumerate(scene.detections, start=1):
        if isinstance(found, Mistaken):
            det.add_box(k, found.box)
            continue
        for text in found.texts:
            det.add_letters(k, scene.line_of(text), scene.letters_of(text), found.bolder)
    return gt, det


def character_labels(scene: Scene) -> tuple[Labels, str, Labels, str]:
    """Label pictures of characters and of what was found of them, each with
    the object lines of its image.
    """
    gt, det = Labels(scene), Labels(scene)
    gt_text = det_text = ""
    label = 0
    for region, word in enumerate(words(scene), start=1):
        for letter in word.letters:
            label += 1
            gt.add_letters(label, word.line, [letter])
            flag = "t" if word.line.reject else "f"
            gt_text += fields(label, region, f'"{letter.char}"', flag, *gt.extent(label))
    label = 0
    for found in scene.detections:
        for characters in add_characters(det, found, label + 1):
            label += 1
            det_text += fields(label, f'"{characters}"', *det.extent(label))
    return gt, gt_text, det, det_text


def add_characters(det: Labels, found: Detection, label: int) -> Iterator[str]:
    """Label the characters of a detection, and yield for each label what it holds."""
    if isinstance(found, Mistaken):
        det.add_box(label, found.box)
        yield found.read
        return
    for text in found.texts:
        line = det.scene.line_of(text)
        for group in character_groups(found, det.scene.letters_of(text)):
            if group[0].char in found.broken:
                det.add_halves(label, line, group[0], found.bolder)
                yield from ("", "")
                label += 2
            else:
                det.add_letters(label, line, group, found.bolder)
                yield "".join(letter.char for letter in group)
                label += 1


def character_groups(found: Found, letters: Sequence[Letter]) -> Iterator[Sequence[Letter]]:
    """The letters one by one, or together where they were found as one character."""
    while letters:
        joins = found.joined and "".join(letter.char for letter in letters).startswith(found.joined)
        count = len(found.joined) if joins else 1
        yield letters[:count]
        letters = letters[count:]


def save_labels(labels: Labels, path: Path) -> None:
    """Write a palette picture: the index is the label, the colours are for the eye."""
    image = Image.fromarray(labels.pixels)
    image.putpalette(
        [0, 0, 0, *(64 + factor * k % 192 for k in range(1, 256) for factor in (97, 151, 211))]
    )
    image.save(path)


# All of it ----------------------------------------------------------------------------------------


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def draw_all(folder: Path) -> None:
    """Write every example into a folder."""
    for name in ("pictures", "words", "polygons", "icdar", "masks"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for scene in SCENES:
        picture(scene).save(folder / "pictures" / f"{scene.name}.png")
        annotated(scene).save(folder / "pictures" / f"{scene.name}-boxes.png")
    for name, as_numbers in (("words", as_box), ("polygons", as_polygon), ("masks/words", as_box)):
        (folder / name).mkdir(exist_ok=True)
        gt, det = evaltex_texts(as_numbers)
        write(folder / name / "gt.txt", gt)
        write(folder / name / "det.txt", det)
    for name, texts in zip(("gt", "det"), icdar_texts(), strict=True):
        write_archive(folder / "icdar" / f"{name}.zip", texts)
    draw_masks(folder / "masks")


def draw_masks(folder: Path) -> None:
    for name in ("words/gt", "words/det", "characters/gt", "characters/det"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    gt_text = det_text = ""
    for scene in SCENES:
        gt, det = word_labels(scene)
        save_labels(gt, folder / "words" / "gt" / f"{scene.name}.png")
        save_labels(det, folder / "words" / "det" / f"{scene.name}.png")
        gt, gt_lines, det, det_lines = character_labels(scene)
        save_labels(gt, folder / "characters" / "gt" / f"{scene.name}.png")
        save_labels(det, folder / "characters" / "det" / f"{scene.name}.png")
        gt_text += f"{scene.name}\n{scene.height},{scene.width}\n{gt_lines}\n"
        det_text += f"{scene.name}\n{det_lines}\n"
    write(folder / "characters" / "gt.txt", gt_text)
    write(folder / "characters" / "det.txt", det_text)


if __name__ == "__main__":
    draw_all(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
