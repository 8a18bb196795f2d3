"""Write data sets of any size: ground truth and detections, and label pictures.

Words are in a grid of lines, six in each. Most detections are words a little off; some lie between
two words, some are halves. The same arguments give the same files.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

CELL = np.array((160, 60))
COLUMNS = 6
OBJECTS = 10
"""Objects, and detections, of an image."""
AT_ONCE = 4096

Numbers = NDArray[np.int64]


def image_size(objects: int) -> tuple[int, int]:
    """Height and width of a picture that holds so many words."""
    width = int(CELL[0]) * COLUMNS
    return max(width * 3 // 4, int(CELL[1]) * -(-objects // COLUMNS)), width


def random_words(rng: np.random.Generator, images: int, objects: int) -> Numbers:
    """Words, (images, objects, 4): x, y, width, height."""
    cell = np.arange(objects)
    size = rng.integers((60, 20), CELL - 10, (images, objects, 2))
    corner = np.stack([cell % COLUMNS, cell // COLUMNS], axis=1) * CELL
    inside = (rng.random(size.shape) * (CELL - size)).astype(np.int64)
    return np.concatenate([corner + inside, size], axis=2)


def detected(rng: np.random.Generator, words: Numbers) -> Numbers:
    """A detection for every word: a little off, between two words, or half of one."""
    found = words + rng.integers(-3, 4, words.shape)
    manner = rng.random(words.shape[:2])
    found[..., 0] += np.where(manner < 0.1, CELL[0] // 2, 0)
    found[..., 2] //= np.where(manner > 0.9, 2, 1)
    height, width = image_size(words.shape[1])
    found[..., :2] = np.clip(found[..., :2], 0, (width - 20, height - 10))
    found[..., 2:] = np.minimum(found[..., 2:], (width, height) - found[..., :2])
    return found


def outlines(rng: np.random.Generator, boxes: Numbers, kind: str) -> Numbers:
    """Boxes as 'quads' (images, objects, 8) or 'polygons' of 8 vertices (images, objects, 16)."""
    if kind == "boxes":
        return boxes
    x, y, width, height = np.moveaxis(boxes, 2, 0)
    if kind == "quads":
        corners = [x, y, x + width, y, x + width, y + height, x, y + height]
        return np.stack(corners, axis=2) + rng.integers(-3, 4, (*x.shape, 8))
    along = x[..., None] + width[..., None] * np.arange(4) // 3
    quarter, lift = height[..., None] // 4, rng.uniform(-1, 1, (*x.shape, 4))
    top = y[..., None] + quarter + (quarter * lift).astype(np.int64)
    upper = np.stack([along, top], axis=-1)
    lower = np.stack([along, top + 2 * quarter], axis=-1)[:, :, ::-1]
    return np.concatenate([upper, lower], axis=2).reshape(*x.shape, 16)


def lines_of(numbers: Numbers, first: int, is_gt: bool) -> str:
    """The images' blocks of an EvaLTex file; `first` is the number of the first image."""
    images, objects, count = numbers.shape
    height, width = image_size(objects)
    head = f"img_%d\n{height},{width}\n" if is_gt else "img_%d\n"
    start = '{},{},"word",f' if is_gt else '{},"word"'
    rows = (start.format(k + 1, k // COLUMNS + 1) + ",%d" * count for k in range(objects))
    names = np.arange(first, first + images)[:, None]
    values = np.concatenate([names, numbers.reshape(images, -1)], axis=1)
    text: str = (head + "\n".join(rows) + "\n\n") * images % tuple(values.ravel().tolist())
    return text


def make_texts(folder: Path, images: int, kind: str = "boxes", seed: int = 1) -> tuple[Path, Path]:
    """Write EvaLTex files of 'boxes', 'quads' or 'polygons'; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    with (folder / "gt.txt").open("w") as gt, (folder / "det.txt").open("w") as det:
        for first in range(0, images, AT_ONCE):
            words = random_words(rng, min(AT_ONCE, images - first), OBJECTS)
            gt.write(lines_of(outlines(rng, words, kind), first, True))
            det.write(lines_of(outlines(rng, detected(rng, words), kind), first, False))
    return folder / "gt.txt", folder / "det.txt"


def make_coco(folder: Path, images: int, seed: int = 1) -> tuple[Path, Path]:
    """Write boxes as a COCO data set and a results list with scores; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    words = random_words(rng, images, OBJECTS)
    height, width = image_size(OBJECTS)
    pictures = [
        {"id": k, "width": width, "height": height, "file_name": f"img_{k}.jpg"}
        for k in range(1, images + 1)
    ]
    sides = [
        [
            {"image_id": k, "category_id": 1, "bbox": box}
            for k, image in enumerate(boxes.tolist(), 1)
            for box in image
        ]
        for boxes in (words, detected(rng, words))
    ]
    annotations = [
        {"id": k, **one, "area": one["bbox"][2] * one["bbox"][3], "iscrowd": 0}
        for k, one in enumerate(sides[0], 1)
    ]
    categories = [{"id": 1, "name": "text"}]
    document = {"images": pictures, "annotations": annotations, "categories": categories}
    scores = rng.integers(1, 1000, len(sides[1])) / 1000
    results = [{**one, "score": score} for one, score in zip(sides[1], scores, strict=True)]
    for name, value in (("gt.json", document), ("det.json", results)):
        (folder / name).write_text(json.dumps(value))
    return folder / "gt.json", folder / "det.json"


def make_masks(folder: Path, images: int, objects: int = 20, seed: int = 1) -> list[Path]:
    """Write gt.txt, det.txt and folders gt and det of label pictures; return the four paths.

    Words are upright strokes under a bar, so a row of a word is many runs.
    """
    rng = np.random.default_rng(seed)
    words = random_words(rng, images, objects)
    found = np.clip(words + rng.integers(-3, 4, words.shape), 0, None)
    for name, boxes in (("gt", words), ("det", found)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.txt").write_text(lines_of(boxes, 0, name == "gt"))
        for k, image in enumerate(boxes.tolist()):
            labels = np.zeros(image_size(objects), np.uint8)
            for label, (x, y, width, height) in enumerate(image, 1):
                part = labels[y : y + height, x : x + width]
                part[:, np.arange(part.shape[1]) % 12 < 6] = label
                part[:6] = label
            Image.fromarray(labels).save(folder / name / f"img_{k}.png")
    return [folder / "gt.txt", folder / "det.txt", folder / "gt", folder / "det"]
