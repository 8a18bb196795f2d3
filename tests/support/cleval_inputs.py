"""Words of one image for the tests of CLEval, and what comes of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaltex_cli import Accumulator, image_objects
from evaltex_cli.geometry import overlaps
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import Evidence
from evaltex_cli.protocols.cleval import protocol as cleval
from evaltex_cli.records import ImageBatch, Objects
from evaltex_cli.records.rows import concatenate


def batch_of(images: list[tuple[Objects, Objects]], size: float = 0.0) -> ImageBatch:
    names = [f"image {k}" for k in range(len(images))]
    gt, det = (concatenate([image[side] for image in images]) for side in (0, 1))
    return ImageBatch(names, np.full((len(images), 2), size), gt, det)


def evidence_of(batch: ImageBatch, **parameters: Any) -> Evidence:
    checked = config.checked("cleval", parameters)
    measured = overlaps.measure(batch, cleval.convention(checked))
    return cleval.evidence(batch, measured, checked, with_matches=True)


def scored(gt: Any, det: Any, **parameters: Any) -> dict[str, Any]:
    accumulator = Accumulator("cleval", **parameters)
    accumulator.update(gt, det)
    return accumulator.compute().scores


def word(*box: float, text: str = "abcdef", dont_care: bool = False) -> Objects:
    return image_objects([box], texts=[text], dont_care=[dont_care])


def words(*entries: tuple[tuple[float, float, float, float], str]) -> Objects:
    return image_objects(
        [box for box, _ in entries],
        texts=[text for _, text in entries],
        dont_care=[text == "###" for _, text in entries],
    )


WORD = (0.0, 0.0, 60.0, 10.0)
HALVES = ((0.0, 0.0, 30.0, 10.0), (30.0, 0.0, 60.0, 10.0))
