"""Small data sets with confidences, to sweep: files, and random images in memory."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from evaltex_cli import image_objects
from evaltex_cli.records import Objects

TEXTS = ("one", "two", "Three", "four, 5", "")
CONFIDENCES = (0.0, 0.1, 0.2, 0.5, 0.5000001, 0.9, 1.0)


def word(made: random.Random) -> list[tuple[float, float]]:
    """A box or a polygon of four to six vertices in a small picture, so that many overlap."""
    x, y = made.randrange(4) * 30.0, made.randrange(3) * 20.0
    width, height = made.choice([20.0, 30.0, 55.0]), made.choice([12.0, 18.0, 33.0])
    ring = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    kind = made.randrange(3)
    if kind == 1:
        ring[1] = (x + width, y + 2)
    if kind == 2:
        ring.insert(1, (x + width / 2, y - 3))
    return ring


def side(made: random.Random, count: int, is_gt: bool, with_polygons: bool = True) -> Objects:
    rings = [np.array(word(made)) for _ in range(count)]
    boxes = np.zeros((0, 4))
    if not with_polygons:
        boxes = np.array([[*ring.min(axis=0), *ring.max(axis=0)] for ring in rings]).reshape(-1, 4)
        rings = []
    texts = [made.choice(TEXTS) for _ in range(count)]
    if is_gt:
        dont_care = [made.random() < 0.2 for _ in range(count)]
        return image_objects(boxes, rings, texts=texts, dont_care=dont_care)
    confidences = [None if made.random() < 0.1 else made.choice(CONFIDENCES) for _ in range(count)]
    return image_objects(boxes, rings, texts=texts, confidences=np.array(confidences, float))


def scene(seed: int, with_polygons: bool = True) -> tuple[dict[str, Objects], dict[str, Objects]]:
    made = random.Random(seed)
    names = [f"img_{k}" for k in made.sample(range(20), made.randint(1, 6))]
    gt = {name: side(made, made.randint(0, 5), True, with_polygons) for name in names}
    named = [name for name in names if made.random() < 0.9]
    det = {name: side(made, made.randint(0, 7), False, with_polygons) for name in named}
    gt[names[0]] = image_objects([[0, 0, 30, 18]], texts=["one"])
    det[names[0]] = image_objects(
        [[0, 0, 30, 18], [2, 2, 30, 18]], confidences=[1.0, 0.2], texts=["one", "two"]
    )
    return gt, det


def nine_images(folder: Path, spread: int) -> tuple[Path, Path]:
    """Folders of five words in each image, and of detections that begin below `spread` pixels too
    far right.
    """
    made = random.Random(2)
    gt, det = folder / "gt", folder / "det"
    for side in (gt, det):
        side.mkdir()
    for k in range(9):
        boxes = [(70 * n, made.randrange(40)) for n in range(5)]
        (gt / f"gt_img_{k}.txt").write_text(
            "".join(f"{x},{y},{x + 60},{y + 20},word\n" for x, y in boxes)
        )
        (det / f"res_img_{k}.txt").write_text(
            "".join(
                f"{x + made.randrange(spread)},{y},{x + 60},{y + 20},{made.random():.2f}\n"
                for x, y in boxes
            )
        )
    return gt, det
