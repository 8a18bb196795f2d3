"""Small pictures of places in images, as URLs that contain them."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from evaltex_cli.formats.masks import unlimited_and_silent

if TYPE_CHECKING:
    from PIL.Image import Image

Region: TypeAlias = tuple[int, int, int, int]
"""x0, y0, x1, y1, whole pixels."""
MARGIN, LEAST_MARGIN = 0.35, 24
"""Around a place: a share of its longer side, and pixels."""
MOST_PIXELS = 100_000_000
"""Of a picture that is decoded."""
LONGEST_SIDE = 400
"""Of a crop, in pixels; larger ones are scaled down."""
QUALITY = 60
"""Of JPEG."""
_LARGEST = 10**9


def region(box: tuple[float, float, float, float]) -> Region:
    """Return a box with a margin, as whole pixels; coordinates beyond any picture are cut."""
    x0, y0, x1, y1 = (min(max(value, -_LARGEST), _LARGEST) for value in box)
    margin = max(LEAST_MARGIN, MARGIN * max(x1 - x0, y1 - y0))
    return (
        math.floor(x0 - margin),
        math.floor(y0 - margin),
        math.ceil(x1 + margin),
        math.ceil(y1 + margin),
    )


def crops(
    wanted: Sequence[tuple[Path, Region]],
) -> Iterator[tuple[int, tuple[str, Region] | None]]:
    """Cut regions out of pictures; each picture is decoded once, as it is turned when it is shown.

    Yields
    ------
    position in `wanted`, and (URL, region)
        The part of the region that is in the picture, as JPEG; None if no part is, or if the
        picture cannot be read or has more than `MOST_PIXELS`.
    """
    first: dict[Path, int] = {}
    for k, (path, _) in enumerate(wanted):
        first.setdefault(path, k)
    order = sorted(range(len(wanted)), key=lambda k: (first[wanted[k][0]], k))
    for path, group in groupby(order, key=lambda k: wanted[k][0]):
        picture = _decoded(path)
        for k in group:
            yield k, None if picture is None else _crop(picture, wanted[k][1])


def _decoded(path: Path) -> Image | None:
    from PIL import Image, ImageOps

    try:
        with unlimited_and_silent(), Image.open(path) as opened:
            if math.prod(opened.size) > MOST_PIXELS:
                return None
            return ImageOps.exif_transpose(opened).convert("RGB")
    except Exception:  # decoders raise anything at all on broken files
        return None


def _crop(picture: Image, region: Region) -> tuple[str, Region] | None:
    x0, y0 = (max(0, value) for value in region[:2])
    x1, y1 = (min(value, size) for value, size in zip(region[2:], picture.size, strict=True))
    if x0 >= x1 or y0 >= y1:
        return None
    crop = picture.crop((x0, y0, x1, y1))
    crop.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    data = io.BytesIO()
    crop.save(data, "JPEG", quality=QUALITY, optimize=True)
    encoded = base64.b64encode(data.getvalue()).decode("ascii")
    return f"data:image/jpeg;base64,{encoded}", (x0, y0, x1, y1)
