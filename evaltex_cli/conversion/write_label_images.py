"""Label pictures drawn from boxes and polygons."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaltex_cli.conversion.base import Block, vertices_of
from evaltex_cli.errors import FaultLog, quote
from evaltex_cli.old_formats import picture_folders
from evaltex_cli.records import Ints, Objects

LARGEST_LABEL = 0xFFFF
MAX_PIXELS = 100_000_000
Labels = NDArray[Any]


def draw_all(
    folder: Path,
    mask_format: str,
    blocks: Iterable[Block],
    place: str,
    faults: FaultLog,
) -> Iterator[Block]:
    """Yield the blocks on, after writing a label picture of each image into a folder.

    An object covers the pixels whose centres lie in it; a later object covers earlier ones. Pixel
    values are IDs, 16 bits each. An object of which no pixel is left is a fault, as no label
    picture could show it.

    Parameters
    ----------
    folder : Path
    mask_format : {'tif', 'png'}
    place : str
        The source, as messages name it.
    """
    for block in blocks:
        for k, name in enumerate(block.names):
            own = slice(
                int(block.images.objects.offsets[k]), int(block.images.objects.offsets[k + 1])
            )
            size = _size(block, k, name, place, faults)
            if size is None:
                continue
            picture = draw(block.images.objects, own, size)
            if _complete(picture, block.images.objects.ids[own], name, place, faults):
                _save(folder / file_name(name, mask_format), picture.astype(np.uint16), mask_format)
        yield block


def _size(block: Block, k: int, name: str, place: str, faults: FaultLog) -> tuple[int, int] | None:
    height, width = block.images.sizes[k].tolist()
    if height <= 0 or width <= 0:
        expected = "a source that states height and width, as label pictures need"
        faults.add(place, None, f"image {quote(name)} without height and width", expected)
        return None
    if height * width > MAX_PIXELS or (height, width) != (int(height), int(width)):
        found = f"height,width {height:g},{width:g} of image {quote(name)}"
        faults.add(place, None, found, f"whole numbers, and at most {MAX_PIXELS} pixels")
        return None
    return int(height), int(width)


def _complete(picture: Labels, ids: Ints, name: str, place: str, faults: FaultLog) -> bool:
    """Whether a picture shows each of these objects, and they all fit; what
    does not goes to the log.
    """
    before = faults.count
    if len(ids) and not (int(ids.min()) > 0 and int(ids.max()) <= LARGEST_LABEL):
        faults.add(
            place,
            None,
            f"IDs of image {quote(name)}",
            f"IDs from 1 to {LARGEST_LABEL} for label pictures",
        )
    for hidden in np.setdiff1d(ids, picture).tolist():
        found = (
            f"object {hidden} of image {quote(name)} has no pixel: hidden by later objects, out"
            " of the image or flat"
        )
        faults.add(
            place, None, found, "objects that each keep a pixel; remove it, or change the order"
        )
    return faults.count == before


def draw(objects: Objects, own: slice, size: tuple[int, int]) -> Labels:
    """Return the (height, width) label picture of one image's objects, later
    ones over earlier ones.
    """
    picture = np.zeros(size, np.int64)
    for i in range(own.start, own.stop):
        vertices = vertices_of(objects, i)
        if vertices is None:
            x0, y0, x1, y1 = (max(math.ceil(value - 0.5), 0) for value in objects.boxes[i].tolist())
            picture[y0:y1, x0:x1] = objects.ids[i]
        else:
            _fill(picture, np.array(vertices).reshape(-1, 2), int(objects.ids[i]))
    return picture


def _fill(picture: Labels, vertices: NDArray[np.float64], label: int) -> None:
    """Fill a polygon by the even-odd rule, at the centres of pixels."""
    height, width = picture.shape
    x, y = vertices.T
    next_x, next_y = np.roll(x, -1), np.roll(y, -1)
    first = max(math.ceil(float(y.min()) - 0.5), 0)
    last = min(math.ceil(float(y.max()) - 0.5), height)
    for row in range(first, last):
        centre = row + 0.5
        crosses = (y <= centre) != (next_y <= centre)
        at = x[crosses] + (centre - y[crosses]) * (next_x[crosses] - x[crosses]) / (
            next_y[crosses] - y[crosses]
        )
        edges = np.clip(np.ceil(np.sort(at) - 0.5), 0, width).astype(np.int64).tolist()
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            picture[row, start:stop] = label


def file_name(image: str, mask_format: str) -> str:
    """The file that the reader looks for: the image's name and an ending, unless it has one."""
    return image if image.lower().endswith(picture_folders.SUFFIXES) else f"{image}.{mask_format}"


def _save(path: Path, picture: NDArray[np.uint16], mask_format: str) -> None:
    """Encode a picture in memory, as libtiff reports a full disk in many ways, and write it."""
    encoded = io.BytesIO()
    if mask_format == "tif":
        Image.fromarray(picture).save(encoded, "TIFF", compression="tiff_adobe_deflate")
    else:
        Image.fromarray(picture).save(encoded, "PNG")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded.getbuffer())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
