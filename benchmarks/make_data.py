"""Writes data sets of any size: ground truth and detections as EvaLTex files, and label pictures if
wanted.

    python benchmarks/make_data.py FOLDER --images 1000 --objects 10 --kind boxes

Words are in a grid of lines, six in each, from the top of the picture. Of the detections most are
words a little off, some lie between two words (and so touch both, or neither), some are pieces. The
same arguments give the same files.
"""

from __future__ import annotations

import argparse
import json
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

CELL_HEIGHT, CELL_WIDTH = 60, 160
COLUMNS = 6
IMAGES_AT_ONCE = 4096
KINDS = ("boxes", "quadrilaterals", "polygons", "masks")


@dataclass(frozen=True)
class MaskKind:
    """What label pictures are like.

    Attributes
    ----------
    suffix : str
        Of the files, with the dot.
    mode : {'L', 'P', 'RGB', 'I;16'}
        Of the pixels, as Pillow names it; 'L' becomes 'I;16' where 8 bits do not suffice.
    compression : str or None
        Of TIFF files, as Pillow names it.
    objects : int
        Of an image.
    stroke : int
        Pixels of a stroke, and of the gap to the next.
    """

    suffix: str = ".png"
    mode: str = "L"
    compression: str | None = None
    objects: int = 20
    stroke: int = 6


