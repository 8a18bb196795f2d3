"""Label pictures drawn from boxes and polygons."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaltex_cli.conversion.writer import Job
from evaltex_cli.errors import quote
from evaltex_cli.formats.options import MAX_PIXELS
from evaltex_cli.formats.sizes import SUFFIXES
from evaltex_cli.geometry.rings import corners_and_vertices
from evaltex_cli.records import Objects

LARGEST_LABEL = 0xFFFF
Labels = NDArray[Any]


def draw_all(job: Job, folder: Path, mask_format: str) -> None:
    """Write a label picture of each image into a folder, as ``tif`` or ``png``.

    An object covers the pixels whose centres lie in it; a later object covers earlier ones. Pixel
    values are IDs, 16 bits each. Raises `InputError` for images without size, and objects of which
    no pixel is left, as no label picture could show them.
    """
    job.refuse_unknown_sizes(np.ones(len(job.source.names), np.bool_))
    sizes, ends = job.source.sizes.astype(int).tolist(), pairwise(job.objects.offsets.tolist())
    for name, (height, width), (start, stop) in zip(job.source.names, sizes, ends, strict=True):
        if height * width > MAX_PIXELS:
            job.refuse(f"a picture of {width} x {height}", f"at most {MAX_PIXELS} pixels")
            continue
        picture, ids = draw(job.objects, slice(start, stop), (height, width)), job.objects.ids
        if ((ids[start:stop] <= 0) | (ids[start:stop] > LARGEST_LABEL)).any():
            expected = f"IDs from 1 to {LARGEST_LABEL} for label pictures"
            job.refuse(f"IDs of image {quote(name)}", expected)
        for hidden in np.setdiff1d(ids[start:stop], picture).tolist():
            job.refuse(
                f"object {hidden} of image {quote(name)} has no pixel: hidden by later objects, out"
                " of the image or flat",
                "objects that each keep a pixel; remove it, or change the order",
            )
        if not job.faults:
            kind = "TIFF" if mask_format == "tif" else "PNG"
            labels = Image.fromarray(picture.astype(np.uint16))
            has_ending = name.lower().endswith(SUFFIXES)
            path = folder / (name if has_ending else f"{name}.{mask_format}")
            path.parent.mkdir(parents=True, exist_ok=True)
            labels.save(path, kind, compression="tiff_adobe_deflate")
    job.faults.raise_if_any()


def draw(objects: Objects, own: slice, size: tuple[int, int]) -> Labels:
    """Return the (height, width) label picture of an image's objects, later ones on top."""
    picture = np.zeros(size, np.int64)
    vertices, offsets = corners_and_vertices(objects.outlines[np.arange(own.start, own.stop)])
    for (start, stop), label in zip(pairwise(offsets), objects.ids[own].tolist(), strict=True):
        _fill(picture, vertices[start:stop], label)
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
        slope = (next_x[crosses] - x[crosses]) / (next_y[crosses] - y[crosses])
        at = x[crosses] + (centre - y[crosses]) * slope
        edges = np.clip(np.ceil(np.sort(at) - 0.5), 0, width).astype(np.int64).tolist()
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            picture[row, start:stop] = label
