"""Random scenes for the tests of DetEval and its variants."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from evaltex_cli import Accumulator, image_objects
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import Evidence, load
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.records import ImageBatch, concatenate

Box = tuple[float, float, float, float]
Scene = tuple[list[Box], list[bool], list[Box]]


def random_box(rng: random.Random) -> Box:
    x, y = rng.randint(0, 24), rng.randint(0, 6)
    return x, y, x + rng.randint(0, 14), y + rng.randint(0, 5)


def random_scene(rng: random.Random) -> Scene:
    """Words in lines; detections of them, cut in pieces, merged, moved by a
    pixel, and anything else.
    """
    gt = [random_box(rng) for _ in range(rng.choice((0, 1, 2, 4, 6)))]
    if rng.random() < 0.5:
        gt = [(8.0 * k, 0.0, 8.0 * k + rng.randint(4, 9), 4.0) for k in range(len(gt))]
    det: list[Box] = []
    for x0, y0, x1, y1 in gt:
        kind = rng.choice(("same", "pieces", "merge", "moved", "any", "none", "cut"))
        half = (x0 + x1) // 2
        det += {
            "same": [(x0, y0, x1, y1)],
            "pieces": [(x0, y0, half, y1), (half + rng.choice((0, 1)), y0, x1, y1)],
            "merge": [(x0, y0, x1 + 10, y1)],
            "moved": [(x0 + 1, y0, x1 + 1, y1)],
            "any": [random_box(rng)],
            "none": [],
            "cut": [(x0, y0, x0 + int(0.8 * (x1 - x0 + 1)) - (x1 > x0), y1)],
        }[kind]
    det += [random_box(rng) for _ in range(rng.choice((0, 0, 1, 3)))]
    det = [(a, b, max(a, c), d) for a, b, c, d in det]
    rng.shuffle(det)
    return gt, [rng.random() < 0.15 for _ in gt], det


def evidence_of(scenes: list[Scene], protocol: str, **parameters: Any) -> Evidence:
    """The evidence of several images as one batch."""
    gt = concatenate([image_objects(np.reshape(g, (-1, 4)), dont_care=d) for g, d, _ in scenes])
    det = concatenate([image_objects(np.reshape(d, (-1, 4))) for _, _, d in scenes])
    batch = ImageBatch([str(k) for k in range(len(scenes))], np.zeros((len(scenes), 2)), gt, det)
    found, checked = load(protocol), config.checked(protocol, parameters)
    return Measured(batch).evidence(found, checked)


def accumulated(scenes: list[Scene], protocol: str = "deteval", **parameters: Any) -> Evaluation:
    accumulator = Accumulator(protocol, params=parameters)
    for gt, dont_care, det in scenes:
        accumulator.update(
            image_objects(np.reshape(gt, (-1, 4)), dont_care=dont_care), np.reshape(det, (-1, 4))
        )
    return accumulator.compute()


WORD = (0, 0, 99, 19)
