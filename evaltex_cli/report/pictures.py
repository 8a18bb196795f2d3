"""Pictures of images on pages: found in a folder, linked, put into the page, or cut."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from evaltex_cli.errors import InputError, quote
from evaltex_cli.formats.masks import unlimited_and_silent
from evaltex_cli.formats.sizes import find_pictures

if TYPE_CHECKING:
    from PIL.Image import Image

MEDIA_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".gif": "image/gif",
    ".bmp": "image/bmp",
    ".avif": "image/avif",
}
"""Extension -> media type of what every browser shows."""
MOST_EMBEDDED_BYTES = 300_000_000
"""Browsers refuse a text of much more than 500 million characters."""
Region: TypeAlias = tuple[int, int, int, int]
"""x0, y0, x1, y1, whole pixels."""
MARGIN, LEAST_MARGIN = 0.35, 24
"""Around a place: a share of its longer side, and pixels."""
MOST_PIXELS = 100_000_000
"""Larger pictures are not decoded for crops."""
LONGEST_SIDE = 400
"""Larger crops are scaled down to so many pixels."""
JPEG_QUALITY = 60
_LARGEST = 10**9


def pictures_of(folder: Path, names: Sequence[str]) -> list[Path | None]:
    """Return each image's picture of `MEDIA_TYPES` in a folder or below it.

    Raises `InputError` when the folder cannot be read, or has a picture of none of the images.
    """
    pictures = find_pictures(folder, names, tuple(MEDIA_TYPES))
    if names and not any(pictures):
        raise InputError(
            f"{folder}: holds no picture of any image; expected {quote(names[0])} with one of"
            f" {', '.join(MEDIA_TYPES)}"
        )
    return pictures


def data_urls(pictures: Sequence[Path | None]) -> list[str | None]:
    """Return the pictures themselves, as URLs.

    Raises `InputError` when a picture cannot be read, or a browser could not open all of them.
    """
    urls: list[str | None] = []
    size = 0
    for picture in pictures:
        try:
            content = b"" if picture is None else picture.read_bytes()
        except OSError as error:
            raise InputError(f"{picture}: cannot be read ({error.strerror or error})") from error
        size += len(content)
        if size > MOST_EMBEDDED_BYTES:
            raise InputError(
                f"the pictures are too large for one file (at most {MOST_EMBEDDED_BYTES / 1e6:.0f}"
                " MB); leave out --embed, then the page links to them"
            )
        urls.append(
            None if picture is None else _data_url(MEDIA_TYPES[picture.suffix.lower()], content)
        )
    return urls


def _data_url(media_type: str, content: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode('ascii')}"


# Crops --------------------------------------------------------------------------------------------


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


def crops(wanted: Sequence[tuple[Path, Region]]) -> Iterator[tuple[int, tuple[str, Region] | None]]:
    """Cut regions out of pictures, each of which is decoded once, turned as viewers show it.

    Yields positions in `wanted` with a crop: its URL, and the part of the region that is in the
    picture. None if no part is, or if the picture cannot be read or has more than `MOST_PIXELS`.
    """
    order = sorted(range(len(wanted)), key=lambda k: (wanted[k][0], k))
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
    crop.save(data, "JPEG", quality=JPEG_QUALITY, optimize=True)
    return _data_url("image/jpeg", data.getvalue()), (x0, y0, x1, y1)
