"""Label pictures drawn from boxes and polygons."""

from __future__ import annotations

import io
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaltex_cli.conversion.writer import Job, refuse_unfit_files
from evaltex_cli.errors import quote
from evaltex_cli.formats.options import MAX_PIXELS
from evaltex_cli.formats.sizes import SUFFIXES
from evaltex_cli.records import Objects

LARGEST_LABEL = 0xFFFF
Labels = NDArray[Any]


def draw_all(job: Job, folder: Path, mask_format: str) -> None:
    """Write a label picture of each image into a folder.

    An object covers the pixels whose centres lie in it; a later object covers earlier ones. Pixel
    values are IDs, 16 bits each.

    Parameters
    ----------
    mask_format : {'tif', 'png'}

    Raises
    ------
    InputError
        For images without size, and objects of which no pixel is left, as no label picture could
        show them.
    """
    files = [
        name if name.lower().endswith(SUFFIXES) else f"{name}.{mask_format}" for name in job.names
    ]
    refuse_unfit_files(job, files)
    ends = pairwise(job.objects.offsets.tolist())
    rows = zip(job.names, files, job.source.sizes.tolist(), ends, strict=True)
    for name, file, size, (start, stop) in rows:
        if _has_size(job, name, *size):
            picture = draw(job.objects, slice(start, stop), (int(size[0]), int(size[1])))
            _refuse_hidden(job, name, picture, slice(start, stop))
            if not job.faults.count:
                _save(folder / file, picture.astype(np.uint16), mask_format)
    job.faults.raise_if_any()


def _has_size(job: Job, name: str, height: float, width: float) -> bool:
    if height <= 0 or width <= 0:
        expected = "a source that states height and width, as label pictures need"
        job.refuse(f"image {quote(name)} without height and width", expected)
        return False
    if height * width > MAX_PIXELS or (height, width) != (int(height), int(width)):
        found = f"height,width {height:g},{width:g} of image {quote(name)}"
        job.refuse(found, f"whole numbers, and at most {MAX_PIXELS} pixels")
        return False
    return True


def _refuse_hidden(job: Job, name: str, picture: Labels, own: slice) -> None:
    """Log the objects that a picture does not show, and IDs that do not fit."""
    ids = job.objects.ids[own]
    if len(ids) and not (int(ids.min()) > 0 and int(ids.max()) <= LARGEST_LABEL):
        expected = f"IDs from 1 to {LARGEST_LABEL} for label pictures"
        job.refuse(f"IDs of image {quote(name)}", expected)
    for hidden in np.setdiff1d(ids, picture).tolist():
        job.refuse(
            f"object {hidden} of image {quote(name)} has no pixel: hidden by later objects, out of"
            " the image or flat",
            "objects that each keep a pixel; remove it, or change the order",
        )


def draw(objects: Objects, own: slice, size: tuple[int, int]) -> Labels:
    """Return the (height, width) label picture of one image's objects, later ones over earlier
    ones.
    """
    picture = np.zeros(size, np.int64)
    for i in range(own.start, own.stop):
        ring = objects.outlines.ring(i)
        if len(ring):
            _fill(picture, ring, int(objects.ids[i]))
        else:
            x0, y0, x1, y1 = (max(math.ceil(value - 0.5), 0) for value in objects.boxes[i].tolist())
            picture[y0:y1, x0:x1] = objects.ids[i]
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


def _save(path: Path, picture: NDArray[np.uint16], mask_format: str) -> None:
    """Encode a picture in memory, as libtiff reports a full disk in many ways, and write it."""
    encoded = io.BytesIO()
    kind, more = (
        ("TIFF", {"compression": "tiff_adobe_deflate"}) if mask_format == "tif" else ("PNG", {})
    )
    Image.fromarray(picture).save(encoded, kind, **more)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encoded.getbuffer())
