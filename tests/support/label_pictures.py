"""A small label picture, ways to write it as a file, and what is read from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from PIL import Image

from evaltex_cli.api.arrays import image_objects
from evaltex_cli.errors import FaultLog
from evaltex_cli.formats.masks import read_runs
from evaltex_cli.formats.options import MaskFolders
from evaltex_cli.geometry.masks import Masks
from evaltex_cli.records import ImageBatch, concatenate

LABELS = np.kron(np.array([[0, 1, 2], [3, 3, 0]]), np.ones((4, 5), np.int64))
HEIGHT, WIDTH = LABELS.shape
Writer = Callable[[Path, np.ndarray], None]


def read(
    folder: Path,
    names: list[str],
    ids: list[list[int]],
    *,
    size: tuple[int, int] = (HEIGHT, WIDTH),
    has_picture: bool = True,
    max_pixels: int = 10_000,
) -> tuple[Masks, list[str]]:
    """Runs, and the faults as the user sees them."""
    faults = FaultLog()
    objects = concatenate(
        [image_objects(np.tile([0, 0, 9, 9], (len(own), 1)), ids=np.array(own, int)) for own in ids]
    )
    sizes = np.tile(np.array(size, np.float64), (len(names), 1))
    present = np.full(len(names), has_picture)
    batch = ImageBatch(names, sizes, objects, objects, in_detections=present)
    runs = read_runs(batch, "det", MaskFolders(folder, folder, max_pixels), faults)
    return runs, [str(fault) for fault in faults]


def painted(masks: Masks, ids: list[int]) -> np.ndarray:
    """What all pictures show, laid over each other."""
    picture = np.zeros((HEIGHT, WIDTH), np.int64)
    for owner, row, start, stop in zip(*masks[:4], strict=True):
        picture[row % HEIGHT, start:stop] = ids[owner]
    return picture


def assert_reads(folder: Path, labels: np.ndarray, name: str = "img") -> None:
    ids = [int(v) for v in np.unique(labels) if v]
    runs, faults = read(folder, [name], [ids])
    assert faults == []
    assert (painted(runs, ids) == labels).all()


def only_fault(folder: Path, ids: list[int], **options: Any) -> str:
    runs, faults = read(folder, ["img"], [ids], **options)
    assert len(runs.start) == 0
    [fault] = faults
    assert fault.startswith(str(folder))
    return fault


def with_pillow(dtype: str, factor: int = 1, **options: Any) -> Writer:
    def write(path: Path, labels: np.ndarray) -> None:
        Image.fromarray((labels * factor).astype(dtype)).save(path, **options)

    return write


def with_tifffile(dtype: str, factor: int = 1, **options: Any) -> Writer:
    def write(path: Path, labels: np.ndarray) -> None:
        tifffile.imwrite(
            path, (labels * factor).astype(dtype), **{"photometric": "minisblack", **options}
        )

    return write


def palette(**options: Any) -> Writer:
    """Colours that are nobody's index."""

    def write(path: Path, labels: np.ndarray) -> None:
        image = Image.new("P", labels.shape[::-1])
        image.putdata(labels.ravel().tolist())
        image.putpalette([9, 200, 9, 7, 7, 70, 200, 30, 1, 90, 90, 200])
        image.save(path, **options)

    return write