def image_size(objects: int) -> tuple[int, int]:
    """Height and width of a picture that holds so many words; at least 4:3."""
    width = CELL_WIDTH * COLUMNS
    return max(width * 3 // 4, CELL_HEIGHT * -(-objects // COLUMNS)), width


def random_words(rng: np.random.Generator, images: int, objects: int) -> NDArray[np.int64]:
    """Words, (images, objects, 4): x, y, width, height."""
    cell = np.arange(objects)
    size = rng.integers((60, 20), (CELL_WIDTH - 10, CELL_HEIGHT - 10), (images, objects, 2))
    room = np.array((CELL_WIDTH, CELL_HEIGHT)) - size
    corner = np.stack([cell % COLUMNS * CELL_WIDTH, cell // COLUMNS * CELL_HEIGHT], axis=1)
    return np.concatenate([corner + (rng.random(size.shape) * room).astype(np.int64), size], axis=2)


def detected(rng: np.random.Generator, words: NDArray[np.int64]) -> NDArray[np.int64]:
    """A detection for every word, in the same cells: a little off, between
    two words, or half of one.
    """
    images, objects, _ = words.shape
    found = words + rng.integers(-3, 4, words.shape)
    manner = rng.random((images, objects))
    found[..., 0] += np.where(manner < 0.1, CELL_WIDTH // 2, 0)
    found[..., 2] //= np.where(manner > 0.9, 2, 1)
    height, width = image_size(objects)
    found[..., :2] = np.clip(found[..., :2], 0, (width - 20, height - 10))
    found[..., 2:] = np.minimum(found[..., 2:], (width, height) - found[..., :2])
    return found


def waved(rng: np.random.Generator, boxes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Polygons of eight vertices in place of boxes, (images, objects, 16): words on a wave."""
    x, y, width, height = np.moveaxis(boxes, 2, 0)[..., None]
    along = x + width * np.arange(4) // 3
    lift = (height // 4 * rng.uniform(-1, 1, (*height.shape[:2], 4))).astype(np.int64)
    upper = np.stack([along, y + height // 4 + lift], axis=-1)
    lower = np.stack([along, y + height - height // 4 + lift], axis=-1)[:, :, ::-1]
    return np.concatenate([upper, lower], axis=2).reshape(*boxes.shape[:2], 16)


def slanted(rng: np.random.Generator, boxes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Quadrilaterals in place of boxes, (images, objects, 8): every corner moved a little."""
    x, y, width, height = np.moveaxis(boxes, 2, 0)
    corners = np.stack([x, y, x + width, y, x + width, y + height, x, y + height], axis=2)
    return corners + rng.integers(-3, 4, corners.shape)


def lines_of(numbers: NDArray[np.int64], first: int, is_gt: bool) -> str:
    """The images' blocks of an EvaLTex file, `first` being the number of the first image."""
    images, objects, count = numbers.shape
    height, width = image_size(objects)
    head, start = (
        (f"img_%d\n{height},{width}\n", '{},{},"word",f') if is_gt else ("img_%d\n", '{},"word"')
    )
    block = (
        head
        + "".join(
            start.format(k + 1, k // COLUMNS + 1) + ",%d" * count + "\n" for k in range(objects)
        )
        + "\n"
    )
    named = np.concatenate(
        [np.arange(first, first + images)[:, None], numbers.reshape(images, -1)], axis=1
    )
    text: str = block * images % tuple(named.ravel().tolist())
    return text


def make_texts(
    folder: Path, images: int, objects: int, kind: str, seed: int = 1
) -> tuple[Path, Path]:
    """Write gt.txt and det.txt with as many detections as objects; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    gt_path, det_path = folder / "gt.txt", folder / "det.txt"
    rng = np.random.default_rng(seed)
    with gt_path.open("w", newline="\n") as gt, det_path.open("w", newline="\n") as det:
        for first in range(0, images, IMAGES_AT_ONCE):
            words = random_words(rng, min(IMAGES_AT_ONCE, images - first), objects)
            found = detected(rng, words)
            if kind != "boxes":
                shape = waved if kind == "polygons" else slanted
                words, found = shape(rng, words), shape(rng, found)
            gt.write(lines_of(words, first, True))
            det.write(lines_of(found, first, False))
    return gt_path, det_path


def make_archive(folder: Path, images: int, objects: int, kind: str, seed: int = 1) -> Path:
    """Write a .zip of ICDAR-style .txt files, kind 'boxes' or 'quadrilaterals'; return its path."""
    path = folder / f"{kind}.zip"
    words = random_words(np.random.default_rng(seed), images, objects)
    x, y, width, height = np.moveaxis(words, 2, 0)
    corners = [x, y, x + width, y, x + width, y + height, x, y + height]
    numbers = np.stack(
        corners if kind == "quadrilaterals" else [x, y, x + width, y + height], axis=2
    )
    block = ("%d," * numbers.shape[2] + "word\n") * objects
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for k, image in enumerate(numbers.reshape(images, -1).tolist()):
            archive.writestr(f"gt_img_{k}.txt", block % tuple(image))
    return path


def make_repeated(folder: Path, source: Path, images: int, seed: int = 1) -> list[Path]:
    """Write archives of so many images, those of ICDAR 2015 over and over: ground truth, PixelLink
    and a second detector, which is PixelLink without some words; return their paths.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    paths = []
    for name, given, share in (
        ("gt", "gt.zip", 1.0),
        ("det", "pixellink.zip", 1.0),
        ("other", "pixellink.zip", 0.9),
    ):
        with zipfile.ZipFile(source / given) as archive:
            entries = sorted(archive.namelist())
            texts = [archive.read(entry).decode("utf-8-sig").splitlines() for entry in entries]
        kept = (
            [line for line in texts[k % len(texts)] if rng.random() < share] for k in range(images)
        )
        paths.append(_archive(folder / f"{name}.zip", kept))
    return paths


def make_scene_text(folder: Path, images: int, seed: int = 1) -> list[Path]:
    """Write archives like those of `make_repeated` of made words: 10 in each image, three in five
    of them don't care, and half as many detections.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    words = random_words(rng, images, 10)
    sides = [slanted(rng, words), *(slanted(rng, detected(rng, words)) for _ in range(2))]
    paths = []
    for name, numbers in zip(("gt", "det", "other"), sides, strict=True):
        is_gt = name == "gt"
        marks = np.where(rng.random(words.shape[:2]) < 0.6, ",###", ",word") if is_gt else None
        kept = np.ones(words.shape[:2], bool) if is_gt else rng.random(words.shape[:2]) < 0.55
        lines = (
            [
                ",".join(map(str, ring)) + ("" if marks is None else marks[k, i])
                for i, ring in enumerate(image)
                if kept[k, i]
            ]
            for k, image in enumerate(numbers.tolist())
        )
        paths.append(_archive(folder / f"{name}.zip", lines))
    return paths


def _archive(path: Path, images: Iterable[Sequence[str]]) -> Path:
    """Write an ICDAR-style archive of the lines of each image; return its path."""
    start = "gt_" if path.stem == "gt" else "res_"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for k, lines in enumerate(images, 1):
            archive.writestr(f"{start}img_{k}.txt", "".join(line + "\n" for line in lines))
    return path


def make_coco(
    folder: Path, images: int, objects: int, seed: int = 1, is_complete: bool = False
) -> tuple[list[Path], list[Path]]:
    """Write the same quadrilaterals as EvaLTex text and as COCO JSON; return
    the paths of both sides, of each.

    Of complete JSON the members are all that other programs want.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts, documents = (
        [folder / f"{side}{ending}" for side in ("gt", "det")] for ending in (".txt", ".json")
    )
    rng = np.random.default_rng(seed)
    words = random_words(rng, images, objects)
    for boxes, text, document in zip((words, detected(rng, words)), texts, documents, strict=True):
        x, y, width, height = np.moveaxis(boxes, 2, 0)
        numbers = np.stack(
            [x, y, x + width, y + 2, x + width, y + height, x, y + height - 2], axis=2
        )
        is_gt = text == texts[0]
        text.write_text(lines_of(numbers, 0, is_gt), encoding="utf-8", newline="\n")
        named = [
            (k if is_complete else f"img_{k}", ring, box)
            for k, (image, of_image) in enumerate(
                zip(numbers.tolist(), boxes.tolist(), strict=True), 1
            )
            for ring, box in zip(image, of_image, strict=True)
        ]
        annotations: list[dict[str, object]] = [
            {"image_id": name, "segmentation": [ring], "utf8_string": "word"}
            | ({"bbox": box, "category_id": 1, "score": 0.5} if is_complete else {})
            for name, ring, box in named
        ]
        numbered = [
            {"id": k, **one} | ({"area": 1, "iscrowd": 0} if is_complete else {})
            for k, one in enumerate(annotations, 1)
        ]
        height_of_all, width_of_all = image_size(objects)
        pictures = [
            {
                "id": k if is_complete else f"img_{k}",
                "width": width_of_all,
                "height": height_of_all,
                "file_name": f"img_{k}.jpg",
            }
            for k in range(1, images + 1)
        ]
        categories = [{"id": 1, "name": "text"}]
        value = (
            {"images": pictures, "annotations": numbered, "categories": categories}
            if is_gt
            else annotations
        )
        document.write_text(json.dumps(value), encoding="utf-8")
    return texts, documents


def make_masks(folder: Path, images: int, kind: MaskKind = MaskKind(), seed: int = 1) -> list[Path]:
    """Write gt.txt, det.txt and the folders gt and det of label pictures; return these four paths.

    Words are upright strokes under a bar, so that a row of a word is many runs; detections are
    words a little off.
    """
    rng = np.random.default_rng(seed)
    words = random_words(rng, images, kind.objects)
    found = np.clip(words + rng.integers(-3, 4, words.shape), 0, None)
    for name, boxes in (("gt", words), ("det", found)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.txt").write_text(lines_of(boxes, 0, name == "gt"), newline="\n")
        for k in range(images):
            label_picture(boxes[k], kind).save(
                folder / name / f"img_{k}{kind.suffix}", compression=kind.compression
            )
    return [folder / "gt.txt", folder / "det.txt", folder / "gt", folder / "det"]


def label_picture(boxes: NDArray[np.int64], kind: MaskKind) -> Image.Image:
    """The label picture of an image's boxes (objects, 4)."""
    labels = np.zeros(image_size(len(boxes)), np.uint16)
    for k, (x, y, width, height) in enumerate(boxes.tolist(), start=1):
        part = labels[y : y + height, x : x + width]
        part[:, np.arange(part.shape[1]) % (2 * kind.stroke) < kind.stroke] = k
        part[: kind.stroke] = k
    if kind.mode == "I;16" or len(boxes) > 255:
        return Image.fromarray(labels)
    if kind.mode == "RGB":
        return Image.fromarray(np.stack([labels, 0 * labels, 0 * labels], axis=2).astype(np.uint8))
    picture = Image.fromarray(labels.astype(np.uint8))
    if kind.mode == "P":
        picture.putpalette(list(range(256)) * 3)
    return picture


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument(
        "--objects", type=int, default=10, help="objects, and detections, of an image"
    )
    parser.add_argument("--kind", choices=KINDS, default="boxes")
    parser.add_argument(
        "--suffix", choices=(".png", ".tif"), default=".png", help="of label pictures"
    )
    parser.add_argument(
        "--stroke", type=int, default=MaskKind.stroke, help="pixels of a stroke in label pictures"
    )
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.kind == "masks":
        kind = MaskKind(given.suffix, objects=given.objects, stroke=given.stroke)
        make_masks(given.folder, given.images, kind, given.seed)
    else:
        make_texts(given.folder, given.images, given.objects, given.kind, given.seed)


if __name__ == "__main__":
    main()
