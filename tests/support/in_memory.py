"""The images of a scene in files, as objects in memory; and an accumulator of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import scenes
from reading import read_or_raise

from evaltex_cli import Accumulator, image_objects
from evaltex_cli.records import Objects

Image = tuple[Objects, Objects]


def in_memory(objects: Objects, k: int) -> Objects:
    """Image k of a batch by way of `image_objects`, boxes before polygons."""
    own = slice(int(objects.offsets[k]), int(objects.offsets[k + 1]))
    counts = objects.outlines.counts
    order = sorted(range(own.start, own.stop), key=lambda i: counts[i] > 0)
    rings = [objects.outlines.ring(i) for i in order if counts[i]]
    return image_objects(
        objects.boxes[[i for i in order if not counts[i]]],
        rings,
        ids=objects.ids[order],
        regions=objects.regions[order],
        dont_care=objects.dont_care[order],
        texts=[objects.texts[i] for i in order],
    )


def images_of(folder: Path, seed: int, polygons: bool = False) -> list[Image]:
    """A scene, written to gt.txt and det.txt in a folder; its images as they
    are read, then taken to memory.
    """
    gt, det = scenes.random_scene(seed, images=5, polygons=polygons)
    (folder / "gt.txt").write_text(gt, encoding="utf-8", newline="")
    (folder / "det.txt").write_text(det, encoding="utf-8", newline="")
    sides = read_or_raise(folder / "gt.txt", "gt"), read_or_raise(folder / "det.txt", "det")
    gt_read, det_read = (one.objects for one in sides)
    at = {name: k for k, name in enumerate(sides[1].names)}
    nothing = image_objects()
    return [
        (in_memory(gt_read, k), in_memory(det_read, at[name]) if name in at else nothing)
        for k, name in enumerate(sides[0].names)
    ]


def accumulated(images: list[Image], protocol: str = "evaltex", **parameters: Any) -> Accumulator:
    accumulator = Accumulator(protocol, **parameters)
    for gt, det in images:
        accumulator.update(gt, det)
    return accumulator


def assert_close(found: Any, expected: Any, where: str) -> None:
    """Equal to 1e-9, lists and rows of curves throughout."""
    if isinstance(expected, dict):
        assert list(found) == list(expected), where
        for name, value in expected.items():
            assert_close(found[name], value, f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for k, (a, b) in enumerate(zip(found, expected, strict=True)):
            assert_close(a, b, f"{where}[{k}]")
    else:
        assert found == (expected if expected is None else pytest.approx(expected, abs=1e-9)), where
